"""## What it does
Flags faster decode that is ascribed to something a step does not touch: storage and file formats,
lanes of a slot, cores of the host, sampler settings, the tokenizer, other values in weights of the
same shape, the length of context that is reserved; and slower decode ascribed in full to a power
limit.

## Why is this bad
Each token reads the weights, and the keys and values of the tokens that are there, from device
memory. A file is read once; over the slot of a card that holds everything go token ids; the sampler
sorts one row of logits; a reserved window is memory that is kept free, and nobody reads it.

## Instead
Claim shorter loading, fewer tokens for a text, more room.

## When this rule is wrong
Weights that are paged in or offloaded come over the slot or from the drive for every token; so do
exchanges of tensor parallelism. A sampler on the host, or one with a grammar, can cost
milliseconds. The rule is silent where the text says so.

## References
- Kwon et al.: PagedAttention: https://arxiv.org/abs/2309.06180
- safetensors: https://huggingface.co/docs/safetensors/index
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.prose.besides import (
    BESIDES,
    RESIDENT,
    Beside,
    is_only_format,
    is_retrained,
    names_window,
    reads_window,
)
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of, is_general, is_small_batch
from advisor.told.power_limits import power_taken

RULE = Rule(
    code="TXT004",
    name="beside-token-path",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OTHER,
    about=(PROSE,),
    flagged=(
        """\
The 13B is fully in VRAM. «A faster NVMe drive will raise its tokens per second by half.»
""",
        """\
«Greedy decoding instead of top-p makes the 70B 1.5x faster.»
""",
    ),
    passing=(
        """\
The 13B is fully in VRAM. A faster NVMe drive halves the time to load it.
""",
        """\
The 70B does not fit, so a faster NVMe drive raises its tokens per second.
""",
        """\
Greedy decoding raises acceptance, so speculation makes the 70B 1.5x faster.
""",
    ),
)

_LEVERS: Final = frozenset(
    {"QUANT", "SPEC", "TP", "KVQ", "DISTILL", "LAYERS", "S24", "PREFIX", "PRUNE", "ACTQ", "GRAPHS",
     "BATCH", "MATMUL", "HEADS"}
)  # fmt: skip
"""Levers that a gain may be owed to instead."""
_OF_TOKENS: Final = frozenset({"RATE", "TIME", "DECODE", "SINGLE", "TOKENS", "FASTER"})
_SPEED: Final = Form(
    r"\b(?:fast\w*|quick\w*|sooner|snappier|speed\w*|time|latency|ms|milliseconds?|tok\w*/s|t/s|tps"
    r"|tokens (?:per|a|each) second|cheaper|itl|tpot|(?<!acceptance )rate|pace|slow\w*)\b"
)
"""Words of speed: a term for a step alone may tell of anything in it."""
_LOADING: Final = Form(
    r"\b(?:load(?:s|ed|ing)?|start-?ups?|starts?|boots?|cold start|downloads?|pulls? the)\b"
)
_OTHER_TIME: Final = Form(
    r"\b(?:(?:model|weights?|image|checkpoint|inference|server|pod|replica) )?(?:load(?:ing)?"
    r"|start-?up|boot(?:ing)?|cold[- ]?start|pull(?:ing)?|download(?:ing)?|provisioning|deployment"
    r"|initiali[sz]ation|readiness|swap(?:ping)?|warm-?up|access|storage|disk|file|i/?o|fetch"
    r"|network|transfer|checkpoint|sav(?:e|ing)|restart|scal(?:e|ing)[- ](?:up|out))[- ](?:times?"
    r"|latenc(?:y|ies)|performance|speeds?|delays?|durations?|throughput|rates?)\b"
)
"""A time or a rate of something else than tokens: "model load times", "access latency"."""
_OF_A_TOKEN: Final = Form(
    r"\btok\w* ?/ ?s|\bt/s\b|\btps\b|\btokens?\b|\b(?:itl|tpot|tbt)\b|\bdecod\w*|\bms\b"
    r"|\b(?:generation|output|typing|streaming) (?:speed|rate|pace)\b"
)
_SHORTER_TEXT: Final = Form(
    r"\b(?:short(?:er)?|brief(?:er)?|terser?|concise|smaller|fewer) (?:\w+ )?(?:answers?|repl(?:y"
    r"|ies)|outputs?|responses?|completions?|generations?|summar(?:y|ies)|texts?|messages?)\b"
)
"""What is over sooner as a whole, each of its tokens being as slow as before."""
_SAME: Final = Form(
    r"\b(?:same (?:speed|rate|pace|tokens|time|latency|t/s|tok\S*|\d)|no (?:difference|change)"
    r"|equal(?:ly)?|unchanged|(?:exactly |just )?what (?:it|they) (?:was|were)|as before"
    r"|identical)\b"
)
_FELT: Final = 1.1
_SHORT: Final = Form(
    r"\bshort\b|\bempty\b|\b\d{1,3}[- ](?:tokens?|words?)\b|\bfrom the (?:very )?first\b"
    r"|\bfilled or not\b"
    r"|\bhowever\b|\bwhatever\b|\bfew\b|\bunused\b|\bjust (?:started|begun)\b"
)
"""A conversation that fills little of its window."""


def check(audit: Audit) -> Iterator[Finding]:
    """Speed that is ascribed to what no step touches."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="a step reads weights and cache from device memory, and nothing else to speak of",
        instead="claim what it does change: loading, tokens for a text, room",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    if statement.phase in NO_DECODE or statement.is_aggregate:
        return None
    if (wrong := _reads_window(said)) is not None:
        return wrong
    sure = confidence_of(statement)
    if sure is None or statement.kind not in {Kind.GAIN, Kind.LOSS} or is_general(statement):
        return None
    known = statement.phase is Phase.DECODE or "LLM" in statement.sentence
    if not known or not is_small_batch(statement):
        return None
    if (wrong := _powered(said, sure) or _retrained(said, sure)) is not None:
        return wrong
    if not _LEVERS.isdisjoint(statement.sentence) or statement.cause in _LEVERS:
        return None
    if _is_small(statement.speedup) or _SAME.search(statement.text) is not None:
        return None
    if (
        (_SPEED.search(_told(statement)) is None and not _has_figure(statement))
        or (statement.clause.isdisjoint(_OF_TOKENS) and not _is_of_model(statement))
        or (
            _LOADING.search(statement.text) is not None
            and statement.clause.isdisjoint({"RATE", "DECODE", "TOKENS", "SINGLE"})
        )
    ):
        return None
    if _is_of_other_time(statement):
        return None
    return next((wrong for one in BESIDES if (wrong := _beside(said, one, sure)) is not None), None)


def _is_of_other_time(statement: Statement) -> bool:
    """Whether all that gets faster is loading, access to files, or a text that is shorter."""
    told = _OTHER_TIME.sub(" ", statement.text)
    if told != statement.text:
        return _OF_A_TOKEN.search(told) is None
    return _SHORTER_TEXT.search(told) is not None and _OF_A_TOKEN.search(told) is None


_MOST_TAKEN: Final = 0.4
"""Under some 60% of the power memory gets slower as well."""
_LEAST_TAKEN: Final = 0.1
_IN_PROPORTION: Final = 0.7


def _powered(said: Said, sure: Confidence) -> Wrong | None:
    """A loss as large as the part of the power that is taken away."""
    statement = said.statement
    if statement.kind is not Kind.LOSS or statement.speedup is None:
        return None
    if not {"PREFILL", "LARGE_BATCH"}.isdisjoint(statement.clause):
        return None
    taken = power_taken(
        f"{_last(statement.context_text, statement.sentence_text)}{statement.sentence_text}"
    )
    if taken is None or not _LEAST_TAKEN <= taken <= _MOST_TAKEN:
        return None
    if max(1.0 - statement.speedup, 1.0 / statement.speedup - 1.0) < _IN_PROPORTION * taken:
        return None
    return Wrong(
        f"{taken:.0%} less power lowers the clock of the cores; memory keeps its own, and a step at"
        " small batch waits for memory: some percent at most",
        sure,
        numbers={"power_taken": taken},
    )


def _retrained(said: Said, sure: Confidence) -> Wrong | None:
    """A gain of weights that have other values and the same shape."""
    statement = said.statement
    if statement.kind is not Kind.GAIN or not is_retrained(statement.context_text):
        return None
    if _is_small(statement.speedup) or _SPEED.search(statement.text) is None:
        return None
    if statement.speedup is None and statement.clause.isdisjoint({"FASTER", "RATE", "TIME"}):
        return None
    others = _LEVERS - {"DISTILL"}
    if not others.isdisjoint(statement.sentence) or statement.cause in others:
        return None
    return Wrong(
        "training changes the values of the weights and not their number: a step of the same shape"
        " and precision reads the same bytes, 1.00x",
        sure,
    )


_SO_DOES: Final = Form(r"\W*so (?:do|does|will|would|should)\b")


def _told(statement: Statement) -> str:
    """The clause, or its sentence where it says no more than "so does decode"."""
    return statement.sentence_text if _SO_DOES.match(statement.text) else statement.text


def _is_of_model(statement: Statement) -> bool:
    """Whether a model is said to be faster by a factor: "makes the 8B twice as fast"."""
    factor = statement.speedup
    return statement.kind is Kind.GAIN and "LLM" in statement.clause and (factor or 0.0) >= _CLEARLY


_CLEARLY: Final = 1.3


def _has_figure(statement: Statement) -> bool:
    """Whether the clause tells a time per token, or a factor of generation."""
    if statement.tpot_ms is not None:
        return True
    if statement.kind is not Kind.GAIN or _LOADING.search(statement.text) is not None:
        return False
    return statement.speedup is not None and "DECODE" in statement.clause


def _is_small(factor: float | None) -> bool:
    return factor is not None and 1.0 / _FELT < factor < _FELT


def _beside(said: Said, beside: Beside, sure: Confidence) -> Wrong | None:
    """A gain, or a loss, that is ascribed to one of the levers."""
    statement = said.statement
    near = f"{_last(statement.context_text, statement.sentence_text)}{statement.sentence_text}"
    if beside.named.search(near) is None:
        return None
    about = f"{statement.lead_text} {statement.context_text} {statement.next_text}"
    if beside.counts.search(about) is not None:
        return None
    if statement.kind is Kind.LOSS and not beside.is_felt_when_less:
        return None
    if beside.needs_residence and RESIDENT.search(about) is None:
        return None if not is_only_format(near) else Wrong(beside.told, sure)
    return Wrong(beside.told, sure)


def _last(context: str, own: str) -> str:
    """The sentence before a sentence."""
    before = context[: max(context.rfind(own), 0)].rstrip()
    cut = max(before.rfind(sign) for sign in (". ", "! ", "? ", ": ", "\n"))
    return f"{before[cut + 1 :]} "


_OF_WINDOW: Final = frozenset(
    {Kind.READS, Kind.LOSS, Kind.GAIN, Kind.SAVING, Kind.AMOUNT, Kind.FITS, Kind.FIGURE}
)


def _reads_window(said: Said) -> Wrong | None:
    """A context that is only reserved and is said to be read."""
    statement = said.statement
    sure = confidence_of(statement)
    conceded = statement.status is Status.REFUTED and said.says(r"\balthough\b|\bthough\b")
    if (sure is None and not conceded) or not names_window(statement.context_text):
        return None
    if statement.kind not in _OF_WINDOW:
        return None
    read = reads_window(statement.text) or (
        statement.kind in {Kind.LOSS, Kind.GAIN} and reads_window(statement.sentence_text)
    )
    if not read:
        return None
    short = _SHORT.search(statement.context_text) is not None
    return Wrong(
        "a step reads the keys and values of the tokens that are there: a window that is only"
        " reserved keeps memory from others and costs no time",
        (sure or Confidence.HIGH) if short else Confidence.MEDIUM,
    )
