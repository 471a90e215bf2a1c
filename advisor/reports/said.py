"""What the prose of a document says about speed, as it was understood, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from advisor.audit import Audit
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.reports.style import Style, clean, columns, wrap
from advisor.said import Said, bandwidth_of

_MOST = 40
_TOLD = frozenset(
    {Kind.GAIN, Kind.LOSS, Kind.NO_GAIN, Kind.FIGURE, Kind.BOUND, Kind.SAVING,
     Kind.SKIPPED, Kind.KV_IGNORED}
)  # fmt: skip
_ASCRIBED = frozenset({Kind.GAIN, Kind.LOSS, Kind.NO_GAIN, Kind.SAVING, Kind.SKIPPED})
_OF_BYTES = frozenset({Kind.SAVING, Kind.SKIPPED})
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
        Kind.SKIPPED: "left unread", Kind.KV_IGNORED: "context does not count",
    }
)  # fmt: skip


def said_lines(audit: Audit, style: Style) -> Iterator[str]:
    """A line for each statement: where, its words, what was understood, and what came of it."""
    source = audit.proposal.source
    told = [one for one in audit.said if one.statement.kind in _TOLD]
    if not told:
        return
    refuted = _refuted(audit)
    outcomes = [_outcome(one, refuted) for one in told]
    yield f"  what it says about speed: {_counted(outcomes)}"
    for one, outcome in list(zip(told, outcomes, strict=True))[:_MOST]:
        statement = one.statement
        number = source.position(statement.span.start).line
        words = clean(" ".join(statement.text.split()))
        head = f"  {number:>5}  "
        room = max(style.width - columns(head), 20)
        first, *rest = wrap(f"{words} [{'; '.join(_slots(statement))}] {outcome}", room)
        yield head + first
        yield from (" " * columns(head) + line for line in rest)
    if len(told) > _MOST:
        yield f"  ... and {len(told) - _MOST} more"


def _refuted(audit: Audit) -> dict[tuple[int, int], str]:
    """By the places of statements: the rule that contradicts them, or doubts them."""
    from advisor.rulebook import run  # noqa: PLC0415 - only documents that say something

    found: dict[tuple[int, int], str] = {}
    for words, strict in (("contradicted by {}", False), ("doubted by {} (--strict)", True)):
        for finding in run(audit, strict=strict):
            place = finding.start.offset, finding.end.offset
            found.setdefault(place, words.format(finding.rule))
    return found


def _outcome(said: Said, refuted: Mapping[tuple[int, int], str]) -> str:
    """What came of a statement: a rule that contradicts it, nothing, or why it was not judged."""
    statement = said.statement
    rule = refuted.get((statement.span.start, statement.span.end))
    if rule is not None:
        return f"-> {rule}"
    missing = _missing(said)
    return f"-> {_UNJUDGED}: {missing}" if missing else f"-> {_UNREFUTED}"


_UNJUDGED = "not judged"
_UNREFUTED = "nothing against it"


def _missing(said: Said) -> str:
    """Why a statement could not be judged; empty where it was."""
    statement = said.statement
    if statement.status not in {Status.ASSERTED, Status.HEDGED}:
        return f"it is {statement.status.value}"
    if statement.phase in {Phase.PREFILL, Phase.TRAINING, Phase.OTHER}:
        return _OTHER_PHASES[statement.phase]
    if statement.kind is Kind.FIGURE:
        missing = [
            words
            for words, value in (
                ("the bytes of the weights", said.floor),
                ("the bandwidth", bandwidth_of(statement.frame)),
            )
            if value is None
        ]
        return f"the text does not give {missing[0]} for it" if missing else ""
    if statement.phase is Phase.UNKNOWN and statement.kind not in _OF_BYTES:
        return "it does not say whether prompt or tokens are meant"
    if statement.cause is None and statement.kind is not Kind.BOUND:
        return "it does not say what brings it"
    return ""


_OTHER_PHASES: Mapping[Phase, str] = MappingProxyType(
    {
        Phase.PREFILL: "it is about the prompt",
        Phase.TRAINING: "it is about training",
        Phase.OTHER: "it is about a model of another kind",
    }
)


def _counted(outcomes: list[str]) -> str:
    """How many statements there are, and what came of them."""
    against = sum(outcome.startswith("-> contradicted") for outcome in outcomes)
    unjudged = sum(outcome.startswith(f"-> {_UNJUDGED}") for outcome in outcomes)
    noun = "statement" if len(outcomes) == 1 else "statements"
    return f"{len(outcomes)} {noun}, {against} contradicted, {unjudged} not judged"


def _slots(statement: Statement) -> Iterator[str]:
    what = _KINDS[statement.kind]
    if statement.speedup is not None and statement.kind in {Kind.GAIN, Kind.LOSS}:
        what = f"{statement.speedup:.3g}x"
    elif statement.tpot_ms is not None:
        what = f"{statement.tpot_ms:.3g} ms per token"
    if what:
        yield what
    if statement.cause is not None and statement.kind in _ASCRIBED:
        yield f"by {_CAUSES.get(statement.cause, statement.cause.lower())}"
    if statement.phase is not Phase.UNKNOWN:
        yield statement.phase.value
    if statement.frame.batch is not None:
        yield f"batch {statement.frame.batch}"
    if statement.status is not Status.ASSERTED:
        yield statement.status.value
