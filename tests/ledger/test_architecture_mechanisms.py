"""Caches, states, MTP layers and shared weights, against published figures and hand counts."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.catalog.models import load_config, model_names
from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.ledger.families.index import FAMILY_MODULES
from advisor.ledger.families.multimodal import MULTIMODAL
from advisor.ledger.shapes import Architecture, CacheKind, Component, Tensor, Use


def read(name: str, **changes: object) -> Architecture:
    return read_architecture({**load_config(name), **changes}, name=name)


def stored_elements(model: Architecture, context: int) -> int:
    """Elements of the caches of one sequence."""
    return sum(
        layer.count * cache.elements * cache.stored_entries(context)
        for layer in model.layers
        for cache in layer.caches
        if not cache.borrowed
    )


def state_elements(model: Architecture) -> int:
    states = ((layer.count, layer.state) for layer in model.layers)
    return sum(n * (state.elements + state.conv_elements) for n, state in states if state)


def tensor(model: Architecture, name: str) -> Tensor:
    return next(t for layer in model.layers for t in layer.tensors if t.name == name)


@pytest.mark.parametrize(
    ("name", "per_token"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", 65_536),
        ("meta-llama/Llama-2-7b-hf", 262_144),
        ("Qwen/Qwen3-0.6B", 57_344),  # 2 x 8 heads x 128, though hidden/heads is 64
        ("tiiuae/falcon-7b", 4_096),  # one KV head
        ("deepseek-ai/DeepSeek-V3", 61 * 576),
        ("deepseek-ai/DeepSeek-V2-Lite", 27 * 576),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 12_288),  # 12 of 48 layers
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", 8_192),  # 4 of 56
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 3_072),
        ("ibm-granite/granite-4.0-h-small", 8_192),
        ("ai21labs/Jamba-v0.1", 8_192),
        ("LiquidAI/LFM2-1.2B", 6_144),
        ("state-spaces/mamba-2.8b-hf", 0),
    ],
)
def test_cache_per_token(name: str, per_token: int) -> None:
    model = read(name)
    assert stored_elements(model, 1001) - stored_elements(model, 1000) == per_token


@pytest.mark.parametrize(
    ("name", "sixteen_bit_bytes"),
    [
        ("mistralai/Mistral-7B-v0.1", 536_870_912),
        ("google/gemma-3-27b-it", 11_173_625_856),
        ("openai/gpt-oss-20b", 3_224_371_200),
        ("nvidia/Gemma-4-31B-IT-NVFP4", 11_576_279_040),
    ],
)
def test_windows_hold_the_cache_at_128k(name: str, sixteen_bit_bytes: int) -> None:
    assert 2 * stored_elements(read(name), 131_072) == sixteen_bit_bytes


def test_windows_that_do_not_count() -> None:
    assert not any(c.window for layer in read("Qwen/Qwen2-7B").layers for c in layer.caches)
    wide = read("microsoft/Phi-3-mini-128k-instruct")  # a window beyond the context
    assert not any(cache.window for layer in wide.layers for cache in layer.caches)
    short = read("microsoft/Phi-3-mini-4k-instruct", sliding_window=2047)  # as published
    assert {cache.window for layer in short.layers for cache in layer.caches} == {2047}


def test_chunked_layers_of_llama_4() -> None:
    model = read("meta-llama/Llama-4-Scout-17B-16E-Instruct")
    windows = {layer.caches[0].window: layer.count for layer in model.layers}
    assert windows == {8192: 36, None: 12}


def test_absorbed_mla() -> None:
    model = read("deepseek-ai/DeepSeek-V3")
    for layer in model.layers:
        (cache,) = layer.caches
        assert (cache.kind, cache.elements, cache.kv_heads) == (CacheKind.LATENT, 576, 1)
        assert cache.flops == 278_528  # 2 x 128 x (2 x 512 + 64)
    assert model.attention is not None
    assert (model.attention.latent_dim, model.attention.rope_dim) == (512, 64)
    assert (model.attention.head_dim, model.attention.value_dim) == (192, 128)


def test_sparse_attention_reads_few_latents_and_scans_all_index_keys() -> None:
    for layer in read("deepseek-ai/DeepSeek-V3.2").layers:
        latent, index = layer.caches
        assert latent.read_entries(100_000) == 2048
        assert latent.stored_entries(100_000) == index.read_entries(100_000) == 100_000
        assert (index.kind, index.elements) == (CacheKind.INDEX, 128)
        assert index.flops == 2 * 64 * 128


def test_shared_indexers_cache_no_keys() -> None:
    layers = read("zai-org/GLM-5.2").layers
    indexed = sum(layer.count for layer in layers if len(layer.caches) == 2)
    assert (indexed, sum(layer.count for layer in layers)) == (21, 78)


def test_compressed_caches_of_deepseek_v4_flash() -> None:
    model = read("deepseek-ai/DeepSeek-V4-Flash")
    context = 128 * 100
    assert stored_elements(model, context) == 3_440 * context + 2_818_048


@pytest.mark.parametrize(
    ("name", "owners", "layers"),
    [("google/gemma-3n-E4B", 20, 35), ("google/gemma-4-E2B-ome-abbrev", 15, 35)],
)
def test_shared_caches_are_read_in_all_layers_and_stored_in_some(
    name: str, owners: int, layers: int
) -> None:
    model = read(name)
    caches = [(layer.count, cache) for layer in model.layers for cache in layer.caches]
    assert sum(count for count, _ in caches) == layers
    assert sum(count for count, cache in caches if not cache.borrowed) == owners


def test_a_per_layer_embedding_is_a_table_of_one_row_a_token() -> None:
    model = read("google/gemma-4-E2B-ome-abbrev")
    table = next(t for t in model.tensors if t.name == "embed_tokens_per_layer")
    assert (table.use, table.shape) == (Use.TABLE, (262_144, 35 * 256))


@pytest.mark.parametrize(
    ("name", "elements"),
    [
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 20_054_016),
        ("Qwen/Qwen3.8-27B-text", 39_714_816),
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", 36_716_544),
        ("ibm-granite/granite-4.0-h-small", 38_965_248),
        ("AntonV/mamba2-2.7b-hf", 43_319_296),
        ("ai21labs/Jamba-v0.1", 4_587_520),
        ("LiquidAI/LFM2-1.2B", 61_440),
    ],
)
def test_state_of_a_sequence(name: str, elements: int) -> None:
    assert state_elements(read(name)) == elements


# The gap between the published total and the model without MTP, less what else the total counts.
@pytest.mark.parametrize(
    ("name", "changes", "elements"),
    [
        ("deepseek-ai/DeepSeek-V3", {}, 13_463_441_152 - 59 * 256),  # router biases in the gap
        ("zai-org/GLM-4.5-Air", {}, 3_616_573_440),
        ("zai-org/GLM-4.5", {}, 5_539_976_512 - 90 * 160),
        # GLM-4.6: the same config with a longer context keeps no copies of embedding and head
        ("zai-org/GLM-4.5", {"max_position_embeddings": 202_752},
         5_539_976_512 - 90 * 160 - 1_551_892_480),
        ("zai-org/GLM-5", {}, 9_952_939_776 - 76 * 256),
        ("Qwen/Qwen3.5-27B", {}, 424_699_392),
        ("Qwen/Qwen3.5-35B-A3B", {}, 844_640_768),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", {"num_nextn_predict_layers": 1}, 1_650_471_424),
        ("XiaomiMiMo/MiMo-7B-Base", {}, 210_790_400),
        ("baidu/ERNIE-4.5-21B-A3B-PT", {"num_nextn_predict_layers": 1}, 123_217_920),
        ("tencent/Hy3-preview", {"num_nextn_predict_layers": 1}, 3_752_627_456 - 80 * 192),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", {}, 11_215_609_856),
        # one layer more of router biases, and 3 hash tables of 129,280 x 6
        ("deepseek-ai/DeepSeek-V4-Pro", {}, 25_842_495_291 - 59 * 384 - 3 * 129_280 * 6),
    ],
)  # fmt: skip
def test_mtp_layers(name: str, changes: dict[str, object], elements: int) -> None:
    model = read(name, **changes)
    assert model.parameters()[Component.MTP] == elements
    mtp = [t for t in model.tensors if t.component is Component.MTP]
    assert {t.use for t in mtp} <= {Use.IDLE, Use.BUFFER}


def test_a_block_used_again_is_stored_once() -> None:
    model = read("Zyphra/Zamba2-2.7B")
    owned = [t for layer in model.layers for t in layer.tensors if t.name == "gate_proj"]
    uses = {t.shared: layer.count for layer in model.layers for t in layer.tensors
            if t.name == "gate_proj"}  # fmt: skip
    assert uses == {False: 1, True: 8}
    assert model.parameters()[Component.MLP] < sum(t.elements for t in owned) * 9


def test_cross_attention_is_cached_and_its_projections_idle() -> None:
    model = read("openai/whisper-large-v3")
    (layer,) = model.layers
    own, crossed = layer.caches
    assert (own.kind, own.window) == (CacheKind.KV, None)
    assert (crossed.kind, crossed.window) == (CacheKind.CROSS, 1500)
    uses = {t.name: t.use for t in layer.tensors}
    assert uses["cross_k_proj"] is uses["cross_v_proj"] is Use.IDLE
    assert uses["cross_q_proj"] is uses["k_proj"] is Use.MATMUL
    encoder = [t for t in model.tensors if t.name.startswith("encoder.")]
    assert encoder
    assert {t.use for t in encoder} == {Use.IDLE}


def test_latent_experts_work_in_a_smaller_width() -> None:
    model = read("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4")
    up = next(t for layer in model.layers for t in layer.tensors if t.use is Use.EXPERT)
    assert (up.name, up.shape) == ("up_proj", (512, 2688, 1024))  # not gated, 1024 of 4096
    assert tensor(model, "latent_down_proj").shape == (1024, 4096)


def test_layers_stand_in_order_of_first_appearance() -> None:
    model = read("deepseek-ai/DeepSeek-V3")
    assert [layer.count for layer in model.layers] == [3, 58]
    assert [layer.label for layer in model.layers] == [
        "latent attention + MLP",
        "latent attention + MoE",
    ]


def test_the_table_of_families_is_complete() -> None:
    for model_type, module in FAMILY_MODULES.items():
        assert model_type in import_module(module).FAMILIES
    modules = set(FAMILY_MODULES.values())
    listed = {name for module in modules for name in import_module(module).FAMILIES}
    assert listed == set(FAMILY_MODULES)
    texts = {shape.text for shape in MULTIMODAL.values() if shape.text}
    assert texts <= set(FAMILY_MODULES)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ({"hidden_size": None}, "text_config.hidden_size"),
        ({"num_hidden_layers": -1}, "text_config.num_hidden_layers"),
        ({"num_attention_heads": "32"}, "text_config.num_attention_heads"),
        ({"num_experts": [8]}, "text_config.num_experts"),
        ({"layer_types": ["full_attention"] * 35 + ["warp"]}, "text_config.layer_types"),
        ({"hypernetwork_rank": 8}, "text_config.hypernetwork_rank"),
    ],
)
def test_nested_values_are_refused_by_their_whole_key(text: dict[str, object], key: str) -> None:
    config = load_config("Qwen/Qwen3-VL-8B-Instruct")
    nested = {**config["text_config"], **text}
    with pytest.raises(UnsupportedModelError) as caught:
        read_architecture({**config, "text_config": nested}, name="broken")
    assert caught.value.key == key


def test_an_unknown_tower_is_refused() -> None:
    config = load_config("google/gemma-3-4b-it")
    with pytest.raises(UnsupportedModelError, match="unknown nested config smell_config"):
        read_architecture({**config, "smell_config": {"depth": 3}}, name="broken")


def test_a_missing_tower_is_noted() -> None:
    config = load_config("google/gemma-3-4b-it")
    del config["vision_config"]
    model = read_architecture(config, name="text only")
    assert model.parameters()[Component.VISION] == 0
    assert "no vision_config" in model.notes[-1]


_NAMES = [name for name in model_names() if "Kimi-K3" not in name]
_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.one_of(st.integers(-3, 600), st.text(max_size=5), st.none()), max_size=70),
    st.dictionaries(st.text(max_size=6), st.integers(), max_size=3),
)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_no_value_brings_a_traceback(data: st.DataObject) -> None:
    config: dict[str, Any] = load_config(data.draw(st.sampled_from(_NAMES)))
    level = config
    nested = [key for key in config if isinstance(config[key], dict)]
    inside: bool = data.draw(st.booleans())
    if nested and inside:
        key = data.draw(st.sampled_from(nested))
        level = config[key] = dict(config[key])
    if not level:
        return
    for key in data.draw(st.lists(st.sampled_from(sorted(level)), min_size=1, max_size=3)):
        level[key] = data.draw(_VALUES)
    with suppress(UnsupportedModelError):
        assert read_architecture(config, name="mutated").total_parameters > 0
