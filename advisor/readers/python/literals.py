"""A dict or an instance that is a proposal, and config fields annotated with a lever.

PROPOSAL = {"rooflint": 1, "model": "Llama-3.1-8B", "levers": [{"kind": "prune", ...}]}

@dataclass
class Plan:
    sparsity: Annotated[float, "rooflint: prune.unstructured storage=dense"] = 0.3
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.problems import Problems
from advisor.readers.python.directives import Directive, read_directive
from advisor.readers.python.flow import Flow
from advisor.readers.python.nodes import Nodes, scalar
from advisor.readers.python.syntax import Places
from advisor.readers.python.values import Mapping
from advisor.readers.yaml_nodes import MapNode, ScalarNode
from advisor.source import Source, Span

_KEY: Final = "rooflint"


class Annotated(NamedTuple):
    """The annotated fields of one class."""

    span: Span
    directives: tuple[Directive, ...]


def documents(tree: ast.Module, flow: Flow, source: Source, places: Places) -> Iterator[MapNode]:
    """Module-level values that are proposals, as documents of the dialect."""
    nodes = Nodes(source, places)
    for statement in tree.body:
        value: ast.expr | None = None
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            value = statement.value
        elif isinstance(statement, ast.ClassDef) and _states(statement):
            fields = flow.fields_of(statement)
            inside = Mapping(statement, dict(fields), is_namespace=True)
            root = nodes.of(inside)
            if isinstance(root, MapNode):
                yield root
            continue
        items = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        for item in items:
            if isinstance(item, ast.Dict | ast.Call) and _mentions(item):
                root = nodes.of(flow.evaluate(item))
                if isinstance(root, MapNode) and any(e.key.text == _KEY for e in root.entries):
                    yield root


def _mentions(node: ast.Dict | ast.Call) -> bool:
    if isinstance(node, ast.Dict):
        return any(isinstance(key, ast.Constant) and key.value == _KEY for key in node.keys)
    return any(word.arg == _KEY for word in node.keywords)


def _states(node: ast.ClassDef) -> bool:
    """Whether a class has the field `rooflint` with a value."""
    for item in node.body:
        target = item.target if isinstance(item, ast.AnnAssign) else None
        if isinstance(item, ast.Assign):
            target = item.targets[0]  # type: ignore[assignment]
        if isinstance(target, ast.Name) and target.id == _KEY and getattr(item, "value", None):
            return True
    return False


def annotated_classes(
    tree: ast.Module, flow: Flow, source: Source, places: Places, problems: Problems
) -> Iterator[Annotated]:
    """Classes whose fields carry an annotation, in order of the text."""
    nodes = Nodes(source, places)
    places_to_look: list[ast.Module | ast.ClassDef] = [tree]
    places_to_look += (item for item in ast.walk(tree) if isinstance(item, ast.ClassDef))
    for node in places_to_look:
        found: list[Directive] = []
        for item in node.body:
            if not isinstance(item, ast.AnnAssign):
                continue
            for word in _words(item.annotation):
                default = flow.default_of(item.value) if item.value is not None else None
                own = nodes.of(default) if default is not None else None
                text = places.span(word)
                start = source.text.find("rooflint", text.start, text.end)
                directive = read_directive(
                    str(word.value).strip(), max(start, text.start), problems,
                    own if isinstance(own, ScalarNode) else scalar("", text),
                )  # fmt: skip
                found += () if directive is None else (directive,)
        if found:
            yield Annotated(places.span(node) if isinstance(node, ast.ClassDef) else source.whole(),
                            tuple(found))  # fmt: skip


def _words(annotation: ast.expr) -> Iterator[ast.Constant]:
    """The texts of `Annotated[...]` that begin with "rooflint:"."""
    for node in ast.walk(annotation):
        if (
            isinstance(node, ast.Subscript)
            and getattr(node.value, "attr", getattr(node.value, "id", "")) == "Annotated"
        ):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
            for part in parts[1:]:
                if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
                    continue
                if part.value.strip().startswith("rooflint:"):
                    yield part
