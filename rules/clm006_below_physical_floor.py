"""## What it does
Flags an absolute time per token or token rate that would need more bandwidth than the devices have.

## Why is this bad
Every weight that a step uses and every cached key and value must cross the memory bus. Bytes over
peak bandwidth is a floor that no kernel, engine or clock beats; real steps need 10 to 40% more.

## Instead
Check what the floor rests on: the format of the weights, the number of devices, the tokens per
pass. Fewer bytes, more devices or speculation lower it.

## When this rule is wrong
If several tokens leave a pass (state speculation with its tokens per pass), if the rate counts all
users of a batch (say "in total", and state the batch), or if the weights are narrower than stated.
Where nobody states the batch, a rate of twice the floor's and more may count a batch, and is told
in strict mode only.

## References
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
- Williams, Waterman, Patterson: Roofline: https://doi.org/10.1145/1498765.1498785
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.claims import Stream
from advisor.evidence import (
    AttachedClaim,
    claim_numbers,
    claims_of,
    hardware_of,
    is_stated,
    step_of_claim,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE
from advisor.prose.demands import DEMANDING, REQUIRED
from advisor.prose.extremes import UNDRAFTED, Least
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.prose.shrinkage import changes_width
from advisor.prose.split import count_in
from advisor.prose.users import HOW_MANY, MANY
from advisor.prose.widths import UNQUANTIZED_BITS
from advisor.rule import CLAIMS, PROSE, Rule
from advisor.said import NO_DECODE, Floor, Said, Wrong, floor_of, rows_in
from advisor.steps import Step
from advisor.told.cache_read import is_of_other_length, least_cache
from advisor.told.own_operands import (
    is_ambiguous,
    is_of_unknown,
    is_read_in_part,
    names_several_devices,
    own_words,
    tells_bytes,
)
from advisor.wording import digits, milliseconds, size

RULE = Rule(
    code="CLM006",
    name="below-physical-floor",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OVER_CEILING,
    about=(CLAIMS, PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
claim: «120 tokens/s for one user»
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H200
workload: {phase: decode, batch: 1, context: 2k}
weights: bf16
claim: «TPOT of 15 ms»
""",
        """\
13B in FP16 is 26 GB and the card has 864 GB/s. Target: «60 tokens/s for a single session.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H200
workload: {phase: decode, batch: 1, context: 2k}
weights: bf16
levers:
  - kind: speculate
    method: EAGLE-3
    draft_tokens: 4
    tokens_per_pass: 2.5
claim: 20 ms per token
""",
        """\
The 70B in FP8 on one H100 SXM gives about 40 tokens/s for a single user.
""",
        """\
With 2.5 accepted tokens per pass the 70B in FP8 reaches 90 tokens/s on one H100 SXM.
""",
    ),
)

_BYTES_ALONE = 1.05
_LEAST_BATCH = 2.0
"""Two sequences together make less than twice the rate of one."""


def check(audit: Audit) -> Iterator[Finding]:
    """Absolute claims that the bytes do not allow."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="every byte that a step uses must cross the memory bus",
        instead="check the format, the number of devices and the tokens per pass",
    )
    if not is_stated(audit, "model", "hardware"):
        return
    for claim in claims_of(audit):
        claimed_ms = claim.judged.tpot_ms
        if claimed_ms is None or not claim.judged.below_floor or _batch_is_open(audit, claim):
            continue
        floor_ms = _floor_ms(audit, claim)
        if claimed_ms * GRACE >= floor_ms:
            continue
        step = step_of_claim(audit, claim)
        have = step.deployment.hardware.bandwidth_gbs * step.deployment.devices
        need = have * floor_ms / claimed_ms
        yield RULE.on_claim(
            audit,
            claim,
            f"{milliseconds(claimed_ms)} ms per token {_needs(step, need, have)}"
            f" {milliseconds(floor_ms * step.estimate.tokens_per_step)} ms"
            f"{_for_tokens(step)}: {digits(1e3 / floor_ms, 2)} tokens/s at most",
            why="every byte that a step uses must cross the memory bus",
            instead=advice(audit),
            facts=_facts(claim, floor_ms),
            numbers={**claim_numbers(audit, claim), "needed_gbs": need, "bandwidth_gbs": have},
            confidence=None if _is_one_stream(audit, claim, need / have) else Confidence.MEDIUM,
        )


def _needs(step: Step, need: float, have: float) -> str:
    """What a claim comes to, and what the floor is made of: bytes, or arithmetic as well."""
    moved, name = step.estimate.bytes.memory, hardware_of(step)
    if step.estimate.floor_ms > _BYTES_ALONE * moved / have / 1e6:
        work = f"{size(moved)} and {digits(step.estimate.flops / 1e12)} TFLOP a step"
        return f"is less than {work} take at the full rates of {name},"
    return f"needs {need:,.0f} GB/s; {name} has {have:,.0f}, so {size(moved)} take"


def _for_tokens(step: Step) -> str:
    tokens = step.estimate.tokens_per_step
    return f" for {digits(tokens, 2)} tokens" if tokens > 1 else ""


def _batch_is_open(audit: Audit, claim: AttachedClaim) -> bool:
    """Whether a figure of all sequences is claimed, and nobody said how many there are."""
    alone = step_of_claim(audit, claim).deployment.batch == 1
    return claim.judged.metric == "throughput" and (alone or not is_stated(audit, "batch"))


def _is_one_stream(audit: Audit, claim: AttachedClaim, excess: float) -> bool:
    """Whether the figure is surely of one sequence: said so, or too little for a batch."""
    read = claim.judged.claim
    single = read is not None and (read.unit == "ms" or read.stream is Stream.SINGLE)
    return single or is_stated(audit, "batch") or excess < _LEAST_BATCH


def _floor_ms(audit: Audit, claim: AttachedClaim) -> float:
    """The floor per token; without the cache where nobody said how long the context is."""
    floor_ms = claim.judged.floor_tpot_ms or 0.0
    if is_stated(audit, "context"):
        return floor_ms
    moved = step_of_claim(audit, claim).estimate.bytes
    return floor_ms * (1.0 - moved.kv_read / moved.total)


def _facts(claim: AttachedClaim, floor_ms: float) -> tuple[tuple[str, str], ...]:
    claimed_ms = claim.judged.tpot_ms or 0.0
    rates = f"{digits(1e3 / claimed_ms)} tokens/s; floor {digits(1e3 / floor_ms)} tokens/s"
    return (("claimed", rates),)


_SERVERS = 6.0
"""Rates further above the floor are those of all users, whatever the words."""
_OF_SERVERS = 1.0
"""A millisecond a token: no one stream is faster without saying so."""
_OF_ALL = frozenset({"BATCH", "AGGREGATE", "THROUGHPUT"})
_OF_TOKENS = r"tok|\bt/s|\btps\b|\btg\b|itl|tpot|tbt|decode|per user"
_MS_EACH = r"\bms (?:per|a|/) ?(?:\w+ )?tok|\bms/tok"
_BYTES_EACH = r"\bGB (?:per|a|for (?:each|every)) (?:\w+ )?tok\w*\b[^.;]{0,40}?\d ?ms\b"
"""Bytes of a token with their time, after which times are those of a token."""
_A_RATE = r"\d ?(?:tok(?:en)?s?/s|t/s|tps|tokens (?:per|a) second)"
_RATES = r"tok(?:en)?s?/s|\bt/s|\btps\b|tokens (?:per|a) second"
_OF_STREAM = r"\b(?:itl|tpot|tbt)\b|inter-?token"
_LINKED = (
    r"offload|spill|(?:system|host|cpu|main) (?:ram|memory)|(?<!100 )(?<!100-)(?<!a30 )(?<!a40 )"
    r"(?<!l40s )(?<!100 80gb )(?<!l4 )\bpcie\b"
)
"""A link in the path of tokens; "H100 PCIe" is a card."""
_MANY = (
    r"\b(?:nodes?|[dh]gx(?! spark)|clusters?|racks?|pods?|multi-?gpu|sharded|tensor[- ]parallel\w*"
    r"|pipeline[- ]parallel\w*|TP|across (?:all|the|several)|all (?:\w+ )?(?:cards|gpus))\b"
)
"""Several devices, of which the text does not say how many."""
_COMPUTED = (
    r"\bideal(?:ly)?\b|\d ?/ ?\d.*(?:=|gives)|at most"
    r"|floor|ceiling|upper bound|very best|cannot exceed"
)
"""The sentence computes a bound itself."""


def _judge(said: Said) -> Wrong | None:
    """A rate of one stream above what the text's own bytes and bandwidth allow."""
    statement = said.statement
    if statement.tpot_ms is None or statement.phase in NO_DECODE:
        return None
    if statement.kind not in {Kind.FIGURE, Kind.GAIN} or not _is_claimed(said):
        return None
    if (statement.is_aggregate and not _is_per_card(said)) or not _is_by_bytes(said):
        return None
    floor, is_certain = _floor(said)
    if floor is None:
        return None
    if (statement.frame.batch or 1) > 1 and not statement.is_single:
        return None
    told_of = _label_of(statement) + statement.text
    of_one = "SINGLE" in statement.clause
    shared = (
        rows_in(told_of if of_one else told_of + statement.sentence_text) > 1
        or _SHARED.search(statement.text) is not None
    )
    if shared and not _OF_EACH.search(told_of):
        return None  # "1,200 tok/s with 32 users, 60 for one"
    if _GOAL.search(statement.heading_text) is not None and not _tells_weights(said):
        return None  # a goal is what the levers below are for, and not of the bytes of today
    passes = statement.frame.tokens_per_pass or 1.0
    over = floor.ms / (statement.tpot_ms * passes)
    if over <= GRACE:
        return None
    if over >= _SERVERS and len(re.findall(_A_RATE, statement.sentence_text)) > 1:
        return None  # one of several rates, and far above: that of a batch
    if _OF_A_PART.search(statement.text) is not None:
        return None
    if _SLOWER.search(statement.text) and REQUIRED.search(statement.text) is None:
        return None
    named = re.search(_RATES, statement.text, re.IGNORECASE) or said.says(_OF_STREAM)
    named = named or (statement.is_single and _TOKENS_IN.search(statement.text) is not None)
    if over >= _SERVERS and not named:
        return None  # a time so short is that of a part, or saved: of arithmetic, of a kernel
    alone = statement.is_single or statement.frame.batch == 1
    modest = (
        over < _SERVERS and statement.tpot_ms > _OF_SERVERS and statement.nearby.isdisjoint(_OF_ALL)
    )
    of_row = statement.table is not None and "B/s" not in " ".join(statement.table[1])
    sure = Confidence.HIGH if alone or (modest and not of_row) else Confidence.MEDIUM
    if not is_certain or is_of_unknown(statement):
        sure = Confidence.MEDIUM
    read = floor.weight_bytes + floor.kv_bytes
    return Wrong(
        f"{read / 1e9:.3g} GB over {floor.bandwidth_gbs:,.0f} GB/s take {floor.ms:.3g} ms, so"
        f" {1e3 / floor.ms:.3g} tokens/s at most; {statement.tpot_ms:.3g} ms per token"
        f" ({1e3 / statement.tpot_ms:.3g} tokens/s) need {over * floor.bandwidth_gbs:,.0f} GB/s",
        sure,
        numbers={"floor_ms": floor.ms, "step_bytes": read, "bandwidth_gbs": floor.bandwidth_gbs},
    )


def _floor(said: Said) -> tuple[Floor | None, bool]:
    """The floor of a rate, and whether no other operands of the text allow more.

    Operands that stand elsewhere may be those of another variant: then it takes a rate that none of
    them allows. So it does where the rate's own are not to be told from each other.
    """
    statement = said.statement
    passes = statement.frame.tokens_per_pass or 1.0
    least = statement.least
    claimed_ms = (statement.tpot_ms or 0.0) * passes
    cache = least_cache(statement, own_words(statement))
    lowest = Floor(least.weight_bytes, cache, least.bandwidth_gbs) if least is not None else None
    beyond_all = lowest is not None and GRACE < lowest.ms / claimed_ms < _SERVERS
    drafted = least is not None and least.has_drafts and not _is_ruled_out(said, least)
    beyond_all = beyond_all and not drafted  # else a pass may yield several tokens
    if said.floor is not None and _has_one_reading(said):
        told_near = statement.near is None or floor_of(statement.near) is not None
        told_near = told_near and not (drafted and statement.table is None and _is_pointing(said))
        told = 0.0 if is_of_other_length(statement) else said.floor.kv_bytes
        floor = said.floor._replace(kv_bytes=max(told, cache))
        if lowest is None or not beyond_all or lowest.ms <= floor.ms:
            return floor, told_near or beyond_all
    elif lowest is None or not beyond_all:
        return None, False
    return lowest, True


def _is_ruled_out(said: Said, least: Least) -> bool:
    """Whether the text says that a rate is one without drafts, of which it speaks elsewhere."""
    if said.has(UNDRAFTED) or re.search(UNDRAFTED, own_words(said.statement), re.IGNORECASE):
        return True
    return least.is_undrafted and not _is_pointing(said)


def _is_pointing(said: Said) -> bool:
    """Whether a figure is that of steps told elsewhere: "after steps 1 and 2", "all together"."""
    return said.says(r"\b(?:steps?|items?|points?|measures?|options?) \d|\b(?:all|both) together\b")


_OF_A_PART = Form(r"\b(?:costs?|adds?|wastes?|loses?|saves?) (?:\w+ ){0,2}?\d[\d.]* ?ms\b")
"""A time of something in the step, and not of the step."""
_GOAL = Form(r"\b(?:goals?|targets?|objectives?|aims?|motivation|problem)\W*$")


def _tells_weights(said: Said) -> bool:
    """Whether the text around a figure, or its list, tells bytes or a format itself."""
    from advisor.prose.frame import frame_of  # noqa: PLC0415 - only documents pay for it

    frame = frame_of(said.statement.context_text)
    return bool(frame.weight_bytes or frame.weight_bits)


_SLOWER = Form(
    r"\b(?:less|fewer|slower|lower|worse) than (?:\w+ )?\d[\d.]* ?(?:tok|t/s)"
    r"|\b(?:below|under|not even) (?:\w+ )?\d[\d.]* ?(?:tok|t/s)"
    r"|\b(?:rul(?:e|es|ed|ing) out|exclud\w+|preclud\w+|forbids?|prevents?|nothing|anything|never"
    r"|no(?:thing)?|(?:can|could|wo|wil?l|does|do)(?:n['’]t| ?not)) (?:\w+ ){0,3}?(?:above|over"
    r"|beyond|past|faster than|quicker than|more than) (?:\w+ )?\d[\d.]* ?(?:tok|t/s)"
)
"""A rate that is not reached: "less than 2 tok/s"."""
_TOKENS_IN = Form(r"\d[\d,]*[- ](?:\w+ )?tokens?\b")
"""A time for many tokens: "a reply of 1,000 tokens is finished in 25 ms"."""
_SHARED = Form(rf"\b(?:{HOW_MANY}) (?:[\w-]+ )?{MANY}\b")


def _is_claimed(said: Said) -> bool:
    """Whether the rate is asserted, or measured of one stream with its operands beside it.

    What is measured above the floor was none of these bytes, none of this device, or no one stream.
    """
    statement = said.statement
    if statement.status is Status.MEASURED:
        if DEMANDING.search(statement.heading_text) is not None:
            return statement.table is None  # "the benchmark shows 100 tok/s": by then it has to
        one = statement.is_single or said.has(UNDRAFTED)
        from advisor.prose.frame import frame_of  # noqa: PLC0415 - only documents pay for it

        own, frame = frame_of(statement.context_text), statement.frame
        near = own.weight_bytes or own.weight_bits or frame.model is None
        told = near and (frame.weight_bytes or (frame.parameters and frame.weight_bits))
        seen = _SEEN.search(statement.text) is not None
        return one and seen and bool(told) and statement.table is None
    return statement.status is Status.ASSERTED


_LABEL = re.compile(r"(?:^|[.;!?]\s)([^.;!?]{2,80}:\s*)$")


def _label_of(statement: Statement) -> str:
    """What stands before the colon in front of a figure: "max_num_seqs=64 under load: "."""
    if statement.opener != ":":
        return ""
    at = statement.sentence_text.find(statement.text)
    found = _LABEL.search(statement.sentence_text[: max(at, 0)].rstrip() + " ")
    return found[1] if found is not None else ""


_OF_EACH = Form(r"\b(?:each|every|per (?:user|stream|session|request)|apiece)\b")
_SEEN = Form(
    r"\b(?:reach(?:ed|es)|achiev(?:ed|es)|measur(?:ed|es)|got|gets?|attain(?:ed|s)|clock(?:ed|s)"
    r"|record(?:ed|s)|observ(?:ed|es)|hits?|obtain(?:ed|s)|saw|sees?|ran|runs?|managed|manages"
    r"|deliver(?:ed|s)|sustain(?:ed|s))\b"
)
"""A rate that was seen, and not asked for or hoped for."""


_OF_BOTH = Form(
    r"\b(?:the two|both|respectively)\b[^.;]*?\d[\d.]* and \d[\d.]* ?(?:tok|t/s|ms\b)"
    r"|\d[\d.]* and \d[\d.]* ?(?:tok\S*|t/s|ms)\b[^.;]*?\brespectively\b"
)
"""Two figures of two things: "the two ran at 36 and 96 tok/s"."""


def _is_per_card(said: Said) -> bool:
    """Whether a rate is per card, where each card has one request."""
    return said.statement.is_single and said.says(r"\bper (?:card|gpu|device)\b")


def _is_by_bytes(said: Said) -> bool:
    """Whether nothing but the bytes of a token explains a rate."""
    statement = said.statement
    named = said.has(r"\d(?:s|gb)?[ -]pcie") and not said.has(_LINKED)
    if ("OFFLOAD" in statement.nearby and not named) or _is_of_training(statement):
        return False
    drafted = "SPEC" in statement.nearby or statement.cause == "SPEC"
    drafted = drafted or any(_OF_DRAFTS.search(row[0]) for row in statement.rows)
    if drafted and not _is_undrafted(said):
        return False
    if said.has(r"accepted|tokens per pass") and statement.frame.tokens_per_pass is None:
        return False
    dense = statement.frame.model is not None  # a known one, of which every weight is read
    if "MOE" in statement.around and statement.frame.active_parameters is None and not dense:
        return False
    if is_read_in_part(said):
        return False
    alone = (statement.frame.devices or 1) == 1 and statement.frame.total_bandwidth_gbs is None
    if alone and (said.has(_MANY) or statement.cause == "TP"):
        return False
    column = statement.table[0][statement.table[2]] if statement.table is not None else ""
    if statement.table is not None and any(_FLOORS.search(one) for one in statement.table[0]):
        return False  # the table computes its floors itself
    if not re.search(_OF_TOKENS, f"{statement.sentence_text} {column}", re.IGNORECASE) and not (
        statement.phase is Phase.DECODE
        and (
            said.has(_MS_EACH)
            or said.has(_BYTES_EACH)
            or ("ms" not in statement.text and said.has(_RATES))
        )
    ):
        return False
    taken_out = not statement.nearby.isdisjoint({"REMOVED", "PACKED"})
    fewer = statement.cause in _FEWER_BYTES or (taken_out and statement.cause in {"PRUNE", "S24"})
    if fewer and not tells_bytes(statement):
        return False  # the weights that are left are those of no sentence
    if said.says(_ABOVE_PLAIN):
        return False  # the text itself holds it against the bandwidth
    return not said.says(_COMPUTED) or said.has("GiB")


_FLOORS = Form(r"\b(?:floors?|ceilings?|roofline|roof|lower bound|upper bound)\b")


_ABOVE_PLAIN = (
    r"\b(?:above|beyond|more than|over) (?:the |what )?[^.;]{0,24}?\b(?:bandwidth|memory|bus|floor)"
    r" (?:\w+ )?(?:allows?|permits?|would)\b"
)


def _has_one_reading(said: Said) -> bool:
    """Whether the operands are those of this very rate."""
    statement = said.statement
    if statement.table is None and names_several_devices(statement.sentence_text):
        return False
    if (count_in(statement.sentence_text) or 1) > (statement.frame.devices or 1):
        return False
    if _OF_BOTH.search(statement.sentence_text) is not None:
        return False
    narrowed = statement.kind is Kind.GAIN and statement.cause == "QUANT"
    if narrowed and (
        (statement.frame.weight_bits or 0.0) >= UNQUANTIZED_BITS
        or changes_width(statement.sentence_text)
    ):
        return False  # the width is that before the change
    return not is_ambiguous(statement)


def _is_of_training(statement: Statement) -> bool:
    """Whether the sentence or a label is about training; a step of a plan that trains is not."""
    return "TRAINING" in statement.sentence | (statement.around - statement.nearby)


_OF_DRAFTS = Form(r"\bdraft|\bspeculat|tokens per (?:round|pass)|\bacceptance\b")
"""A row of a table whose other rows tell rates with drafts."""


def _is_undrafted(said: Said) -> bool:
    """Whether the text rules drafts out; of a table that has both, its own column and row."""
    if said.statement.table is None:
        return said.has(UNDRAFTED)
    columns, cells, own = said.statement.table
    label = f"{columns[own]}; {cells[0]}"
    if re.search(r"draft|spec", label, re.IGNORECASE):
        return re.search(UNDRAFTED, label, re.IGNORECASE) is not None
    if re.search(UNDRAFTED, own_words(said.statement), re.IGNORECASE):
        return True
    return said.has(UNDRAFTED)


_FEWER_BYTES = frozenset({"LAYERS", "DISTILL", "LOWRANK", "GQA"})
