"""Which branch a test takes: choices by a literal, and branches that leave."""

from __future__ import annotations

import ast


def leaves(body: list[ast.stmt]) -> bool:
    """Whether what follows a branch is not reached from it."""
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def literals_of(pattern: ast.pattern) -> list[object]:
    """The literals that a case of a `match` stands for."""
    if isinstance(pattern, ast.MatchOr):
        return [word for item in pattern.patterns for word in literals_of(item)]
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant):
        return [pattern.value.value]
    return []


def subject_of(test: ast.expr) -> str:
    """What a choice by a literal is on: `mode == "int4"`, `"int8" in name`; "" for other tests."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        one, other = test.left, test.comparators[0]
        if isinstance(test.ops[0], ast.In) and isinstance(one, ast.Constant):
            one, other = other, one
        literal = isinstance(other, ast.Constant) and isinstance(other.value, str | int)
        literal = literal or isinstance(other, ast.Tuple | ast.List | ast.Set)
        if literal and isinstance(test.ops[0], ast.Eq | ast.In):
            return ast.dump(one)
    called = test.func if isinstance(test, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr in {"startswith", "endswith"}:
        return ast.dump(called.value)
    return ""


def choices_in(body: list[ast.stmt]) -> dict[str, list[ast.expr]]:
    """Subjects of choices in a body, and the tests on each."""
    found: dict[str, list[ast.expr]] = {}
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.If):
            subject = subject_of(node.test)
            if subject:
                found.setdefault(subject, []).append(node.test)
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            waiting += ast.iter_child_nodes(node)
    return found
