"""What part of a step reads bytes, and what part is overhead, as a text tells it.

"47 ms, 42 ms of it HBM streaming", "at 85% of the peak bandwidth", "18 ms weights, 2 ms launches".
A lever on the rest leaves that part as it is: it bounds every gain.
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form

_READING: Final = (
    r"(?:reading|reads|streaming|fetching|loading|moving|traffic|weights?|memory|hbm|dram|bandwidth"
    r"|bytes)"
)
_NUMBER: Final = r"(\d{1,4}(?:\.\d+)?)"
_OF_PEAK: Final = Form(
    r"\b(?P<percent>\d{2}(?:\.\d+)?) ?% (?:mbu\b|(?:of (?:the |its |our )?)?(?:available |peak |hbm"
    r" |memory |dram |theoretical |achievable |card['’]s )*(?:bandwidth|hbm(?! of))\b)"
    r"|\bmbu (?:of|is|at|=|around|near)? ?(?:about |around )?(?P<mbu>\d{2}(?:\.\d+)?) ?%"
    r"|\bmbu (?:of|is|at|=)? ?(?P<part>0\.\d+)\b"
    r"|\b(?:streams?|reads?|moves?|fetch\w*|loads?) (?:the |its )?(?:weights?|data|bytes|memory) at"
    r" (?:about )?(?P<stream>\d{2}(?:\.\d+)?) ?% of (?:the )?peak\b"
    r"|(?P<whole>\d{2}(?:\.\d+)?) ?% (?:weight|memory|hbm|dram) (?:streaming|reads?|traffic"
    r"|loading)\b"
    r"|\b(?:dram|memory|hbm|bandwidth) (?:throughput|utili[sz]ation|busy|load)(?: of| is| at|:)?"
    r" ?(?P<load>\d{2}(?:\.\d+)?) ?%"
)
_PERCENTS: Final = ("percent", "mbu", "load", "stream", "whole")
_PART_OF_STEP: Final = Form(
    rf"{_NUMBER} ?ms\b[^.;]{{0,32}}?[,(]? (?:of which|with|including)?[^.;\d]{{0,12}}{_NUMBER} ?ms"
    rf" (?:of (?:it|them|these|this|which) )?(?:is |are |was |were |go(?:es)? (?:in)?to |for "
    rf"|spent )?"
    rf"(?:on |in )?(?:pure |just |only )?(?:\w+ )?{_READING}\b"
)
"""A step and how much of it reads bytes: "takes 47 ms, 42 ms of it pure HBM streaming"."""
_PART_FIRST: Final = Form(
    rf"{_NUMBER} ?ms (?:out )?of (?:the |our |its |those |these )?{_NUMBER} ?ms\b[^.;\d]{{0,40}}?"
    rf" (?:go(?:es)? (?:in)?to|(?:is|are|was|were) (?:spent )?(?:on|in)|on|for) "
    rf"(?:pure |just |only )?(?:\w+ )?{_READING}\b"
)
"""The part first: "24 of the 27 ms go into fetching weights"."""
_LISTED: Final = Form(
    rf"{_NUMBER} ?ms (?:of |for |in |on )?(?:\w+ )?{_READING}\b[^.;\d]{{0,32}}?[,+]? (?:and "
    rf"|plus )?"
    rf"{_NUMBER} ?ms (?:of |for |in |on )?(?:\w+ )?(?:launch\w*|overhead|gaps?|host|cpu|scheduling"
    rf"|sampling|graph|kernel launches|python|idle)"
)
"""Parts of a step beside each other: "18 ms weights, 2 ms launches"."""
_OVERHEAD: Final = Form(
    r"\b(?:launch(?:es)?|launch (?:gaps?|overheads?|time)|gaps?|overheads?|host|scheduling|sampling"
    r"|python)\b[^.;:\d]{0,32}? (?:is|are|makes? up|takes?|costs?|accounts? for|amounts? to)"
    rf" (?:about |only |some |just )?(?:(?P<percent>\d{{1,2}}(?:\.\d+)?) ?%|{_NUMBER} of (?:the "
    rf"|our "
    rf"|those )?{_NUMBER} ?ms\b)"
)
"""The part of a step that is none of bytes: "launches are 2 of the 20 ms"."""


def bytes_share(text: str) -> float | None:
    """The part of a step that reads bytes; the smallest reading, which allows the most."""
    found = []
    for match in _OF_PEAK.finditer(text):
        told = next(filter(None, (match[name] for name in _PERCENTS)), None)
        found.append(float(told) / 100.0 if told else float(match["part"]))
    for match in _PART_OF_STEP.finditer(text):
        whole, part = float(match[1]), float(match[2])
        if 0.0 < part < whole:
            found.append(part / whole)
    for match in _PART_FIRST.finditer(text):
        part, whole = float(match[1]), float(match[2])
        if 0.0 < part < whole:
            found.append(part / whole)
    for match in _LISTED.finditer(text):
        part, other = float(match[1]), float(match[2])
        if part > 0.0:
            found.append(part / (part + other))
    for match in _OVERHEAD.finditer(text):
        if match["percent"]:
            found.append(1.0 - float(match["percent"]) / 100.0)
        elif 0.0 < float(match[2]) < float(match[3]):
            found.append(1.0 - float(match[2]) / float(match[3]))
    return min(found, default=None)
