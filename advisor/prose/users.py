"""Users, streams and sequences as a text names them: one of them, or how many share a step."""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.quantity.numerals import SEVERAL

MANY: Final = (
    r"(?:users|streams|sessions|requests|clients|sequences|chats|conversations|people|persons"
    r"|customers|callers|readers|replies|prompts|tenants|seqs|slots|visitors|analysts|developers"
    r"|seats"
    r"|agents"
    r"|others|of them)"
)
HOW_MANY: Final = rf"(?:\d{{1,4}}|{SEVERAL})"
COUNTED: Final = Form(rf"\b({HOW_MANY}) (?:[\w-]+ )?{MANY}\b|batch (?:size )?(?:of )?(\d{{1,4}})")
OF_ONE: Final = Form(
    r"\b(?:each(?: one)?(?: of (?:them|the|these|us|our))?|every ?one(?: of (?:them|the|us))?"
    r"|every(?:body| single| individual)?|every (?:\w+ )?(?:user|person|client|customer|reader|chat"
    r"|stream|session|caller|tenant|screen|conversation|request|response|answer|reply|visitor)"
    r"|anyone|anybody|somebody|someone|alone"
    r"|(?:my|your|his|her|their|an?|the|one) \d[\d,]*[- ](?:token|word) (?:essay|stor(?:y|ies)"
    r"|summary"
    r"|e-?mail|letter|page|poem|report|answer|repl(?:y|ies)|response|completion)"
    r"|apiece|(?:our|the|my) (?:one|only|sole) \w+|individual(?:ly)?|lone|solitary|single|any"
    r" (?:one|single|given|individual) \w+"
    r"|(?:my|your|his|her|their) (?:own )?(?:answers?|repl(?:y|ies)|tokens?|text|chats?|responses?"
    r"|completion|stream|output)|per[- ](?:user|head|stream|session|client|person|seat)|one (?:user"
    r"|person|reader|customer|client|chat|stream|conversation|caller)"
    r"|(?<!help )(?<!helps )you(?: alone)? (?:get|see"
    r"|wait)"
    r"|an? (?:lone |single |individual )?(?:user|reader|customer|client|person|caller|listener"
    r"|typist)"
    r"|user(?:s['’])? (?:experience|side|perceived)|(?:each|every) (?:screen|desk)|whoever"
    r"|(?:private|personal|own) (?:assistant|chat|bot|session|copilot)"
    r"|(?:his|her|their|the (?:user|reader|customer|client|person|caller)['’]s) (?:side|point of"
    r" view|perspective"
    r"|screen|desk|end|eyes))\b"
)
"""Words for one of the users."""
RAISED: Final = Form(
    r"\b(?:(?:continuous|dynamic|in-?flight|static|request|adaptive|iteration[- ]level|automatic)"
    r" (?:batch\w*|scheduling)"
    r"|(?<!without )(?<!no )(?<!than )batching\b"
    r"|(?:larger?|bigg?er|big|higher|more|deeper|wider|fuller|growing) (?:\w+ )?(?:batch(?:es)?"
    r"|batch sizes?|concurrency|max[-_]num[-_]seqs|max[-_]batch[-_]size|num_slots)\b"
    r"|(?:rais|increas|doubl|tripl|quadrupl|grow|lift|enlarg|scal|bump|turn)\w* (?:up )?(?:the |our"
    r" "
    r"|its )?(?:\w+ )?(?:batch|max[-_]num[-_]seqs|max[-_]batch[-_]size|concurrency|slots|num_slots)"
    r"|(?:batch(?: size)?|max[-_]num[-_]seqs|max[-_]batch[-_]size|concurrency|batch"
    r" sizes?)\W{0,3}(?:of |to "
    r"|from 1 to |is |at )?(?:[2-9]\b|\d\d)"
    rf"|{HOW_MANY} (?:\w+ )?(?:times|{MANY}) (?:\w+ )?(?:in(?:to)?|per|an?|share|sharing|together"
    rf"|at"
    r" once|in parallel|ride|to)\b"
    rf"|(?:packs?|groups?|bundles?|merges?|fuses?|combin\w+|batch(?:es|ed)?|serv\w+) (?:up to )?"
    rf"(?:{HOW_MANY}|many|several) (?:\w+ )?{MANY}"
    rf"|(?:read|loaded|streamed|fetched)(?: only)? once for (?:all|every|the|{HOW_MANY}|many)"
    r"|spread\w* (?:every|each|the|one|a) (?:\w+ )?reads?|amorti[sz]\w+"
    r"|shar(?:e|es|ed|ing) (?:the |one |a |each |every )?(?:\w+ )?(?:weights?|pass|reads?|step"
    r"|forward)"
    rf"|(?:pass|step|read|weights) (?:is|are) shared|more {MANY}"
    r"|(?:each|every) (?:added|additional|extra|further|new) (?:user|request|stream|session|client)"
    rf"|(?:{HOW_MANY}|many) {MANY} (?:at a time|at once|together|in one)"
    r"|(?:batch(?: size| limit)?|max[-_]num[-_]seqs|max[-_]batch[-_]size|concurrency|num_slots)"
    r" (?:is"
    r" |was |gets |being )?(?:raised|increased|doubled|lifted|grown|quadrupled|set to (?:[2-9]"
    r"|\d\d))"
    rf"|with (?:{HOW_MANY}|more|some|many|the) (?:\w+ )?(?:others|neighbou?rs|co-?tenants)"
    r"|shar(?:e|es|ed|ing) (?:the|a|one) (?:\w+ )?(?:card|gpu|server|box|machine|batch|accelerator)"
    rf"|\bbatch(?:es)? of {HOW_MANY}\b|\bfrom (?:1|one|a single) to {HOW_MANY} (?:\w+ )?{MANY}\b"
    rf"|(?:pack|group|bundl|merg|batch|coalesc|gather|pool)(?:e?s|e|ing|ed) (?:up )?(?:up to )?"
    rf"(?:{HOW_MANY}|many|several|the|their|more) (?:\w+ )?{MANY}"
    r"|(?:weights?|reads?|fetch(?:es)?|traffic|pass(?:es)?|step|bytes"
    r"|cost)\b[^.;:,]{0,24}? (?:among"
    rf"|amongst|between|across|by|over|with) (?:all |the )?(?:{HOW_MANY}|many|several|all|other)"
    rf" (?:\w+ )?(?:{MANY}|rows)\b"
    rf"|\bthe (?:more|fuller|bigger|larger) (?:the )?(?:\w+ )?(?:{MANY}|batch)\b"
    r"|\b(?:larger|higher|bigger|raised|new) (?:batch |concurrency |slot )?limit\b"
    r"|\b(?:n[-_]?p|n[-_]parallel|parallel)[ =](?:from )?\d{1,3} (?:to|->|→) \d"
    r"|fill(?:s|ed|ing)? (?:up )?the batch|(?:parallel|more|extra) slots|n ?= ?(?:[2-9]|\d\d)"
    r" (?:completions|samples|answers)|best_of)"
)
"""How more sequences come into a step."""
_ONE_PERSON: Final = (
    r"(?:user|person|reader|customer|client|visitor|stream|session|chat|conversation|caller|seat"
    r"|analyst|developer|student|employee|tenant|writer|typist|listener)"
)
AS_OWN: Final = Form(
    r"\b(?:that|this|which)(?: is|['’]s| would be| will be) (?:exactly |precisely |just |also "
    r"|then )?(?:what|how fast|the (?:very |same )?(?:rate|pace|speed|tempo|clip|torrent|flow"
    r"|velocity|experience)(?: at which| with which| that)?)"
    rf" (?:(?:each|every|any|an?|one|the)(?: single| individual| lone)? (?:of (?:them|us|these)\b"
    rf"|{_ONE_PERSON}\b)|(?:your|my|his|her) (?:\w+ ){{0,2}}?(?:texts?|answers?|repl(?:y|ies)"
    rf"|tokens?"
    r"|words?|chat|window|screen|stor(?:y|ies)|essays?)\b|everyone\b|everybody\b|anyone\b|whoever\b"
    r"|you(?:['’]ll| will| would| can)? (?:be )?(?:get|see|read|reading|watch|watching|enjoy"
    r"|have)\b)"
    r"(?![^.;,]{0,40}? (?:from|out of|per|of|with) (?:an?|one|the|this|that|each|\d))"
    r"(?! (?:\w+ )?(?:waits?|needs?|wants?|pays?|cares?|asks?)\b)"
)
"""A rate told before that is said to be what one of the users has."""
_CHANGE: Final = Form(
    r"\b(?:batch(?: size)?|max[-_]num[-_]seqs|max[-_]batch[-_]size|concurrency|num[-_]slots|slots"
    r"|n[-_]?p|n[-_]parallel)[`'\"]?(?: (?:rises?|goes|climbs?|grows?|moves?|changes?|falls?|drops?"
    r"|shrinks?|lowered|raised|set|is|was|cut|up|down)){0,2}(?: of| from)? (\d+) ?(?:to|->|→|=>)"
    r" ?(?:a )?(?:batch )?(?:size )?(?:of )?(\d+)"
)


def has_grown(text: str) -> bool | None:
    """Whether a batch is told to grow, by its size before and after; None where it tells none."""
    change = _CHANGE.search(text)
    return None if change is None else int(change[1]) < int(change[2])
