"""One entry of `levers:` as levers: validated by the lever's own class, its errors in our words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import ValidationError, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from advisor.levers import LEVERS, Lever, lever_class
from advisor.problems import Problems, nearest, shown
from advisor.proposal import ProposedLever, Sentence
from advisor.quantity import QuantityError
from advisor.readers import meant
from advisor.readers.fields import MAX_NAME, described, sentences_of, unknown_key
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode, is_nothing
from advisor.source import Span

_CLAIM_EXAMPLE: Final = "1.8x tokens/s"
_LEVER_EXAMPLE: Final = "- kind: quantize"

# The machine vocabulary calls some kinds by another name: `kind: speculative` is `speculate`.
_MACHINE_KINDS: Final = MappingProxyType(
    {
        machine: kind
        for kind, entry in reversed(tuple(LEVERS.items()))  # of several the first
        for machine in entry.machine_kinds
        if "." not in machine and machine not in LEVERS
    }
)

_EXAMPLES: Final = MappingProxyType(
    {"model": "Llama-3.1-8B", "hardware": "2 x H200", "mean_depth": "60%"}
)


def read_levers(node: Node, problems: Problems) -> tuple[ProposedLever, ...]:
    """The levers of a list, in its order; an entry that cannot be read is reported and left out."""
    if is_nothing(node):
        return ()
    if not isinstance(node, ListNode):
        problems.add(
            "E904",
            node.span,
            f"levers is a list, not {described(node)}",
            instead=f"begin each lever with {_LEVER_EXAMPLE}",
        )
        return ()
    return tuple(lever for item in node.items for lever in _read_entry(item, problems))


def _read_entry(node: Node, problems: Problems) -> tuple[ProposedLever, ...]:
    if not isinstance(node, MapNode):
        kind = _kind_named(node.text) if isinstance(node, ScalarNode) else ""
        problems.add(
            "E904",
            node.span,
            f"a lever is a mapping, not {described(node)}",
            instead=f"write - kind: {kind}" if kind else f"write {_LEVER_EXAMPLE}",
        )
        return ()
    entries = {entry.key.text: entry for entry in node.entries}
    named = entries.pop("kind", None)
    if named is None or is_nothing(named.value):
        _report_no_kind(node, named, problems)
        return ()
    kind = _read_kind(named, problems)
    claim = _read_claim(entries.pop("claim", None), problems)
    if not kind:
        return ()
    lever = _validated(kind, named, entries, problems)
    if lever is None:
        return ()
    return tuple(_proposed(lever, named, entries, claim))


def _proposed(
    lever: Lever, named: Entry, entries: Mapping[str, Entry], claim: Sentence | None
) -> Iterator[ProposedLever]:
    """Each part of an entry as a lever; the claim is about all of them and stands on the first."""
    parts = lever.parts()
    first = parts[0].model_dump()
    spans = {"kind": named.value.span, **{name: item.value.span for name, item in entries.items()}}
    for index, part in enumerate(parts):
        own = part.model_dump(exclude_none=True)
        span = named.pair
        if index:  # the words that name a further part are its own field
            span = next(
                (
                    entry.pair
                    for name, entry in entries.items()
                    if name in own and first.get(name) is None
                ),
                span,
            )
        yield ProposedLever(
            lever=part,
            span=span,
            claim=claim if index == 0 else None,
            together=parts if index == 0 and len(parts) > 1 else (),
            spans=MappingProxyType({name: at for name, at in spans.items() if name in own}),
        )


def _read_claim(entry: Entry | None, problems: Problems) -> Sentence | None:
    """The claim of a lever; a list is read as one text."""
    if entry is None:
        return None
    found = sentences_of(entry.value, "claim", problems, example=_CLAIM_EXAMPLE)
    if len(found) < 2:
        return found[0] if found else None
    whole = Span(found[0].span.start, found[-1].span.end)
    return Sentence("; ".join(sentence.text for sentence in found), whole)


# Kinds


def _folded(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().lower())


def _kind_named(text: str) -> str:
    """The kind a text names, also in the machine vocabulary's words; "" for none."""
    word = _folded(text)
    return word if word in LEVERS else _MACHINE_KINDS.get(word, "")


def _read_kind(entry: Entry, problems: Problems) -> str:
    if not isinstance(entry.value, ScalarNode):
        problems.add(
            "E904",
            entry.value.span,
            f"kind is a word, not {described(entry.value)}",
            instead=f"write {_LEVER_EXAMPLE}, its fields beside it",
        )
        return ""
    text = entry.value.text
    kind = _kind_named(text)
    if kind or problems.full:
        return kind
    word = _folded(text)
    # `quantize.weights.int4` and `prune.heads.mask` say more than a kind does.
    near = next((k for k, known in LEVERS.items() if word in known.machine_kinds), "")
    near = near or nearest(word, (*LEVERS, *_MACHINE_KINDS), meant.KINDS)
    hint = f"; did you mean {near}?" if near else ""
    problems.add(
        "E906",
        entry.value.span,
        f"unknown lever kind {shown(text)}{hint}",
        instead=f"known: {', '.join(LEVERS)}",
    )
    return ""


def _report_no_kind(node: MapNode, named: Entry | None, problems: Problems) -> None:
    kinds = [entry for entry in node.entries if _kind_named(entry.key.text)]
    if named is not None:
        span, instead = named.key.span, f"write {_LEVER_EXAMPLE}"
    elif kinds:
        span = kinds[0].key.span
        instead = f"write - kind: {_kind_named(kinds[0].key.text)}, its fields beside it"
    else:
        span = node.entries[0].key.span if node.entries else node.span
        instead = f"begin it with {_LEVER_EXAMPLE}; kinds: {', '.join(LEVERS)}"
    problems.add("E911", span, "a lever needs its kind", instead=instead)


# Fields


def _validated(
    kind: str, named: Entry, entries: Mapping[str, Entry], problems: Problems
) -> Lever | None:
    """The lever, or None where a value in it could not be read: nothing of it is then guessed."""
    found = lever_class(kind)
    fields = found.model_fields
    known = tuple(name for name in fields if name != "kind")
    values: dict[str, object] = {"kind": kind}
    refused: set[str] = set()
    for name, entry in entries.items():
        if name not in known:
            names = (*known, "claim")
            hints = {word: field for word, field in meant.LEVER_FIELDS.items() if field in names}
            refused.add(unknown_key(entry, f"of {kind}", names, problems, meant=hints))
        elif not isinstance(entry.value, ScalarNode) or len(entry.value.text) > MAX_NAME:
            long = isinstance(entry.value, ScalarNode)
            problems.add(
                "E904",
                entry.value.span,
                f"{name} of {kind} is {_expected(name, fields[name])}, not "
                f"{'this long' if long else described(entry.value)}",
                instead=f"write {name}: {_example(name, fields[name])}",
            )
            refused.add(name)
        elif not is_nothing(entry.value):
            values[name] = entry.value.text if _takes_text(fields[name]) else entry.value.value
    refused.discard("")
    try:
        lever = found.model_validate(values)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _report(detail, kind, fields, named, entries, refused, problems)
        return None
    return None if refused else lever


def _report(
    detail: ErrorDetails,
    kind: str,
    fields: Mapping[str, FieldInfo],
    named: Entry,
    entries: Mapping[str, Entry],
    refused: set[str],
    problems: Problems,
) -> None:
    """One error of a lever's class as a finding at the words it is about."""
    name = str(detail["loc"][0]) if detail["loc"] else ""
    cause = detail.get("ctx", {}).get("error")
    if name in refused or (not name and refused):
        return  # it is missing because what was given could not be read, which is reported
    entry = entries.get(name) if name else None
    if entry is None:
        needs = str(cause) if cause is not None else f"a {kind} lever needs {name}"
        example = f"write {name}: {_example(name, fields[name])}" if name else ""
        problems.add("E911", named.pair, needs, instead=example)
        return
    example = f"write {name}: {_example(name, fields[name])}"
    text = entry.value.text if isinstance(entry.value, ScalarNode) else ""
    written = shown(text)
    choices = _choices(fields[name])
    span = entry.value.span
    if isinstance(cause, QuantityError):
        problems.add("E905", span, f"{name}: {cause}", instead=example)
    elif hasattr(cause, "nearest"):
        problems.add("E906", span, f"{name}: {cause}", instead="see rooflint catalog formats")
    elif choices:
        near = nearest(text, choices)
        hint = f"; did you mean {near}?" if near else ""
        problems.add(
            "E906",
            span,
            f"{name} of {kind} is none of its choices: {written}{hint}",
            instead=f"known: {', '.join(choices)}",
        )
    elif cause is not None:
        problems.add("E904", span, f"{name}: {cause}", instead=example)
    else:
        right = _expected(name, fields[name])
        problems.add("E904", span, f"{name} of {kind} is {right}, not {written}", instead=example)


def _parts_of(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """A field's type without None and Annotated, and what is annotated to it."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *extra = get_args(annotation)
        leaf, more = _parts_of(inner)
        return leaf, (*extra, *more)
    if origin in {Union, UnionType}:
        return _parts_of(next(arg for arg in get_args(annotation) if arg is not type(None)))
    return annotation, ()


def _takes_text(info: FieldInfo) -> bool:
    leaf, _ = _parts_of(info.annotation)
    return leaf is str or get_origin(leaf) is Literal


def _choices(info: FieldInfo) -> tuple[str, ...]:
    leaf, _ = _parts_of(info.annotation)
    return tuple(str(arg) for arg in get_args(leaf)) if get_origin(leaf) is Literal else ()


def _expected(name: str, info: FieldInfo) -> str:
    if choices := _choices(info):
        return f"one of {', '.join(choices)}"
    leaf, _ = _parts_of(info.annotation)
    if leaf is bool:
        return "true or false"
    return "text" if leaf is str else f"an amount such as {_example(name, info)}"


def _example(name: str, info: FieldInfo) -> str:
    """A value that the field takes."""
    if choices := _choices(info):
        return choices[0]
    leaf, extra = _parts_of(info.annotation)
    for item in (*info.metadata, *extra):
        if isinstance(item, WithJsonSchema) and item.json_schema:
            examples = item.json_schema.get("examples")
            if examples:
                return str(examples[0])
    return "true" if leaf is bool else _EXAMPLES.get(name, "...")
