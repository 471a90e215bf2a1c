"""Checkpoints on disk: what the files say wins, and files that lie are refused."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.ledger.architecture import UnsupportedModelError
from advisor.ledger.checkpoint import CheckpointError, read_checkpoint

LLAMA_8B = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
}  # fmt: skip
TINY = {
    "model_type": "llama", "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 10,
    "tie_word_embeddings": False, "torch_dtype": "float16",
}  # fmt: skip
WIDTH = {"F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "I64": 8}


def tiny_tensors(dtype: str = "BF16") -> dict[str, tuple[str, list[int]]]:
    """The tensors of TINY as a file holds them: 2*(8*8*2 + 2*4*8 + 3*8*16 + 2*8) + 8 + 2*80."""
    tensors = {
        "model.embed_tokens.weight": (dtype, [10, 8]),
        "model.norm.weight": (dtype, [8]),
        "lm_head.weight": (dtype, [10, 8]),
    }
    for i in range(2):
        layer = f"model.layers.{i}."
        tensors |= {
            f"{layer}self_attn.q_proj.weight": (dtype, [8, 8]),
            f"{layer}self_attn.k_proj.weight": (dtype, [4, 8]),
            f"{layer}self_attn.v_proj.weight": (dtype, [4, 8]),
            f"{layer}self_attn.o_proj.weight": (dtype, [8, 8]),
            f"{layer}mlp.gate_proj.weight": (dtype, [16, 8]),
            f"{layer}mlp.up_proj.weight": (dtype, [16, 8]),
            f"{layer}mlp.down_proj.weight": (dtype, [8, 16]),
            f"{layer}input_layernorm.weight": (dtype, [8]),
            f"{layer}post_attention_layernorm.weight": (dtype, [8]),
        }
    return tensors


def header_of(tensors: Mapping[str, tuple[str, list[int]]]) -> tuple[dict[str, Any], int]:
    at = 0
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for name, (dtype, shape) in tensors.items():
        size = WIDTH[dtype]
        for dimension in shape:
            size *= dimension
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    return header, at


def write_safetensors(
    path: Path, tensors: Mapping[str, tuple[str, list[int]]], *, cut: int = 0
) -> int:
    """Write a file of zeros with this table; give the bytes of its data."""
    header, size = header_of(tensors)
    text = json.dumps(header).encode()
    data = len(text).to_bytes(8, "little") + text + bytes(size)
    path.write_bytes(data[: len(data) - cut])
    return size


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "Llama-3.1-8B"
    made.mkdir()
    (made / "config.json").write_text(json.dumps(LLAMA_8B))
    return made


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    made = tmp_path / "tiny"
    made.mkdir()
    (made / "config.json").write_text(json.dumps(TINY))
    return made


def test_a_folder_and_its_config_are_one_model(folder: Path) -> None:
    for path in (folder, folder / "config.json"):
        model = read_checkpoint(path)
        assert model.name == "Llama-3.1-8B"
        assert model.total_parameters == 8_030_261_248
        assert (model.source, model.stored_bytes) == ("config", None)


def test_headers_give_the_bytes_and_the_dtype(tiny: Path) -> None:
    size = write_safetensors(tiny / "model.safetensors", tiny_tensors("BF16"))
    model = read_checkpoint(tiny)
    assert size == 2 * (2 * (2 * 64 + 2 * 32 + 3 * 128 + 16) + 8 + 160)
    assert (model.source, model.stored_bytes, model.dtype) == ("safetensors", size, "bf16")
    assert model.total_parameters == size // 2
    assert [layer.count for layer in model.layers] == [2]


def test_a_single_file_is_read_with_the_config_beside_it(tiny: Path) -> None:
    size = write_safetensors(tiny / "weights.safetensors", tiny_tensors("F32"))
    model = read_checkpoint(tiny / "weights.safetensors")
    assert (model.stored_bytes, model.dtype) == (size, "fp32")


def test_a_single_file_without_a_config_is_refused(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "weights.safetensors", tiny_tensors())
    with pytest.raises(CheckpointError, match=r"no config\.json beside weights\.safetensors"):
        read_checkpoint(tmp_path / "weights.safetensors")


def test_a_dtype_in_the_file_wins_over_the_config(tiny: Path) -> None:
    tensors = tiny_tensors("BF16")
    name = "model.layers.1.mlp.down_proj"
    tensors[f"{name}.weight"] = ("F8_E4M3", [8, 16])
    tensors[f"{name}.weight_scale"] = ("F32", [])
    write_safetensors(tiny / "model.safetensors", tensors)
    first, second = read_checkpoint(tiny).layers
    stored = {t.name: t.stored_as for t in second.tensors}
    assert stored["down_proj"] == "fp8"
    assert stored["up_proj"] is None
    assert all(tensor.stored_as is None for tensor in first.tensors)


def test_shards_of_an_index_are_summed(tiny: Path) -> None:
    tensors = tiny_tensors()
    names = list(tensors)
    parts = {"a.safetensors": names[:7], "b.safetensors": names[7:]}
    total = sum(
        write_safetensors(tiny / file, {name: tensors[name] for name in held})
        for file, held in parts.items()
    )
    weight_map = {name: file for file, held in parts.items() for name in held}
    index = {"metadata": {"total_size": 1}, "weight_map": weight_map}
    (tiny / "model.safetensors.index.json").write_text(json.dumps(index))
    assert read_checkpoint(tiny).stored_bytes == total


def test_an_index_alone_gives_its_total(folder: Path) -> None:
    index = {"metadata": {"total_size": 16_060_522_496}, "weight_map": {"x": "a.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    model = read_checkpoint(folder)
    assert model.stored_bytes == 16_060_522_496
    assert "files are missing" in model.notes[-1]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ({"weight_map": {"x": "../secret.safetensors"}}, "only name its own folder"),
        ({"weight_map": {"x": "/etc/passwd"}}, "only name its own folder"),
        ({"weight_map": {"x": ".."}}, "only name its own folder"),
        ({"weight_map": {"x": "a\x00b"}}, "only name its own folder"),
        ({"weight_map": {"x": 3}}, "must name files"),
        ({"weight_map": []}, "no weight_map"),
        ({}, "no weight_map"),
        ({"weight_map": {"x": "gone.safetensors"}}, "no total_size"),
        ({"metadata": {"total_size": -4}, "weight_map": {"x": "gone"}}, "no total_size"),
        ({"metadata": {"total_size": 2**80}, "weight_map": {"x": "gone"}}, "no total_size"),
        ([], "holds no JSON object"),
    ],
)
def test_an_index_that_lies_is_refused(folder: Path, index: object, words: str) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(folder)


def test_a_tensor_that_no_shard_holds_is_refused(tiny: Path) -> None:
    write_safetensors(tiny / "a.safetensors", tiny_tensors())
    index = {"weight_map": {"model.phantom.weight": "a.safetensors"}}
    (tiny / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(CheckpointError, match=r"model\.phantom\.weight"):
        read_checkpoint(tiny)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "hf_quant_config.json"])
def test_a_link_out_of_the_folder_is_refused(tiny: Path, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    write_safetensors(secret, tiny_tensors())
    (tiny / name).unlink(missing_ok=True)
    (tiny / name).symlink_to(secret)
    with pytest.raises(CheckpointError, match="leads out of the folder"):
        read_checkpoint(tiny)


def test_a_pipe_is_not_waited_for(tiny: Path) -> None:
    os.mkfifo(tiny / "model.safetensors")
    with pytest.raises(CheckpointError, match="not a regular file"):
        read_checkpoint(tiny)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "too short"),
        (b"\x01", "too short"),
        ((2**63).to_bytes(8, "little") + b"{}", "claims a header of 9,223,372,036,854,775,808"),
        ((100).to_bytes(8, "little") + b"{}", "but has 2 left"),
        ((2).to_bytes(8, "little") + b"[]", "no JSON object"),
        ((2).to_bytes(8, "little") + b"{]", "header of model.safetensors:1:2"),
        ((2).to_bytes(8, "little") + b"\xff\xff", "no UTF-8"),
        ((2).to_bytes(8, "little") + b"{}more", "truncated or padded"),
    ],
)
def test_a_header_that_lies_is_refused(tiny: Path, data: bytes, words: str) -> None:
    (tiny / "model.safetensors").write_bytes(data)
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(tiny)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"dtype": "F99", "shape": [2], "data_offsets": [0, 4]}, "unknown dtype 'F99'"),
        ({"dtype": "F16", "shape": [-2], "data_offsets": [0, 4]}, "no valid shape"),
        ({"dtype": "F16", "shape": [True], "data_offsets": [0, 2]}, "no valid shape"),
        ({"dtype": "F16", "shape": [2**70], "data_offsets": [0, 4]}, "no valid shape"),
        ({"dtype": "F16", "shape": [2], "data_offsets": [0, 10**12]}, "outside the file"),
        ({"dtype": "F16", "shape": [2], "data_offsets": [4, 0]}, "outside the file"),
        ({"dtype": "F16", "shape": [3], "data_offsets": [0, 4]}, "is not 4 bytes"),
        ({"dtype": "F16", "shape": [1], "data_offsets": [2, 4]}, "overlap or leave a gap"),
        ("F16", "must be an object"),
    ],
)
def test_an_entry_that_lies_is_refused(tiny: Path, entry: object, words: str) -> None:
    text = json.dumps({"x.weight": entry}).encode()
    path = tiny / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(4))
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(tiny)


@given(cut=st.integers(1, 400))
@settings(max_examples=25, deadline=None)
def test_a_truncated_file_is_refused(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    made = tmp_path_factory.mktemp("cut")
    (made / "config.json").write_text(json.dumps(TINY))
    write_safetensors(made / "model.safetensors", tiny_tensors(), cut=cut)
    with pytest.raises(CheckpointError):
        read_checkpoint(made)


@given(data=st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_bytes_bring_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    made = tmp_path_factory.mktemp("fuzz")
    (made / "config.json").write_text(json.dumps(TINY))
    (made / "model.safetensors").write_bytes(data)
    with pytest.raises(CheckpointError):
        read_checkpoint(made)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "config.json:1:1"),
        ("{\n  'a': 1}", "config.json:2:3"),
        ("[1, 2]", "no JSON object"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": ' + "1" * 5000 + "}", "config.json"),
    ],
)
def test_what_is_no_config_is_refused(folder: Path, content: str, words: str) -> None:
    (folder / "config.json").write_text(content)
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(folder)


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "config.json").write_bytes(b"\xff\xfe\x00\xd8{}")
    with pytest.raises(CheckpointError, match="no UTF-8"):
        read_checkpoint(folder)


def test_a_folder_without_a_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"holds no config\.json"):
        read_checkpoint(tmp_path)


def test_another_kind_of_file_is_told_what_to_give(tmp_path: Path) -> None:
    weights = tmp_path / "model.bin"
    weights.write_bytes(b"PK")
    with pytest.raises(CheckpointError, match=r"give a folder, a config\.json"):
        read_checkpoint(weights)
    with pytest.raises(CheckpointError, match="does not exist"):
        read_checkpoint(tmp_path / "gone")


def test_weights_that_cannot_be_read_are_noted(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"PK")
    assert "no safetensors" in read_checkpoint(folder).notes[-1]


def test_modelopts_file_beside_the_config_is_honoured(folder: Path) -> None:
    quantization = {"quant_algo": "FP8", "exclude_modules": ["lm_head", "model.layers.0*"]}
    (folder / "hf_quant_config.json").write_text(json.dumps({"quantization": quantization}))
    first, rest = read_checkpoint(folder).layers
    assert (first.count, rest.count) == (1, 31)
    assert all(tensor.stored_as is None for tensor in first.tensors)
    assert {t.stored_as for t in rest.tensors if len(t.shape) == 2} == {"fp8"}


def test_an_unknown_family_is_refused_by_its_name(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**LLAMA_8B, "model_type": "lamma"}))
    with pytest.raises(UnsupportedModelError, match="llama"):
        read_checkpoint(folder)
