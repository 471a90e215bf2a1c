"""What the words around a lever fix of it: shares, counts, sizes, how zeros are stored.

What they leave open stays open, and what they state against it becomes its condition.
"""

from __future__ import annotations

import re
from typing import Any, Final

from advisor.prose.blocks import Block, BlockKind
from advisor.prose.frame import frame_of
from advisor.prose.sentences import Sentence
from advisor.prose.tagging import Tag
from advisor.quantity.numerals import SEVERAL, count_of
from advisor.readers.options import UNKNOWN

_LARGE_BATCH: Final = 16
_NUMBER: Final = rf"(\d{{1,4}}|one|both|{SEVERAL})"
_PERCENT: Final = re.compile(
    r"(?<![\w.])(\d{1,2}(?:\.\d+)?)\s?%(?! (?:faster|slower|lower|higher|fewer))"
)
_FRACTIONS: Final = re.compile(
    r"\b(?:an? |one |the )?(half|third|quarter|fifth|tenth)\b", re.IGNORECASE
)
_PARTS: Final = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
_OF: Final = re.compile(rf"\b{_NUMBER} (?:out )?of (?:the |its |all )?{_NUMBER}\b", re.IGNORECASE)
_FROM_TO: Final = re.compile(r"\bfrom (\d[\d,]*)(?: \w+)? to (\d[\d,]*)\b", re.IGNORECASE)
_RANGE: Final = re.compile(
    r"\blayers? (\d{1,3})(?: ?(?:-|–|to|through) ?)(\d{1,3})\b", re.IGNORECASE
)
_COUNTED: Final = re.compile(
    rf"\b{_NUMBER} (?:\w+[- ]){{0,3}}?(?:layers?|blocks?|heads?|experts?)\b", re.IGNORECASE
)
_WINDOW: Final = re.compile(
    r"\b(\d[\d,]*)( ?k)?[ -](?:tokens?|recent|entries|positions)\b"
    r"|\bwindow(?: size)? ?(?:of|=|:)? ?(\d[\d,]*)( ?k)?\b",
    re.IGNORECASE,
)
_RANK: Final = re.compile(
    r"\brank ?(?:of |=|:|r=)? ?(\d{1,5})\b|\br ?= ?(\d{1,5})\b", re.IGNORECASE
)
_GROUP: Final = re.compile(
    r"\bgroup[- _]?(?:size)? ?(?:of |=|:)? ?(\d{2,4})\b|\bg(\d{2,3})\b", re.IGNORECASE
)
_DEVICES: Final = re.compile(
    rf"\b(?:tp|parallel\w*(?:[ _]size)?|num[-_]shard) ?[=:]? ?(\d{{1,2}})\b|\btp(\d{{1,2}})\b"
    rf"|\b(?:over|across|on|to|with|between) (?:the |all |its )?{_NUMBER}(?: \w+){{0,2}}? ?(?:gpus?"
    r"|cards?|devices?|accelerators?|[HABL]\d{2,3}s?|chips?)\b"
    rf"|\b(?:over|across) (both)\b|\b{_NUMBER} (?:gpus|cards|replicas|devices)\b|\b{_NUMBER}-way\b",
    re.IGNORECASE,
)
_BATCH: Final = re.compile(
    r"\b(?:batch(?:es)?(?: size)?|seqs|slots|parallel|requests|-np|sequences)\b[^.;\d]{0,24}?"
    r"(?:from \d+ to )?(\d{1,5})\b",
    re.IGNORECASE,
)
_DRAFTS: Final = re.compile(
    rf"\b{_NUMBER} (?:draft(?:ed)? |speculative |proposed )?tokens\b", re.IGNORECASE
)
_ACCEPTED: Final = re.compile(
    r"\bacceptance(?: rate)?(?: of| is|:| =|=)? ?(0?\.\d+|\d{1,2} ?%)", re.IGNORECASE
)
_KV_HEADS: Final = re.compile(
    rf"\b{_NUMBER} (?:KV|key[- ]value) heads\b|\b(?:kv_heads|num_key_value_heads|KV heads) ?[=:] ?"
    r"(\d{1,3})\b",
    re.IGNORECASE,
)
_GIGABYTES: Final = re.compile(r"\b(\d{1,4}(?:\.\d+)?) ?G(?:i?B)?\b")
_EXPANDED: Final = re.compile(
    r"\b(?:QuantizedCache|QuantoQuantizedCache|HQQQuantizedCache|cache_implementation|quanto"
    r"|flexgen)\b",
    re.IGNORECASE,
)
_FORMATS: Final = re.compile(r"\b(bitmap|csr)\b", re.IGNORECASE)
_KERNELS: Final = re.compile(
    r"\b(cusparselt|sparse tensor cores?|cutlass|marlin\w*|macko|spinfer)\b", re.IGNORECASE
)
_PERHAPS: Final = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|optional(?:ly)?|later|eventually|some day"
    r"|if needed)\b[^,;.]*$",
    re.IGNORECASE,
)
_NEAR: Final = 70


def details_of(
    kind: str, fields: dict[str, Any], block: Block, sentence: Sentence, tag: Tag, about: set[str]
) -> str | None:
    """Fill `fields` from the words around; the condition that they state, None for no lever.

    `about` are the names of the terms of `STORED` in the sentence or its block.
    """
    near = _near(block.text, sentence, tag)
    match kind:
        case "prune":
            _pruned(fields, block.text, near, sentence, tag, about)
        case "quantize":
            _quantized(fields, sentence.text, about)
        case "low_rank":
            _factored(fields, sentence.text, about)
        case "tensor_parallel" | "data_parallel" | "expert_parallel" | "pipeline_parallel" \
                | "context_parallel":  # fmt: skip
            size = _first(_DEVICES.search(near)) or _of_row(block)
            if size == 1:
                return None
            if size:
                fields["size"] = size
            elif kind == "tensor_parallel":
                fields.update(size=2, at_least=True)
        case "batch":
            size = _first(_BATCH.search(near)) or _of_row(block)
            if size == 1:
                return None
            fields["batch"] = size
        case "speculate":
            _drafted(fields, sentence.text)
        case "attention":
            _shaped(fields, sentence.text)
        case "offload":
            _away(fields, sentence.text, about)
        case _:
            pass
    return _condition(kind, block, sentence, tag, about)


def _condition(kind: str, block: Block, sentence: Sentence, tag: Tag, about: set[str]) -> str:
    if kind == "speculate":
        batch = frame_of(sentence.text).batch
        if batch is not None and batch >= _LARGE_BATCH:
            return f"a small batch: at {batch} sequences verifying drafts costs time"
    if kind == "quantize" and "slower here" in about:
        return "the text itself says that it is not faster"
    if _PERHAPS.search(block.text, max(sentence.start, tag.start - 40), tag.start):
        return "whether it is done, which the text leaves open"
    return ""


def _near(text: str, sentence: Sentence, tag: Tag) -> str:
    """The sentence around a term, not far."""
    return text[max(sentence.start, tag.start - _NEAR) : min(sentence.end, tag.end + _NEAR)]


def _number(word: str) -> int:
    return 2 if word.lower() == "both" else count_of(word)


def _first(match: re.Match[str] | None) -> int | None:
    """The number of a match, whichever of its groups holds it."""
    word = next((group for group in match.groups() if group), None) if match is not None else None
    return _number(word) if word is not None else None


def _of_row(block: Block) -> int | None:
    """The one whole number among the other cells of a row."""
    if block.kind is not BlockKind.CELL:
        return None
    numbers = [cell for cell in block.cells if cell.isdigit()]
    return int(numbers[0]) if len(numbers) == 1 else None


def _pruned(
    fields: dict[str, Any], text: str, near: str, sentence: Sentence, tag: Tag, about: set[str]
) -> None:
    pattern = fields["pattern"]
    if pattern == "kv_tokens":
        window = _WINDOW.search(sentence.text)
        if window is not None:
            number = int((window[1] or window[3]).replace(",", ""))
            fields["kept"] = number * (1024 if window[2] or window[4] else 1)
        return
    if pattern == "2:4":
        kernel = _KERNELS.search(sentence.text)
        if "dense" in about:
            fields["storage"] = "dense"
        elif kernel is not None and "sparse" in about:
            fields.update(storage="2:4-packed", kernel=kernel[1])
        return
    if pattern in {"unstructured", "block"}:
        form = _FORMATS.search(sentence.text)
        if form is not None:
            fields["storage"] = form[1].lower()
        elif "sparse" not in about and pattern == "unstructured":
            # a pruned checkpoint is a dense one unless somebody says otherwise
            fields["storage"] = "dense"
    share = _share(text, sentence, tag)
    if share is not None:
        fields["sparsity"] = share
        return
    counted = _COUNTED.search(near)
    layers = _RANGE.search(near)
    if pattern == "layers" and layers is not None:
        fields["dropped"] = max(1, int(layers[2]) - int(layers[1]) + 1)
    elif pattern in {"layers", "experts"} and counted is not None:
        fields["dropped"] = _number(counted[1])


def _share(text: str, sentence: Sentence, tag: Tag) -> float | None:
    """The part that goes: the nearest percentage or fraction, "8 of 32", "from 8192 to 6144"."""
    inside = sentence.start, sentence.end
    found = [
        (_distance(match, tag), float(match[1]) / 100.0)
        for match in _PERCENT.finditer(text, *inside)
    ]
    found += (
        (_distance(match, tag), _PARTS[match[1].lower()])
        for match in _FRACTIONS.finditer(text, *inside)
    )
    for match in _OF.finditer(text, sentence.start, sentence.end):
        part, whole = _number(match[1]), _number(match[2])
        if 0 < part < whole:
            found.append((_distance(match, tag), part / whole))
    for match in _FROM_TO.finditer(text, sentence.start, sentence.end):
        old, new = (int(group.replace(",", "")) for group in match.groups())
        if 0 < new < old:
            found.append((_distance(match, tag), 1.0 - new / old))
    near = [one for one in found if one[0] <= _NEAR]
    return min(near)[1] if near else None


def _distance(match: re.Match[str], tag: Tag) -> int:
    return max(match.start() - tag.end, tag.start - match.end(), 0)


def _quantized(fields: dict[str, Any], text: str, about: set[str]) -> None:
    if fields.get("weights") == "int4-g128" and (group := _first(_GROUP.search(text))):
        fields["weights"] = f"int4-g{group}"
    if "weights" in fields and "simulated" in about:
        fields["packed"] = False
    if "kv_cache" in fields and _EXPANDED.search(text):
        fields["in_kernel"] = False


def _factored(fields: dict[str, Any], text: str, about: set[str]) -> None:
    rank = _first(_RANK.search(text))
    if rank is not None and rank > 0:
        fields["rank"] = rank
    if "back" in about:
        fields["storage"] = "multiplied"


def _drafted(fields: dict[str, Any], text: str) -> None:
    drafts = _first(_DRAFTS.search(text))
    if drafts is not None and 0 < drafts <= 16:
        fields["draft_tokens"] = drafts
    accepted = _ACCEPTED.search(text)
    if accepted is not None:
        fields["acceptance"] = accepted[1]


def _shaped(fields: dict[str, Any], text: str) -> None:
    if fields["variant"] == "gqa":
        heads = _first(_KV_HEADS.search(text))
        if heads:
            fields["kv_heads"] = heads


def _away(fields: dict[str, Any], text: str, about: set[str]) -> None:
    size = _GIGABYTES.search(text)
    name = "weights" if "weights" in fields else "kv_cache"
    fields[name] = f"{size[1]} GB" if size is not None else UNKNOWN
    if name == "kv_cache":
        fields["evicted"] = "evicted" in about
