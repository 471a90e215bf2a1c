"""What is open is varied over its corners, and nothing else is."""

from __future__ import annotations

from advisor.audit import Audit, audit
from advisor.corners import BATCHES, CONTEXTS, corners_of_devices, corners_of_work
from advisor.readers import read
from advisor.source import Source

LEVER = "levers:\n  - {kind: quantize, kv_cache: fp8, claim: 1.5x tokens/s}\n"


def audited(work: str = "", hardware: str = "H100 SXM", extra: str = "") -> Audit:
    text = f"rooflint: 1\nmodel: Llama-3.1-8B\nhardware: {hardware}\n{work}{extra}{LEVER}"
    [proposal] = read(Source("p.yaml", text)).proposals
    found, problems = audit(proposal)
    assert problems == ()
    assert found is not None
    return found


def test_what_is_stated_is_not_varied() -> None:
    one = audited("workload: {batch: 4, context: 2k}\n")
    assert not one.is_open
    assert corners_of_work(one, one.levers[0]) == ()
    assert corners_of_devices(one, one.levers[0]) == ()


def test_batch_and_context_are_varied_where_nobody_states_them() -> None:
    one = audited()
    corners = corners_of_work(one, one.levers[0])
    found = [(corner.batch, corner.context) for corner in corners]
    assert found == [(batch, context) for batch in BATCHES for context in CONTEXTS]
    assert (BATCHES, CONTEXTS) == ((1, 32, 256), (512, 8 * 1024, 64 * 1024))
    # Half of a cache that is nearly all of the step: up to 2x, at batch 1 and 512 tokens nothing.
    assert corners[0].speedup < 1.05
    assert 1.4 < corners[-1].speedup <= 2.0
    assert {corner.batch for corner in corners_of_work(one, one.levers[0])} == {1, 32, 256}


def test_one_open_fact_is_varied_alone() -> None:
    one = audited("workload: {context: 2k}\n")
    assert [corner.batch for corner in corners_of_work(one, one.levers[0])] == [1, 32, 256]
    assert {corner.context for corner in corners_of_work(one, one.levers[0])} == {2048}


def test_a_measured_baseline_has_one_corner() -> None:
    one = audited(extra="measured: {tpot: 7 ms}\n")
    assert corners_of_work(one, one.levers[0]) == ()


def test_every_device_of_a_name_is_tried() -> None:
    one = audited("workload: {batch: 1, context: 2k}\n", "A100")
    corners = corners_of_devices(one, one.levers[0])
    assert one.is_open
    assert {corner.bandwidth_gbs for corner in corners} >= {1555.0, 2039.0}
