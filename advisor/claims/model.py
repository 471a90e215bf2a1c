"""What a claim says once it is read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from advisor.claims.regime import Regime
from advisor.claims.words import Metric
from advisor.quantity import Bound


class Kind(StrEnum):
    """The form of a claim."""

    SPEEDUP = "speedup"
    """A change of a time, a rate or of speed as such."""
    ABSOLUTE = "absolute"
    """A value with a unit, perhaps with the value before."""
    SAVING = "saving"
    """A change of a resource by a factor, or of anything by an amount."""
    UNCHANGED = "unchanged"
    """"Same quality", "no slowdown"."""


class Scope(StrEnum):
    """What the claim covers."""

    END_TO_END = "end_to_end"
    KERNEL = "kernel"
    UNSTATED = "unstated"


class Stream(StrEnum):
    """Whose tokens are counted."""

    SINGLE = "single"
    AGGREGATE = "aggregate"
    UNSTATED = "unstated"


class Rule(NamedTuple):
    """How a form of words is read."""

    form: str
    reading: str
    example: str


RULES = MappingProxyType(
    {
        "factor": Rule("Fx, F times, F-fold", "speedup F", "1.8x -> 1.80x"),
        "faster_percent": Rule("P% faster", "speedup 1 + P", "30% faster -> 1.30x"),
        "faster_factor": Rule("Fx faster, as fast", "speedup F", "2x faster -> 2.00x"),
        "slower_percent": Rule("P% slower, longer", "time x (1 + P)", "30% slower -> 0.77x"),
        "slower_factor": Rule("Fx slower", "time x F", "2x slower -> 0.50x"),
        "less_time_percent": Rule(
            "P% lower latency, P% less time, latency improves by P%",
            "time x (1 - P), speedup 1 / (1 - P)",
            "30% lower latency -> 1.43x",
        ),
        "less_time_factor": Rule("Fx lower latency", "time / F", "2x lower latency -> 2.00x"),
        "more_time": Rule("P% or Fx higher latency", "time x (1 + P) or x F", "20% -> 0.83x"),
        "more_rate": Rule(
            "P% or Fx higher throughput", "speedup 1 + P or F", "30% more tokens/s -> 1.30x"
        ),
        "less_rate": Rule("P% lower throughput", "speedup 1 - P", "20% fewer tokens/s -> 0.80x"),
        "share": Rule(
            "to P%, to a third, P% of the time, half the latency, 0.7x the latency",
            "after / before = P",
            "latency falls to 70% -> 1.43x",
        ),
        "change": Rule(
            "from A to B, A -> B, B instead of A, B vs A",
            "speedup A / B of a time, B / A of a rate",
            "from 26 ms to 18 ms -> 1.44x",
        ),
        "absolute": Rule("a value with its unit", "the value; no speedup", "TPOT 18 ms"),
        "amount": Rule("saves A, A less, by A", "before - after = A", "saves 35 GB"),
        "resource": Rule(
            "P% or Fx fewer FLOPs, bytes, parameters, less memory",
            "resource x (1 - P) or / F; no speedup, a resource is no time",
            "25% fewer FLOPs -> 0.75 of the FLOPs",
        ),
        "unchanged": Rule(
            "same, no loss, no slowdown", "unchanged", "no slowdown -> 1.00x or more"
        ),
    }
)
"""How each form is read; `Claim.rule` names the one applied."""


NOTHING_STATED = Regime()


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim within a text. Offsets in code points, `text == whole[start:end]`."""

    metric: Metric
    kind: Kind
    text: str
    start: int
    end: int
    rule: str
    """Key of `RULES`."""
    speedup: float | None = None
    """Above 1 is faster; None where the claim is no statement about speed or has no baseline."""
    speedup_low: float | None = None
    speedup_high: float | None = None
    change: float | None = None
    """After / before of the metric as it is named (0.7 for 30% lower latency)."""
    value: float | None = None
    """Of an absolute claim or an amount saved, in `unit`; negative where more is used."""
    value_low: float | None = None
    value_high: float | None = None
    before: float | None = None
    unit: str = ""
    """ms, tokens/s, requests/s, bytes, FLOP, tokens; per token or pass where the metric is."""
    scope: Scope = Scope.UNSTATED
    stream: Stream = Stream.UNSTATED
    conditions: Regime = NOTHING_STATED
    """The regime stated for this claim."""
    bound: Bound | None = None
    """AT_MOST: the gain may be smaller ("up to 3x"); AT_LEAST: it is this or larger."""
    approximate: bool = False
    negated: bool = False
    """A negation stands before it in its clause; the claim as such is still read."""
    evidence: tuple[str, ...] = ()
    """Words of its sentence that tell measured from hoped: measured, expect, target ..."""


class Unreadable(NamedTuple):
    """A number or text that looks like a claim but cannot be read without guessing."""

    start: int
    end: int
    text: str
    reason: str


class ClaimReading(NamedTuple):
    """All that was read in a text, in order."""

    text: str
    claims: tuple[Claim, ...]
    unreadable: tuple[Unreadable, ...]
    conditions: Regime
    """Every condition in the text, whatever claim it belongs to."""

    @property
    def reason(self) -> str | None:
        """Why nothing could be read; None where there is a claim."""
        return self.unreadable[0].reason if self.unreadable and not self.claims else None
