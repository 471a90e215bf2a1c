"""A change of configuration for people: one sentence, one small table, what is not estimated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from advisor.diffing import Change, Differences, Side
from advisor.reports.columns import table
from advisor.reports.style import Style, clean, wrap
from advisor.wording import digits, factor, factors, gigabytes, size, span_of

_INDENT: Final = "  "
_UNCHANGED: Final = 0.005
_HEADING: Final = ("", "before", "after")


def headline(change: Change) -> str:
    """What the change does, in one sentence."""
    speedup = change.speedup
    before, after = change.before.step, change.after.step
    times = (before.estimate.tpot_ms.mid, after.estimate.tpot_ms.mid)
    parts = [_time(speedup.mid, factors(speedup), times)]
    one, other = _bytes(change.before), _bytes(change.after)
    if one != other:
        parts.append(f"{one} -> {other} GB a token")
    rooms = (_largest(change.before), _largest(change.after))
    if rooms[0] != rooms[1]:
        parts.append(f"room for {rooms[0]} -> {rooms[1]} sequences")
    return f"{clean(change.title)}: {'; '.join(parts)}"


def _time(ratio: float, shown: str, times: tuple[float, float]) -> str:
    moved = f"{digits(times[0])} -> {digits(times[1])} ms"
    if abs(ratio - 1.0) < _UNCHANGED:
        return f"a token takes as long as before, {digits(times[1])} ms"
    if ratio > 1.0:
        return f"a token is {factor(ratio)} ({shown}) faster, {moved}"
    return f"a token takes {factor(1.0 / ratio)} as long, {moved}"


def _bytes(side: Side) -> str:
    step = side.step
    total = step.ledger.memory_bytes / step.estimate.tokens_per_step
    ways = step.ledger.ranks
    return gigabytes(total) if ways == 1 else f"{digits(ways, 1)} x {gigabytes(total)}"


def _largest(side: Side) -> str:
    """Sequences of the context's length that fit over all replicas."""
    step = side.step
    split = step.deployment.parallelism
    fit = step.estimate.capacity.largest_batch * split.data * split.attention_data
    return f"{fit:,}" if fit < 2**31 else "any number of"


def rows_of(change: Change) -> tuple[tuple[str, str, str], ...]:
    """The small table: what is read, how long it takes, what fits."""
    sides = (change.before, change.after)
    deployment = change.after.step.deployment
    rows = [
        ("GB read a token", *(_bytes(side) for side in sides)),
        ("step, ms", *(_interval(side) for side in sides)),
        ("tokens/s, one sequence", *(_speed(side) for side in sides)),
        ("memory of a device", *(_memory(side) for side in sides)),
        (f"largest batch at {deployment.context:,} tokens", *(_largest(side) for side in sides)),
        ("devices", *(str(side.step.deployment.devices) for side in sides)),
    ]
    limits = tuple(side.sequences for side in sides)
    if any(limit is not None for limit in limits):
        shown = ("not set" if limit is None else f"{limit:,}" for limit in limits)
        rows.append(("limit of sequences", *shown))
    return tuple((row[0], row[1], row[2]) for row in rows)


def _interval(side: Side) -> str:
    expected = side.step.estimate.expected_ms
    return f"{digits(expected.mid)} ({span_of(expected)})"


def _speed(side: Side) -> str:
    return digits(side.step.estimate.tokens_per_second.mid, 2)


def _memory(side: Side) -> str:
    capacity = side.step.estimate.capacity
    verb = "" if capacity.fits else ", does not fit"
    return f"{size(capacity.needed_bytes)} of {size(capacity.available_bytes)}{verb}"


def diff_text(found: Differences, style: Style) -> str:
    """Every change for a terminal."""
    lines: list[str] = []
    for change in found.changes:
        lines += wrap(headline(change), style.width)
        lines += [_INDENT + line for line in table(_HEADING, rows_of(change), style, right=" rr")]
        for remark in _remarks(change):
            lines += [_INDENT + part for part in wrap(remark, style.width - len(_INDENT))]
        lines.append("")
    lines += _rest(found)
    return "".join(f"{line}\n" for line in lines)


def diff_markdown(found: Differences) -> str:
    """Every change for a pull request."""
    lines: list[str] = []
    for change in found.changes:
        lines += [f"**{headline(change)}**", ""]
        lines += [_cells(_HEADING), "|---|---:|---:|"]
        lines += [_cells(row) for row in rows_of(change)]
        lines.append("")
        lines += [f"- {_escaped(remark)}" for remark in _remarks(change)]
        lines.append("")
    lines += [_escaped(line) for line in _rest(found)]
    return "".join(f"{line}\n" for line in lines)


def _cells(row: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in row) + " |"


def _escaped(text: str) -> str:
    return clean(text).replace("|", "\\|")


def _remarks(change: Change) -> Iterator[str]:
    """What is not estimated, and what the figures rest on."""
    for one in change.not_estimated():
        yield f"not estimated: {one}"
    assumed = change.assumed()
    if assumed:
        yield f"assumed: {'; '.join(assumed)}"


def _rest(found: Differences) -> Iterator[str]:
    for word, sides in (("new", found.added), ("gone", found.removed)):
        for side in sides:
            name = ": ".join(part for part in (side.path, side.title) if part)
            estimate = side.step.estimate
            yield (
                f"{word}: {clean(name) or 'a setup'}, {_bytes(side)} GB a token,"
                f" {digits(estimate.tpot_ms.mid)} ms"
            )
    for told in dict.fromkeys(f"{one.path}: {one.message}" for one in found.problems):
        yield f"not read: {told}"
    if found.same:
        more = "more " if found.changes or found.added or found.removed else ""
        verb = "reads" if found.same == 1 else "read"
        what = more or ("setup " if found.same == 1 else "setups ")
        yield f"{found.same} {what}{verb} as many bytes in as much time as before"
    if not (found.changes or found.added or found.removed or found.same):
        yield "no setup of a deployment on either side"
