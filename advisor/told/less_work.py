"""Fewer operations, or cheaper ones, as a text tells them."""

from __future__ import annotations

from typing import Final

from advisor.forms import Form

WORK: Final = (
    r"(?:g?flops?|arithmetic|operations?|computations?|compute(?![- ](?:bound|limited))"
    r"|multiplications|multiplies|multipliers|multiply-?(?:adds?|accumulates?)|additions|mults|macs|work|math"
    r"|instructions?(?: count)?|fmas?|exponentials?)"
)
_NOT_SHARE: Final = r"(?! (?:mbu|mfu|of (?:the |an? |each )?(?:step|time|token|peak|bandwidth))\b)"
_CUT: Final = Form(
    rf"\b(?:fewer|less|cut\w*|reduc\w+|sav\w+|spar(?:e|es|ed|ing)|lower\w*|halv\w+"
    rf"|\d+ ?%{_NOT_SHARE}|drop\w*"
    rf"|skip\w*|trim\w*"
    rf"|shav\w+|smaller|instead of|rather than|in place of|cheaper|remov\w+|avoid\w*|eliminat\w+"
    rf"|half|third|quarter|fifth|sixth|eighth|tenth|out of the way)(?!\w)"
    rf"(?:[^.;]|\.(?=\d)){{0,40}}?\b{WORK}\b"
    rf"|\b{WORK}\b.{{0,30}}?\b(?:fewer|less|cut|reduced|down|falls?|drops?|halved?|saved|lower|out"
    rf"|omitted|avoided|dropped"
    rf"|off|away|skipped|shrinks?|decreases?|eighth|to an?|disappears?"
    r"|vanish\w*|gone|trivial)\b"
    rf"|\b{WORK}\b[^.;,\d]{{0,16}}?[-–−] ?\d{{1,2}} ?%"
    rf"|\d ?{WORK}(?: \w+){{0,3}}?,? (?:instead of|rather than|not|down from|where it was|against)"
    r" [^.;]{0,12}?\d"
    rf"|\b{WORK}\b[^.;]{{0,24}}? \d[\d.]*(?: \w+)?,? (?:before|to|->|→|instead of|rather than|now"
    r"|down)\b"
)
_CHEAPER: Final = Form(
    r"polynomial|look-?up table|table lookup|shift-and-add|shifts? and add|exp2|alphatensor"
    r"|strassen"
    r"|winograd|karatsuba|addernet|reassociat|soft-?capping|upper triangle|top-k softmax"
    r"|l1 distances|(?:mean|variance|elementwise|scalar|transcendental) (?:\w+ ){0,2}?(?:ops"
    r"|multiplies)"
)
"""Ways to compute the same with cheaper operations."""


def cheaper_way(text: str) -> bool:
    """Whether a text names a way to compute the same with cheaper operations."""
    return _CHEAPER.search(text) is not None


_FEWER: Final = Form(
    r"\b(?:fewer|half|third|quarter|fifth|eighth|\d+ ?%)(?!\w)[^.;]{0,30}?\b(?:multiplications"
    r"|multiplies|multiply-?adds|operations|flops|macs|additions)\b"
)


def fewer_products(text: str) -> bool:
    """Whether a product is told to need fewer operations, and not to be run by a faster unit."""
    return _FEWER.search(text) is not None or cheaper_way(text)


def less_work(text: str) -> bool:
    """Whether a text tells that the arithmetic gets less, or cheaper."""
    return _CUT.search(text) is not None or cheaper_way(text)
