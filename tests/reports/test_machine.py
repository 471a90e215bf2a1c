from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from advisor.audit import audit
from advisor.checking import Checked
from advisor.finding import Confidence, Finding, Note, Severity
from advisor.readers import read
from advisor.reports.machine import audits_record, check_record
from advisor.schema import SCHEMAS
from advisor.source import Source, Span
from advisor.suppress import Suppressed

PROPOSAL = """\
rooflint: 1
title: Faster decode
model: Llama-3.1-70B
hardware: 2 x H100 SXM
weights: fp8
levers:
  - kind: prune
    sparsity: 30%
    storage: dense
    claim: 30% lower latency
  - {kind: quantize, weights: int4-g128, kv_cache: fp8, claim: no loss of quality}
  - {kind: batch, batch: 32}
  - {kind: speculate, method: EAGLE-3, draft_tokens: 3, acceptance: 70%}
  - {kind: offload, weights: 40 GB}
  - {kind: prefix_cache}
claim: 120 tokens/s
"""


def audits(text: str) -> dict[str, Any]:
    source = Source("dir/a.yaml", text)
    reading = read(source)
    assert not reading.problems
    found = [audit(proposal) for proposal in reading.proposals]
    judged = [one for one, _ in found if one is not None]
    problems = [problem for _, problems in found for problem in problems]
    record = audits_record(judged, problems, {source.path: source})
    whole: dict[str, Any] = json.loads(record.model_dump_json(by_alias=True))
    return whole


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | float):
        yield value


def test_an_audit_has_the_documented_keys_in_their_order() -> None:
    whole = audits(PROPOSAL)
    assert list(whole) == ["version", "audits", "errors"]
    [one] = whole["audits"]
    assert list(one) == [
        "path", "title", "start", "context", "baseline", "levers", "combined", "claims",
    ]  # fmt: skip
    assert list(one["levers"][0]) == [
        "kind", "start", "end", "verdict", "score", "before", "after", "speedup", "claim",
    ]  # fmt: skip
    assert list(one["levers"][0]["speedup"]) == ["metric", "low", "mid", "high", "ceiling"]
    assert list(one["levers"][0]["claim"]) == ["text", "speedup", "verdict"]
    estimate = one["baseline"]
    assert list(estimate) == [
        "bytes", "flops", "intensity", "ridge", "bound", "floor_ms", "expected_ms",
        "tokens_per_step", "tokens_per_second", "throughput", "shares", "crossover_batch", "fits",
    ]  # fmt: skip
    assert list(estimate["bytes"]) == [
        "weights", "kv_read", "kv_write", "state", "activations", "communication", "total",
    ]  # fmt: skip
    assert list(estimate["expected_ms"]) == ["low", "mid", "high"]


def test_an_audit_holds_against_its_schema() -> None:
    whole = audits(PROPOSAL)
    jsonschema.validate(whole, SCHEMAS["audit"]())
    assert all(math.isfinite(number) for number in numbers(whole))


def test_the_schema_refuses_what_is_not_the_contract() -> None:
    whole = audits(PROPOSAL)
    del whole["audits"][0]["baseline"]["floor_ms"]
    with pytest.raises(jsonschema.ValidationError, match="floor_ms"):
        jsonschema.validate(whole, SCHEMAS["audit"]())


def test_numbers_of_an_audit_are_those_of_the_model() -> None:
    [one] = audits(PROPOSAL)["audits"]
    step = one["baseline"]
    # 80 layers, 8 KV heads of 128, keys and values of 2 bytes, 4,096 tokens.
    assert step["bytes"]["kv_read"] == 80 * 8 * 128 * 2 * 2 * 4096
    assert step["bytes"]["total"] == pytest.approx(
        sum(count for name, count in step["bytes"].items() if name != "total")
    )
    assert sum(step["shares"].values()) == pytest.approx(1.0)
    assert step["tokens_per_second"]["mid"] == pytest.approx(1e3 / step["expected_ms"]["mid"])
    # 989.4 dense TFLOPS over 3,350 GB/s.
    assert step["ridge"] == pytest.approx(989.4e12 / 3350e9, rel=1e-3)


def test_the_context_says_where_each_fact_comes_from() -> None:
    [one] = audits(PROPOSAL)["audits"]
    context = one["context"]
    assert context["hardware"] == {"value": "2 x H100 SXM", "origin": "given"}
    assert context["batch"] == {"value": 1, "origin": "assumed"}


def test_levers_have_their_places_kinds_and_claims() -> None:
    [one] = audits(PROPOSAL)["audits"]
    levers = one["levers"]
    assert [lever["kind"] for lever in levers] == [
        "prune.unstructured", "quantize.weights.int4", "quantize.kv", "batching", "speculative",
        "offload.weights", "prefix_cache",
    ]  # fmt: skip
    first = levers[0]
    assert PROPOSAL[first["start"]["offset"] : first["end"]["offset"]] == "kind: prune"
    assert (first["start"]["line"], first["start"]["column"]) == (7, 5)
    # 30% lower latency is 1 / 0.7.
    assert first["claim"]["speedup"] == pytest.approx(1 / 0.7)
    assert first["claim"]["verdict"] == "impossible"
    assert (first["verdict"], first["score"]) == ("flop_only", 0)
    unread = levers[1]["claim"]
    assert (unread["text"], unread["speedup"]) == ("no loss of quality", None)
    assert levers[3]["claim"] is None
    assert levers[3]["speedup"]["metric"] == "throughput"
    assert levers[6]["speedup"]["metric"] == "ttft"


def test_a_model_written_in_the_proposal_is_named() -> None:
    config = {
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "vocab_size": 128256, "tie_word_embeddings": False,
    }  # fmt: skip
    [one] = audits(f"rooflint: 1\nmodel: {json.dumps(config)}\n")["audits"]
    assert one["context"]["model"] == {"value": "inline model", "origin": "given"}


def test_findings_have_the_documented_keys_in_their_order() -> None:
    source = Source("a.yaml", "model: x\nhardware: y\n")
    finding = Finding(
        "FLP002", "pruning-dense-storage", Severity.WARNING, Confidence.HIGH, "a.yaml",
        source.position(0), source.position(8), "message",
        numbers={"claimed": 1.4, "which": "tpot", "none": None, "endless": math.inf},
        notes=(Note("there", Span(9, 17)), Note("and", rule="CLM001")),
    )  # fmt: skip
    record = check_record(
        Checked((finding,), (Suppressed(finding, "measured"),), {"a.yaml": source}, files=3)
    )
    whole = json.loads(record.model_dump_json(by_alias=True))
    jsonschema.validate(whole, SCHEMAS["check"]())
    assert list(whole) == ["version", "findings", "summary"]
    [told] = whole["findings"]
    assert list(told) == [
        "rule", "name", "class", "severity", "confidence", "path", "start", "end", "message",
        "why", "instead", "lever", "numbers", "notes",
    ]  # fmt: skip
    assert told["class"] is None
    assert told["lever"] is None
    assert (told["severity"], told["confidence"]) == ("warning", "high")
    assert told["start"] == {"line": 1, "column": 1, "offset": 0}
    assert told["numbers"] == {"claimed": 1.4, "which": "tpot", "none": None, "endless": None}
    assert [note["start"] for note in told["notes"]] == [
        {"line": 2, "column": 1, "offset": 9},
        None,
    ]
    assert whole["summary"] == {
        "files": 3, "errors": 0, "warnings": 1, "info": 0, "suppressed": 1, "baselined": 0,
        "stale": 0,
    }  # fmt: skip
