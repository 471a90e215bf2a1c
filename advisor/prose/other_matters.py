"""Clauses that add something of quality, price or effort to a claim of speed, which stands.

"It makes decode twice as fast, but accuracy drops": what follows takes nothing back.
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form

_MATTER: Final = Form(
    r"\b(?:quality|accuracy|accurate|perplexity|ppl|mmlu|gsm8k|humaneval|evals?|benchmark scores?"
    r"|scores?|points|answers (?:are|get|become)|hallucinat\w+|coheren\w+|grammar|style|tone|facts"
    r"|reasoning|spelling|price[ds]?|costs? (?:more|too|us|a lot|twice|\W?\d)|expensive|dollars?"
    r"|euros?"
    r"|budget|power draw|watts?|heat|noise|noisy|licen[cs]e|retrain\w*|calibrat\w+|re-?train\w*"
    r"|fine-?tun\w+|training|maintain\w*|support(?:ed)?|documentation|review\w*|legal|harder to"
    r"|effort|complex\w*|readab\w+|rounding|numeric\w*|strange|worse|weaker|odd(?:er)?|clumsy"
    r"|sloppy|garbled|poor(?:er)?|risk\w*|safety)\b"
)
"""What else there is to say of a lever."""
_OF_SPEED: Final = Form(
    r"\b(?:fast\w*|slow\w*|quick\w*|speed\w*|time|latency|ms|tok\S*|tokens|rate|pace|gains?|bytes"
    r"|reads?"
    r"|traffic|bandwidth|memory|weights?|compute|kernels?|batch\w*|users?|prefill|decod\w+|practice"
    r"|paper|reality|false|wrong|true|never|nothing|only|unless|if|when|where|while|as long"
    r"|overhead|same|measured|saw|see|got|real|actual\w*|less|half|not (?:so|really|here))\b"
)
"""What may take a gain back, or bind it to a condition."""


def is_another_matter(clause: str) -> bool:
    """Whether a clause is about something that no gain in speed hangs on."""
    return _MATTER.search(clause) is not None and _OF_SPEED.search(clause) is None
