"""The lever that a clause is about: the most specific of the nearest place that names one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from advisor.forms import Form

Names = frozenset[str]
"""Kinds of terms that stand in one place."""
PRECEDENCE: Final = (
    "MASKED_HEADS", "S24", "ACTQ", "ATTN", "SPEC", "KVQ", "CAPACITY", "TP", "PP", "BATCH",
    "PREFIX", "PRUNE", "LAYERS", "MATMUL", "PEAK", "LOWRANK", "MOE", "GQA", "GRAPHS", "OFFLOAD",
    "DISTILL", "QUANT", "FLOPS", "HARDWARE",
)  # fmt: skip
"""Levers from the most specific to the least."""
_CHANGE: Final = Form(
    r"quanti[sz]|instead|→|->|\b(?:from(?! \d[\d.]* to \d[\d.]* ?(?:t/s|tok|ms|tps))|over|against"
    r"|versus|vs|switch\w*|replac\w+|convert\w*"
    r"|brings?|gives?|makes?|weights?|checkpoint|narrow\w*|smaller|bytes|size)\b"
    r"|\bto (?:int|fp|nv|mx|w\d|q\d|\d(?![\d.]* ?(?:t/s|tok|ms|tps)))"
    r"|\bwith (?:the |an? )?(?:\w+ )?(?:q[2-8]\w*|int[2-8]|fp[468]|nvfp4|mxfp4|nf4|awq|gptq)\b",
)
"""Words by which a number format is a change, and not what the model comes in ("the 14B Q5")."""
_NEW_FORMAT: Final = Form(
    r"quanti[sz]|instead of|rather than|→|->|\b(?:to|into|over|against|versus|vs\.?) (?:int|fp|nf"
    r"|mx|w\d"
    r"|q\d|bf|\d[- ]?bit)|\b(?:int|fp|nf|mxfp|nvfp)\d\w* (?:weights|brings?|gives?|makes?|halves"
    r"|doubles|quarters|adds?)\b|\bweights\b"
)
"""A format that something is changed to, beside the one that the model comes in."""
_LABEL_REACH: Final = 3
_WEAK: Final = frozenset({"HARDWARE", "FLOPS", "CAPACITY", "QUANT", "MOE", "OFFLOAD"})
"""Levers that a text often only mentions: they count where nothing else is near."""
_LESS: Names = frozenset({"DOWN", "REMOVE", "REMOVED"})
"""Fewer operations are a lever, and not operations by themselves."""
_OWN_FORMAT: Final = (("QUANT", 0), ("QUANT", 1))
"""A change of format in the clause or its sentence, which counts before a lever of another one."""
_FORMAT_OF_ROW: Final = ("QUANT", 4)
STRONG: Final = frozenset(PRECEDENCE) - _WEAK


def cause_of(
    text: str, own: Names, sentence: Names, before: Sequence[Names], labels: Sequence[Names]
) -> tuple[str | None, int]:
    """The lever of a clause and its reach: 0 the clause, 1 sentence, 2 and 3 before, 4 a label.

    `text` is that of the sentence, `before` holds the sentences before it in their order.
    """
    if "S24" in own or ("S24" in sentence and "SPEC" not in own):
        return "S24", 0 if "S24" in own else 1
    others = {"QUANT", "SPEC", "BATCH", "TP"} - (set() if _NEW_FORMAT.search(text) else {"QUANT"})
    if _masks_heads(before, sentence) and own.isdisjoint(others):
        return "MASKED_HEADS", 0 if "MASKED_HEADS" in own else 1
    places = [(own, 0), (sentence, 1)]
    places.extend((place, 3 if back else 2) for back, place in enumerate(reversed(before)))
    places.extend((place, 4) for place in labels)
    weak: tuple[str | None, int] = (None, 0)
    changed = _CHANGE.search(text) is not None
    pattern = any("S24" in place for place, reach in places if reach <= _LABEL_REACH)
    for place, reach in places:
        for lever in PRECEDENCE:
            if lever in place:
                if pattern and (lever == "PRUNE" or (lever == "MATMUL" and reach)):
                    return "S24", reach
                if lever not in _WEAK or (lever == "FLOPS" and reach and place & _LESS):
                    kept = lever == "ACTQ" and reach > _LABEL_REACH and "WEIGHTS" not in own
                    if kept and weak in _OWN_FORMAT:
                        return lever, reach  # a format of activations, by the heading
                    if weak in _OWN_FORMAT and reach >= 2 and lever != "PRUNE" and changed:
                        return weak
                    if weak == _FORMAT_OF_ROW:
                        return weak  # what the row is, before what the lead-in mentions
                    if weak == ("CAPACITY", 0) and reach >= 2 and lever == "PEAK":
                        return weak  # two reasons for one device, each in its sentence
                    return lever, reach
                if weak[0] is None:
                    weak = lever, reach
    return weak


def names_own_lever(text: str, names: Names) -> bool:
    """Whether a text names the lever of what it tells, and rests on none before it."""
    return not STRONG.isdisjoint(names) or ("QUANT" in names and _CHANGE.search(text) is not None)


def _masks_heads(before: Sequence[Names], sentence: Names) -> bool:
    """Whether heads are masked in the sentence, or in the two before it and nothing since."""
    last = before[-2:]
    if "MASKED_HEADS" in sentence:
        return True
    named = any("HEADS" in place for place in last)
    if "MASK" in sentence:
        return named
    masked = bool(last) and "MASK" in last[-1] and (named or "HEADS" in last[-1])
    return masked and sentence.isdisjoint(STRONG - {"ATTN"})  # of heads attention is made
