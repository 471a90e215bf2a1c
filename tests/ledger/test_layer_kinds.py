"""Which layer is of which kind, in every spelling that configs have, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.catalog.models import load_config
from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.ledger.shapes import Architecture

KIMI, TEXT_01 = "moonshotai/Kimi-Linear-48B-A3B-Instruct", "MiniMaxAI/MiniMax-Text-01-hf"
JAMBA, ZAMBA2 = "ai21labs/Jamba-v0.1", "Zyphra/Zamba2-2.7B"
MIMO, V4 = "XiaomiMiMo/MiMo-V2-Flash", "deepseek-ai/DeepSeek-V4-Flash"
MINIMAX_M2, MINIMAX_M3 = "MiniMaxAI/MiniMax-M2.5", "MiniMaxAI/MiniMax-M3"
NEMOTRON, MPT = "nvidia/Llama-3_3-Nemotron-Super-49B-v1", "mosaicml/mpt-7b"
GLM5, WHISPER = "nvidia/GLM-5-NVFP4", "openai/whisper-large-v3"

GPT_NEO = {
    "model_type": "gpt_neo", "hidden_size": 2048, "num_layers": 24, "num_heads": 16,
    "vocab_size": 50257, "max_position_embeddings": 2048, "window_size": 256,
    "attention_types": [[["global", "local"], 12]],
}  # fmt: skip
FALCON_H1 = {
    "model_type": "falcon_h1", "hidden_size": 1024, "num_hidden_layers": 36,
    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 2048,
    "vocab_size": 32784, "mamba_d_ssm": 1536, "mamba_n_heads": 24, "mamba_d_head": 64,
    "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_conv_bias": True,
    "mamba_rms_norm": False, "tie_word_embeddings": False,
}  # fmt: skip
BAMBA = {
    "model_type": "bamba", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
    "attn_layer_indices": [9, 18, 27], "mamba_n_heads": 128, "mamba_d_head": 64,
    "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_expand": 2,
    "mamba_conv_bias": True, "mamba_proj_bias": False, "tie_word_embeddings": False,
}  # fmt: skip


def read(given: str | dict[str, Any], **changes: Any) -> Architecture:
    config = dict(load_config(given)) if isinstance(given, str) else dict(given)
    for key, value in changes.items():
        if value is None:
            config.pop(key, None)
        else:
            config[key] = value
    return read_architecture(config, name="model")


def kinds(model: Architecture) -> list[tuple[int, bool, bool]]:
    """Layers of each kind in order: how many, with a cache, with a state."""
    return [(layer.count, bool(layer.caches), layer.state is not None) for layer in model.layers]


@pytest.mark.parametrize(
    ("config", "total"),
    [
        # 50257 h and 2048 h of tables, 24 layers of 12 h^2 + 9 h + 2 * 2 h, a last norm.
        (GPT_NEO, 1_315_575_808),
        (FALCON_H1, 521_411_104),
    ],
)
def test_published_totals(config: dict[str, Any], total: int) -> None:
    """EleutherAI/gpt-neo-1.3B and tiiuae/Falcon-H1-0.5B-Base, as their repositories say."""
    assert read(config).total_parameters == total


def test_three_of_bambas_layers_attend() -> None:
    model = read(BAMBA)
    assert round(model.total_parameters / 1e9, 2) == 9.78  # ibm-ai-platform/Bamba-9B: 9.78B
    assert sum(layer.count for layer in model.layers if layer.caches) == 3
    listed = ["attention" if i in {9, 18, 27} else "mamba" for i in range(32)]
    assert kinds(read(BAMBA, attn_layer_indices=None, layer_types=listed)) == kinds(model)


def test_attention_and_a_state_stand_side_by_side_in_falcon_h1() -> None:
    assert kinds(read(FALCON_H1)) == [(36, True, True)]


def test_local_layers_of_gpt_neo_see_a_window() -> None:
    model = read(GPT_NEO)
    windows = {cache.window: layer.count for layer in model.layers for cache in layer.caches}
    assert windows == {None: 12, 256: 12}
    listed = read(GPT_NEO, attention_types=None, attention_layers=["global", "local"] * 12)
    assert kinds(listed) == kinds(model)


def test_kimi_lists_layers_from_one() -> None:
    model = read(KIMI)
    types = load_config(KIMI)["layer_types"]
    assert isinstance(types, list)
    full = [i + 1 for i, kind in enumerate(types) if kind == "full_attention"]
    delta = [i for i in range(1, 28) if i not in full]
    lists = {"full_attn_layers": full, "kda_layers": delta}
    assert kinds(read(KIMI, layer_types=None, linear_attn_config=lists)) == kinds(model)
    with pytest.raises(UnsupportedModelError) as caught:
        read(KIMI, layer_types=None, linear_attn_config={**lists, "kda_layers": delta[1:]})
    assert "linear_attn_config" in str(caught.value.key)


def test_minimax_marks_full_attention_with_1() -> None:
    model = read(TEXT_01)
    assert sum(layer.count for layer in model.layers if layer.caches) == 10  # one of eight of 80
    marks = [int(i % 8 == 7) for i in range(80)]
    assert kinds(read(TEXT_01, layer_types=None, attn_type_list=marks)) == kinds(model)


def test_jamba_spells_its_period_out() -> None:
    model = read(JAMBA)
    assert sum(layer.count for layer in model.layers if layer.caches) == 4  # one of eight of 32
    listed = ["attention" if i % 8 == 4 else "mamba" for i in range(32)]
    assert kinds(read(JAMBA, layer_types=listed)) == kinds(model)


@pytest.mark.parametrize(
    ("given", "changes", "key"),
    [
        (GPT_NEO, {"attention_types": [[["global", "spiral"], 12]]}, "attention_types"),
        (GPT_NEO, {"attention_types": [["global", 12, 3]]}, "attention_types"),
        (GPT_NEO, {"attention_types": ["global"]}, "attention_types"),
        (FALCON_H1, {"mamba_d_head": 60}, "mamba_d_head"),
        (MPT, {"attn_config": {"qk_ln": True}}, "qk_ln"),
        (MPT, {"attn_config": {"alibi": False}}, "alibi"),
        (TEXT_01, {"layer_types": None, "attn_type_list": [1, 0]}, "attn_type_list"),
        (TEXT_01, {"layer_types": None}, "attn_type_list"),
        (ZAMBA2, {"layers_block_type": None}, "layers_block_type"),
        (MIMO, {"hybrid_layer_pattern": [0, 1]}, "hybrid_layer_pattern"),
        (MINIMAX_M2, {"attn_type_list": [1, 0] * 31}, "attn_type_list"),
        (MINIMAX_M3, {"sparse_attention_config": {"sparse_attention_freq": [0, 1]}},
         "sparse_attention_freq"),
        (V4, {"compress_ratios": [3] * 43}, "compress_ratios"),
        (NEMOTRON, {"block_configs": [4] * 80}, "block_configs"),
        (NEMOTRON, {"block_configs": []}, "block_configs"),
        (GLM5, {"indexer_types": ["half"] * 78}, "indexer_types"),
        (GLM5, {"layer_types": ["spiral"] * 78}, "layer_types"),
        (WHISPER, {"d_model": 1281}, "d_model"),
    ],
)  # fmt: skip
def test_what_gives_a_layer_no_kind_is_refused_by_its_key(
    given: str | dict[str, Any], changes: dict[str, Any], key: str
) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        read(given, **changes)
    assert key in str(caught.value.key)


def test_one_query_group_of_mpt() -> None:
    model = read(MPT, attn_config={"attn_type": "multiquery_attention"})
    assert model.attention is not None
    assert model.attention.kv_heads == 1


def test_linear_maps_stand_in_for_attention_and_mlp() -> None:
    entry = {"attention": {"replace_with_linear": True}, "ffn": {"replace_with_linear": True}}
    config = {
        "model_type": "nemotron-nas", "hidden_size": 512, "num_attention_heads": 8,
        "num_hidden_layers": 2, "vocab_size": 1000, "block_configs": [entry, entry],
        "tie_word_embeddings": False, "intermediate_size": None,
    }  # fmt: skip
    model = read(config)
    # Two matrices of 512 x 512 and two norms a layer; two tables; a last norm.
    assert model.total_parameters == 2 * (2 * 512**2 + 2 * 512) + 2 * 1000 * 512 + 512
    assert not any(layer.caches for layer in model.layers)


def test_patterns_of_indexers_are_letters_too() -> None:
    listed = ["full" if i % 2 == 0 else "shared" for i in range(78)]
    model = read(GLM5, indexer_types=listed)
    assert kinds(read(GLM5, index_topk_pattern="FS" * 39)) == kinds(model)


LLAMA = "meta-llama/Meta-Llama-3.1-8B"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"n_head": 16}, "contradicts"),
        ({"num_hidden_layers": "many"}, "num_hidden_layers"),
        ({"hidden_size": -1}, "hidden_size"),
        ({"layer_types": [1] * 32}, "must list strings"),
        ({"layer_types": "full_attention"}, "must be a list"),
        ({"layer_types": ["full_attention"] * 100_000}, "lists 100000 entries"),
        ({"num_attention_heads": 33}, "33 heads cannot share 8 KV heads"),
    ],
)
def test_values_that_cannot_be_are_refused_with_their_key(
    changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(UnsupportedModelError, match=told):
        read(LLAMA, **changes)
