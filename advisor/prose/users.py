"""Users, streams and sequences as a text names them: one of them, or how many share a step."""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.quantity.numerals import SEVERAL

MANY: Final = (
    r"(?:users|streams|sessions|requests|clients|sequences|chats|conversations|people|persons"
    r"|customers|callers|readers|replies|prompts|tenants|seqs|of them)"
)
HOW_MANY: Final = rf"(?:\d{{1,4}}|{SEVERAL})"
COUNTED: Final = Form(rf"\b({HOW_MANY}) (?:[\w-]+ )?{MANY}\b|batch (?:size )?(?:of )?(\d{{1,4}})")
OF_ONE: Final = Form(
    r"\b(?:each(?: one)?(?: of (?:them|the|these|us|our))?|every ?one(?: of (?:them|the|us))?"
    r"|every(?:body| single| individual)?|every (?:\w+ )?(?:user|person|client|customer|reader|chat"
    r"|stream|session|caller|tenant|screen|conversation)|anyone|anybody|somebody|someone|alone"
    r"|apiece|individual(?:ly)?|lone|solitary|single|any (?:one|single|given|individual) \w+"
    r"|(?:my|your|his|her|their) (?:own )?(?:answers?|repl(?:y|ies)|tokens?|text|chats?|responses?"
    r"|completion|stream|output)|per (?:user|head|stream|session|client|person|seat)|one (?:user"
    r"|person|reader|customer|client|chat|stream|conversation|caller)|you(?: alone)? (?:get|see"
    r"|wait)"
    r"|an? (?:lone |single |individual )?(?:user|reader|customer|client|person|caller|listener"
    r"|typist)"
    r"|whoever|(?:private|personal|own) (?:assistant|chat|bot|session|copilot)"
    r"|(?:his|her|their|the (?:user|reader|customer|client|person|caller)['’]s) (?:side|point of"
    r" view|perspective"
    r"|screen|desk|end|eyes))\b"
)
"""Words for one of the users."""
