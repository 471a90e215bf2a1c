"""Prompts that are to take as long as so many generated tokens, and answers as fast as prompts.

All tokens of a prompt pass through the weights together; those of an answer one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.finding import ErrorClass
from advisor.forms import Form
from advisor.prose.lengths import inputs_in
from advisor.prose.model import Kind, Phase
from advisor.prose.replies import replies_in
from advisor.said import Said, Wrong, bandwidth_of, confidence_of

_READ: Final = r"(?:read|process|ingest|encod|handl|evaluat|swallow|digest|crunch|prefill)\w*"
_RATE_OF_PROMPT: Final = Form(
    r"\b(?:prompt (?:processing|evaluation|eval|rate|speed)|prefill(?:s|ing|ed)?|pp\d*"
    rf"|{_READ}(?: the| its| my| our| a| an?)?(?: [\w-]+)? prompts?"
    rf"|{_READ}(?=[^.;]{{0,24}} of prompts? (?:a|per) )|prompts?(?: \w+){{0,2}}? (?:at"
    rf"|{_READ}))\b[^.;]{{0,40}}?"
    r"(\d[\d,]*(?:\.\d+)?) ?(k)? ?(?:tok(?:en)?s?(?: of prompts?)?(?:/s| per second| a second)"
    r"|t/s\b)"
)
_BENCH: Final = Form(
    r"\bpp ?\d{2,5}`?(?: ?[:=@|] ?| (?:is|says?|gives?|prints?|reads|shows?|at|of) )"
    r"(\d{1,3}(?:[ ,]\d{3})+|\d+)(?![\d.]* ?(?:ms|s)\b)"
)
"""A rate of the prompt as llama-bench tells it, which needs no unit."""
_ANSWER_THERE: Final = Form(
    r"\b(?:answers?|repl(?:y|ies)|responses?|completions?|essays?|stor(?:y|ies)"
    r"|outputs?)\b[^.;]{0,48}?"
    r"(?:(?P<time>\d[\d,]*(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?|milliseconds?)\b"
    r"|(?P<part>tenth|half|fifth|quarter|third) (?:of )?a sec(?:ond)?\b)"
)
"""The time of an answer whose length was told before."""
_PART_OF_SECOND: Final = {"tenth": 0.1, "half": 0.5, "fifth": 0.2, "quarter": 0.25, "third": 1 / 3}
_NEARLY: Final = 0.15
_CLOSE: Final = 0.08
_EACH_ONE: Final = (
    r"(?:(?:every|each)(?: single)?(?: one of)? (?:(?:prompt|input|document) tokens?|token (?:of"
    r"|in)"
    r" (?:the|a|your|my|our|its) (?:\w+ )?(?:prompt|input|document|context|contract|file))"
    r"|(?:all|the) (?:\w+ )?(?:prompt|input) tokens each"
    r"|(?:prompt|input|document)['’]s [\d,]+ ?k? tokens each)"
)
_AGAIN: Final = Form(
    rf"\b{_EACH_ONE}\b[^.;]{{0,60}}?\b(?:fetch|read|load|stream|pull|mov|sweep|drag|haul|costs?"
    r"|need|requir|touch|travers|re-?read|transfer)\w*[^.;]{0,40}?\b(?:weights|parameters|model"
    r"|network|\d[\d.]* ?[GT]B)\b"
    r"|\b(?:weights|parameters|whole model)\b[^.;]{0,40}?\b(?:read|fetched|loaded|streamed|moved"
    rf"|dragged|pulled)(?: again| anew| afresh| in)?(?: once)? (?:for|by|per) {_EACH_ONE}"
    r"|\b(?:weights|parameters|whole model)\b[^.;]{0,40}?\b(?:anew|again|afresh|once more"
    r"|each time) for"
    r" (?:each|every)(?: single)?(?: one)? of (?:its|their|the prompt['’]s) (?:\w+ )?tokens"
    r"|\b[\d,]+ ?k?[- ]tokens? prompt (?:costs|takes) (?:exactly |just )?as (?:much|long) as"
    r" (?:(?:generat|decod|writ)\w+ )?[\d,]+ ?k? (?:generated|decoded|output|written)"
    r"|\bprompt of [\d,]+ ?k? tokens? (?:costs|takes) (?:exactly |just )?(?:as (?:much|long) as|the"
    r" same as) (?:generat|decod|writ)\w+ [\d,]+"
)
"""The weights, read once for each token of a prompt."""
_DENIED: Final = Form(r"\b(?:not|never|no|once for all|together|only once|n['’]t)\b")
_SECONDS: Final = Form(
    r"(?<![\w.,])(?P<time>\d[\d,]*(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?|min|minutes?|h|hours?)\b"
    r"(?! ?(?:per|a|each|/))"
)
_IN_SECONDS: Final = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_OF_READING: Final = Form(
    r"\b(?:prompts?|pre-?fill\w*|ingest\w*|(?:reading|read|take|taking) (?:\S+ ){0,4}?in\b"
    r"|before (?:the|any|it|an?) (?:first|answer|reply|response)|first (?:token|word)|ttft"
    r"|(?:until|till) (?:the|an?) (?:first|answer|reply)|answer starts?)\b"
)
_RATE: Final = Form(
    r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?) ?(?:tok(?:en)?s?(?:/s\b| per second| a second)|t/s\b|tps\b)"
)


def at_the_others_rate(said: Said) -> Wrong | None:
    """What is wrong with a time of a prompt or of an answer, by the figures of the text."""
    sure = confidence_of(said.statement)
    if sure is None:
        return None
    if _at_prompt_rate(said):
        return Wrong(
            "a prompt's tokens are computed together, those of an answer one after the other:"
            " an answer does not come at the rate of the prompt",
            sure,
            ErrorClass.PREFILL_DECODE,
        )
    if _reads_again(said) or _at_decode_rate(said):
        return Wrong(
            "a prompt's tokens pass through the weights together: they are read once for all of"
            " them, or once a chunk, and not once for each",
            sure,
            ErrorClass.PREFILL_DECODE,
        )
    return None


def _at_prompt_rate(said: Said) -> bool:
    """Whether an answer is said to come at the rate at which the prompt was read."""
    statement = said.statement
    read = _read_rate(statement.context_text)
    if read is None or read <= 0:
        return False
    if (answer := next(replies_in(statement.text), None)) is not None:
        return abs(answer.tokens_per_second / read - 1.0) < _NEARLY
    there = _ANSWER_THERE.search(statement.text)
    if there is None:
        return False
    if there["part"]:
        seconds = _PART_OF_SECOND[there["part"].lower()]
    else:
        scale = 1e-3 if there["unit"].lower().startswith("m") else 1.0
        seconds = float(there["time"].replace(",", "")) * scale
    lengths = inputs_in(statement.context_text)
    return seconds > 0 and any(abs(one / seconds / read - 1.0) < _NEARLY for one in lengths)


def _read_rate(text: str) -> float | None:
    """Tokens of a prompt that are read in a second, as a text tells them."""
    if (rate := _RATE_OF_PROMPT.search(text)) is not None:
        return float(rate[1].replace(",", "")) * (1e3 if rate[2] else 1.0)
    bench = _BENCH.search(text)
    return float(bench[1].replace(",", "").replace(" ", "")) if bench is not None else None


def _reads_again(said: Said) -> bool:
    """Whether the weights are said to be read once for each token of a prompt."""
    statement = said.statement
    if statement.phase in {Phase.TRAINING, Phase.OTHER}:
        return False
    told = _AGAIN.search(statement.text)
    return told is not None and _DENIED.search(told[0]) is None


def _at_decode_rate(said: Said) -> bool:
    """Whether a prompt is said to take its tokens over the rate of decode.

    Or its tokens times the time of reading all weights.
    """
    statement = said.statement
    if statement.kind not in {Kind.AMOUNT, Kind.FIGURE, Kind.FITS}:
        return False
    time = _SECONDS.search(statement.text)
    if time is None or _OF_READING.search(statement.text) is None:
        return False
    unit = time["unit"].lower()
    scale = _IN_SECONDS["ms" if unit == "ms" else unit[0]]
    seconds = float(time["time"].replace(",", "")) * scale
    lengths = inputs_in(statement.context_text)
    rates = set(_rates_of_decode(statement.context_text))
    bandwidth, weights = bandwidth_of(statement.frame), _weights(said)
    if bandwidth and weights:
        rates.add(bandwidth * 1e9 / weights)
    return any(
        seconds > 1.0 and rate > 0 and abs(length / rate / seconds - 1.0) < _CLOSE
        for length in lengths
        for rate in rates
    )


def _weights(said: Said) -> float | None:
    frame = said.statement.frame
    if frame.weight_bytes is not None:
        return frame.weight_bytes
    if frame.parameters is None or frame.weight_bits is None:
        return None
    return (frame.active_parameters or frame.parameters) * frame.weight_bits / 8.0


_PHASE: Final = Form(
    r"\b(?:(?P<decode>writ\w+|decod\w+|generat\w+|answer\w*|repl\w+|typ(?:es|ing)|output\w*"
    r"|stream\w*|tg\d*|spits?|emits?)|prompts?|pre-?fill\w*|ingest\w*|pp\d*|reads?|reading)\b"
)
_NEAR: Final = 64


def _rates_of_decode(text: str) -> Iterator[float]:
    """Rates whose nearest words before them say that tokens are generated."""
    for rate in _RATE.finditer(text):
        told = list(_PHASE.finditer(text, max(0, rate.start() - _NEAR), rate.start()))
        if told and told[-1]["decode"]:
            yield float(rate[1].replace(",", ""))
