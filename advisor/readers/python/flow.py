"""Statements in order: what names hold, which branches the defaults take, which calls are made.

Each function is read once, with the arguments of its calls in the file, else its defaults. A
branch that the defaults do not take is read too; what it sets up hangs on its test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from advisor.readers.python.branches import choices_in, leaves, literals_of, subject_of
from advisor.readers.python.functions import Functions
from advisor.readers.python.results import MAX_ITEMS
from advisor.readers.python.seen import Assigned, Local, Seen
from advisor.readers.python.survey import Survey
from advisor.readers.python.values import (
    Either,
    Literal,
    Made,
    Mapping,
    Member,
    Sequence,
    Symbol,
    Value,
    alternatives,
    dotted,
    plain,
    truth,
    usual,
)

MAX_STEPS: Final = 60_000
"""Statements read in one file, calls of local functions counted; the rest is left."""
_DEEPEST: Final = 30


class Flow(Functions):
    """One file."""

    def __init__(self, tree: ast.Module, known: Survey) -> None:
        """Read the whole tree; `known` is what a walk over it found."""
        super().__init__(known)
        self.seen = Seen()
        self._scopes: list[dict[str, Value]] = [{}]
        self._hangs_on: list[str] = []
        self._steps = 0
        self._returned: list[list[tuple[Value, str]]] = []
        self._read: dict[ast.AST, Value] = {}
        self._waiting: list[Local] = []
        self._choices: list[dict[str, list[ast.expr]]] = [choices_in(tree.body)]
        self._block(tree.body)
        while self._waiting:
            local = self._waiting.pop(0)
            if local.node not in self._read:
                self._run(local, None)

    # Names

    def look_up(self, node: ast.Name) -> Value:
        """From the innermost scope outwards; a name nobody defines keeps its text."""
        for scope in reversed(self._scopes):
            if node.id in scope:
                found = scope[node.id]
                return found if not isinstance(found, Literal) else Literal(node, found.data)
        return Symbol(node, f"?.{node.id}")

    def attribute(self, node: ast.Attribute, receiver: Value) -> Value:
        """Of a module, of parsed arguments or an instance, else of anything."""
        inner = usual(receiver)
        if isinstance(inner, Symbol):
            if inner.name.endswith(".FLAGS") and node.attr in self._flags:
                return self._flags[node.attr]
            return Symbol(node, f"{inner.name}.{node.attr}")
        if isinstance(inner, Mapping) and node.attr in inner.entries:
            return inner.entries[node.attr][1]
        if isinstance(inner, Literal) and node.attr in {"value", "default"}:
            return inner  # of an enumeration
        if isinstance(inner, Local) and isinstance(inner.node, ast.ClassDef):
            fields = self.fields_of(inner.node)
            if node.attr in fields:
                return fields[node.attr][1]
        return Member(node, receiver, node.attr)

    # Calls

    def called(self, made: Made, function: Value, node: ast.Call) -> Value:
        """A local function's result, an instance, parsed arguments; else the call itself."""
        self.seen.calls.append((made, self.condition()))
        local = usual(function)
        if isinstance(local, Local):
            if isinstance(local.node, ast.ClassDef):
                return self._instance(local, made)
            if local.node in self._read:
                return self._read[local.node]
            return self._run(local, made)
        method = made.name
        receiver = usual(made.receiver) if made.receiver is not None else None
        known = self._defaults_of(made)
        if known is not None:
            return known
        if method == ".add_argument" and isinstance(receiver, Mapping):
            self._add_argument(receiver, made)
        elif method == ".set_defaults" and isinstance(receiver, Mapping):
            receiver.entries.update(made.keywords)
        elif method in {".parse_args", ".parse_known_args"} and isinstance(receiver, Mapping):
            if method == ".parse_known_args":
                return Sequence(node, [receiver, Value(node)])
            return receiver
        elif method in {".add_argument_group", ".add_mutually_exclusive_group"} and receiver:
            return receiver
        elif (
            made.name.endswith(("ArgumentParser", "SimpleNamespace")) or made.name == "?.Namespace"
        ):
            inner = made.keywords if made.name.endswith("Namespace") else {}
            return Mapping(node, dict(inner), is_namespace=True)
        elif isinstance(receiver, Sequence | Mapping):
            found = self._changed(receiver, made)
            if found is not None:
                return found
        elif made.name == ".get" and isinstance(node.func, ast.Attribute) and len(made.args) > 1:
            return made.args[1]
        return made

    # Functions that are called

    def _run(self, local: Local, made: Made | None) -> Value:
        """Read a function's body once, with what is known of its arguments."""
        node = local.node
        if (
            not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            or len(self._returned) > _DEEPEST
        ):
            return Value(node)
        self._read[node] = Value(node)
        saved, under = self._scopes, self._hangs_on
        scope = self._arguments(node, made, local)
        self._scopes = [*local.scopes, scope]
        self._hangs_on = [*under] if made is not None else []
        self._returned.append([])
        self._choices.append(choices_in(node.body))
        self._block(node.body)
        self._choices.pop()
        found = self._returned.pop()
        self._scopes, self._hangs_on = saved, under
        result = Either(node, found) if len(found) > 1 else found[0][0] if found else Value(node)
        self._read[node] = result
        return result

    # Statements

    def condition(self) -> str:
        """The first test on the way that the defaults do not pass."""
        return next((words for words in self._hangs_on if words), "")

    def _block(self, body: Iterable[ast.stmt]) -> None:
        depth = len(self._hangs_on)
        for statement in body:
            if self._steps > MAX_STEPS or len(self._hangs_on) > 100:
                break
            self._steps += 1
            self._statement(statement)
        del self._hangs_on[depth:]

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import():
                for alias in node.names:
                    self.seen.imports.add(alias.name)
                    name = alias.asname or alias.name.partition(".")[0]
                    whole = alias.name if alias.asname else name
                    self._scopes[-1][name] = Symbol(node, whole)
            case ast.ImportFrom():
                self._import_from(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for decorator in node.decorator_list:
                    self._decorated(decorator)
                local = Local(node, tuple(self._scopes))
                self._scopes[-1][node.name] = local
                self._waiting.append(local)
            case ast.ClassDef():
                self._class(node)
            case ast.Assign():
                value = self.evaluate(node.value)
                for target in node.targets:
                    self._assign(target, value, node)
            case ast.AnnAssign():
                if node.value is not None:
                    self._assign(node.target, self.evaluate(node.value), node)
            case ast.AugAssign():
                self._augment(node)
            case ast.Expr():
                self.evaluate(node.value)
            case ast.Return():
                if node.value is not None:
                    value = self.evaluate(node.value)
                    if self._returned:
                        self._returned[-1].append((value, self.condition()))
            case ast.If():
                self._if(node)
            case ast.For() | ast.AsyncFor():
                self._loop(node)
            case ast.While():
                self.evaluate(node.test)
                self._block(node.body)
                self._block(node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    value = self.evaluate(item.context_expr)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, value, node)
                self._block(node.body)
            case ast.Try() | ast.TryStar():
                self._block(node.body)
                self._block(node.orelse)
                for handler in node.handlers:
                    self._otherwise(handler.body)
                self._block(node.finalbody)
            case ast.Match():
                self._match(node)
            case ast.Delete():
                for target in node.targets:
                    if not isinstance(target, ast.Name):
                        receiver = self.evaluate(getattr(target, "value", None))
                        self._note(target, receiver, Literal(node, None), node)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.evaluate(child)

    def _otherwise(self, body: list[ast.stmt]) -> None:
        """What is done where something fails: names that hold something keep it."""
        before = dict(self._scopes[-1])
        self._block(body)
        self._scopes[-1].update(before)

    def _decorated(self, node: ast.expr) -> None:
        """A decorator; a bare one is called with the function."""
        value = usual(self.evaluate(node))
        if isinstance(value, Symbol):
            self.seen.calls.append((Made(node, value.name, [], {}), self.condition()))

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self.seen.imports.add(module)
        for alias in node.names:
            if alias.name == "*":
                self.seen.stars.append(module)
                continue
            whole = f"{module}.{alias.name}" if module.strip(".") else f"{module}{alias.name}"
            self._scopes[-1][alias.asname or alias.name] = Symbol(node, whole)

    def _class(self, node: ast.ClassDef) -> None:
        instance = Mapping(node, {}, is_namespace=True)
        local = Local(node, tuple(self._scopes), instance)
        for decorator in node.decorator_list:
            self._decorated(decorator)
        self._scopes[-1][node.name] = local
        instance.entries.update(self.fields_of(node))
        scope: dict[str, Value] = {}
        for item in node.body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in item.decorator_list:
                    self._decorated(decorator)
                method = Local(item, (*self._scopes, scope), instance)
                instance.entries.setdefault(item.name, (item, method))
                self._waiting.append(method)
            elif isinstance(item, ast.ClassDef):
                self._class(item)

    def _assign(self, target: ast.expr, value: Value, node: ast.stmt) -> None:
        if isinstance(target, ast.Name):
            made = usual(value)
            source = getattr(node, "value", None)
            if isinstance(source, ast.Call):
                self.seen.names.setdefault(id(source), target.id)
            if isinstance(made, Made):
                self.seen.names[id(made.node)] = target.id
            self._scopes[-1][target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            options = [(usual(option), words) for option, words in alternatives(value)]
            rows = [
                (option.items, words)
                for option, words in options
                if isinstance(option, Sequence) and len(option.items) == len(target.elts)
            ]
            for index, item in enumerate(target.elts):
                parts = [(items[index], words) for items, words in rows]
                part = parts[0][0] if len(parts) == 1 else Either(item, parts)
                self._assign(item, part if parts else Member(item, value, "[]"), node)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, Value(target), node)
        elif isinstance(target, ast.Attribute):
            receiver = self.evaluate(target.value)
            made = usual(value)
            if isinstance(made, Made):
                self.seen.names.setdefault(id(made.node), target.attr)
            inner = usual(receiver)
            if isinstance(inner, Mapping) and inner.is_namespace:
                inner.entries[target.attr] = (node, self._under(value))
            self._note(target, receiver, value, node)
        elif isinstance(target, ast.Subscript):
            receiver = self.evaluate(target.value)
            inner, key = usual(receiver), plain(self.evaluate(target.slice))
            if isinstance(inner, Mapping) and isinstance(key, str | int):
                inner.entries[str(key)] = (node, self._under(value))
            self._note(target, receiver, value, node)

    def _under(self, value: Value) -> Value:
        words = self.condition()
        return Either(value.node, [(value, words)]) if words else value

    def _note(self, target: ast.expr, receiver: Value, value: Value, node: ast.stmt) -> None:
        if isinstance(target, ast.Attribute):
            name = target.attr
        elif isinstance(target, ast.Subscript):
            key = plain(self.evaluate(target.slice))
            name = f"[{key}]" if isinstance(key, str) else "[]"
        else:
            return
        self.seen.assigned.append(
            Assigned(receiver, name, value, node, self.condition(), dotted(target))
        )

    def _augment(self, node: ast.AugAssign) -> None:
        value = self.evaluate(node.value)
        if isinstance(node.target, ast.Name):
            old = self.look_up(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))
            inner, added = usual(old), usual(value)
            if isinstance(inner, Sequence) and isinstance(added, Sequence):
                inner.items += [self._under(item) for item in added.items[:MAX_ITEMS]]
                del inner.items[MAX_ITEMS:]
                return
            if isinstance(inner, Mapping) and isinstance(added, Mapping):
                inner.entries.update(
                    {
                        key: (place, self._under(item))
                        for key, (place, item) in added.entries.items()
                    }
                )
                return
            self._scopes[-1][node.target.id] = self.combined(node, node.op, old, value)
        elif isinstance(node.target, ast.Attribute | ast.Subscript):
            receiver = self.evaluate(node.target.value)
            self._note(node.target, receiver, value, node)

    def _loop(self, node: ast.For | ast.AsyncFor) -> None:
        over = usual(self.evaluate(node.iter))
        value: Value = Value(node.iter)
        if isinstance(over, Sequence) and 0 < len(over.items) <= 16:
            value = Either(node.iter, [(item, "") for item in over.items])
        elif not isinstance(over, Sequence):
            value = Member(node.iter, over, "[]")
        self._assign(node.target, value, node)
        self._block(node.body)
        self._block(node.orelse)

    # Branches

    def _if(self, node: ast.If) -> None:
        state = truth(self.evaluate(node.test))
        if state is False and self._is_open_choice(node.test):
            state = None
        words = "" if state is None else self.condition_of(node.test)
        before = dict(self._scopes[-1])
        self._branch(node.body, words if state is False else "")
        taken = dict(self._scopes[-1])
        self._scopes[-1].clear()
        self._scopes[-1].update(before)
        self._branch(node.orelse, words if state is True else "")
        self._merge(before, taken, words, state)
        if state is True and leaves(node.body):
            self._hangs_on.append(words)  # what follows is not reached

    def _branch(self, body: list[ast.stmt], words: str) -> None:
        self._hangs_on.append(words)
        self._block(body)
        self._hangs_on.pop()

    def _merge(
        self, before: dict[str, Value], taken: dict[str, Value], words: str, state: bool | None
    ) -> None:
        scope = self._scopes[-1]
        for name, value in taken.items():
            other = scope.get(name)
            if other is value:
                continue
            options = [(value, words if state is False else "")]
            if other is not None:
                options.append((other, words if state is True else ""))
            elif name in before:
                continue
            scope[name] = (
                Either(value.node, options) if len(options) > 1 or options[0][1] else value
            )

    def _is_open_choice(self, test: ast.expr) -> bool:
        """Whether a test is one of several on one subject of which the defaults pass none."""
        subject = subject_of(test)
        if not subject:
            return False
        tests = self._choices[-1].get(subject, [])
        return len(tests) > 1 and not any(truth(self.evaluate(other)) for other in tests)

    def _match(self, node: ast.Match) -> None:
        subject = plain(self.evaluate(node.subject))
        patterns = [literals_of(case.pattern) for case in node.cases]
        chosen = next((i for i, words in enumerate(patterns) if subject in words), None)
        for index, case in enumerate(node.cases):
            words = self.condition_of(node.subject) if chosen not in {None, index} else ""
            self._branch(case.body, words)
