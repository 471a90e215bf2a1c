"""## What it does
Flags attention heads that are masked or gated to zero while their projections stay in the tensors,
and query heads removed with a claim on the KV cache whose KV heads all stay.

## Why is this bad
A mask multiplies by zero after the bytes have moved: q, k, v and output projections are read
whole, and keys and values of every head stay in the cache. With grouped-query attention the cache
depends on the KV heads alone, so removing query heads leaves it as it was. And even removed heads
save only attention's part of the bytes, about a fifth of a Llama.

## Instead
Slice the heads out of the q and output projections and remove whole KV groups, so that
`num_attention_heads` and `num_key_value_heads` both fall.

## When this rule is wrong
If the served checkpoint is sliced after the masks were learned, say `storage: removed`, with
`kv_heads` for the KV heads that are left.

## References
- Michel, Levy, Neubig: Are sixteen heads really better than one?: https://arxiv.org/abs/1905.10650
- Ainslie et al.: GQA, training generalized multi-query transformer models:
  https://arxiv.org/abs/2305.13245
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice, gain_of, told
from advisor.audit import Audit, LeverAudit
from advisor.evidence import (
    claimed_words,
    lever_facts,
    lever_numbers,
    per_step,
    promises_any_speed,
    promises_bytes,
    weights_read,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.levers.prune import Prune
from advisor.prose.model import Kind, Phase
from advisor.prose.patterns import PARTS
from advisor.quantity.numerals import SEVERAL, count_of
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of, is_small_batch, is_unlinked
from advisor.wording import percent, size

RULE = Rule(
    code="FLP003",
    name="masked-heads",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPARSE_HEADS,
    about=("prune", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: prune»
    pattern: heads
    sparsity: 30%
    storage: masked
    claim: 30% more tokens/s
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 16, context: 32768}
levers:
  - «kind: prune»
    pattern: heads
    sparsity: 25%
    storage: removed
    claim: 25% less KV cache memory
""",
        """\
We mask a quarter of the attention heads, «so generation gets 25% faster.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 16, context: 32768}
levers:
  - kind: prune
    pattern: heads
    sparsity: 25%
    kv_heads: 6
    storage: removed
    claim: 25% less KV cache memory
""",
        """\
Masked heads are still computed, therefore head masking does not make decode faster.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Heads that are only masked, and query heads removed for the sake of a cache that stays."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, Prune) or idea.pattern != "heads":
            continue
        if idea.keeps_dense_bytes and not lever.moves_fewer_bytes:
            if promises_any_speed(lever) or promises_bytes(lever):
                yield _masked(audit, lever, idea)
        elif idea.storage is not None and _kv_stays(lever):
            yield _query_heads_only(audit, lever, idea)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="gating a head multiplies by zero after the bytes moved",
        instead=(
            "slice the projections and take out whole KV groups, and claim their share of the bytes"
        ),
    )


def _masked(audit: Audit, lever: LeverAudit, idea: Prune) -> Finding:
    when = per_step(lever.before).removeprefix("GB/")
    removed = gain_of(lever.before, idea.model_copy(update={"storage": "removed"}))
    return RULE.on_lever(
        audit,
        lever,
        f"{_share(idea)} of the heads are multiplied by zero after their projections"
        f" were read: all {weights_read(lever.after)} still move for every {when}",
        why="a mask acts after the bytes have moved, and keys and values of every head stay",
        instead=advice(audit, told("heads taken out of the tensors", removed)),
        facts=lever_facts(lever),
        numbers=lever_numbers(lever),
    )


def _kv_stays(lever: LeverAudit) -> bool:
    cached = (lever.before.estimate.bytes.kv_read, lever.after.estimate.bytes.kv_read)
    about_cache = promises_bytes(lever) and "kv" in claimed_words(lever)
    return about_cache and cached[1] >= 0.98 * cached[0]


def _query_heads_only(audit: Audit, lever: LeverAudit, idea: Prune) -> Finding:
    attention = lever.before.deployment.model.attention
    heads = f"all {attention.kv_heads} KV heads" if attention is not None else "the KV heads"
    return RULE.on_lever(
        audit,
        lever,
        f"{_share(idea)} of the query heads gone leaves {heads}, so the step still reads"
        f" {size(lever.after.estimate.bytes.kv_read)} of KV cache",
        why="with grouped-query attention the cache depends on the KV heads alone",
        instead="remove whole KV groups: kv_heads below the number the model has",
        facts=lever_facts(lever),
        numbers=lever_numbers(lever),
    )


def _share(idea: Prune) -> str:
    return percent(idea.fraction) if idea.fraction is not None else "part"


_SHARE = Form(
    rf"(?P<some>\d{{1,3}}|{SEVERAL}) of (?:the |its |all )?(?P<all>\d{{2,3}}) (?:\w+ )?heads"
    r"|(?P<count>one|two|three|four|\d) (?P<piece>third|quarter|fifth|eighth|tenth)s of (?:the "
    r"|its "
    r"|all )?(?:\w+ )?heads"
    r"|(?P<percent>\d{1,2}) ?% of (?:the |its |all )*(?:\w+ )?heads"
    r"|(?P<part>half|third|quarter|fifth|eighth)(?: of)? (?:the |its |all |our )*(?:\w+ )?heads"
)
"""How many of the heads go."""
_ALL_BUT = 0.75
"""Of the share of heads: attention projections are a fifth to a third of the weights."""


def _removed(said: Said, sure: Confidence) -> Wrong | None:
    """Heads that are really taken out, and their whole share claimed of a short-context step."""
    statement = said.statement
    taken = not statement.nearby.isdisjoint({"REMOVED", "REMOVE"}) and "HEADS" in statement.nearby
    if not taken or statement.speedup is None or "MASKED_HEADS" in statement.nearby:
        return None
    if statement.cause not in {None, "PRUNE", "HARDWARE"} or "LONG" in statement.nearby:
        return None
    if statement.phase is not Phase.DECODE or not is_small_batch(statement):
        return None
    told = _SHARE.search(statement.context_text)
    if told is None or (statement.frame.context or 0) > _LONG:
        return None
    if told["count"]:
        share = count_of(told["count"]) / PARTS[told["piece"].lower()]
    elif told["some"]:
        share = count_of(told["some"]) / int(told["all"])
    else:
        share = int(told["percent"]) / 100 if told["percent"] else 1 / PARTS[told["part"].lower()]
    less = 1.0 - 1.0 / statement.speedup
    if not 0.0 < share < 1.0 or less < _ALL_BUT * share:
        return None
    return Wrong(
        f"{share:.0%} of the heads are part of attention alone, a fifth to a third of the weights:"
        f" {1 / (1 - share / 3):.2f}x at most at short context, not {statement.speedup:.3g}x",
        sure,
        numbers={"share_of_heads": share},
    )


_LONG = 8192
"""Tokens from which the cache of the removed heads counts."""


_GONE = (
    r"physical|slic(?:e|ed|ing)\b|cut (?:out|away)|taken out|rebuil|excis|delet|re-?export|compact"
    r"|shrunk"
    r"|smaller (?:matri|tensor|projection)|(?:out of|from) the (?:tensors?|weights|matri"
    r"|checkpoint|model)"
    r"|(?:heads|rows|columns|groups) (?:are |were |is |get |got )?(?:removed|dropped|gone)"
    r"|(?:remov|drop)\w+ (?:\w+ ){0,4}?(?:heads|rows|columns|groups)"
)
"""Heads that are really out of the tensors."""


def _judge(said: Said) -> Wrong | None:
    """Heads that are masked, and a gain; or removed, and more than their share."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is not None and statement.kind is Kind.GAIN and not is_unlinked(statement):
        removed = _removed(said, sure)
        if removed is not None:
            return removed
    if sure is None or statement.cause != "MASKED_HEADS" or statement.phase in NO_DECODE:
        return None
    if said.says(r"\bno (?:speed-?up|gain|difference|effect|change)\b"):
        return None  # "no speed-up at first, 8% in the end": what was seen
    if (
        statement.kind not in {Kind.GAIN, Kind.SAVING, Kind.SKIPPED}
        or is_unlinked(statement)
        or ("REMOVED" in statement.nearby and said.has(_GONE))
    ):
        return None
    return Wrong(
        "masked heads are read and computed before they are multiplied by 0: their projections and"
        " their KV cache keep 100% of the bytes, 1.00x",
        sure,
    )
