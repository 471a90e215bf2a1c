"""One walk over a tree: what the other passes ask for, so that none walks it again."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


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
        if kind is ast.Call:
            assert isinstance(node, ast.Call)
            found.calls.append(node)
            found.called.add(last_word(node.func))
        elif kind is ast.If:
            assert isinstance(node, ast.If)
            found.branches.append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
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
        for name in node._fields:
            child = getattr(node, name, None)
            if type(child) is list:
                waiting += (item for item in child if isinstance(item, ast.AST))
            elif isinstance(child, ast.AST) and child._fields:
                waiting.append(child)
    found.called |= {names[word] for word in found.called & names.keys()}
    found.functions.sort(key=lambda node: node.lineno)
    found.classes.sort(key=lambda node: node.lineno)
    found.branches.sort(key=lambda node: node.lineno)
    found.calls.sort(key=lambda node: (node.lineno, node.col_offset))
    return found
