"""The pages of docs/rules and docs/levers, made of what `rooflint explain` shows."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.explain import Page, find_page
from advisor.levers import LEVERS, lever_class
from advisor.rulebook import LoadedRule, load_rules

FAMILIES = {
    "FLP": "Arithmetic only",
    "CLM": "Claims against ceilings",
    "PRE": "Storage and preconditions",
    "PHS": "The wrong phase",
    "BAT": "The wrong batch",
    "CAP": "Capacity for bandwidth",
    "HW": "Hardware support",
    "ENG": "Engine support",
    "KV": "KV cache and long context",
    "MOE": "Mixtures of experts",
    "SPC": "Speculation",
    "PAR": "Parallelism and communication",
    "MEA": "Measuring",
    "TXT": "Prose",
}
"""Heading of each family, in the order of the table."""


def rule_pages() -> Iterator[tuple[str, str]]:
    """The table of all rules, then a page for each, as (file name, text)."""
    yield "README.md", _rule_table()
    for loaded in load_rules():
        yield f"{loaded.rule.code}.md", _text(find_page(loaded.rule.code))


def lever_pages() -> Iterator[tuple[str, str]]:
    """The table of all levers, then a page for each, as (file name, text)."""
    yield "README.md", _lever_table()
    for kind in LEVERS:
        yield f"{kind}.md", _text(find_page(kind))


def _text(page: Page) -> str:
    return f"# {page.title}\n\n{page.markdown.strip()}\n"


def _rule_table() -> str:
    lines = [
        "# Rules",
        "",
        "Each page is what `rooflint explain CODE` shows. An error is impossible or cannot run, a",
        "warning gains nothing or loses, an info asks. Errors and warnings of high confidence are",
        "told by default, the rest with `--strict`.",
    ]
    by_family: dict[str, list[LoadedRule]] = {}
    for loaded in load_rules():
        by_family.setdefault(loaded.rule.family, []).append(loaded)
    for family in sorted(by_family, key=list(FAMILIES).index):
        lines += ["", f"## {FAMILIES[family]}", "", "| code | name | severity | confidence |"]
        lines += ["|---|---|---|---|"]
        for loaded in by_family[family]:
            rule = loaded.rule
            lines.append(
                f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.label}"
                f" | {rule.confidence.label} |"
            )
    return "\n".join(lines) + "\n"


def _lever_table() -> str:
    lines = [
        "# Levers",
        "",
        "What can stand under `levers:` of a proposal. Each page is what `rooflint explain KIND`",
        "shows.",
        "",
        "| kind | what it is | acts on | also called |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| [{kind}]({kind}.md) | {entry.about} | {lever_class(kind).nature.value} | {entry.also} |"
        for kind, entry in LEVERS.items()
    ]
    return "\n".join(lines) + "\n"
