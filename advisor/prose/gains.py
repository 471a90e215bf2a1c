"""Gains and losses of speed by their wording: figures with a sign, parts of a time, verbs."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from advisor.forms import Form
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.carried_gains import carried_gain
from advisor.prose.changes import change_near, is_contrasted, is_of_time
from advisor.prose.gain_forms import (
    ANOTHER,
    AS_FAST,
    BARE_FACTOR,
    BEATS_BY,
    BECOMES,
    FACTOR_OF,
    FEWER_READ,
    FRACTION,
    GAIN_IN,
    GAINS_FIGURE,
    GONE,
    HALF_SPEED,
    IS_A_PART,
    LESS_OF,
    LESS_TO_READ,
    OF_A_FIGURE,
    OF_PARTS,
    OF_THE_RATE,
    OFF_THE_TIME,
    OUTPACES,
    PART_OF_OLD,
    PERCENT_OF_TIME,
    PRODUCT,
    SAME_BYTES,
    SAVES,
    SAVES_OF_STEP,
    SIGNED_PERCENT,
    SIZE_WHERE,
    SMALLER_SIZE,
    STEP_SHRINKS,
    TIMES,
    TO_A_PART,
    UP_A_PART,
    VERBS,
)
from advisor.prose.model import Effect, Kind
from advisor.prose.patterns import (
    COMPARED,
    DONE_SO_OFTEN,
    NUMBER_WORDS,
    OF_AN_ERRAND,
    OF_SOMETHING,
    OF_THE_TIME,
    OUT_OF_SO_MANY,
    PARTS,
    SO_OFTEN,
    SOME_DIGIT,
    TAKES,
)
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.tagging import Tag

LARGEST_FACTOR: Final = 500.0
"""Beyond it a number with an x is the name of a part: 7950X."""


def arrowed(block: Block, sentence: Sentence, clause: Clause) -> Effect | None:
    """Two numbers whose metric stands in a label before them: "ms/token, bs 1: 10.4 -> 5.9"."""
    match = _ARROW.search(block.text, clause.start, clause.end)
    if match is None:
        return None
    label = block.text[sentence.start : match.start()]
    if block.kind is BlockKind.CELL:
        label = f"{block.row} {block.column} {label}"
    before, after = float(match[1].replace(",", "")), float(match[2].replace(",", ""))
    is_time = LABEL_TIME.search(label) is not None
    is_rate = LABEL_RATE.search(label) is not None
    of_prompt = not (is_time or is_rate) and _LABEL_PROMPT.search(label) is not None
    if is_time == (is_rate or of_prompt) or min(before, after) <= 0:
        return None
    factor = before / after if is_time else after / before
    if not 1.0 / LARGEST_FACTOR < factor < LARGEST_FACTOR or abs(factor - 1.0) <= SAME:
        return None
    in_ms = re.search(r"\bms\b|milliseconds", label, re.IGNORECASE) is not None
    tpot = after if is_time and in_ms else 1e3 / after if is_rate else None
    kind = Kind.GAIN if factor > 1.0 else Kind.LOSS
    return Effect(kind, match.start(), match.end(), factor, tpot, is_prefill=of_prompt)


SAME: Final = 0.02
_ARROW: Final = re.compile(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?(?:->|→|=>|⇒|➜|-->) ?~?(\d[\d,]*(?:\.\d+)?)(?![\w%.]*[x×%\d])"
)
LABEL_TIME: Final = Form(
    r"\bms ?(?:/|per|a) ?tok|\b(?:tpot|itl|tbt)\b|time per (?:output )?token"
    r"|(?:inter-?token|token|decode) latency|ms per (?:step|decode)",
)
_LABEL_PROMPT: Final = Form(r"\bpp ?\d+\W*$|\bprompt (?:eval|processing|speed)\b[^.;]{0,12}$")
"""A rate of the prompt, as benchmarks of llama.cpp name it: "pp512 1450 -> 2900"."""
LABEL_RATE: Final = Form(
    r"\btok(?:en)?s?(?:/| per | a )s|\bt/s\b|\btps\b|decode (?:speed|rate)",
)


_SOME: Final = r"(?:about |around |roughly |some |~ ?|≈ ?)?"
_IN_A_CELL: Final = Form(
    rf"\W*(?:down {_SOME}(?P<down>\d{{1,2}}(?:\.\d+)?) ?%"
    rf"|up {_SOME}(?P<up>\d{{1,3}}(?:\.\d+)?) ?%)\W*$"
)
"""A change in words, which is all that a cell holds: "down 25%"."""


def signed(block: Block, sentence: Sentence, clause: Clause) -> Effect | None:
    """A change with a sign beside its metric: "-37% ms/token", "TPOT: -25%", a cell "2.0x"."""
    text = block.text[clause.start : clause.end]
    is_cell = block.kind is BlockKind.CELL
    factor = BARE_FACTOR.match(text) if is_cell else None
    worded = _IN_A_CELL.match(text) if is_cell else None
    match = worded or SIGNED_PERCENT.search(text) if "%" in text else None
    if factor is None and match is None:
        return None
    names = set(sentence.names)
    if is_cell:
        from advisor.prose.lexicon import terms  # noqa: PLC0415 - cells only
        from advisor.prose.tagging import names as names_of  # noqa: PLC0415
        from advisor.prose.tagging import tags_of, words_of  # noqa: PLC0415

        names |= names_of(tags_of(block.column, words_of(block.column), terms()))
    if (
        factor is not None
        and float(factor[1]) > 1.02
        and names & {"FASTER", "TIME", "RATE", "DECODE", "UP"}
    ):
        start = clause.start + factor.start(1)
        return Effect(Kind.GAIN, start, clause.start + factor.end(), float(factor[1]))
    if match is None or not names & {"TIME", "RATE", "SINGLE", "DECODE"}:
        return None
    if worded is not None:
        part, down = float(worded["down"] or worded["up"]) / 100.0, worded["down"] is not None
    else:
        part, down = float(match[2]) / 100.0, match[1] != "+"
    start, end = clause.start + match.start(), clause.start + match.end()
    if "RATE" not in names and down and part < 1.0:
        return Effect(Kind.GAIN, start, end, 1.0 / (1.0 - part))
    if "RATE" in names and "TIME" not in names and not down:
        return Effect(Kind.GAIN, start, end, 1.0 + part)
    return None


_NONE_SAVED: Final = Form(
    r"\W*(?:(?:so|thus|hence|and|but|therefore|then)\b,? )?(?:no|not a single|zero|without any)"
    r" (?:\w+ ){0,2}?(?:bytes?|traffic|reads?|memory|bandwidth) (?:(?:is|are|was|were"
    r"|gets?) )?saved\b"
)
"""A saving that is denied in a clause without a verb: "No bytes saved"."""


def saving(clause: Clause, text: str, *, pruned: bool) -> Effect | None:
    """Fewer bytes, said as such: "removes 40% of the weight traffic", "has to fetch half of".

    Of pruned weights, fewer bytes held as well: "memory falls by 40%", "turns 14 GB into 7 GB".
    """
    smaller = SMALLER_SIZE.search(text) if pruned else None
    if smaller is not None and float(smaller[2]) < float(smaller[1]):
        return Effect(Kind.SAVING, clause.start + smaller.start(), clause.start + smaller.end())
    fewer = FEWER_READ.search(text) if " GB" in text else None
    if fewer is None and " GB" in text:
        fewer = SIZE_WHERE.search(text)
    if fewer is not None and float(fewer["now"]) < float(fewer["then"]):
        return Effect(Kind.SAVING, clause.start + fewer.start(), clause.start + fewer.end())
    less = LESS_TO_READ.search(text)
    if less is not None:
        return Effect(Kind.SAVING, clause.start + less.start(), clause.start + less.end())
    metrics = ("BYTES", "CAPACITY") if pruned else ("BYTES",)
    pair = change_near(clause.tags, "DOWN", metrics)
    if pair is not None and (
        is_contrasted(text, pair, clause.start)
        or is_of_time(clause.tags, pair)
        or _NONE_SAVED.match(text) is not None
    ):
        return None
    if pair is not None:
        return Effect(Kind.SAVING, pair[0].start, max(pair[0].end, pair[1].end))
    read = next((tag for tag in clause.tags if tag.name == "BYTES"), None)
    if read is None or SAME_BYTES.search(text):
        return None
    if FRACTION.search(text) or LESS_OF.search(text) or PART_OF_OLD.search(text):
        return Effect(Kind.SAVING, read.start, read.end)
    return None


def part_of_time(clause: Clause, text: str) -> Effect | None:
    """An eighth of the latency, half the time, 25% of the time."""
    kinds = {tag.name for tag in (*clause.subject, *clause.tags)}
    of_tokens = kinds & {"TIME", "DECODE", "TOKENS", "SINGLE", "RATE"}
    slow = HALF_SPEED.search(text) if of_tokens else None
    if slow is not None:
        start, end = clause.start + slow.start(), clause.start + slow.end()
        part = slow["part"]
        left = 1.0 / PARTS[part.lower()] if part else float(slow["percent"]) / 100.0
        return Effect(Kind.LOSS, start, end, left)
    grown = UP_A_PART.search(text) if "RATE" in kinds else None
    if grown is not None:
        start, end = clause.start + grown.start(), clause.start + grown.end()
        return Effect(Kind.GAIN, start, end, 1.0 + 1.0 / PARTS[grown["part"].lower()])
    off = OFF_THE_TIME.search(text) if of_tokens else None
    if off is not None:
        start, end = clause.start + off.start(), clause.start + off.end()
        part = off["part"]
        less = 1.0 / PARTS[part.lower()] if part else float(off["percent"]) / 100.0
        return Effect(Kind.GAIN, start, end, 1.0 / (1.0 - less))
    shrunk = _step_shrinks(clause, text)
    if shrunk is not None:
        return shrunk
    gained = GAIN_IN.search(text) if "%" in text else None
    if gained is not None:
        start, end = clause.start + gained.start(1), clause.start + gained.end()
        return Effect(Kind.GAIN, start, end, 1.0 + float(gained[1]) / 100.0)
    figure = OF_A_FIGURE.search(text)
    if figure is not None:
        start, end = clause.start + figure.start(), clause.start + figure.end()
        factor = _MULTIPLES[figure["verb"].lower()]
        up = factor > 0
        rate = figure["unit"].lower().startswith("t")
        kind = Kind.GAIN if up == rate else Kind.LOSS
        return Effect(kind, start, end, abs(factor) if kind is Kind.GAIN else 1.0 / abs(factor))
    more = ANOTHER.search(text)
    if more is not None and not kinds.isdisjoint(_OF_ANOTHER):
        start, end = clause.start + more.start(1), clause.start + more.end()
        factor = 1.0 + float(more[1]) / 100.0 if more[2] == "%" else float(more[1])
        return Effect(Kind.GAIN, start, end, factor)
    won = GAINS_FIGURE.search(text) if SOME_DIGIT.search(text) is not None else None
    if won is not None and not kinds.isdisjoint({"SINGLE", "DECODE", "RATE"}):
        start, end = clause.start + won.start(1), clause.start + won.end()
        factor = 1.0 + float(won[1]) / 100.0 if won[2] == "%" else float(won[1])
        if factor > 1.0:
            return Effect(Kind.GAIN, start, end, factor)
    changed = BECOMES.search(text) if SOME_DIGIT.search(text) is not None else None
    if changed is not None and float(changed[2]) > 0:
        factor = float(changed[1]) / float(changed[2])
        kind = Kind.GAIN if factor > 1 else Kind.LOSS
        return Effect(kind, clause.start + changed.start(), clause.start + changed.end(), factor)
    share = PERCENT_OF_TIME.search(text) if "%" in text else None
    if share is not None and float(share[1]) > 0 and TAKES.search(text[: share.end()]):
        start, end = clause.start + share.start(), clause.start + share.end()
        return Effect(Kind.GAIN, start, end, 100.0 / float(share[1]))
    fallen = IS_A_PART.search(text) if "TIME" in kinds else None
    if fallen is None and ("TIME" in kinds or " wait" in text):
        fallen = TO_A_PART.search(text)
    if fallen is not None and kinds.isdisjoint({"RATE", "THROUGHPUT"}):
        start, end = clause.start + fallen.start("part"), clause.start + fallen.end()
        return Effect(Kind.GAIN, start, end, PARTS[fallen["part"].lower()])
    if SAME_BYTES.search(text):
        return None
    for part in FRACTION.finditer(text):
        told = _fraction(clause, text, part)
        if told is not None:
            return told
    return None


def _step_shrinks(clause: Clause, text: str) -> Effect | None:
    """A step that gets shorter by a part of itself, or a user who waits less by that."""
    match = STEP_SHRINKS.search(text) or SAVES_OF_STEP.search(text)
    if match is None:
        return None
    told = match.groupdict()
    part, percent = told["part"] or told.get("piece"), told["percent"] or told.get("less")
    less = 1.0 / PARTS[part.lower()] if part else float(percent or 0.0) / 100.0
    start, end = clause.start + match.start(), clause.start + match.end()
    return Effect(Kind.GAIN, start, end, 1.0 / (1.0 - less))


_OF_ANOTHER: Final = frozenset({"QUANT", "ACTQ", "ATTN", "SINGLE", "DECODE", "RATE"})
"""Tokens, and levers of which another gain is one of tokens."""
_MULTIPLES: Final = MappingProxyType(
    {"halv": -2.0, "third": -3.0, "quarter": -4.0, "doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0}
)
"""What a verb multiplies by; negative for a division."""


def _fraction(clause: Clause, text: str, part: re.Match[str]) -> Effect | None:
    """What "a quarter" is said of: a time that is left or saved, or a rate."""
    if OF_PARTS.match(text, part.end()) or _OF_BYTES.match(text, part.end()):
        return None
    if _BEYOND.search(text, 0, part.start("part")) is not None:
        return None  # "well over an eighth of the time" bounds the gain from above
    start, factor = clause.start + part.start("part"), PARTS[part["part"].lower()]
    if OF_THE_RATE.match(text, part.end()) is not None:
        return Effect(Kind.LOSS, start, start + 4, 1.0 / factor)
    for tag in clause.tags:
        if tag.name in {"TIME", "DECODE"} and 0 <= tag.start - start <= _NEAR_CHARACTERS:
            after = GONE.match(text, tag.end - clause.start)
            if tag.name == "TIME" and (after or SAVES.search(text[: part.start("part")])):
                factor = factor / (factor - 1.0)
            return Effect(Kind.GAIN, start, tag.end, factor)
    if OF_THE_TIME.match(text, part.end()):
        return Effect(Kind.GAIN, start, start + 4, factor)
    return None


_OF_BYTES: Final = Form(
    r" of (?:what|that which|all that) [^.;:,]{1,48}?\b(?:reads?|mov(?:es?|ed)|fetch(?:es|ed)?"
    r"|streams?|loads?|holds?|stores?|weighs?|occup(?:y|ies))\b"
)
"""A part of bytes: "a fifth of what a step reads"."""
_BEYOND: Final = Form(
    r"\b(?:over|above|beyond|(?:more|longer|slower) than|far from|nowhere near|exceeds?)"
    r" (?:just |only )?(?:an?|one|the)?\s*$"
)
_NEAR_CHARACTERS: Final = 48
"""Between a part and the time or the tokens that it is a part of."""


_OF_PACE: Final = frozenset({"RATE", "TIME", "FASTER", "DECODE", "SINGLE"})
_MULTIPLYING: Final = Form(r"(?<![\w.])\d[\d.,]*(?: [\w-]+){0,2} $")


def is_how_often(text: str, start: int, end: int) -> bool:
    """Whether a number of times tells how often something is the case, or done."""
    if OUT_OF_SO_MANY.match(text, end) is not None:
        return True
    if "times" not in text[start:end] or COMPARED.match(text, end) is not None:
        return False
    if SO_OFTEN.match(text, end) is not None:
        return True
    return DONE_SO_OFTEN.search(text, max(0, start - _VERB), start) is not None


_VERB: Final = 40
"""Characters before a number in which its verb may stand."""


def times_the_rate(clause: Clause, text: str, names: set[str]) -> Effect | None:
    """Eight times the decode speed; the same 2x applies to the latency."""
    fast = AS_FAST.search(text)
    if fast is not None and "SLOWER" not in names:
        word = (fast["times"] or "two").lower()
        factor = NUMBER_WORDS.get(word) or float(word)
        if 1.02 < factor <= LARGEST_FACTOR:
            return Effect(Kind.GAIN, clause.start + fast.start(), clause.start + fast.end(), factor)
    product = PRODUCT.search(text) if names & {"DECODE", "SINGLE", "RATE", "TIME"} else None
    if product is not None:
        times = product["times"].lower()
        start, end = clause.start + product.start(), clause.start + product.end()
        return Effect(Kind.GAIN, start, end, NUMBER_WORDS.get(times) or float(times))
    beats = BEATS_BY.search(text) if not names.isdisjoint(_OF_PACE) else None
    if beats is not None and (factor := float(beats["factor"] or beats["times"])) > 1.02:
        return Effect(Kind.GAIN, clause.start + beats.start(), clause.start + beats.end(), factor)
    if not names & {"RATE", "TIME", "FASTER", "DECODE"}:
        return None
    match = TIMES.search(text) or FACTOR_OF.search(text)
    if match is None or OF_SOMETHING.match(text, match.end()) is not None:
        return None
    if is_how_often(text, match.start(), match.end()):
        return None
    if _MULTIPLYING.search(text, 0, match.start()) is not None:
        return None  # "94 layers x 4 heads x 128"
    times = (match.groupdict().get("factor") or match["times"]).lower()
    factor = NUMBER_WORDS.get(times) or float(times)
    if factor <= 1.02 or factor > LARGEST_FACTOR or "SLOWER" in names:
        return None
    return Effect(Kind.GAIN, clause.start + match.start(), clause.start + match.end(), factor)


def worded_gain(text: str, clause: Clause) -> Effect | None:
    """An effect without a figure: "faster", "lower latency", "raises tokens/s"."""
    tags = clause.tags
    slower = next((tag for tag in tags if tag.name == "SLOWER" and not _is_long(text, tag)), None)
    faster = next(
        (tag for tag in tags if tag.name == "FASTER" and not _is_no_rate(text, tag)), None
    )
    if faster is not None:
        return Effect(Kind.GAIN, faster.start, faster.end, _told_factor(text, faster))
    if slower is not None:
        return Effect(Kind.LOSS, slower.start, slower.end)
    pair = (
        change_near(tags, "DOWN", ("TIME",))
        or change_near(tags, "UP", ("RATE",))
        or change_near(tags, "IMPROVED", ("TIME", "RATE"))
    )
    if pair is not None and not is_contrasted(text, pair):
        factor = VERBS.get(text[pair[0].start : pair[0].start + 4].lower())
        end = max(pair[0].end, pair[1].end)
        return Effect(Kind.GAIN, pair[0].start, end, factor, metric=pair[1].start)
    pair = change_near(tags, "UP", ("TIME",)) or change_near(tags, "DOWN", ("RATE",))
    if pair is not None:
        return Effect(Kind.LOSS, pair[0].start, max(pair[0].end, pair[1].end))
    carried = carried_gain(text, clause)
    if carried is not None:
        return carried
    beaten = OUTPACES.search(text, clause.start, clause.end)
    if beaten is not None:
        return Effect(Kind.GAIN, *beaten.span())
    if _COSTS_MORE.search(text, clause.start, clause.end) is not None:
        return None
    pair = change_near(tags, "UP", ("THROUGHPUT",)) or change_near(
        tags, "IMPROVED", ("THROUGHPUT",)
    )
    if pair is not None:
        return Effect(Kind.GAIN, pair[0].start, pair[0].end, is_aggregate=True)
    return None


_COSTS_MORE: Final = Form(r"\bcosts? (?:\w+ )?more\b")
_TOLD: Final = Form(
    r"(?P<two>at double|double|twice|half)|(?P<three>triple|three times|third)"
    r"|(?P<four>four times|quarter)|(?P<ten>order of magnitude)"
)
_TOLD_FACTORS: Final = MappingProxyType({"two": 2.0, "three": 3.0, "four": 4.0, "ten": 10.0})


def _told_factor(text: str, faster: Tag) -> float | None:
    """The factor in a term for speed: "double the rate", "half the latency"."""
    match = _TOLD.search(text, faster.start, faster.end)
    return _TOLD_FACTORS[match.lastgroup] if match is not None and match.lastgroup else None


_LONG_THINGS: Final = re.compile(
    r" (?:tokens?|prompts?|contexts?|sequences?|drafts?|documents?|chats?|repl(?:y|ies)|answers?"
    r"|conversations?|inputs?|words?)\b"
)


def _is_long(text: str, slower: Tag) -> bool:
    """Whether a text is long, and nothing slow: "longer prompts"."""
    longer = text[slower.start : slower.end].lower() == "longer"
    return longer and _LONG_THINGS.match(text, slower.end) is not None


_ERRAND: Final = 48
"""Characters from an errand to what is told of it."""
_NAME: Final = 10
"""Characters of a device before "acceleration"."""


def _is_no_rate(text: str, tag: Tag) -> bool:
    """Whether it is no step that is faster: an errand is, or a thing is called after its purpose.

    "Less time managing machinery", "a faster deployment", "an acceleration library". Or a device
    is used, whatever that brings: "GPU acceleration".
    """
    if _OTHER_SPEED.match(text, tag.end) is not None:
        return True
    named = text[tag.start : tag.end].lower() in {"acceleration", "accelerated"}
    if named and _CALLED.match(text, tag.end) is not None:
        return True
    if OF_AN_ERRAND.search(text, max(0, tag.start - _ERRAND), tag.start) is not None:
        return True
    if named and _USE_OF_DEVICE.search(text, max(0, tag.start - _NAME), tag.start) is not None:
        return True
    return (
        text[tag.start : tag.end].lower() == "less time" and _DOING.match(text, tag.end) is not None
    )


_OTHER_SPEED: Final = Form(
    r"(?: and (?:\w+ )?\w+er)? (?:(?!decod|generat|infer|token)\w+ )?(?:deployments?|development"
    r"|iterations?|rollouts?|onboarding|set-?ups?|start-?ups?|cold[- ]starts?|downloads?|uploads?"
    r"|builds?|compilation|compiles?|convergence|training|fine-?tuning|experimentation|debugging"
    r"|adoption|scale-?(?:up|out)|releases?|integration|provisioning|recovery|(?:model )?load(?:s"
    r"|ing)?(?: times?)?|time[- ]to[- ]market|feedback|turnaround|search(?:es)?|lookups?|indexing"
    r"|simulations?)\b(?! and (?:decod|generat|infer))"
)
"""After a word for speed: what else is quick than a step."""
_CALLED: Final = Form(
    r"[ -](?:(?!the|our|its|your|this|that|an?\b)\w+ )?(?:librar(?:y|ies)|frameworks?|toolkits?"
    r"|engines?|backends?|sdks?|packages?|techniques?|technolog(?:y|ies)|projects?|suites?|methods?"
    r"|stacks?|platforms?|solutions?|plug-?ins?|features?|cards?|instances?|computing)\b"
)
"""After "acceleration" or "accelerated": a thing that is called after its purpose."""
_USE_OF_DEVICE: Final = Form(
    r"\b(?:gpu|hardware|cuda|metal|vulkan|npu|tpu|graphics|cpu|rocm|web-?gpu|device|opencl|directml"
    r"|blas|openvino|3d)[- ]$"
)
_DOING: Final = re.compile(r" (?!generat|decod|wait|writ|produc)\w+ing\b")
