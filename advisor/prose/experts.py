"""What prose says of the experts of a mixture: that a token reads them all, or costs as if it did.

"All eight experts are read", "a token goes through the entire file", "the experts that are not
selected are read as well", "routing leaves the traffic as it is", "as slow as a dense 47B".
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form

ALL_EXPERTS: Final = Form(
    r"\b(?:all|every(?: single)?|each(?: one)?|the (?:full|whole|entire|complete) set)(?: of)?"
    r"(?: the| its| those)?(?: (?:\d{1,3}|two|four|eight|sixteen|sixty-four))?"
    r"(?: (?:routed|different|available|stored|local))? (?:experts?|ffns|mlps|feed-forwards?)\b"
    r"|\b(?:over|through|across|on|of|touches|reads|visits) all (?:\d{1,3}|four|eight|sixteen)\b"
    r"|\ball (?:\d{1,3}|four|eight|sixteen)(?: of them)? (?:get|are|must|have to|need|be|come"
    r"|stream"
    r"|cross|pass|travel|flow|move|go)\b"
    r"|\bevery expert['’]s\b"
)
"""Every expert of a mixture, as what a clause is about."""
_READ: Final = (
    r"(?:read|stream|load|fetch|pull|mov|transfer|touch|drag|cross|visit|swe[ep]+t?|scann?|travers"
    r"|shovell?|haul)\w*"
)
_WEIGHTS: Final = (
    r"(?:weights?|models?|parameters?|params?|files?|checkpoints?|networks?|matri(?:x|ces)|tensors?"
    r"|experts?|ffns?|mlps?|mixtures?|moe|gguf|llm|layers?|bytes|gigabytes|size|lot|set|bank|stack"
    r"|ensemble)"
)
"""What the weights of a model are called."""
_AMOUNT: Final = r"\d[\d.,]* ?(?:[GT]B|B|gigs?|billion|trillion)\b"
_WHOLE: Final = (
    r"(?:(?:the |its |their |a )?(?:whole|entire|full|complete)(?![-]| cop(?:y|ies)\b)(?: of)?"
    rf"(?: the| its)?(?: (?:(?!kv|cache|router|gate|block|page|token|vocab|hidden|context"
    rf"|memory)[\w-]+ ){{0,2}}?"
    rf"(?:{_WEIGHTS}\b|{_AMOUNT})|(?=[.,;:]|$))"
    r"|all of (?:it|them|its|these|those|which|the)|all (?:the |its |their )?(?:weights|parameters"
    r"|matrices|\d[\d.]* ?(?:GB|B|billion|trillion))|every (?:single )?(?:one of them|weight"
    r"|parameter|byte)|(?<!of )(?:its|their|the) (?:full |whole )?(?:\d[\d.]* )?(?:trillion"
    r"|billion))"
)
OTHER_READER: Final = Form(
    r"\b(?:tokeni[sz]er|scheduler|sampler|loader|connector|profiler"
    r"|calibrat\w+|optimi[sz]er|trainer|rebalanc\w+|ranks?|prefetch\w*|detokeni[sz]er|indexer"
    rf"|dense(?: (?!and\b)[\w.-]+){{1,2}}?)(?: [\w-]+){{0,2}}? {_READ}\b"
    r"|\b(?:na[iï]ve|reference|unfused|eager|simple|slow|fallback|unoptimi[sz]ed)(?: [\w-]+){0,2}?"
    r" (?:loop|implementation|path|version|code|backend|mode|forward)\b"
)
"""Who reads something for itself, is no mixture, or is code that does more than it need."""
READS_WHOLE: Final = Form(
    rf"\b{_READ} (?:\w+ ){{0,3}}?{_WHOLE}"
    rf"|\b{_WHOLE}[^.;:]{{0,48}}? (?:is|are|be|been|gets?|has to|have to|must)(?: be)? (?:\w+ )?"
    rf"(?:{_READ}|come out|comes? from|pass(?:ed)?)"
    rf"|\b{_WHOLE} (?:[\w.-]+ ){{0,3}}?(?:crosses|cross|passes|goes|go|travels?|moves?"
    rf"|comes? (?:out"
    rf"|from|in)"
    r"|streams?|flows?|arrives?|leaves?)\b"
    rf"|\b(?:bus|memory|hbm|dram|ram|interface|controller|channels?) (?:\w+ )?(?:sees?|carr(?:y"
    rf"|ies)"
    rf"|delivers?|feeds?|supplies|serves?|hands? (?:out|over)) {_WHOLE}"
    rf"|(?<!until )(?<!once )(?<!when )\b(?:they|these|those|experts) (?:are|get|must be"
    rf"|have to be) all (?:\w+ )?{_READ}\b"
    rf"|\b{_READ} (?:(?:from|out of|through|over|across|in) (?:the )?(?:\w+ )?)?(?:in full"
    r"|in (?:its|their) entirety|as a whole|from (?:end to end|start to finish|front to back))\b"
    rf"|\b(?:go(?:es)?|pass(?:es)?|runs?|travels?|works?) (?:its way )?(?:through|over) {_WHOLE}"
)
"""All weights of a model, or the whole file, said to be read."""
UNCHOSEN_READ: Final = Form(
    r"\b(?:un(?:selected|used|chosen|routed|picked|needed)|inactive|idle|sleeping|dormant)"
    r" experts?\b[^.;:]{0,40}? (?:are|is|get|gets|still|must|cost|have to|also|too)\b"
    r"|\bexperts? (?:that|which) (?:are|is|was|were) not (?:selected|chosen|routed|needed|picked"
    r"|used|active)[^.;:]{0,24}? (?:are|is|get|gets|still|must|cost|have to)\b"
    r"|\bexperts? (?:that|which) (?:the |a )?(?:gate|router|gating|token"
    r"|model)(?: network)? (?:leaves?"
    r" out|skips?|ignores?|drops?|passes over|(?:does|did) not (?:pick|choose|select|use|need))"
    r"[^.;:]{0,24}? (?:are|is|get|gets|still|must|cost|have to)\b"
    r"|\bexperts?,? (?:selected|chosen|active|used|picked) or not\b"
)
"""Experts that no token chose, and that are read nevertheless."""
_ROUTING: Final = (
    r"(?:rout(?:ing|er)|experts?|moe|mixture|sparse|sparsity|gating|(?:top|choice|selection)\b)"
)
_TRAFFIC: Final = (
    r"(?:the )?(?:memory |hbm |dram |weight )?(?:traffic|bytes(?: read)?|reads|bandwidth(?: needed"
    r"| demand| use)?)"
)
TRAFFIC_KEPT: Final = Form(
    rf"\b{_ROUTING}[^.;:]{{0,60}}? (?:leaves?|leaving|keeps?) {_TRAFFIC}[^.;:]{{0,40}}?"
    r" (?:undiminished|unchanged|unaffected|untouched|where it|where they|as it|as they|the same)\b"
    rf"|\b{_ROUTING}[^.;:]{{0,40}}? (?:does not|doesn['’]t|do not|cannot|can['’]t|never) (?:reduce"
    rf"|lower|cut|save|spare|shrink|lessen|diminish|relieve) (?:\w+ )?{_TRAFFIC}"
    rf"|\b(?:moe|mixture\w*(?: of experts)?|routing|sparsity) (?:saves?|lowers?|cuts?|reduces?)"
    rf" (?:only )?(?:compute|flops|arithmetic|math)(?: only| alone)?,? (?:and |but )?(?:not|never)"
    rf" {_TRAFFIC}"
)
"""Routing that is said to spare no bytes."""
LIKE_DENSE: Final = Form(
    r"(?:\bas (?:slow(?:ly)?|fast|quick(?:ly)?|expensive|heavy|costly) as"
    r"|\bno (?:faster|quicker|cheaper) than|\b(?:same|identical) (?:\w+ ){1,3}?as"
    r"|\b(?:just|exactly|behaves|runs|decodes|performs) like|\b(?:equals?|matches|that of"
    r"|the one of|on a par with|level with|those of|speed of|pace of|rate of|twice)) (?:an? |the "
    r"|any )?"
    r"(?:(?:equally large |comparable )?dense (?:\w+ ){0,2}?)?(\d{1,4}(?:\.\d+)?) ?B\b"
    r"|\bdense (?:\w+ ){0,2}?(\d{1,4}(?:\.\d+)?) ?B\b[^.;:]{0,48}?\b(?:just as (?:fast|slow"
    r"|quick)\w*|equally (?:fast|slow)|(?:at )?the same (?:speed|rate|pace|time|latency)"
    r"|no slower)",
)
"""A model that is said to cost what a dense one of so many parameters does."""
MEMORY_LIKE: Final = Form(
    r"\b(?:as (?:little|much|small a) )?(?:memory|vram|ram|footprint|room|space)\b"
    r"(?! (?:traffic|bandwidth|reads))[^.;:\d]{0,24}?"
    r" (?:as|of|like|than|for) (?:an? |any |the )?(?:dense |small |plain )?(\d{1,3}(?:\.\d+)?) ?B\b"
    r"(?![ -](?:param|active|total))"
)
"""Memory that is said to be what a model of so many parameters takes."""
CANNOT_PASS: Final = Form(
    r"\b(?:cannot|can['’]t|can not|could not|won['’]t|will not|(?:can"
    r"|will) never) (?:\w+ )?(?:exceed"
    r"|go (?:below|beyond|above|under|faster)|be (?:faster|quicker|more|less|above|below|under"
    r"|over)|get (?:below|above|past|under|beyond|more)|beat|pass|surpass|(?:reach|do) more"
    r"|drop below|fall below)\b"
    r"|\b(?:nobody|no one|no (?:single |lone )?(?:user|stream|chat|session)|nothing|none"
    r"|never) (?:\w+ )?"
    r"(?:gets?|goes|comes?|sees?|runs?) (?:past|above|beyond|over|below|under|beneath|faster than"
    r"|more than|better than)\b"
)
"""Words that deny what is beyond a figure, and so assert it as a bound."""
FOR_EACH: Final = Form(
    r"\b(?:per|each|every|one|an?|new|generated|single|next) (?:\w+[- ]){0,2}?"
    r"(?:tokens?|step|word)\b|\bdecode step\b|\b(?:each|every) time\b|\bper-token\b"
    r"|\btokens? (?:needs?|costs?|takes?|drags?|pulls?|reads?|streams?)\b",
)
"""What tells it of one token, or of one step."""
HELD: Final = Form(
    r"\b(?:resident|held|holds?|hosts?|memory needed|needed to|fits?|capacity|stored?|kept"
    r"|stays? (?:in|on|resident)|sit|sits"
    r"|live|lives|occup\w+|footprint"
    r"|allocat\w+|disk|download\w*|vram|must be in|have to be in|available"
    r"|gb of (?:\w+ )?(?:memory|ram|hbm))\b"
)
"""What must be there, which is rightly all."""
TAKEN: Final = Form(
    r"\b(?:travel|flow|arriv|leav|read|stream|load|fetch|pull|mov|drag|cross|travers|touch"
    r"|go(?:es)? (?:over|through)|pass|haul|shift|transfer|transport|suck|shovel|need|cost|traffic"
    r"|through|per token|bandwidth|come (?:from|out|in|over)|comes (?:from|out|in|over)|visit|walk"
    r"|run|sweep|activat|execut|evaluat|comput"
    r"|us(?:e|es|ed)\b|tak(?:e|es|en)\b|bytes)\w*"
)
"""What a token does with weights, or what they do for it."""
PART_OF: Final = (
    r"(?<!\ball )(?<![\d.])\d[\d.]* ?(?:G?B|gigs?)? (?:out )?of (?:(?:the |its |all )?\d|(?:it|them"
    r"|that|those"
    r"|which)\b)"
    r"|\b[oO]f (?:the|its|those) \d[\d.]* ?G?B\b[^.;:]{0,60}? (?:only|just|merely|but|some) \d"
    r"|(?<!each )(?<!all )of (?:the|its) (?:\d+ )?experts|(?<!\ball )\bof which\b"
)
"""A part of the experts or bytes; its case counts."""


def whole_read(text: str) -> tuple[int, int] | None:
    """Where a clause says that every expert or weight is read, or that routing spares no bytes."""
    for form in (READS_WHOLE, UNCHOSEN_READ, TRAFFIC_KEPT):
        match = form.search(text)
        if match is not None:
            return match.span()
    return None
