"""Who speaks: quotations that the author makes his own, and questions that he answers.

A block quotation is left alone, unless the text around it takes it over ("We adopt this"), unless
it is a callout of the author's ("> [!NOTE]"), and unless it is all there is. A question asserts
nothing, unless its answer does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from advisor.forms import Form
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.sentences import sentences_of
from advisor.prose.status_forms import QUOTES

_CALLOUT: Final = Form(
    r"\W*\[!\w+\]|\W*(?:note|tip|important|warning|caution|info|hint|summary|tl;?dr)\b",
)
_ADOPTS: Final = Form(
    r"^\W*(?:so |therefore |accordingly |hence |thus |and |as a result,? )?(?:agreed\b|\+ ?1\b"
    r"|exactly\b|right\b(?! of| side)|correct\b|true\b|indeed\b|confirmed\b|approved\b|adopted\b"
    r"|accepted\b|(?:sounds|looks) (?:good|right|reasonable)|good (?:point|advice|idea|catch)"
    r"|(?:we|i)(?:['’]ll| will| shall| fully| all| both| therefore| hence| now| have| decided to"
    r"| are going to| want to| can| gladly){0,3} (?:agreed?|concur|adopt(?:ed)?|follow(?:ed)?"
    r"|accept(?:ed)?|go (?:with|for)|take (?:this|that|it|the|his|her|their|over)|do (?:this|that"
    r"|it|just|exactly|so|as)|ship (?:this|that|it)|build (?:on|this|that|it)|act on"
    r"|count on (?:this|that|it)|rely on (?:this|that|it)|plan (?:with|on|for|accordingly"
    r"|around) ?(?:this|that|it|these)?|implement (?:this|that|it)|(?:put|write) (?:this|that|it)"
    r" in(?:to)? (?:the|our)|share (?:this|that|the) (?:view|opinion))"
    r"|(?:this|that|it|which) (?:is|was|will be|becomes|goes|matches|went)(?: exactly| just| also"
    r"| now| then)? (?:the plan|our plan|what we|correct|right|true|why we|the reason (?:why )?we"
    r"|our (?:view|assumption|basis)|adopted|accepted|approved|into the|in the (?:plan|roadmap)"
    r"|our experience)"
    r"|(?:we|i)(?:['’]ll| will) (?:\w+ )?(?:buy|plan|order|build|budget|size|act"
    r"|proceed) on (?:that"
    r"|this) basis|from (?:our|my) (?:\w+ ){0,2}?(?:newsletter|blog|report|plan|notes|wiki|docs"
    r"|slides"
    r"|deck|proposal|paper|draft|handbook|guide|release notes|talk|ticket|rfc)\b"
    r"|let us (?:do|ship|take|go)|let['’]s (?:do|ship|take|go)|shipping\b|as (?:advised|suggested"
    r"|proposed|recommended)|following (?:this|that|the) (?:advice|suggestion|recommendation"
    r"|reasoning|argument)|on (?:this|that) (?:advice|basis|ground))",
)
"""How a sentence begins that makes what was quoted the author's own."""
_ANNOUNCES: Final = Form(
    r"\W*(?:an? |the |our )?(?:comment|note|remark|review|minutes|excerpt|extract|abstract|summary"
    r"|ticket|e-?mail|mail|message|reply|answer|accepted answer|report|memo|transcript|entry"
    r"|section"
    r"|paragraph|finding|recommendation|proposal|plan|statement)\b[^.;:!?]{0,80}:\s*"
)
"""A line that says what is quoted below it, and nothing of what it thinks of it."""
_RESERVES: Final = Form(
    r"\b(?:but|except|only|unless|however|not|never|cannot|wrong|false|doubt\w*|although|though"
    r"|disagree\w*|until|if|once|remov\w+|instead)\b|n['’]t\b",
)


def voiced(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks, those of a quotation that the author makes his own no longer quoted."""
    blocks = [replace(one, quoted=True) if _is_speech(one) else one for one in blocks]
    if not any(block.quoted for block in blocks):
        return tuple(blocks)
    written = [block for block in blocks if block.kind is not BlockKind.HEADING]
    if written and not written[0].quoted and _ANNOUNCES.fullmatch(written[0].text):
        written = written[1:]
    alone = bool(written) and all(block.quoted for block in written)
    found = list(blocks)
    at = 0
    while at < len(found):
        stop = at + 1
        if found[at].quoted:
            while stop < len(found) and found[stop].quoted:
                stop += 1
            before = found[at - 1].text if at else ""
            after = found[stop].text if stop < len(found) else ""
            if (
                alone
                or _CALLOUT.match(found[at].text)
                or adopts(after)
                or (before.rstrip().endswith(":") and adopts(before))
            ):
                found[at:stop] = [replace(block, quoted=False) for block in found[at:stop]]
        at = stop
    return tuple(found)


_SPOKEN: Final = 2
"""Sentences of a speech; one alone may be a title."""


def _is_speech(block: Block) -> bool:
    """Whether a paragraph is somebody's words from its first sign to its last."""
    text = block.text.strip()
    closing = QUOTES.get(text[:1])
    if block.kind is not BlockKind.PARAGRAPH or closing is None or not text.endswith(closing):
        return False
    inner = text[1:-1]
    is_one = closing not in inner and text[0] not in inner
    return is_one and len(text) <= _LONGEST and len(sentences_of(inner)) >= _SPOKEN


def adopts(text: str) -> bool:
    """Whether the first sentence of a text makes what was said before it the author's own."""
    if not text or len(text) > _LONGEST:
        return False
    sentences = [sentence.text for sentence in sentences_of(text)[:2]]
    if not sentences or _RESERVES.search(sentences[0]) is not None:
        return False
    return any(is_adoption(sentence) for sentence in sentences)


def is_adoption(sentence: str) -> bool:
    """Whether a sentence takes over what was quoted before it, without reserve."""
    return _ADOPTS.match(sentence) is not None and _RESERVES.search(sentence) is None


_LONGEST: Final = 1500


class Answer(StrEnum):
    """What a question is answered."""

    YES = "yes"
    NO = "no"


_LABEL: Final = r"^\W*(?:(?:(?:short|quick|long|honest|simple) )?a(?:nswer|ns)?\s*[:.]\W*)?"
_YES: Final = Form(
    rf"{_LABEL}(?:yes|yep|yeah|sure|of course|definitely|certainly|absolutely|clearly|naturally"
    r"|indeed|without (?:a )?doubt|very much|by all means|correct|right\b|it (?:does|will|can|is)"
    r"\b(?! not| only|n['’]t)|they (?:do|will|can|are)\b(?! not| only))",
)
_NO: Final = Form(
    rf"{_LABEL}(?:no\b|nope|not (?:at all|by itself|really|here|any more)|never|it (?:does|will|is"
    r"|can) ?n[o'’]t|they (?:do|will|are|can) ?n[o'’]t|hardly)",
)
_CONDITIONS: Final = Form(
    r"\b(?:if|provided|only|but|as long as|when|once|unless|where|until|though|although|however"
    r"|almost|nearly|up to|at best|at most|in principle|in theory|partly|somewhat|depends"
    r"|assuming|with a (?:\w+ )?kernel)\b",
)


def answer_of(text: str) -> Answer | None:
    """How a sentence answers the question before it; None where it does not, or conditionally."""
    if _YES.match(text):
        return None if _CONDITIONS.search(text) else Answer.YES
    return Answer.NO if _NO.match(text) else None
