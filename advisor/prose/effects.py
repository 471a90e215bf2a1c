"""Effects: clauses in which something gets faster or slower, has a rate, or waits for something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.claims import Claim, Metric, Stream, parse_claim
from advisor.claims import Kind as ClaimKind
from advisor.forms import Form
from advisor.limits import may_name_a_limit
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.cache_patterns import CELL_IGNORED, LENGTHS
from advisor.prose.carried_gains import saved_as_time
from advisor.prose.cells import bare_cell, of_token_in_lead
from advisor.prose.demands import demanded
from advisor.prose.gain_forms import AGAIN
from advisor.prose.gains import (
    LARGEST_FACTOR,
    arrowed,
    is_how_often,
    part_of_time,
    signed,
    times_the_rate,
    worded_gain,
)
from advisor.prose.lengths import is_length
from advisor.prose.model import Effect, Kind
from advisor.prose.pairs import pairs_in
from advisor.prose.patterns import (
    A_PART,
    FIGURE,
    NUMBER_WORDS,
    OF_A_THING,
    OF_AN_ERRAND,
    OF_PROMPT,
    OF_SOMETHING,
    OF_THE_TIME,
    OF_WHICH,
    OFTEN,
    PARTS,
    PER_PIECE,
    PER_TOKEN,
    SAVED_EACH,
    SOME_DIGIT,
    TAKES,
)
from advisor.prose.portions import is_left, portion
from advisor.prose.premises import premise_in
from advisor.prose.resource_effects import resource_effects
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.serving import divided, serving_effects

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
        "UP",
        "IMPROVED",
        "DOWN",
        "FREE",
        "BYTES",
        "KV",
        "FLOPS",
        "PEAK",
        "MATMUL",
        "ROUTE",
        "MOE",
        "ALWAYS",
        "LONG",
        "OFFLOAD",
        "WEIGHTS",
        "DECODE",
    ]
)


def effects_of(
    block: Block, sentence: Sentence, *, topical: bool = False, of_decode: bool = False
) -> list[tuple[Clause, Effect]]:
    """The effects in a sentence, at most one of a kind in a clause.

    In a `topical` one something of serving was named near by; near one `of_decode` its tokens.
    """
    has_figure = FIGURE.search(sentence.text) is not None
    if (
        not topical
        and not (block.kind is BlockKind.CELL and SOME_DIGIT.search(sentence.text))
        and not (block.kind is BlockKind.CELL and CELL_IGNORED.fullmatch(block.text))
        and _TRIGGERS.isdisjoint(sentence.names)
        and "ontext" not in sentence.text
        and LENGTHS.search(sentence.text) is None
        and not has_figure
        and " as fast " not in sentence.text
        and sentence.names.isdisjoint({"HELP", "ACTQ", "PRUNE", "MASK", "TRANSFER", "S24"})
        and not (of_decode and may_name_a_limit(sentence.text))
        and not ("TOKENS" in sentence.names and is_left(sentence.text))
        and premise_in(sentence.text) is None
    ):
        return []
    claims = _claims(sentence) if has_figure else []
    counts = SOME_DIGIT.search(sentence.text) is not None or any(
        word.folded in _COUNTING for word in sentence.words
    )
    found: list[tuple[Clause, Effect]] = []
    for clause in sentence.clauses:
        own = [claim for claim in claims if clause.start <= _middle(claim, sentence) < clause.end]
        told = _Told(own, _pair_in(sentence, clause, topical), counts=counts, topical=topical)
        found.extend((clause, effect) for effect in _in_clause(block, sentence, clause, told))
    return _without_labels(sentence, found)


def _without_labels(
    sentence: Sentence, found: list[tuple[Clause, Effect]]
) -> list[tuple[Clause, Effect]]:
    """Effects, without that of a label whose own text tells it: "Speed boost: 2x over ..."."""
    if len(found) < _LABEL_AND_TEXT:
        return found
    first = sentence.clauses[0]
    within, effect = found[0]
    told = any(clause.opener == ":" and other.kind is effect.kind for clause, other in found[1:])
    words = sum(1 for word in sentence.words if word.start < first.end)
    is_label = within == first and effect.speedup is None and words <= _LONGEST_LABEL
    return found[1:] if told and is_label and effect.kind is Kind.GAIN else found


_LABEL_AND_TEXT: Final = 2
_LONGEST_LABEL: Final = 3
_COUNTING: Final = frozenset({*PARTS, *NUMBER_WORDS, "twice"})
"""Words without which, and without a digit, a sentence tells no amount."""


class _Told(NamedTuple):
    """What a sentence tells of the amounts in one of its clauses."""

    claims: Sequence[Claim]
    pair: Effect | None
    counts: bool
    """Whether there is an amount at all."""
    topical: bool


def _pair_in(sentence: Sentence, clause: Clause, topical: bool) -> Effect | None:
    """Two figures of tokens, before and after, that begin in a clause.

    Where a lever is named, an arrow between times or rates is enough: "FP8 weights: 19 -> 7 ms".
    """
    if SOME_DIGIT.search(sentence.text) is None:
        return None
    if sentence.names.isdisjoint(_OF_TOKENS) and not (
        topical and _TIMES_ARROW.search(sentence.text) is not None
    ):
        return None
    for pair in pairs_in(sentence.text):
        start, end = sentence.start + pair.start, sentence.start + pair.end
        if clause.start <= start < clause.end:
            prefill = _nearest_phase(clause, start) == "PREFILL" or (
                _OF_PROMPT_TEST.search(sentence.text, 0, pair.start) is not None
            )
            kind = Kind.GAIN if pair.factor > 1.0 else Kind.LOSS
            return Effect(kind, start, end, pair.factor, pair.tpot_ms, is_prefill=prefill)
    return None


_OF_PROMPT_TEST: Final = Form(r"\bpp ?\d{2,5}\b(?![^.;]*\b(?:tg|decod|generat))")
"""The name of a test of prompts, and none of a test of tokens after it."""
_OF_TOKENS: Final = frozenset({"TIME", "RATE", "DECODE", "TOKENS", "SINGLE"})
_TIMES_ARROW: Final = re.compile(r"\d ?(?:ms )?(?:->|→|=>|-->) ?\d[\d.]* ?(?:ms\b|t/s|tok)")


def _nearest_phase(clause: Clause, at: int) -> str | None:
    """The phase by the words of a clause that stand nearest to a place, those before it first."""
    told = [tag for tag in clause.tags if tag.name in {"PREFILL", "DECODE"}]
    before = [tag for tag in told if tag.start < at]
    return before[-1].name if before else told[0].name if told else None


def _of_prompt(text: str, clause: Clause, start: int) -> bool:
    """Whether the words right before a rate say that it is one of the prompt."""
    named = OF_PROMPT.search(text, max(clause.start, start - 32), start)
    if named is None or is_length(text, named.start()):
        return False
    return _OF_ONE_BEFORE.search(text, clause.start, named.start()) is None


_OF_ONE_BEFORE: Final = Form(
    r"(?:\bt|tok\w*)/s(?:ec)?(?: (?:for|in|on|at|of|with|during))?(?: the)? $"
)
"""A rate right before the words for a prompt, which are said of it: "3,900 t/s for PP, 95 ..."."""


def _middle(claim: Claim, sentence: Sentence) -> int:
    """Where a claim stands: where its number does, if a label stands before it: "ITL: 8 ms"."""
    labelled = _LABELLED.search(claim.text)
    if labelled is not None and claim.kind is ClaimKind.ABSOLUTE:
        return sentence.start + claim.start + labelled.start(1)
    return sentence.start + (claim.start + claim.end) // 2


_LABELLED: Final = re.compile(r"^\D{2,60}: \D{0,12}?(\d)[^→>]*$")


@lru_cache(maxsize=8192)
def _claims_in(text: str) -> tuple[Claim, ...]:
    return parse_claim(text).claims


def _claims(sentence: Sentence) -> list[Claim]:
    return [
        claim for claim in _claims_in(sentence.text)
        if claim.metric in _SPEED_METRICS or claim.metric is Metric.TTFT
    ]  # fmt: skip


def _in_clause(block: Block, sentence: Sentence, clause: Clause, told: _Told) -> Iterator[Effect]:
    pair = told.pair
    text = block.text[clause.start : clause.end]
    names = {tag.name for tag in (*clause.subject, *clause.tags)}
    yield from resource_effects(block, sentence, clause, names)
    yield from demanded(text, clause)
    if told.topical:
        yield from serving_effects(block.text, clause, text, names)
    worded = worded_gain(block.text, clause)
    best = pair
    of_prompts = False
    """Whether the best so far is told of prompts, beside one of tokens: "1.9x PP and 1.1x TG"."""
    for claim in told.claims:
        if (
            pair is not None
            and pair.start < sentence.start + claim.end
            and (sentence.start + claim.start < pair.end)
        ):
            continue
        if claim.metric is Metric.UNKNOWN and not _is_about_speed(
            claim, sentence.text, clause, names, block
        ):
            continue
        if OFTEN.search(claim.text) and not TAKES.search(
            sentence.text[max(0, claim.start - 24) : claim.end]
        ):
            continue
        if claim.rule == "factor" and is_how_often(sentence.text, claim.start, claim.end):
            continue
        if _DIFFERS.search(sentence.text, max(0, claim.start - 40), claim.end):
            continue
        start = sentence.start + claim.start
        end = sentence.start + claim.end
        if claim.negated and (number := SOME_DIGIT.search(claim.text)) is not None:
            start += number.start()  # "decoding cannot get the same 2x": the negation comes first
        absolute = claim.kind is ClaimKind.ABSOLUTE
        labelled = not absolute and _FOR_PROMPTS.match(sentence.text, claim.end) is not None
        prefill = (
            claim.metric is Metric.TTFT
            or labelled
            or (absolute and _of_prompt(block.text, clause, start))
        )
        aggregate = claim.stream is Stream.AGGREGATE or claim.metric is Metric.THROUGHPUT
        single = claim.stream is Stream.SINGLE
        low = claim.speedup_low or claim.speedup
        tpot = _tpot(claim, sentence.text) if absolute else None
        if low is not None and abs(low - 1.0) > 0.02 and low < LARGEST_FACTOR:
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
            if best is None or of_prompts or (low > (best.speedup or 0.0) and not labelled):
                best, of_prompts = effect, labelled
        elif tpot is not None:
            if worded is not None and worded.kind is Kind.GAIN and best is None:
                best = Effect(Kind.GAIN, start, end, None, tpot, aggregate, single, prefill)
            else:
                yield Effect(Kind.FIGURE, start, end, None, tpot, aggregate, single, prefill)
    halved = portion(clause, text) if best is None or best.kind is Kind.LOSS else None
    best = halved or best
    if best is None or best.kind is Kind.LOSS:
        best = saved_as_time(block.text, clause) or best
    if best is not None:
        yield best
        return
    yield from _bench_rates(text, clause)
    yield from _under_label(block.text, sentence, clause)
    amount = _amount(block, sentence, clause, names) if told.counts else None
    amount = amount or _labelled(sentence, clause, text)
    other = amount or divided(clause, text, names) or worded
    if other is not None and not _DIFFERS.search(block.text, clause.start, other.end):
        yield other


_FOR_PROMPTS: Final = Form(
    r" (?:faster )?(?:on |in |for )?(?:the )?(?:pp\d*|prefills?|prompts?|prompt processing|ttft)\b"
    r"(?:[^.;]|\.(?=\d)){0,40}?\d ?[x×] (?:faster )?(?:on |in |for )?(?:the )?(?:tg\d*|decod\w*"
    r"|generation)\b"
)
"""After a factor: it is that of prompts, and the next one that of tokens."""
_DIFFERS: Final = Form(
    r"\b(?:differ(?:s|ed|ing)?|var(?:y|ies|ied)|disagree[sd]?|deviat(?:es?|ed)|diverge[sd]?)\b"
    r"[^.;:,]{0,40}?(?:$|\d|fold\b|times\b|factor\b)"
)
"""Two things told apart, of which neither changes."""
_BENCH: Final = Form(
    r"\btg\d{1,4}(?: ?@ ?d\d+)?(?: ?[:=] ?| )(?P<rate>\d{1,4}(?:\.\d+)?)\b(?![\d.,]*(?: ?(?:tok"
    r"|t/s|->"
    r"|→|%|x)"
    r"|\d))"
)


_BARE_FACTOR: Final = Form(r"\W*(?:a )?(?:factor (?:of )?|×|x ?)(?P<factor>\d{1,3}(?:\.\d+)?)\W*$")


def _labelled(sentence: Sentence, clause: Clause, text: str) -> Effect | None:
    """A factor after the label that says of what: "effect on the response rate: factor 3"."""
    if clause.opener != ":":
        return None
    again = AGAIN.match(text) if not sentence.names.isdisjoint({"QUANT", "ACTQ"}) else None
    if again is not None and float(again["factor"]) > 1.02:
        return Effect(Kind.GAIN, clause.start, clause.end, float(again["factor"]))
    if sentence.names.isdisjoint({"RATE", "TIME"}):
        return None
    match = _BARE_FACTOR.match(text)
    if match is None or not 1.02 < float(match["factor"]) < LARGEST_FACTOR:
        return None
    return Effect(Kind.GAIN, clause.start, clause.end, float(match["factor"]))


def _bench_rates(text: str, clause: Clause) -> Iterator[Effect]:
    """Rates as llama-bench names them, without a unit: "tg128 11.2"."""
    for match in _BENCH.finditer(text) if "tg" in text else ():
        rate = float(match["rate"])
        if rate > 0:
            start, end = clause.start + match.start(), clause.start + match.end()
            yield Effect(Kind.FIGURE, start, end, None, 1e3 / rate)


_LABEL_WITH_UNIT: Final = Form(
    r"(?:\b(?:tpot|itl|tbt|inter-?token (?:latency|gap)|(?:time|latency) per (?:output )?token)"
    r" \(ms\) ?[:=] ?(?P<ms>\d[\d,]*(?:\.\d+)?)"
    r"|\b(?:tok(?:en)?s?/s(?:ec)?|t/s|tokens per second)\)? ?[:=] ?(?P<rate>\d[\d,]*(?:\.\d+)?))"
    r"(?![\d.,]*(?: ?(?:%|x\b|->|→)|\d))"
)
"""A figure whose unit stands in its label: "TPOT (ms): 5", "output speed (tok/s): 200"."""


def _under_label(text: str, sentence: Sentence, clause: Clause) -> Iterator[Effect]:
    if clause.opener != ":" or sentence.names.isdisjoint({"TIME", "RATE", "DECODE", "TOKENS"}):
        return
    for match in _LABEL_WITH_UNIT.finditer(text, sentence.start, clause.end):
        group = "ms" if match["ms"] is not None else "rate"
        value = float(match[group].replace(",", ""))
        if value > 0 and match.start(group) >= clause.start:
            prefill = _of_prompt_label(text, match.start())
            tpot = value if group == "ms" else 1e3 / value
            yield Effect(
                Kind.FIGURE, match.start(group), match.end(), None, tpot, is_prefill=prefill
            )


def _of_prompt_label(text: str, end: int) -> bool:
    return OF_PROMPT.search(text, max(0, end - 32), end) is not None


def _amount(block: Block, sentence: Sentence, clause: Clause, names: set[str]) -> Effect | None:
    """An effect with its amount, in one of the forms that are no claims by themselves."""
    text = block.text[clause.start : clause.end]
    return (
        bare_cell(block, clause)
        or arrowed(block, sentence, clause)
        or signed(block, sentence, clause)
        or part_of_time(clause, text)
        or times_the_rate(clause, text, names)
    )


_ROW_OF_FIGURES: Final = Form(r"(?:\d[\d.]*%?(?: ?[a-zA-Z/]{1,5})?, ){3,}$")
"""Figures of several kinds in a row, which only show how figures are written."""


_SIZE_COLUMN: Final = Form(
    r"^(?!.*(?:speed|faster|throughput|latency|tok\w*/|rate of|time))"
    r".*(?:\bcompress\w*|\bsizes?\b|\bfootprint\b|\bsmaller\b|\bdisk\b|\bstorage\b|\bsavings?\b)"
)
"""The header of a column of factors that are of sizes: "compression rate"."""


def _is_about_speed(claim: Claim, text: str, clause: Clause, names: set[str], block: Block) -> bool:
    """Whether a figure without a metric is about speed: by its form, or the words beside it."""
    before = text[max(0, claim.start - 40) : claim.start]
    if OF_A_THING.search(before) or OF_AN_ERRAND.search(before) or _ROW_OF_FIGURES.search(before):
        return False
    if claim.rule in {"faster_percent", "faster_factor", "slower_percent", "slower_factor"}:
        return True
    if block.kind is BlockKind.CELL and _SIZE_COLUMN.search(block.column) is not None:
        return False
    if claim.kind is ClaimKind.ABSOLUTE:
        if claim.unit != "ms" or names & {"TIME", "DECODE", "TP"} or block.kind is BlockKind.CELL:
            return True
        return PER_TOKEN.search(block.text) is not None or of_token_in_lead(block)
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


_LEAST_MS: Final = 0.1
"""No model writes a token in less, without a word that says that it does."""


def _tpot(claim: Claim, text: str) -> float | None:
    """Time per token of an absolute claim, in ms."""
    if claim.value is None or claim.value <= 0:
        return None
    low = claim.value_low or claim.value
    high = claim.value_high or claim.value
    if claim.unit == "ms":
        if high < _LEAST_MS and claim.metric is not Metric.TPOT:
            return None  # of an exchange, a kernel, a launch
        if (
            PER_PIECE.search(text[claim.end : claim.end + 24])
            or OF_WHICH.search(text[max(0, claim.start - 32) : claim.end])
            or A_PART.match(text, claim.end)
            or SAVED_EACH.search(text, 0, claim.start)
        ):
            return None
        return high if claim.metric in {Metric.TPOT, Metric.LATENCY, Metric.UNKNOWN} else None
    return 1e3 / low if claim.unit == "tokens/s" else None
