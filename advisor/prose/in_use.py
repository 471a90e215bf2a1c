"""Sentences that tell what is in use already: the baseline that a proposal starts from.

"We serve Llama-3.1-70B in FP8 on two H100", "Baseline: BF16, TP=2, batch 1". What stands in them is
no idea of the document's, and holds where another part of it names other devices.
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form

_PRESENT: Final = Form(
    r"\W*(?:(?:today|currently|now|right now|at present|at the moment|as of (?:today|now)|so far"
    r"|until now|in production),? "
    r"(?:we|our|the|it|everything|production|all)\b"
    r"|(?:we|i) (?:currently |now |today |presently )?(?:serve|run|host|deploy|operate"
    r"|have deployed|are (?:serving|running|hosting))\b"
    r"|(?:our|the) (?:[\w-]+ ){0,3}?(?:is|are) (?:currently |now |today )?(?:served|running"
    r"|deployed|hosted)\b"
    r"|(?:our |the )?(?:(?:current|present|existing|today['’]s|production) )?(?:baseline|status quo"
    r"|set-?up|starting point|deployment|as[- ]is|production|serving stack|environment|context)"
    r"(?: today| now)?(?: is\b| are\b|[:,(])"
    r"|(?:current|present|existing)(?:ly)?(?: \w+){0,2}?:)"
)
_PROPOSED: Final = Form(
    r"\b(?:will|would|should|shall|could|may|might|propos\w+|plan\w*|want|wish|going to|intend\w*"
    r"|switch\w*|mov(?:e|ing) to|migrat\w+|replac\w+|instead|try|trying|let['’]?s|if|next|target"
    r"|goal|expect\w*|experiment\w*|benchmark\w*|compar\w+|tested|versus|vs)\b"
)
_OF_A_DEPLOYMENT: Final = Form(
    r"\b[HABLTV]\d{2,3}\b|\bgpus?\b|\bRTX|\bMI\d{3}|\bTPU|\bGB\d{3}|\bcards?\b|\bgaudi|\bm[1-5]\b"
    r"|\bbatch|\bbs ?=|\bconcurren\w+|\b(?:one|single) (?:user|request|stream)"
)


def is_in_use(sentence: str) -> bool:
    """Whether a sentence tells what runs today, with the devices or the load that it runs on."""
    return (
        _PRESENT.match(sentence) is not None
        and _OF_A_DEPLOYMENT.search(sentence) is not None
        and _PROPOSED.search(sentence) is None
    )
