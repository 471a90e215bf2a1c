"""Values of manifests: variables, arguments, plain data, and places inside of values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from advisor.readers.flags import data_of, resolved
from advisor.readers.inner_text import InnerText
from advisor.readers.options import Value
from advisor.readers.words import Word, shell_words
from advisor.readers.yaml_nodes import ListNode, MapNode, Node, ScalarNode, is_nothing
from advisor.source import Span

SENTENCE: Final = re.compile(r"\s*(?:[-*] )?[A-Z][a-z]+ (?:[a-z]+\b|an? )")
"""How prose begins, and no command does."""


FLAG_TEXT: Final = re.compile(r"(?:^|[\s'\"])--?[a-zA-Z][\w-]{1,}")


def is_argument(text: str) -> bool:
    """Whether an item of a list is a flag."""
    return text.startswith("-") and len(text) > 1 and (text[1] == "-" or text[1].isalpha())


def words_of(scalars: list[ScalarNode], text: InnerText) -> Iterator[Word | None]:
    """Arguments of a list; one with white space in it is shell text."""
    for scalar in scalars:
        value = scalar.text
        shell = "\n" in value or (" " in value.strip() and _is_shell(value))
        if shell:
            yield from shell_words(text.inside(scalar))
            continue
        span = text.place(scalar.span)
        yield Word(value, span, text.inside(scalar) if value[:1] in "{[" else None)


def _is_shell(value: str) -> bool:
    if value.lstrip().startswith(("{", "[")):
        return False
    return bool(FLAG_TEXT.search(value))


def variables_of(node: Node) -> Iterator[tuple[str, ScalarNode | None, Span, Span]]:
    """Name, value, and their places, of each variable that has a literal value."""
    if isinstance(node, MapNode):
        for entry in node.entries:
            if isinstance(entry.value, ScalarNode) and not is_nothing(entry.value):
                yield entry.key.text, entry.value, entry.key.span, entry.value.span
    elif isinstance(node, ListNode):
        for item in node.items:
            if isinstance(item, ScalarNode):
                name, equals, _ = item.text.partition("=")
                if equals and re.fullmatch(r"\w+", name):
                    start = item.span.start
                    split = start + len(name)
                    yield name, None, Span(start, split), Span(split + 1, item.span.end)
            elif isinstance(item, MapNode):
                parts = {entry.key.text: entry for entry in item.entries}
                named, value = parts.get("name"), parts.get("value")
                if (
                    named is not None
                    and value is not None
                    and isinstance(named.value, ScalarNode)
                    and isinstance(value.value, ScalarNode)
                ):
                    yield (
                        named.value.text, value.value, named.value.span, value.value.span,
                    )  # fmt: skip


def literals_of(node: Node) -> Mapping[str, str]:
    """The literal values of variables, for those that refer to them."""
    found: dict[str, str] = {}
    if isinstance(node, ListNode):
        for item in node.items:
            if isinstance(item, ScalarNode):
                name, equals, value = item.text.partition("=")
                if equals:
                    found[name] = value
    for name, scalar, _, _ in variables_of(node):
        if scalar is not None:
            found[name] = scalar.text
    return found


def value_of(node: Node, variables: Mapping[str, str]) -> Value:
    """A value as plain data: templates open, JSON in quotes read."""
    if isinstance(node, ScalarNode):
        value = node.value
        if not isinstance(value, str):
            return value
        given = resolved(value, variables)
        return data_of(given) if isinstance(given, str) else given
    if isinstance(node, ListNode):
        return [value_of(item, variables) for item in node.items]
    return {entry.key.text: value_of(entry.value, variables) for entry in node.entries}


_DECISIVE: Final = (
    "method", "decoding_type", "speculative_model", "model", "quant_algo", "bits", "quant_method",
    "load_in_4bit", "load_in_8bit", "kv_connector", "config", "mode", "level",
)  # fmt: skip


def decisive(node: Node) -> tuple[str, ...]:
    """The key inside a mapping that decides what it sets; its first one where none does."""
    if not isinstance(node, MapNode) or not node.entries:
        return ()
    names = [entry.key.text for entry in node.entries]
    return (next((name for name in _DECISIVE if name in names), names[0]),)


def inner_key(node: Node, path: tuple[str, ...], text: InnerText) -> Span | None:
    """Where a key inside a value stands, in a mapping or in JSON in quotes."""
    if isinstance(node, ScalarNode):
        return key_span(text.inside(node), path)
    return _walked(node, path, text)


def key_span(inner: InnerText, path: tuple[str, ...]) -> Span | None:
    """Where a key inside a text of YAML or JSON stands in the file."""
    roots = inner.documents()
    return _walked(roots[0], path, inner) if roots else None


def _walked(node: Node, path: tuple[str, ...], text: InnerText) -> Span | None:
    span = None
    for name in path:
        if not isinstance(node, MapNode):
            return span
        entry = next((one for one in node.entries if one.key.text == name), None)
        if entry is None:
            return span
        span, node = text.place(entry.key.span), entry.value
    return span
