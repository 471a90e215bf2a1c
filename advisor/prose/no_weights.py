"""What is sparse, pruned or masked without a zero in a weight: experts, tokens, a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.forms import Form

if TYPE_CHECKING:
    from advisor.prose.tagging import Tag

_NEAR: Final = 36
"""Characters before a term that tell of what it is."""
_OTHER_SPARSE: Final = (
    r"(?:activations?|activated|experts?|moes?|mixtures?|kv|caches?|keys|tokens?|gradients?"
    r"|updates?|rewards?|features?|embeddings?|vectors?|index(?:es)?|indices|retriev\w+|routing"
    r"|routers?|gat(?:e|ing)|neurons?|inputs?|logits|documentation|docs|traffic|requests?)"
)
"""What is sparse without a zero in a weight."""
_SPARSE_OF: Final = Form(
    rf"spars(?:e|ity)(?:[- ](?:(?!weight|model|checkpoint|matri)[\w-]+ )?"
    rf"|,? of (?:the |its |their |an? )?(?:\w+ )?){_OTHER_SPARSE}\b"
)
_OF_SPARSE: Final = Form(
    rf"\b(?:{_OTHER_SPARSE}|contextual|dynamic)(?:-level)?[- ](?:(?:is|are|structural|block) )?$"
)
_CUT_ELSEWHERE: Final = (
    r"(?:search|space|tun\w+|trees?|branch(?:es)?|candidates?|beams?|paths?|index(?:es)?|retriev\w+"
    r"|requests?|messages?|history|histories|documents?|passages?|chunks?|data ?sets?|samples?"
    r"|graphs?|nodes?|code|adapters?|logs?|dependenc(?:y|ies)|images?|drafts?|vocabular(?:y|ies))"
)
"""What is pruned without a change to the model."""
_PRUNES_OTHER: Final = Form(
    rf"prun(?:e[drs]?|ing)(?: away| back| out)?(?: of)?(?: the| its| their| an?| all| unused"
    rf"| dead)*"
    rf"(?: (?!weight|param|model|layer|connection)\w+)? {_CUT_ELSEWHERE}\b"
)
_OTHER_PRUNED: Final = Form(
    rf"\b{_CUT_ELSEWHERE}(?: with [^.;:,]{{3,24}})?[- ]"
    r"(?:(?:is|are|was|were|gets?|can be|be|being|then|early|first|also|aggressively"
    r"|heavily) ){0,3}$"
)
_PEAK_BEFORE: Final = Form(r"\b(?:[tp](?:era|eta)?-?flops|tops)\b(?:,? ?\(?(?!on\b)(?:\w+,? )?)$")
"""A peak of the data sheet with 2:4 counted in, which says nothing of the weights."""
_EXPERTS: Final = ("xpert", "MoE", "moe")
_ZEROES: Final = ("zero", "Zero", "prun", "Prun", "mask", "structured")


def is_of_no_weight(text: str, tag: Tag) -> bool:
    """Whether what is sparse or pruned is attention, a choice of experts, a tree ..., no weight."""
    term = text[tag.start : tag.end].lower()
    if term.startswith("prun"):
        before = max(0, tag.start - _NEAR)
        pruned = _OTHER_PRUNED.search(text, before, tag.start) is not None
        return pruned or _PRUNES_OTHER.match(text, tag.start) is not None
    if not term.startswith(("sparse", "sparsity")):
        return False
    if "ttention" in text or _SPARSE_OF.match(text, tag.start) is not None:
        return True
    if any(word in text for word in _EXPERTS) and not any(word in text for word in _ZEROES):
        return True
    before = max(0, tag.start - _NEAR)
    return any(
        form.search(text, before, tag.start) is not None for form in (_OF_SPARSE, _PEAK_BEFORE)
    )


_MASK_OF: Final = Form(
    r"\b(?:attention|causal|padding|sliding[- ]window|window(?:ed)?|tree|block|loss|logits?"
    r"|diagonal|triangular|prefix|document|bit|route|affinity|cpu|device|vocabulary|grammar|token"
    r"|sub-?net)[- ]$"
)
"""Before "mask": it says which tokens or devices take part."""
_GATE_OF: Final = Form(
    r"(?:[- ]?(?:and up|mlps?|ffns?|proj\w*|attention|delta\w*|linear|networks?|weights?|logits?"
    r"|scores?"
    r"|functions?|units?|layers?|experts?|routing|recurren\w*|convolution\w*))\b"
)
_OF_GATE: Final = Form(
    r"\b(?:moe|experts?|router|routing|tokens?|forget|input|up|and|quality|ci|logic|feature|softmax"
    r"|sigmoid)[- ]$"
)


def is_of_no_head(text: str, tag: Tag) -> bool:
    """Whether a mask or a gate is one of tokens or of a layer, and switches no head off."""
    term = text[tag.start : tag.end].lower()
    before = max(0, tag.start - _NEAR)
    if term.startswith("mask"):
        return _MASK_OF.search(text, before, tag.start) is not None
    if term not in {"gate", "gates", "gated", "gating"}:
        return False
    return (
        _GATE_OF.match(text, tag.end) is not None
        or _OF_GATE.search(text, before, tag.start) is not None
    )


_HEAD_SIZE: Final = Form(r"[- _](?:dim\w*|sizes?|counts?|width|nodes?|start|room)\b")
_HEAD_BEFORE: Final = Form(
    r"\b(?:lm|output|drafts?|drafting|medusa|eagle(?:-\d)?|hydra|prediction|predictor|classif\w+"
    r"|mtp"
    r"|model(?:l?ing)?|reward|value|decoding|speculator|speculative|extra|additional|package|page)"
    r"[- ]$"
)


def is_no_attention_head(text: str, tag: Tag) -> bool:
    """Whether a head is a size, a part that puts out logits or drafts, or no part of a model."""
    if _HEAD_SIZE.match(text, tag.end) is not None:
        return True
    return _HEAD_BEFORE.search(text, max(0, tag.start - _NEAR), tag.start) is not None
