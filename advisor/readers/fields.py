"""The fields of a proposal as typed values, each with its place; what does not fit is a finding.

Every function takes the node of a value and the collector of problems, and returns None where
the value is absent or could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from advisor.problems import Problems, nearest, shown
from advisor.proposal import Sentence, Stated
from advisor.quantity import READABLE, Dimension, Quantity, QuantityError, parse_quantity
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode, is_nothing

_NO_WORDS: Final[Mapping[str, str]] = MappingProxyType({})
MAX_NAME: Final = 300
"""Characters of a name, format or amount; sentences may be longer."""
MAX_SENTENCE: Final = 4000


def described(node: Node) -> str:
    """What a value is, in words."""
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, MapNode):
        return "a mapping"
    value = node.value
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true or false"
    return "text" if isinstance(value, str) else "a number"


def known_entries(
    node: Node,
    field: str,
    known: Iterable[str],
    problems: Problems,
    *,
    example: str,
    meant: Mapping[str, str] = _NO_WORDS,
) -> dict[str, Entry]:
    """The entries of a mapping that has only `known` keys; unknown keys are reported."""
    if is_nothing(node):
        return {}
    if not isinstance(node, MapNode):
        problems.add(
            "E904",
            node.span,
            f"{field} is a mapping, not {described(node)}",
            instead=f"write {field}: {example}",
        )
        return {}
    names = tuple(known)
    found: dict[str, Entry] = {}
    for entry in node.entries:
        key = entry.key.text
        if key in names:
            found[key] = entry
        else:
            unknown_key(entry, f"in {field}", names, problems, meant=meant)
    return found


def unknown_key(
    entry: Entry,
    where: str,
    known: Iterable[str],
    problems: Problems,
    *,
    meant: Mapping[str, str] = _NO_WORDS,
) -> str:
    """Report a key nobody knows; returns the known one it was probably meant to be, or ""."""
    names = tuple(known)
    key = entry.key.text
    if number := _cut_number(entry, problems):
        problems.add(
            "E905",
            entry.key.span,
            f"a comma between {{ and }} ends the value, so {number} is cut in two",
            instead=f"write {number.replace(',', '')}, or quote it",
        )
        return ""
    near = "" if problems.full else nearest(key, names, meant)
    hint = f"; did you mean {near}?" if near else ""
    problems.add(
        "E903",
        entry.key.span,
        f"unknown key {shown(key)} {where}{hint}",
        instead=f"known: {', '.join(names)}",
    )
    return near


def _cut_number(entry: Entry, problems: Problems) -> str:
    """The number 4,096 whose second half YAML takes for a key of `{context: 4,096}`; or ""."""
    if not is_nothing(entry.value) or not re.fullmatch("[0-9]{3}", entry.key.text):
        return ""
    text = problems.source.text
    start, end = entry.key.outer
    before = re.search("[0-9]{1,3},$", text[max(start - 4, 0) : start])
    return f"{before[0]}{text[start:end]}" if before else ""


def text_of(node: Node, field: str, problems: Problems, *, example: str) -> Stated[str] | None:
    """A name, format or title as it is written."""
    scalar = _scalar(node, field, problems, "text", example)
    if scalar is None:
        return None
    text = scalar.text.strip()
    if not text or len(text) > MAX_NAME:
        size = "empty" if not text else f"{len(text):,} characters long"
        problems.add("E904", scalar.span, f"{field} is {size}", instead=f"write {field}: {example}")
        return None
    return Stated(text, "given", scalar.span)


def count_of(
    node: Node, field: str, problems: Problems, dimension: Dimension = Dimension.COUNT
) -> Stated[int] | None:
    """A whole number above zero, such as a batch or a number of tokens."""
    read = quantity_of(node, field, dimension, problems)
    if read is None:
        return None
    if read.low != read.high:
        problems.add(
            "E905",
            node.span,
            f"{field} is one number, and this is a range",
            instead="write one proposal (after ---) for each number",
        )
        return None
    return Stated(int(read.value), "given", node.span)


def quantity_of(
    node: Node, field: str, dimension: Dimension, problems: Problems, *, unit: str | None = None
) -> Quantity | None:
    """An amount; `unit` is the unit of a plain number."""
    first = READABLE[dimension].split(", ")[0]
    scalar = _scalar(node, field, problems, "an amount", first)
    if scalar is None:
        return None
    if len(scalar.text) > MAX_NAME:
        message = f"{field} is {len(scalar.text):,} characters long"
        problems.add("E905", scalar.span, message, instead=f"write {field}: {first}")
        return None
    try:
        return parse_quantity(scalar.value, dimension, unit=unit)
    except QuantityError as error:
        problems.add("E905", scalar.span, f"{field}: {error}", instead=f"write {field}: {first}")
        return None


def choice_of(
    node: Node, field: str, choices: tuple[str, ...], problems: Problems
) -> Stated[str] | None:
    """One of a few words."""
    stated = text_of(node, field, problems, example=choices[0])
    if stated is None:
        return None
    word = stated.value.lower()
    if word in choices:
        return Stated(word, "given", stated.span)
    near = nearest(word, choices)
    hint = f"; did you mean {near}?" if near else ""
    problems.add(
        "E906",
        node.span,
        f"{field} is {' or '.join(choices)}, not {shown(stated.value)}{hint}",
        instead=f"write {field}: {near or choices[0]}",
    )
    return None


def sentences_of(
    node: Node, field: str, problems: Problems, *, example: str
) -> tuple[Sentence, ...]:
    """A sentence or a list of sentences. A sentence on one line has the text of its span."""
    found: list[Sentence] = []
    for item in node.items if isinstance(node, ListNode) else (node,):
        scalar = _scalar(item, field, problems, "a sentence or a list of sentences", example)
        if scalar is None:
            continue
        value = scalar.value
        if isinstance(value, int | float):
            problems.add(
                "E905",
                scalar.span,
                f"{field}: {shown(scalar.text)} does not say what it is a number of",
                instead=f"write {field}: {example}",
            )
        elif len(scalar.text) > MAX_SENTENCE:
            problems.add(
                "E904",
                scalar.span,
                f"{field} is {len(scalar.text):,} characters long",
                instead="state one thing in a sentence",
            )
        elif scalar.text.strip():
            found.append(Sentence(scalar.text.strip(), scalar.span))
    return tuple(found)


def _scalar(
    node: Node, field: str, problems: Problems, expected: str, example: str
) -> ScalarNode | None:
    if isinstance(node, ScalarNode):
        return None if node.value is None else node
    problems.add(
        "E904",
        node.span,
        f"{field} is {expected}, not {described(node)}",
        instead=f"write {field}: {example}",
    )
    return None
