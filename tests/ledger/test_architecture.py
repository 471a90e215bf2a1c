"""Counts of dense models against published totals and hand calculations."""

from __future__ import annotations

import pytest

from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.ledger.shapes import Component

LLAMA_8B = {
    "model_type": "llama",
    "vocab_size": 128256,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}
GPT2 = {
    "model_type": "gpt2",
    "vocab_size": 50257,
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "n_positions": 1024,
}


def test_llama_parts_equal_the_published_count() -> None:
    model = read_architecture(LLAMA_8B, name="Llama-3.1-8B")
    assert model.total_parameters == 8_030_261_248
    parts = model.parameters()
    assert parts[Component.EMBEDDING] == parts[Component.LM_HEAD] == 128256 * 4096
    assert parts[Component.ATTENTION] == 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024)
    assert parts[Component.MLP] == 32 * 3 * 4096 * 14336
    assert parts[Component.NORMS] == 65 * 4096
    assert [layer.count for layer in model.layers] == [32]
    (cache,) = model.layers[0].caches
    assert (cache.elements, cache.kv_heads, cache.flops) == (2 * 8 * 128, 8, 4 * 32 * 128)


def test_gpt2_ties_its_head_and_has_biases_and_positions() -> None:
    model = read_architecture(GPT2, name="gpt2")
    assert model.total_parameters == 124_439_808
    assert model.tied
    assert model.context_limit == 1024


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": -4096}, "hidden_size"),
        ({"hidden_size": "4096"}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"hidden_size": 10**15}, "hidden_size"),
        ({"hidden_size": 4096.5}, "hidden_size"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_key_value_heads": 7}, "num_key_value_heads"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings"),
        ({"layer_types": ["full_attention"]}, "layer_types"),
        ({"num_local_experts": 8}, "num_local_experts"),
        ({"model_type": "lama"}, "model_type"),
        ({"model_type": None}, "model_type"),
    ],
)
def test_what_cannot_be_counted_is_refused_by_key(change: dict[str, object], key: str) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        read_architecture({**LLAMA_8B, **change}, name="broken")
    assert caught.value.key == key
    assert key in str(caught.value)


def test_a_missing_size_is_refused_not_assumed() -> None:
    config = {key: value for key, value in LLAMA_8B.items() if key != "intermediate_size"}
    with pytest.raises(UnsupportedModelError, match="intermediate_size is missing"):
        read_architecture(config, name="broken")
