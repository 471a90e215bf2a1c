"""What is advised instead: levers on what the step waits for, at the gain their bytes allow."""

from __future__ import annotations

from advisor.alternatives import alternatives, at
from advisor.audit import Audit, audit
from advisor.readers import read
from advisor.source import Source

EIGHT_B_BYTES = 15_009_857_536
INT4_BYTES = (
    32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336) * 4.125 / 8 + 2 * 128_256 * 4096
)
"""Linears at 4 bits and a 16-bit scale for 128 of them; the output head in 16 bits."""


def audited(text: str) -> Audit:
    found, unknown = audit(read(Source("p.yaml", text)).proposals[0])
    assert unknown == ()
    assert found is not None
    return found


def test_narrower_weights_are_advised_at_no_more_than_their_bytes() -> None:
    one = audited("rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\ntitle: a\n")
    found = {one.label: one.speedup for one in alternatives(one)}
    assert 1.05 < found["int4-g128 weights"].mid < 1.09 * EIGHT_B_BYTES / INT4_BYTES
    assert "fp8 KV cache" not in found
    assert 1.05 < found["speculation at 2 tokens per pass"].mid < 2.0


def test_what_takes_the_most_time_comes_first() -> None:
    long = "workload: {batch: 32, context: 32k}\n"
    one = audited(f"rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\n{long}")
    labels = [other.label for other in alternatives(one)]
    assert labels.index("fp8 KV cache") < labels.index("int4-g128 weights")
    eager = "model: TinyLlama-1.1B\nhardware: H100 SXM\nengine: transformers\n"
    one = audited(f"rooflint: 1\n{eager}")
    assert next(iter(alternatives(one))).label == "CUDA graphs"


def test_nothing_is_advised_twice() -> None:
    narrow = "model: Llama-3.1-8B\nhardware: H100 SXM\nweights: int4-g128\n"
    labels = [one.label for one in alternatives(audited(f"rooflint: 1\n{narrow}"))]
    assert "int4-g128 weights" not in labels
    assert labels == list(dict.fromkeys(labels))


def test_a_step_at_another_batch_reads_the_same_weights() -> None:
    one = audited("rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\ntitle: a\n")
    other = at(one, 8, None)
    assert other.deployment.batch == 8
    assert other.deployment.context == one.baseline.deployment.context
    # Seven more embedding rows of 4,096 values in 16 bits.
    assert other.estimate.bytes.weights - one.baseline.estimate.bytes.weights == 7 * 4096 * 2
    assert at(one, None, None) is one.baseline
