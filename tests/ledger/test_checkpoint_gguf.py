"""GGUF files: counted by their own tables, refused where those lie."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.ledger.checkpoint import CheckpointError, read_checkpoint
from advisor.ledger.shapes import CacheKind, Component, Use

# ggml type: number, weights a block, bytes a block (ggml's own table)
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34),
         "Q4_K": (12, 256, 144), "Q6_K": (14, 256, 210), "MXFP4": (39, 32, 17)}  # fmt: skip
Value = str | int | float | bool | list[int] | list[str]
Tensors = dict[str, tuple[str, tuple[int, ...]]]

LLAMA: dict[str, Value] = {
    "general.architecture": "llama", "general.name": "Tiny", "llama.block_count": 2,
    "llama.embedding_length": 256, "llama.feed_forward_length": 512,
    "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2,
    "llama.context_length": 4096, "tokenizer.ggml.tokens": ["a"] * 64,
}  # fmt: skip


def llama_tensors(weights: str = "Q4_K", down: str = "Q6_K") -> Tensors:
    """Shapes as files write them: innermost first, so (in, out)."""
    tensors: Tensors = {
        "token_embd.weight": ("Q6_K", (256, 64)),
        "output_norm.weight": ("F32", (256,)),
        "output.weight": ("Q6_K", (256, 64)),
        "rope_freqs.weight": ("F32", (32,)),
    }
    for i in range(2):
        tensors |= {
            f"blk.{i}.attn_norm.weight": ("F32", (256,)),
            f"blk.{i}.ffn_norm.weight": ("F32", (256,)),
            f"blk.{i}.attn_q.weight": (weights, (256, 256)),
            f"blk.{i}.attn_k.weight": (weights, (256, 128)),
            f"blk.{i}.attn_v.weight": (weights, (256, 128)),
            f"blk.{i}.attn_output.weight": (weights, (256, 256)),
            f"blk.{i}.ffn_gate.weight": (weights, (256, 512)),
            f"blk.{i}.ffn_up.weight": (weights, (256, 512)),
            f"blk.{i}.ffn_down.weight": (down, (512, 256)),
        }
    return tensors


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def encode(value: Value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    items = b"".join(text(v) if isinstance(v, str) else struct.pack("<I", v) for v in value)
    inner = 8 if value and isinstance(value[0], str) else 4
    return struct.pack("<IIQ", 9, inner, len(value)) + items


def size_of(kind: str, shape: tuple[int, ...]) -> int:
    _, block, width = TYPES[kind]
    elements = 1
    for dimension in shape:
        elements *= dimension
    return elements // block * width


def header_of(metadata: Mapping[str, Value], tensors: Tensors) -> tuple[bytes, int]:
    """A file's header up to its data, and the bytes of the data."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        head += text(key) + encode(value)
    at = 0
    for name, (kind, shape) in tensors.items():
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        head += struct.pack("<IQ", TYPES[kind][0], at)
        at += -(-size_of(kind, shape) // 32) * 32
    return head + bytes(-len(head) % 32), at


def build(metadata: Mapping[str, Value], tensors: Tensors) -> bytes:
    head, size = header_of(metadata, tensors)
    return head + bytes(size)


def write(path: Path, metadata: Mapping[str, Value], tensors: Tensors) -> Path:
    path.write_bytes(build(metadata, tensors))
    return path


def test_a_llama_file_by_its_table(tmp_path: Path) -> None:
    tensors = llama_tensors()
    model = read_checkpoint(write(tmp_path / "tiny.gguf", LLAMA, tensors))
    assert (model.name, model.model_type, model.source) == ("Tiny", "llama", "gguf")
    assert (model.hidden, model.vocabulary, model.tied) == (256, 64, False)
    assert model.stored_bytes == sum(size_of(kind, shape) for kind, shape in tensors.values())
    # 2 x (q, o: 256 x 256; k, v: 128 x 256; three of 512 x 256; norms) + tables + norm
    layer = 2 * 65_536 + 2 * 32_768 + 3 * 131_072 + 512
    assert model.total_parameters == 2 * layer + 2 * 64 * 256 + 256
    (only,) = model.layers
    assert only.count == 2
    (cache,) = only.caches
    assert (cache.kind, cache.elements, cache.kv_heads) == (CacheKind.KV, 2 * 2 * 64, 2)
    assert {t.name: t.stored_as for t in only.tensors}["down_proj"] == "q6_k"
    assert {t.name: t.shape for t in only.tensors}["k_proj"] == (128, 256)
    assert model.quantization == "q4_k"
    assert model.attention is not None
    assert (model.attention.heads, model.attention.head_dim) == (4, 64)


def test_llama_8b_in_q8_0_to_the_byte(tmp_path: Path) -> None:
    # 8,030,261,248 weights, of which 266,240 in norms: 34/32 and 4 bytes each, and 64 frequencies
    metadata: dict[str, Value] = {
        "general.architecture": "llama", "llama.block_count": 32,
        "llama.attention.head_count": 32, "llama.attention.head_count_kv": 8,
    }  # fmt: skip
    tensors: Tensors = {
        "token_embd.weight": ("Q8_0", (4096, 128256)), "output.weight": ("Q8_0", (4096, 128256)),
        "output_norm.weight": ("F32", (4096,)), "rope_freqs.weight": ("F32", (64,)),
    }  # fmt: skip
    for i in range(32):
        for name, out in (("attn_q", 4096), ("attn_k", 1024), ("attn_v", 1024),
                          ("attn_output", 4096), ("ffn_gate", 14336),
                          ("ffn_up", 14336)):  # fmt: skip
            tensors[f"blk.{i}.{name}.weight"] = ("Q8_0", (4096, out))
        tensors[f"blk.{i}.ffn_down.weight"] = ("Q8_0", (14336, 4096))
        tensors[f"blk.{i}.attn_norm.weight"] = ("F32", (4096,))
        tensors[f"blk.{i}.ffn_norm.weight"] = ("F32", (4096,))
    head, size = header_of(metadata, tensors)
    path = tmp_path / "llama.gguf"
    path.write_bytes(head)
    os.truncate(path, len(head) + size)  # a sparse file: its data takes no room on disk
    model = read_checkpoint(path)
    assert model.total_parameters == 8_030_261_248
    assert model.stored_bytes == 8_029_995_008 * 34 // 32 + 266_240 * 4 + 64 * 4


def test_a_tied_head_and_fused_projections(tmp_path: Path) -> None:
    tensors = llama_tensors("Q8_0", "Q8_0")
    del tensors["output.weight"]
    for i in range(2):
        for name in ("q", "k", "v"):
            del tensors[f"blk.{i}.attn_{name}.weight"]
        tensors[f"blk.{i}.attn_qkv.weight"] = ("Q8_0", (256, 512))
    model = read_checkpoint(write(tmp_path / "fused.gguf", LLAMA, tensors))
    assert model.tied
    shapes = {t.name: t.shape for t in model.layers[0].tensors}
    assert (shapes["q_proj"], shapes["k_proj"], shapes["v_proj"]) == (
        (256, 256), (128, 256), (128, 256))  # fmt: skip


def test_experts_windows_and_heads_by_layer(tmp_path: Path) -> None:
    metadata = {key.replace("llama.", "gpt-oss."): value for key, value in LLAMA.items()} | {
        "general.architecture": "gpt-oss", "gpt-oss.expert_count": 8,
        "gpt-oss.expert_used_count": 2, "gpt-oss.attention.sliding_window": 128,
    }  # fmt: skip
    tensors = llama_tensors("F16", "F16")
    for i in range(2):
        for name in ("gate", "up", "down"):
            _, shape = tensors.pop(f"blk.{i}.ffn_{name}.weight")
            tensors[f"blk.{i}.ffn_{name}_exps.weight"] = ("MXFP4", (*shape, 8))
        tensors[f"blk.{i}.ffn_gate_inp.weight"] = ("F32", (256, 8))
        tensors[f"blk.{i}.attn_sinks.weight"] = ("F32", (4,))
    model = read_checkpoint(write(tmp_path / "moe.gguf", metadata, tensors))
    assert [layer.caches[0].window for layer in model.layers] == [128, None]
    experts = [t for t in model.layers[0].tensors if t.use is Use.EXPERT]
    assert {t.shape for t in experts} == {(8, 512, 256), (8, 256, 512)}
    assert {t.stored_as for t in experts} == {"mxfp4"}
    assert model.layers[0].routing is not None
    assert model.layers[0].routing.top_k == 2
    assert model.parameters()[Component.ROUTER] == 2 * 8 * 256


def test_parts_of_a_split_file_are_one_model(tmp_path: Path) -> None:
    tensors = llama_tensors()
    names = list(tensors)
    first = {name: tensors[name] for name in names[:9]}
    second = {name: tensors[name] for name in names[9:]}
    write(tmp_path / "m-00001-of-00002.gguf", LLAMA, first)
    write(tmp_path / "m-00002-of-00002.gguf", {"split.no": 1}, second)
    whole = read_checkpoint(write(tmp_path / "whole.gguf", LLAMA, tensors))
    split = read_checkpoint(tmp_path / "m-00001-of-00002.gguf")
    assert split.stored_bytes == whole.stored_bytes
    assert split.total_parameters == whole.total_parameters
    (tmp_path / "m-00002-of-00002.gguf").unlink()
    with pytest.raises(CheckpointError, match=r"m-00002-of-00002\.gguf is missing"):
        read_checkpoint(tmp_path / "m-00001-of-00002.gguf")


def test_a_folder_with_only_a_gguf_is_that_file(tmp_path: Path) -> None:
    write(tmp_path / "tiny.gguf", LLAMA, llama_tensors())
    assert read_checkpoint(tmp_path).source == "gguf"


GOOD = build(LLAMA, llama_tensors())


def patched(at: int, value: bytes) -> bytes:
    return GOOD[:at] + value + GOOD[at + len(value) :]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "within its header"),
        (b"GGML" + GOOD[4:], "is no GGUF file"),
        (patched(4, struct.pack("<I", 1)), "version 1"),
        (patched(4, struct.pack(">I", 3)), "version 50331648"),
        (patched(8, struct.pack("<Q", 2**60)), "claims 1,152,921,504,606,846,976 tensors"),
        (patched(16, struct.pack("<Q", 2**60)), "metadata entries"),
        (patched(24, struct.pack("<Q", 2**62)), "claims a text of"),
        (GOOD[: len(GOOD) // 2], "outside the file"),
        (GOOD[:300], "within its header"),
    ],
)
def test_a_file_that_lies_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"general.architecture": 3}, "general.architecture"),
        ({"llama.block_count": 3}, "layer 2 has no tensors"),
        ({"llama.block_count": 1}, "is in no layer"),
        ({"llama.block_count": 0}, "claims 0 layers"),
        ({"llama.block_count": "two"}, "is no valid size"),
        ({"llama.attention.head_count": [4]}, "needs 2 sizes"),
        ({"general.alignment": 24}, "no power of two"),
        ({"general.alignment": 0}, "no power of two"),
    ],
)
def test_metadata_that_lies_is_refused(
    tmp_path: Path, change: dict[str, Value], words: str
) -> None:
    path = write(tmp_path / "bad.gguf", {**LLAMA, **change}, llama_tensors())
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(path)


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ({"blk.0.attn_warp.weight": ("F32", (8,))}, "role of tensor 'blk.0.attn_warp.weight'"),
        ({"mystery.weight": ("F32", (8,))}, "role of tensor 'mystery.weight'"),
        ({"blk.x.attn_q.weight": ("F32", (8,))}, "is in no layer"),
        ({"blk.0.attn_q.weight": ("Q4_K", (100, 2))}, "no blocks of 256"),
        ({"output_norm.weight": ("F32", (0,))}, "has the shape"),
    ],
)
def test_tensors_that_are_not_known_are_refused(
    tmp_path: Path, tensors: Tensors, words: str
) -> None:
    path = write(tmp_path / "bad.gguf", LLAMA, {**llama_tensors(), **tensors})
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(path)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_no_damage_brings_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    header = len(GOOD) - sum(-(-size_of(*t) // 32) * 32 for t in llama_tensors().values())
    damaged = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, header - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("fuzz") / "damaged.gguf"
    path.write_bytes(bytes(damaged))
    with suppress(CheckpointError):
        assert read_checkpoint(path).source == "gguf"


def renamed(architecture: str, **more: Value) -> dict[str, Value]:
    """The metadata of the little Llama under another architecture's keys."""
    keys = {key.replace("llama.", f"{architecture}."): value for key, value in LLAMA.items()}
    given = {f"{architecture}.{key.replace('__', '.')}": value for key, value in more.items()}
    return {**keys, "general.architecture": architecture, **given}


def test_latent_attention_caches_its_rank_and_its_rotary_part(tmp_path: Path) -> None:
    tensors = llama_tensors("F16", "F16")
    for i in range(2):
        for name in ("q", "k", "v", "output"):
            tensors.pop(f"blk.{i}.attn_{name}.weight")
        tensors |= {
            f"blk.{i}.attn_q.weight": ("F16", (256, 4 * 96)),
            f"blk.{i}.attn_kv_a_mqa.weight": ("F16", (256, 64 + 32)),
            f"blk.{i}.attn_kv_a_norm.weight": ("F32", (64,)),
            f"blk.{i}.attn_k_b.weight": ("F16", (64, 64, 4)),
            f"blk.{i}.attn_v_b.weight": ("F16", (64, 64, 4)),
            f"blk.{i}.attn_output.weight": ("F16", (4 * 64, 256)),
        }
    metadata = renamed(
        "deepseek2", attention__kv_lora_rank=64, attention__key_length=96,
        attention__value_length=64,
    )  # fmt: skip
    model = read_checkpoint(write(tmp_path / "mla.gguf", metadata, tensors))
    (cache,) = model.layers[0].caches
    # Scores over rank and rotary part, values over the rank: 2 FLOP each for four heads.
    assert (cache.kind, cache.elements) == (CacheKind.LATENT, 96)
    assert cache.flops == 2 * 4 * (96 + 64)
    assert model.attention is not None
    assert (model.attention.latent_dim, model.attention.rope_dim) == (64, 32)


def test_a_state_space_keeps_inner_times_state_width(tmp_path: Path) -> None:
    tensors: Tensors = {
        "token_embd.weight": ("F16", (256, 64)),
        "output_norm.weight": ("F32", (256,)),
    }
    for i in range(2):
        tensors |= {
            f"blk.{i}.attn_norm.weight": ("F32", (256,)),
            f"blk.{i}.ssm_in.weight": ("F16", (256, 1024)),
            f"blk.{i}.ssm_conv1d.weight": ("F32", (4, 512)),
            f"blk.{i}.ssm_conv1d.bias": ("F32", (512,)),
            f"blk.{i}.ssm_x.weight": ("F16", (512, 48)),
            f"blk.{i}.ssm_dt.weight": ("F16", (16, 512)),
            f"blk.{i}.ssm_a": ("F32", (16, 512)),
            f"blk.{i}.ssm_d": ("F32", (512,)),
            f"blk.{i}.ssm_out.weight": ("F16", (512, 256)),
        }
    metadata = renamed("mamba", ssm__inner_size=512, ssm__state_size=16, ssm__conv_kernel=4)
    model = read_checkpoint(write(tmp_path / "mamba.gguf", metadata, tensors))
    (only,) = model.layers
    assert not only.caches
    assert only.state is not None
    assert (only.state.elements, only.state.conv_elements) == (512 * 16, 4 * 512)
    assert only.state.flops == 6 * 512 * 16


def test_a_short_convolution_keeps_only_its_columns(tmp_path: Path) -> None:
    tensors = llama_tensors("F16", "F16")
    for name in ("q", "k", "v", "output"):
        tensors.pop(f"blk.0.attn_{name}.weight")
    tensors |= {
        "blk.0.shortconv.conv.weight": ("F32", (3, 256)),
        "blk.0.shortconv.in_proj.weight": ("F16", (256, 768)),
        "blk.0.shortconv.out_proj.weight": ("F16", (256, 256)),
    }
    metadata = renamed("lfm2", attention__head_count_kv=[0, 2])
    model = read_checkpoint(write(tmp_path / "lfm2.gguf", metadata, tensors))
    first, second = model.layers
    assert first.state is not None
    assert (first.state.elements, first.state.conv_elements) == (0, 3 * 256)
    assert len(second.caches) == 1


@pytest.mark.parametrize(
    ("pattern", "windows"), [([1, 0], [128, None]), (2, [128, None]), ([0, 1], [None, 128])]
)
def test_windows_by_a_pattern_of_layers(
    tmp_path: Path, pattern: Value, windows: list[int | None]
) -> None:
    metadata = renamed(
        "gemma3", attention__sliding_window=128, attention__sliding_window_pattern=pattern
    )
    model = read_checkpoint(write(tmp_path / "windows.gguf", metadata, llama_tensors()))
    assert [layer.caches[0].window for layer in model.layers] == windows


def test_layers_that_predict_more_tokens_stand_beside_the_model(tmp_path: Path) -> None:
    tensors = llama_tensors("F16", "F16")
    tensors["blk.1.nextn.eh_proj.weight"] = ("F16", (512, 256))
    metadata = renamed("glm4moe", nextn_predict_layers=1)
    model = read_checkpoint(write(tmp_path / "mtp.gguf", metadata, tensors))
    assert [layer.count for layer in model.layers] == [1]
    layer = 2 * 65_536 + 2 * 32_768 + 3 * 131_072 + 512
    assert model.parameters()[Component.MTP] == layer + 512 * 256
    assert model.total_parameters == layer + 2 * 64 * 256 + 256


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gpt-oss.expert_used_count": 9}, "9 of 8 experts are used"),
        ({"gpt-oss.expert_used_count": 0}, "0 of 8 experts are used"),
    ],
)
def test_more_experts_than_there_are(tmp_path: Path, change: dict[str, Value], words: str) -> None:
    tensors = llama_tensors("F16", "F16")
    for i in range(2):
        for name in ("gate", "up", "down"):
            _, shape = tensors.pop(f"blk.{i}.ffn_{name}.weight")
            tensors[f"blk.{i}.ffn_{name}_exps.weight"] = ("MXFP4", (*shape, 8))
        tensors[f"blk.{i}.ffn_gate_inp.weight"] = ("F32", (256, 8))
        tensors[f"blk.{i}.exp_probs_b.bias"] = ("F32", (8,))
        tensors[f"blk.{i}.ffn_up_exps.bias"] = ("F32", (512, 8))
        tensors[f"blk.{i}.attn_q.bias"] = ("F32", (256,))
    metadata = renamed("gpt-oss", expert_count=8, expert_used_count=2)
    right = read_checkpoint(write(tmp_path / "right.gguf", metadata, tensors))
    uses = {tensor.name: tensor.use for tensor in right.layers[0].tensors}
    assert uses["q_proj.bias"] is Use.VECTOR
    assert uses["up_proj.bias"] is Use.EXPERT
    assert uses["router.selection_bias"] is Use.BUFFER
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(write(tmp_path / "wrong.gguf", {**metadata, **change}, tensors))


def test_a_file_without_its_embedding_is_no_model(tmp_path: Path) -> None:
    tensors = llama_tensors()
    del tensors["token_embd.weight"]
    with pytest.raises(CheckpointError, match="has no token_embd"):
        read_checkpoint(write(tmp_path / "bare.gguf", LLAMA, tensors))


def test_a_split_of_no_parts_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m-00001-of-99999.gguf", LLAMA, llama_tensors())
    with pytest.raises(CheckpointError, match="claims 99999 parts"):
        read_checkpoint(path)


def test_long_lists_of_numbers_are_passed_over(tmp_path: Path) -> None:
    metadata = {**LLAMA, "tokenizer.ggml.token_type": [1] * 5000}
    assert read_checkpoint(write(tmp_path / "long.gguf", metadata, llama_tensors())).hidden == 256
