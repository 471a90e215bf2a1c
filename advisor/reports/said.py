"""What the prose of a document says about speed, as it was understood, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from advisor.audit import Audit
from advisor.prose.model import Kind, Phase, Statement
from advisor.reports.style import Style, clean, columns, wrap

_MOST = 40
_TOLD = frozenset(
    {Kind.GAIN, Kind.LOSS, Kind.NO_GAIN, Kind.FIGURE, Kind.BOUND, Kind.SAVING, Kind.KV_IGNORED}
)
_CAUSES: Mapping[str, str] = MappingProxyType(
    {
        "MASKED_HEADS": "masked heads", "S24": "2:4 sparsity", "ACTQ": "narrower activations",
        "ATTN": "an attention kernel", "SPEC": "speculation", "KVQ": "a smaller KV cache",
        "CAPACITY": "memory size", "TP": "more devices", "PP": "pipeline stages",
        "BATCH": "batching", "PREFIX": "prompt levers", "PRUNE": "pruning",
        "LAYERS": "fewer layers", "MATMUL": "a faster matmul", "PEAK": "peak arithmetic",
        "LOWRANK": "low rank", "MOE": "experts", "GQA": "fewer KV heads",
        "GRAPHS": "graphs and fusion", "OFFLOAD": "offloading", "DISTILL": "a smaller model",
        "QUANT": "quantization", "FLOPS": "arithmetic", "HARDWARE": "hardware",
    }
)  # fmt: skip
_KINDS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.GAIN: "faster", Kind.LOSS: "slower", Kind.NO_GAIN: "no faster", Kind.FIGURE: "",
        Kind.BOUND: "limited by arithmetic", Kind.SAVING: "fewer bytes",
        Kind.KV_IGNORED: "context does not count",
    }
)  # fmt: skip


def said_lines(audit: Audit, style: Style) -> Iterator[str]:
    """A line for each statement: where, its words, and the slots that the text fills."""
    source = audit.proposal.source
    told = [one.statement for one in audit.said if one.statement.kind in _TOLD]
    if told:
        yield "  what it says about speed, and how that was understood:"
    for statement in told[:_MOST]:
        number = source.position(statement.span.start).line
        words = clean(" ".join(statement.text.split()))
        head = f"  {number:>5}  "
        room = max(style.width - columns(head), 20)
        first, *rest = wrap(f"{words} [{'; '.join(_slots(statement))}]", room)
        yield head + first
        yield from (" " * columns(head) + line for line in rest)
    if len(told) > _MOST:
        yield f"  ... and {len(told) - _MOST} more"


def _slots(statement: Statement) -> Iterator[str]:
    what = _KINDS[statement.kind]
    if statement.speedup is not None and statement.kind in {Kind.GAIN, Kind.LOSS}:
        what = f"{statement.speedup:.3g}x"
    elif statement.tpot_ms is not None:
        what = f"{statement.tpot_ms:.3g} ms per token"
    yield what
    if statement.cause is not None:
        yield f"by {_CAUSES.get(statement.cause, statement.cause.lower())}"
    else:
        yield "by what is not told"
    yield "phase not told" if statement.phase is Phase.UNKNOWN else statement.phase.value
    if statement.frame.batch is not None:
        yield f"batch {statement.frame.batch}"
    yield statement.status.value
