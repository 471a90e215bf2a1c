"""The measured rows of fixtures/measured as deployments, and as what the fit sees of them."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Any, Final, NamedTuple

from advisor.catalog.engines import resolve_engine
from advisor.deployment import Deployment, Kernels, parse_sparsity
from advisor.ledger.collectives import Communication
from advisor.ledger.formats import Format
from advisor.ledger.step import count_step
from advisor.timing.effects import (
    LINEAR_OPERATORS,
    bandwidth_effects,
    cache_effects,
    dequantize_effects,
    growth_effects,
    hop_effects,
    kernel_family,
    layer_effects,
    prefill_effects,
    reduce_effects,
    setting_of,
)
from advisor.timing.fitted import KernelTables
from advisor.timing.kernels import (
    STREAM_FRACTION,
    all_reduce,
    math_fraction,
    narrow_cache,
    peak_flops,
    vector_flops,
)
from benchmarks.fitting import NEVER_FITTED, Observation, Segment

FOLDER: Final = Path(__file__).parent.parent / "fixtures" / "measured"


class Trust(NamedTuple):
    """How a row's residual counts, in log units."""

    sigma: float
    knee: float
    """Beyond this a residual counts linearly (Huber)."""


_TRUST: Final[Mapping[str, Trust]] = {
    # The 6 % that one published figure is worth, and a long tail beyond.
    "calibration": Trust(0.025, 0.075),
    # Kept for engines that have no other.
    "weak": Trust(0.08, 0.24),
    # Concurrency, scheduling, speculation and build are not fully stated.
    "served": Trust(1.2, 0.15),
    "lone": Trust(0.5, 0.3),
    # Kept to be predicted, not to be fitted to: measures something else, or card and kernel are
    # inferred.
    "suspect": Trust(NEVER_FITTED, NEVER_FITTED),
    "sparse": Trust(NEVER_FITTED, NEVER_FITTED),
}


class Row(NamedTuple):
    """A measured row and the deployment it measured."""

    id: str
    group: str
    source: str
    grade: str
    deployment: Deployment
    measured_ms: float
    prompt: int = 0
    """Of a served row: tokens that every request prefills."""
    output: int = 0
    """Of a served row: tokens that every request generates."""

    @property
    def card(self) -> str:
        """Identifier of the device."""
        return self.deployment.hardware.id


def read_lines(name: str) -> Iterator[dict[str, Any]]:
    """Objects of a compressed JSON-lines file of the fixtures."""
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def read_table(name: str) -> Iterator[dict[str, str]]:
    """Rows of a compressed CSV file of the fixtures."""
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as stream:
        yield from csv.DictReader(stream)


def counts(row: Row) -> bool:
    """Whether a row counts in the figures: calibration grade, on a GPU or unified memory."""
    return row.grade == "calibration" and row.deployment.hardware.kind != "cpu"


class Pair(NamedTuple):
    """Two measured rows that differ in one lever."""

    lever: str
    base: str
    target: str
    bytes_ratio: float
    """Speedup that bytes per device alone predict."""


@lru_cache(maxsize=1)
def pairs() -> tuple[Pair, ...]:
    """All pairs of single-stream rows."""
    return tuple(
        Pair(entry["lever"], entry["base"], entry["target"], entry["bytes"])
        for entry in read_lines("pairs.jsonl.gz")
    )


_GPT_FAST_MODELS: Final[Mapping[str, str]] = {
    "llama2-7b": "Llama-2-7B", "llama31-8b": "Llama-3-8B", "llama2-70b": "Llama-2-70B",
    "llama31-70b": "Llama-3-70B", "mixtral-8x7b": "Mixtral-8x7B",
}  # fmt: skip
_GPT_FAST_FORMATS: Final = {
    "bf16": ("bf16", None), "int8": ("int8", "int8"), "int4": ("int4-g32", "int4-g32"),
}  # fmt: skip


@lru_cache(maxsize=1)
def gpt_fast() -> tuple[Row, ...]:
    """The public points of gpt-fast on one A100: model, format, devices, tokens a second."""
    data = json.loads((FOLDER / "gpt_fast.json").read_text(encoding="utf-8"))
    rows = []
    for model, form, devices, speed in data["points"]:
        weights, head = _GPT_FAST_FORMATS[form]
        deployment = Deployment(
            _GPT_FAST_MODELS[model],
            "A100 SXM 80GB",
            weights=weights,
            lm_head=head,
            kv_cache="bf16",
            context=105,
            engine="gpt-fast",
            tensor_parallel=devices,
        )
        group = f"A100 SXM 80GB|{_GPT_FAST_MODELS[model]}"
        name = f"{model} {form} x{devices}"
        rows.append(Row(name, group, "gpt-fast", "calibration", deployment, 1e3 / speed))
    return tuple(rows)


def weight_pairs() -> tuple[Pair, ...]:
    """Pairs that differ in the format of the weights."""
    return tuple(pair for pair in pairs() if pair.lever == "weight_quant")


@lru_cache(maxsize=1)
def single_stream() -> tuple[Row, ...]:
    """Rows of one sequence: calibration grade, and weak ones of engines that have no other."""
    return tuple(_single(entry) for entry in read_lines("single_stream.jsonl.gz"))


def _single(entry: Mapping[str, Any]) -> Row:
    devices = entry.get("devices", 1)
    tensor = devices if entry.get("split") == "tensor" else 1
    storage = entry.get("sparsity")
    return Row(
        entry["id"],
        entry["group"],
        entry["source"],
        entry.get("grade", "calibration"),
        Deployment(
            entry["model"],
            entry["hardware"],
            weights=entry["weights"],
            lm_head=entry.get("lm_head"),
            kv_cache="fp16",
            context=max(entry["context"], 1),
            engine=resolve_engine(entry["engine"], entry.get("version")),
            tensor_parallel=tensor,
            pipeline_parallel=devices // tensor,
            kernels=Kernels(attention=entry.get("attention")),
            sparsity=parse_sparsity(entry.get("zeros", 0.5), storage) if storage else None,
        ),
        entry["ms"],
    )


# What a served row's precision means for the linears of its model.
_SERVED_WEIGHTS: Final[Mapping[str, str]] = {
    "fp8": "fp8", "fp8_block": "fp8-block128", "nvfp4": "nvfp4", "int4_wo": "int4-g32-sym",
}  # fmt: skip


@lru_cache(maxsize=1)
def served() -> tuple[Row, ...]:
    """Rows of serving engines under a constant number of requests."""
    return tuple(_served(entry) for entry in read_lines("served.jsonl.gz"))


def _served(entry: Mapping[str, Any]) -> Row:
    # Where no precision is stated, the times of Qwen3-32B only leave room for 8-bit weights.
    quantized = entry.get("precision") != "bf16"
    weights = _SERVED_WEIGHTS[entry.get("gemm", "fp8")] if quantized else "bf16"
    if "gpt-oss" in entry["model"]:
        weights = "mxfp4_moe"
    deployment = Deployment(
        entry["model"],
        entry["hardware"],
        weights=weights,
        activations=weights if weights in {"fp8", "fp8-block128", "nvfp4"} else None,
        kv_cache="fp8" if quantized else "bf16",
        batch=entry["requests"],
        context=entry["prompt"] + entry["output"] // 2,
        engine=entry["engine"],
        tensor_parallel=entry["devices"],
        expert_parallel=entry.get("expert_parallel", 1),
        attention_data_parallel=entry.get("attention_data", 1),
    )
    return Row(
        entry["id"],
        entry["group"],
        "aiconfigurator-core 0.12.0",
        "suspect" if _speculates(entry) else "served",
        deployment,
        entry["tpot_ms"],
        entry["prompt"],
        entry["output"],
    )


def _speculates(entry: Mapping[str, Any]) -> bool:
    """Whether a row of DeepSeek-R1 takes about half the time that its build's other rows take.

    TensorRT-LLM rows of two builds need 40 to 65 % of the time of the same layout, precision and
    load in the other builds: multi-token prediction was on.
    """
    if "R1" not in entry["model"] or entry["engine"] != "trtllm":
        return False
    build, date = entry.get("version"), entry.get("date") or ""
    return build == "1.2.0rc6.post3" or (build == "1.1.0rc2.post2" and date >= "2026-01")


def math_ms(deployment: Deployment, form: Format, flops: float, tables: KernelTables) -> float:
    """Time of FLOPs on weights of a format at the rate that matrix units reach."""
    device, activations = deployment.hardware, deployment.activations
    reached = math_fraction(device, form, activations, tables)
    return flops / (peak_flops(device, form, activations) * reached) * 1e3


def prefill_ms(row: Row, tables: KernelTables) -> float:
    """Prefill time per output token: every other request prefills once while one decodes."""
    if not row.prompt:
        return 0.0
    deployment = row.deployment
    ledger = count_step(deployment.evolve(phase="prefill", batch=1, context=row.prompt))
    whole = sum(
        math_ms(deployment, operator.format or deployment.activations, operator.flops, tables)
        for operator in ledger.operators
    )
    return whole * (deployment.batch - 1) / row.output


def observe(row: Row, tables: KernelTables, token_ms: float) -> Observation:
    """What the fit sees of a row."""
    deployment = row.deployment
    ledger = count_step(deployment)
    device, engine, model = deployment.hardware, deployment.engine, deployment.model
    tensor = deployment.parallelism.tensor
    setting = setting_of(model, device, engine, deployment.kernels.attention, tensor)
    bandwidth = device.bandwidth_gbs * 1e6
    narrow = narrow_cache(deployment.kv_cache, setting.kernels, setting.generation, tables)
    attention_layers = sum(layer.count for layer in model.layers if layer.caches)
    constant_ms = token_ms + attention_layers * narrow.extra_us * 1e-3
    sparse = deployment.sparsity is not None and deployment.sparsity.storage.skips_zeros
    segments: list[Segment] = []
    cache_ms = cache_math_ms = 0.0
    for operator in ledger.operators:
        moved = operator.read_bytes + operator.written_bytes
        form = operator.format
        if operator.resource == "weights" and form is not None:
            family = kernel_family(form, sparse=sparse and operator.name in LINEAR_OPERATORS)
            routed = operator.name == "experts"
            segments.append(
                Segment(
                    bandwidth_effects(setting, family, form.element_bits, routed=routed),
                    dequantize_effects(setting, family),
                    moved / bandwidth,
                    operator.parameters / vector_flops(device) * 1e3,
                    math_ms(deployment, form, operator.flops, tables),
                )
            )
        elif operator.resource == "kv":
            cache_ms += moved / bandwidth / narrow.reached
            cache_math_ms += math_ms(deployment, deployment.activations, operator.flops, tables)
        else:
            constant_ms += moved / bandwidth / STREAM_FRACTION
    return Observation(
        id=row.id,
        group=row.group,
        card=device.id,
        measured_ms=row.measured_ms,
        sigma=_TRUST[row.grade].sigma,
        knee=_TRUST[row.grade].knee,
        segments=segments,
        cache=cache_effects(setting),
        cache_ms=cache_ms,
        cache_math_ms=cache_math_ms,
        layer=layer_effects(setting),
        layers=ledger.layers,
        growth=growth_effects(setting),
        log_sequences=log(ledger.sequences),
        reduce=reduce_effects(setting),
        reduce_ms=_reduce_ms(deployment, ledger.communication, tables),
        hop=hop_effects(setting),
        hops=ledger.communication.hops,
        prefill=prefill_effects(setting),
        prefill_ms=prefill_ms(row, tables),
        constant_ms=constant_ms,
    )


def _reduce_ms(deployment: Deployment, sent: Communication, tables: KernelTables) -> float:
    if not sent.bytes:
        return 0.0
    split = deployment.parallelism
    latency_s, byte_s = all_reduce(
        deployment.hardware, deployment.engine, max(split.tensor, split.expert), tables
    )
    reduces_s = sent.all_reduces * (latency_s + sent.all_reduce_bytes * byte_s)
    return 1e3 * (reduces_s + sent.all_to_alls * (latency_s + sent.all_to_all_bytes * byte_s))
