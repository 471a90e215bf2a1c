from __future__ import annotations

import pytest

from advisor.audit import audit
from advisor.context import Defaults
from advisor.readers import read
from advisor.reports.style import Style, columns
from advisor.reports.table import audit_text
from advisor.source import Source

HEAD = "rooflint: 1\ntitle: Faster decode\nmodel: Llama-3.1-8B\n"


def table(text: str, width: int = 120, **defaults: object) -> str:
    [proposal] = read(Source("a.yaml", HEAD + text)).proposals
    judged, problems = audit(proposal, Defaults(defaults))
    assert judged is not None
    assert not problems
    return audit_text(judged, Style(width=width))


def test_the_header_names_the_deployment_and_its_step() -> None:
    text = table("hardware: H100 SXM\nengine: vllm\nworkload: {batch: 1, context: 4096}\n")
    first, step, floor, *_ = text.splitlines()
    assert first.startswith("Faster decode    ")
    assert first.endswith(" | H100 SXM | vLLM | batch 1 | 4,096 tokens | bf16 weights, bf16 KV")
    # 15.01 GB of weights, 131,072 bytes a token of KV cache, 989.4 / 3.35 FLOP/B.
    assert "one step  15.0 GB weights + 0.537 GB KV = 15.5 GB" in step
    assert "ridge 295" in step
    assert step.endswith("memory-bound")
    # 15.55 GB at 3,350 GB/s.
    assert floor.startswith("  floor 4.64 ms   expected ")


def test_a_row_for_each_lever_and_one_for_all() -> None:
    text = table(
        "levers:\n"
        "  - {kind: prune, sparsity: 30%, storage: dense, claim: 30% lower latency}\n"
        "  - {kind: quantize, weights: int8, claim: 1.3x}\n"
        "  - {kind: batch, batch: 32}\n"
    )
    rows = [line for line in text.splitlines() if " -> " in line and "one step" not in line]
    cells = [[cell for cell in row.split("  ") if cell] for row in rows]
    assert [row[0] for row in cells] == [
        "prune 30%, stored dense", "int8 weights", "batch 32", "all together",
    ]  # fmt: skip
    assert cells[0][1].strip() == "15.5 -> 15.5"
    assert cells[0][4].strip() == "1.43x impossible"
    assert [cell.strip() for cell in cells[0][-2:]] == ["1.00x", "FLOP-only"]
    # Half of the 13.96 GB of linear weights goes, the 1.05 GB of the head and 0.54 of KV stay.
    assert cells[1][1].strip() == "15.5 -> 8.57"
    assert cells[1][-1].strip() == "bandwidth"
    assert "tok/s" in cells[2][-2]


def test_more_devices_are_told_as_a_count_of_devices() -> None:
    text = table("levers:\n  - {kind: tensor_parallel, size: 2}\n")
    assert "15.5 -> 2 x 7.77" in text


@pytest.mark.parametrize("width", [100, 120])
def test_the_table_fits_the_page(width: int) -> None:
    text = table(
        "levers:\n"
        "  - {kind: prune, pattern: unstructured, sparsity: 60%, storage: bitmap, claim: 2x}\n"
        "  - {kind: speculate, method: a method with a name that is rather long, claim: 9x}\n"
        "  - {kind: batch, batch: 64, claim: 50x throughput}\n"
        "diagnosis: decode is limited by bandwidth\n",
        width,
    )
    assert max(map(columns, text.splitlines())) <= width


def test_what_was_given_assumed_and_set_is_told_apart() -> None:
    text = table("hardware: H100 SXM\n", batch=4)
    [assumed] = [line for line in text.splitlines() if line.startswith("  assumed: ")]
    [settings] = [line for line in text.splitlines() if line.startswith("  settings: ")]
    assert "context 4,096" in assumed
    assert "hardware" not in assumed
    assert "batch" not in assumed
    assert settings == "  settings: batch 4"


def test_an_ambiguous_device_and_a_measurement_are_told() -> None:
    text = table("hardware: A100\nmeasured: {tpot: 12 ms}\n")
    assert "ambiguous: hardware taken as A100 " in text
    assert "12.0 ms per token" in text
    assert "expected 12.0 ms" in text


def test_what_does_not_fit_is_told() -> None:
    text = table("hardware: RTX 4090\nweights: fp32\n")
    # 8.03 billion weights of 4 bytes in 24 GiB.
    assert "does not fit: needs 33" in text


def test_a_claim_that_cannot_be_judged_is_told_with_the_reason() -> None:
    text = table("levers:\n  - {kind: quantize, weights: int8, claim: no loss of quality}\n")
    assert "“no loss of quality”: " in text


def test_prefill_and_large_batches_are_told_as_such() -> None:
    text = table("workload: {phase: prefill, context: 2048}\n")
    assert "| prefill |" in text
    assert "one prefill  " in text
    assert "tok/s a sequence" in table("workload: {batch: 16}\n")
