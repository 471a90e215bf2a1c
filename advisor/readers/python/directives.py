"""Annotations: `# rooflint: model=... batch=1`, `Annotated[float, "rooflint: prune.unstructured"]`.

A small language: words `name=value`, the value bare or in quotes; before them, a kind of lever
(of the dialect or of the machine vocabulary) makes the words its fields. The words become nodes
of the dialect, so that one reader judges them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.levers import LEVERS
from advisor.problems import Problems, nearest, shown
from advisor.readers import meant
from advisor.readers.dialect import FIELDS
from advisor.readers.python.nodes import entry, scalar
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode
from advisor.source import Span

_WORD: Final = re.compile(
    r"""\s*,?\s*(?P<name>[A-Za-z_][\w.:/-]*?)\s*(?P<equals>=|:(?=\s))\s*
        (?P<value>"[^"\n]*"|'[^'\n]*'|[^\s,"'][^\s,]*)|\s*,?\s*(?P<bare>[^\s,]+)""",
    re.VERBOSE,
)
_LEADS: Final = re.compile(r"rooflint:\s*")
_KIND: Final = re.compile(r"[A-Za-z][\w.:]*")

WORKLOAD: Final = ("phase", "batch", "context", "prompt", "output")
SPLITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: split
        for split in ("tensor", "pipeline", "data", "expert", "attention_data")
        for name in (split, f"{split}_parallel", f"{split}_parallel_size")
    }
    | {"tp": "tensor", "pp": "pipeline", "dp": "data", "ep": "expert"}
)
_MEASURED: Final = ("tpot", "itl", "tokens_per_second", "throughput")
_PLAIN: Final = tuple(
    name for name in FIELDS
    if name not in {"rooflint", "levers", "workload", "parallelism", "measured"}
)  # fmt: skip
NAMES: Final = (*_PLAIN, *WORKLOAD, "tensor_parallel", "pipeline_parallel", "data_parallel",
                "expert_parallel", *_MEASURED)  # fmt: skip
"""What a comment may state, each word once; groups of the dialect are written flat."""
EXAMPLE: Final = 'rooflint: model=Llama-3.1-8B hardware="2 x H100 SXM" batch=1 context=4096'

_MAIN_FIELD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "prune": "sparsity", "quantize": "weights", "batch": "batch", "speculate": "draft_tokens",
        "tensor_parallel": "size", "pipeline_parallel": "size", "data_parallel": "size",
        "expert_parallel": "size", "low_rank": "rank", "attention": "kv_heads",
        "early_exit": "mean_depth", "activation_sparsity": "sparsity", "distill": "model",
        "hardware": "hardware", "offload": "weights", "attention_kernel": "name",
        "matmul_kernel": "name", "compile": "mode", "fuse": "mode", "cuda_graphs": "enabled",
        "merge_layers": "layers_added",
    }
)  # fmt: skip
"""The field that a config field's own value gives."""


class Directive(NamedTuple):
    """One annotation as nodes of the dialect."""

    entries: tuple[Entry, ...] = ()
    """Fields of a proposal."""
    lever: MapNode | None = None


def read_directive(
    text: str, start: int, problems: Problems, own: ScalarNode | None = None
) -> Directive | None:
    """The words after "rooflint:"; None where they are a suppression or cannot be read.

    `start` is the offset of `text` in the file; `own` the value of the field that carries it.
    """
    lead = _LEADS.match(text.lstrip())
    offset = len(text) - len(text.lstrip())
    if lead is None:
        return None
    at = offset + lead.end()
    rest = text[at:]
    if re.match(r"ignore(?:[-_]file)?\b", rest, re.IGNORECASE):
        return None
    where = Span(start + offset, start + len(text.rstrip()))
    if not rest.strip():
        problems.add("E911", where, "this annotation states nothing", instead=f"write {EXAMPLE}")
        return None
    first = _KIND.match(rest)
    word = first[0] if first is not None and not first[0].endswith(":") else ""
    follows = rest[len(word) :].lstrip()[:1]
    if word and follows != "=" and (fields := _kind_named(word)) is not None:
        return _lever(word, fields, rest, start + at, problems, own)
    if own is not None and word and not rest[len(word) :].strip():
        return _own_field(word, own, Span(start + at, start + at + len(word)), problems)
    entries = _pairs(rest, start + at, problems)
    return None if entries is None else Directive(tuple(_grouped(entries, problems)))


def _kind_named(word: str) -> dict[str, str] | None:
    """A kind's fields by its name, of the dialect or the machine vocabulary; None for no kind."""
    folded = word.lower()
    if folded in LEVERS:
        return {"kind": folded}
    kind = next((name for name, item in LEVERS.items() if folded in item.machine_kinds), None)
    if folded in {"quantize.weights", "prune.2:4"} or kind is not None:
        kind = kind or folded.partition(".")[0]
    else:
        return None
    last = folded.rpartition(".")[2]
    if kind == "quantize":
        target = "kv_cache" if folded == "quantize.kv" else "weights"
        return (
            {"kind": kind, "": target}
            if last in {"kv", "weights"}
            else {"kind": kind, target: last}
        )
    if kind == "prune":
        masked = folded == "prune.heads.mask"
        return {"kind": kind, "pattern": "heads" if masked else folded.removeprefix("prune.")} | (
            {"storage": "masked"} if masked else {}
        )
    if kind == "attention":
        return {"kind": kind, "variant": last}
    if kind == "offload":
        return {"kind": kind, "": "kv_cache" if last == "kv" else "weights"}
    if folded == "cuda_graph.off":
        return {"kind": kind, "enabled": "false"}
    return {"kind": kind}


def _lever(
    word: str,
    fields: dict[str, str],
    rest: str,
    start: int,
    problems: Problems,
    own: ScalarNode | None,
) -> Directive | None:
    """A kind and its fields as an entry of `levers`."""
    span = Span(start, start + len(word))
    main = fields.pop("", None) or _MAIN_FIELD.get(fields["kind"])
    if "weights" in fields and fields["kind"] == "quantize":
        main = None
    entries = [entry(name, scalar(value, span, plain=name == "enabled"), span)
               for name, value in fields.items()]  # fmt: skip
    more = _pairs(rest[len(word) :], start + len(word), problems)
    if more is None:
        return None
    known = {item.key.text for item in (*entries, *more)}
    if own is not None and own.value is not None and main is not None and main not in known:
        entries.append(Entry(scalar(main, own.span), own))
    return Directive(lever=MapNode((*entries, *more), span))


def _own_field(word: str, own: ScalarNode, span: Span, problems: Problems) -> Directive | None:
    """A config field that is a fact of the context: `Annotated[str, "rooflint: model"]`."""
    if word in NAMES or word in SPLITS:
        return Directive(tuple(_grouped([Entry(scalar(word, span), own)], problems)))
    _unknown(word, span, problems)
    return None


def _unknown(word: str, span: Span, problems: Problems) -> None:
    kinds = [kind for item in LEVERS.values() for kind in item.machine_kinds]
    near = nearest(word, (*NAMES, *LEVERS, *kinds), {**meant.FIELDS, **meant.WORKLOAD})
    near = "" if ":" in near else near
    hint = f"; did you mean {near}?" if near else ""
    problems.add(
        "E903", span, f"an annotation states no {shown(word)}{hint}", instead=f"write {EXAMPLE}"
    )


def _pairs(text: str, start: int, problems: Problems) -> list[Entry] | None:
    """Words `name=value` as entries; None, and a finding, where one is no such word."""
    found: list[Entry] = []
    at = 0
    while at < len(text) and text[at:].strip(" \t,;"):
        match = _WORD.match(text, at)
        if match is None:
            break
        at = match.end()
        if match["bare"] is not None or match["equals"] == ":":
            place = Span(start + match.start("bare"), start + match.end("bare"))
            if match["bare"] is None:
                place = Span(start + match.start("name"), start + match.end())
            _malformed(match, place, problems)
            return None
        raw = match["value"]
        quoted = raw[:1] in {'"', "'"} and raw[-1:] == raw[:1] and len(raw) > 1
        width = 1 if quoted else 0
        span = Span(start + match.start("value") + width, start + match.end("value") - width)
        value = raw[1:-1] if quoted else raw
        key = Span(start + match.start("name"), start + match.end("name"))
        found.append(Entry(scalar(match["name"], key), scalar(value, span, plain=not quoted)))
    return found


def _malformed(match: re.Match[str], place: Span, problems: Problems) -> None:
    """A word that is no `name=value`: say what it was most likely meant to be."""
    if match["bare"] is None:
        right = f"{match['name']}={match['value']}"
        problems.add("E902", place, "an annotation is written name=value", instead=f"write {right}")
        return
    word = match["bare"]
    near = nearest(word, NAMES, meant.FIELDS)
    if word.count('"') == 1 or word.count("'") == 1:
        message = f"a quote in {shown(word)} is not closed"
    else:
        message = f"{shown(word)} in an annotation states nothing: it has no value"
    right = f"write {near}=..., a value with spaces in quotes" if near else f"write {EXAMPLE}"
    problems.add("E902", place, message, instead=right)


def _grouped(entries: Iterable[Entry], problems: Problems) -> list[Entry]:
    """Flat words in the groups of the dialect."""
    plain: list[Entry] = []
    groups: dict[str, list[Entry]] = {}
    for item in entries:
        name = item.key.text
        key = name.lower().replace("-", "_")
        if key in WORKLOAD:
            groups.setdefault("workload", []).append(item._replace(key=item.key._replace(text=key)))
        elif key in SPLITS:
            split = item.key._replace(text=SPLITS[key])
            groups.setdefault("parallelism", []).append(item._replace(key=split))
        elif key in _MEASURED:
            groups.setdefault("measured", []).append(item._replace(key=item.key._replace(text=key)))
        elif key in _PLAIN:
            plain.append(item._replace(key=item.key._replace(text=key)))
        else:
            _unknown(name, item.key.span, problems)
    for name, inside in groups.items():
        span = Span(inside[0].key.span.start, inside[-1].value.outer.end)
        plain.append(entry(name, MapNode(tuple(inside), span), inside[0].key.span))
    return plain


def merged(directives: Iterable[Directive], span: Span) -> MapNode:
    """Entries of several annotations as one document; what is said last and nearest holds."""
    fields: dict[str, Entry] = {}
    claims: list[Node] = []
    levers: list[Node] = []
    for directive in directives:
        if directive.lever is not None:
            levers.append(directive.lever)
        for item in directive.entries:
            name = item.key.text
            known = fields.get(name)
            if name == "claim":
                claims.append(item.value)
            if (
                known is not None
                and isinstance(known.value, MapNode)
                and isinstance(item.value, MapNode)
            ):
                inside = {one.key.text: one for one in (*known.value.entries, *item.value.entries)}
                item = entry(name, MapNode(tuple(inside.values()), item.value.span), item.key.span)  # noqa: PLW2901
            fields[name] = item
    if len(claims) > 1:
        fields["claim"] = fields["claim"]._replace(value=ListNode(tuple(claims), span))
    if levers:
        fields["levers"] = entry("levers", ListNode(tuple(levers), span), span)
    return MapNode(tuple(fields.values()), span)
