"""Lengths of prompts and contexts in tokens, as people tell them.

"300 in / 300 out", "ISL 128", "prompts of some 200", "two or three hundred tokens", "a 64k window",
"131,072 positions". What is generated is told apart: a reply of 150 tokens after a prompt of 60,000
is no short context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from advisor.forms import Form
from advisor.quantity.numerals import SEVERAL, count_of

_NUMBER: Final = r"(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<kilo>[kKM]\b|(?<=\d)[kKM](?=[- ]))?"
_UNIT_NEXT: Final = (
    r"(?![\w.,]?\d|\s?(?:%|[kKMGT]i?B\b|B\b|x\b|×|ms\b|s\b|t/s|tok\w*/|tok\w* (?:per|a) |tokens?"
    r"/|tokens? (?:per|a) second|tps|TFLOPS|GPUs?|users?|streams|requests|cards|layers|heads"
    r"|times|points|bits?\b|-bit|W\b|USD|\$))"
)
_INPUTS: Final = (
    r"(?:prompts?|inputs?|contexts?|conversations?|chats?|dialog(?:ue)?s?|exchanges?|quer(?:y|ies)"
    r"|questions?|messages?|turns?|histor(?:y|ies)|windows?|sessions?|sequences?|cache|positions"
    r"|depth|length)"
)
_OUTPUTS: Final = (
    r"(?:outputs?|repl(?:y|ies)|answers?|responses?|completions?|essays?|stor(?:y|ies)|summar(?:y"
    r"|ies)|generat\w+|OSL|decoded|new)"
)
_SOME: Final = (
    r"(?:of|are|is|run|runs|average|averages|averaging|stay|stays|staying|reach|reaches|hold"
    r"|holds|has|have|take|takes|never|exceed|exceeds|beyond|at|most|least|only|just|some|about"
    r"|around|roughly|under|below|up|to|over|past|within|than|more|less|fewer|not|between|with"
    r"|from|come|comes|in|len|length|size|tokens|=|:|~|≈|that|which|usually|typically|mostly"
    r"|rarely|seldom|our|the)"
)
_WITH_UNIT: Final = Form(
    rf"(?<![\w.,$€]){_NUMBER}[- ](?:\w+[- ])?(?:tokens?|positions?|keys|entries)\b"
    r"(?! ?(?:/|per (?!turn|chat|reply|request|session|prompt|message|conversation)|a second))"
    rf"(?P<after>(?: (?:of|for|in) | )?(?:the |each |a )?(?:\w+ )?)",
)
_LABELLED: Final = Form(
    rf"\b(?P<label>ISL|OSL|n_?ctx|max[-_]model[-_]len|ctx|S|(?:input|output|prompt|context"
    r"|sequence|reply|answer)[-_ ]?(?:len(?:gth)?|tokens|size)?)"
    rf" ?(?:[=:]|of|is|at)? ?(?:about |some |~ ?)?{_NUMBER}{_UNIT_NEXT}(?![\w.])",
)
_IN_OUT: Final = Form(
    rf"(?<![\w.,]){_NUMBER} ?(?:tokens? )?in\b(?= ?(?:/|,|and|\+|;|\)|plus)|$)",
)
_OF_INPUTS: Final = Form(
    rf"\b{_INPUTS}(?:\W{{1,2}}{_SOME}\b){{1,6}}\W{{1,3}}{_NUMBER}{_UNIT_NEXT}\b",
)
_IN_WORDS: Final = Form(
    r"\b(?P<count>an?|one|two|three|four|five|six|seven|eight|nine|half an?|a few|a couple of"
    r"|several|few)(?: or (?P<other>\w+)| to (?P<upto>\w+))?[- ](?P<scale>dozen|hundred|thousand"
    r"|million)[- ](?:\w+[- ])?(?:tokens?|positions)\b",
)
_SCALES: Final = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
_VAGUE: Final = {
    "a": 1.0, "an": 1.0, "half a": 0.5, "half an": 0.5, "a few": 3.0, "few": 3.0,
    "a couple of": 2.0, "several": 5.0,
}  # fmt: skip
_OF_OUTPUT: Final = Form(
    rf"\b(?:{_OUTPUTS}|out)\b(?: (?:of|is|are|at|to|about|some|around|roughly|up|=|:))*\W{{0,3}}$",
)
_INTO_OUTPUT: Final = Form(
    rf"\W*(?:(?:of|for|in|per|as|each) )?(?:the |an? )?(?:\w+ )?(?:{_OUTPUTS}|out)\b"
)
_COUNTED: Final = rf"(\d{{1,4}}|{SEVERAL})"
SEQUENCES: Final = Form(
    rf"\b{_COUNTED} (?:[\w-]+ ){{0,2}}?(?:sessions|sequences|users|streams|requests|chats"
    rf"|conversations|tenants|clients|analysts|agents)\b|batch (?:size )?(?:of )?(\d{{1,4}})\b",
)
"""Sequences that share a step; the number is in one of both groups."""
_FEWEST: Final = 16
"""Fewer tokens are no context."""
_TELLING: Final = re.compile(
    r"[tT]oken|\bin\b|ISL|ctx|position|ontext|rompt|istor|hat|indow|nput|essage|urn|xchange"
    r"|uer[yi]|onversation|ession|equence|ialog|uestion|length|depth|ache|keys"
)


def may_tell_length(text: str) -> bool:
    """Whether a text holds a number, in digits or with one of the scales that lengths are told in.

    Without one it tells no length at all.
    """
    if _SOME_DIGIT.search(text) is not None:
        return True
    words = text.lower()
    return "thousand" in words or "hundred" in words or "million" in words or "dozen" in words


_SOME_DIGIT: Final = re.compile(r"\d")


@lru_cache(maxsize=2048)
def inputs_in(text: str) -> tuple[int, ...]:
    """Lengths of prompts and contexts that a text names."""
    if _TELLING.search(text) is None:
        return ()
    return tuple(length for length in _lengths(text) if length >= _FEWEST)


def sequences_in(text: str) -> int:
    """The most sequences of one step that a text names; 1 where it names none."""
    counts = (count_of(one or other) for one, other in SEQUENCES.compiled.findall(text))
    return max(counts, default=1)


def _lengths(text: str) -> Iterator[int]:
    for match in _WITH_UNIT.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        of_output = _OF_OUTPUT.search(before) or _INTO_OUTPUT.match(text, match.start("after"))
        if of_output is None:
            yield _length(match)
    for match in _LABELLED.finditer(text):
        if not match["label"].lower().startswith(("osl", "output", "reply", "answer")):
            yield _length(match)
    for form in (_IN_OUT, _OF_INPUTS):
        yield from (_length(match) for match in form.finditer(text))
    for match in _IN_WORDS.finditer(text):
        yield _in_words(match)


def _length(match: re.Match[str]) -> int:
    scale = {"k": 1024, "m": 1024 * 1024}.get((match["kilo"] or "").lower(), 1)
    return round(float(match["number"].replace(",", "")) * scale)


def _in_words(match: re.Match[str]) -> int:
    """Of "two or three hundred" the larger."""
    told = [
        match["count"].lower(),
        *(one.lower() for one in (match["other"], match["upto"]) if one),
    ]
    counts = [_VAGUE.get(word) or _counted(word) for word in told]
    return round(max(counts) * _SCALES[match["scale"].lower()])


def _counted(word: str) -> float:
    try:
        return float(count_of(word))
    except ValueError:
        return 1.0


_BEFORE_LENGTH: Final = Form(
    r"(?:\b(?:with|at|for|on|after|under|given|using|in)|[,;(]) ?(?:(?:an?|the|our|its|my|short"
    r"|small|typical|fixed|long|initial|average) ){0,3}(?P<own>\d[\d,.]*k?[- ]tok(?:en)?s? )?$"
)
_LENGTH: Final = Form(r"s?(?: lengths?)?(?: of| with|:| =|=)?(?: about| only| just| some)? ?\d")
_ONE_PROMPT: Final = Form(r"\b(?:on|for|with|from) (?:(?:a|one) (?:single|lone)|one) $")
"""One request, whatever its length."""
_PROMPT: Final = Form(r"prompts?\b")
_BEFORE: Final = 40


def is_length(text: str, start: int) -> bool:
    """Whether a prompt only tells how long the context is: "with 200-token prompts"."""
    prompt = _PROMPT.match(text, start)
    before = _BEFORE_LENGTH.search(text, max(0, start - _BEFORE), start)
    if prompt is None or before is None:
        return (
            prompt is not None
            and _ONE_PROMPT.search(text, max(0, start - _BEFORE), start) is not None
        )
    return before["own"] is not None or _LENGTH.match(text, prompt.end()) is not None


_PER_TOKEN: Final = Form(
    r"(?<![\w.])(?P<first>\d+(?:\.\d+)?) ?(?P<unit>[km]i?)b(?: of (?:[\w/]+[- ]){1,3}?)? ?(?:/|per"
    r"|a"
    r"|for (?:each|every)|each|every) ?(?:cached |context )?(?:tok(?:en)?|position|entry)\b"
    r"|\b(?:one|a|each|every|per|the) (?:token|position)(?:['’]s)? (?:(?:of"
    r"|in) )?(?:the )?(?:kv )?cache"
    r" (?:is|are|takes?|needs?|comes? to|has|weighs?|costs?)\b[^.;]{0,60}?"
    r"(?<![\w.])(?P<last>\d+(?:\.\d+)?) ?(?P<its>[km]i?)b\b"
)


def per_token_in(text: str) -> float | None:
    """Bytes of cache that a text tells for each token: "131 kB per position"."""
    match = _PER_TOKEN.search(text)
    if match is None:
        return None
    number, unit = match["first"] or match["last"], match["unit"] or match["its"]
    return float(number) * _PREFIXES[unit.lower()]


_PREFIXES: Final = {"k": 1e3, "m": 1e6, "ki": 1024.0, "mi": 1024.0**2}


_DOCUMENTS: Final = (
    r"(?:prompts?|contracts?|briefs?|documents?|reports?|pdfs?|manuals?|books?|novels?|transcripts?"
    r"|codebases?|papers?|articles?|filings?)"
)
READS_DOCUMENT: Final = Form(
    r"\b(?:swallow\w*|digest\w*|ingest\w*|(?:take|takes|taking|took) in|read(?:s|ing)?(?: in)?)"
    rf" (?:(?!model|checkpoint|weights?|bytes)\S+ ){{0,4}}?{_DOCUMENTS}\b"
    rf"|\b{_DOCUMENTS} (?:is|are|gets?) (?:\w+ )?(?:read|processed|ingested|digested|taken in)\b"
)
"""A prompt, as a document that is read in."""
