"""Levers made by hand rather than by a library: students, drafts, and code on tensors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.python.calls import File, Found
from advisor.readers.python.marks import by_hand
from advisor.readers.python.scope import Scope
from advisor.readers.python.seen import Seen
from advisor.readers.python.survey import Survey, last_word
from advisor.readers.python.tensors import found_in
from advisor.readers.python.values import Made, text_of, usual
from advisor.readers.python.zeroed import defaults_of
from advisor.source import Source

_STUDENT: Final = re.compile(r"^student(?:_model)?$")
_TEACHER: Final = re.compile(r"^teacher(?:_model)?$")
_DRAFT: Final = re.compile(r"^(?:draft|drafter|assistant)(?:_(?:model|lm))?$")
_DRAFTER: Final = re.compile(r"draft|drafter|assistant|small", re.IGNORECASE)
_LOADS: Final = re.compile(r"load|from_pretrained|build", re.IGNORECASE)
_OWN_DRAFTS: Final = frozenset({"eagenerate", "medusa_generate"})


def idioms(
    tree: ast.Module, known: Survey, seen: Seen, file: File, source: Source
) -> Iterator[Found]:
    """What a file sets up without a library's help."""
    yield from _students(seen, file)
    yield from _taught(seen, frozenset(node.name for node in known.classes))
    yield from _drafts(seen, file)
    yield from _loops(known)
    yield from _classes(known)
    patterns = [re.compile(hint.pattern) for hint in by_hand(source.text.encode())]
    if not patterns:
        return
    constants = _constants(tree.body)
    functions = {node.name: node for node in known.functions}
    passed = _passed(known)
    yield from found_in(Scope(tree.body, constants, functions))
    for node in known.functions:
        end = node.end_lineno or node.lineno
        start = source.offset(node.lineno, 1)
        stop = source.offset(end, 1) + len(source.line(end))
        if any(pattern.search(source.text, start, stop) is not None for pattern in patterns):
            given = {**constants, **defaults_of(node), **passed.get(id(node), {})}
            yield from found_in(Scope(node.body, given, functions))


def _constants(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Names of a body that are assigned, and what."""
    return {
        node.targets[0].id: node.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _passed(known: Survey) -> dict[int, dict[str, ast.expr]]:
    """By id of a function: constants that the first call of it in the file passes.

    A class is called by its name: what is passed is for `__init__`.
    """
    targets: dict[str, tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]] = {
        node.name: (node, 0) for node in known.functions if node.name != "__init__"
    }
    for owner in known.classes:
        for item in owner.body:
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                targets[owner.name] = (item, 1)
    found: dict[int, dict[str, ast.expr]] = {}
    for call in known.calls:
        name = last_word(call.func)
        if name not in targets or id(targets[name][0]) in found:
            continue
        node, skipped = targets[name]
        names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
        if skipped or (names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute)):
            names = names[1:]
        pairs = [*zip(names, call.args, strict=False)]
        pairs += [(word.arg, word.value) for word in call.keywords if word.arg]
        constant: dict[str, ast.expr] = {
            name: value for name, value in pairs if isinstance(value, ast.Constant)
        }
        if constant:
            found[id(node)] = constant
    return found


def _students(seen: Seen, file: File) -> Iterator[Found]:
    """A student loaded beside its teacher."""
    loaded: dict[str, Made] = {}
    for made, _ in seen.calls:
        name = _assigned_name(made, file)
        if name:
            loaded.setdefault(name, made)
    student = next((made for name, made in loaded.items() if _STUDENT.match(name)), None)
    if student is None or not any(_TEACHER.match(name) for name in loaded):
        return
    first = student.args[0] if student.args else None
    named = next((value for key, (_, value) in student.keywords.items() if "model" in key), first)
    model = text_of(named) if named is not None else None
    yield Found(Setting("distill", {"model": model or "unknown"}), student.node, call=student)


_TRAINERS: Final = re.compile(r"(?:Trainer|Distill\w*)$")


def _taught(seen: Seen, own: frozenset[str]) -> Iterator[Found]:
    """A trainer of the file's own that takes a teacher beside its model."""
    for made, hangs_on in seen.calls:
        last = made.name.rpartition(".")[2]
        teacher = next((name for name in ("teacher_model", "teacher") if name in made.keywords), "")
        if teacher and last in own and _TRAINERS.search(last):
            value = made.keywords.get("model", made.keywords.get("student_model"))
            student = usual(value[1]) if value is not None else None
            name = ""
            if isinstance(student, Made) and student.args:
                name = text_of(student.args[0]) or ""
            yield Found(
                Setting("distill", {"model": name or "unknown"}), made.node, hangs_on, call=made
            )


def _drafts(seen: Seen, file: File) -> Iterator[Found]:
    """A draft model that is loaded by hand and that no option of a library takes."""
    if file.names & _OWN_DRAFTS:
        return
    for made, hangs_on in seen.calls:
        if not _DRAFT.match(_assigned_name(made, file)):
            continue
        if not _LOADS.search(made.name.rpartition(".")[2]):
            continue
        taken = any(
            name in by.keywords
            for by in made.used_by
            for name in ("assistant_model", "draft_model")
        )
        if not taken:
            yield Found(Setting("speculate", {}), made.node, hangs_on)


def _loops(known: Survey) -> Iterator[Found]:
    """Drafting and verifying written out: a function that takes a draft and calls it."""
    for node in known.functions:
        names = [arg.arg for arg in node.args.args]
        draft = next((name for name in names if _DRAFTER.match(name)), "")
        if not draft or "specul" not in node.name.lower():
            continue
        called = next(
            (item for item in ast.walk(node)
             if isinstance(item, ast.Call) and ast.unparse(item.func).split(".")[0] == draft),
            None,
        )  # fmt: skip
        if called is not None:
            yield Found(Setting("speculate", {}), called)


_DRAFTS: Final = re.compile(r"^self\.(?:draft|drafter|assistant)\w*$")


def _classes(known: Survey) -> Iterator[Found]:
    """Drafting and verifying as a class: `SpeculativeDecoder`, whose methods call its draft."""
    for owner in known.classes:
        if "specul" not in owner.name.lower():
            continue
        called = next(
            (item for item in ast.walk(owner)
             if isinstance(item, ast.Call) and _DRAFTS.match(ast.unparse(item.func))),
            None,
        )  # fmt: skip
        if called is not None:
            yield Found(Setting("speculate", {}), called)


def _assigned_name(made: Made, file: File) -> str:
    return file.assigned.get(id(made.node), "")
