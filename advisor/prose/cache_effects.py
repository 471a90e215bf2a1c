"""Where a clause leaves the cache, or the length of the context, out of a step.

By slots: the cache and a word for leaving out, the weights as all that is read, a metric that is
the same at two lengths far apart. Whether that is wrong hangs on the length, and is no matter here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.forms import Form
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.cache_patterns import (
    CACHE_LEVER_DENIED,
    CELL_IGNORED,
    KV_IGNORED,
    spans_lengths,
)
from advisor.prose.model import Effect, Kind
from advisor.prose.sentences import Clause, Sentence

_OF_CACHE: Final = frozenset(
    {"KV", "LONG", "RATE", "DECODE", "TIME", "WEIGHTS", "ALWAYS", "TOKENS", "BYTES"}
)
_PART: Final = (
    r"(?: (?:cache|reads?|traffic|term|part|bytes|loads?|entries|contribution|share|side))?"
)
_CACHE: Final = (
    rf"\b(?:kv|k/v|caches?|cached (?:keys|tokens|entries|positions)"
    r"|keys and values|histor(?:y|ies)"
    rf"|attention (?=part|term|reads?|traffic|share)){_PART}{_PART}\b"
)
_LEFT_OUT: Final = (
    r"(?:dropped|left (?:out|aside|off)|omitted|skipped|ignored|neglected|disregarded|excluded"
    r"|forgotten|struck|cancelled|discounted|passed over|set (?:to|at) (?:zero|0)|taken (?:as|for)"
    r" (?:zero|free|nothing)|treated as (?:free|zero|nothing|noise))"
)
_NO_MATTER: Final = (
    r"(?:noise|bookkeeping|second[- ]order(?: effect| term| correction| item)?|an? (?:afterthought"
    r"|detail|footnote|formality"
    r"|trifle|storage (?:matter|question|issue)|capacity (?:matter|question|issue)"
    r"|matter of (?:room"
    r"|space|storage|capacity)|lookup)|lookups|looked up|nothing|no (?:traffic|load|factor|cost"
    r"|burden)|zero|peanuts|free)"
)
_CACHE_OUT: Final = Form(
    rf"{_CACHE}[^.;:]{{0,48}}?(?P<out>"
    r"\b(?:can|may|could|might|must|should|is|are|was|were|gets?|be)(?! ?not\b|n['’]t|not\b)"
    rf" (?:(?!not\b|never\b|no\b|hardly\b)\w+ ){{0,3}}?{_LEFT_OUT}\b"
    r"|\b(?:needs?|do|does|did|will|would|should|must|has|have)(?: not"
    r"|n['’]t)(?: to)? (?:\w+ ){0,2}?"
    r"(?:enter|appear|figure|show(?: up)?|count|matter|register|weigh|add|contribute|feature|slow"
    r"|cost|play|be (?:counted|modell?ed|considered|read|re-?read|included|added|budgeted|fetched"
    r"|loaded|streamed|touched|visited))\b"
    r"|\b(?:adds?|contributes?|costs?|takes?|weighs?|brings?|means?) (?:next to |almost "
    r"|practically "
    r"|virtually |exactly |as good as )?(?:nothing|no (?:\w+ )?(?:time|traffic|bytes|reads?|cost"
    r"|milliseconds?|latency|load))\b"
    r"|\b(?:is|are|stays?|remains?|being)(?! ?not\b|n['’]t) (?:(?!not\b|no\b|never\b|hardly\b"
    r"|far\b)"
    rf"\w+ ){{0,2}}?{_NO_MATTER}(?=$|[.,;:)]| (?:to|for|in|at|beside|next|compared|against|and|here"
    r"|then))"
    r"|\b(?:is|are)(?: not|n['’]t) (?:a )?part of (?:the |each |any |a )?(?:[\w-]+ ){0,2}?(?:work"
    r"|step|traffic"
    r"|reads?|budget|sum|bill)\b"
    r"|\b(?:has|have) no (?:\w+ )?(?:bearing|influence|effect|impact|say|weight)\b"
    r"|\b(?:stays?|remains?|sits?|is kept|lies) (?:\w+ ){1,4}?and (?:is|are) (?:not"
    r"|never) (?:\w+ )?(?:read|fetched|touched|moved)\b"
    r"|\b(?:is|are) (?:only |just |merely )?(?:stored|held|kept|parked|resident),? (?:but "
    r"|and )?(?:not"
    r"|never) (?:streamed|read|moved|fetched|re-?read|touched|transferred)\b)"
)
"""The cache, and then that it is left out."""
_OUT_CACHE: Final = Form(
    r"\b(?P<out>(?:neglect|ignor|dropp?|omitt?|skipp?|disregard|forgett?|discount|exclud|subtract"
    r"|leav)(?:e|s|es|ing)?(?: out| aside| off)?) (?:the |all |any |its "
    r"|our )?(?:\d[\d.]* ?[GT]B of )?"
    rf"(?:\w+ )?{_CACHE}"
    rf"|\b(?P<set>set|put|take|model|treat|count)(?:s|ting|ing)? (?:the |its "
    rf"|our )?(?:\w+ )?{_CACHE}"
    r" (?:to|at|as|with) (?:zero|0|nothing|free|noise)\b"
    rf"|\b(?P<no>no|without (?:a|any|the)) (?:{_CACHE} (?:term|part|correction|surcharge)\b"
    r"|(?:term|allowance|surcharge|correction) for (?:the )?(?:kv|cache))"
    r"|\bno (?P<worth>(?:\w+ )?(?:traffic|load|cost) worth (?:\w+ing|a \w+))\b"
)
_DONE: Final = Form(
    r"(?:drop|skip)\w*\b(?! (?:\w+ ){0,4}?(?:reads?|traffic|term|part|bytes|loads?|share)\b)"
)
_FROM_SUM: Final = Form(
    r"[^.;:]{0,24}?\b(?:from|in|out of) (?:the |any |our |your |its )?(?:\w+ )?(?:sums?|estimates?"
    r"|formulas?|formulae|budgets?|calculations?|models?|bytes|traffic|arithmetic|analysis|steps?"
    r"|equations?|numbers?|figures?|counts?|decode|totals?|bounds?|floors?|bill)\b"
)
"""What it is left out of: a sum, and not the memory."""
_A_PART: Final = Form(r"\d ?(?:[GM]B|%) of (?:those|these|them|it|that|the)\b")
"""Of the cache: some of its entries are dropped, as eviction does."""
_NO_NEED: Final = Form(
    r"\bno (?:need|reason|point) (?:to|in) (?:model|count|includ|add|consider|track|budget"
    r"|bother)\w*"
    rf"\b[^.;:]{{0,24}}?{_CACHE}|{_CACHE}\W{{0,3}}(?:0|zero|none|nil)\b(?![.,]?\d|-)"
)
_NONE: Final = Form(r"\W*(?:none|nil|nothing|zero|negligible|irrelevant|n/a)\b")
"""After the cache and a colon."""
_WEIGHTS: Final = (
    r"(?:the |its )?(?:\d[\d.]* ?GB of )?(?:\w+ )?(?:weights?|parameters?)(?: bytes| reads"
    r"| traffic)?"
)
_READS: Final = (
    r"(?:reads?|streams?|moves?|loads?|fetch(?:es)?|touch(?:es)?|pulls?|needs?|sees?|reading"
    r"|streaming"
    r"|moving|loading|fetching|pulling)"
)
ONLY_WEIGHTS: Final = Form(
    rf"\b(?:all|everything|the only thing)(?: that| which)? (?:\w+ ){{1,3}}?{_READS} (?:is|are)"
    rf" {_WEIGHTS}\b"
    rf"|\b{_READS} (?:only|just|nothing but|solely|exclusively) {_WEIGHTS}\b"
    rf"|\b{_WEIGHTS} (?:is|are) (?:all|everything)(?: that| which)? (?:\w+ ){{1,3}}?{_READS}(?=$"
    rf"|[.,;:)])"
    rf"|\b(?:only|just|nothing more than) (?:has|have|needs?) to {_READS} {_WEIGHTS}\b"
    rf"|\b{_READS} {_WEIGHTS} (?:only|alone|exclusively|and (?:nothing (?:else|more)|that is (?:all"
    r"|it)))\b"
    rf"|\b{_READS} (?:still |just |exactly )?\d[\d.]* ?GB(?: of weights?)?(?: (?:per|a|for each"
    rf"|at each|each"
    r"|every) (?:\w+ )?(?:token|step))? and nothing (?:more|else)\b"
    r"|\b(?:step|token|traffic)\b[^.;:,]{0,24}? (?:is|are|remains?|stays?) (?:(?:still|just|only"
    r"|simply"
    r"|nothing but|no more than) ){1,3}(?:the )?\d[\d.]* ?GB\b"
    rf"|\b{_READS} (?:(?:still|just|exactly|only) ){{0,2}}(?:the "
    rf"|those )?(?:very )?same \d[\d.]* ?GB\b"
    r"|\b(?:\d[\d.]* ?GB(?: of weights?)?|weights?|parameters) alone (?:set|decide|determine"
    r"|govern|fix"
    r"|dictate|make up)s?\b"
    r"|\b(?:lasts?|takes?|is) (?:exactly |just |only )?(?:as long as|the time) (?:it takes "
    r"|that it takes "
    r"|needed )?(?:to read|of reading|for reading|to stream|for streaming|to fetch) (?:the |its )?"
    r"(?:\d[\d.]* ?GB of )?(?:\w+ )?(?:weights?|parameters)\b"
    r"|\bweights? (?:is|are) (?:what|all that|the only (?:thing|part)(?: that)?) (?:gets?|is|are)"
    r" (?:read|streamed|moved|loaded|fetched)\b"
    r"|\b(?:governed|set|determined|given|fixed|dictated|decided|ruled) by"
    rf" {_WEIGHTS}(?: alone)?(?=$|[.,;:)]| (?:and|no|however|whatever|at|for))"
    r"|\b(?:traffic|bytes|reads) (?:is|are|equals?|=) (?:just |only |simply |nothing but )?"
    rf"{_WEIGHTS}\b"
)
"""The weights, as all that a step reads."""
_OR_NONE: Final = Form(
    r"\b(?P<thing>\w{4,}) or no (?P=thing)\b|\b(?:tokens?|context|history|prompt"
    r"|document) or (?:none|not"
    r"|no)\b"
)
"""With what fills the context or without it."""
_POINTING: Final = Form(r"\b(?:it|they|that|this|these|those)\b")
_ROOM_NOT_SPEED: Final = Form(
    r"\b(?:costs?|takes?|eats?|needs?|uses?(?: up)?|fills?|is (?:a )?(?:question"
    r"|matter) of) (?:only |just "
    r"|you |us )?"
    r"(?:vram|memory|room|space|capacity|gigabytes|ram)(?:, | and | but )?(?:(?:it|they|that) )?"
    r"(?:not|never|no|(?:do|does)(?: not|n['’]t) (?:cost|take|use|eat|need|add)) (?:any |up )?"
    r"(?:speed|time|bandwidth|latency|tok\S*|performance|milliseconds?|seconds?|ms)\b"
)
"""A long context that takes room alone."""


def cache_effects(
    block: Block, sentence: Sentence, clause: Clause, text: str, names: set[str]
) -> Iterator[Effect]:
    """Where a clause leaves the cache, or the length of the context, out: once at most."""
    if block.kind is BlockKind.CELL and CELL_IGNORED.fullmatch(block.text):
        if re.search(r"\b(?:kv|cache)\b", block.column, re.IGNORECASE):
            yield Effect(Kind.KV_IGNORED, clause.start, clause.end)
        return
    # "KV cache: adds nothing", "since it stays, it need not be read again": named before
    pointing = clause.opener == ":" or _POINTING.search(text) is not None
    labelled = pointing and "KV" in sentence.names and "KV" not in names
    found = _left_out(text, names | {"KV"} if labelled else names, labelled=labelled)
    found = _denied_in(sentence, clause) or found or _same_in(sentence, clause)
    if found is not None:
        start, end = found
        yield Effect(Kind.KV_IGNORED, clause.start + start, clause.start + end)


def _same_in(sentence: Sentence, clause: Clause) -> tuple[int, int] | None:
    """Where a clause tells one figure for lengths that its sentence names before it."""
    same = spans_lengths(sentence.text)
    shift = sentence.start - clause.start
    if same is None or not clause.start <= sentence.start + same.start() < clause.end:
        return None
    return same.start() + shift, same.end() + shift


def _denied_in(sentence: Sentence, clause: Clause) -> tuple[int, int] | None:
    """Where a clause ends what denies a smaller cache: "it saves room, but no time"."""
    named = not sentence.names.isdisjoint({"KV", "KVQ"}) or "vict" in sentence.text
    denied = CACHE_LEVER_DENIED.search(sentence.text) if named else None
    shift = sentence.start - clause.start
    if denied is None or not clause.start < sentence.start + denied.end() <= clause.end:
        return None
    return max(denied.start() + shift, 0), denied.end() + shift


def _is_emptied(text: str, out: re.Match[str]) -> bool:
    """Whether something is done to a cache, of pages or of keys: "dropping caches between runs"."""
    done = _DONE.match(out[0]) is not None
    return done and _FROM_SUM.match(text, out.end()) is None


def _left_out(text: str, names: set[str], *, labelled: bool) -> tuple[int, int] | None:
    if (either := _OR_NONE.search(text)) is not None:
        return either.span()
    if names & _OF_CACHE or "ontext" in text:
        ignored = KV_IGNORED.search(text)
        if ignored is not None:
            return ignored.span()
    if names & {"KV", "KVQ"} or "ttention" in text or "istor" in text or "ached " in text:
        told = f"cache {text}" if labelled else text
        shift = len(told) - len(text)
        out = _CACHE_OUT.search(told)
        if out is not None and _A_PART.search(told, out.start(), out.end()) is None:
            return max(out.start("out") - shift, 0), out.end() - shift
        for form in (_OUT_CACHE, _NO_NEED):
            if (out := form.search(text)) is not None and not _is_emptied(text, out):
                return out.span()
        if labelled and (none := _NONE.match(text)) is not None:
            return none.span()
    if names & {"WEIGHTS", "BYTES"} or " GB" in text:
        only = ONLY_WEIGHTS.search(text)
        if only is not None:
            return only.span()
    if (room := _ROOM_NOT_SPEED.search(text)) is not None:
        return room.span()
    same = spans_lengths(text)
    return None if same is None else same.span()
