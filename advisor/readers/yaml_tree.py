"""YAML text as a tree of nodes.

Only events are read: no tag is resolved, no object constructed, and the tree is built without
recursion under limits on depth and on the number of values, aliases counted as what they stand
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import yaml

from advisor.finding import Finding, Note
from advisor.problems import Problems, nearest, shown
from advisor.readers.yaml_errors import report
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode, is_nothing
from advisor.source import Source, Span

MAX_DEPTH: Final = 100
"""A proposal is about five levels deep, a model's config about eight."""
MAX_VALUES: Final = 50_000
"""Keys and values of one file, each alias counted as what it stands for."""

MAX_DOCUMENTS: Final = 500

_Begins: TypeAlias = yaml.ScalarEvent | yaml.CollectionStartEvent

_FEW_ANCHORS: Final = 50
_STANDARD_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")
) | {"!"}
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
# JSON writes characters beyond U+FFFF as two escapes, which YAML does not know.
_SURROGATES: Final = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_PROPERTIES: Final = re.compile(r"(?:[&!]\S*(?:\s+(?:#[^\n\r]*)?)*)*")
_MARKS: Final = re.compile("\\A\ufeff+")
_LINE_END: Final = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")


class Composed(NamedTuple):
    """The documents of a file and what is wrong with its YAML."""

    documents: tuple[Node, ...]
    """Those that could be read whole; empty ones left out."""
    problems: tuple[Finding, ...]
    whole: bool
    """Whether the file was read to its end."""


class _Placed(NamedTuple):
    """A node with what it costs."""

    node: Node
    size: int
    height: int
    alias: bool = False


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    is_map: bool
    start: int
    flow: bool
    anchor: str | None
    children: list[_Placed] = field(default_factory=list)


class _StopReadingError(Exception):
    """The rest of the file is not worth reading; the finding is made."""


def compose(source: Source) -> Composed:
    """Read the YAML documents of a text."""
    problems = Problems(source)
    documents: list[Node] = []
    whole = False
    if match := _UNPRINTABLE.search(source.text):
        problems.add(
            "E902",
            Span(*match.span()),
            f"the control character U+{ord(match[0]):04X} cannot stand in YAML",
            instead="remove it, or write it as an escape in double quotes",
        )
        return Composed((), tuple(problems.found), whole)
    builder = _Builder(source, problems)
    try:
        for root in builder.documents():
            documents += () if is_nothing(root) else (root,)
        whole = True
    except yaml.YAMLError as error:
        report(error, problems)
    except _StopReadingError:
        pass
    return Composed(tuple(documents), tuple(problems.found), whole)


class _Builder:
    """Builds nodes from the events of one text."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.text = source.text
        self.problems = problems
        self.anchors: dict[str, _Placed | None] = {}
        self.stack: list[_Open] = []
        self.values = 0
        self.roots = 0

    def documents(self) -> Iterator[Node]:
        """The root of each document, as soon as it is whole."""
        text = _SURROGATES.sub(r"\\uFFFD\\uFFFD", self.text)
        # Further byte-order marks at the start: the parser would not count the first of them.
        text = _MARKS.sub(lambda match: "\n" * len(match[0]), text)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        for event in yaml.parse(text, Loader=loader):
            placed: _Placed | None = None
            if isinstance(event, yaml.ScalarEvent):
                self.check_tag(event)
                placed = _Placed(self.scalar(event), 1, 1)
                if event.anchor is not None:
                    self.anchors[event.anchor] = placed
            elif isinstance(event, yaml.AliasEvent):
                placed = self.alias(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self.check_tag(event)
                self.open(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                placed = self.close(_place(event).end)
            elif isinstance(event, yaml.DocumentStartEvent):
                self.anchors.clear()
            if placed is None:
                continue
            self.count(placed)
            if self.stack:
                self.stack[-1].children.append(placed)
            else:
                self.roots += 1
                if self.roots > MAX_DOCUMENTS:
                    message = f"more than {MAX_DOCUMENTS} documents; the rest is not read"
                    span = placed.node.span
                    self.problems.add("E908", span, message, instead="split the file")
                    raise _StopReadingError
                yield placed.node

    def count(self, placed: _Placed) -> None:
        """Stop where the file grows beyond its limits."""
        # A collection's children were counted one by one before it closed.
        self.values += placed.size if placed.alias else 1
        deep = len(self.stack) + placed.height > MAX_DEPTH
        if self.values > MAX_VALUES:
            message = f"more than {MAX_VALUES:,} values, aliases counted as what they stand for"
        elif deep:
            message = f"values are nested more than {MAX_DEPTH} deep"
        else:
            return
        self.problems.add(
            "E908", placed.node.span, message, instead="a proposal is a page of YAML, not a program"
        )
        raise _StopReadingError

    def open(self, event: yaml.CollectionStartEvent) -> None:
        """Begin a list or mapping."""
        is_map = isinstance(event, yaml.MappingStartEvent)
        self.stack.append(_Open(is_map, self.start(event), bool(event.flow_style), event.anchor))
        if event.anchor is not None:
            self.anchors[event.anchor] = None  # not yet whole: an alias to it would be endless
        if len(self.stack) > MAX_DEPTH:
            start = _place(event).start
            self.count(_Placed(ListNode((), Span(start, start + 1)), 1, 1))

    def close(self, end: int) -> _Placed:
        """End the innermost list or mapping."""
        opened = self.stack.pop()
        children = opened.children
        last = children[-1].node.outer.end if children else end
        span = Span(opened.start, end if opened.flow else last)
        node: Node
        if opened.is_map:
            node = MapNode(self.entries(children), span)
        else:
            node = ListNode(tuple(child.node for child in children), span)
        size = 1 + sum(child.size for child in children)
        height = 1 + max((child.height for child in children), default=0)
        placed = _Placed(node, size, height)
        if opened.anchor is not None:
            self.anchors[opened.anchor] = placed
        return placed

    def alias(self, event: yaml.AliasEvent) -> _Placed:
        """What an alias stands for, at the place of the alias."""
        span = _place(event)
        name = event.anchor or ""
        target = self.anchors.get(name)
        if target is None:
            if name in self.anchors:
                message = f"*{name} stands inside &{name}: it would hold itself"
                instead = "name another value"
            else:
                message = f"nothing before this is named &{name}"
                few = len(self.anchors) <= _FEW_ANCHORS
                near = nearest(name, self.anchors) if few else ""
                instead = f"did you mean *{near}?" if near else f"write &{name} before the value"
            self.problems.add("E902", span, message, instead=instead)
            return _Placed(ScalarNode("", span, span, plain=True), 1, 1, alias=True)
        return _Placed(_moved(target.node, span), target.size, target.height, alias=True)

    def start(self, event: _Begins) -> int:
        """Where a value itself begins, after its anchor and tag."""
        begin, end = _place(event)
        if event.anchor is None and event.tag is None:
            return begin
        match = _PROPERTIES.match(self.text, begin)
        begin = match.end() if match else begin
        return min(begin, end) if isinstance(event, yaml.ScalarEvent) else begin

    def scalar(self, event: yaml.ScalarEvent) -> ScalarNode:
        """One scalar with its spans."""
        start, end = self.start(event), _place(event).end
        text: str = event.value
        style = event.style
        if style in {"|", ">"}:
            raw = self.text[start:end].rstrip()
            outer = Span(start, start + len(raw))
            header = _LINE_END.search(raw)
            body = raw[header.end() :] if header else ""
            first = outer.end - len(body.lstrip())
            return ScalarNode(text, Span(first, outer.end) if body else outer, outer, plain=False)
        outer = Span(start, end)
        if style not in {"'", '"'}:
            return ScalarNode(text, outer, outer, plain=event.implicit[0])
        inner = Span(start + 1, end - 1) if end - start > 2 else outer
        if style == '"' and "\ufffd\ufffd" in text:
            text = self.joined(text, inner)
        return ScalarNode(text, inner, outer, plain=False)

    def joined(self, text: str, span: Span) -> str:
        """The text with the characters that stood as two escapes."""
        pairs = (
            chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
            for high, low in _SURROGATES.findall(self.text, span.start, span.end)
        )
        return re.sub("\ufffd\ufffd", lambda match: next(pairs, match[0]), text)

    def entries(self, children: list[_Placed]) -> tuple[Entry, ...]:
        """Pairs of a mapping: each key once, its own keys before merged ones."""
        own: dict[str, Entry] = {}
        merges: list[_Placed] = []
        for key, value in zip(children[::2], children[1::2], strict=True):
            if not isinstance(key.node, ScalarNode):
                self.problems.add(
                    "E904",
                    key.node.span,
                    "a key is a word, not a list or mapping",
                    instead="render templates first, and quote values that begin with { or [",
                )
            elif key.node.plain and key.node.text == "<<":
                merges.append(value)
            elif key.node.text in own:
                self.duplicate(key.node, own[key.node.text])
            else:
                own[key.node.text] = Entry(key.node, value.node)
        for merged in merges:
            for entry in self.merged(merged):
                own.setdefault(entry.key.text, entry)
        return tuple(own.values())

    def merged(self, value: _Placed) -> Iterator[Entry]:
        """Entries that a merge key brings in, earlier mappings of a list before later ones."""
        node = value.node
        parts = node.items if isinstance(node, ListNode) else (node,)
        for part in parts:
            # What comes through an alias stands where the alias stands.
            place = node.span if self.text.startswith("*", node.span.start) else part.span
            by_alias = self.text.startswith("*", place.start)
            if isinstance(part, MapNode):
                for key, entry in part.entries:
                    moved = key._replace(span=place, outer=place)
                    yield Entry(moved, _moved(entry, place)) if by_alias else Entry(key, entry)
            elif not is_nothing(part):
                self.problems.add(
                    "E904",
                    place,
                    "<< merges a mapping, and this is none",
                    instead="name a mapping: <<: *defaults",
                )

    def duplicate(self, key: ScalarNode, first: Entry) -> None:
        """Report a key that its mapping already has."""
        line = self.problems.source.position(first.key.span.start).line
        self.problems.add(
            "E910",
            key.span,
            f"{shown(key.text)} is given twice; the one at line {line} holds",
            instead="remove one of them",
            notes=(Note("first given here", first.pair),),
        )

    def check_tag(self, event: _Begins) -> None:
        """Report a tag that is not of plain YAML; the value is read as if it had none."""
        tag = event.tag
        if tag is None or tag in _STANDARD_TAGS:
            return
        start = _place(event).start
        found = re.compile(r"!\S*").search(self.text, start)
        span = Span(*found.span()) if found else Span(start, start)
        self.problems.add(
            "E912",
            span,
            f"the tag {shown(self.text[span.start : span.end])} is not acted on",
            instead='remove it; a text that begins with "!" needs quotes',
        )


def _place(event: yaml.Event) -> Span:
    """The place of an event; every event of a text has its marks."""
    start, end = event.start_mark, event.end_mark
    return Span(start.index if start else 0, end.index if end else 0)


def _moved(node: Node, span: Span) -> Node:
    """The same value at another place."""
    if isinstance(node, ScalarNode):
        return node._replace(span=span, outer=span)
    return node._replace(span=span)
