"""## What it does
Flags pruning whose zeros stay in dense tensors: unstructured, 2:4 or block patterns, channels,
layers or experts that are set to zero or masked but still stored, and so still read.

## Why is this bad
A dense kernel streams zeros like any other value. Bytes per token stay as they are, and at small
batch the time follows the bytes. Masks that live beside the weights (torch.nn.utils.prune keeps
them until `remove`) are read as well and make the step slower. Dense GEMMs skip no zeros either, so
prefill gains as little.

## Instead
Take what is pruned out of the tensors (layers, whole channels), store it in a packed format that a
named kernel streams (2:4 in Sparse-Marlin layout, a bitmap with SpInfer), or quantize.

## When this rule is wrong
Where a later export packs or removes the zeros before serving: state the storage that is served
(`storage: removed`, `2:4-packed`, `bitmap`), not the one of training.

## References
- PyTorch torchao: sparsity overview: https://docs.pytorch.org/ao/stable/sparsity.html
- PyTorch pruning tutorial, masks and remove:
  https://docs.pytorch.org/tutorials/intermediate/pruning_tutorial.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.evidence import (
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
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.zeros import by_dense_reader, names_zeros, of_inputs
from advisor.rule import PROSE, Rule
from advisor.said import LABELS, NO_DECODE, Said, Wrong, confidence_of, is_unlinked
from advisor.told.zero_rows import reads_without_zeros, without_zeros
from advisor.wording import percent, size

RULE = Rule(
    code="FLP002",
    name="pruning-dense-storage",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PRUNING_DENSE_STORAGE,
    about=("prune", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 4096}
weights: fp8
levers:
  - «kind: prune»
    pattern: unstructured
    sparsity: 30%
    storage: dense
    claim: 30% lower latency
""",
        """\
rooflint: 1
model: Mistral-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: prune»
    pattern: "2:4"
    storage: masked
    claim: 1.6x tokens/s
""",
        """\
We prune 30% of the weights, cutting FLOPs by 30%, «so batch-1 decode gets 30% faster.»
""",
        """\
After SparseGPT the checkpoint stays dense, «so decode becomes 2x faster.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: prune
    pattern: layers
    sparsity: 25%
    storage: removed
    claim: 1.3x
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: prune
    sparsity: 60%
    storage: bitmap
    kernel: SpInfer
    claim: 1.4x
""",
        """\
Unstructured pruning does not make decode faster as long as the zeros are stored densely.
""",
        """\
With 60% sparsity in bitmap format and the SpInfer kernel, decode gets 1.4x faster.
""",
        """\
Pruning 40% of the weights will cut generation time by 40%. Wrong: all bytes are still read.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Pruned parts that are still stored and so still read."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, Prune) or idea.pattern in {"heads", "kv_tokens"}:
            continue
        stays = idea.keeps_dense_bytes and not lever.moves_fewer_bytes
        if not stays or not (promises_any_speed(lever) or promises_bytes(lever)):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{_zeroed(idea)}, but {_still_read(lever)}",
            why="dense kernels stream zeros like any other value",
            instead=advice(audit, "store what is left in a packed format with its kernel"),
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
            error_class=(ErrorClass.SPARSITY_24 if idea.pattern == "2:4" else RULE.error_class),
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="dense kernels stream zeros like any other value",
        instead="take what is pruned out of the tensors, pack it for a named kernel, or quantize",
    )


def _zeroed(idea: Prune) -> str:
    if idea.pattern == "2:4":
        return "two of every four weights are zero"
    part = {"channels": "MLP channels", "layers": "layers", "experts": "experts"}
    what = part.get(idea.pattern, "weights")
    share = percent(idea.fraction) if idea.fraction is not None else "part"
    return f"{share} of the {what} are zero"


def _still_read(lever: LeverAudit) -> str:
    before, after = lever.before.estimate.bytes.weights, lever.after.estimate.bytes.weights
    when = per_step(lever.before).removeprefix("GB/")
    if after > 1.005 * before:
        return (
            f"all {size(before)} are still read for every {when},"
            f" and {size(after - before)} of masks beside them"
        )
    return f"all {weights_read(lever.after)} are still read for every {when}"


_OTHER_PRUNING = (
    r"\b(?:visual|vision|image|video|audio|input|prompt) tokens?\b|\btoken (?:prun|merg|drop)\w*"
    r"|\b(?:lora|adapters?|task vectors?|delta weights)\b|\b(?:row|column|channel) pruning\b"
    r"|\b(?:prun|trim)\w+ (?:of )?(?:the |our |its )?(?:\w+ )?vocabular\w+"
    r"|\b(?:prun|merg|dropp?)\w* (?:[\w%-]+ ){0,4}?experts\b(?!['’]? (?:weights?|matri\w+"
    r"|tensors?))"
    r"|\bprun\w+ [^.;:]{0,60}? (?:down )?(?:to|into) (?:an? |about |only )?\d[\d.]* ?(?:B|M|billion"
    r"|million)\b(?! of)"
)
"""Pruning of tokens, of a vocabulary, of whole experts, of weights before they are merged, or to
fewer parameters by their count."""


_JUDGED = frozenset({Kind.GAIN, Kind.SAVING, Kind.SKIPPED})


def _of_zeros(statement: Statement) -> bool:
    """Whether zeros are said to be left unread, whatever else is named as a lever."""
    other = statement.cause in {"S24", "MASKED_HEADS"}
    return statement.kind is Kind.SKIPPED and not other and names_zeros(statement.text)


def _skipped(said: Said, sure: Confidence) -> Confidence:
    """How sure it is that zeros are no more skipped than that; a kernel of one's own may do it."""
    statement = said.statement
    told = not statement.nearby.isdisjoint({"DENSE", "DECODE", "RATE", "SINGLE"})
    told = told or statement.phase is Phase.DECODE
    return sure if told or by_dense_reader(statement.text) else Confidence.MEDIUM


_POSSIBLE = re.compile(r"\W*(?:which|that|and|it|this|pruning) can\b", re.IGNORECASE)
_IN_PLACE = (
    r"\bin place\b|\b(?:keep|keeps|kept|same|unchanged|full|original) (?:\w+ )?(?:shapes?"
    r"|dimensions)\b"
    r"|\bshapes? (?:is |are |stays? |remains? )?(?:unchanged|as (?:it|they)|the same)\b"
)
"""Parts that are set to zero and not cut out."""
_PACKED = (
    r"\b(?:packed|packing|compress\w*|bitmaps?|csr|spinfer|marlin|sparse (?:format|layout|storage"
    r"|kernels?)|indices|metadata|left out of the file)\b"
)
"""Told before: what is told after it may be about other weights."""
_OF_BYTES = frozenset({Kind.READS, Kind.AMOUNT, Kind.SAVING})


_ZEROED = Form(
    r"\b(?:zero(?:s|es|ed|ing)?|null(?:s|ed)?|mask\w*|unstructured|wanda|sparsegpt)\b"
    r"|\bspars\w+[^.;:]{0,24}? (?:0?\.\d|\(?\d{1,2} ?%)|\d ?% (?:\w+ )?spars\w+"
)
"""Pruning by which weights become zero, and not fewer."""


def _linked(said: Said, sure: Confidence) -> Confidence | None:
    """How sure it is that faster tokens are put down to zeros that are stored.

    Pruning at large makes models smaller: whether it is of tokens, and of which kind, is a guess
    where the sentence says neither, and what is told two sentences after it may be about
    another matter.
    """
    statement = said.statement
    dense = "DENSE" in statement.nearby
    if statement.phase is Phase.UNKNOWN:
        if statement.reach > 1 and (statement.reach > 2 or not (dense or statement.is_linked)):
            return None
        told = dense or "LLM" in statement.nearby or statement.frame.parameters is not None
        stored = statement.reach <= 1 and told and _ZEROED.search(statement.context_text)
        return sure if stored else Confidence.MEDIUM
    return sure if statement.reach != LABELS - 1 or dense else Confidence.MEDIUM


def _is_gone(said: Said) -> bool:
    """Whether what is pruned is out of the tensors."""
    statement = said.statement
    if "REMOVED" not in statement.nearby or _of_zeros(statement):
        return False
    return "MASK" not in statement.nearby or not said.has(_IN_PLACE)


def _read_less(said: Said, sure: Confidence) -> Wrong | None:
    """Bytes for a token that leave out the zeros."""
    statement = said.statement
    if statement.kind not in _OF_BYTES or statement.cause not in {"PRUNE", "CAPACITY", None}:
        return None
    if not {"PRUNE", "MASK"} & statement.nearby or "MOE" in statement.nearby:
        return None
    if "PACKED" in statement.nearby and ("DENSE" not in statement.sentence or said.has(_PACKED)):
        return None
    if _is_gone(said) or statement.phase in NO_DECODE or said.has(_OTHER_PRUNING):
        return None
    if of_inputs(statement.context_text) and "DENSE" not in statement.nearby:
        return None
    read = reads_without_zeros(said)
    if read is None:
        return None
    return Wrong(
        f"{read.told:.3g} GB leave out the zeros, which a dense kernel reads like any other value:"
        f" {read.stored:.3g} GB for each token",
        sure,
        numbers={"told_bytes": read.told * 1e9, "stored_bytes": read.stored * 1e9},
    )


def _judge(said: Said) -> Wrong | None:
    """Zeros that stay in their tensors, and fewer bytes or less time claimed for them."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is not None and (row := without_zeros(said)) is not None:
        return Wrong(
            f"{row.told:.3g} GB leave out the zeros; stored among the other values they take their"
            f" bytes as before, {row.stored:.3g} GB",
            sure,
            numbers={"told_bytes": row.told * 1e9, "stored_bytes": row.stored * 1e9},
        )
    if sure is not None and (wrong := _read_less(said, sure)) is not None:
        return wrong
    about = statement.cause == "PRUNE" or _of_zeros(statement)
    if sure is None or not about or statement.phase in NO_DECODE:
        return None
    if statement.kind not in _JUDGED:
        return None
    if is_unlinked(statement):
        return None
    if statement.reach >= LABELS and "PACKED" in statement.around:
        return None  # of two headings the nearer names another lever
    if "PACKED" in statement.nearby or _is_gone(said):
        return None
    if said.has(_OTHER_PRUNING) or (
        of_inputs(statement.context_text) and "DENSE" not in statement.nearby
    ):
        return None
    if said.says(r"\bcompute[- ]bound\b"):
        return None  # a phase or a batch for which arithmetic counts
    if said.says(r"\bby what is no(?:t| longer) (?:read|stored|there)"):
        return None
    if not statement.sentence.isdisjoint({"KVQ", "SPEC", "DISTILL", "ACTQ"}):
        return None
    if statement.kind is Kind.SAVING and (
        (statement.phase is not Phase.DECODE and "DENSE" not in statement.nearby)
        or statement.reach > (3 if "DENSE" in statement.nearby else 2)
        or "MOE" in statement.nearby
    ):
        return None
    least = 1 if statement.kind is Kind.SAVING else 3
    if "QUANT" in statement.clause and "PRUNE" not in statement.clause and statement.reach >= least:
        return None
    if statement.phase is Phase.UNKNOWN and _POSSIBLE.match(statement.text):
        return None  # of pruning at large: some of it takes weights out
    firm = _skipped(said, sure) if statement.kind is Kind.SKIPPED else _linked(said, sure)
    if firm is None:
        return None
    return Wrong(
        "zeros stored dense are read like any other value: 100% of the bytes per token, 1.00x",
        firm,
    )
