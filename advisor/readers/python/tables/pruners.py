"""Libraries that prune: Torch-Pruning, NNI, LLM-Pruner, kvpress, TensorFlow's toolkit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Fact, Setting
from advisor.readers.options.formats import integer_format
from advisor.readers.options.values import whole_of
from advisor.readers.python.calls import (
    ABSENT,
    Call,
    Found,
    Rows,
    Rule,
)
from advisor.readers.python.rules import (
    pruned,
    sets,
)
from advisor.readers.python.values import Made, Value, text_of, usual

_REMOVED: Final = pruned("channels", "pruning_ratio", "ch_sparsity", storage="removed")


def _pruner(call: Call) -> Iterator[Found]:
    """Torch-Pruning's pruners: channels, and heads where a switch says so."""
    yield from _REMOVED(call)
    if call.plain("prune_num_heads") is True or call.has("head_pruning_ratio"):
        share = call.plain("head_pruning_ratio", "pruning_ratio", "ch_sparsity")
        amount = share if isinstance(share, float) and 0 < share < 1 else "unknown"
        fields = {"pattern": "heads", "storage": "removed", "sparsity": amount}
        yield call.found(Setting("prune", fields), "prune_num_heads", "head_pruning_ratio")


def _nni(pattern: str) -> Rule:
    """NNI's pruners mask; only ModelSpeedup takes out."""

    def rule(call: Call) -> Iterator[Found]:
        stored = (
            "removed"
            if pattern != "unstructured" and "ModelSpeedup" in call.file.names
            else ("masked" if pattern != "unstructured" else "dense")
        )
        listed = call.plain("config_list", position=1)
        first = listed[0] if isinstance(listed, list) and listed else None
        share = (
            first.get("sparsity", first.get("sparse_ratio")) if isinstance(first, dict) else None
        )
        known = isinstance(share, float) and 0 < share <= 1
        fields = {"pattern": pattern, "storage": stored, "sparsity": share if known else "unknown"}
        value = call.value("config_list", position=1)
        place = usual(value).node if value is not None else call.made.node
        yield call.found(Setting("prune", fields))._replace(node=place)

    return rule


def _press(call: Call) -> Iterator[Found]:
    """A kvpress press: the part of the cache that goes."""
    given = call.plain("compression_ratio", position=0)
    if given == 0 or (given is ABSENT and call.made.keywords):
        return
    share = given if isinstance(given, float) and 0 < given < 1 else "unknown"
    yield call.found(Setting("prune", {"pattern": "kv_tokens", "sparsity": share}))


def _of_numbers(call: Call) -> Iterator[Found]:
    """Wanda's and SparseGPT's scripts: prune_n of prune_m, 0 of 0 for single weights."""
    n, m = call.plain("prune_n", "prunen"), call.plain("prune_m", "prunem")
    if isinstance(n, int) and isinstance(m, int) and n:
        yield call.found(Setting("prune", {"pattern": "2:4", "storage": "dense"}))
        return
    fields = {"pattern": "unstructured", "storage": "dense", "sparsity": "unknown"}
    yield call.found(Setting("prune", fields))


def _faster_prune(call: Call) -> Iterator[Found]:
    """SparseGPT's solver: single weights by `sparsity`, N:M where a command line asks for it."""
    yield from _of_numbers(call)
    names = ("prunen", "prune_n")
    written = getattr(call.place(*names), "value", None)
    if call.plain(*names) == 0 and not isinstance(written, ast.Constant):
        condition = "the N:M numbers of the command line, which are 0 by default"
        setting = Setting("prune", {"pattern": "2:4"})
        yield call.found(setting, "prunem", "prune_m", condition=condition)


def _solver(call: Call) -> Iterator[Found]:
    """A SparseGPT object, where nothing says which of its methods is called."""
    if "fasterprune" not in call.file.names:
        yield from pruned("unstructured")(call)


def _rounding(call: Call) -> Iterator[Found]:
    """`Quantizer.configure(bits, perchannel=...)` of GPTQ's code: rounded, kept in 16 bits."""
    if not call.has("perchannel", "sym"):
        return
    bits = whole_of(call.plain("bits", position=0))
    if bits is None or bits > 8:
        # Off until a command line says a width; 4 is what the code is written for.
        bits = 4
    packed = {"make_quant", "pack_model", "pack", "opt_pack", "llama_pack"} & call.file.names
    fields = {"weights": integer_format(bits, None)} | ({} if packed else {"packed": False})
    yield call.found(Setting("quantize", fields))


def _deepsparse(call: Call) -> Iterator[Found]:
    """DeepSparse reads compressed sparse weights on CPUs; the share stands in the model's name."""
    name = call.plain("model", "model_path", position=0)
    match = re.search(r"pruned-?(\d\d)", name) if isinstance(name, str) else None
    if match is not None:
        fields = {"pattern": "unstructured", "storage": "bitmap", "sparsity": int(match[1]) / 100}
        yield call.found(Setting("prune", fields), "model", "model_path")
        if "quant" in str(name):
            yield call.found(Setting("quantize", {"weights": "int8"}), "model", "model_path")


def _student(call: Call) -> Iterator[Found]:
    """A trainer that takes a student and its teacher."""
    named = call.value("model", "student_model", "student", position=0)
    teacher = call.value("teacher_model", "teacher")
    student, large = (_loaded(value) if value is not None else "" for value in (named, teacher))
    if student and student == large:
        return  # of itself: no smaller model
    if large:
        yield call.found(Fact("model", large), "teacher_model", "teacher")
    yield call.found(Setting("distill", {"model": student or "unknown"}))


def _loaded(value: Value) -> str:
    """The name of a model, or of the one that a call loads."""
    inner = usual(value)
    if isinstance(inner, Made) and inner.args:
        inner = usual(inner.args[0])
    return text_of(inner) or ""


def _short(call: Call) -> Iterator[Found]:
    """ShortGPT: as many layers as `n_prune_layers` says go."""
    count = whole_of(call.plain("n_prune_layers", position=2))
    amount = {"dropped": count} if count else {"sparsity": "unknown"}
    yield call.found(Setting("prune", {"pattern": "layers", "storage": "removed", **amount}))


def _optipfair(call: Call) -> Iterator[Found]:
    """`prune_model(model, pruning_type="MLP_GLU" | "DEPTH", pruning_percentage=20)`."""
    depth = call.plain("pruning_type") == "DEPTH"
    fields: dict[str, object] = {"pattern": "layers" if depth else "channels", "storage": "removed"}
    percent = call.plain("depth_pruning_percentage" if depth else "pruning_percentage")
    dropped = whole_of(call.plain("num_layers_to_remove"))
    if depth and dropped:
        fields["dropped"] = dropped
    elif isinstance(percent, int | float) and 0 < percent < 100:
        fields["sparsity"] = percent / 100
    else:
        fields["sparsity"] = "unknown" if depth or percent is not ABSENT else 0.1  # its default
    yield call.found(Setting("prune", fields))


_PRESSES: Final = (
    "ExpectedAttentionPress", "KnormPress", "SnapKVPress", "StreamingLLMPress", "TOVAPress",
    "RandomPress", "ObservedAttentionPress", "PyramidKVPress", "FinchPress", "KeyDiffPress",
    "LagKVPress", "CURPress", "CriticalKVPress", "NonCausalAttnPress", "LeverageScorePress",
    "CompactorPress", "DecodingPress", "ChunkKVPress", "DMSPress", "FastKVzipPress",
    "KVComposePress", "QFilterPress", "KVzipPress", "ThinKPress", "SimLayerKVPress",
)  # fmt: skip

CALLS: Final[Rows] = MappingProxyType(
    {
        **{
            f"torch_pruning:{name}": _pruner
            for name in ("MetaPruner", "MagnitudePruner", "BNScalePruner", "GroupNormPruner",
                         "BasePruner", "GrowingRegPruner", "GroupTaylorPruner", "TaylorPruner",
                         "HessianPruner", "RandomPruner")
        },
        **{f"LLMPruner:{name}": _REMOVED for name in ("MetaPruner", "TaylorPruner")},
        **{
            f"nni:{name}": _nni(pattern)
            for name, pattern in {
                "LevelPruner": "unstructured", "MovementPruner": "unstructured",
                "AGPPruner": "unstructured", "L1NormPruner": "channels",
                "L2NormPruner": "channels", "FPGMPruner": "channels", "SlimPruner": "channels",
                "TaylorFOWeightPruner": "channels", "LinearPruner": "channels",
                "TransformerHeadPruner": "heads",
            }.items()
        },
        **{f"kvpress:{name}": _press for name in _PRESSES},
        "tensorflow_model_optimization:prune_low_magnitude": pruned("unstructured"),
        "nncf:prune": pruned("unstructured", "ratio"),
        **{
            f"{package}:{name}": _student
            for package, names in {
                "trl": ("GKDTrainer", "MiniLLMTrainer", "GOLDTrainer"),
                "distillkit": ("DistillationTrainer",),
                "textbrewer": ("GeneralDistiller", "BasicDistiller", "BasicTrainer",
                               "MultiTeacherDistiller"),
                "setfit": ("DistillationTrainer", "DistillationSetFitTrainer"),
            }.items()
            for name in names
        },
        "short_gpt:ShortHFModel": _short,
        "optipfair:prune_model": _optipfair,
        "textpruner:TransformerPruner": pruned("heads", storage="removed"),
        "slicegpt:rotate_and_slice": pruned("channels", "sparsity", storage="removed"),
        "sparsegpt:SparseGPT": _solver,
        ".fasterprune": _faster_prune,
        ".configure": _rounding,
        "*:prune_wanda": _of_numbers,
        "*:prune_magnitude": _of_numbers,
        "*:prune_sparsegpt": _of_numbers,
        "*:prune_ablate": _of_numbers,
        "*:prune_flap": pruned("channels", storage="removed"),
        "*:prune_wanda_sp": pruned("channels", storage="removed"),
        "*:prune_magnitude_sp": pruned("channels", storage="removed"),
        **{
            f"{package}:{name}": sets("prune", pattern="kv_tokens", kept=2048)  # their default
            for package in ("snapkv", "pyramidkv", "adakv", "headkv")
            for name in ("replace_llama", "replace_mistral", "replace_mixtral",
                         "replace_llama_adaptive", "replace_mistral_adaptive")
        },
        "*:convert_kvcache_llama_heavy_recent": sets("prune", pattern="kv_tokens"),
        "*:convert_kvcache_opt_heavy_recent": sets("prune", pattern="kv_tokens"),
        "deepsparse:TextGeneration": _deepsparse,
        "deepsparse:Pipeline.create": _deepsparse,
        **{
            f"*:{name}": sets("prune", pattern="kv_tokens")
            for name in ("H2OCache", "H2OKVCache", "H2OKVCache_LayerWise", "HHCache",
                         "enable_duo_attention_eval", "enable_llama_pos_shift_attention")
        },
        "*:StreamingLLMCache": pruned("kv_tokens", storage=None),
        "*:LayerSkip": sets("early_exit", mean_depth="unknown"),
    }
)  # fmt: skip
"""Rows."""
