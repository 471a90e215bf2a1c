"""## What it does
Flags a mixture of experts that is said to need memory for its active parameters only.

## Why is this bad
Routing changes with every token, so every expert must be at hand. Active parameters say what is
read for a token at batch 1, total parameters what must be held.

## Instead
Size memory by total parameters; quantize, shard, or offload experts with the link's arithmetic.

## When this rule is wrong
Where experts live on the host or on disk and are fetched: say so beside the claim.

## References
- Jiang et al.: Mixtral of Experts: https://arxiv.org/abs/2401.04088
- Fedus et al.: Switch Transformers: https://arxiv.org/abs/2101.03961
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.catalog.hardware import device
from advisor.evidence import is_stated
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.operands import routed, sentences_of
from advisor.prose.devices import devices_in
from advisor.prose.experts import MEMORY_LIKE
from advisor.prose.model import Kind, Statement
from advisor.prose.shrinkage import gigabytes_in
from advisor.prose.widths import widths_of
from advisor.rule import MEMORY, PROSE, Rule
from advisor.said import Said, Wrong, confidence_of, confidence_of_bound, sizes_of
from advisor.told.asked import question_before
from advisor.wording import size

RULE = Rule(
    code="MOE002",
    name="active-fits-fallacy",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=(MEMORY, PROSE),
    flagged=(
        """\
«The 120B-A5B fits in 16 GB» because only 5B parameters are active.
""",
        """\
rooflint: 1
model: gpt-oss-120b
hardware: RTX 4080
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: «the 5B active parameters fit in 16 GB»
""",
    ),
    passing=(
        """\
The 30B-A3B reads about 3B parameters per token, and 17 GB at 4 bits must fit in memory.
""",
        """\
With experts offloaded to system RAM the 120B-A5B fits in 16 GB of VRAM.
""",
        """\
rooflint: 1
model: gpt-oss-120b
hardware: RTX 4080
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: offload, weights: 60 GB, to: host, claim: runs on one card}
""",
    ),
)

_LEAST_BYTES = 0.4
"""Per parameter: somewhat below 4 bits with scales."""


def check(audit: Audit) -> Iterator[Finding]:
    """Memory for active parameters."""
    yield from _sentences(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="routing changes with every token, so every expert must be at hand",
        instead="size memory by total parameters",
    )


_FITS = Form(r"\bfits?\b")
_ACTIVE = Form(r"\bactive\b|\bA\d+(?:\.\d+)?B\b|\bexperts?\b")
_NOT = Form(r"\b(?:not|n't|never|no|only if|offload\w*)\b")


def _sentences(audit: Audit) -> Iterator[Finding]:
    """Sentences that let a model fit by its active parameters, where the whole does not."""
    step = audit.combined
    capacity = step.estimate.capacity
    if routed(step) is None or capacity.largest_batch or not is_stated(audit, "model", "hardware"):
        return
    for sentence, index in sentences_of(audit):
        text = sentence.text
        if not (_FITS.search(text) and _ACTIVE.search(text)) or _NOT.search(text):
            continue
        yield RULE.on_sentence(
            audit,
            sentence,
            index,
            f"{size(capacity.weights_bytes)} of weights must be held,"
            f" {size(capacity.available_bytes)} are there; one step reads"
            f" {size(step.estimate.bytes.weights)} of them",
            why="routing changes with every token, so every expert must be at hand",
            instead="quantize, split, or offload the experts and count the link",
            numbers={
                "weights_bytes": capacity.weights_bytes,
                "available_bytes": capacity.available_bytes,
            },
        )


_ELSEWHERE = (
    r"(?<!without )(?<!without any )(?<!no )\boffload|\bcpus?\b|\b(?:system|main|host|plain"
    r"|regular|slow) "
    r"(?:ram|memory)|\bd?dr(?:am|\d)|\bdimms?\b|\bdisk|\bssd|\bnvme|\bmmap|\bpaged? (?:in|out)"
    r"|\bswap"
    r"|expert cache|on the host|unified memory|stream(?:ed|ing)? (?:in |from )"
)
"""Words that put the experts somewhere else."""
_NOT_THE_MODEL = Form(
    r"\b(?:kv|cache|context|adapters?|lora|draft|activations?|(?:per|each|one|an|every) "
    r"(?:expert|layer|token|step)|shared (?:experts?|layers?|part)|attention|router|reads?|streams?"
    r"|traffic|bandwidth)\b(?<!for the cache)(?<!for cache)(?<!plus cache)(?<!and cache)(?<!for"
    r" context)(?<!for the context)"
    r"(?<!for a kv)(?<!for the kv)|\btokens? (?:needs?|takes?|reads?|costs?)\b"
    r"|\bno (?:\w+[- ]){0,3}?(?:card|gpu|device|laptop"
    r"|machine|board)\b|\b(?:left|free|remaining|spare)\b(?=[^.;]*:)"
)
"""What else needs memory, or is said of reading; and a card that is denied."""
_OF_ACTIVE = (
    r"\bactiv(?:e|at\w+)\b|\bA\d+(?:\.\d+)?B\b|\bexperts?\b|per token|\brout(?:er|ing|es|ed)\b"
    r"|only (?:\w+ )?uses|\bin use\b|top-?k|\bsparse\b"
)
_OTHER_AMOUNT = r"\bGB of (?:\w+ ){0,2}?(?:cache|kv|activations?|buffers?)\b"
_COUNTED = (
    r"\b(?:holds?|keeps?|caches?|room for|space for|stores?) (?:only |just |about )?\d+ (?:out )?of"
    r" (?:the |its |our )?\d+ (?:\w+ )?experts\b"
)
"""How many of the experts a memory holds, which is no claim that all of them fit."""
_PLACE = Form(r"\b(?:cpus?|dram|ddr\d?|host|(?:system|main) (?:ram|memory)|disk|ssd|nvme)\b")
_PART_KEPT = 0.85
_NO_MORE = Form(r"\b(?:no|not) more than\b|\bat (?:most|best)\b")


_DENSE_PART = (
    r"\b(?:dense (?:part|layers?|weights)|attention|shared experts?|router)\b[^.;]{0,60}?\d ?B"
    r" (?:out )?of (?:the|its) "
)
"""The part of the active parameters that every token uses."""


def _judge(said: Said) -> Wrong | None:
    """Memory that would hold the active parameters and is said to be enough."""
    statement, frame = said.statement, said.statement.frame
    bound = _NO_MORE.search(statement.text) is not None
    sure = confidence_of_bound(statement) if bound else confidence_of(statement)
    total, active = sizes_of(statement)
    if sure is None or not _is_of_memory(statement) or total is None:
        return None
    own = [one.gigabytes for one in gigabytes_in(statement.sentence_text)]
    needed = _needed(statement.sentence_text)
    sizes = needed or own
    if own and not needed:
        sizes = [
            size for size in _needed(statement.context_text)
            if _is_of_active(active, frame.weight_bits, [size])
        ]  # fmt: skip
    alone = statement.kind is Kind.AMOUNT and statement.table is None
    if alone and not _is_of_active(active, frame.weight_bits, sizes):
        return None  # an amount alone may be that of a part, or of one card
    told = said.has(_OF_ACTIVE) and (active is not None or said.has("activ"))
    if not told and not _is_of_active(active, frame.weight_bits, sizes):
        return None
    if (like := MEMORY_LIKE.search(statement.text)) is not None:
        return _like_smaller(float(like[1]) * 1e9, total, active, sure)
    if said.has(_DENSE_PART):
        return None
    if said.says(r"\b(?:smaller|other|dense) models?\b|in contrast"):
        return None
    about = statement.sentence_text if statement.opener == ":" else statement.text
    if (
        said.says(_COUNTED)
        or said.says(_OTHER_AMOUNT)
        or said.has(_ELSEWHERE)
        or _is_split(statement)
        or _NOT_THE_MODEL.search(about)
    ):
        return None
    devices = frame.devices if frame.devices and frame.devices > 1 else 1
    held = max((size * 1e9 for size in sizes), default=_of_device(statement)) * devices
    bits = frame.weight_bits or 16.0
    named = len(widths_of(statement.sentence_text)) == 1  # the width that is meant, and no other
    least = _PART_KEPT * bits / 8.0 if named else min(_LEAST_BYTES, _PART_KEPT * bits / 8.0)
    if not held or held >= least * total:
        return None
    return Wrong(
        f"all {total / 1e9:.0f}B parameters must be held: {0.5 * total / 1e9:.0f} GB at 4 bits,"
        f" {2 * total / 1e9:.0f} GB in 16 bits, not {held / 1e9:.3g} GB",
        sure,
        numbers={"total_parameters": total, "stated_bytes": held},
    )


def _is_split(statement: Statement) -> bool:
    """Whether a table tells the memory of several places, each of which holds a part."""
    if statement.table is None:
        return False
    return any(_PLACE.search(header) is not None for header in statement.table[0])


def _like_smaller(
    told: float, total: float, active: float | None, sure: Confidence
) -> Wrong | None:
    """What is wrong with memory that is said to be that of a model of the active parameters."""
    if active is None or abs(told / active - 1.0) > _SAME or told > _PART_KEPT * total:
        return None
    return Wrong(
        f"all {total / 1e9:.0f}B parameters must be held, not the {active / 1e9:.3g}B that one"
        f" token"
        f" uses: {total / active:.2g} times the memory of such a model",
        sure,
        numbers={"total_parameters": total, "active_parameters": active},
    )


_SPARE = Form(
    r" ?(?:\w+ )?(?:to spare|spare|left|free|remain\w*|for (?:the )?(?:kv |k/v )?cache)\b"
)
"""After what a memory has left."""


def _needed(text: str) -> list[float]:
    """Amounts in GB that a text tells, without what is left over."""
    return [
        amount.gigabytes
        for amount in gigabytes_in(text)
        if _SPARE.match(text, text.find("GB", amount.start) + 2) is None
    ]


def _of_device(statement: Statement) -> float:
    """Memory of the one device that a sentence names, in bytes; 0 where it names none or a kind.

    "Runs on B200 and GB200" tells what is supported, and "needs H100s" no number of them.
    """
    text = statement.sentence_text
    found = devices_in(text)
    alone = any(_ONE.search(text, max(0, one.start - _ARTICLE), one.start) for one in found)
    named = {one.identifier for one in found}
    return device(named.pop()).memory_gb * 1e9 if alone and len(named) == 1 else 0.0


_ARTICLE = 40
_ONE = Form(
    r"\b(?:an?|one|single|1|my|our|your|the|this|that|any|each|every|same"
    r"|only)(?:[- ](?!(?:on|in|onto|with|to|for)\b)[\w.-]+){0,3}?"
    r"[- ×x]{0,3}$"
)


_OF_MEMORY = Form(r"\b(?:vram|memory|ram|hbm|footprint)\b(?! (?:traffic|bandwidth|reads?|read))")
_IS_NEEDED = Form(
    r"\b(?:need\w*|requir\w+|footprint|for (?:the |all |its )?(?:weights?|model|checkpoint)"
    r"|weights?"
    r"|to (?:load|run|host|hold|serve))\b"
)
"""In a label: what must be there, and not what a machine has."""
_ON_A_CARD = Form(r"\b(?:run|fit|load|use|host)\b[^?]{0,60}?\d ?GB\b")
_SAME = 0.3


def _is_of_memory(statement: Statement) -> bool:
    """Whether memory is said to be enough: in words, or by an amount under a label of memory."""
    if statement.kind is not Kind.AMOUNT:
        return statement.kind is Kind.FITS
    if statement.table is not None:
        return _OF_MEMORY.search(statement.table[0][statement.table[2]]) is not None
    label = statement.sentence_text.partition(":")[0] if statement.opener == ":" else ""
    if _OF_MEMORY.search(label) is not None and _IS_NEEDED.search(label) is not None:
        return True
    asked = question_before(statement)
    of_memory = _OF_MEMORY.search(asked) or _ON_A_CARD.search(asked)
    return of_memory is not None and _NOT_THE_MODEL.search(asked) is None


def _is_of_active(active: float | None, bits: float | None, sizes: list[float]) -> bool:
    """Whether one size of memory is that of the active parameters, whoever says so."""
    if active is None or len(sizes) != 1:
        return False
    widths = (bits,) if bits is not None else (16.0, 8.0)
    return any(abs(sizes[0] * 8e9 / (active * width) - 1.0) < _SAME for width in widths)
