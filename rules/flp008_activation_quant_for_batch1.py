"""## What it does
Flags narrower activations (W8A8 over W8A16, A8, A4) on the same stored weights, proposed for decode
below the crossover batch.

## Why is this bad
The activations of one token are kilobytes, the weights gigabytes. Narrower activations double the
rate of arithmetic that nothing waits for, and add a quantizing kernel to each linear layer.

## Instead
Store fewer bits per weight. Keep narrow activations for prefill and large batches.

## When this rule is wrong
From the crossover batch on steps wait for arithmetic and W8A8 pays; the rule is silent where the
model's time moves. Where the weights get narrower in the same entry, they are the lever.

## References
- Xiao et al.: SmoothQuant: https://arxiv.org/abs/2211.10438
- Kurtic et al.: Give me BF16 or give me death: https://arxiv.org/abs/2411.02355
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import (
    arithmetic_of,
    changes_nothing,
    lever_facts,
    lever_numbers,
    promises_speed,
    weights_read,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, attributed, confidence_of, gain
from advisor.wording import size

RULE = Rule(
    code="FLP008",
    name="activation-quant-claimed-for-batch1",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.ACTIVATION_QUANT,
    about=("quantize", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
levers:
  - {«kind: quantize», activations: fp8, claim: 1.5x tokens/s}
""",
        """\
The server already runs W8A16. «Moving to W8A8 makes single-user decode 1.5x faster.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: fp8, activations: fp8, claim: 1.5x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 512, context: 256}
weights: fp8
levers:
  - {kind: quantize, activations: fp8, claim: 1.3x throughput}
""",
        """\
Moving from W8A16 to W8A8 brings nothing for a single stream.
""",
        """\
W8A8 instead of BF16 halves the weight bytes, so decode at batch 1 gets up to 2x faster.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Narrower activations where arithmetic is not waited for."""
    for lever in audit.levers:
        before, after = lever.before.deployment, lever.after.deployment
        narrower = after.activations.bits < before.activations.bits
        same = lever.before.estimate.bytes == lever.after.estimate.bytes
        if not (narrower and same and changes_nothing(lever) and promises_speed(lever)):
            continue
        model, tokens = before.model, lever.before.ledger.tokens
        moved_bytes = 2.0 * tokens * model.hidden * before.activations.bits / 8.0
        yield RULE.on_lever(
            audit,
            lever,
            f"all {weights_read(lever.after)} of weights are still read; the activations of"
            f" {tokens} tokens are {size(moved_bytes)} a layer, and arithmetic takes"
            f" {arithmetic_of(lever.before)}",
            why="at one token the activations are kilobytes",
            instead=advice(audit, "keep narrow activations for prefill and large batches"),
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="activations are kilobytes, weights are gigabytes",
        instead="store the weights in fewer bits; keep W8A8 for prefill and large batches",
    )


_INPUTS = (
    r"activations?|hidden (?:states?|vectors?)|\binputs?\b|residual stream|feature maps"
    r"|intermediate tensors"
    r"|(?:norm|gelu|silu|mlp) outputs"
)
_NARROW = r"(?:u?int[48]|fp[48]|mxfp[48]|nvfp4|[48][- ]?bits?)"
_WEIGHTS_TOO = (
    r"\bweights?(?: and|,| &| plus| as well as|/|\+) ?(?:the )?(?:\w+ )?activations?"
    r"|\bactivations?(?: and|,| &| plus| as well as|/|\+) ?(?:the )?(?:\w+ )?weights?"
    rf"|\b{_NARROW} weights?\b|\bweights?\b(?!-)[^.;]{{0,24}}? (?:to|in|at|as|into) {_NARROW}\b"
)
"""Weights in fewer bits as well."""
_KEPT = (
    r"weights? (?:\w+ ){0,3}(?:already|kept|remain|unchanged|stay|same|as before"
    r"|throughout|fixed|identical)"
    r"|keep(?:s|ing)? (?:the |our |its |my )?(?:[\w-]+ ){0,2}weights"
    r"|\bweights? (?:have|had) been (?:\w+ )?(?:at|in)\b|\bweights? (?:left|still|kept"
    r"|staying) (?:\w+ )?(?:in|at|as|untouched)\b"
    r"|\ba16\b[^.;]{0,24}\ba[48]\b|(?<!w)\ba[48]\b[^.;]{0,24}\ba16\b"
    r"|\b(?:i|we) (?:use|run|have|serve)\b[^.;?]{0,40}? (?:int[48]|fp[48]|[48]-bit) weights\b"
    r"|(?:same|keeps? its|existing|unchanged"
    r"|identical) (?:[\w-]+ ){0,2}weights?|weight[- ]only"
    r"|already (?:int|fp|4|8|run|weight|quanti)|on top of|everything else (?:as|equal|unchanged)"
    r"|(?:next|after|beyond|besides) (?:\w+ ){0,2}weights|(?:left|remaining|remains) after"
    r"|\badd(?:s|ing)? (?:the )?a[48]\b|\bw[48] already\b|stop at the weights|weights are (?:at"
    r"|in)|\b(?:additionally|in addition|further|another"
    r"|again|besides)\b|weights? (?:with|but|and) (?:16-bit|bf16|fp16|wide) activations"
)
"""Weights as they were."""


def _rows(statement: Statement) -> str:
    """The labels of the rows above a cell: what its figures are held against."""
    return " ".join(row[0] for row in statement.rows if row)


def _is_kept(said: Said) -> bool:
    """Whether the text says that the weights stay as they are, or names them alike."""
    text = f"{_rows(said.statement)} {said.statement.context_text}"
    schemes = {scheme.lower() for scheme in _SCHEME.findall(text)}
    narrowed = {scheme[:2] for scheme in schemes if not scheme.endswith("a16")}
    return said.has(_KEPT) or any(f"{weights}a16" in schemes for weights in narrowed)


_SCHEME = re.compile(r"\bw[34568]a(?:16|[3-8])\b", re.IGNORECASE)


def _decides(statement: Statement) -> bool:
    """Whether activations are said to decide the speed of one stream."""
    if statement.kind is not Kind.INPUTS_DRIVE or not statement.is_single:
        return False
    of_inputs = "ACTQ" in statement.nearby or re.search(
        _INPUTS, statement.context_text, re.IGNORECASE
    )
    return bool(of_inputs) and statement.phase not in NO_DECODE


def _saves(statement: Statement) -> bool:
    """Whether narrower activations are said to save what a token reads."""
    about = statement.kind is Kind.SAVING and statement.cause == "ACTQ"
    if _OWN_TRAFFIC.search(statement.text):
        return False  # their own traffic does halve
    return about and statement.phase is Phase.DECODE


_OWN_TRAFFIC = re.compile(
    r"\bactivation(?:s['’])? (?:memory |hbm )?(?:traffic|bytes|reads|bandwidth|memory|data"
    r"|movement)",
    re.IGNORECASE,
)


def _is_faster(said: Said) -> bool:
    """Whether a figure with narrower activations is better than the one before it.

    The scheme before has the same weights: "W4A16: 80 tok/s. W4A4: 150 tok/s."
    """
    statement = said.statement
    about = statement.kind is Kind.FIGURE and statement.cause == "ACTQ" and statement.tpot_ms
    if not about or statement.phase is not Phase.DECODE or not statement.is_single:
        return False
    own = _SCHEME.findall(statement.sentence_text if statement.table is None else _row(statement))
    if len(own) != 1 or own[0].lower().endswith("a16") or not _is_kept(said):
        return False
    before = [tpot for phase, _, tpot in statement.earlier if tpot and phase not in NO_DECODE]
    base = _above(statement, own[0])
    if base is None and before and statement.table is None:
        base = before[-1]
    return base is not None and base >= _FELT * (statement.tpot_ms or base)


_BRING = re.compile(
    r"\b(?:brings?|lifts?|push(?:es)?|takes?|raises?|gets?"
    r"|speeds?)\b[^.;:]{0,48}? (?:up )?to (?:about |some"
    r" |roughly |around )?\d",
    re.IGNORECASE,
)


def _brings(statement: Statement) -> bool:
    """Whether narrower activations, named in the clause, are said to bring a rate to a figure."""
    about = statement.kind is Kind.FIGURE and statement.cause == "ACTQ" and statement.reach == 0
    if not about or not statement.is_single or statement.phase is not Phase.DECODE:
        return False
    return _BRING.search(statement.text) is not None


_FELT = 1.1


def _row(statement: Statement) -> str:
    return "" if statement.table is None else " ".join(statement.table[1])


def _above(statement: Statement, scheme: str) -> float | None:
    """The figure above a cell, as a time per token, in the row of its weights with wide inputs."""
    if statement.table is None or statement.tpot_ms is None:
        return None
    _, cells, column = statement.table
    own, wide = _NUMBER.search(cells[column]), f"{scheme[:2]}a16".lower()
    for row in statement.rows:
        figure = _NUMBER.search(row[column]) if column < len(row) else None
        if figure is not None and own is not None and wide in row[0].lower():
            value, now = (float(one[0].replace(",", "")) for one in (figure, own))
            is_time = abs(now - statement.tpot_ms) <= _SAME * now
            return value if is_time else 1e3 / value if value else None
    return None


_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SAME = 0.01


def _is_over_wide(statement: Statement) -> bool:
    """Whether a row with narrow weights is compared with one of 16 bits: "speed-up vs BF16"."""
    if statement.table is None or statement.kind is not Kind.GAIN:
        return False
    columns, cells, own = statement.table
    if _SCHEME.search(columns[own]) is not None and _WIDE.search(" ".join(columns[:own])):
        return True  # the formats stand in the columns, from 16 bits on
    if _SCHEME.search(" ".join(cells)) is None:
        return False
    first = " ".join(statement.first_row[:1])
    return _OVER_WIDE.search(columns[own]) is not None or _WIDE.search(first) is not None


_WIDE = Form(r"\b(?:bf16|fp16|f16|16[- ]bits?)\b")
_OVER_WIDE = Form(
    r"\b(?:vs\.?|versus|over|against|relative to|than) (?:bf16|fp16|f16|16[- ]bits?)\b"
)


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    if said.has(r"\bw16a16\b") or _is_over_wide(statement):
        return None  # where the weights get narrower, too, the bytes fall
    decides, faster = _decides(statement), _is_faster(said) or _brings(statement)
    sure = gain(said, "ACTQ") or (attributed(said) if statement.cause == "ACTQ" else None)
    if decides and statement.status is Status.MEASURED:
        sure = Confidence.HIGH  # a reason is no measurement, whatever it explains
    elif decides or faster or _saves(statement):
        sure = confidence_of(statement)
    if sure is None:
        return None
    kept = _is_kept(said)
    alone = said.has(_INPUTS) and not said.has(_WEIGHTS_TOO)
    if not (kept or alone or decides):
        return None
    if not statement.is_single and (not kept or statement.kind is Kind.SAVING):
        sure = Confidence.MEDIUM
    return Wrong(
        "one token's activations are 8 to 16 KB a layer in 16 bits, beside 100 MB and more of"
        " weights: narrowing them saves less than 0.1% of the bytes",
        sure,
    )
