"""The page docs/bytes-per-token.md: one decode step counted, beside what other estimators print."""

from __future__ import annotations

from typing import NamedTuple

from advisor.deployment import Deployment
from advisor.ledger.step import count_step


class Job(NamedTuple):
    """One published comparison: a deployment, what was counted by hand, what others print."""

    name: str
    deployment: Deployment
    hand_weights_gb: float
    hand_kv_gb: float
    measured: str
    printed: tuple[str, ...]
    """Decode tokens/s at batch 1, in the order of `PEERS`; "-" where it cannot be expressed."""


PEERS = ("aiconfigurator", "its SOL mode", "ridgepoint", "llm-flops", "LLM-Viewer", "GenZ")


def _all_in(model: str, hardware: str, form: str) -> Deployment:
    """Linears and head in one format, 256 tokens of context."""
    return Deployment(model, hardware, weights=form, lm_head=form, context=256)


def jobs() -> tuple[Job, ...]:
    """The comparison, on one device each."""
    a100, h100 = "A100 80GB SXM", "H100 SXM"
    return (
        Job("Llama-2-7B bf16, A100, 256 tokens", Deployment("Llama-2-7b-hf", a100, context=256),
            13.215, 0.134, "104.9", ("100.3", "152.6", "91.4", "119.8", "152.6", "164.0")),
        Job("Llama-2-7B int8", _all_in("Llama-2-7b-hf", a100, "int8"),
            6.608, 0.134, "155.6", ("148.9", "296.4", "181.0", "237.3", "302.0", "328.0")),
        Job("Llama-2-7B int4 g32", _all_in("Llama-2-7b-hf", a100, "int4-g32"),
            4.130, 0.134, "196.8", ("195.3", "560.2", "316.2", "465.6", "591.5", "656.0")),
        Job("Llama-3.1-70B bf16, H100, 4,096 tokens", Deployment("Llama-3.1-70B", h100),
            139.006, 1.342, "-", ("19.0", "23.9", "14.3", "18.8", "20.5", "-")),
        Job("Llama-3.1-70B fp8", Deployment("Llama-3.1-70B", h100, weights="fp8"),
            70.555, 1.342, "-", ("34.6", "46.6", "28.4", "37.6", "38.2", "52.0")),
        Job("DeepSeek-V3 fp8", Deployment("DeepSeek-V3", h100, weights="fp8"),
            37.659, 0.288, "-", ("46.8", "135.2", "25.3", "-", "-", "-")),
        Job("Mixtral-8x7B bf16", Deployment("Mixtral-8x7B-v0.1", h100),
            25.498, 0.537, "-", ("98.5", "128.6", "77.6", "101.9", "187.4", "-")),
        Job("Mixtral-8x7B int8, A100, 256 tokens",
            _all_in("Mixtral-8x7B-v0.1", a100, "int8"),
            12.749, 0.034, "97.9", ("55.3", "84.3", "96.2", "126.3", "281.1", "171.5")),
        Job("gpt-oss-20b mxfp4", Deployment("gpt-oss-20b", h100),
            3.706, 0.104, "-", ("324.7", "896", "1298", "-", "1557", "-")),
        Job("Qwen3-30B-A3B bf16", Deployment("Qwen3-30B-A3B", h100),
            6.084, 0.403, "-", ("209.6", "515.7", "264.4", "-", "452", "-")),
    )  # fmt: skip


_PAGE = """\
# Bytes per token, counted

One decode step at batch 1: weights that are streamed (no input embedding, the output head counted)
plus the KV cache that is read. `int4 g32` carries a 16-bit scale and zero per 32 weights (5 bits),
the head included; `fp8` is one byte per weight of the linear layers, head, router and norms in 16
bits; the KV cache is bf16. A count made by hand stands beside ours.

| job | by hand: weights + KV, GB | rooflint | tokens/s at peak bandwidth | measured (gpt-fast) |
|---|---|---|---|---|
{counted}

Where a figure differs from the hand count it is by what the hand count leaves out: the scales of
int8 rows, the biases of the experts of gpt-oss.

## What other estimators print for these jobs

Decode tokens/s at batch 1 as each tool printed it in autumn 2026. A figure above the ceiling of the
first table cannot be.

| job | {peers} |
|---|{rules}
{printed}

What lies behind the differences: one utilisation constant for all formats; group scales ignored;
all experts read, or a share of all parameters taken as active; a MoE read as a dense model;
attention projections without weight bytes; KV heads taken for query heads; MLA unknown; the input
embedding read, or the head forgotten; GB mixed with GiB.
"""


def page() -> str:
    """The whole page in Markdown."""
    return _PAGE.format(
        counted="\n".join(map(_counted, jobs())),
        peers=" | ".join(PEERS),
        rules="---|" * len(PEERS),
        printed="\n".join(f"| {job.name} | {' | '.join(job.printed)} |" for job in jobs()),
    )


def _counted(job: Job) -> str:
    ledger = count_step(job.deployment)
    weights, kv = ledger.weight_bytes / 1e9, ledger.kv_read_bytes / 1e9
    ceiling = job.deployment.hardware.bandwidth_gbs / (weights + kv)
    hand = f"{job.hand_weights_gb:.3f} + {job.hand_kv_gb:.3f}"
    return f"| {job.name} | {hand} | {weights:.3f} + {kv:.3f} | {ceiling:.1f} | {job.measured} |"
