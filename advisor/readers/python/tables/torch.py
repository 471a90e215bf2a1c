"""torch: pruning, quantization, sparse tensors, compilation, graphs, tensor parallelism."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import OPEN, Setting
from advisor.readers.python.calls import (
    ABSENT,
    Call,
    Found,
    Rows,
    Rule,
    numbers_of,
)
from advisor.readers.python.rules import (
    every,
    pruned,
    sets,
    sets_if,
)
from advisor.readers.python.values import Made, usual

_CONVERTS: Final = frozenset({"convert", "convert_fx", "convert_pt2e", "convert_to_reference_fx"})
_FACTORS: Final = frozenset({"to_sparse_semi_structured"})


def _dynamic(call: Call) -> Iterator[Found]:
    """quantize_dynamic: int8 weights unless the dtype says otherwise."""
    given = call.plain("dtype", position=2)
    word = given.rpartition(".")[2] if isinstance(given, str) else ""
    form = {"float16": "fp16", "qint8": "int8", "quint4x2": "int4"}.get(word, "int8")
    yield call.found(Setting("quantize", {"weights": form}), "dtype")


_NO_COMPILER: Final = frozenset({"eager", "aot_eager", "aot_eager_decomp_partition"})
"""Back ends that run what they trace as it is."""


def _compile(call: Call) -> Iterator[Found]:
    if call.plain("disable") is True or str(call.plain("backend")) in _NO_COMPILER:
        return
    mode = call.plain("mode")
    fields = {"mode": mode} if isinstance(mode, str) else {}
    if "prefill" in call.file.assigned.get(id(call.made.node), ""):
        fields["phase"] = "prefill"
    yield call.found(Setting("compile", fields))


def _model_compiled(call: Call) -> Iterator[Found]:
    """`model.compile(mode=...)` of a model that is loaded; Keras compiles for training."""
    inner = usual(call.made.receiver) if call.made.receiver is not None else None
    while isinstance(inner, Made) and inner.receiver is not None:  # .eval(), .cuda()
        inner = usual(inner.receiver)
    if isinstance(inner, Made) and inner.name.endswith("from_pretrained"):
        yield from _compile(call)


def _norm_sparsifier(call: Call) -> Iterator[Found]:
    """WeightNormSparsifier: zeros in a block of (1, n): N:M by its numbers, else blocks."""
    shape = numbers_of(call.value("sparse_block_shape"))
    zeros = call.plain("zeros_per_block")
    level = call.plain("sparsity_level")
    if shape == [1.0, 4.0] and zeros in (2, ABSENT):
        # A mask that nothing folds into the weights leaves open how they are stored.
        folded = "squash_mask" in call.file.names
        fields: dict[str, object] = {"pattern": "2:4", **({"storage": "dense"} if folded else {})}
    elif len(shape) == 2 and shape[0] * shape[1] > 1:
        fields = {"pattern": "block", "storage": "dense", "sparsity": _share(level)}
    else:
        fields = {"pattern": "unstructured", "storage": "dense", "sparsity": _share(level)}
    yield call.found(Setting("prune", fields))


def _share(value: object) -> object:
    return value if isinstance(value, float) and 0 < value <= 1 else "unknown"


def _sparse(storage: str, pattern: str = "unstructured") -> Rule:
    """A sparse tensor made of a weight; graphs and features are sparse for other reasons."""
    inner = pruned(pattern, storage=storage)

    def rule(call: Call) -> Iterator[Found]:
        if _is_weight(call):
            yield from inner(call)

    return rule


_WEIGHTS: Final = re.compile(r"weight|\bw\b|\bW\b|param|linear|proj\b|prun|mask|dense|kernel|\bfc")


def _is_weight(call: Call) -> bool:
    node = call.made.node
    held = [arg.node for arg in call.made.args]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        held.append(node.func.value)
    return any(_WEIGHTS.search(ast.unparse(part)) for part in held)


def _to_dtype(call: Call) -> Iterator[Found]:
    """`.to_sparse(layout=torch.sparse_bsr)`."""
    if not _is_weight(call):
        return
    layout = call.plain("layout")
    word = layout.rpartition("_")[2] if isinstance(layout, str) else "coo"
    fields = {"pattern": "block" if word == "bsr" else "unstructured", "storage": word}
    if word not in {"csr", "coo", "bsr", "csc"}:
        fields["storage"] = "coo"
    yield call.found(Setting("prune", {**fields, "sparsity": "unknown"}))


def _parallelized(call: Call) -> Iterator[Found]:
    mesh = call.value("device_mesh", "mesh", position=1)
    sizes = [] if mesh is None else _mesh_sizes(mesh)
    if sizes == [1.0]:
        return
    size: object = int(sizes[-1]) if sizes else "all"
    yield call.found(Setting("tensor_parallel", {"size": size}))


def _mesh_sizes(mesh: object) -> list[float]:
    keywords = getattr(mesh, "args", [])
    return numbers_of(keywords[1]) if len(keywords) > 1 else []


def _graph(call: Call) -> Iterator[Found]:
    yield call.found(Setting("cuda_graphs"))


def _called_by_hand(call: Call) -> Iterator[Found]:
    """SDPA called where a model is loaded; a model's own code calls it without being a choice."""
    if "from_pretrained" in call.file.names:
        yield call.found(Setting("attention_kernel", {"name": "SDPA"}))


def _attention_switch(call: Call) -> Iterator[Found]:
    if call.plain("enabled", position=0) is not False:
        yield call.found(Setting("attention_kernel", {"name": "SDPA"}))


def _fake(call: Call) -> Iterator[Found]:
    if not _CONVERTS & call.file.names:
        yield call.found(Setting("quantize", {"weights": "int8", "packed": False}))


def _converted(call: Call) -> Iterator[Found]:
    """`convert` of torch.ao.quantization; the format is that of its qconfig, int8 by default."""
    yield call.found(Setting("quantize", {"weights": "int8"}))


def _eight_bits(call: Call) -> Iterator[Found]:
    """`fp8_autocast`: weights stay wide and are cast at every call."""
    if call.plain("enabled", position=0) is not False:
        yield call.found(Setting("quantize", {"weights": "fp8", "packed": False}))


def _sharded(call: Call) -> Iterator[Found]:
    """`distribute_tensor(weight, mesh, [Shard(0)])`."""
    if _is_weight(call):
        yield from _parallelized(call)


def _half(call: Call) -> Iterator[Found]:
    """`torch.set_default_dtype` and the like say a format, no lever."""
    del call
    yield from ()


_UNSTRUCTURED: Final = pruned("unstructured", "amount", position=2)

CALLS: Final[Rows] = MappingProxyType(
    {
        **{
            f"torch:prune.{name}": rule
            for name, rule in {
                "l1_unstructured": _UNSTRUCTURED,
                "random_unstructured": _UNSTRUCTURED,
                "global_unstructured": pruned("unstructured", "amount"),
                "custom_from_mask": pruned("unstructured"),
                "ln_structured": pruned("channels", "amount", position=2, storage="masked"),
                "random_structured": pruned("channels", "amount", position=2, storage="masked"),
                "L1Unstructured.apply": _UNSTRUCTURED,
                "RandomUnstructured.apply": _UNSTRUCTURED,
                "LnStructured.apply": pruned("channels", "amount", position=2, storage="masked"),
                "CustomFromMask.apply": pruned("unstructured"),
            }.items()
        },
        **{
            f"torch:{name}": rule
            for name, rule in {
                "l1_unstructured": _UNSTRUCTURED,
                "random_unstructured": _UNSTRUCTURED,
                "global_unstructured": pruned("unstructured", "amount"),
                "custom_from_mask": pruned("unstructured"),
                "ln_structured": pruned("channels", "amount", position=2, storage="masked"),
                "random_structured": pruned("channels", "amount", position=2, storage="masked"),
            }.items()
        },
        "torch:WeightNormSparsifier": _norm_sparsifier,
        "torch:to_sparse_semi_structured": _sparse("2:4-packed", "2:4"),
        "torch:SparseSemiStructuredTensor.from_dense": _sparse("2:4-packed", "2:4"),
        ".to_sparse_semi_structured": _sparse("2:4-packed", "2:4"),
        ".to_sparse_csr": _sparse("csr"),
        ".to_sparse_coo": _sparse("coo"),
        ".to_sparse_csc": _sparse("csr"),
        ".to_sparse_bsr": _sparse("bsr", "block"),
        ".to_sparse": _to_dtype,
        "torch:quantize_dynamic": _dynamic,
        "torch:quantize_dynamic_jit": _dynamic,
        "torch:prepare_qat": _fake,
        "torch:prepare_qat_fx": _fake,
        "torch:prepare_qat_pt2e": _fake,
        "torch:convert_fx": _converted,
        "torch:convert_pt2e": _converted,
        "torch:quantization.convert": _converted,
        "torchao:convert_pt2e": _converted,
        "torchao:prepare_qat_pt2e": _fake,
        "torch:torch.compile": _compile,
        "torch:compile": _compile,
        "torch:cuda.CUDAGraph": _graph,
        "torch:cuda.make_graphed_callables": _graph,
        "torch:CUDAGraph": _graph,
        "torch:cuda.graph": _graph,
        "torch:make_graphed_callables": _graph,
        "torch:parallelize_module": _parallelized,
        "torch:enable_flash_sdp": _attention_switch,
        "torch:sdpa_kernel": _attention_switch,
        "torch:sdp_kernel": _attention_switch,
        "torch:scaled_dot_product_attention": _called_by_hand,
        "torch:flex_attention": sets("attention_kernel", name="flex attention"),
        "torch:DataParallel": sets("data_parallel", size="unknown"),
        "torch:pipelining.pipeline": sets("pipeline_parallel", size="unknown"),
        "torch:PipelineStage": sets("pipeline_parallel", size="unknown"),
        "torch:ScheduleGPipe": sets("pipeline_parallel", size="unknown"),
        "accelerate:prepare_pippy": sets("pipeline_parallel", size="unknown"),
        "torch_tensorrt:compile": _compile,
        ".compile": _model_compiled,
        "torch:jit.optimize_for_inference": sets("fuse", mode="graph"),
        "torch:optimize_for_inference": sets("fuse", mode="graph"),
        "intel_extension_for_pytorch:llm.optimize": sets("fuse", mode="graph"),
        "apex:ASP.prune_trained_model": pruned("2:4"),
        "apex:ASP.compute_sparse_masks": pruned("2:4"),
        "flash_attn:flash_attn_func": sets("attention_kernel", name="flash attention 2"),
        "flash_attn:flash_attn_with_kvcache": sets("attention_kernel", name="flash decoding"),
        "flash_attn:flash_attn_varlen_func": sets("attention_kernel", name="flash attention 2"),
        "xformers:memory_efficient_attention": sets("attention_kernel", name="xformers"),
        "transformer_engine:fp8_autocast": _eight_bits,
        "transformer_engine:autocast": _eight_bits,
        "transformer_engine:fp8_model_init": sets_if(
            "enabled", "quantize", default=True, weights="fp8"
        ),
        "torch:SaliencyPruner": pruned("channels", storage="removed"),
        "torch:FPGMPruner": pruned("channels", storage="removed"),
        "torch:WandaSparsifier": pruned("unstructured"),
        "torch:distribute_tensor": _sharded,
        "flash_attn_interface:flash_attn_func": sets("attention_kernel", name="flash attention 3"),
        "flash_attn_interface:flash_attn_with_kvcache": sets(
            "attention_kernel", name="flash attention 3"
        ),
        "flash_attn:flash_attn_qkvpacked_func": sets("attention_kernel", name="flash attention 2"),
        "sageattention:sageattn": sets("attention_kernel", name="SageAttention"),
        "xformers:fmha.memory_efficient_attention_forward": sets(
            "attention_kernel", name="xformers"
        ),
        **{
            f"flashinfer:{name}": sets("attention_kernel", name="FlashInfer")
            for name in (
                "BatchDecodeWithPagedKVCacheWrapper",
                "BatchPrefillWithPagedKVCacheWrapper",
                "single_decode_with_kv_cache",
                "single_prefill_with_kv_cache",
            )
        },
        "tensor_parallel:tensor_parallel": every(sets("tensor_parallel", size="all")),
        "tensor_parallel:TensorParallel": sets("tensor_parallel", size="all"),
        "tensor_parallel:TensorParallelPreTrainedModel": sets("tensor_parallel", size="all"),
    }
)
"""Rows."""

__all__ = ["CALLS", "OPEN"]
