"""Functions that something else calls: threads, executors, partial application."""

from __future__ import annotations

import ast
from typing import Final

from advisor.readers.python.values import Made, Mapping, Member, Sequence, Value, symbol_of, usual

_FIRST: Final = frozenset({"partial", "submit", "to_thread", "apply_async"})
"""Calls whose first argument is called with the others."""
_STARTED: Final = frozenset({"Thread", "Process", "Timer"})
"""Classes that call their target with `args` and `kwargs`."""


Keywords = dict[str, tuple[ast.AST, Value]]


def handed_on(made: Made) -> Made | None:
    """The call that another one makes: `Thread(target=f, kwargs=k)` calls f; None for any other."""
    last = made.name.rpartition(".")[2]
    if last in _STARTED:
        target = made.keywords.get("target") or made.keywords.get("function")
        called: Value | None = target[1] if target else None
        positional, named = made.keywords.get("args"), made.keywords.get("kwargs")
        args = usual(positional[1]) if positional else None
        keywords = usual(named[1]) if named else None
        return _calls(
            made,
            called,
            args.items if isinstance(args, Sequence) else [],
            dict(keywords.entries) if isinstance(keywords, Mapping) else {},
        )
    if last in _FIRST and made.args:
        return _calls(made, made.args[0], made.args[1:], made.keywords)
    if last == "run_in_executor" and len(made.args) > 1:
        return _calls(made, made.args[1], made.args[2:], made.keywords)
    return None


def _calls(made: Made, called: Value | None, args: list[Value], keywords: Keywords) -> Made | None:
    if called is None:
        return None
    method = usual(called)
    if isinstance(method, Member):
        name = f".{method.name}"
        return Made(made.node, name, args, keywords, method.receiver, made.used_by)
    name = symbol_of(called)
    return Made(made.node, name, args, keywords, None, made.used_by) if name else None
