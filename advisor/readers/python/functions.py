"""What a function of the file is given: arguments of its calls, else its defaults.

A base class of `flow.Flow`.
"""

from __future__ import annotations

import ast

from advisor.readers.python.declared import Declared
from advisor.readers.python.seen import Local
from advisor.readers.python.survey import Survey
from advisor.readers.python.values import Either, Made, Mapping, Value


class Functions(Declared):
    """Parameters and what is passed for them."""

    def __init__(self, known: Survey) -> None:
        """Keep the calls of the file's own functions; `known` is what a walk over it found."""
        super().__init__()
        self._sites = _call_sites(known)

    def _arguments(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, made: Made | None, local: Local
    ) -> dict[str, Value]:
        spec = node.args
        positional = [*spec.posonlyargs, *spec.args]
        scope: dict[str, Value] = {}
        names = [arg.arg for arg in positional]
        defaults: dict[str, Value] = {}
        for arg, default in zip(reversed(positional), reversed(spec.defaults), strict=False):
            defaults[arg.arg] = self.default_of(default)
        for arg, wanted in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if wanted is not None:
                defaults[arg.arg] = self.default_of(wanted)
        for decorator in node.decorator_list:
            defaults |= self._declared(decorator)
        if names and local.owner is not None and names[0] in {"self", "cls"}:
            scope[names.pop(0)] = local.owner
        for arg in (*positional, *spec.kwonlyargs):
            if arg.arg in scope:
                continue
            known = self._passed(node.name, arg.arg, names, made)
            if known:
                scope[arg.arg] = Either(arg, [(value, "") for value in known])
                if len(known) == 1:
                    scope[arg.arg] = known[0]
            elif arg.arg in defaults:
                scope[arg.arg] = defaults[arg.arg]
            else:
                scope[arg.arg] = self._typed(arg)
        if spec.vararg is not None:
            scope[spec.vararg.arg] = Value(spec.vararg)
        if spec.kwarg is not None:
            scope[spec.kwarg.arg] = Mapping(spec.kwarg, self._further({*names, *scope}, made))
        return scope

    @staticmethod
    def _further(names: set[str], made: Made | None) -> dict[str, tuple[ast.AST, Value]]:
        """What a call passes under names that the function does not list: its `**kwargs`."""
        given = made.keywords if made is not None else {}
        return {name: pair for name, pair in given.items() if name not in names}

    def _passed(self, function: str, name: str, names: list[str], made: Made | None) -> list[Value]:
        """What the calls of a function in this file pass for one parameter."""
        found: list[Value] = []
        position = names.index(name) if name in names else -1
        if made is not None:
            if name in made.keywords:
                found.append(made.keywords[name][1])
            elif 0 <= position < len(made.args):
                found.append(made.args[position])
        for site in self._sites.get(function, ()):
            if made is not None and site is made.node:
                continue
            node = next((word.value for word in site.keywords if word.arg == name), None)
            if node is None and 0 <= position < len(site.args):
                node = site.args[position]
            if isinstance(node, ast.Constant):
                found.append(self.evaluate(node))
        return found


def _call_sites(known: Survey) -> dict[str, list[ast.Call]]:
    """Calls of names that are functions of the file."""
    functions = {node.name for node in known.functions}
    found: dict[str, list[ast.Call]] = {}
    for node in known.calls:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in functions:
            found.setdefault(name, []).append(node)
    return found
