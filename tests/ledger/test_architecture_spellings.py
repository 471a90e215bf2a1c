"""The same model in other words: keys that newer or older configs write differently."""

from __future__ import annotations

import pytest

from advisor.catalog.models import load_config
from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.ledger.shapes import Architecture, Component

STEP = {
    "model_type": "step3p5",
    "hidden_size": 4096,
    "intermediate_size": 11264,
    "num_hidden_layers": 45,
    "num_attention_heads": 64,
    "num_attention_groups": 8,
    "head_dim": 128,
    "vocab_size": 128896,
    "max_seq_len": 262144,
    "use_moe": True,
    "moe_num_experts": 288,
    "moe_top_k": 8,
    "moe_intermediate_size": 1280,
    "share_expert_dim": 1280,
    "moe_layers_enum": ",".join(str(i) for i in range(3, 45)),
    "attention_other_setting": {"attention_type": "sliding_attention", "num_attention_heads": 96},
    "layer_types": ["sliding_attention" if i % 4 else "full_attention" for i in range(48)],
    "num_nextn_predict_layers": 3,
    "sliding_window": 512,
}


def read(config: dict[str, object]) -> Architecture:
    return read_architecture(config, name="model")


def parts(model: Architecture) -> int:
    """Every stored element, MTP layers with the model's."""
    return sum(model.parameters().values())


def test_sliding_layers_with_more_heads_and_mtp_layers_meet_the_published_total() -> None:
    """Step-3.7-Flash's repository holds 201,365,316,160 elements: the model, its MTP layers, the
    vision tower (1,981,014,784) and a router bias of 288 in each of 42 layers."""
    assert parts(read(dict(STEP))) == 201_365_316_160 - 1_981_014_784 - 42 * 288


def test_layers_that_route_are_listed_or_spelled_out() -> None:
    listed = read({**STEP, "moe_layers_enum": list(range(3, 45))})
    assert listed.layers == read(dict(STEP)).layers
    with pytest.raises(UnsupportedModelError, match="moe_layers_enum"):
        read({**STEP, "moe_layers_enum": "3-44"})


def test_heads_and_widths_given_layer_by_layer() -> None:
    """Gemma 4's older configs give the full layers' heads once, newer ones layer by layer."""
    config = load_config("google/gemma-4-26B-A4B")
    text = config["text_config"]
    assert isinstance(text, dict)
    own = {
        str(i): {"head_dim": text["global_head_dim"], "num_key_value_heads": 2}
        for i, kind in enumerate(text["layer_types"])
        if kind == "full_attention"
    }
    dropped = {"global_head_dim", "num_global_key_value_heads"}
    newer = {key: value for key, value in text.items() if key not in dropped}
    assert text["num_global_key_value_heads"] == 2
    old, new = read(config), read({**config, "text_config": {**newer, "per_layer_config": own}})
    assert new.layers == old.layers
    assert new.total_parameters == old.total_parameters


def test_layers_that_route_by_hash_may_be_named() -> None:
    config = load_config("deepseek-ai/DeepSeek-V4-Flash")
    layers, hashed = config["num_hidden_layers"], config["num_hash_layers"]
    assert isinstance(layers, int)
    assert isinstance(hashed, int)
    kinds = ["hash_moe"] * hashed + ["moe"] * (layers - hashed)
    named = {key: value for key, value in config.items() if key != "num_hash_layers"}
    assert read({**named, "mlp_layer_types": kinds}).layers == read(config).layers
    with pytest.raises(UnsupportedModelError, match="mlp_layer_types"):
        read({**config, "mlp_layer_types": ["sparse"] * layers})


def test_the_last_routed_layer_may_lie_beyond_the_model() -> None:
    config = load_config("baidu/ERNIE-4.5-21B-A3B-PT")
    assert read({**config, "moe_layer_end_index": 99}).layers == read(config).layers
    one_dense = read({**config, "moe_layer_end_index": 26})  # of 28 layers the first and the last
    routed = sum(layer.count for layer in one_dense.layers if layer.routing)
    assert routed == 26


def test_biases_of_the_shared_expert_follow_those_of_the_dense_mlp() -> None:
    """DeepSeek-V2-Lite with biases: 26 layers with a shared expert of 2 x 1408, one dense MLP of
    10944, each with a bias for gate, up and down projection."""
    config = load_config("deepseek-ai/DeepSeek-V2-Lite")
    biased = read({**config, "mlp_bias": True})
    added = 26 * (2 * 2816 + 2048) + (2 * 10944 + 2048)
    assert biased.total_parameters == read(config).total_parameters + added


def test_norms_without_parameters() -> None:
    """OPT-125M has 2 norms in each of 12 layers and a final one, each with weight and bias."""
    config = load_config("facebook/opt-125m")
    bare = read({**config, "layer_norm_elementwise_affine": False})
    assert read(config).parameters()[Component.NORMS] == 25 * 2 * 768
    assert bare.parameters()[Component.NORMS] == 0


def test_the_window_pattern_of_dense_layers_that_come_first() -> None:
    """Two leading layers attend to everything, of the other four every second does."""
    model = read(
        {
            "model_type": "cohere2_moe",
            "hidden_size": 64,
            "num_hidden_layers": 6,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "intermediate_size": 32,
            "prefix_dense_intermediate_size": 96,
            "prefix_dense_sliding_window_pattern": 1,
            "first_k_dense_replace": 2,
            "num_experts": 8,
            "num_experts_per_tok": 2,
            "vocab_size": 300,
            "sliding_window": 128,
            "sliding_window_pattern": 2,
        }
    )
    windows = [(one.caches[0].window, one.routing is None, one.count) for one in model.layers]
    assert windows == [(None, True, 2), (128, False, 2), (None, False, 2)]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("ai21labs/Jamba-v0.1", {"attn_layer_period": 64, "attn_layer_offset": 40}),
        ("LiquidAI/LFM2-8B-A1B", {"layer_types": ["conv"] * 24}),
        ("ibm-granite/granite-4.0-h-small", {"num_local_experts": 0}),
    ],
)
def test_a_model_without_layers_of_a_kind_keeps_their_keys(
    name: str, changes: dict[str, object]
) -> None:
    assert read({**load_config(name), **changes}).total_parameters > 0


def test_a_key_of_no_known_kind_is_still_refused() -> None:
    config = {**load_config("ai21labs/Jamba-v0.1"), "attn_layer_period": 64, "lora_rank": 8}
    with pytest.raises(UnsupportedModelError, match="lora_rank"):
        read(config)
