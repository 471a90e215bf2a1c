"""## What it does
Flags a rate of tokens that counts the prompt, the loading, the compilation or a replayed prompt.

## Why is this bad
(Input + output) / wall time mixes two phases and grows with the prompt: 2,048 tokens in and 128 out
in 2 seconds read 1,088 tokens/s, of which decode made 64. A benchmark that repeats one prompt
measures the prefix cache.

## Instead
Time decode alone: output tokens after the first over their time, unique prompts, three and more
runs to warm up.

## When this rule is wrong
Throughput of a whole server may count input tokens; call it total token throughput and keep it
apart from decode.

## References
- NVIDIA: LLM inference benchmarking, metrics:
  https://docs.nvidia.com/nim/benchmarking/llm/latest/metrics.html
- MLPerf inference rules: https://github.com/mlcommons/inference_policies
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.operands import sentences_of
from advisor.rule import CLAIMS, STATEMENTS, Rule
from advisor.wording import span_of

RULE = Rule(
    code="MEA003",
    name="window-contaminated",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PREFILL_DECODE,
    about=(
        CLAIMS,
        STATEMENTS,
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
claim: «tokens/s = (2048 + 128) / total time gives 120 tokens/s»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: «we replay 100 identical prompts and measure 900 tokens/s»
levers:
  - {kind: prefix_cache}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
claim: TPOT of 6.5 ms measured after the first token
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: the rate does not include the prompt
""",
    ),
)

_FORMS: Final = (
    (
        re.compile(
            r"\(\s*[\d,]+\s*\+\s*[\d,]+\s*\)\s*/|"
            r"\b(?:input|prompt|prefill)\s*(?:\+|and|plus)\s*(?:the\s+)?(?:output|generated)"
            r"\s+tokens\b[^.]{0,30}(?:/|per|over|divided)",
            re.IGNORECASE,
        ),
        "counts the prompt's tokens as if they were decoded",
    ),
    (
        re.compile(
            r"\b(?:includ\w+|with|counting)\s+(?:the\s+)?(?:prefill|prompt processing|model load"
            r"\w*|load(?:ing)? time|compil\w+|graph capture|warm-?up|first token)\b",
            re.IGNORECASE,
        ),
        "holds time that is no decoding",
    ),
    (
        re.compile(
            r"\b(?:identical|same|repeated|replay\w*)\b[^.]{0,20}\bprompts?\b"
            r"(?! (?:length|size|format|template|set|mix|distribution)s?\b)",
            re.IGNORECASE,
        ),
        "replays a prompt that the prefix cache holds",
    ),
)
_RATE: Final = Form(r"tok(?:en)?s?\s*(?:/|per)\s*s|tps\b|\btpot\b|\bthroughput\b")
_DENIED: Final = Form(r"\b(?:not|never|no|without|exclud\w+|un-?\w*like)\b")


def check(audit: Audit) -> Iterator[Finding]:
    """Rates over a window that is no decoding."""
    for sentence, index in sentences_of(audit):
        wrong = _wrong(sentence.text)
        if wrong is None:
            continue
        usual = audit.baseline.estimate.tokens_per_second
        yield RULE.on_sentence(
            audit,
            sentence,
            index,
            f"the rate {wrong}; decode alone would read {span_of(usual)} tokens/s here",
            why="decode and prefill run at different rates",
            instead="time output tokens after the first, with unique prompts and warm runs",
            numbers={"tokens_per_second": usual.mid},
        )


def _wrong(text: str) -> str | None:
    if not _RATE.search(text) or _DENIED.search(text):
        return None
    return next((what for form, what in _FORMS if form.search(text)), None)
