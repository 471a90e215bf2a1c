"""What a rule lets pass does not hide what stands after it, and its facts say what is claimed."""

from __future__ import annotations

import pytest

from advisor.audit import Audit, audit
from advisor.corners import Corner, corners_of_devices
from advisor.finding import Finding
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

DEEPSEEK = """\
rooflint: 1
model: DeepSeek-V3
hardware: 8 x H20 96GB
workload: {phase: decode, batch: 64, context: 16k}
weights: fp8
parallelism: {tensor: 8, attention_data: 8}
levers:
"""
LLAMA = """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
engine: vllm
"""


def audited(text: str) -> Audit:
    [proposal] = read(Source("p.yaml", text)).proposals
    found, problems = audit(proposal)
    assert problems == ()
    assert found is not None
    return found


def findings(text: str, rule: str) -> list[Finding]:
    return [one for one in run(audited(text), strict=True) if one.rule == rule]


def test_a_cache_that_is_only_to_be_smaller_hides_no_claim_of_speed() -> None:
    memory = "  - {kind: quantize, kv_cache: fp8, claim: half the KV cache}\n"
    speed = "  - {kind: quantize, kv_cache: int4, claim: 1.3x tokens/s}\n"
    assert findings(DEEPSEEK + memory, "KV003") == []
    [one] = findings(DEEPSEEK + memory + speed, "KV003")
    assert one.start.line == 9


def test_a_lever_on_bytes_hides_no_lever_on_room() -> None:
    work = "workload: {phase: decode, batch: 8, context: 4k}\nlevers:\n"
    bytes_ = "  - {kind: quantize, weights: int4-g128, claim: 1.5x decode}\n"
    room = "  - {kind: paged_cache, claim: 1.5x decode}\n"
    [one] = findings(LLAMA + work + bytes_ + room, "CAP001")
    assert one.start.line == 8


def test_a_claim_on_the_larger_phase_hides_none_on_the_smaller() -> None:
    work = "workload: {phase: decode, batch: 1, prompt: 16k, output: 5}\nlevers:\n"
    kernel = "  - {kind: attention_kernel, name: FlashAttention-3, claim: 1.2x lower e2e latency}\n"
    weights = "  - {kind: quantize, weights: int4-g128, claim: 2x lower end-to-end latency}\n"
    [one] = findings(LLAMA + work + kernel + weights, "PHS003")
    assert one.start.line == 8


def test_pruning_without_storage_tells_what_is_claimed_beside_what_storage_allows() -> None:
    text = (
        "rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\nengine: vllm\n"
        "workload: {phase: decode, batch: 1, context: 2048}\n"
        "levers:\n  - {kind: prune, pattern: unstructured, sparsity: 50%, claim: 1.9x decode}\n"
    )
    [one] = findings(text, "PRE001")
    told = dict(one.facts)["claimed"]
    assert told.startswith("1.90x; possible ")
    [silent] = findings(text.replace(", claim: 1.9x decode", ""), "PRE001")
    assert "claimed" not in dict(silent.facts)


def test_a_name_of_two_devices_leaves_the_verdict_open() -> None:
    work = "workload: {phase: decode, batch: 1, context: 512}\n"
    lever = "levers:\n  - {kind: quantize, weights: int4-g128, claim: 1.5x decode}\n"
    one = audited(f"rooflint: 1\nmodel: Llama-2-7B\nhardware: GH200\n{work}{lever}")
    assert [device.name for device in one.context.devices] == ["GH200 96GB", "GH200 144GB"]
    assert one.is_open
    corners = corners_of_devices(one, one.levers[0])
    assert [corner.bandwidth_gbs for corner in corners] == [4000.0, 4900.0]


@pytest.mark.parametrize("claim", ["1.5x throughput", "1.5x lower TPOT", "1.5x"])
def test_a_corner_is_judged_in_the_metric_of_the_claim(claim: str) -> None:
    text = (
        LLAMA + "workload: {phase: decode, batch: 1, context: 2k}\n"
        f"levers:\n  - {{kind: batch, batch: 32, claim: {claim}}}\n"
    )
    lever = audited(text).levers[0]
    corner = Corner(1, 2048, "A100 SXM 80GB", 2039.0, lever)
    # 32 sequences a step: many times the tokens of all, none the sooner for one.
    if "TPOT" in claim:
        assert corner.speedup < 1.0
    else:
        assert corner.speedup > 10.0


def test_a_cache_of_prompts_leaves_the_time_per_token() -> None:
    text = (
        LLAMA + "workload: {phase: decode, batch: 1, context: 2k}\n"
        "levers:\n  - {kind: prefix_cache}\n"
    )
    assert audited(text).levers[0].speedup.ceiling == 1.0
