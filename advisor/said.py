"""Statements of a text with the physics that they can be held against.

A floor rests on what the text itself gives: bytes of the weights (stated, or parameters times the
width of their format), bandwidth (stated, or of the named device). What is missing stays missing;
nothing is assumed, so a statement without its operands is not judged by numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from advisor.finding import Confidence, ErrorClass, Number
from advisor.forms import Form
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.quantity.numerals import FROM_TEN, count_of

if TYPE_CHECKING:
    from advisor.prose.frame import Frame

LARGE_BATCH: Final = 32
"""From here on a step may be compute-bound, and a gain of all users may be meant."""
NO_DECODE: Final = frozenset({Phase.PREFILL, Phase.TRAINING, Phase.OTHER})
_ROUNDING: Final = 0.93
"""Names round sizes, and the table of input embeddings is not read."""
_NOMINAL: Final = 0.15
"""A size in a name that is further from the catalog's is that of another model."""
_FEWEST_BITS: Final = 4.0
_MOST_OF: Final = 0.7
"""Of all weights of a mixture of experts: more than its routed share comes to."""
LABELS: Final = 4
"""The reach of row, column, lead-in and headings."""


class Floor(NamedTuple):
    """The least time of a step by the figures of a text."""

    weight_bytes: float
    kv_bytes: float
    bandwidth_gbs: float
    """Of all devices together."""

    @property
    def ms(self) -> float:
        """Bytes over bandwidth."""
        return (self.weight_bytes + self.kv_bytes) / (self.bandwidth_gbs * 1e9) * 1e3


class Said(NamedTuple):
    """A statement of a text, and the first of those about the same words."""

    group: int
    statement: Statement
    floor: Floor | None

    def has(self, pattern: str) -> bool:
        """Whether the sentence, or what it rests on before it, says something."""
        return _stands(pattern, self.statement.context_text)

    def says(self, pattern: str) -> bool:
        """Whether the sentence says something."""
        return _stands(pattern, self.statement.sentence_text)


@lru_cache(maxsize=1024)
def _form(pattern: str) -> Form:
    return Form(pattern)


@lru_cache(maxsize=4096)
def _stands(pattern: str, text: str) -> bool:
    """Whether a pattern stands in a text; many statements of one sentence ask the same."""
    return _form(pattern).search(text) is not None


class Wrong(NamedTuple):
    """What is wrong with a statement."""

    message: str
    confidence: Confidence
    error_class: ErrorClass | None = None
    numbers: Mapping[str, Number] = MappingProxyType({})
    topic: str = ""
    """Of two clauses of a sentence that are wrong about different things both are told."""


Judge = Callable[[Said], Wrong | None]


def say(statements: Iterable[Statement]) -> tuple[Said, ...]:
    """Every statement with its floor."""
    first: dict[tuple[int, int], int] = {}
    return tuple(
        Said(first.setdefault(statement.span, index), statement, floor_of(statement.frame))
        for index, statement in enumerate(statements)
    )


def floor_of(frame: Frame) -> Floor | None:
    """The floor of a frame; None where an operand is missing."""
    bandwidth = bandwidth_of(frame)
    if bandwidth is None:
        return None
    weights = frame.weight_bytes
    total, active = _mixture(frame) if weights is not None else (None, None)
    if weights is not None and active and total:
        least = frame.weight_bits or _FEWEST_BITS
        if weights > _MOST_OF * total * least / 8.0:
            weights *= active / total  # the whole model was stated
    if weights is None and frame.weight_bits is not None:
        count = _read_parameters(frame)
        weights = count * frame.weight_bits / 8.0 if count is not None else None
    return None if weights is None else Floor(weights, frame.kv_bytes or 0.0, bandwidth)


def _mixture(frame: Frame) -> tuple[float | None, float | None]:
    """All parameters and those in use, as stated, else of the mixture that is named."""
    if frame.active_parameters is not None or frame.model is None:
        return frame.parameters, frame.active_parameters
    from advisor.prose.named import sizes_of as sizes_of_named  # noqa: PLC0415 - as below

    return sizes_of_named(frame.model)


def _read_parameters(frame: Frame) -> float | None:
    """Weights that a token reads: those of the named model, else its round size and less."""
    count = frame.active_parameters or frame.parameters
    if frame.model is not None:
        from advisor.prose.named import read_parameters  # noqa: PLC0415 - few texts name one

        known = read_parameters(frame.model)
        if count is None or abs(known - count) <= _NOMINAL * known:
            return known
    return None if count is None else count * _ROUNDING


def sizes_of(statement: Statement) -> tuple[float | None, float | None]:
    """All parameters and the active ones, as stated, else those of the model that is named.

    A document that compares models disputes their sizes; then the name must stand near by.
    """
    frame, near = statement.frame, statement.near or statement.frame
    total, active = frame.parameters, frame.active_parameters
    if total is not None or frame.model is None:
        return total, active
    if near.model is None:
        return total, active
    from advisor.prose.named import sizes_of as sizes_of_named  # noqa: PLC0415 - as above

    total, known = sizes_of_named(frame.model)
    return total, active or known


def bandwidth_of(frame: Frame) -> float | None:
    """Bandwidth in GB/s of all devices together, as stated or of the device that is named."""
    if frame.total_bandwidth_gbs is not None:
        return frame.total_bandwidth_gbs
    bandwidth = frame.bandwidth_gbs
    if bandwidth is None and frame.hardware is not None:
        from advisor.catalog.hardware import device  # noqa: PLC0415 - only documents pay for it

        bandwidth = device(frame.hardware).bandwidth_gbs
    # of devices that work one after another each waits for the others
    together = 1 if frame.in_turn else frame.devices or 1
    return None if bandwidth is None else bandwidth * together


def bandwidths_of(frame: Frame) -> tuple[float, ...]:
    """As `bandwidth_of`, of every variant that a name like "H100" may stand for."""
    own = bandwidth_of(frame)
    if own is None:
        return ()
    if frame.hardware is None or (frame.bandwidth_gbs or frame.total_bandwidth_gbs) is not None:
        return (own,)
    from advisor.catalog.hardware import device, variants_of  # noqa: PLC0415 - as above

    each = device(frame.hardware).bandwidth_gbs
    variants = {device(name).bandwidth_gbs for name in variants_of(frame.hardware)}
    return tuple(sorted(own * one / each for one in variants))


def confidence_of(statement: Statement) -> Confidence | None:
    """How sure it is that the text asserts it; None where it does not."""
    if statement.status is Status.ASSERTED:
        return Confidence.HIGH
    return Confidence.MEDIUM if statement.status is Status.HEDGED else None


_WAVERING: Final = Form(r"\b(?:may|might|perhaps|possibly|maybe|could|seems?|appears?|sometimes)\b")


def confidence_of_bound(statement: Statement) -> Confidence | None:
    """As `confidence_of`; a bound that the text computes, as "no more than", is no hedge."""
    if statement.status is Status.HEDGED and _WAVERING.search(statement.text) is None:
        return Confidence.HIGH
    return confidence_of(statement)


def is_small_batch(statement: Statement) -> bool:
    """Whether nothing near says that many sequences share a step."""
    batch = statement.frame.batch
    if batch is not None and batch >= LARGE_BATCH:
        return False
    text = statement.text
    of_gain = statement.kind in {Kind.GAIN, Kind.CARRIED, Kind.LOSS}
    if of_gain and "MATMUL" in statement.clause and not statement.clause.isdisjoint(_OF_TOKENS):
        text = _SHAPE.sub("", text)  # the shape that a kernel was timed with
    if max(rows_in(text), _grown_load(statement)) >= LARGE_BATCH:
        return False
    if statement.frame.is_mixed and batch is None and not statement.is_single:
        return False
    return statement.is_single or statement.nearby.isdisjoint({"LARGE_BATCH", "BUSY_UNITS"})


def gain(said: Said, cause: str) -> Confidence | None:
    """How sure it is that faster decode at small batch is ascribed to a lever."""
    return decode_gain(said) if said.statement.cause == cause else None


def decode_gain(said: Said) -> Confidence | None:
    """How sure it is that faster decode at small batch is promised."""
    statement = said.statement
    if statement.kind is not Kind.GAIN or statement.phase is not Phase.DECODE:
        return None
    if is_unlinked(statement) or _is_of_all(statement):
        return None
    if is_of_units(statement) or is_general(statement) or is_excused(said):
        return None
    if not is_small_batch(statement):
        return None
    return in_sight(statement, confidence_of(statement))


_BECAUSE_OF_IT: Final = Form(
    r"\b(?:that|this) way\b|\b(?:thanks to|because of|owing to|due to|on account of) (?:it|this"
    r"|that"
    r"|them)\b|\bas a (?:result|consequence)\b|\b(?:solely|purely|only|entirely) (?:by|from"
    r"|through|with)"
    r" (?:it|this|that)\b|\b(?:through|by|from|with) (?:this|that) (?:\w+ )?alone\b"
    r"|^\W*(?:the )?(?:outcome|upshot|consequence)\b[^.;:]{0,40}:"
)


def attributed(said: Said) -> Confidence | None:
    """How sure it is that faster decode, told as seen, is put down to the lever before it."""
    statement = said.statement
    if statement.status is not Status.MEASURED or statement.cause is None:
        return None
    concluded = statement.opener in {"so", "hence", "thus", "therefore"} and statement.reach <= 1
    if not concluded and _BECAUSE_OF_IT.search(statement.sentence_text) is None:
        return None
    return decode_gain(said._replace(statement=statement._replace(status=Status.ASSERTED)))


def is_summed(statement: Statement) -> bool:
    """Whether the clause says itself that it adds up what all users, or the whole server, get."""
    return _SUMMED.search(statement.text) is not None


def _is_of_all(statement: Statement) -> bool:
    """Whether the tokens of all users are meant; words of the clause itself come first."""
    if is_summed(statement):
        return True
    if not statement.is_aggregate:
        return False
    if {"AGGREGATE", "THROUGHPUT"} <= statement.clause:
        return True
    return not statement.is_single or "SINGLE" not in statement.clause | statement.sentence


_SUMMED: Final = Form(
    r"\b(?:in (?:sum|total)|together|altogether|overall|combined)\W*$"
    r"|\b(?:serves?|puts? out|delivers?|handles?|process(?:es)?) (?:about |some |roughly )?"
    r"[\d.]+(?: times|x) (?:the|as many) tokens\b"
    r"|\b(?:server|service|node|cluster|replica|pool|endpoint)s? (?:now |then )?(?:delivers?"
    r"|delivered"
    r"|produces?|produced|emits?|emitted|puts? out|logs?|logged|reports?|reported|sustains?"
    r"|sustained) (?:about |some |roughly )?\d[\d,. ]*(?:tok|t/s)"
    r"|\b(?:requests?|queries|reqs?)(?: ?/ ?| per | an? | each )(?:s|sec|seconds?|min|minutes?)\b"
)
_SHAPE: Final = Form(r"\bM ?= ?\d+|(?<![\w.])[\d,]+-row\b")
_COMPUTE_BOUND: Final = Form(r"\b(?:compute|gemm|math|flops?|arithmetic)[- ](?:bound|limited)")
_MANY: Final = Form(
    rf"(?<![\w.,])(\d{{2,5}}|{FROM_TEN})(?![- ]tokens?\b|-\d)[- ]"
    rf"(?:(?!tokens?\b)[\w-]+ ){{0,2}}?(?:users?"
    rf"|sequences"
    r"|requests|streams|sessions|clients|chats|conversations|rows|tokens per step)\b"
    r"|(?<![\w.])(\d{1,2},\d{3}|\d{2,5})-rows?\b"
    r"|\bbatch(?:es)?(?: size)?(?: of)? (\d{2,5})\b|\bM ?= ?(\d{2,5})\b"
    r"|\b(?:batch(?:[_ ]size)?|bs|max[-_]num[-_]seqs|max[-_]batch[-_]size|concurrency|num[-_]slots"
    r"|parallel|np)(?:=| = |: | of )(\d{2,5})\b"
    r"|(?<![\w.,])(\d{2,5}) (?:at (?:a time|once)|in flight|in parallel|concurrently)\b"
)
_HUNDREDS: Final = Form(
    r"\b(?:hundreds|thousands) of (?:\w+ )?(?:users|sequences|requests|streams|rows|sessions)\b"
    r"|\bbatch(?:es)? of (?:\w+ )?(?:hundreds|thousands)\b"
)
_A_HUNDRED: Final = 100
_BELOW_BANDWIDTH: Final = Form(
    r"\d ?% of (?:the |its )?(?:peak |hbm |memory )*(?:bandwidth|hbm)\b|(?:could|can)(?:n['’]t"
    r"| not)"
    r" (?:saturate|fill|reach)|well below (?:the )?(?:\w+ )?(?:bandwidth|speed)"
    r"|slow(?:er)? (?:kernel"
    r"|path|fallback)|fallback kernel"
)


_BEYOND_IT: Final = Form(
    r"^\W*(?:above|beyond|past|from|over) (?:it|this|that|there|the (?:ridge|crossover|knee))\b"
    r"|\b(?:above|beyond|past) (?:the|its) (?:ridge|crossover|knee)\b"
)
_IN_IT: Final = Form(r"\W*(?:in (?:this|that) (?:regime|range|region|case)|there|here|then)\b")
_RIDGE: Final = Form(r"\b(?:ridge|crossover|cross-over|knee|break-?even|intensity|roofline)\b")


def is_excused(said: Said) -> bool:
    """Whether the text says why arithmetic counts: many rows in a step, or bandwidth unused."""
    text = said.statement.context_text
    if _BELOW_BANDWIDTH.search(text) is not None:
        return True
    own = said.statement.sentence_text
    told_of = text if _IN_IT.match(own) else own
    if _BEYOND_IT.search(told_of) and _RIDGE.search(text):
        return True
    if _COMPUTE_BOUND.search(text) is None:
        return False
    return many_rows(said) >= LARGE_BATCH


_FEWER_BYTES: Final = Form(
    r"\b(?:arithmetic|maths?|multipl\w+|gemms?|compute|mmas?) and (?:(?:mx|nv)?fp[468]|int[2-8]"
    r"|[2-8][- ]bit) weights\b|\b(?:half|a (?:third|quarter)) as wide\b|"
    r"\b(?:halv\w+|quarter\w*|cuts?|reduc\w+|fewer|less|half|lower\w*|shrink\w*|sav\w+) (?:the "
    r"|of the )?"
    r"(?:weight |memory |hbm |dram )?(?:bytes|traffic|reads)"
    r"|\b(?:bytes|traffic)(?! are| is) (?:\w+ ){0,3}?(?:halv\w*|fall|fell|drop|shrink"
    r"|go(?:es)? down)"
    r"|\bskip\w* [^.;:]{3,60}?,? (?:and|as well as|along with|together with) (?:the |their |its )?"
    r"(?:loads?|reads?|fetch\w*|traffic)(?! (?:are|is|stays?|remains?|go|still))\b"
    r"|\bweights? (?:lie|live|sit|rest|reside|stay|(?:are|is) (?:kept|stored|held|read|loaded))"
    r" (?:\w+ ){0,4}?(?:as|in|at) (?:mx|nv)?(?:fp[468]|int[2-8]|[2-8][- ]bits?)\b"
)


def bytes_fall(said: Said) -> bool:
    """Whether the text gives fewer bytes as a reason too."""
    return _FEWER_BYTES.search(said.statement.context_text) is not None


def many_rows(said: Said) -> int:
    """The most users, sequences or rows of a step that the text around a statement names."""
    return rows_in(said.statement.context_text)


def rows_in(text: str) -> int:
    """The most users, sequences or rows that a text names; 0 where it names none."""
    if _HUNDREDS.search(text) is not None:
        return _A_HUNDRED
    found = (next(filter(None, match.groups())).lower() for match in _MANY.finditer(text))
    return max((count_of(number) for number in found), default=0)


def _grown_load(statement: Statement) -> int:
    """How many a sentence says there are by then, of the requests told of before; else 0."""
    match = _OF_THEM.search(statement.sentence_text)
    return int(match[1]) if match is not None and _LOAD.search(statement.context_text) else 0


_LOAD: Final = Form(r"\b(?:users?|sequences?|requests?|streams?|sessions?|chats?|conversations?)\b")
_OF_THEM: Final = Form(
    r"\b(?:it|server|box|card|gpu|replica|node|pod|batch|step) (?:then |now )?(?:has|holds|carries"
    r"|sees|serves|handles|runs) (?:about |some |around )?(\d{2,4})(?=[,.;:]|$| (?:and|of them)\b)"
)
"""A load told without its unit, where that was said before: "By noon it has 300"."""


_RATE: Final = Form(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?([tg])b/s")
_TWO_RATES: Final = Form(
    r"\d ?(?:[tg]b/s)? ?(?:instead of|rather than|against|versus|vs\.?|to|->|→|from|over|up from"
    r"|where) (?:\w+ ){0,2}?\d[\d.,]* ?[tg]b/s"
    r"|\d ?[tg]b/s (?:replac\w+|instead of|rather than|over|against|vs\.?|versus|and not|up from"
    r"|from)"
    r" (?:\w+ ){0,2}?\d"
)


_AT: Final = Form(
    r"\d ?[tg]b/s\b[^.;]{0,48}? at \d{3,4}\b(?! ?[tg]b/s)"
    r"|\d ?[tg]b/s\b[^;]{0,32}? (?:instead of|rather than|against|versus|vs\.?|over|than) \d+ ?GB"
    r" (?:and|at|with) \d[\d.,]*\b(?! ?(?:GB|users|tok))"
)
"""A second one without its unit: "1,008 GB/s is quicker than 48 GB at 768"."""


def bandwidths_in(text: str) -> int:
    """How many different bandwidths a text names: with one alone, memory is no faster."""
    rates = {
        float(match[1].replace(",", "")) * (1e3 if match[2].lower() == "t" else 1.0)
        for match in _RATE.finditer(text)
    }
    if len(rates) == 1 and _AT.search(text) is not None:
        return 2
    return len(rates) + (len(rates) == 1 and _TWO_RATES.search(text) is not None)


def is_of_units(statement: Statement) -> bool:
    """Whether a unit or a kernel is said to be fast, and nothing of tokens."""
    if not statement.clause.isdisjoint(_OF_TOKENS):
        return False
    if _TIME_OF_UNITS.search(statement.text) is not None:
        return True
    return "TIME" not in statement.clause and _OF_UNITS.search(statement.text) is not None


def is_general(statement: Statement) -> bool:
    """Whether "performance" is what gets better, and the sentence says nothing of tokens."""
    of_tokens = not statement.sentence.isdisjoint({"TOKENS", "DECODE", "SINGLE", "TIME"})
    return not of_tokens and "performance" in statement.text and statement.speedup is None


_OF_UNITS: Final = Form(
    r"\b(?:tensor cores?|kernels?|gemms?|matmuls?|units|math|arithmetic|engines?|library) "
    r"(?:\w+ ){0,2}?(?:is|are|runs?|becomes?|multipl\w+|comput\w+|works?) [^.;:,]{0,30}?(?:fast"
    r"|quick)"
    r"|\b(?:multipl(?:y|ies)|comput(?:e|es)|crunch(?:es)?) (?:it|them|these|those|this|that"
    r"|(?:the )?[\w-]+) [^.;:,]{0,30}?(?:fast|quick)"
    r"|\b(?:faster|quicker) (?:(?:dot|inner|matrix) products?|arithmetic|maths?|multipl\w+|fmas)\b"
)
"""The speed of a unit or kernel, which is a premise and no claim about tokens."""
_TIME_OF_UNITS: Final = Form(
    r"\b(?:products?|gemms?|matmuls?|multipl\w+|mmas?|kernels?) (?:\w+ )?(?:take|need|last|run"
    r"|(?:are|is) done|finish)\w* (?:in )?(?:only |just )?(?:half|a (?:third|quarter)|\d[\d.]* ?%)"
    r" (?:of )?(?:the|their) (?:\w+ )?time\b"
)
_OF_TOKENS: Final = frozenset({"DECODE", "SINGLE", "RATE"})


def is_unlinked(statement: Statement) -> bool:
    """Whether the lever stands too far away for the clause to be about it."""
    return statement.reach == LABELS - 1 and not statement.is_linked


def in_sight(statement: Statement, sure: Confidence | None) -> Confidence | None:
    """Less sure where only a heading or a lead-in says that decode is meant."""
    named = statement.is_single or _column_names_decode(statement)
    if sure is Confidence.HIGH and statement.phase_reach >= LABELS and not named:
        return Confidence.MEDIUM
    return sure


_OF_DECODE: Final = Form(
    r"^(?!.*\b(?:bound|limit|ceiling|measured)).*\b(?:decod\w*|generat\w*|tpot|itl|tbt"
    r"|time per (?:output )?token|tg\d*|ms ?(?:/|per|a) ?tok\w*)\b"
)


def _column_names_decode(statement: Statement) -> bool:
    """Whether the header above a cell, or the name of its row, tells the phase."""
    if statement.table is None:
        return False
    columns, cells, own = statement.table
    labels = (*columns[own : own + 1], *cells[:1])
    return any(_OF_DECODE.search(label) is not None for label in labels)


_PROMPT_GAIN: Final = (
    r"\b(?:ttft|time to first token|prefill|prompt processing|prompts?)\b[^.;:]{0,40}?"
    r"\b(?:halved|fell|dropped|shrank|faster|doubled|sped up)"
    r"|\b\d[\d.]*x (?:on|in|for) (?:pp ?\d+|prefill|prompts?)\b"
)


def carries_over(said: Said) -> bool:
    """Whether a gain in prefill is carried over to decode."""
    statement = said.statement
    before = [phase for phase, _, _ in statement.earlier if phase is Phase.PREFILL]
    if not (before or said.has(_PROMPT_GAIN)) or statement.cause not in {
        None, "ATTN", "PREFIX", "MATMUL", "PEAK", "GRAPHS", "DISTILL",
    }:  # fmt: skip
        return False
    own = statement.clause
    about_decode = not own.isdisjoint({"DECODE", "SINGLE"}) and "PREFILL" not in own
    pointing = "TRANSFER" in own or re.search(
        r"\b(?:accordingly|too|as well|same|likewise|also|inherit\w*|follows? suit)\b",
        statement.text,
        re.IGNORECASE,
    )
    return about_decode and bool(pointing) and not said.has(r"fp8|w8a8|layers (?:removed|dropped)")


def claimed(statement: Statement) -> str:
    """The figure that a statement claims, for a message: "1.5x", "8.3 ms per token", or nothing."""
    if statement.speedup is not None and statement.kind is Kind.GAIN:
        return f"{statement.speedup:.3g}x"
    if statement.tpot_ms is not None:
        return f"{statement.tpot_ms:.3g} ms per token"
    return ""
