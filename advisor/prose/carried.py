"""Figures told of one thing that are said to hold of another: "the 2.3x holds at batch 256"."""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form

_FIGURE: Final = (
    r"(?:\d[\d.]*(?:\s?[x×%]|-fold)|factor|figure|numbers?|gains?|speed-?ups?|ratio|improvement"
    r"|benefit|utili[sz]ation|mfu|advantage|win|boost|acceleration|multiple|multiplier|doubling"
    r"|tripling|halving)"
)
_CARRIES: Final = Form(
    rf"\b{_FIGURE}(?!\w)[^.;:]{{0,48}}? (?:holds?|carr(?:y|ies) over|appl(?:y|ies)|stays?|survives?"
    r"|remains?|persists?|continues?|transfers?|is (?:inherited|kept|retained|the same)|keeps?"
    rf"|will be there)\b|\b{_FIGURE}(?!\w)[^.;:,]{{0,48}}? still\b"
    r"|\b(?:shows? up|turns? up|arrives?|lands?|comes? through|is passed on|reappears?)"
    r" (?:one[- ]to[- ]one|in full|undiminished|fully|intact|entirely|unchanged)\b"
    r"|\b(?:gives?|yields?|does|do|gets?|sees?|brings?) the same (?:with|at|for|under|on|in)\b"
    r"|(?<!rather than )\binherits?\b(?![^.;:]{0,40}?\b(?:class(?:es)?|base|parent|config\w*"
    r"|settings?"
    r"|methods?|environment|permissions?|labels?|interface)\b)|\binherited by\b"
    r"|\b(?:profits?|benefits?|gains?) (?:in the same (?:way|measure)|equally|likewise"
    r"|just as (?:much"
    r"|well)|to the same (?:degree|extent))\b"
    rf"|\b{_FIGURE}(?: \w+)? (?:again|once more)(?=[.,;:)]|$)"
    r"|\bstill (?:gives?|brings?|yields?|sees?|gets?|have|has|buys?) (?:us |you |me )?(?:the|that"
    r"|those"
    r"|about|a|our|its) (?:full |same )?\d"
    rf"|\b(?:that|the (?:very )?same|this|equal|identical) (?:high |full |good )?{_FIGURE}(?!\w)"
    r"|\b(?:by|at|in|with) (?:the same|equal|that|this|identical) (?:factor|ratio|proportion|amount"
    r"|percentage|margin|measure|rate|pace|speed|efficiency)\b"
    r"|\b(?:down|up|faster|quicker|shorter|shrinks?|falls?|drops?|improves?|rises?|grows?|scales?)"
    r"(?: also| likewise)? (?:in (?:the same )?proportion|proportionally|proportionately"
    r"|correspondingly|accordingly|in step|along with it)\b"
    rf"|^\W*same(?: {_FIGURE})? (?:for|in|on|with|at)\b"
    rf"|\b(?:that|this|which)(?:['’]s| is) (?:also )?(?:just |exactly |precisely )?the (?:very )?"
    rf"{_FIGURE}[^.;:]{{2,60}}? (?:gets?|sees?|gains?|feels?|enjoys?|inherits?|receives?)\b"
    r"|\b(?:feels?|notices?|sees?) (?:that|this|the) (?:whole |full |same )?(?:gap|difference|lead"
    r"|margin|ratio) (?:in|on|with|at) (?:every|each|all)\b"
    r"|(?:^|\band )so (?:will|do|does|is|are|can|should)\b|\bfor the same reason\b",
)
"""A figure that is said to hold elsewhere."""
_NOT_SO: Final = Form(r"(?: \w+){0,2}?(?: (?:not|never|hardly|no)|n['’]t)\b")
"""Right after a figure: what it is not said to do."""


def carried_over(text: str) -> re.Match[str] | None:
    """Where a clause says that a figure told elsewhere holds for what it is about as well."""
    match = _CARRIES.search(text)
    return match if match is not None and _NOT_SO.match(text, match.end()) is None else None
