"""GGUF -> `Architecture`: tensors by their table, heads and windows by the metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from advisor.ledger.bounded_files import CheckpointError, inside
from advisor.ledger.gguf_header import GgufFile, GgufTensor, read_header
from advisor.ledger.gguf_names import ALL_SLIDE, BUFFERS, FULL_EVERY, IN_LAYER, OUTSIDE, TABLES
from advisor.ledger.shapes import (
    Architecture,
    Attention,
    Cache,
    CacheKind,
    Component,
    Layer,
    Routing,
    State,
    Tensor,
    Use,
)

_SPLIT = re.compile(r"(?P<stem>.+)-(?P<part>\d{5})-of-(?P<parts>\d{5})\.gguf")
_MAX_PARTS: Final = 1_000
_MAX_LAYERS: Final = 10_000
_MAX_VALUE: Final = 2**32


class _Metadata:
    """The hyperparameters of a file, under the name of its architecture."""

    def __init__(self, raw: Mapping[str, object], name: str) -> None:
        self.raw = raw
        self.file = name
        arch = raw.get("general.architecture")
        if not isinstance(arch, str) or not arch:
            raise CheckpointError(f"{name} does not say its general.architecture")
        self.arch = arch

    def value(self, key: str) -> object:
        return self.raw.get(f"{self.arch}.{key}")

    def size(self, key: str, default: int | None = None) -> int:
        value = self.value(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MAX_VALUE:
            raise CheckpointError(f"{self.file}: {self.arch}.{key} = {value!r} is no valid size")
        return value

    def by_layer(self, key: str, layers: int, default: int) -> tuple[int, ...]:
        """A value for each layer: one for all, or a list."""
        value = self.value(key)
        if isinstance(value, list):
            whole = all(isinstance(item, int) and 0 <= item < _MAX_VALUE for item in value)
            if len(value) < layers or not whole:
                raise CheckpointError(f"{self.file}: {self.arch}.{key} needs {layers} sizes")
            return tuple(value[:layers])
        return (self.size(key, default),) * layers


def read_gguf(path: Path) -> Architecture:
    """Describe the model of a GGUF file, or of all parts of a split one.

    Raises:
        CheckpointError: the file lies, a part is missing, or a tensor's role is not known.

    """
    file = _read_parts(path)
    data = _Metadata(file.metadata, path.name)
    blocks = data.size("block_count")
    if not 0 < blocks <= _MAX_LAYERS:
        raise CheckpointError(f"{path.name} claims {blocks:,} layers")
    mtp = min(data.size("nextn_predict_layers", 0), blocks - 1)
    outer, by_layer = _sort(file.tensors, blocks, path.name)
    layers = _layers(data, by_layer, blocks - mtp)
    for index in range(blocks - mtp, blocks):
        outer += [
            replace(tensor, name=f"mtp.{tensor.name}", component=Component.MTP, use=Use.IDLE)
            for tensor in by_layer.get(index, ())
        ]
    embedding = next((t for t in outer if t.name == "embed_tokens"), None)
    if embedding is None:
        raise CheckpointError(f"{path.name} has no token_embd.weight")
    formats = [t.format for t in file.tensors if len(t.shape) > 1]
    common = max(set(formats), key=formats.count) if formats else None
    return Architecture(
        name=str(file.metadata.get("general.name") or path.stem),
        model_type=data.arch,
        hidden=embedding.shape[1],
        vocabulary=embedding.shape[0],
        tensors=tuple(outer),
        layers=_group(layers),
        tied=not any(t.name == "lm_head" for t in outer),
        attention=_attention(data, layers),
        intermediate=_width(layers),
        dtype="fp16",
        quantization=common if common not in {"fp32", "fp16", "bf16"} else None,
        context_limit=data.size("context_length", 0) or None,
        source="gguf",
        stored_bytes=sum(tensor.bytes for tensor in file.tensors),
    )


def _read_parts(path: Path) -> GgufFile:
    """One file, or the parts of a split one: the first has the metadata."""
    match = _SPLIT.fullmatch(path.name)
    if match is None:
        return read_header(path)
    count = int(match["parts"])
    if not 0 < count <= _MAX_PARTS:
        raise CheckpointError(f"{path.name} claims {count} parts")
    files = []
    for part in range(1, count + 1):
        name = f"{match['stem']}-{part:05}-of-{count:05}.gguf"
        if not (path.parent / name).exists():
            raise CheckpointError(f"part {name} is missing")
        files.append(read_header(inside(path.parent, name)))
    return GgufFile(files[0].metadata, tuple(t for file in files for t in file.tensors))


def _sort(
    tensors: tuple[GgufTensor, ...], blocks: int, name: str
) -> tuple[list[Tensor], dict[int, list[Tensor]]]:
    """The tensors outside the layers, and those of each layer."""
    outer: list[Tensor] = []
    by_layer: dict[int, list[Tensor]] = {}
    for stored in tensors:
        base, _, kind = stored.name.rpartition(".")
        if not base:  # "blk.0.attn_sinks" and the like carry no ".weight"
            base, kind = stored.name, "weight"
        if not base.startswith("blk."):
            outer.append(_tensor(stored, base, kind, OUTSIDE, name))
            continue
        number, _, role = base[4:].partition(".")
        if kind not in {"weight", "bias", "scale"}:
            role, kind = f"{role}.{kind}" if role else kind, "weight"
        if not number.isdigit() or len(number) > 5 or int(number) >= blocks:
            raise CheckpointError(f"{name}: tensor {stored.name[:60]!r} is in no layer")
        if role.startswith("nextn."):
            tensor = _plain(stored, f"mtp.{role}", Component.MTP, Use.IDLE)
            outer.append(tensor)
            continue
        by_layer.setdefault(int(number), []).append(_tensor(stored, role, kind, IN_LAYER, name))
    return outer, by_layer


def _plain(stored: GgufTensor, name: str, component: Component, use: Use) -> Tensor:
    return Tensor(name, stored.shape, component, use, stored_as=stored.format)


def _tensor(
    stored: GgufTensor,
    role: str,
    kind: str,
    roles: Mapping[str, tuple[str, Component]],
    file: str,
) -> Tensor:
    """A tensor of the table as the ledger knows it."""
    if role in BUFFERS:
        return _plain(stored, role, Component.ATTENTION, Use.BUFFER)
    if role not in roles:
        raise CheckpointError(f"{file}: the role of tensor {stored.name[:60]!r} is not known")
    name, component = roles[role]
    if kind == "bias" and name != "router.selection_bias":
        use = Use.EXPERT if component is Component.EXPERTS else Use.VECTOR
        return _plain(stored, f"{name}.bias", component, use)
    if name == "router.selection_bias":
        use = Use.BUFFER
    elif name in TABLES:
        use = Use.TABLE
    elif name == "embed_positions":
        use = Use.IDLE
    elif component is Component.EXPERTS and len(stored.shape) == 3:
        use = Use.EXPERT
    elif len(stored.shape) == 1 or component is Component.NORMS or name in {"conv1d", "A_log"}:
        use = Use.VECTOR
    else:
        use = Use.MATMUL
    return _plain(stored, name, component, use)


def _layers(data: _Metadata, by_layer: Mapping[int, list[Tensor]], count: int) -> list[Layer]:
    """The layers with their caches, states and routing, one by one."""
    heads = data.by_layer("attention.head_count", count, 0)
    kv_heads = data.by_layer("attention.head_count_kv", count, 0)
    sliding = _sliding(data, count)
    borrowed_from = count - data.size("attention.shared_kv_layers", 0)
    layers: list[Layer] = []
    for index in range(count):
        tensors = by_layer.get(index)
        if not tensors:
            raise CheckpointError(f"{data.file}: layer {index} has no tensors")
        window = data.size("attention.sliding_window") if sliding[index] else None
        grouped = kv_heads[index] or heads[index]
        tensors = _unfused(data, tensors, heads[index], grouped)
        borrowed = index >= borrowed_from
        cache = _cache(data, tensors, heads[index], grouped, window, borrowed=borrowed)
        layers.append(
            Layer(
                tuple(tensors),
                (cache,) if cache else (),
                _state(data, tensors),
                _routing(data, tensors),
                label=_label(cache, tensors),
            )
        )
    return layers


def _sliding(data: _Metadata, count: int) -> tuple[bool, ...]:
    """Which layers attend to a window only."""
    window = data.size("attention.sliding_window", 0)
    context = data.size("context_length", 0)
    if not window or (context and window >= context):
        return (False,) * count
    pattern = data.value("attention.sliding_window_pattern")
    if isinstance(pattern, list) and len(pattern) >= count:
        return tuple(bool(item) for item in pattern[:count])
    if isinstance(pattern, int) and not isinstance(pattern, bool) and pattern > 0:
        return tuple((i + 1) % pattern != 0 for i in range(count))
    if data.arch in FULL_EVERY:
        return tuple((i + 1) % FULL_EVERY[data.arch] != 0 for i in range(count))
    return (data.arch in ALL_SLIDE,) * count


def _cache(
    data: _Metadata,
    tensors: list[Tensor],
    heads: int,
    kv_heads: int,
    window: int | None,
    *,
    borrowed: bool,
) -> Cache | None:
    """What a layer caches, None where it has no attention."""
    names = {tensor.name: tensor for tensor in tensors}
    if "kv_a_proj" in names:
        rank = data.size("attention.kv_lora_rank")
        rope = names["kv_a_proj"].shape[0] - rank
        return Cache(CacheKind.LATENT, rank + rope, 2 * heads * (2 * rank + rope))
    if "o_proj" not in names or not heads or not ("k_proj" in names or borrowed):
        return None
    key, value = _head_widths(data, heads, names["o_proj"].shape[0], sliding=window is not None)
    return Cache(
        CacheKind.KV,
        elements=kv_heads * (key + value),
        flops=2 * heads * (key + value),
        kv_heads=kv_heads,
        window=window,
        borrowed=borrowed,
    )


def _head_widths(data: _Metadata, heads: int, hidden: int, *, sliding: bool) -> tuple[int, int]:
    """Widths of a head's keys and values; sliding layers may have their own."""
    even = hidden // heads
    key = data.size("attention.key_length", even)
    value = data.size("attention.value_length", even)
    if not sliding:
        return key, value
    return data.size("attention.key_length_swa", key), data.size(
        "attention.value_length_swa", value
    )


def _unfused(data: _Metadata, tensors: list[Tensor], heads: int, kv_heads: int) -> list[Tensor]:
    """The same tensors, a joint query, key and value projection in its three parts."""
    parts: list[Tensor] = []
    for tensor in tensors:
        suffix = ".bias" if tensor.name.endswith(".bias") else ""
        if tensor.name != f"qkv_proj{suffix}" or not heads:
            parts.append(tensor)
            continue
        rest = tensor.shape[1:]
        key, value = _head_widths(data, heads, rest[0] if rest else heads, sliding=False)
        if not rest:  # a bias does not tell the hidden size: its rows are split as the weight's
            key = value = tensor.shape[0] // (heads + 2 * kv_heads)
        rows = {"q": heads * key, "k": kv_heads * key, "v": kv_heads * value}
        if sum(rows.values()) != tensor.shape[0]:
            parts.append(replace(tensor, name=f"in_proj_qkv{suffix}"))  # of linear attention
            continue
        parts += (
            replace(tensor, name=f"{part}_proj{suffix}", shape=(count, *rest))
            for part, count in rows.items()
        )
    return parts


def _state(data: _Metadata, tensors: list[Tensor]) -> State | None:
    """Recurrent state: inner width times state width, and the convolution's last columns."""
    conv = next((tensor for tensor in tensors if tensor.name == "conv1d"), None)
    if conv is None:
        return None
    columns = conv.elements
    if not any(tensor.name in {"A_log", "in_proj_ba", "in_proj_a"} for tensor in tensors):
        return State(0, columns)
    elements = data.size("ssm.inner_size") * data.size("ssm.state_size")
    return State(elements, columns, 6 * elements)


def _routing(data: _Metadata, tensors: list[Tensor]) -> Routing | None:
    experts = next((tensor for tensor in tensors if tensor.use is Use.EXPERT), None)
    if experts is None:
        return None
    top_k = data.size("expert_used_count")
    if not 0 < top_k <= experts.shape[0]:
        raise CheckpointError(f"{data.file}: {top_k} of {experts.shape[0]} experts are used")
    return Routing(experts.shape[0], top_k)


def _label(cache: Cache | None, tensors: list[Tensor]) -> str:
    mixer = "recurrent"
    if cache is not None:
        mixer = "sliding attention" if cache.window else "full attention"
        mixer = "latent attention" if cache.kind is CacheKind.LATENT else mixer
    routed = any(tensor.use is Use.EXPERT for tensor in tensors)
    dense = any(tensor.component is Component.MLP for tensor in tensors)
    return " + ".join([mixer, *(["MoE"] if routed else ["MLP"] if dense else [])])


def _group(layers: list[Layer]) -> tuple[Layer, ...]:
    """Identical layers once, with their count, in order of first appearance."""
    counts: dict[Layer, int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + 1
    return tuple(replace(layer, count=count) for layer, count in counts.items())


def _attention(data: _Metadata, layers: list[Layer]) -> Attention | None:
    attending = [layer for layer in layers if layer.caches]
    if not attending:
        return None
    full = next((one for one in attending if one.caches[0].window is None), attending[0])
    cache = full.caches[0]
    heads = data.by_layer("attention.head_count", 1, 0)[0]
    if cache.kind is CacheKind.LATENT:
        rank = data.size("attention.kv_lora_rank")
        width = data.size("attention.key_length_mla", data.size("attention.key_length", 0))
        return Attention(heads, 1, width, latent_dim=rank, rope_dim=cache.elements - rank)
    return Attention(heads, cache.kv_heads, cache.flops // (4 * heads))


def _width(layers: list[Layer]) -> int:
    for part in (Component.MLP, Component.EXPERTS):
        for layer in layers:
            for tensor in layer.tensors:
                if tensor.name == "up_proj" and tensor.component is part:
                    return tensor.shape[-2]
    return 0
