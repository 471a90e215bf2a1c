"""How headings, labels and columns mark what stands under or beside them as not proposed.

Levers and claims are marked alike: "Non-goals", "Rejected:", a row whose verdict is "no", a reply
that begins with "Wrong".
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.prose.blocks import Block, BlockKind

REJECTING: Final = Form(
    r"\b(?:myths?|misconceptions?|reject\w*|fallac(?:y|ies)|pitfalls?|mistakes?|debunk\w*"
    r"|anti-?patterns?|non-?goals?|out[- ]of[- ]scope|unsupported"
    r"|(?:does|do|did|will|would|should|is|are|was|were|can)(?: ?n['o’]t| not) (?:\w+ )?(?:work"
    r"|works|help|pay|matter|worth|enough|true|count|do|use|plan|change|be)|won['’]?t\b"
    r"|no-ops?|useless|not worth|why not|why (?:\w+ ){1,6}(?:does|do|is|are|will|would|did) "
    r"?n[o'’]t"
    r"|request(?:ing)? changes|changes requested|nack(?:ed)?|not approving"
    r"|discarded|abandoned|dismissed|wrong\w*|false\w*|incorrect\w*|what (?:not|does not"
    r"|doesn'?t)|traps?|errors?|flagged|(?:we|it|they|rooflint|linters?|rules?) flags?"
    r"|example of bad|bad (?:ideas?|claims?|examples?)"
    r"|claim versus|near miss|overclaims?|non-?levers?"
    r"|(?:decided|ruled|voted|spoke) against|(?:and|but|or|we|i|since|ideas?|options?|proposals?"
    r"|levers?) (?:\w+ )?(?:dropped|shelved"
    r"|parked|declined|refused|ruled out|turned down|gave up|given up|set aside|struck|cancelled"
    r"|canceled|threw out|killed|put aside|withdrawn)"
    r"|ruled out|turned down|shelved|parked|declined|(?:gave|giv(?:e|en|ing)) (?:\w+ )?up|set aside"
    r"|dead ends?|blind alleys?|red herrings?|off the table|no-?go|graveyard"
    r"|not (?:pursued|taken|adopted|planned|doing|done|chosen|accepted|approved|recommended"
    r"|followed up|on the list|in|part|covered|included|selected|yet|now|supported)"
    r"|(?:do|will|are|would) not (?:do|doing|pursue|follow|plan|adopt|recommend)"
    r"|(?:we|i) (?:\w+ )?(?:\w+n['’]t|(?:did|do|will) not)|don['’]t (?:do|expect|bother|believe)"
    r"|do not (?:expect|bother|believe))\b(?! (?:for|if) )"
    r"|\b(?:and|but|we) (?:\w+ )?(?:dropped|shelved|parked|declined|discarded|ruled out)\b"
    r"|^\W*(?:dropped|removed|removals|deprecat\w+)\b",
)
"""A heading, lead-in or column."""
_LONGEST_MARK: Final = 160
"""A longer lead-in tells more than how the list is meant."""
_VERDICTS: Final = Form(
    r"\b(?:default|value|enabled|on|status|state|decision|supported|used|setting|verdict|found"
    r"|findings?|measured|reality|actual(?:ly)?|results?|facts?|truth|why not|observed|comments?"
    r"|true|refut\w+|instead|correct\w*|right|outcome|rejected|dropped|declined|objections?|against"
    r"|effect|gain|notes?|remarks?|so what|plan(?:ned)?|do it|adopt\w*)\b",
)
"""A column that tells what became of a row."""
_NO_CELL: Final = Form(
    r"\s*(?:(?:false|off|no|none|null|nothing|0(?: ?%)?|disabled|\"\"|''|n/?a)[^\w%]*$|no[,.;:–—]"
    r"|no (?:gain|effect|benefit|change|speed-?up|difference|help|use)\b|no longer\b|[✗✘❌]"
    r"|(?:false|wrong|myth|not|incorrect|untrue|impossible|rejected|dropped|declined|unsupported"
    r"|deprecated|removed|won['’]t|refuted|debunked)\b)",
)
_CLAIMED_COLUMN: Final = Form(
    r"\b(?:claim(?:s|ed)?|said|promised|myth|statement|expected by|vendor|hope|hoped|marketing"
    r"|wrong claim|idea|proposal|belief)\b",
)
_FOUND_COLUMN: Final = Form(
    r"\b(?:found|verdict|measured|reality|actual(?:ly)?|result|fact|truth|why not|observed|saw"
    r"|seen|happen(?:s|ed)|comment|true|refut\w+|instead|correct\w*|right|status|decision|outcome"
    r"|rejected|dropped|declined|objections?|against)\b",
)
_DROPPED: Final = (
    r"(?:rejected(?! (?:tokens?|drafts?|guess(?:es)?|proposals?|candidates?|ones|words))|dropped"
    r"|declined|shelved|parked|ruled out|discarded|myth|false|wrong"
    r"|refuted|debunked|not true|untrue|abandoned|withdrawn|not (?:pursued|planned|done|used"
    r"|supported)|out of scope|no longer supported|non-?goals?|won['’]?t (?:do|fix))"
)
_LABEL: Final = Form(
    rf"[\W_]*(?:{_DROPPED}(?: \w+){{0,4}}? ?(?:[:—–]| - )|(?:removed|deprecated|unsupported):"
    r"|we (?:(?:do|did|will) not|don['’]t)\b[^.:]{0,40}?:"
    r"|(?:triggers?(?=:)|flags?|flagged|detects?|warns? (?:of|about)|complains? about|catches)\b)"
)
_TAIL: Final = Form(
    rf"(?:[(\[—–:;]| - |->|→) ?(?:\w+ )?{_DROPPED}\b[^.;()\[\]]{{0,60}}[)\]]?\W*$",
)
"""A label, or a mark at the end, by which one point of a list is rejected."""


def is_rejected(block: Block) -> bool:
    """Whether a heading, lead-in, column or cell marks what stands in a block as not meant."""
    marks = [*block.headings[-3:]]
    if block.kind in {BlockKind.ITEM, BlockKind.CELL} and len(block.lead_in) <= _LONGEST_MARK:
        marks.append(block.lead_in)
    if block.kind is BlockKind.CELL:
        marks.append(block.column)
        for column, cell in zip(block.columns, block.cells, strict=False):
            if cell != block.text and _VERDICTS.search(column) and _NO_CELL.match(cell):
                return True
        if _CLAIMED_COLUMN.search(block.column) and any(
            _FOUND_COLUMN.search(column) for column in block.columns if column != block.column
        ):
            return True
    return any(REJECTING.search(mark) for mark in marks if mark)


def is_dropped(text: str) -> bool:
    """Whether a sentence, or a point of a list, is rejected by its label or at its end."""
    return _LABEL.match(text) is not None or _TAIL.search(text) is not None
