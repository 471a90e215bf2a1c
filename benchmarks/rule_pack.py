"""What the rules cost: loading every module of the pack, and checking 1,000 proposals in one run.

`python -m benchmarks.rule_pack` prints both beside their bars; exit 1 where one is missed. Modules
are loaded by fresh interpreters, the time of what they import of the engine not counted. Times are
of the processor, so that a busy machine reads the same.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from advisor.audit import audit
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

ROOT = Path(__file__).resolve().parent.parent
LOAD_BAR_MS = 60.0
CHECK_BAR_S = 5.0
PROPOSALS = 1000
RUNS = 7
LOAD = """
import sys, time
import advisor.alternatives, advisor.corners, advisor.operands, advisor.rule, advisor.rulebook
import advisor.catalog.features, advisor.statements, advisor.said, advisor.prose.model
from advisor.levers import LEVERS, lever_class
for kind in LEVERS:
    lever_class(kind)
before = time.process_time()
rules = advisor.rulebook.load_rules()
print(len(rules), 1e3 * (time.process_time() - before))
"""
MODELS = ("Llama-3.1-8B", "Llama-3.1-70B", "Qwen3-30B-A3B", "Mixtral-8x7B", "Qwen2.5-14B")
HARDWARE = ("H100 SXM", "2 x H100 SXM", "A100 80GB SXM", "8 x H200", "L40S")
LEVERS = (
    "{kind: quantize, weights: int4-g128, claim: 1.8x}",
    "{kind: quantize, weights: fp8, kv_cache: fp8, claim: 2x tokens/s}",
    "{kind: prune, sparsity: 50%, storage: dense, claim: 30% lower latency}",
    '{kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: sparse-marlin, claim: 1.2x}',
    "{kind: speculate, method: EAGLE, draft_tokens: 3, acceptance: 70%, claim: 2x}",
    "{kind: tensor_parallel, size: 4, claim: 3x}",
    "{kind: attention_kernel, name: FlashAttention-3, claim: 1.3x lower TPOT}",
    "{kind: cuda_graphs}",
    "{kind: offload, weights: 10 GB, claim: runs on one card}",
    "{kind: batch, batch: 64, claim: 10x throughput}",
)


def load_ms() -> tuple[int, float]:
    """Number of rule modules, and the median time of importing them all."""
    times: list[float] = []
    count = 0
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-c", LOAD], cwd=ROOT, capture_output=True, text=True, check=True
        )
        first, second = done.stdout.split()
        count = int(first)
        times.append(float(second))
    return count, statistics.median(times)


def proposals() -> list[str]:
    """Documents of two levers each, drawn with a fixed seed."""
    draw = random.Random(20261130)  # noqa: S311  no secret
    documents = []
    for number in range(PROPOSALS):
        batch, context = draw.choice((1, 8, 64)), draw.choice((512, 8192))
        work = f"{{phase: decode, batch: {batch}, context: {context}}}"
        if number % 10 == 0:
            work = "{phase: decode}"
        levers = "".join(f"  - {one}\n" for one in draw.sample(LEVERS, 2))
        documents.append(
            f"rooflint: 1\ntitle: proposal {number}\nmodel: {draw.choice(MODELS)}\n"
            f"hardware: {draw.choice(HARDWARE)}\nworkload: {work}\nlevers:\n{levers}claim: 2.5x\n"
        )
    return documents


def check_s() -> tuple[int, float]:
    """Findings in all proposals, and the time from text to findings in one process."""
    texts = [Source(f"{number}.yaml", text) for number, text in enumerate(proposals())]
    before = time.process_time()
    found = 0
    for text in texts:
        for proposal in read(text).proposals:
            audited, _ = audit(proposal)
            found += len(run(audited, strict=True)) if audited is not None else 0
    return found, time.process_time() - before


def main() -> int:
    """Print both figures beside their bars."""
    modules, loading = load_ms()
    found, checking = check_s()
    print(f"{modules} rule modules load in {loading:.1f} ms (bar {LOAD_BAR_MS:.0f} ms)")
    print(
        f"{PROPOSALS:,} proposals are checked in {checking:.2f} s, {found:,} findings"
        f" (bar {CHECK_BAR_S:.0f} s)"
    )
    return int(loading > LOAD_BAR_MS or checking > CHECK_BAR_S)


if __name__ == "__main__":
    sys.exit(main())
