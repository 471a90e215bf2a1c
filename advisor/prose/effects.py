"""Effects: clauses in which something gets faster or slower, has a rate, or waits for something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from advisor.claims import Claim, Metric, Stream, parse_claim
from advisor.claims import Kind as ClaimKind
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.model import Kind
from advisor.prose.patterns import (
    ADVICE,
    AS_FAST,
    BARE_FACTOR,
    BASE_ROW,
    BECOMES,
    COMPUTE_WAIT,
    COPULA,
    DECIDES,
    DRIVEN,
    FACTOR_OF,
    FIGURE,
    FITS,
    FRACTION,
    KV_IGNORED,
    LESS_OF,
    NOT_ALL,
    NOT_BEFORE,
    NOT_BYTES_BUT_MATH,
    NUMBER_ALONE,
    NUMBER_WORDS,
    OF_A_THING,
    OF_SOMETHING,
    OF_THE_TIME,
    OFF_THE_TIME,
    OFTEN,
    ONE_ROW,
    OTHER_SIDE,
    OVER_ALL,
    PARTS,
    PER_PIECE,
    PER_TOKEN,
    PER_TOKEN_COLUMN,
    PERCENT_OF_TIME,
    QUADRATIC,
    READS,
    SAME_AS_SHORT,
    SAME_BYTES,
    SIGNED_PERCENT,
    SOME_AMOUNT,
    SOME_PEAK,
    TAKES,
    TIMES,
    TO_A_PART,
    UTILISATION,
    VERBS,
    ZEROS_SKIPPED,
)
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.tagging import Tag

_REACH: Final = 9
"""Words between a change and the metric that it changes."""
_LARGEST_FACTOR: Final = 500.0
"""Beyond it a number with an x is the name of a part: 7950X."""
_SPEED_METRICS: Final = frozenset(
    {Metric.TPOT, Metric.LATENCY, Metric.TOKENS_PER_SECOND, Metric.THROUGHPUT, Metric.UNKNOWN,
     Metric.LATENCY_E2E}
)  # fmt: skip
_TRIGGERS: Final = frozenset(
    [
        "FASTER",
        "SLOWER",
        "TIME",
        "RATE",
        "THROUGHPUT",
        "BOUND_COMPUTE",
        "BOUND_MEMORY",
        "UP",
        "DOWN",
        "FREE",
        "BYTES",
        "KV",
        "FLOPS",
        "PEAK",
        "MATMUL",
        "ROUTE",
        "MOE",
    ]
)


@dataclass(frozen=True, slots=True)
class Effect:
    """What happens to speed in a clause."""

    kind: Kind
    start: int
    """Offset in the block of the words that say it."""
    end: int
    speedup: float | None = None
    tpot_ms: float | None = None
    is_aggregate: bool = False
    is_single: bool = False
    is_prefill: bool = False
    metric: int | None = None
    """Where the metric stands, if it stands before the change."""


def effects_of(block: Block, sentence: Sentence) -> list[tuple[Clause, Effect]]:
    """The effects in a sentence, at most one of a kind in a clause."""
    if (
        block.kind is not BlockKind.CELL
        and _TRIGGERS.isdisjoint(sentence.names)
        and not FIGURE.search(sentence.text)
        and " as fast " not in sentence.text
        and "HELP" not in sentence.names
    ):
        return []
    claims = _claims(sentence) if FIGURE.search(sentence.text) else []
    found: list[tuple[Clause, Effect]] = []
    for clause in sentence.clauses:
        own = [claim for claim in claims if clause.start <= _middle(claim, sentence) < clause.end]
        found.extend((clause, effect) for effect in _in_clause(block, sentence, clause, own))
    return found


def _middle(claim: Claim, sentence: Sentence) -> int:
    return sentence.start + (claim.start + claim.end) // 2


@lru_cache(maxsize=8192)
def _claims_in(text: str) -> tuple[Claim, ...]:
    return parse_claim(text).claims


def _claims(sentence: Sentence) -> list[Claim]:
    return [
        claim for claim in _claims_in(sentence.text)
        if claim.metric in _SPEED_METRICS or claim.metric is Metric.TTFT
    ]  # fmt: skip


def _in_clause(
    block: Block, sentence: Sentence, clause: Clause, claims: Sequence[Claim]
) -> Iterator[Effect]:
    text = block.text[clause.start : clause.end]
    names = {tag.name for tag in clause.tags}
    yield from _about_resources(clause, text, names)
    worded = _worded(block.text, clause)
    best: Effect | None = None
    for claim in claims:
        if claim.metric is Metric.UNKNOWN and not _is_about_speed(
            claim, sentence.text, clause, names, block
        ):
            continue
        if OFTEN.search(claim.text) and not TAKES.search(
            sentence.text[max(0, claim.start - 24) : claim.end]
        ):
            continue
        start = sentence.start + claim.start
        end = sentence.start + claim.end
        prefill = claim.metric is Metric.TTFT
        aggregate = claim.stream is Stream.AGGREGATE or claim.metric is Metric.THROUGHPUT
        single = claim.stream is Stream.SINGLE
        low = claim.speedup_low or claim.speedup
        tpot = _tpot(claim, sentence.text) if claim.kind is ClaimKind.ABSOLUTE else None
        if low is not None and abs(low - 1.0) > 0.02 and low < _LARGEST_FACTOR:
            written = re.search(r"\d+(?:\.\d+)?", claim.text)
            above_one = written is not None and float(written[0]) > 1.0
            if (
                low < 1.0
                and above_one
                and claim.rule == "factor"
                and not names & {"SLOWER", "DOWN"}
            ):
                low = 1.0 / low  # a direction carried over from words before the clause
            kind = Kind.GAIN if low > 1.0 else Kind.LOSS
            effect = Effect(kind, start, end, low, tpot, aggregate, single, prefill)
            if best is None or low > (best.speedup or 0.0):
                best = effect
        elif tpot is not None:
            told = worded is not None and worded.kind is Kind.GAIN and best is None
            if told:
                best = Effect(Kind.GAIN, start, end, None, tpot, aggregate, single, prefill)
            else:
                yield Effect(Kind.FIGURE, start, end, None, tpot, aggregate, single, prefill)
    if best is not None:
        yield best
        return
    for other in (_bare_cell(block, clause), _signed(block, sentence, clause),
                  _part_of_time(clause, text),
                  _times_the_rate(clause, text, names), worded):  # fmt: skip
        if other is not None:
            yield other
            return


def _is_about_speed(claim: Claim, text: str, clause: Clause, names: set[str], block: Block) -> bool:
    """Whether a figure without a metric is about speed: by its form, or the words beside it."""
    if OF_A_THING.search(text[max(0, claim.start - 40) : claim.start]):
        return False
    if claim.rule in {"faster_percent", "faster_factor", "slower_percent", "slower_factor"}:
        return True
    if claim.kind is ClaimKind.ABSOLUTE:
        if claim.unit != "ms" or names & {"TIME", "DECODE", "TP"} or block.kind is BlockKind.CELL:
            return True
        return PER_TOKEN.search(block.text) is not None
    if claim.rule == "share" and not names & {"TIME", "RATE"}:
        return OF_THE_TIME.search(claim.text) is not None or "as long" in claim.text
    if names & {"FASTER", "TIME", "RATE"}:
        return not OF_SOMETHING.match(text, claim.end)
    if claim.rule != "factor" or OF_SOMETHING.match(text, claim.end):
        return False
    concluded = clause.opener in {"so", "hence", "thus", "therefore", "which", "i.e.", ":"}
    return (
        concluded
        or bool(names & {"HOPED", "TRANSFER", "SINGLE", "DECODE", "SPEC"})
        or block.kind is not BlockKind.PARAGRAPH
    )


def _is_said_bound(text: str, start: int, end: int) -> bool:
    """Whether a clause says that something is bound by arithmetic, and does not only name it."""
    if OTHER_SIDE.search(text[:start]):
        return False
    names_it = text[start:end].lower().endswith(("bound", "limited", "intensive"))
    return not names_it or COPULA.search(text[:start]) is not None


def _about_resources(clause: Clause, text: str, names: set[str]) -> Iterator[Effect]:
    """What a clause says of bytes, arithmetic and the cache, other than speed."""
    bound = next((tag for tag in clause.tags if tag.name == "BOUND_COMPUTE"), None)
    about_math = bool(names & {"FLOPS", "PEAK", "MATMUL"})
    wait = COMPUTE_WAIT.search(text) if about_math else None
    skipped = ZEROS_SKIPPED.search(text) if "PRUNE" in names else None
    if skipped is not None:
        yield Effect(Kind.SAVING, clause.start + skipped.start(), clause.start + skipped.end())
    decides = DECIDES.search(text) if names & {"ATTN", "ACTQ"} else None
    if decides is not None and names & {"TIME", "RATE", "DECODE"}:
        yield Effect(Kind.DRIVER, clause.start + decides.start(), clause.start + decides.end())
    driver = NOT_BYTES_BUT_MATH.search(text) or (
        DRIVEN.search(text) if names & {"RATE", "TIME", "DECODE", "SINGLE"} else None
    )
    memory = next((tag for tag in clause.tags if tag.name == "BOUND_MEMORY"), None)
    if bound is not None and _is_said_bound(
        text, bound.start - clause.start, bound.end - clause.start
    ):
        yield Effect(Kind.BOUND, bound.start, bound.end)
    elif wait is not None:
        yield Effect(Kind.BOUND, clause.start + wait.start(), clause.start + wait.end())
    elif driver is not None:
        yield Effect(Kind.BOUND, clause.start + driver.end() - 1, clause.start + driver.end())
    elif memory is not None and NOT_BEFORE.search(text[: memory.start - clause.start]):
        yield Effect(Kind.BOUND, clause.start, clause.start + 1)
    used = UTILISATION.search(text)
    if used is not None and names & {"PEAK", "DECODE", "FLOPS"}:
        share = float(used["low"] or used["other"]) / 100.0
        yield Effect(
            Kind.UTILISATION, clause.start + used.start(), clause.start + used.end(), share
        )
    saved = _saving(clause, text)
    if saved is not None and skipped is None:
        yield saved
    free = next((tag for tag in clause.tags if tag.name == "FREE"), None)
    if free is not None:
        yield Effect(Kind.FREE, free.start, free.end)
    if "KV" in names or "LONG" in names or names & {"RATE", "DECODE", "TIME"}:
        ignored = KV_IGNORED.search(text)
        if ignored is not None:
            yield Effect(
                Kind.KV_IGNORED, clause.start + ignored.start(), clause.start + ignored.end()
            )
    if "KV" in names and "FLOPS" not in names and (grown := QUADRATIC.search(text)) is not None:
        yield Effect(Kind.KV_SQUARE, clause.start + grown.start(), clause.start + grown.end())
    if (read := READS.search(text)) is not None and names & {"DECODE", "ROUTE"}:
        yield Effect(Kind.READS, clause.start + read.start(), clause.start + read.end())
    if (fits := FITS.search(text)) is not None:
        yield Effect(Kind.FITS, clause.start + fits.start(), clause.start + fits.end())
    if "PEAK" in names and "dense" in text.lower() and (peak := SOME_PEAK.search(text)) is not None:
        yield Effect(Kind.PEAK, clause.start + peak.start(), clause.start + peak.end())
    if SOME_AMOUNT.search(text) is not None:
        yield Effect(Kind.AMOUNT, clause.start, clause.start + 1)
    if names & {"PEAK", "CAPACITY"} and (advice := ADVICE.search(text)) is not None:
        yield Effect(Kind.ADVICE, clause.start + advice.start(), clause.start + advice.end())
    of_speed = names & {"RATE", "TIME", "DECODE", "TOKENS", "SINGLE", "LONG", "KV", "FASTER"}
    if of_speed and (same := SAME_AS_SHORT.search(text)) is not None:
        yield Effect(Kind.KV_IGNORED, clause.start + same.start(), clause.start + same.end())
    over = OVER_ALL.search(text)
    if over is not None:
        yield Effect(
            Kind.OVER_ALL,
            clause.start + over.start(),
            clause.start + over.end(),
            float(over[1]) / 100.0,
        )


def _tpot(claim: Claim, text: str) -> float | None:
    """Time per token of an absolute claim, in ms."""
    if claim.value is None or claim.value <= 0:
        return None
    low = claim.value_low or claim.value
    high = claim.value_high or claim.value
    if claim.unit == "ms":
        if PER_PIECE.search(text[claim.end : claim.end + 24]):
            return None
        return high if claim.metric in {Metric.TPOT, Metric.LATENCY, Metric.UNKNOWN} else None
    return 1e3 / low if claim.unit == "tokens/s" else None


def _bare_cell(block: Block, clause: Clause) -> Effect | None:
    """A number in a column of rates or times, against the first row where that is a baseline."""
    if block.kind is not BlockKind.CELL or not block.row:
        return None
    match = NUMBER_ALONE.fullmatch(block.text)
    if match is None:
        return None
    column = block.column.lower()
    value = float(match[1].replace(",", ""))
    is_rate = re.search(r"tok(?:en)?s?\s?(?:/|per )\s?s", column) is not None
    is_time = (
        re.search(r"\bms\b", column) is not None and PER_TOKEN_COLUMN.search(column) is not None
    )
    if value <= 0 or not (is_rate or is_time):
        return None
    tpot = 1e3 / value if is_rate else value
    index = block.columns.index(block.column) if block.column in block.columns else 0
    first = NUMBER_ALONE.fullmatch(block.above[index]) if index < len(block.above) else None
    speedup = None
    if first is not None and BASE_ROW.search(block.above[0]):
        base = float(first[1].replace(",", ""))
        if base > 0:
            speedup = value / base if is_rate else base / value
    kind = Kind.GAIN if speedup is not None and speedup > 1.02 else Kind.FIGURE
    aggregate = re.search(r"aggregate|total|overall|throughput|all ", column) is not None
    return Effect(kind, clause.start, clause.end, speedup, tpot, is_aggregate=aggregate)


def _signed(block: Block, sentence: Sentence, clause: Clause) -> Effect | None:
    """A change with a sign beside its metric: "-37% ms/token", "TPOT: -25%", a cell "2.0x"."""
    text = block.text[clause.start : clause.end]
    names = {tag.name for tag in sentence.tags}
    if block.kind is BlockKind.CELL:
        from advisor.prose.lexicon import terms  # noqa: PLC0415 - cells only
        from advisor.prose.tagging import names as names_of  # noqa: PLC0415
        from advisor.prose.tagging import tags_of, words_of  # noqa: PLC0415

        names |= names_of(tags_of(block.column, words_of(block.column), terms()))
        factor = BARE_FACTOR.match(text)
        if (
            factor is not None
            and float(factor[1]) > 1.02
            and names & {"FASTER", "TIME", "RATE", "DECODE", "UP"}
        ):
            start = clause.start + factor.start(1)
            return Effect(Kind.GAIN, start, clause.start + factor.end(), float(factor[1]))
    match = SIGNED_PERCENT.search(text)
    if match is None or not names & {"TIME", "RATE"}:
        return None
    part = float(match[2]) / 100.0
    down = match[1] != "+"
    start, end = clause.start + match.start(), clause.start + match.end()
    if "TIME" in names and down and part < 1.0:
        return Effect(Kind.GAIN, start, end, 1.0 / (1.0 - part))
    if "RATE" in names and "TIME" not in names and not down:
        return Effect(Kind.GAIN, start, end, 1.0 + part)
    return None


def _saving(clause: Clause, text: str) -> Effect | None:
    """Fewer bytes, said as such: "removes 40% of the weight traffic", "has to fetch half of"."""
    pair = _near(clause.tags, "DOWN", ("BYTES",))
    if pair is not None:
        return Effect(Kind.SAVING, pair[0].start, max(pair[0].end, pair[1].end))
    read = next((tag for tag in clause.tags if tag.name == "BYTES"), None)
    if read is None or SAME_BYTES.search(text):
        return None
    if FRACTION.search(text) or LESS_OF.search(text):
        return Effect(Kind.SAVING, read.start, read.end)
    return None


def _part_of_time(clause: Clause, text: str) -> Effect | None:
    """An eighth of the latency, half the time, 25% of the time."""
    kinds = {tag.name for tag in clause.tags}
    off = OFF_THE_TIME.search(text) if "TIME" in kinds else None
    if off is not None and float(off[1]) < 100:
        start, end = clause.start + off.start(), clause.start + off.end()
        return Effect(Kind.GAIN, start, end, 1.0 / (1.0 - float(off[1]) / 100.0))
    changed = BECOMES.search(text)
    if changed is not None and float(changed[2]) > 0:
        factor = float(changed[1]) / float(changed[2])
        kind = Kind.GAIN if factor > 1 else Kind.LOSS
        return Effect(kind, clause.start + changed.start(), clause.start + changed.end(), factor)
    share = PERCENT_OF_TIME.search(text)
    if share is not None and float(share[1]) > 0 and TAKES.search(text[: share.end()]):
        start, end = clause.start + share.start(), clause.start + share.end()
        return Effect(Kind.GAIN, start, end, 100.0 / float(share[1]))
    fallen = TO_A_PART.search(text) if "TIME" in kinds else None
    if fallen is not None and kinds.isdisjoint({"RATE", "THROUGHPUT"}):
        start, end = clause.start + fallen.start("part"), clause.start + fallen.end()
        return Effect(Kind.GAIN, start, end, PARTS[fallen["part"].lower()])
    part = FRACTION.search(text)
    if part is None or SAME_BYTES.search(text):
        return None
    start = clause.start + part.start("part")
    for tag in clause.tags:
        if tag.name in {"TIME", "DECODE"} and 0 <= tag.start - start <= 48:
            return Effect(Kind.GAIN, start, tag.end, PARTS[part["part"].lower()])
    if OF_THE_TIME.match(text, part.end()):
        return Effect(Kind.GAIN, start, start + 4, PARTS[part["part"].lower()])
    return None


def _times_the_rate(clause: Clause, text: str, names: set[str]) -> Effect | None:
    """Eight times the decode speed; the same 2x applies to the latency."""
    fast = AS_FAST.search(text)
    if fast is not None and "SLOWER" not in names:
        word = (fast["times"] or "two").lower()
        factor = NUMBER_WORDS.get(word) or float(word)
        if 1.02 < factor <= _LARGEST_FACTOR:
            return Effect(Kind.GAIN, clause.start + fast.start(), clause.start + fast.end(), factor)
    match = TIMES.search(text) or FACTOR_OF.search(text)
    if match is None or not names & {"RATE", "TIME", "FASTER"}:
        return None
    times = match["times"].lower()
    factor = NUMBER_WORDS.get(times) or float(times)
    if factor <= 1.02 or factor > _LARGEST_FACTOR or "SLOWER" in names:
        return None
    return Effect(Kind.GAIN, clause.start + match.start(), clause.start + match.end(), factor)


def _worded(text: str, clause: Clause) -> Effect | None:
    """An effect without a figure: "faster", "lower latency", "raises tokens/s"."""
    tags = clause.tags
    slower = next((tag for tag in tags if tag.name == "SLOWER"), None)
    faster = next((tag for tag in tags if tag.name == "FASTER"), None)
    if faster is not None:
        return Effect(Kind.GAIN, faster.start, faster.end)
    if slower is not None:
        return Effect(Kind.LOSS, slower.start, slower.end)
    pair = _near(tags, "DOWN", ("TIME",)) or _near(tags, "UP", ("RATE",))
    if pair is not None:
        factor = VERBS.get(text[pair[0].start : pair[0].start + 4].lower())
        end = max(pair[0].end, pair[1].end)
        return Effect(Kind.GAIN, pair[0].start, end, factor, metric=pair[1].start)
    pair = _near(tags, "UP", ("TIME",)) or _near(tags, "DOWN", ("RATE",))
    if pair is not None:
        return Effect(Kind.LOSS, pair[0].start, max(pair[0].end, pair[1].end))
    helped = _helped(text, clause)
    if helped is not None:
        return helped
    pair = _near(tags, "UP", ("THROUGHPUT",))
    if pair is not None:
        return Effect(Kind.GAIN, pair[0].start, pair[0].end, is_aggregate=True)
    return None


_HELPED: Final = 4
"""Words between a word for help and what it helps."""


def _helped(text: str, clause: Clause) -> Effect | None:
    """Something helps decode, or products with one row."""
    kinds = {tag.name for tag in clause.tags}
    if "HELP" not in kinds or NOT_ALL.search(text, clause.start, clause.end) is not None:
        return None
    if any(tag.name in {"PREFILL", "THROUGHPUT", "LARGE_BATCH"} for tag in clause.tags):
        return None
    for tag in (tag for tag in clause.tags if tag.name == "HELP"):
        row = ONE_ROW.search(text, tag.end, min(clause.end, tag.end + 40))
        near = [
            other for other in clause.tags
            if other.name in {"DECODE", "SINGLE"} and 0 <= other.first - tag.last <= _HELPED
        ]  # fmt: skip
        if row is not None or near:
            return Effect(Kind.GAIN, tag.start, tag.end)
    return None


def _near(tags: Sequence[Tag], change: str, metrics: Sequence[str]) -> tuple[Tag, Tag] | None:
    """A change and a metric within reach of each other."""
    changes = [tag for tag in tags if tag.name == change]
    for metric in (tag for tag in tags if tag.name in metrics):
        for tag in changes:
            gap = metric.first - tag.last if metric.first >= tag.last else tag.first - metric.last
            if gap <= _REACH:
                return tag, metric
    return None
