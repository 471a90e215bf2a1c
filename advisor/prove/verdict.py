"""What a run shows: the bound, each test's outcome in words, predicted against measured.

The time of a step is split by what it follows. Removing rows takes bytes and FLOPs away, so what
stays when they shrink to nothing is fixed; computing every token twice adds FLOPs alone, so what
it adds is computing; the rest is reading. Nothing of it uses a figure of the model of time, which
is what the predictions are tested by.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Final, Literal, NamedTuple

from advisor.prove.record import BASELINE, Run, Trial
from advisor.prove.statistics import (
    Knee,
    Line,
    Ratio,
    drift,
    find_knee,
    fit_line,
    paired_speedup,
    spread,
)

Bound = Literal["memory", "compute", "overhead", "undecided"]
Result = Literal["shown", "refuted", "undecided"]

NOTHING: Final = 0.02
"""A change of less than this is none, however exact the timing."""
_LOOSE: Final = 0.10
"""An interval wider than this on either side decides nothing about a change of nothing."""
_NOISY: Final = 0.10
_SPOILT: Final = 0.30
_IMPOSSIBLE_MBU: Final = 1.05
_OWN_CORE: Final = 0.9
_PLACED: Final = 0.05
_FREE: Final = 1.25
"""Twice the FLOPs for less than this many times the time: not what limits the step."""
_PAID: Final = 1.5
_GAIN: Final = 1.1
_COMPUTING: Final = {
    "shown": "they are not what limits it",
    "refuted": "computing limits it",
    "undecided": "computing is part of it, or the timing too loose to tell",
}


class Test(NamedTuple):
    """One experiment's outcome."""

    name: str
    result: Result
    shows: str
    refuted_if: str
    """What would have refuted it."""


class LeverRow(NamedTuple):
    """One lever, predicted and measured: how many times faster a token is."""

    name: str
    group: str
    gigabytes: float
    predicted: tuple[float, float, float]
    measured: Ratio

    @property
    def error(self) -> float:
        """Predicted over measured, less 1."""
        return self.predicted[1] / self.measured.mid - 1.0

    @property
    def agrees(self) -> bool:
        """Whether the two intervals meet."""
        return self.predicted[0] <= self.measured.high and self.measured.low <= self.predicted[2]


class Follows(NamedTuple):
    """Parts of the baseline's time, summing to 1."""

    bytes: float
    flops: float
    neither: float


class Verdict(NamedTuple):
    """All that a run says."""

    bound: Bound
    because: str
    baseline_ms: float
    noise: float
    """Spread of the baseline's repetitions, as part of their median."""
    streaming_gbs: float
    mbu: float
    """Bytes of the baseline over its time, as part of the streaming bandwidth."""
    follows: Follows | None
    line: Line | None
    """Fixed time and bandwidth over variants of one kernel: baseline and rows removed."""
    format_line: Line | None
    """The same over number formats, each with a kernel of its own."""
    knee: Knee | None
    tests: tuple[Test, ...]
    levers: tuple[LeverRow, ...]
    doubts: tuple[str, ...]
    """Signs that other work, caches or clocks are in the figures."""


def judge(run: Run) -> Verdict | None:
    """The verdict on a run; None where not even the baseline was measured."""
    bases = [trial for trial in run.trials if trial.name == BASELINE]
    if not bases:
        return None
    base_ms = median(bases[0].times_ms)
    streaming = run.machine.streaming_gbs
    mbu = bases[0].bytes / (base_ms * 1e6) / streaming
    noise = max(spread(base.times_ms) for base in bases)
    doubts, spoilt = _doubts(run, bases, noise, mbu)
    placebo = _by_name(run, "placebo")
    removed = [trial for name, trial in placebo.items() if "removed" in name]
    line = _line([placebo[BASELINE], *removed]) if removed else None
    follows = _follows(placebo, line) if line is not None else None
    formats = run.group("weights")
    format_line = _line(formats) if len(formats) > 2 else None
    knee = find_knee([(one.batch, median(one.times_ms)) for one in run.group("batch")])
    bound, because = _bound(follows, mbu, spoilt)
    tests = tuple(_tests(run, mbu, knee))
    if spoilt:
        tests = tuple(test._replace(result="undecided") for test in tests)
    return Verdict(
        bound=bound,
        because=because,
        baseline_ms=base_ms,
        noise=noise,
        streaming_gbs=streaming,
        mbu=mbu,
        follows=follows,
        line=line,
        format_line=format_line,
        knee=knee,
        tests=tests,
        levers=tuple(_levers(run)),
        doubts=tuple(doubts),
    )


def speedup(run: Run, trial: Trial) -> Ratio:
    """How many times faster a token is than in the baseline of the same group."""
    base = _by_name(run, trial.group)[BASELINE]
    ratio = paired_speedup(base.times_ms, trial.times_ms)
    more = trial.batch / base.batch
    return Ratio(ratio.low * more, ratio.mid * more, ratio.high * more)


def _by_name(run: Run, group: str) -> dict[str, Trial]:
    return {trial.name: trial for trial in run.group(group)}


def _line(trials: list[Trial] | tuple[Trial, ...]) -> Line | None:
    if len({trial.bytes for trial in trials}) < 2:
        return None
    return fit_line([(trial.bytes, median(trial.times_ms)) for trial in trials])


def _follows(placebo: dict[str, Trial], line: Line) -> Follows:
    base = median(placebo[BASELINE].times_ms)
    fixed = min(max(line.fixed_ms / base, 0.0), 1.0)
    twice = [trial for name, trial in placebo.items() if "doubled" in name]
    added = 1.0 / paired_speedup(placebo[BASELINE].times_ms, twice[0].times_ms).mid if twice else 1
    flops = min(max(added - 1.0, 0.0), 1.0 - fixed)
    return Follows(1.0 - fixed - flops, flops, fixed)


def _bound(follows: Follows | None, mbu: float, spoilt: str) -> tuple[Bound, str]:
    if spoilt:
        return "undecided", spoilt
    if follows is None:
        if mbu >= 0.6:
            return "memory", f"the step reads at {mbu:.0%} of the streaming bandwidth"
        return "undecided", f"MBU {mbu:.0%} alone does not tell overhead from computing"
    parts = {"memory": follows.bytes, "compute": follows.flops, "overhead": follows.neither}
    words = (
        f"{follows.bytes:.0%} of the time follows the bytes, {follows.flops:.0%} the FLOPs, "
        f"{follows.neither:.0%} neither"
    )
    most = max(parts.values())
    if most < 0.45:
        return "undecided", f"no single limit: {words}"
    if parts["memory"] == most:
        return "memory", words
    return ("compute" if parts["compute"] == most else "overhead"), words


def _doubts(run: Run, bases: list[Trial], noise: float, mbu: float) -> tuple[list[str], str]:
    """Signs of contamination in words, and the one that spoils the run, if any does."""
    found: list[str] = []
    spoilt = ""
    if noise > _NOISY:
        found.append(f"the same step varies by {noise:.0%} from one repetition to the next")
        spoilt = found[-1] if noise > _SPOILT else spoilt
    medians = [median(base.times_ms) for base in bases]
    apart = max(medians) / min(medians) - 1.0
    within = max(drift(base.times_ms) for base in bases)
    if max(apart, within) > 1.5 * _NOISY:
        found.append(f"the baseline itself moved by {max(apart, within):.0%} during the run")
        spoilt = found[-1] if max(apart, within) > 2.0 * _SPOILT else spoilt
    if run.busy is not None and run.busy < _OWN_CORE:
        words = f"the process had its core for {run.busy:.0%} of the time"
        if run.machine.clock == "cpu":
            words += "; other processes' turns are not in the times, their memory traffic is"
        elif run.busy < 1.0 - _SPOILT:
            spoilt = words
        found.append(words)
    for trial in run.group("placebo"):
        apart = abs(speedup(run, trial).mid - 1.0) if trial.name.startswith("the same") else 0.0
        if apart > _PLACED:
            found.append(
                f"the same weights elsewhere in memory differ by {apart:.0%}: where weights lie is "
                "in every ratio between variants"
            )
    if mbu > _IMPOSSIBLE_MBU:
        words = (
            f"MBU {mbu:.0%} is impossible: weights were read from a cache, or other work slowed "
            "the probe of the bandwidth"
        )
        found.append(words)
        spoilt = words
    return found, spoilt


def _tests(run: Run, mbu: float, knee: Knee | None) -> Iterator[Test]:
    if mbu > _IMPOSSIBLE_MBU:
        result: Result = "undecided"
    else:
        result = "shown" if mbu >= 0.6 else "refuted" if mbu < 0.4 else "undecided"
    yield Test(
        "bandwidth used (MBU)",
        result,
        f"the baseline reads at {mbu:.0%} of the streaming bandwidth",
        "below 40%: something else than reading takes the time",
    )
    placebo = _by_name(run, "placebo")
    alike = [
        abs(speedup(run, one).mid - 1.0)
        for name, one in placebo.items()
        if name.startswith("the same")
    ]
    for name, trial in placebo.items():
        ratio = speedup(run, trial)
        if "zero" in name:
            yield _zeros(ratio, max(alike[:1], default=0.0))
        elif "removed" in name:
            yield _removed(trial, placebo[BASELINE], ratio)
        elif "doubled" in name:
            yield _doubled(ratio)
    for trial in run.group("weights"):
        if trial.name != BASELINE:
            yield _narrower(run, trial)
    for trial in run.group("graph"):
        if trial.name != BASELINE:
            yield _captured(speedup(run, trial))
    if knee is not None:
        yield _flat(run, knee)
    yield from _longer(run)


def _zeros(ratio: Ratio, placement: float) -> Test:
    """`placement` is what the same weights elsewhere in memory change."""
    wide = (ratio.high - ratio.low) / 2.0
    nothing = max(NOTHING, wide, placement)
    if abs(ratio.mid - 1.0) <= nothing <= _LOOSE:
        result: Result = "shown"
    elif ratio.low > 1.0 + max(NOTHING, placement):
        result = "refuted"
    else:
        result = "undecided"
    return Test(
        "zeros stored dense",
        result,
        f"half the weights zero in dense tensors: {_factor(ratio)} as fast; "
        "pruning without a packed form removes no byte",
        f"a gain of more than {NOTHING:.0%} beyond the noise and what placement in memory changes",
    )


def _removed(trial: Trial, base: Trial, ratio: Ratio) -> Test:
    possible = base.bytes / trial.bytes
    quarter = 1.0 + 0.25 * (possible - 1.0)
    result: Result = "undecided"
    if ratio.low > quarter:
        result = "shown"
    elif ratio.high < quarter:
        result = "refuted"
    return Test(
        trial.name,
        result,
        f"{possible:.2f}x fewer bytes: {_factor(ratio)} as fast; rows that are gone are not read",
        "less than a quarter of the gain that the bytes allow",
    )


def _doubled(ratio: Ratio) -> Test:
    cost = 1.0 / ratio.mid
    result: Result = "undecided"
    if ratio.low > 1.0 / _FREE:
        result = "shown"
    elif ratio.high < 1.0 / _PAID:
        result = "refuted"
    return Test(
        "FLOPs doubled at equal bytes",
        result,
        f"the step takes {cost:.2f}x the time for twice the FLOPs: " + _COMPUTING[result],
        f"{_PAID}x the time or more: then FLOPs limit the step and removing them would pay",
    )


def _narrower(run: Run, trial: Trial) -> Test:
    base = _by_name(run, "weights")[BASELINE]
    ratio = speedup(run, trial)
    possible = base.bytes / trial.bytes
    result: Result = "undecided"
    if ratio.low > _GAIN:
        result = "shown"
    elif ratio.high < _GAIN:
        result = "refuted"
    tail = (
        "" if result != "refuted" else "; this kernel takes the gain back (conversion, not bytes)"
    )
    return Test(
        trial.name,
        result,
        f"{possible:.2f}x fewer bytes at the same FLOPs: {_factor(ratio)} as fast{tail}",
        f"less than {_GAIN}x",
    )


def _captured(ratio: Ratio) -> Test:
    result: Result = "shown" if ratio.low > 1.0 + NOTHING else "undecided"
    if ratio.high < 1.0 + NOTHING:
        result = "refuted"
    return Test(
        "launches taken out by a graph",
        result,
        f"{_factor(ratio)} as fast at the same bytes: the host's part of the step",
        "no gain: the host was never behind",
    )


def _flat(run: Run, knee: Knee) -> Test:
    sweep = run.group("batch")
    gain = speedup(run, sweep[-1])
    where = f"{knee.batch:.0f}" if knee.reached else f"above {knee.batch:.0f}"
    return Test(
        "batch sweep",
        "shown" if knee.free_until >= 2 else "refuted" if knee.batch < 2.0 else "undecided",
        f"sequences are nearly free up to batch {knee.free_until}; the flat time and the cost of "
        f"batch {sweep[-1].batch} cross at batch {where}; the latter gives {_factor(gain)} the "
        "tokens per second of batch 1",
        "a knee at batch 1: every sequence more would cost as much as the first",
    )


def _longer(run: Run) -> Iterator[Test]:
    sweep = run.group("context")
    if len(sweep) < 2:
        return
    first, last = sweep[0], sweep[-1]
    more_ms = median(last.times_ms) - median(first.times_ms)
    more_gb = (last.bytes - first.bytes) / 1e9
    noise = spread(first.times_ms) * median(first.times_ms)
    if more_ms <= noise:
        yield Test(
            "context sweep",
            "undecided",
            f"{more_gb:.2f} GB more of KV cache take no time that the noise lets see",
            "time that does not rise with the cache's bytes",
        )
        return
    rate = more_gb / (more_ms / 1e3)
    share = rate / run.machine.streaming_gbs
    yield Test(
        "context sweep",
        "shown" if 0.3 <= share <= _IMPOSSIBLE_MBU else "refuted",
        f"the cache is read at {rate:.1f} GB/s ({share:.0%} of streaming) from {first.context} to "
        f"{last.context} tokens",
        "below 30% of the streaming bandwidth: attention is then limited by something else",
    )


def _levers(run: Run) -> Iterator[LeverRow]:
    for trial in run.trials:
        if trial.name != BASELINE:
            yield LeverRow(
                trial.name, trial.group, trial.bytes / 1e9, trial.predicted, speedup(run, trial)
            )


def _factor(ratio: Ratio) -> str:
    return f"{ratio.mid:.2f}x ({ratio.low:.2f}-{ratio.high:.2f})"
