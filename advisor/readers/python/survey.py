"""One walk over a tree: what the other passes ask for, so that none walks it again."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(slots=True)
class Survey:
    """Nodes of a tree by kind, and the words it calls."""

    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=list)
    classes: list[ast.ClassDef] = field(default_factory=list)
    branches: list[ast.If] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)
    called: set[str] = field(default_factory=set)
    """Last words of what is called, under the names that imports give them."""
    documents: list[ast.Constant] = field(default_factory=list)
    """Texts of several lines that may be documents of their own."""


_LEAVES: Final = frozenset({ast.Name, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal,
                            type(None)})  # fmt: skip
"""Nodes in which nothing is called."""
_NO_NODES: Final = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "asname", "module", "level", "kind", "type_comment",
     "is_async", "simple", "conversion", "type_ignores", "rest", "cls", "kwd_attrs"}
)  # fmt: skip
"""Fields that hold no node, or none in which something is called."""
_FIELDS: Final = MappingProxyType(
    {
        kind: ()
        if kind in {ast.Constant, ast.Import, ast.ImportFrom, ast.alias}
        else tuple(
            name
            for name in kind._fields
            if name not in _NO_NODES
            and not (name == "name" or (name == "names" and kind is not ast.ImportFrom))
        )
        for kind in vars(ast).values()
        if isinstance(kind, type) and issubclass(kind, ast.AST)
    }
)
"""By kind of node: the fields that hold further ones."""


def last_word(node: ast.expr) -> str:
    """The attribute or name that an expression ends with; "" for others."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def survey(tree: ast.Module) -> Survey:
    """Walk the tree, in no order."""
    found = Survey()
    names: dict[str, str] = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind in _LEAVES:
            continue
        if kind is ast.Call:
            assert isinstance(node, ast.Call)
            found.calls.append(node)
            found.called.add(last_word(node.func))
        elif kind is ast.If:
            assert isinstance(node, ast.If)
            found.branches.append(node)
        elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            found.functions.append(node)
            found.called |= {last_word(decorator) for decorator in node.decorator_list}
        elif kind is ast.ClassDef:
            assert isinstance(node, ast.ClassDef)
            found.classes.append(node)
        elif kind is ast.ImportFrom or kind is ast.Import:
            for alias in getattr(node, "names", ()):
                if alias.asname:
                    names[alias.asname] = alias.name.rpartition(".")[2]
        elif kind is ast.Constant:
            assert isinstance(node, ast.Constant)
            if isinstance(node.value, str) and "\n" in node.value and ": " in node.value:
                found.documents.append(node)
        for name in _FIELDS.get(kind, ()):  # a pattern may hold a bare constant
            child = getattr(node, name)
            if type(child) is list:
                waiting += child
            elif child is not None:
                waiting.append(child)
    found.called |= {names[word] for word in found.called & names.keys()}
    found.functions.sort(key=lambda node: node.lineno)
    found.classes.sort(key=lambda node: node.lineno)
    found.branches.sort(key=lambda node: node.lineno)
    found.calls.sort(key=lambda node: (node.lineno, node.col_offset))
    return found
