from __future__ import annotations

import json
import textwrap
from typing import Any

import pytest

from advisor.levers import LEVERS, lever_class
from advisor.proposal import Measured, Proposal, Sentence, Stated
from advisor.readers import read
from advisor.readers.dialect import FIELDS
from advisor.source import Source, Span

WHOLE = """\
# yaml-language-server: $schema=rooflint.schema.json
rooflint: 1
title: Prune the 70B for faster decode
model: meta-llama/Llama-3.1-70B
hardware: 2 x H100 SXM
parallelism: {tensor: 2, pipeline: 1, data: 1, expert: 1, attention_data: 1}
engine: {name: vllm, version: 0.10}
workload: {phase: decode, batch: 1, context: 4k, prompt: 2000, output: 500}
weights: fp8
kv_cache: bf16
activations: fp8
lm_head: bf16
measured: {tpot: 26 ms}
diagnosis: [decode is compute-bound, the KV cache is small]
levers:
  - kind: prune
    pattern: unstructured
    sparsity: 30%
    storage: dense
    claim: 30% lower latency
  - kind: quantize
    weights: int4-g128
    kv_cache: fp8
    claim: 1.8x
claim: 2x tokens/s
"""


def proposal_of(text: str, path: str = "a.yaml") -> Proposal:
    reading = read(Source(path, text))
    assert reading.problems == ()
    (proposal,) = reading.proposals
    return proposal


def with_levers(text: str) -> Proposal:
    return proposal_of("rooflint: 1\nlevers:\n" + textwrap.indent(textwrap.dedent(text), "  "))


def said(proposal: Proposal, stated: Stated[Any] | Sentence | None) -> str:
    assert stated is not None
    assert stated.span is not None
    return proposal.source.slice(stated.span)


def test_every_field_is_read_with_its_place() -> None:
    proposal = proposal_of(WHOLE)
    work, splits = proposal.workload, proposal.splits
    expected: list[tuple[Stated[Any] | None, object, str]] = [
        (proposal.model, "meta-llama/Llama-3.1-70B", "meta-llama/Llama-3.1-70B"),
        (proposal.hardware, "2 x H100 SXM", "2 x H100 SXM"),
        (proposal.weights, "fp8", "fp8"),
        (proposal.kv_cache, "bf16", "bf16"),
        (proposal.activations, "fp8", "fp8"),
        (proposal.lm_head, "bf16", "bf16"),
        (work.phase, "decode", "decode"),
        (work.batch, 1, "1"),
        (work.context, 4096, "4k"),
        (splits.tensor, 2, "2"),
        (splits.attention_data, 1, "1"),
    ]
    for stated, value, words in expected:
        assert stated is not None
        assert (stated.value, stated.origin) == (value, "given")
        assert said(proposal, stated) == words
    assert proposal.title == "Prune the 70B for faster decode"
    assert proposal.engine is not None
    assert proposal.engine.name.value == "vllm"
    assert proposal.engine.version is not None
    assert proposal.engine.version.value == "0.10"  # not the number 0.1
    assert [said(proposal, sentence) for sentence in proposal.diagnosis] == [
        "decode is compute-bound",
        "the KV cache is small",
    ]
    assert [sentence.text for sentence in proposal.claims] == ["2x tokens/s"]
    assert proposal.source.slice(proposal.span).startswith("rooflint: 1\ntitle:")
    assert proposal.source.slice(proposal.span).endswith("claim: 2x tokens/s")


def test_a_number_that_a_flow_mapping_cuts_in_two_is_told() -> None:
    # YAML ends a value of {...} at its comma: 4,096 would be 4, and 096 a key of its own.
    reading = read(Source("a.yaml", "rooflint: 1\nworkload: {batch: 1, context: 4,096}\n"))
    (problem,) = reading.problems
    assert (problem.rule, problem.start.line, problem.start.column) == ("E905", 2, 33)
    assert "write 4096" in problem.instead
    context = proposal_of('rooflint: 1\nworkload: {context: "4,096"}\n').workload.context
    assert context is not None
    assert context.value == 4096


def test_a_lever_stands_at_its_kind() -> None:
    proposal = proposal_of(WHOLE)
    prune, weights, cache = proposal.levers
    slice_ = proposal.source.slice
    assert proposal.source.position(prune.span.start)[:2] == (16, 5)
    assert slice_(prune.span) == "kind: prune"
    assert {name: slice_(span) for name, span in prune.spans.items()} == {
        "kind": "prune",
        "pattern": "unstructured",
        "sparsity": "30%",
        "storage": "dense",
    }
    assert said(proposal, prune.claim) == "30% lower latency"
    assert prune.together == ()
    # One entry with weights and cache is two levers; its claim is about both and stands once.
    assert [part.lever.machine_kind for part in (weights, cache)] == [
        "quantize.weights.int4",
        "quantize.kv",
    ]
    assert (slice_(weights.span), slice_(cache.span)) == ("kind: quantize", "kv_cache: fp8")
    assert weights.together == (weights.lever, cache.lever)
    assert weights.claim is not None
    assert weights.claim.text == "1.8x"
    assert (cache.claim, cache.together) == (None, ())
    assert slice_(cache.span_of("kv_cache")) == "fp8"
    assert "weights" not in cache.spans


def test_json_holds_the_same_fields() -> None:
    document = {
        "rooflint": 1,
        "title": "schneller 😀",
        "levers": [{"kind": "prune", "sparsity": 0.3, "storage": "dense", "claim": "1.4x"}],
    }
    for indent in (None, 2, "\t"):
        proposal = proposal_of(json.dumps(document, indent=indent), "a.json")
        assert proposal.title == "schneller 😀"
        (lever,) = proposal.levers
        assert lever.lever.model_dump()["sparsity"] == 0.3
        assert proposal.source.slice(lever.span) == '"kind": "prune"'
        assert said(proposal, lever.claim) == "1.4x"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2 x H100 SXM", "2 x H100 SXM"),
        ("{device: h100-sxm, count: 2}", "2 x h100-sxm"),
        ("{device: RTX 4090}", "RTX 4090"),
    ],
)
def test_hardware_as_people_write_it(written: str, value: str) -> None:
    hardware = proposal_of(f"rooflint: 1\nhardware: {written}\n").hardware
    assert hardware is not None
    assert hardware.value == value


def test_a_model_inline_is_plain_data() -> None:
    text = "rooflint: 1\nmodel:\n  model_type: llama\n  hidden_size: 4096\n  rope: {type: x}\n"
    proposal = proposal_of(text + "  tie_word_embeddings: false\n  layers: [1, null]\n")
    assert proposal.model is not None
    assert proposal.model.value == {
        "model_type": "llama",
        "hidden_size": 4096,
        "rope": {"type": "x"},
        "tie_word_embeddings": False,
        "layers": [1, None],
    }
    assert said(proposal, proposal.model) == "model_type: llama"


@pytest.mark.parametrize(
    ("written", "tpot_ms", "tokens_per_second", "throughput"),
    [
        ("{tpot: 26 ms}", 26.0, None, None),
        ("{tpot: 26}", 26.0, None, None),
        ("{itl: 0.026 s}", 26.0, None, None),
        ("{tokens_per_second: 41}", None, 41.0, None),
        ("{tokens_per_second: 41 tok/s, throughput: 1.2k tokens/s}", None, 41.0, 1200.0),
    ],
)
def test_measured_figures(
    written: str, tpot_ms: float | None, tokens_per_second: float | None, throughput: float | None
) -> None:
    measured = proposal_of(f"rooflint: 1\nmeasured: {written}\n").measured
    span = Span(22, 22 + len(written))
    assert measured == Measured(span, tpot_ms, tokens_per_second, throughput)


def test_both_names_of_one_figure_are_one_too_many() -> None:
    reading = read(Source("a.yaml", "rooflint: 1\nmeasured: {tpot: 26 ms, itl: 20 ms}\n"))
    (problem,) = reading.problems
    assert problem.rule == "E910"
    assert reading.proposals[0].measured is not None
    assert reading.proposals[0].measured.tpot_ms == 26.0


@pytest.mark.parametrize(
    ("entry", "machine_kind", "values"),
    [
        ("{kind: prune, pattern: 2:4, storage: 2:4-packed}", "prune.2:4", {"pattern": "2:4"}),
        ("{kind: prune, sparsity: 0.3}", "prune.unstructured", {"sparsity": 0.3}),
        ("{kind: prune, sparsity: 1/3}", "prune.unstructured", {"sparsity": 1 / 3}),
        ("{kind: speculative, acceptance: 70%}", "speculative", {"acceptance": 0.7}),
        ("{kind: batching, batch: '8'}", "batching", {"batch": 8}),
        ("{kind: cuda_graph, enabled: off}", "cuda_graph.off", {"enabled": False}),
        ("{kind: CUDA graphs, enabled: yes}", "cuda_graph", {"enabled": True}),
        ("{kind: tensor-parallel, size: 4}", "tensor_parallel", {"size": 4}),
        ("{kind: early_exit, mean_depth: 20}", "early_exit", {"mean_depth": 20.0}),
        ("{kind: early_exit, mean_depth: 60%}", "early_exit", {"mean_depth": 0.6}),
        ("{kind: attention, variant: window, window: 4k}", "kv.window", {"window": 4096}),
        ("{kind: offload, weights: 10 GB}", "offload.weights", {"weights": 1e10}),
        ("{kind: matmul_kernel, peak: 1.4 PFLOP/s}", "matmul_kernel", {"peak": 1.4e15}),
        ("{kind: low_rank, rank: 128, storage: }", "low_rank", {"storage": "factored"}),
        ("{kind: prefix_cache}", "prefix_cache", {}),
    ],
)
def test_levers_as_people_write_them(
    entry: str, machine_kind: str, values: dict[str, object]
) -> None:
    (proposed,) = with_levers(f"- {entry}").levers
    assert proposed.lever.machine_kind == machine_kind
    found = proposed.lever.model_dump()
    assert {name: found[name] for name in values} == pytest.approx(values)


REQUIRED = {
    "quantize": "weights: int4",
    "activation_sparsity": "sparsity: 50%",
    "low_rank": "rank: 64",
    "early_exit": "mean_depth: 60%",
    "distill": "model: Llama-3.1-8B",
    "attention": "variant: mqa",
    "batch": "batch: 8",
    "tensor_parallel": "size: 2",
    "pipeline_parallel": "size: 2",
    "data_parallel": "size: 2",
    "expert_parallel": "size: 2",
    "hardware": "hardware: H200",
    "offload": "weights: 10 GB",
    "merge_layers": "layers_added: 8",
    "share_weights": "times: 2",
    "experts_per_token": "top_k: 4",
    "sparse_attention": "tokens: 2k",
    "shared_prefix": "tokens: 8k",
    "parallel_sampling": "samples: 4",
    "context_parallel": "size: 2",
    "clocks": "memory: +10%",
}


@pytest.mark.parametrize("kind", LEVERS)
def test_every_kind_is_read(kind: str) -> None:
    (proposed,) = with_levers(f"- kind: {kind}\n  {REQUIRED.get(kind, '')}\n").levers
    assert type(proposed.lever) is lever_class(kind)
    assert proposed.lever.machine_kind in LEVERS[kind].machine_kinds


@pytest.mark.parametrize("kind", sorted(REQUIRED))
def test_what_a_kind_needs_is_asked_for(kind: str) -> None:
    reading = read(Source("a.yaml", f"rooflint: 1\nlevers:\n  - kind: {kind}\n"))
    (problem,) = reading.problems
    assert (problem.rule, problem.start.line, problem.start.column) == ("E911", 3, 5)
    assert REQUIRED[kind].partition(":")[0] in problem.message + problem.instead


@pytest.mark.parametrize("kind", LEVERS)
@pytest.mark.parametrize("value", ["[1]", "{a: 1}", "x" * 400])
def test_every_field_of_every_kind_refuses_another_type(kind: str, value: str) -> None:
    for name in lever_class(kind).model_fields:
        if name == "kind":
            continue
        needed = REQUIRED.get(kind, "")
        rest = "" if needed.startswith(f"{name}:") else needed
        text = f"rooflint: 1\nlevers:\n  - kind: {kind}\n    {name}: {value}\n    {rest}\n"
        reading = read(Source("a.yaml", text))
        assert [(found.rule, found.start.line) for found in reading.problems] == [("E904", 4)]
        assert f"write {name}: " in reading.problems[0].instead


def test_claims_in_a_list_are_one_claim_of_the_lever() -> None:
    (proposed,) = with_levers(
        "- {kind: batch, batch: 8, claim: [8x throughput, same latency]}"
    ).levers
    assert proposed.claim is not None
    assert proposed.claim.text == "8x throughput; same latency"


@pytest.mark.parametrize("style", ["{}", '"{}"', "'{}'"])
def test_a_sentence_on_one_line_is_the_text_of_its_span(style: str) -> None:
    proposal = proposal_of(f"rooflint: 1\nclaim: {style.format('30% faster, 83 tokens/s')}\n")
    (claim,) = proposal.claims
    assert claim.text == said(proposal, claim) == "30% faster, 83 tokens/s"


def test_nothing_stated_is_nothing_given() -> None:
    text = "rooflint: 1\n" + "".join(f"{name}:\n" for name in FIELDS if name != "rooflint")
    proposal = proposal_of(text)
    assert proposal == Proposal(source=proposal.source, span=proposal.span)


def test_keys_of_ones_own_begin_with_x() -> None:
    assert proposal_of("rooflint: 1\nx-ticket: {id: [7]}\n").levers == ()


def test_several_documents_are_several_proposals() -> None:
    reading = read(
        Source("a.yaml", "---\nrooflint: 1\ntitle: a\n---\n# none\n---\nrooflint: 1\ntitle: b\n")
    )
    assert [proposal.title for proposal in reading.proposals] == ["a", "b"]
    assert [reading.source.position(p.span.start).line for p in reading.proposals] == [2, 7]
    assert reading.problems == ()


def test_a_file_named_as_a_proposal_needs_no_version() -> None:
    proposal = proposal_of("title: a\n", "prune.proposal.yaml")
    assert proposal.title == "a"


def test_a_job_of_ci_named_rooflint_is_no_proposal() -> None:
    job = "rooflint:\n  script: rooflint check .\n"
    assert read(Source(".gitlab-ci.yml", job), named=False).problems == ()
    ours = "rooflint: {version: 1}\nmodel: Llama-2-7B\n"
    assert [one.rule for one in read(Source("a.yaml", ours)).problems][:1] == ["E904"]
