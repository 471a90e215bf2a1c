"""What a model stores, keeps resident, streams and caches: the output of `rooflint model`.

Four byte counts that are often taken for one another: stored (the checkpoint), resident (what a
device keeps to decode), streamed (what one decode step of one sequence reads) and cached (what a
token of context adds).
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, FiniteFloat

from advisor.catalog.models import ModelRecord, load_model, model_record, resolve_model
from advisor.catalog.names import UnknownNameError
from advisor.deployment import Deployment
from advisor.ledger.architecture import UnsupportedModelError
from advisor.ledger.capacity import kv_bytes_per_token
from advisor.ledger.checkpoint import CheckpointError, read_checkpoint
from advisor.ledger.formats import Format, parse_format
from advisor.ledger.holdings import holdings_of, weight_format
from advisor.ledger.shapes import Architecture, Component, Tensor
from advisor.ledger.step import count_step
from advisor.ledger.stored import checkpoint_bytes
from advisor.reports.columns import table
from advisor.reports.style import Style, clean, wrap
from advisor.wording import percent, size

_INDENT = "  "


class ParametersRecord(BaseModel):
    """Elements of the weights by component; `total` counts every component but `mtp`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    total: int
    active: int
    """Read or computed with for one token: routed experts that it is not sent to, towers of
    other modalities and MTP layers left out."""
    embedding: int
    lm_head: int
    attention: int
    mlp: int
    experts: int
    shared_experts: int
    router: int
    norms: int
    state: int
    vision: int
    mtp: int


class ModelReport(BaseModel):
    """The output of `rooflint model --format json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    model_type: str
    parameters: ParametersRecord
    stored_bytes: FiniteFloat
    """Of the checkpoint: by its own table where a file was read, else by its formats."""
    resident_bytes: FiniteFloat
    """Kept in memory to decode, unsplit."""
    streamed_bytes: FiniteFloat
    """Weights that one decode step of one sequence reads."""
    kv_bytes_per_token: FiniteFloat
    """Cache that one token adds over all layers, in 16 bits."""
    state_bytes: FiniteFloat
    """Recurrent state of one sequence, which does not grow."""
    source: str


class ModelFacts(NamedTuple):
    """A model with what its counts rest on."""

    architecture: Architecture
    weights: Format | None = None
    """Format that only the name of the checkpoint states."""
    record: ModelRecord | None = None
    """Where the catalog has its config from."""
    note: str = ""


class ModelError(ValueError):
    """A model that cannot be counted: the message says why, and what is known instead."""


def find_model(text: str) -> ModelFacts:
    """The model of a name as people write it, or of a config or checkpoint that is there.

    Raises:
        ModelError: with the nearest known names, or with what is wrong with the files.

    """
    match = resolve_model(text)
    try:
        if match.found:
            repo_id = match.candidates[0]
            weights = parse_format(match.quantized_as) if match.quantized_as else None
            return ModelFacts(load_model(repo_id), weights, model_record(repo_id), match.note)
        if Path(text).exists():
            return ModelFacts(read_checkpoint(Path(text)))
    except (UnsupportedModelError, CheckpointError) as error:
        raise ModelError(str(error)) from None
    raise ModelError(str(UnknownNameError("model", text, match.nearest)))


def model_report(facts: ModelFacts) -> ModelReport:
    """Count a model in the formats of its checkpoint, with a 16-bit cache."""
    model = facts.architecture
    deployment = Deployment(model, weights=facts.weights, kv_cache="bf16", context=1)
    held = holdings_of(deployment)
    counted = model.parameters()
    return ModelReport(
        name=model.name,
        model_type=model.model_type,
        parameters=ParametersRecord(
            total=model.total_parameters,
            active=model.active_parameters,
            **{component.value: count for component, count in counted.items()},
        ),
        stored_bytes=stored_bytes(deployment),
        resident_bytes=held.resident_bytes,
        streamed_bytes=count_step(deployment).weight_bytes,
        kv_bytes_per_token=kv_bytes_per_token(deployment),
        state_bytes=held.state_bytes,
        source=model.source,
    )


def stored_bytes(deployment: Deployment) -> float:
    """Bytes of the checkpoint: by its own table where that was read, else by its formats."""
    model = deployment.model
    if deployment.weights is None:
        return float(model.stored_bytes or checkpoint_bytes(model))
    tensors = [(tensor, 1) for tensor in model.tensors]
    tensors += [(tensor, layer.count) for layer in model.layers for tensor in layer.tensors]
    return sum(
        _bytes(tensor, weight_format(tensor, deployment)) * count
        for tensor, count in tensors
        if not tensor.shared
    )


def _bytes(tensor: Tensor, form: Format) -> float:
    return form.bytes_of(tensor.elements, prod(tensor.shape[:-1]) * tensor.count, tensor.name)


def model_text(facts: ModelFacts, style: Style) -> str:
    """A model for people."""
    report = model_report(facts)
    model = facts.architecture
    head = f"{style.paint(clean(model.name), 'heading')}    {clean(model.model_type)}"
    lines = [head, *(_INDENT + line for line in _shape(model, style))]
    lines += [_INDENT + line for line in _parts(report, style)]
    lines += [""]
    lines += [_INDENT + line for line in _byte_lines(report, facts)]
    for remark in _remarks(facts):
        lines += [_INDENT + line for line in wrap(remark, style.width - len(_INDENT))]
    return "\n".join(lines) + "\n"


def _shape(model: Architecture, style: Style) -> list[str]:
    parts = [f"{model.layer_count} layers"]
    labels = [f"{layer.count} {layer.label}" for layer in model.layers if layer.label]
    if len(labels) > 1:
        parts[0] += f" ({', '.join(_merged(model))})"
    parts.append(f"hidden {model.hidden:,}")
    attention = model.attention
    if attention is not None:
        cached = (
            f"latent {attention.latent_dim} + {attention.rope_dim}"
            if attention.is_latent
            else f"{attention.kv_heads} KV heads"
        )
        parts.append(f"{attention.heads} heads of {attention.head_dim}, {cached}")
    routed = {layer.routing for layer in model.layers if layer.routing is not None}
    parts += [
        f"{one.experts} experts, {one.top_k} a token"
        for one in sorted(routed, key=lambda one: one.experts)
    ]
    parts.append(f"vocabulary {model.vocabulary:,}")
    return wrap(", ".join(parts), style.width - len(_INDENT))


def _merged(model: Architecture) -> list[str]:
    """Layers of one label counted together, in the order in which they first come."""
    totals: dict[str, int] = {}
    for layer in model.layers:
        totals[layer.label] = totals.get(layer.label, 0) + layer.count
    return [f"{count} {label}" for label, count in totals.items()]


def _parts(report: ModelReport, style: Style) -> list[str]:
    counted = report.parameters
    rows = [
        (name.replace("_", " "), f"{count:,}", percent(count / counted.total))
        for name in Component
        if name is not Component.MTP and (count := getattr(counted, name.value))
    ]
    rows.append(("total", f"{counted.total:,}", "100%"))
    rows.append(
        ("active per token", f"{counted.active:,}", percent(counted.active / counted.total))
    )
    if counted.mtp:
        rows.append(("MTP layers, beside the total", f"{counted.mtp:,}", ""))
    return table(("component", "parameters", "share"), rows, style, right=" rr")


def _byte_lines(report: ModelReport, facts: ModelFacts) -> list[str]:
    model = facts.architecture
    form = facts.weights.name if facts.weights else model.quantization or model.dtype
    lines = [
        ("stored", report.stored_bytes, f"the checkpoint, {form}"),
        ("resident", report.resident_bytes, "kept in memory to decode"),
        ("streamed", report.streamed_bytes, "weights read by one decode step of one sequence"),
    ]
    if report.kv_bytes_per_token or not report.state_bytes:
        lines.append(("KV cache", report.kv_bytes_per_token, "more with each token, in 16 bits"))
    if report.state_bytes:
        lines.append(
            ("state", report.state_bytes, "of one sequence, read and written by each step")
        )
    return [
        f"{name:<10}{size(count):>10}  {f'{count:,.0f} bytes':>25}  {about}"
        for name, count, about in lines
    ]


def _remarks(facts: ModelFacts) -> list[str]:
    remarks = [*facts.architecture.notes]
    if facts.note:
        remarks.append(facts.note)
    record = facts.record
    if record is not None:
        remarks.append(f"source: {record.source} ({record.confidence})")
    else:
        remarks.append(f"source: {facts.architecture.source}")
    return remarks
