from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.reports.model import ModelError, find_model, model_report, model_text
from advisor.reports.style import Style, columns

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
}  # fmt: skip


def test_the_keys_are_those_of_the_contract_in_their_order() -> None:
    whole = json.loads(model_report(find_model("Llama-3.1-8B")).model_dump_json())
    assert list(whole) == [
        "name", "model_type", "parameters", "stored_bytes", "resident_bytes", "streamed_bytes",
        "kv_bytes_per_token", "state_bytes", "source",
    ]  # fmt: skip
    assert list(whole["parameters"]) == [
        "total", "active", "embedding", "lm_head", "attention", "mlp", "experts",
        "shared_experts", "router", "norms", "state", "vision", "mtp",
    ]  # fmt: skip


def test_llama_8b_to_the_element_and_byte() -> None:
    report = model_report(find_model("llama 3.1 8b"))
    counted = report.parameters
    # Published: 8,030,261,248 parameters; the checkpoint is 16,060,522,496 bytes of tensors.
    assert counted.total == counted.active == 8_030_261_248
    assert counted.embedding == counted.lm_head == 128_256 * 4096
    assert counted.norms == 65 * 4096
    assert report.stored_bytes == report.resident_bytes == 16_060_522_496
    assert report.streamed_bytes == 15_009_857_536
    assert report.kv_bytes_per_token == 131_072
    assert report.state_bytes == 0


@pytest.mark.parametrize(
    ("name", "total", "active"),
    [
        # As their publishers state them, in billions.
        ("Mixtral-8x7B", 46.7, 12.9),
        ("Qwen3-30B-A3B", 30.5, 3.3),
        ("Qwen3-235B-A22B", 235, 22),
        ("DeepSeek-V3", 671, 37),
    ],
)
def test_active_parameters_are_those_of_the_model_cards(
    name: str, total: float, active: float
) -> None:
    counted = model_report(find_model(name)).parameters
    assert counted.total / 1e9 == pytest.approx(total, rel=0.01)
    assert counted.active / 1e9 == pytest.approx(active, rel=0.02)


def test_components_sum_to_the_total_and_mtp_stands_beside_it() -> None:
    for name in ("DeepSeek-V3", "Mixtral-8x7B", "mamba-2.8b-hf"):
        parts = model_report(find_model(name)).parameters.model_dump()
        total, _, mtp = parts.pop("total"), parts.pop("active"), parts.pop("mtp")
        assert sum(parts.values()) == total
        assert (mtp > 0) is (name == "DeepSeek-V3")


def test_a_recurrent_model_has_a_state_and_no_cache() -> None:
    report = model_report(find_model("mamba-2.8b-hf"))
    assert report.kv_bytes_per_token == 0
    # 64 layers of 5120 channels: 16 states of 4 bytes, 4 convolution columns of 2.
    assert report.state_bytes == 64 * 5120 * (16 * 4 + 4 * 2)


def test_the_format_in_a_name_is_the_format_that_is_stored() -> None:
    report = model_report(find_model("Llama-3.1-8B-Instruct-AWQ-INT4"))
    linear = 32 * (2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 14336 * 4096)
    wide = 8_030_261_248 - linear
    # 4-bit weights with a 16-bit scale and a 4-bit zero per 128; the rest in 16 bits.
    assert report.stored_bytes == pytest.approx(linear * (4 + 20 / 128) / 8 + 2 * wide, rel=1e-3)


def test_a_config_on_this_machine_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    for text in (str(path), str(tmp_path)):
        assert model_report(find_model(text)).parameters.total == 8_030_261_248


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"Llama-3\.1-8B"):
        find_model("Lama-3.1-8B")


def test_what_is_wrong_with_a_path_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no config\.json"):
        find_model(str(tmp_path))


def test_the_text_tells_every_count_and_fits_the_page() -> None:
    text = model_text(find_model("DeepSeek-V3"), Style(width=100))
    for figure in (
        "671,026,404,352",
        "3 latent attention + MLP",
        "256 experts, 8 a token",
        "70,272",
    ):
        assert figure in text
    assert max(map(columns, text.splitlines())) <= 100
