"""Every model with a known count, to the element."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.catalog.models import load_config, model_names
from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.ledger.shapes import Architecture, Component

COUNTS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "model_counts" / "counts.json").read_text()
)
del COUNTS["_about"]
BUILT = sorted(name for name, row in COUNTS.items() if "meta" in row)

# The reference build differs from the checkpoint, or from the config as it stands:
EXPLAINED = {
    # a flat config: the reference class reads first_k_dense_replace as nothing and adds its own
    # tower; published total minus the tower (865,567,232) and 57 x 128 router biases
    "MiniMaxAI/MiniMax-M3": 427_040_140_160 - 865_567_232 - 57 * 128,
    # says tie_word_embeddings false, and its head is stored apart; the reference class ties T5
    # always: 222,903,552 + 32,128 x 768
    "google/flan-t5-base": 222_903_552 + 32_128 * 768,
    # a flat config of vocabulary 128,896 without a tower; the reference class builds its default
    # text model (128,815) and its default tower (1,981,014,784)
    "stepfun-ai/Step-3.7-Flash": 197_824_847_872 - 1_981_014_784 + 2 * 81 * 4096,
    "stepfun-ai/Step-3.7-Flash-FP8": 197_824_847_872 - 1_981_014_784 + 2 * 81 * 4096,
}
REFUSED = {
    "thinkingmachines/Inkling-2-Mini": "its blocks of attention residuals and loops are not read",
    "moonshotai/Kimi-K3": "its gates and attention residuals are not published in code",
    "RWKV/rwkv-5-world-3b": "RWKV's mixers are not read",
    "reubzdubz/Molmo-7B-D-NF4": "Molmo's own spelling is not read",
}


def totals(model: Architecture) -> set[int]:
    """With and without the MTP layers."""
    return {model.total_parameters, model.total_parameters + model.parameters()[Component.MTP]}


@pytest.mark.parametrize("name", [name for name in BUILT if name not in REFUSED])
def test_total_equals_the_known_count(name: str) -> None:
    model = read_architecture(load_config(name), name=name)
    row = COUNTS[name]
    if name in EXPLAINED:
        assert model.total_parameters == EXPLAINED[name]
    else:
        assert {row["meta"], row.get("published")} & totals(model)


def test_no_more_than_a_handful_is_explained_or_refused() -> None:
    left = [name for name in BUILT if name in EXPLAINED or name in REFUSED]
    assert len(BUILT) == 248
    assert len(BUILT) - len(left) >= 243
    assert not [name for name in left if COUNTS[name]["check"] == "exact"]


@pytest.mark.parametrize("name", sorted(n for n, row in COUNTS.items() if row["check"] == "exact"))
def test_configs_that_meet_their_published_total_meet_it_here(name: str) -> None:
    row = COUNTS[name]
    model = read_architecture(load_config(name), name=name)
    assert totals(model) & {row.get("published"), row.get("meta")}


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("Qwen/Qwen-7B", 7_721_324_544),
        ("Qwen/Qwen-72B", 72_287_920_128),
        ("internlm/internlm2_5-7b", 7_737_708_544),
        ("deepseek-ai/deepseek-moe-16b", 16_375_728_128),
        ("deepseek-ai/deepseek-vl2-tiny", 3_370_501_440),
        ("microsoft/Phi-3-vision-128k-instruct", 4_146_621_440),
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", 49_867_145_216),
        # published 7,392,274,432 counts rotary buffers: 32 layers x 64
        ("microsoft/Phi-3-small-8k-instruct", 7_392_274_432 - 32 * 64),
        ("tencent/Hunyuan-A13B-Instruct", 80_393_183_232),
    ],
)
def test_models_without_a_reference_class_meet_their_published_total(
    name: str, published: int
) -> None:
    assert read_architecture(load_config(name), name=name).total_parameters == published


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused_with_the_model_type(name: str) -> None:
    config = load_config(name)
    with pytest.raises(UnsupportedModelError, match="unknown model_type") as caught:
        read_architecture(config, name=name)
    assert caught.value.model_type == config["model_type"]


def test_every_model_of_the_catalog_is_read_or_listed() -> None:
    unread = set()
    for name in model_names():
        try:
            read_architecture(load_config(name), name=name)
        except UnsupportedModelError:
            unread.add(name)
    assert unread == set(REFUSED)


PARTS = {
    "embed": Component.EMBEDDING,
    "lm_head": Component.LM_HEAD,
    "attention": Component.ATTENTION,
    "dense_mlp": Component.MLP,
    "routed_experts": Component.EXPERTS,
    "shared_experts": Component.SHARED_EXPERTS,
    "router": Component.ROUTER,
    "norms": Component.NORMS,
    "ssm_linear": Component.STATE,
    "vision_audio": Component.VISION,
}
# Families whose modules the reference sorted by names that say something else (a linear-attention
# projection under self_attn, a norm module that holds attention, streams mixed in every sublayer).
SORTED_OTHERWISE = {"minimax", "kimi_linear", "bailing_hybrid", "dbrx", "t5", "glm5_next"}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in BUILT
        if name not in EXPLAINED
        and COUNTS[name]["parts"].keys() <= PARTS.keys()
        and COUNTS[name]["type"] not in SORTED_OTHERWISE
    ],
)
def test_parts_equal_the_known_parts(name: str) -> None:
    found = read_architecture(load_config(name), name=name).parameters()
    known = COUNTS[name]["parts"]
    for key, component in PARTS.items():
        assert found[component] == known.get(key, 0), component
