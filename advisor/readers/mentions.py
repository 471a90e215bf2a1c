"""Levers that a document proposes in words: each with its kind, what is stated of it, its place.

Three ways lead to one: words that name it ("speculative decoding"), a width of something ("KV
cache in FP8", "4-bit weights"), and an act on a part ("remove the last eight layers", "mask 30% of
the heads"); besides, settings written in the text are read by the tables of options. A mention
promises nothing and is judged by nobody; an audit lists it, so that a reader sees what was
understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from advisor.levers import Lever, lever_class
from advisor.proposal import ProposedLever
from advisor.prose.blocks import Block, BlockKind, Page
from advisor.prose.in_use import is_in_use
from advisor.prose.refusals import is_rejected
from advisor.prose.sentences import Sentence, sentences_of
from advisor.prose.tagging import Node, Tag, tags_of, words_of
from advisor.prose.text import plain
from advisor.readers.inline_settings import settings_of
from advisor.readers.mention_details import details_of
from advisor.readers.mention_status import (
    is_answered_no,
    is_denied,
    is_other_model,
    is_taken_back,
    is_training,
)
from advisor.readers.mention_terms import DIRECT, terms
from advisor.source import Source, Span

_MOST_OF_A_KIND: Final = 16
_MOST: Final = 200
_LONGEST: Final = 20_000
_LONGEST_SENTENCE: Final = 1500
_COMMENT_LINE: Final = re.compile(
    r"^[ \t]*(?:#|//|--(?= )|;)[^\n\r]*|^-[^-\n\r][^\n\r]*", re.MULTILINE
)
_WORD: Final = re.compile(r"[^\W_]+")
_REACH: Final = 5
"""Words between a width and what it is of, or an act and its part."""
_GENERIC: Final = re.compile(r"prun|spars", re.IGNORECASE)
_DEFAULT_PARTS: Final = {
    "heads": "heads", "kv heads": "heads", "layers": "layers", "channels": "channels",
    "experts": "experts", "cached tokens": "kv_tokens", "weights": "unstructured",
}  # fmt: skip
_WEAK: Final = {
    "speculative": re.compile(
        r"draft|decod|speculative (?:model|config|tokens|sampling|execution)|token|verif|lookup"
        r"|medusa|eagle|mtp|--?specul|self.?specul",
        re.IGNORECASE,
    ),
    "tensor parallel": re.compile(
        r"\bTP\b|tensor|-tp|tp\d|shard|split|gpus?|cards?", re.IGNORECASE
    ),
    "batch": re.compile(
        r"(?<!\w)-np \d|batch|seqs|parallel|slots|requests|sequences", re.IGNORECASE
    ),
    "attention": re.compile(
        r"attention|attn|flash|(?<!\w)-fa\b|fa[23]|sdpa|xformers", re.IGNORECASE
    ),
    "low rank": re.compile(r"rank|svd|factor|singular", re.IGNORECASE),
}
"""Words that name a lever only beside others."""
_NOT_A_RANK: Final = re.compile(r"\blora\b|adapters?|ranking|prime factor|scal(?:e|ing) factor",
                                re.IGNORECASE)  # fmt: skip
_NO_LAYER: Final = re.compile(r"\b(?:docker|image|container|cach(?:e|ing) layer|abstraction|osi)\b",
                              re.IGNORECASE)  # fmt: skip


class _Found(NamedTuple):
    """A lever in the making, and the words that name it."""

    kind: str
    fields: dict[str, Any]
    tag: Tag
    is_act: bool = False


class Mentioned(NamedTuple):
    """What the blocks of a document name, in order."""

    levers: tuple[ProposedLever, ...]
    in_use: tuple[ProposedLever, ...]
    """Formats and splits of what runs today: the baseline, and nothing that is proposed."""


def mentions_of(source: Source, page: Page, read: Sequence[Span]) -> Mentioned:
    """Levers that the blocks of a document name; code counts where no reader read it."""
    in_use: list[ProposedLever] = []
    counts: dict[str, int] = {}
    found: list[ProposedLever] = []
    kinds: set[str] = set()
    row: tuple[int, tuple[str, ...]] | None = None
    blocks = [*page.blocks, *_code(source, page, read)]
    for index, block in enumerate(blocks):
        if len(found) >= _MOST:
            break
        here = (block.group, block.cells) if block.kind is BlockKind.CELL else None
        if here is None or here != row:
            kinds = set()
        row = here
        if len(block.text) > _LONGEST or not _may_name(block.text):
            continue
        following = blocks[index + 1] if index + 1 < len(blocks) else None
        for proposed, is_base in _in_block(block, following):
            if is_base:
                in_use.append(proposed)
                continue
            kind = proposed.lever.machine_kind
            if kind in kinds:
                continue
            kinds.add(kind)
            counts[kind] = counts.get(kind, 0) + 1
            if counts[kind] <= _MOST_OF_A_KIND:
                found.append(proposed)
    found.sort(key=lambda proposed: proposed.span.start)
    return Mentioned(tuple(found), tuple(in_use))


def _code(source: Source, page: Page, read: Sequence[Span]) -> Iterator[Block]:
    """Code that no reader read, without the lines that are comments or taken out."""
    for fence in page.fences:
        if any(fence.start <= span.start < fence.end for span in read):
            continue
        text = source.text[fence.start : fence.end]
        kept = _COMMENT_LINE.sub(lambda match: " " * len(match[0]), text)
        yield Block(BlockKind.PARAGRAPH, plain([(kept, fence.start)], markup=False))


@lru_cache(maxsize=1)
def _first_words() -> frozenset[str]:
    """Words that begin a term which can name a lever: without one, a block names none."""
    return frozenset(word for word, node in terms().items() if _can_name(node))


def _can_name(node: Node) -> bool:
    if any(tag.startswith(("direct:", "width:", "act:")) for tag in node.tags):
        return True
    return any(_can_name(further) for further in node.further.values())


def _may_name(text: str) -> bool:
    return not _first_words().isdisjoint(_WORD.findall(text.lower()))


_OF_A_BASELINE: Final = frozenset({"quantize", "tensor_parallel"})
"""Kinds of levers that a baseline states as what it is."""


def _in_block(block: Block, following: Block | None) -> Iterator[tuple[ProposedLever, bool]]:
    """Levers, each with whether it is in use already."""
    sentences = sentences_of(block.text)
    after = following.text if following is not None else ""
    settings = list(settings_of(block))
    tagged = [_tags(block.text, sentence) for sentence in sentences]
    width = _one_width(block, tagged)
    rejected: bool | None = None
    for index, (sentence, tags) in enumerate(zip(sentences, tagged, strict=True)):
        inside = [one for one in settings if sentence.start <= one.start < sentence.end]
        candidates = [
            found for found in _candidates(block, sentence, tags)
            if not any(one.start <= found.tag.start < one.end for one in settings)
        ]  # fmt: skip
        if not candidates and not inside:
            continue
        if rejected is None:
            rejected = is_rejected(block) or is_answered_no(block, following)
        if rejected:
            return
        if is_taken_back(block.text, sentences, index, after) or is_other_model(block, sentence):
            continue
        base = is_in_use(sentence.text)
        for setting in inside:
            if not is_denied(block.text, sentence, setting.start, setting.end):
                yield from (
                    (proposed, base and proposed.lever.kind in _OF_A_BASELINE)
                    for proposed in setting.levers
                    if not is_training(proposed.lever.kind, block, sentence)
                )
        about = _about(tags, tagged)
        for found in candidates:
            if found.fields.get("weights") == "auto":
                if width is None or block.kind is BlockKind.CELL:
                    continue
                found.fields["weights"] = width
            start, end = found.tag.start, found.tag.end
            if is_denied(block.text, sentence, start, end, act=found.is_act):
                continue
            if not is_training(found.kind, block, sentence):
                is_base = base and found.kind in _OF_A_BASELINE
                yield from (
                    (proposed, is_base) for proposed in _proposed(found, block, sentence, about)
                )


def _one_width(block: Block, tagged: Sequence[Sequence[Tag]]) -> str | None:
    """The width that "quantized" means in a block: of the lead-in or heading; None beside others.

    "auto" where nothing around it says one.
    """
    if any(_is_width(tag) for tags in tagged for tag in tags):
        return None
    for label in (block.lead_in, *reversed(block.headings)):
        widths = _label_widths(label)
        if len(widths) == 1:
            return next(iter(widths))
    return "auto"


def _is_width(tag: Tag) -> bool:
    return tag.name.startswith("width:") and tag.name not in {"width:auto", "width:mixed"}


@lru_cache(maxsize=512)
def _label_widths(label: str) -> frozenset[str]:
    """The widths that a heading or lead-in names."""
    if len(label) > _LONGEST_SENTENCE:
        return frozenset()
    tags = tags_of(label, words_of(label), terms())
    return frozenset(tag.name.removeprefix("width:") for tag in tags if _is_width(tag))


def _tags(text: str, sentence: Sentence) -> list[Tag]:
    if len(sentence.text) > _LONGEST_SENTENCE:
        return []
    return tags_of(text, sentence.words, terms())


def _about(tags: Sequence[Tag], tagged: Sequence[Sequence[Tag]]) -> set[str]:
    """Names of the words of storage in a sentence, else in its block; some hold at home only."""
    own = {tag.name.removeprefix("stored:") for tag in tags if tag.name.startswith("stored:")}
    about = {f"{name} here" for name in own} | own
    if own.isdisjoint({"dense", "sparse"}):
        others = {tag.name for one in tagged for tag in one}
        about |= {name for name in ("dense", "sparse") if f"stored:{name}" in others}
        if {"dense", "sparse"} <= about:
            about.discard("sparse")
    return about


def _candidates(block: Block, sentence: Sentence, tags: Sequence[Tag]) -> Iterator[_Found]:
    """What a sentence names, in the order of precedence: acts on parts, names, widths."""
    acted = [*_acts(block, sentence, tags)]
    yield from _placed(sentence, tags)
    taken = {tag.first for found in acted for tag in tags
             if found.tag.first <= tag.first < found.tag.last}  # fmt: skip
    patterned = any(tag.name in {"direct:2:4", "direct:blocks", "direct:activation sparsity",
                                 "direct:layers", "direct:heads", "direct:channels",
                                 "direct:experts"} for tag in tags)  # fmt: skip
    yield from acted
    for tag in tags:
        group, _, name = tag.name.partition(":")
        words = block.text[tag.start : tag.end]
        if group == "direct" and tag.first not in taken:
            if name in _WEAK and not _WEAK[name].search(sentence.text):
                continue
            if name == "low rank" and _NOT_A_RANK.search(sentence.text):
                continue
            generic = name == "unstructured" and _GENERIC.match(words) is not None
            if generic and (acted or patterned):
                continue
            kind, fields = DIRECT[name][0]
            yield _Found(kind, dict(fields), tag)
        elif name == "mixed" and any(_is_width(other) for other in tags):
            continue
        elif group == "width" and not (
            _is_part_of_number(block.text, tag) or _is_compared_with(sentence, block.text, tag)
        ):
            yield from _width(block, sentence, tags, tag, name)


def _is_part_of_number(text: str, tag: Tag) -> bool:
    """Whether "5 bits" is the end of "4.5 bits"."""
    return text[max(0, tag.start - 1) : tag.start] in {".", ","} and tag.start > 1 and (
        text[tag.start - 2].isdigit()
    )  # fmt: skip


_COMPARED: Final = re.compile(
    r"\b(?:than|over|vs\.?|versus|against|compared (?:to|with)|relative to|down from|(from))\s+"
    r"(?:the |our |its |an? |plain |pure |today['’]s |current |existing )?$",
    re.IGNORECASE,
)
_CHANGES_TO: Final = re.compile(r"[^.;:]{0,24}?(?: to |→|->)")


def _is_compared_with(sentence: Sentence, text: str, tag: Tag) -> bool:
    """Whether a width is what another one is better than: "3x over FP8", "from FP8 to INT4"."""
    before = _COMPARED.search(text[max(sentence.start, tag.start - 36) : tag.start])
    if before is None or before[1] is None:
        return before is not None
    return _CHANGES_TO.match(text, tag.end, sentence.end) is not None


def _acts(block: Block, sentence: Sentence, tags: Sequence[Tag]) -> Iterator[_Found]:
    """Parts that are zeroed, or taken out."""
    acts = [tag for tag in tags if tag.name in {"act:cut", "act:zero", "act:remove"}]
    parts = [tag for tag in tags if tag.name.startswith("part:")]
    for act in acts:
        near = [part for part in parts if _gap(act, part) <= _REACH]
        near = [part for part in near if _is_one_clause(block.text, sentence, act, part)]
        if not near:
            continue
        part = min(near, key=lambda part: (_gap(act, part), part.first < act.first))
        pattern = _DEFAULT_PARTS[part.name.removeprefix("part:")]
        how = act.name.removeprefix("act:")
        if pattern == "layers" and _NO_LAYER.search(sentence.text):
            continue
        if how == "cut" and pattern == "unstructured":
            continue  # "prune the weights" is named by its verb
        fields: dict[str, Any] = {"pattern": pattern}
        zeroed = how == "zero" or any(tag.name == "act:zero" and _gap(tag, part) <= 2 * _REACH
                                      for tag in acts)  # fmt: skip
        if pattern in {"heads", "channels", "layers", "experts"}:
            fields["storage"] = "masked" if zeroed else "removed"
        first, last = min(act, part, key=lambda tag: tag.first), max(
            act, part, key=lambda tag: tag.last
        )  # fmt: skip
        whole = Tag("act", first.start, last.end, first.first, last.last)
        yield _Found("prune", fields, whole, is_act=True)


def _placed(sentence: Sentence, tags: Sequence[Tag]) -> Iterator[_Found]:
    """Weights or a cache that are kept in the memory of the host."""
    put = [tag for tag in tags if tag.name == "act:put"]
    for place in (tag for tag in tags if tag.name == "stored:host"):
        verbs = [tag for tag in put if 0 <= place.first - tag.last <= _REACH]
        if not verbs:
            continue
        begin = max((one.start for one in sentence.clauses if one.start <= place.start), default=0)
        things = [tag for tag in tags if tag.name in {"thing:cache", "thing:weights"}
                  and begin <= tag.start < place.start]  # fmt: skip
        if things:
            name = "kv_cache" if any(tag.name == "thing:cache" for tag in things) else "weights"
            tag = Tag("act", verbs[0].start, place.end, verbs[0].first, place.last)
            yield _Found("offload", {name: "0 GB"}, tag)
            return


def _gap(one: Tag, other: Tag) -> int:
    """Words between two terms."""
    return max(other.first - one.last, one.first - other.last, 0)


def _is_one_clause(text: str, sentence: Sentence, one: Tag, other: Tag) -> bool:
    """Whether two terms stand in one clause, and are no members of a list."""
    first, last = sorted((one.start, other.start))
    if "," in text[min(one.end, other.end) : last]:
        return False
    return not any(first < clause.start <= last for clause in sentence.clauses)


def _width(
    block: Block, sentence: Sentence, tags: Sequence[Tag], tag: Tag, form: str
) -> Iterator[_Found]:
    """A number format of weights or of the cache; of anything else it is no lever."""
    thing = _thing(block, sentence, tags, tag)
    if thing in {"activations", "training", "other"}:
        return
    if thing == "cache":
        if form in {"auto", "mixed"}:
            form = "fp8"
        yield _Found("quantize", {"kv_cache": "fp8" if form == "fp16" else form}, tag)
    elif form == "int8" and any(
        other.name == "width:fp8" and _gap(tag, other) <= 2 for other in tags
    ):
        return  # "W8A8, FP8"
    else:
        field = "lm_head" if thing == "head" and form not in {"auto", "mixed"} else "weights"
        yield _Found("quantize", {field: form}, tag)


def _thing(block: Block, sentence: Sentence, tags: Sequence[Tag], tag: Tag) -> str | None:
    """What a width is of: by the nearest words of its clause, then by column and row."""
    clause = next((one for one in sentence.clauses if one.start <= tag.start < one.end), None)
    begin, stop = (clause.start, clause.end) if clause else (sentence.start, sentence.end)
    things = [
        other for other in tags if other.name.startswith("thing:") and other.first != tag.first
    ]
    inside = [other for other in things if begin <= other.start < stop]
    after = [
        other for other in inside
        if 0 <= other.first - tag.last <= 2 and "," not in block.text[tag.end : other.start]
    ]  # fmt: skip
    if after:
        return _name(after[0])
    before = [
        other for other in inside if other.last <= tag.first and tag.first - other.last <= _REACH
    ]
    if before:
        return _name(before[-1])
    if block.kind is BlockKind.CELL:
        for label in (block.column, block.row):
            if label and label != block.text and (named := _label_things(label)):
                return named
    return None


def _name(tag: Tag) -> str:
    return tag.name.removeprefix("thing:")


@lru_cache(maxsize=512)
def _label_things(label: str) -> str | None:
    """What a header or a row label is about."""
    tags = tags_of(label, words_of(label), terms())
    named = [_name(tag) for tag in tags if tag.name.startswith("thing:")]
    return named[0] if len(set(named)) == 1 else None


def _proposed(
    found: _Found, block: Block, sentence: Sentence, about: set[str]
) -> Iterator[ProposedLever]:
    condition = details_of(found.kind, found.fields, block, sentence, found.tag, about)
    lever = _lever(found) if condition is not None else None
    if lever is None:
        return
    span = block.body.span(found.tag.start, found.tag.end)
    for part in lever.parts():
        yield ProposedLever(part, span, condition=condition or "")


def _lever(found: _Found) -> Lever | None:
    try:
        return lever_class(found.kind).model_validate({"kind": found.kind, **found.fields})
    except ValueError:
        return None
