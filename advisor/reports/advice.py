"""The answer of `rooflint advise`: what pays here, what does not and why, and the best stacks."""

from __future__ import annotations

from advisor.advise import Advice, Ranking
from advisor.reports.columns import table
from advisor.reports.style import Style
from advisor.roofline import Interval
from advisor.wording import factor, factors, gigabytes, size

_METRIC = {"latency": "faster", "throughput": "tok/s", "memory": "faster"}


def advice_text(ranking: Ranking, style: Style) -> str:
    """Tables of what helps and of stacks, and a line for each lever that does not help."""
    lines = [style.paint(f"what pays for {ranking.goal}, alone", "heading")]
    heading = ("lever", _METRIC[ranking.goal], "ceiling", "GB/token", "frees", "quality", "needs")
    if ranking.helping:
        rows = [_row(advice, ranking) for advice in ranking.helping]
        lines += table(heading, rows, style, right="lrrrr", last="wrap")
    else:
        lines.append("nothing tried here pays by more than 2%")
    if ranking.stacks:
        lines += ["", style.paint("together (one deployment each, no product)", "heading")]
        stacks = [_stack_row(advice) for advice in ranking.stacks]
        names = ("levers", _METRIC[ranking.goal], "GB/token", "frees")
        lines += table(names, stacks, style, right="lrrr")
    if ranking.useless:
        lines += ["", style.paint("what would not help", "heading")]
        useless = [(advice.label, advice.reason(ranking.goal)) for advice in ranking.useless]
        lines += table(("lever", "because"), useless, style, last="wrap")
    return "\n".join(lines) + "\n"


def _row(advice: Advice, ranking: Ranking) -> tuple[str, ...]:
    idea = advice.ideas[0]
    fits = "" if advice.fits else "does not fit; "
    ceiling = factor(advice.ceiling) if ranking.goal == "latency" else ""
    return (
        advice.label, _gain(advice.gain), ceiling, gigabytes(advice.bytes_per_token),
        _freed(advice), idea.risk, fits + idea.needs,
    )  # fmt: skip


def _stack_row(advice: Advice) -> tuple[str, ...]:
    label = advice.label if advice.fits else f"{advice.label} (does not fit)"
    return (label, _gain(advice.gain), gigabytes(advice.bytes_per_token), _freed(advice))


def _gain(gain: Interval) -> str:
    return f"{factor(gain.mid)} ({factors(gain).removesuffix('x')})"


def _freed(advice: Advice) -> str:
    if abs(advice.freed_bytes) < 1e6:
        return "-"
    sign = "-" if advice.freed_bytes < 0 else ""
    return sign + size(abs(advice.freed_bytes))
