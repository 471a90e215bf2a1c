"""An audit for people: the deployment, one step of it, and a row for each lever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from advisor.audit import Audit, LeverAudit, Speedup, Verdict
from advisor.deployment import Deployment
from advisor.judge import ClaimVerdict, JudgedClaim
from advisor.levers import Metric
from advisor.reports.columns import cut, table
from advisor.reports.style import Style, clean, columns, wrap
from advisor.roofline import Estimate
from advisor.steps import Step
from advisor.wording import change, digits, factor, factors, gigabytes, size, span_of

_INDENT = "  "
_HEADING = ("lever", "GB/token", "FLOPs", "score", "claimed", "possible", "verdict")
_LEVER_COLUMNS = (16, 34)
"""Columns of the names of levers, at least and at most."""

_VERDICTS: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.BANDWIDTH: "bandwidth",
        Verdict.FLOP_ONLY: "FLOP-only",
        Verdict.THROUGHPUT_ONLY: "throughput-only",
        Verdict.OVERHEAD: "overhead",
        Verdict.PREFILL_ONLY: "prefill-only",
        Verdict.CONDITIONAL: "conditional",
        Verdict.CAPACITY_ONLY: "capacity-only",
        Verdict.REGRESSION: "regression",
    }
)
_JUDGED: Mapping[ClaimVerdict, str] = MappingProxyType(
    {
        ClaimVerdict.PLAUSIBLE: "",
        ClaimVerdict.NEEDS_EVIDENCE: " unproven",
        ClaimVerdict.IMPOSSIBLE: " impossible",
    }
)
_METRICS: Mapping[Metric, str] = MappingProxyType(
    {"tpot": "", "throughput": " tok/s", "ttft": " TTFT"}
)
_BOUNDS: Mapping[str, str] = MappingProxyType(
    {
        "memory": "memory-bound",
        "compute": "compute-bound",
        "overhead": "bound by fixed time",
        "communication": "bound by communication",
        "host_link": "bound by the host link",
    }
)


def audit_text(audit: Audit, style: Style) -> str:
    """One proposal: what it rests on, its step, its levers, and what was assumed."""
    deployment, baseline = audit.context.deployment, audit.baseline
    lines = _header(audit.proposal.title or audit.proposal.source.path, deployment, style)
    lines += step_lines(baseline, style)
    lines += _levers(audit, style)
    lines += _remarks(audit, style)
    if audit.said:
        from advisor.reports.said import said_lines  # noqa: PLC0415 - only documents say things

        lines += said_lines(audit, style)
    return "\n".join(lines) + "\n"


def _header(title: str, deployment: Deployment, style: Style) -> list[str]:
    """The title and the deployment, on one line where both fit."""
    title, facts = clean(title), clean(describe(deployment))
    if not title:
        return wrap(facts, style.width)
    if columns(title) + columns(facts) + 4 <= style.width:
        return [f"{style.paint(title, 'heading')}    {facts}"]
    return [
        *(style.paint(line, "heading") for line in wrap(title, style.width)),
        *(_INDENT + line for line in wrap(facts, style.width - len(_INDENT))),
    ]


def describe(deployment: Deployment) -> str:
    """A deployment in one line: model, hardware, engine, work, formats."""
    split = deployment.parallelism
    count = f"{split.devices} x " if split.devices > 1 else ""
    version = f" {deployment.engine.version}" if deployment.engine.version else ""
    parts = [
        deployment.model.name.rsplit("/", 1)[-1],
        f"{count}{deployment.hardware.name}",
        f"{deployment.engine.label}{version}",
        f"batch {deployment.batch:,}",
        f"{deployment.context:,} tokens",
        f"{_formats(deployment)}",
    ]
    splits = [
        f"{word} {ways}"
        for word, ways in (
            ("PP", split.pipeline),
            ("DP", split.data),
            ("EP", split.expert),
            ("attention DP", split.attention_data),
        )
        if ways > 1
    ]
    if splits:
        parts.insert(2, ", ".join([f"TP {split.tensor}", *splits]))
    if deployment.phase == "prefill":
        parts.insert(3, "prefill")
    return " | ".join(parts)


def _formats(deployment: Deployment) -> str:
    model = deployment.model
    if deployment.weights is not None:
        weights = deployment.weights.name
    else:
        weights = model.quantization or model.dtype
    return f"{weights} weights, {deployment.kv_cache.name} KV"


def step_lines(step: Step, style: Style) -> list[str]:
    """One step in bytes, FLOPs and time."""
    estimate = step.estimate
    moved = estimate.bytes
    parts = [f"{gigabytes(moved.weights)} GB weights"]
    parts += [
        f"{gigabytes(count)} GB {name}"
        for name, count in (
            ("KV", moved.kv_read + moved.kv_write),
            ("state", moved.state),
            ("activations", moved.activations),
        )
        if count >= 5e-4 * moved.memory and count > 0
    ]
    total = f" = {gigabytes(moved.memory)} GB" if len(parts) > 1 else ""
    host = step.ledger.host_bytes * step.ledger.total_factor
    extra = f" + {gigabytes(host)} GB over the host link" if host else ""
    lines = [
        (
            f"one {_noun(step)}  {' + '.join(parts)}{total}{extra}, "
            f"{_flops(estimate.flops)}, {digits(estimate.intensity, 2)} FLOP/B "
            f"(ridge {estimate.ridge:.0f}, {estimate.math} math) -> {_BOUNDS[estimate.bound]}"
        ),
        f"floor {digits(estimate.floor_ms)} ms   {_expected(estimate, step.deployment)}",
    ]
    if not estimate.fits:
        capacity = estimate.capacity
        lines.append(
            f"does not fit: needs {size(capacity.needed_bytes)} of the "
            f"{size(capacity.available_bytes)} that a device has"
        )
    width = style.width - len(_INDENT)
    return [
        _INDENT + ("" if number == 0 else _INDENT) + part
        for line in lines
        for number, part in enumerate(wrap(line, width - len(_INDENT)))
    ]


def _noun(step: Step) -> str:
    return "prefill" if step.deployment.phase == "prefill" else "step"


def _expected(estimate: Estimate, deployment: Deployment) -> str:
    expected = estimate.expected_ms
    text = f"expected {digits(expected.mid)} ms ({span_of(expected)})"
    if deployment.phase == "prefill":
        return text
    if estimate.tokens_per_step != 1.0:
        text += f", {digits(estimate.tokens_per_step, 2)} tokens a step"
    text += f", {digits(estimate.tokens_per_second.mid, 2)} tok/s"
    if deployment.batch > 1:
        text += f" a sequence, {digits(estimate.throughput.mid, 2)} tok/s in all"
    return text


def _flops(count: float) -> str:
    for unit, scale in (("PFLOP", 1e15), ("TFLOP", 1e12), ("GFLOP", 1e9), ("MFLOP", 1e6)):
        if count >= 0.9995 * scale:
            return f"{digits(count / scale)} {unit}"
    return f"{count:.0f} FLOP"


def _levers(audit: Audit, style: Style) -> list[str]:
    """A row for each lever, and one for all of them together."""
    if not audit.levers:
        return []
    rows = [_row(lever, line) for lever, line in _told_once(audit)]
    rows.append(_together(audit))

    def lines(names: int, style: Style) -> list[str]:
        cells = [(cut(row[0], names), *row[1:]) for row in rows]
        return [_INDENT + line for line in table(_HEADING, cells, style, right="   r")]

    least, most = _LEVER_COLUMNS
    names = min(most, max(columns(row[0]) for row in rows))
    over = max(map(columns, lines(names, Style()))) - style.width
    return lines(max(names - max(over, 0), least), style)


def _told_once(audit: Audit) -> list[tuple[LeverAudit, str]]:
    """Each lever with its line; what a document names again and again has one row."""
    if audit.proposal.kind != "prose":
        return [(lever, _line(audit, lever)) for lever in audit.levers]
    places: dict[tuple[str, Verdict], list[LeverAudit]] = {}
    for lever in audit.levers:
        places.setdefault((lever.lever.label, lever.verdict), []).append(lever)
    return [
        (first, _line(audit, first) + (f" ({1 + len(rest)}x)" if rest else ""))
        for first, *rest in places.values()
    ]


def _line(audit: Audit, lever: LeverAudit) -> str:
    """Where a setting was found in code or in a configuration, for who has not written a plan."""
    source = audit.proposal.source
    if audit.proposal.kind == "proposal" and not source.path.endswith(".py"):
        return ""
    return f" :{source.position(lever.proposed.span.start).line}"


def _row(lever: LeverAudit, line: str) -> tuple[str, ...]:
    flops = -lever.flops_saved
    return (
        clean(lever.lever.label) + line,
        _moved(lever.before, lever.after),
        change(1.0, 1.0 + flops) if flops else _flops_change(lever.before, lever.after),
        f"{lever.score:.0f}" if abs(lever.score) >= 0.5 else "0",
        _claimed(lever.claim, lever.speedup.metric),
        _possible(lever.speedup),
        _VERDICTS[lever.verdict],
    )


def _together(audit: Audit) -> tuple[str, ...]:
    before, after = audit.baseline, audit.combined
    ratio = after.estimate.tpot_ms.mid / before.estimate.tpot_ms.mid
    score = 100.0 * (1.0 - ratio)
    return (
        "all together",
        _moved(before, after),
        _flops_change(before, after),
        f"{score:.0f}" if abs(score) >= 0.5 else "0",
        ", ".join(_claimed(claim, "tpot") for claim in audit.claims),
        factors(audit.speedup),
        "",
    )


def _moved(before: Step, after: Step) -> str:
    """Bytes for one generated token, over all devices; per device where their number changes."""
    one, other = _per_token(before), _per_token(after)
    was, now = before.deployment.devices, after.deployment.devices
    if was == now:
        return f"{gigabytes(one)} -> {gigabytes(other)}"
    return f"{_split(one, was)} -> {_split(other, now)}"


def _split(count_bytes: float, devices: int) -> str:
    if devices == 1:
        return gigabytes(count_bytes)
    return f"{devices} x {gigabytes(count_bytes / devices)}"


def _tokens(step: Step) -> float:
    return step.estimate.tokens_per_step * step.deployment.batch


def _per_token(step: Step) -> float:
    return step.estimate.bytes.memory / _tokens(step)


def _flops_change(before: Step, after: Step) -> str:
    return change(before.estimate.flops / _tokens(before), after.estimate.flops / _tokens(after))


def _claimed(claim: JudgedClaim | None, metric: Metric) -> str:
    """The factor claimed, its metric where it is another, and what came of it."""
    if claim is None:
        return ""
    if claim.speedup is None:
        return "not judged"
    other = _METRICS[claim.metric] if claim.metric and claim.metric != metric else ""
    judged = _JUDGED[claim.verdict] if claim.verdict is not None else ""
    return f"{factor(claim.speedup)}{other}{judged}"


def _possible(speedup: Speedup) -> str:
    return f"{factors(speedup.interval)}{_METRICS[speedup.metric]}"


def _remarks(audit: Audit, style: Style) -> list[str]:
    """What the numbers rest on: facts nobody gave, conditions, claims that were not judged."""
    remarks: list[tuple[str, str]] = []
    facts = audit.context.facts
    for origin, label in (("assumed", "assumed"), ("settings", "settings")):
        told = [
            f"{name.replace('_', ' ')} {_value(stated.value)}"
            for name, stated in facts.items()
            if stated.origin == origin
        ]
        if told:
            remarks.append((label, "; ".join(told)))
    if len(audit.context.devices) > 1:
        first, *rest = (device.name for device in audit.context.devices)
        remarks.append(("ambiguous", f"hardware taken as {first}; may be {', '.join(rest)}"))
    if audit.context.measured_tpot_ms is not None:
        host = audit.baseline.deployment.kernels.host
        of_host = "" if host is None else f", {host.typical:,.0f} us of the host a layer"
        time = f"{digits(audit.context.measured_tpot_ms)} ms per token{of_host}"
        remarks.append(("measured", f"{time}; times are fitted to it"))
    elif (run := facts.get("measured")) is not None:
        remarks.append(("measured", f"this machine, in {run.value}; times are fitted to it"))
    remarks += [
        ("stands in", f"{what}: {which}") for what, which in audit.baseline.estimate.fallbacks
    ]
    remarks += [
        ("condition", f"{lever.lever.label}: {lever.condition}")
        for lever in audit.levers
        if lever.condition
    ]
    judged = [lever.claim for lever in audit.levers if lever.claim is not None]
    remarks += [
        ("not judged", f"“{claim.sentence.text}”: {claim.reason}")
        for claim in (*judged, *audit.claims)
        if claim.verdict is None
    ]
    return [line for label, text in dict.fromkeys(remarks) for line in _remark(label, text, style)]


def _remark(label: str, text: str, style: Style) -> Iterable[str]:
    head = f"{label}: "
    first, *rest = wrap(text, style.width - len(_INDENT) - len(head))
    yield f"{_INDENT}{style.paint(head, 'quiet')}{first}"
    for line in rest:
        yield f"{_INDENT}{'':{len(head)}}{line}"


def _value(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
