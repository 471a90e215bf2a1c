"""docs/mutation.md: the figures of a sample, and what is to be said of each survivor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml

from benchmarks.mutants import SLOW, SURVIVED, Mutant, Result

BAR: Final = 0.85
_REASONS: Final = Path(__file__).with_name("equivalent_mutants.yaml")
_Place = tuple[str, str, str]
"""Module, function, change: what stays the same while lines move."""


def reasons() -> dict[_Place, str]:
    """Why a change makes no difference that anybody can see."""
    return {
        (row["path"], row["where"], change): row["reason"]
        for row in yaml.safe_load(_REASONS.read_text())
        for change in row["changes"]
    }


def page(seed: int, results: Sequence[Result], date: str) -> str:
    """The page, from the results of one sample."""
    known = reasons()
    survivors = sorted(one for one in results if one.first == SURVIVED)
    fixed = [one.mutant for one in survivors if one.now != SURVIVED]
    left = [one.mutant for one in survivors if one.now == SURVIVED]
    same = [one for one in left if _place(one) in known]
    still = [one for one in left if _place(one) not in known]
    noticed = len(results) - len(survivors)
    slow = sum(one.first == SLOW for one in results)
    lines = [
        "# Mutation testing",
        "",
        "Written by `python -m benchmarks.mutation --write`. benchmarks/mutants.py says what is",
        "changed, and how: the rules, the audit and what rules take their facts from; not",
        "messages, pages and metadata. A mutant that no test notices survives.",
        "",
        (
            f"{date}, seed {seed}: **{noticed} of {len(results)} mutants noticed"
            f" ({noticed / len(results):.1%})**, {slow} of them by the time limit, where"
            f" {BAR:.0%} are asked for. Of the {len(survivors)} that survived, {len(same)} change"
            f" nothing that anybody can see, {len(fixed)} are noticed by tests written since or"
            " have no code left, and"
            f" {len(still)} are left."
        ),
        "",
        "| where | mutants | noticed |",
        "|---|---|---|",
        *_by_place(results),
        "",
        "## Nothing that anybody can see",
        "",
        *_listed(same, known),
        "",
        "## Noticed since",
        "",
        *_listed(fixed, known),
        "",
        "## Left",
        "",
        *_listed(still, known),
        "",
    ]
    return "\n".join(lines)


def _place(mutant: Mutant) -> _Place:
    return mutant.path, mutant.where, mutant.change


def _by_place(results: Sequence[Result]) -> list[str]:
    count: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    for one in results:
        place = "rules" if one.mutant.path.startswith("rules/") else one.mutant.path
        count[place] += 1
        noticed[place] += one.first != SURVIVED
    return [f"| {place} | {count[place]} | {noticed[place]} |" for place in sorted(count)]


def _listed(survivors: Sequence[Mutant], known: Mapping[_Place, str]) -> list[str]:
    if not survivors:
        return ["None."]
    rows = []
    for one in survivors:
        name = Path(one.path).name.partition("_")[0].removesuffix(".py")
        where = f"{name.upper() if one.path.startswith('rules/') else name} `{one.where or '-'}`"
        change = one.change.replace("|", "\\|")
        why = f": {known[_place(one)]}" if _place(one) in known else ""
        rows.append(f"- {where} `{change}`{why}")
    return rows
