"""Forms of words on memory that is elsewhere, used again, or read by many: what a text says of it.

Weights or a cache on the host cross a link for every token; layers that share their weights are
read once a layer all the same; experts of one token are not those of a batch.
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form

ELSEWHERE: Final = Form(
    r"\b(?:host|system|main|cpu|pageable|pinned) (?:ram|memory|side|dram)\b|\bpcie\b|\boffload\w*"
    r"|\bnvme\b|\bssd\b|\bon the (?:host|cpu)\b"
)
"""Where what a token needs may lie."""
UNHURT: Final = Form(
    r"\b(?:time|latency|speed|rate|pace|tpot|itl|t/s|tok\S*|decode|generation|tokens)\b"
    r"[^.;:]{0,24}?\b(?:(?:is|are|stays?|remains?) (?:not affected|unaffected|unchanged|untouched"
    r"|unimpaired|the same|as (?:it|they) (?:was|were|is|are))|(?:does|do|will|would) not (?:suffer"
    r"|change|drop|fall|slow|feel|notice))"
    r"|\bcosts? (?:you |us )?(?:next to |almost |practically |virtually )?(?:nothing|no (?:time"
    r"|speed|latency|tokens))\b"
    r"|\b(?:transfers?|cop(?:y|ies)|reads?|fetch\w*|traffic) (?:\w+ ){0,2}?(?:hides?|(?:is|are) "
    r"(?:\w+ )?hidden|overlaps?|disappears?) (?:\w+ )?(?:behind|with|under|in) "
    r"|\b(?:pcie|the link|the bus|nvme)\b[^.;:]{0,16}? is (?:fast|quick|wide) enough"
    r"|\b(?:without|no) (?:any |measurable |noticeable )?(?:slowdown|penalty|speed loss)\b"
    r"|\bgoes unnoticed|\bfor free\b|\bat no cost\b"
)
"""Speed that is said not to suffer."""
CARD_SPEED: Final = Form(
    r"\b(?:at|with|by) the (?:card|gpu|device|accelerator)(?:['’]s)? (?:full |own |whole )?"
    r"(?:\d[\d.,]* ?[gt]b/s|(?:memory )?bandwidth|hbm bandwidth|memory speed|pace)\b"
)
SHARED_LAYERS: Final = Form(
    r"\b(?:t(?:ie|ies|ying)|shar(?:e|es|ing)|re-?us(?:e|es|ed|ing)) (?:[\w–-]+ ){0,3}?(?:layers?"
    r"|blocks?|the weights of)\b|\b(?:shared|tied|reused) (?:across|between|among|over|by)"
    r" (?:all |the |several )?(?:\w+ )?(?:layers|blocks)\b|\balbert\b|\b(?:layer|cross-layer"
    r"|parameter|weight)[- ](?:sharing|tying)\b|\blooped (?:transformer|layers|blocks)\b"
    r"|\buniversal transformer\b"
)
"""Weights that several layers use."""
FEW_EXPERTS: Final = Form(
    r"\b(?:streams?|reads?|loads?|fetch(?:es)?|touch(?:es)?|pulls?|moves?)\b[^.;:]{0,32}?"
    r"\b(?<!all )(?<!all of its )(?:(?:two|four|eight|\d{1,2})(?: \w+){0,2}? (?:of (?:them|these"
    r"|its|the)|experts)"
    r"|active (?:parameters|params|weights|experts)|\d+(?:\.\d+)? ?(?:B|billion)"
    r"|(?:one|two|three|four|five|ten|twelve|twenty-two|thirty-seven) billion)\b"
)
"""What one token reads of a mixture."""
