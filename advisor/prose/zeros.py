"""Zeros, and heads that are off, which dense kernels are said to leave unread.

"Null entries never leave HBM", "cuBLAS skips zeros", "only the nonzero weights are fetched", "those
cost no reads": each denies that a dense kernel streams zeros like any other value.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from advisor.forms import Form
from advisor.prose.model import Effect, Kind

if TYPE_CHECKING:
    from advisor.prose.sentences import Clause

_PLACES: Final = (  # and no rows or blocks, which a kernel may well skip by their index
    r"(?:weights?|entr(?:y|ies)|values?|elements?|parameters?|operands?|numbers?|positions?|places?"
    r"|words?|connections?)"
)
_ZEROS: Final = (
    rf"(?:zero(?:s|es)?(?:[- ](?:valued )?{_PLACES})?|(?:null(?:ed)?|zeroed(?:[- ]out)?|pruned"
    rf"|masked|nulled[- ]out|empty|removed) {_PLACES})"
)
_OFF: Final = (
    r"(?:mask\w*|muted?|silenced?|gated(?:[- ]off)?|closed|zeroed|disabled|inactive|dead|ablated"
    r"|switched[- ]off|turned[- ]off|deactivated|dropped)"
)
_HEADS: Final = rf"(?:(?:a |the )?{_OFF} heads?(?:['’]s?)?(?: \w+)?|heads? that (?:is|are) {_OFF})"
_READ: Final = (
    r"(?:fetch(?:ed|es)?|read|reads|load(?:ed|s)?|touch(?:ed)?|stream(?:ed|s)?|transfer(?:red|s)?"
    r"|mov(?:e|ed|es)|visit(?:ed)?|travel|cross|leave|pass|enter|reach|multiplied|brought in)"
)
_MODAL: Final = (
    r"(?:(?:do|does|need|needs|will|must|has|have|is|are|get|gets)(?: not|n['’]t)|never"
    r"|no longer|(?:is|are|get|gets|will|need|needs|has|have)(?: simply)? (?:never|no longer))"
)
_COST: Final = (
    r"(?:costs?|needs?|causes?|takes?|makes?|uses?|consumes?|generates?|occup(?:y|ies)|incurs?)"
    r" (?:simply |us |you )?"
    r"(?:(?:no|neither|zero|hardly any|none of the) (?:\w+ )?(?:traffic|bandwidth|bytes?|reads?"
    r"|memory|time|loads?|fetch(?:es)?|cycles|transfers?)\b|nothing\b)"
)
_LEFT: Final = (
    r"(?:(?:is|are|get|gets|will be|being) (?:simply |just |automatically |all |then )?(?:skipped"
    r"|ignored"
    r"|left (?:out|behind|unread|alone)|dropped|omitted|elided|discarded|passed over|jumped over"
    r"|filtered out|bypassed|free(?: of charge)?|for free|for nothing)\b"
    r"|(?:drops?|falls?) out(?! of (?:the )?(?:study|list|range))\b)"
)
_UNREAD: Final = (
    rf"(?:{_COST}|{_LEFT}|(?:{_MODAL}) (?:have to |need to |even |be |being |to )*{_READ}\b)"
)
_SUBJECT: Final = Form(
    rf"\b(?:{_ZEROS}|products? with (?:a )?zero|multiplications? (?:by|with) zero)"
    rf"(?: \w+){{0,2}}? {_UNREAD}"
    rf"|\b{_HEADS} {_UNREAD}"
    r"|\bheads? (?:\w+ )?(?:(?:is|are|do|does)(?: not|n['’]?t)|no longer) (?:even |being "
    r"|to be )?(?:run"
    r"(?:ning)?|computed|executed|evaluated)\b"
    r"|\b(?:each|every|a|any) zero (?:is|means|stands for) (?:a |one |an )?(?:\w+ )?(?:weights?"
    r"|values?"
    r"|numbers?|parameters?|words?|bytes?)(?: (?:that|which))? (?:the |your )?(?:\w+ ){0,2}?(?:no"
    rf" longer|never|(?:do|does|need|must)(?: not|n['’]t)) (?:have to |has to |need to "
    rf"|be )?{_READ}\b"
    rf"|\b(?:the )?(?:heads?|k(?:/| and )?v|keys|values|cache"
    rf"|projections?)\b[^.;:]{{0,30}}? (?:(?:is|are)"
    r" (?:not|no longer|never)|(?:no longer|never) (?:has|have|needs?) to be) (?:read|fetched"
    r"|loaded|streamed|touched)"
)
"""Zeros, or heads that are off, as what is left unread."""
_POINTING: Final = Form(
    r"\W*(?:(?:in the (?:\w+ )?(?:pass|matmul|kernel|computation|multiplication|gpu)|at (?:run|load"
    r"|inference)[- ]?time|on the (?:gpu|card|fly)|during \w+)[, ]{1,2}(?:however, )?)?"
    r"(?:those|these|they|which|that|all of (?:them|which|these|those)|each of (?:them|these))"
    rf"(?: then| in turn)? {_UNREAD}"
)
"""The same of what was named just before."""
_ACTOR: Final = (
    r"(?:pytorch|torch|cublas\w*|cuda|cudnn|gpus?|cards?|chips?|hardware|silicon|controllers?"
    r"|tensor cores?|llama\.?cpp|vllm|transformers|tensorrt\S*|runtime|drivers?|compiler"
    r"|nn\.linear|linear layers?|dense (?:\w+ )?(?:kernels?|gemms?|gemvs?)|gemm|gemv|matmul"
    r"|multipliers?|alus?|loader|[habl]\d{2,3}s?|rtx \w+|\d0[6-9]0s?|ampere|hopper|blackwell)"
)
_SKIP: Final = (
    r"(?:skips?|ignores?|omits?|drops?|discards?|elides?|by-?pass(?:es)?"
    r"|(?:jumps?|pass(?:es)?|steps?|hops?) over|(?:filters?|leaves?) out|leaves?"
    r"|(?:detects?|recogni[sz]es?|spots?|notices?) (?:\w+ ){0,3}?and (?:drops?|skips?)"
    rf"|(?:does|do|will)(?: not|n['’]t) (?:even )?{_READ}|never {_READ}"
    r"|(?:is|are) (?:smart|clever) enough (?:not to \w+(?: by| with)?|to (?:skip|ignore|drop)))"
)
_DENSE_READER: Final = Form(rf"\b{_ACTOR}\b")
_ACTS: Final = Form(
    rf"\b{_ACTOR}\b[^.;:,]{{0,24}}? (?P<at>{_SKIP}) (?:\w+ ){{0,2}}?{_ZEROS}\b(?! point)"
    rf"|\b{_ACTOR}\b[^.;:,]{{0,24}}? (?P<sees>detects?|recogni[sz]es?|spots?|notices?|sees?|knows?)"
    rf" (?:[\w:]+ ){{0,2}}?{_ZEROS}[^.;:,]{{0,32}}? and (?:\w+ )?(?:skips?|drops?|ignores?|leaves?"
    rf"|omits?|discards?)\b"
    rf"|\b(?:does|do|need|will|must|has|have)(?: not|n['’]t) (?:have to |even |be )?{_READ}"
    r" (?:\w+ ){0,4}?zero(?:s|es|ed)?\b"
    r"|\bzero(?:ed|s|es)? (?:blocks?|rows?|columns?|groups?|tiles?|pages?) (?:is|are|get|gets"
    r"|will be"
    r"|being) (?:\w+ )?(?:skipped|dropped|ignored|omitted|left out|filtered out) by (?:the )?"
    rf"(?:memory )?{_ACTOR}\b"
    r"|\bskips? (?:the |all |over )?zero(?:s|es|ed)?(?: \w+)? (?:automatically|on its own"
    r"|by itself|anyway|for free|on the fly)"
)
"""Dense hardware or software that is said to leave zeros out."""
_SEES: Final = Form(
    rf"\b{_ACTOR}\b[^.;:,]{{0,24}}? (?P<at>recogni[sz]es?|detects?|spots?|notices?|sees?|finds?"
    rf"|discerns?|identif(?:y|ies)|picks? (?:up|out))"
    r" (?:the |this |that |such an? |an? )?(?:(?:2:4|two[- ](?:in|of|out[- ]of)[- ]four|sparse"
    r"|sparsity|zero) )?(?:pattern|mask|zeros|sparsity|structure|matri(?:x|ces))"
    r" (?:by itself|by themselves|on its own|on their own|automatically|natively|anyway"
    r"|at run ?time|unaided|unassisted|without (?:any )?(?:help|packing|conversion|being told))"
)
"""Dense hardware that is said to see a pattern without being told."""
_OTHERS: Final = Form(
    r"\bonly (?:the )?(?:\w+ )?(?:non-?zeros?|non-?zero \w+|other half|survivors|surviving \w+)"
    r"(?: \w+){0,2}? (?:(?:is|are|get|gets|needs? to be|ha(?:ve|s) to be|must be) (?:\w+ )?"
    rf"(?:{_READ}|multiplied)|takes? part|counts?|travels?|moves?|costs?)\b"
    r"|\b(?:reads?|fetch(?:es)?|loads?|streams?|moves?|touch(?:es)?) only (?:the )?"
    r"(?:non-?zeros?|non-?zero \w+|surviving \w+)\b"
)
"""Only what is no zero, as what is read."""
_KEYS: Final = Form(
    rf"\b(?:no longer|never|(?:does|do|need|will)(?: not|n['’]t)) (?:have to )?{_READ} (?:their|its"
    r"|those|these) (?:keys|k/?v|k and v|cache|values|projections?|rows|q)\b"
    r"|\bskips? their (?:keys|k/?v|k and v|cache|values|projections?|share)\b"
)
"""Keys of heads that are off."""
_NOBODY: Final = Form(
    r"\b(?:no|neither|nor|none|nobody|nothing|hardly|few|without)\b[^.;:,]{0,32}$"
)


def zeros_skipped(text: str, clause: Clause, names: frozenset[str]) -> Effect | None:
    """Where a clause, whose sentence holds terms of some kinds, leaves zeros unread."""
    named = "zero" in text or "Zero" in text or not names.isdisjoint(_KINDS)
    forms = (_SUBJECT, _ACTS, _OTHERS) if named else ()
    for form in (*forms, _KEYS) if "MASK" in names else forms:
        match = form.search(text)
        if match is not None and _NOBODY.search(text, 0, match.start()) is None:
            return _skipped(clause, match.start(match.lastgroup or 0), match.end())
    match = _SEES.search(text)
    if match is not None and _NOBODY.search(text, 0, match.start()) is None:
        return _skipped(clause, match.start("at"), match.end())
    match = _POINTING.match(text)
    return None if match is None else _skipped(clause, match.start(), match.end())


def by_dense_reader(text: str) -> bool:
    """Whether a clause names hardware or software that reads dense tensors as who skips."""
    return _DENSE_READER.search(text) is not None


def names_zeros(text: str) -> bool:
    """Whether what a clause says to be left unread are zeros of weights, and no heads."""
    return _NAMED.search(text) is not None


_ZERO_INPUTS: Final = Form(
    r"\brelu-?(?:fi\w*|model|net)\w*"
    r"|\b(?:entries|values|outputs|zeros) (?:\w+ ){0,3}?(?:after|behind|past) (?:the |each "
    r"|every )?"
    r"(?:\w+ )?(?:gate|activation|relu|non-?linearity)"
    r"|\b(?:inputs?|activations?|hidden (?:states?|units?)|neurons?)\b[^.;:,]{0,24}? (?:is|are|of|="
    r"|equals?) (?:exact(?:ly)? )?(?:0\b|zeros?|null)"
    r"|\bzero(?:ed|s)? (?:inputs?|activations?|neurons?|hidden)"
    r"|\bskip\w* [^.;:]{0,40}? for (?:\d{1,2} ?%|half|most|some|many|a \w+|easy|the easy) (?:of )?"
    r"(?:the |all )?tokens\b"
    r"|\b(?:dynamic(?:ally)?|input-dependent|per-token|at runtime)\b[^.;:]{0,32}? skip"
)
_WHOLE: Final = Form(
    r"\b(?:load|read|stream|fetch|transfer|prefetch|mov)(?:s|ed|es|d|ing)?\b[^.;:]{0,40}?"
    r" (?:in full|whole|anyway|anyhow|in any case|either way|as (?:before|always|ever|usual)"
    r"|all the same|regardless"
    r"|completely|entirely|just the same|still)\b"
    r"|\b(?:all|every)\b[^.;:,]{0,24}? (?:still|are|is|gets?) (?:(?:still|nevertheless|nonetheless"
    r"|anyway) )?(?:loaded|read|streamed|fetched|transferred|brought in)"
    r"|\bdense (?:\w+ ){0,2}?(?:kernel|gemv|gemm|matmul) (?:as (?:it|they) (?:is|are)|unchanged)\b"
    r"|\b(?:still|all) (?:loaded|read|streamed|fetched|loads?|reads?|streams?|fetch(?:es)?)\b"
    r"|\b(?:loads?|reads?|streams?|fetch(?:es)?) (?:the |each |every "
    r"|all (?:of )?(?:the )?)?(?:full"
    r"|whole|entire|complete|dense) "
)


def of_inputs(text: str) -> bool:
    """Whether the zeros are those of activations, whose rows a kernel may or may not read."""
    return _ZERO_INPUTS.search(text) is not None


_PRODUCTS: Final = Form(
    r"\b(?:skip(?:s|ped|ping)?|leav(?:es?|ing) out|omit(?:s|ted|ting)?|drop(?:s|ped"
    r"|ping)?|(?:predicat|gat|mask|switch|turn)\w* off) (?:\w+ ){0,3}?(?:products"
    r"|multiplications|multipl(?:y|ies)|multiply-?adds"
    r"|macs"
    r"|fmas?|math|arithmetic)\b"
    r"|\b(?:products|multiplications|multiplies|multiply-?adds|macs|fmas?|math|arithmetic)"
    r" (?:\w+ ){0,2}?(?:skipped|omitted|left out|dropped|vanish|disappear|saved)\b"
    r"|\b(?:multipliers?|macs?|alus?|lanes?|units?) (?:\w+ ){0,2}?(?:clock-gated|gated off|idled"
    r"|switched off)\b"
)


def skips_products(text: str) -> bool:
    """Whether products are skipped; of what is read that says nothing."""
    return of_inputs(text) or _PRODUCTS.search(text) is not None


def reads_all(text: str) -> bool:
    """Whether a text says that the weights are read as before."""
    return _WHOLE.search(text) is not None


_NAMED: Final = Form(rf"\b(?:{_ZEROS}|(?:by|with) (?:a )?zero)\b")
_KINDS: Final[AbstractSet[str]] = frozenset({"PRUNE", "MASK", "HEADS"})


def _skipped(clause: Clause, start: int, end: int) -> Effect:
    return Effect(Kind.SKIPPED, clause.start + start, clause.start + end)


_BETWEEN: Final = (
    r"(?: (?:of|in|out|from|among|per|the|any|an?|each|every|all|entries|elements|values|weights?"
    r"|zeros?|non-?zeros?|positions|numbers|neighbou?rs|adjacent|consecutive|neighbou?ring"
    r"|contiguous|groups?|blocks?|runs?|rows?|sets?|chunks?|remain|left|stay|survive|are|kept"
    r"|zeroed|dropped|to|within|inside)){1,8}?"
)
_FOUR: Final = r"(?:four|4|quad(?:ruple|ruplet)?s?|quartets?)"
_OF_FOUR: Final = Form(
    rf"\b(?:two|2|half|pairs?){_BETWEEN} {_FOUR}\b(?! ?(?:gpus?|cards?|bits?|users?|cores?|nodes?"
    r"|experts?|heads?|layers?|tokens?|streams?|requests?|devices?|machines?|x\b|[GMT]B))"
    rf"|\b(?:each|every|any|of)(?:{_BETWEEN})? {_FOUR}(?: (?:adjacent|consecutive|neighbou?ring"
    r"|next|contiguous))?(?: (?:weights?|values|entries|elements|numbers|positions|neighbou?rs))?"
    r",?(?: \w+){0,2}? (?:two|2|half)\b"
    r"|\b2[-/](?:in|of|out-of|)[-/]?4 (?:sparse|sparsity|masks?|pattern|pruning|pruned)"
    r"|\bfine-?grained structured (?:pruning|sparsity)|\bstructured zeros\b|\bcusparselt"
    r"|\b(?:pair-?wise|compute-side|hardware) sparsity\b|\b\d-wide groups?\b|\bzero pairs\b"
    r"|\bzeros? in positions? \d"
    r"|\bspars(?:e|ity)\b[^.;]{0,32}?\b(?:[tp](?:era|eta)?-?flops|tops)\b"
)
"""Two of every four weights: the pattern that sparse tensor cores take."""


def are_two_of_four(text: str) -> bool:
    """Whether a text describes the 2:4 pattern in words."""
    return _OF_FOUR.search(text) is not None
