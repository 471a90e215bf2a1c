"""From blocks to statements: what each goes on from, and what the document said before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from advisor.forms import Form
from advisor.prose.block_reading import BlockReader, tag_names
from advisor.prose.blocks import Block, BlockKind, Page
from advisor.prose.causes import STRONG, names_own_lever
from advisor.prose.model import Kind, Statement
from advisor.prose.patterns import SOME_DIGIT
from advisor.prose.rows import BASE_ROW
from advisor.prose.sentences import LONGEST_SENTENCE
from advisor.prose.setting import LONGEST_BLOCK, Setting
from advisor.prose.slots import OUTCOME
from advisor.prose.status import is_void
from advisor.prose.users import RAISED
from advisor.prose.voices import voiced


def statements_of(page: Page) -> tuple[Statement, ...]:
    """Every statement of a document, in order."""
    setting = Setting(page)
    found: list[Statement] = []
    recent: list[Block] = []
    bases: dict[int, float | None] = {}
    leads: dict[str, float | None] = {}
    blocks = voiced(page.blocks)
    for index, block in enumerate(blocks):
        if len(block.text) > LONGEST_BLOCK:
            continue
        following = blocks[index + 1] if index + 1 < len(blocks) else None
        if block.kind is not BlockKind.HEADING or block.text.rstrip().endswith("?"):
            base_ms = None
            if block.kind is BlockKind.ITEM:
                base_ms = bases.get(block.group)
                if base_ms is None and len(_levers_above(recent, block)) <= 1:
                    base_ms = leads.get(block.lead_in)
            reader = BlockReader(block, setting, _record(recent, block), following, base_ms)
            own = list(reader.statements())
            found.extend(own)
            if block.kind is BlockKind.PARAGRAPH:
                leads[block.text] = _only_ms(own)
            if block.kind is BlockKind.ITEM and BASE_ROW.search(block.text) is not None:
                bases.setdefault(block.group, _only_ms(own))
        recent = [*recent[-3:], block]
        setting.add(block)
    return tuple(found)


def _levers_above(recent: Sequence[Block], block: Block) -> frozenset[str]:
    """The levers that items above one name; what several come to is no gain of one of them."""
    above = (tag_names(one.text) for one in recent if one.group == block.group)
    return STRONG & frozenset().union(*above)


def _only_ms(own: Sequence[Statement]) -> float | None:
    """The time per token that a block tells, where it tells one alone."""
    told = [one.tpot_ms for one in own if one.kind is Kind.FIGURE and one.tpot_ms]
    return told[0] if len(told) == 1 else None


_POINTS_BACK: Final = Form(
    r"\W*(?:a(?:nswer)?:|(?:this|that|these|those|it|they|both|so|hence|therefore|thus|accordingly"
    r"|consequently|either way|in (?:total|sum|short)|as a (?:result|consequence)|with (?:this|that"
    r"|these|both|it)|the (?:same|result|effect|gain|upshot)|yes|no)\b)",
)
"""How a paragraph begins that goes on with the one before it."""


def _record(recent: Sequence[Block], block: Block) -> list[Block]:
    """What a block goes on from: a paragraph that it points back at, items whose outcome it tells.

    "- prune 40%", "- TPOT: -40%"; "**Q:** Will TP=4 ...?", "**A:** Yes."
    """
    last = recent[-1] if recent else None
    if block.kind is BlockKind.PARAGRAPH and last is not None:
        if last.kind is not BlockKind.PARAGRAPH or len(last.text) > LONGEST_SENTENCE:
            return []
        asked = last.text.rstrip().endswith("?")
        return [last] if asked or _POINTS_BACK.match(block.text) else []
    if block.kind is not BlockKind.ITEM or not _tells_outcome(block.text):
        return []
    return [
        one for one in recent
        if one.kind is BlockKind.ITEM and one.group == block.group
        and len(one.text) <= LONGEST_SENTENCE and not is_void(one.text)
    ]  # fmt: skip


def _tells_outcome(text: str) -> bool:
    """Whether an item names no lever, and tells what comes of those above it.

    "- TPOT: -40%", "- bs=1 TPOT -30 %", "- benefit in chat: token generation 1.5-2x".
    """
    if OUTCOME.match(text) is not None or _FOLLOWS.match(text) is not None:
        return True
    same = _SAME_FIGURE.search(text) is not None
    if len(text) > _LONGEST_OUTCOME or not (same or SOME_DIGIT.search(text)):
        return False
    names = tag_names(text)
    tells = same or not names.isdisjoint({"TIME", "RATE", "FASTER", "HELP"})
    is_option = _OPTION.match(text) or ("HARDWARE" in names and _MOVE.search(text))
    is_own = names_own_lever(text, names) or RAISED.search(text) is not None
    return tells and not is_option and not is_own


_LONGEST_OUTCOME: Final = 120
_SAME_FIGURE: Final = Form(
    r"\b(?:the (?:very )?same|that) \d[\d.]* ?[%x×]"
    r"|^\W*(?:the )?same(?: (?:factor|figure|gain|speed-?up|ratio))? (?:for|in|on|with|at)\b"
)
"""A figure told above, which something else is said to have as well."""
_FOLLOWS: Final = Form(
    r"\W*(?:in consequence|consequently|as a (?:result|consequence)|therefore|hence|thus"
    r"|accordingly"
    r"|by this|with this|thanks to this|this (?:gives|brings|means|makes)|which)\b"
)
"""An item that draws a conclusion from those above it."""
_OPTION: Final = Form(r"\W*(?:(?:option|alternative|variant|plan|choice) \w{1,2}|[a-f])[:.)] ")
"""One of several alternatives, which nothing above it brings about."""
_MOVE: Final = Form(r"\b(?:mov|switch|upgrad|migrat|chang|go)\w*\b[^.;:]{0,24}? (?:to|for|onto) ")
