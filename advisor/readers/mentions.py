"""Levers that a document mentions: what it is about, each with its place.

A mention promises nothing and is judged by nobody; an audit lists it, so that a reader sees what
was understood. What is denied ("no longer supported") or asked is no mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from advisor.levers import LEVERS, Lever
from advisor.proposal import ProposedLever
from advisor.prose.blocks import Block, BlockKind, Page
from advisor.prose.text import plain
from advisor.source import Source, Span

_MOST_OF_A_KIND: Final = 8
_MOST: Final = 200
_LONGEST: Final = 20_000


class _Form(NamedTuple):
    """A form of words and the lever that it names."""

    pattern: re.Pattern[str]
    kind: str
    """Of the proposal dialect."""
    fields: Callable[[re.Match[str]], dict[str, Any]]
    hints: tuple[str, ...]
    """One of these stands in every text that the pattern can match, in lower case."""


def _form(words: str, kind: str, **fields: Any) -> _Form:
    return _Form(_compiled(words), kind, lambda _: fields, _hints(words))


def _compiled(words: str) -> re.Pattern[str]:
    """A pattern whose terms may follow an underscore, as in the names of flags and variables."""
    opened = re.sub(r"(^|\|)\\b", r"\1(?<![A-Za-z0-9])", words)
    return re.compile(opened, re.IGNORECASE)


def _hints(words: str) -> tuple[str, ...]:
    """The letters that each alternative of a pattern begins with, or holds where it has groups."""
    flat = re.sub(r"\(\?:|\\b|[()]", " ", words)
    found = [re.match(r"[a-z0-9]+", part.strip().lower()) for part in re.split(r"[|]", flat)]
    known = tuple(dict.fromkeys(match[0] for match in found if match is not None))
    return known if all(match is not None for match in found) else ("",)


def _count(words: str, kind: str, field: str) -> _Form:
    """A lever whose number stands beside it."""

    def fields(match: re.Match[str]) -> dict[str, Any]:
        number = next((group for group in match.groups() if group), None)
        value = _NUMBERS.get((number or "").lower()) or int(number or 0)
        return {field: value} if value > 0 else {}

    return _Form(_compiled(words), kind, fields, _hints(words))


_NUMBERS: Final = {"two": 2, "four": 4, "eight": 8}

_FORMS: Final = (
    _form(
        r"\b(?:fp8|int8|int4|q8_0|q4_0|8-bit|4-bit|quanti[sz]ed|e4m3|e5m2)[ -](?:kv|k/v)\b"
        r"|\bkv(?:[ _-]?cache)?[ _-](?:quanti[sz]|dtype|type)\w*"
        r"|\bk/v quanti[sz]\w*|\bkivi\b|\bkv[ -]cache (?:in|to) (?:fp8|int8|int4|4|8)",
        "quantize",
        kv_cache="fp8",
    ),
    _form(r"\b(?:nvfp4|fp4|mxfp4|w4a4)\b", "quantize", weights="nvfp4"),
    _form(r"\b(?:nf4|load_in_4bit|qlora)\b", "quantize", weights="nf4"),
    _form(r"\b(?:fp8|float8\w*|mxfp8|w8a8-fp8|fp8_dynamic)\b", "quantize", weights="fp8"),
    _form(
        r"\b(?:int8\w*|8[- ]bits?|w8a16|w8a8(?:-int8)?|q8_0|load_in_8bit|llm\.int8)\b",
        "quantize",
        weights="int8",
    ),
    _form(
        r"\b(?:int4\w*|4[- ]bits?|w4a16|w4a?fp8|w4a8|awq|gptq|q4_k_m|q4_k|q4_0|4bit|nbits=4)\b",
        "quantize",
        weights="int4-g128",
    ),
    _form(r"\b(?:int3|3[- ]bits?|q3_k\w*)\b", "quantize", weights="int3"),
    _form(r"\b(?:int2|2[- ]bits?|q2_k)\b", "quantize", weights="int2"),
    _form(
        r"\b(?:mixed[- ]precision (?:quanti\w+|weights)|k_quant\w*)", "quantize", weights="mixed"
    ),
    _form(r"\bquanti[sz](?:ation|ing|e|ed)\b", "quantize", weights="auto"),
    _form(r"\b(?:2:4|2of4|semi-structured|n:m) ?\w*|\bstructured sparsity", "prune", pattern="2:4"),
    _form(r"\bblock[- ]spars\w+", "prune", pattern="block"),
    _form(
        r"\bmask(?:s|ed|ing)? (?:\d+ ?%? (?:of )?)?(?:the )?(?:attention )?heads|\bhead[ _]mask\w*",
        "prune",
        pattern="heads",
        storage="masked",
    ),
    _form(
        r"\b(?:head[ -]prun\w+|prun\w+ (?:\w+ ){0,2}?heads|remov\w+ (?:\w+ ){0,2}?heads)",
        "prune",
        pattern="heads",
        storage="removed",
    ),
    _form(
        r"\b(?:expert[ -](?:prun\w+|drop\w+)|prun\w+ (?:\w+ ){0,2}?experts|reap)\b",
        "prune",
        pattern="experts",
        storage="removed",
    ),
    _form(
        r"\b(?:layer[ -](?:drop\w*|prun\w+|remov\w+)|drop\w* (?:\w+ ){0,2}?layers|depth prun\w+)",
        "prune",
        pattern="layers",
        storage="removed",
    ),
    _form(
        r"\b(?:channel[ -]prun\w+|width prun\w+|structured prun\w+|filter prun\w+)",
        "prune",
        pattern="channels",
        storage="removed",
    ),
    _form(
        r"\b(?:kv[ -](?:cache )?evict\w*|token evict\w*|snapkv|h2o)\b", "prune", pattern="kv_tokens"
    ),
    _form(
        r"\b(?:unstructured|magnitude[- ]prun\w+|prun(?:e|es|ed|ing)|wanda|sparsegpt|sparsity)\b",
        "prune",
        pattern="unstructured",
    ),
    _form(r"\bearly[ -]exit\w*|\blayerskip\b|\blayer skipping\b", "early_exit"),
    _form(r"\bdistill\w*|\bstudent model\b", "distill"),
    _form(
        r"\b(?:speculative (?:decoding|sampling)|speculat(?:ion|ors?)|draft model|drafter|medusa"
        r"|eagle(?:-?[23])?|prompt[ _]lookup\w*|n-?gram|multi-token prediction|\bmtp\b|assisted "
        r"generation)\b",
        "speculate",
    ),
    _form(
        r"\b(?:flash[- _]?attention\w*|flash[- ]?decoding|flashinfer|fa[23]\b|sdpa|xformers)",
        "attention_kernel",
    ),
    _form(r"\bcuda[- _]graphs?\b", "cuda_graphs"),
    _form(r"\btorch[._]compile\b", "compile"),
    _form(r"\bfus(?:e|ed|ing)[ _](?:layers|modules|kernels?)\b|\bmegakernel", "fuse"),
    _form(
        r"\b(?:prefix[- ]cach\w+|prompt[- ]cach\w+|radix cache|prefix cache|apc)\b", "prefix_cache"
    ),
    _form(r"\bchunked[- ]prefill", "chunked_prefill"),
    _form(r"\bdisaggregat\w+|\bp/d (?:disagg\w*|separation)", "disaggregate"),
    _form(r"\b(?:asynchronous|async)[- _]scheduling\b|\bmulti-step scheduling", "host_work"),
    _form(r"\bexpert[- ]parallel\w*|\bwide[- ]ep\b", "expert_parallel"),
    _form(r"\bpipeline[- ]parallel\w*", "pipeline_parallel"),
    _form(r"\bdata[- ]parallel\w*", "data_parallel"),
    _count(
        (
            r"\btensor[- ]parallel\w*(?: over| across| size)?(?: of)? ?(\d{1,2})?|\btp ?= "
            r"?(\d{1,2})\b|\btp(\d{1,2})\b"
        ),
        "tensor_parallel",
        "size",
    ),
    _form(r"\bcontinuous batching|\bin-?flight batching", "continuous_batching"),
    _count(
        (
            r"\b(?:max[ _]batch(?:[ _]size)?|max[-_]num[-_](?:seqs|batched[-_]tokens)|batch "
            r"size)(?: "
            r"to| of|=|:)? ?(\d{1,4})?"
        ),
        "batch",
        "batch",
    ),
    _form(
        (
            r"\b(?:cpu|weight|expert)[- ]offload\w*|\boffload\w* (?:\w+ ){0,3}?(?:weights|layers"
            r"|experts)"
        ),
        "offload",
        weights="1 GB",
    ),
    _form(
        r"\bkv(?:[- ]cache)?[- ]offload\w*|\boffload\w* (?:\w+ ){0,3}?kv",
        "offload",
        kv_cache="1 GB",
    ),
    _form(r"\b(?:gqa|grouped[- ]query attention)\b", "attention", variant="gqa"),
    _form(r"\b(?:mla|latent attention)\b", "attention", variant="mla"),
    _form(r"\blow[- ]rank (?:factori\w+|decompos\w+|approx\w+)|\bsvd-llm\b", "low_rank"),
)
_DENIED: Final = re.compile(
    r"\b(?:no|not|without|never|isn['’]t|don['’]t|doesn['’]t|disabled?|instead of|non)[ -](?:\w+ "
    r"){0,2}$"
    r"|\bno longer\b",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"^[^.;\n]{0,60}?\b(?:no longer|not supported|unsupported|is disabled|deprecated|was "
    r"removed)\b",
    re.IGNORECASE,
)


def mentions_of(source: Source, page: Page, read: Sequence[Span]) -> tuple[ProposedLever, ...]:
    """Levers that the blocks of a document name, in order; code counts where no reader read it."""
    counts: dict[str, int] = {}
    found: list[ProposedLever] = []
    code = [
        Block(
            BlockKind.PARAGRAPH,
            plain([(source.text[one.start : one.end], one.start)], markup=False),
        )
        for one in page.fences
        if not any(one.start <= span.start < one.end for span in read)
    ]
    for block in (*page.blocks, *code):
        for proposed in _in_block(block):
            kind = proposed.lever.machine_kind
            counts[kind] = counts.get(kind, 0) + 1
            if counts[kind] <= _MOST_OF_A_KIND and len(found) < _MOST:
                found.append(proposed)
    return tuple(found)


def _in_block(block: Block) -> Iterator[ProposedLever]:
    """One lever of each kind; what a more specific form names is not named again."""
    if len(block.text) > _LONGEST:
        return
    taken: list[tuple[int, int]] = []
    kinds: set[str] = set()
    lowered = block.text.lower()
    for form in _FORMS:
        if not any(hint in lowered for hint in form.hints):
            continue
        for match in form.pattern.finditer(block.text):
            start, end = match.span()
            if any(start < stop and begin < end for begin, stop in taken):
                continue
            if _DENIED.search(block.text[max(0, start - 40) : start]):
                continue
            if _TAKEN_BACK.match(block.text[end : end + 80]):
                continue
            lever = _lever(form, match)
            if lever is None:
                continue
            taken.append((start, end))
            if lever.machine_kind not in kinds:
                kinds.add(lever.machine_kind)
                yield ProposedLever(lever, block.body.span(start, end))


def _lever(form: _Form, match: re.Match[str]) -> Lever | None:
    entry = LEVERS[form.kind]
    cls = getattr(import_module(f"advisor.levers.{entry.module}"), entry.name)
    try:
        lever: Lever = cls(**form.fields(match))
    except ValueError:
        return None
    return lever
