from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.ledger.architecture import UnsupportedModelError
from advisor.ledger.checkpoint import CheckpointError, read_checkpoint

CONFIG = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "Llama-3.1-8B"
    made.mkdir()
    (made / "config.json").write_text(json.dumps(CONFIG))
    return made


def test_a_folder_and_its_config_are_one_model(folder: Path) -> None:
    for path in (folder, folder / "config.json"):
        model = read_checkpoint(path)
        assert model.name == "Llama-3.1-8B"
        assert model.total_parameters == 8_030_261_248


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "config.json:1:1"),
        ("{\n  'a': 1}", "config.json:2:3"),
        ("[1, 2]", "no JSON object"),
        ("[" * 100_000, "config.json"),
        ('{"a": ' + "1" * 5000 + "}", "config.json"),
    ],
)
def test_what_is_no_config_is_refused(folder: Path, content: str, words: str) -> None:
    (folder / "config.json").write_text(content)
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(folder)


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "config.json").write_bytes(b"\xff\xfe\x00\xd8{}")
    with pytest.raises(CheckpointError):
        read_checkpoint(folder)


def test_a_folder_without_a_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"holds no config\.json"):
        read_checkpoint(tmp_path)


def test_another_kind_of_file_is_told_what_to_name(tmp_path: Path) -> None:
    weights = tmp_path / "model.gguf"
    weights.write_bytes(b"GGUF")
    with pytest.raises(CheckpointError, match="name that, or the folder"):
        read_checkpoint(weights)


def test_an_unknown_family_is_refused_by_its_name(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "model_type": "lamma"}))
    with pytest.raises(UnsupportedModelError, match="llama"):
        read_checkpoint(folder)
