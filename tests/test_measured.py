"""Baselines fitted to what was measured of them, with the host's time worked out by hand.

Llama-7B has 32 layers. The transformers of 2023 made 25.5 tokens/s of it on an A100 80GB, 39.2 ms a
token, and about 107 with torch.compile (PyTorch blog, Accelerating Generative AI II); its 13.5 GB
take 6.6 ms at the peak of 2,039 GB/s.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.audit import Audit, audit
from advisor.deployment import Deployment, Speculation, find_model
from advisor.judge import ClaimVerdict
from advisor.ledger.formats import parse_format
from advisor.levers.kernels import Compile, CudaGraphs, Fuse
from advisor.levers.structure import EarlyExit
from advisor.measured import fitted_to
from advisor.readers import read
from advisor.roofline import predict
from advisor.source import Source

EAGER_MS = 1e3 / 25.5
COMPILED = 107 / 25.5


def llama(**facts: Any) -> Deployment:
    given: dict[str, Any] = {"engine": "transformers", "context": 512, **facts}
    return Deployment("Llama-7B", "A100 80GB SXM", **given)


def tpot(deployment: Deployment) -> float:
    return predict(deployment).tpot_ms.mid


def audited(*levers: str) -> Audit:
    text = (
        "rooflint: 1\nmodel: Llama-7B\nhardware: A100 80GB SXM\nengine: transformers\n"
        "workload: {phase: decode, batch: 1, context: 512}\nmeasured: {tokens_per_second: 25.5}\n"
        "levers:\n" + "".join(f"  - {lever}\n" for lever in levers)
    )
    (proposal,) = read(Source("a.yaml", text)).proposals
    found, problems = audit(proposal)
    assert found is not None
    assert not problems
    return found


def test_what_the_device_does_not_explain_is_the_hosts_time() -> None:
    fitted = fitted_to(llama(), EAGER_MS)
    host = fitted.kernels.host
    assert host is not None
    assert host.typical == pytest.approx(39.2157e3 / 32, rel=1e-4)  # 1,225 us
    assert predict(fitted).bound == "overhead"
    expected = predict(fitted).expected_ms
    assert expected == pytest.approx((0.95 * EAGER_MS, EAGER_MS, 1.05 * EAGER_MS), rel=1e-6)


def test_fewer_bytes_get_no_credit_for_it_and_compiling_does() -> None:
    fitted = fitted_to(llama(), EAGER_MS)
    assert tpot(fitted.evolve(weights=parse_format("int4-g128"))) == pytest.approx(EAGER_MS)
    compiled = Compile().apply(fitted)
    # 25.5 to 107 tokens/s; the floor of 13.5 GB at 2,039 GB/s allows 39.2 / 6.6 = 5.9.
    assert 0.8 * COMPILED < EAGER_MS / tpot(compiled) < 5.9
    assert tpot(compiled.evolve(weights=parse_format("int4-g128"))) < 0.6 * tpot(compiled)


def test_the_host_issues_what_runs_of_the_layers() -> None:
    fitted = fitted_to(llama(), EAGER_MS)
    assert tpot(EarlyExit(mean_depth=0.75).apply(fitted)) == pytest.approx(0.75 * EAGER_MS)
    assert tpot(fitted.evolve(batch=4)) == pytest.approx(EAGER_MS)
    assert tpot(Fuse().apply(fitted)) < EAGER_MS


def test_what_the_device_may_take_is_a_factor_on_all_of_it() -> None:
    fitted = fitted_to(llama(), 12.0)
    assert fitted.kernels.host is None
    assert tpot(fitted) == pytest.approx(12.0)
    ratio = 12.0 / tpot(llama())
    assert tpot(fitted.evolve(batch=16)) == pytest.approx(ratio * tpot(llama(batch=16)))


def test_beyond_the_slowest_host_the_rest_is_a_factor() -> None:
    fitted = fitted_to(llama(), 150.0)
    host = fitted.kernels.host
    assert host is not None
    assert host.typical == 2000.0
    assert fitted.time_factor is not None
    assert fitted.time_factor[1] == pytest.approx(150.0 / (32 * 2.0))
    assert tpot(fitted) == pytest.approx(150.0)


def test_an_engine_that_captures_its_steps_has_no_time_of_the_host() -> None:
    slow = fitted_to(llama(engine="vllm"), EAGER_MS)
    assert slow.kernels.host is None
    assert tpot(slow) == pytest.approx(EAGER_MS)
    assert tpot(slow.evolve(weights=parse_format("int4-g128"))) < 0.7 * EAGER_MS
    eager = CudaGraphs(enabled=False).apply(llama(engine="vllm"))
    assert fitted_to(eager, EAGER_MS).kernels.host is not None


def test_a_device_that_is_slower_than_the_host_keeps_its_pace() -> None:
    fitted = fitted_to(llama(), EAGER_MS)
    many = fitted.evolve(batch=64, context=4096)
    # 64 caches of 4,096 tokens of 524,288 bytes: 137 GB, 67 ms at the peak of the bus.
    assert tpot(many) > 67.0
    assert predict(many).bound == "memory"


@pytest.mark.parametrize(
    ("method", "measured"), [("ngram", 30.0), ("eagle", 30.0), ("draft_model", 40.0)]
)
def test_drafts_beside_the_pass_are_part_of_what_was_measured(method: str, measured: float) -> None:
    fitted = fitted_to(llama(speculation=Speculation(method, 3, 2.0)), measured)
    assert fitted.kernels.host is not None
    assert tpot(fitted) == pytest.approx(measured)
    assert fitted.time_factor is not None
    assert fitted.time_factor[1] == pytest.approx(1.0)


def test_the_layers_of_a_draft_are_issued_too() -> None:
    draft = find_model("Llama-3.2-1B")  # 16 layers
    fitted = fitted_to(llama(speculation=Speculation("draft_model", 3, 2.0, draft)), 40.0)
    host = fitted.kernels.host
    assert host is not None
    # Two tokens a pass: 80 ms for 32 layers and three drafts of 16.
    assert host.typical == pytest.approx(80e3 / (32 + 3 * 16))
    assert tpot(fitted) == pytest.approx(40.0)


@settings(max_examples=60, deadline=None)
@given(
    measured=st.floats(2.0, 400.0),
    engine=st.sampled_from(["transformers", "vllm", "llama.cpp"]),
    lever=st.sampled_from([Compile(), CudaGraphs(enabled=False), EarlyExit(mean_depth=0.5)]),
)
def test_intervals_hold_their_middle(measured: float, engine: str, lever: Any) -> None:
    fitted = fitted_to(llama(engine=engine), measured)
    for one in (fitted, lever.apply(fitted), fitted.evolve(weights=parse_format("int8"))):
        low, mid, high = predict(one).expected_ms
        assert low <= mid <= high
    assert tpot(fitted) == pytest.approx(max(measured, predict(fitted).floor_tpot_ms))


def test_published_claims_are_held_against_the_measured_baseline() -> None:
    found = audited(
        "{kind: compile, mode: reduce-overhead, claim: 4x tokens/s}",
        "{kind: quantize, weights: int4-g128, claim: 2x tokens/s}",
    )
    compiled, quantized = found.levers
    assert compiled.claim is not None
    assert compiled.claim.verdict is ClaimVerdict.PLAUSIBLE
    assert compiled.tpot.interval.low < COMPILED < compiled.tpot.interval.high
    assert quantized.score == 0.0
    assert quantized.tpot.interval.mid == pytest.approx(1.0)
    # Nobody measured the host: a device that is slow for another reason would gain by fewer bytes.
    assert quantized.claim is not None
    assert quantized.claim.verdict is ClaimVerdict.NEEDS_EVIDENCE
    assert quantized.tpot.ceiling > 2.0
