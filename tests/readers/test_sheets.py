"""Sizing sheets: rows of ideas with a technique, its numbers and what it is to gain."""

from __future__ import annotations

import pytest

from advisor.audit import Verdict, audit
from advisor.proposal import Proposal
from advisor.readers import read
from advisor.source import Source

SHEET = """\
common: &base
  model: meta-llama/Llama-3.1-70B
  gpu: H100-80GB
  batch_size: 1
  context: 8192
ideas:
  - <<: *base
    title: fewer bits
    method: int4 weight quantization
    bits: 4
    group_size: 64
    expected_speedup: 3x
  - <<: *base
    batch_size: 32
    expected_throughput_gain: 20
"""


def proposals(text: str) -> tuple[Proposal, ...]:
    return read(Source("x.yaml", text), named=False).proposals


def verdicts(text: str) -> list[tuple[str, Verdict]]:
    found: list[tuple[str, Verdict]] = []
    for proposal in proposals(text):
        audited, problems = audit(proposal)
        assert audited is not None
        assert not problems
        found += [(lever.lever.machine_kind, lever.verdict) for lever in audited.levers]
    return found


def test_rows_with_what_is_merged_into_them() -> None:
    assert verdicts(SHEET) == [
        ("quantize.weights.int4", Verdict.BANDWIDTH),
        ("batching", Verdict.THROUGHPUT_ONLY),
    ]
    quantized, batched = proposals(SHEET)
    assert quantized.title == "fewer bits"
    for one in (quantized, batched):
        assert one.model is not None
        assert one.model.value == "meta-llama/Llama-3.1-70B"
        assert one.hardware is not None
        assert one.workload.context is not None
        assert one.workload.context.value == 8192
    assert quantized.workload.batch is not None
    assert quantized.workload.batch.value == 1
    assert batched.workload.batch is None  # the row's batch is the new one


def test_what_a_row_is_to_gain_is_its_claim() -> None:
    claims = [lever.claim for one in proposals(SHEET) for lever in one.levers]
    assert [claim.text for claim in claims if claim is not None] == [
        "3x speedup",
        "20x throughput",
    ]


def test_what_stands_around_the_rows_holds_for_each() -> None:
    text = (
        "model: Qwen/Qwen2.5-7B\nhardware: A100-80GB\nphase: prefill\nproposals:\n"
        "- {technique: 2:4 sparsity, speedup: 2}\n- {technique: layer_pruning, ratio: 25%,"
        " claimed_latency_reduction: 0.2}\n"
    )
    sparse, shallow = proposals(text)
    for one in (sparse, shallow):
        assert one.model is not None
        assert one.model.value == "Qwen/Qwen2.5-7B"
        assert one.workload.phase is not None
        assert one.workload.phase.value == "prefill"
    assert getattr(shallow.levers[0].lever, "sparsity", None) == 0.25
    assert shallow.levers[0].claim is not None
    assert shallow.levers[0].claim.text == "20% lower latency"


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("{technique: magnitude_pruning, sparsity: 0.5, storage: dense}", "prune.unstructured"),
        ("{technique: unstructured_pruning, sparsity: 0.5}", "prune.unstructured"),
        ("{technique: semi_structured_sparsity}", "prune.2:4"),
        ("{technique: N:M sparsity}", "prune.2:4"),
        ("{optimization: structured pruning, amount: 30%}", "prune.channels"),
        ("{lever: attention head pruning, ratio: 0.25}", "prune.heads"),
        ("{method: fp8}", "quantize.weights.fp8"),
        ("{method: AWQ}", "quantize.weights.int4"),
        ("{technique: weight_quantization, bits: 8}", "quantize.weights.int8"),
        ("{technique: kv_cache_quantization, format: fp8}", "quantize.kv"),
        ("{technique: speculative_decoding, draft_tokens: 4}", "speculative"),
        ("{technique: tensor_parallelism, degree: 4}", "tensor_parallel"),
        ("{technique: cuda_graphs}", "cuda_graph"),
        ("{technique: prefix_caching}", "prefix_cache"),
        ("{technique: larger_batch, batch_size: 16}", "batching"),
    ],
)
def test_techniques_by_the_words_of_the_field(row: str, kind: str) -> None:
    text = f"- {row.removesuffix('}')}, model: Qwen/Qwen2.5-7B, expected_speedup: 1.5}}\n"
    assert [found for found, _ in verdicts(text)] == [kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("proposal:\n  technique: 2:4 sparsity\n  claimed_speedup: 1.8x\n",
         [("prune.2:4", "1.8x speedup")]),
        ("changes:\n- name: zero half of the weights\n  sparsity: 0.5\n  expected: 2x faster\n",
         [("prune.unstructured", "2x faster")]),
        (("baseline: {model: Qwen/Qwen2.5-7B}\nexperiments:\n- {id: P2, expected_speedup: 2,"
         " pruning: {type: magnitude, sparsity: 0.6}}\n"), [("prune.unstructured", "2x speedup")]),
        ("plan:\n- {name: smaller weights, bits: 4, expected_gain: 3x}\n",
         [("quantize.weights.int4", "3x")]),
        (("proposals:\n  a: {method: head pruning, expected_gain: 1.3x}\n"
         "  b: {kind: speculative, draft: Qwen/Qwen2.5-0.5B, k: 4, speedup: 2}\n"),
         [("prune.heads", "1.3x"), ("speculative", "2x speedup")]),
    ],
)  # fmt: skip
def test_rows_by_name_one_idea_alone_and_numbers_that_name_the_technique(
    text: str, expected: list[tuple[str, str]]
) -> None:
    levers = [lever for one in proposals(text) for lever in one.levers]
    found = [(one.lever.machine_kind, one.claim.text) for one in levers if one.claim is not None]
    assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        "results:\n- {method: awq, batch_size: 8, speedup: 1.8}\n",
        "experiments:\n- {method: magnitude_pruning, batch_size: 8, speedup: 1.8}\n",
        "ideas:\n- {technique: better prompts, expected_gain: 2}\n",
        "ideas:\n- {technique: quantization, owner: kim}\n",
        "ideas:\n- {batch_size: 1, expected_speedup: 2}\n",
    ],
)
def test_rows_that_propose_nothing_are_left_alone(text: str) -> None:
    assert proposals(text) == ()


def test_a_title_around_the_rows_names_none_of_their_techniques() -> None:
    text = "title: after quantization\nideas:\n- {batch_size: 8, expected_speedup: 2}\n"
    assert [kind for kind, _ in verdicts(text)] == ["batching"]


def test_blocks_of_a_row_and_a_baseline_beside_the_rows() -> None:
    text = (
        "baseline: {model: Qwen/Qwen2.5-7B, gpu: A100-80GB}\nexperiments:\n"
        "- {id: P2, pruning: {type: unstructured, sparsity: 0.6}, expected_speedup: 2}\n"
    )
    (proposal,) = proposals(text)
    assert proposal.model is not None
    assert proposal.model.value == "Qwen/Qwen2.5-7B"
    (lever,) = proposal.levers
    assert lever.lever.machine_kind == "prune.unstructured"
    assert getattr(lever.lever, "sparsity", None) == 0.6


def test_a_model_by_the_engine_and_the_width_of_its_files() -> None:
    text = (
        "model_name: qwen2.5-instruct\nmodel_engine: vllm\nmodel_format: gptq\nquantization: Int4\n"
    )
    assert verdicts(text) == [("quantize.weights.int4", Verdict.BANDWIDTH)]
