"""Blocks of other formats in a document are read where they stand, by their own readers."""

from __future__ import annotations

from advisor.readers import read
from advisor.source import Source

SERVING = """\
Serve it so:

```yaml
kv-cache-dtype: fp8
no-enable-prefix-caching: true
max-num-batched-tokens: 8192
async-scheduling: true
```
"""
SCRIPT = """\
Then:

```python
import torch.nn.utils.prune as prune
prune.l1_unstructured(model.layers[0], "weight", amount=0.5)
```
"""


def kinds(text: str) -> dict[str, str]:
    source = Source("guide.md", text)
    return {
        lever.lever.machine_kind: source.slice(lever.span)
        for proposal in read(source).proposals
        for lever in proposal.levers
    }


def test_a_serving_config_is_no_broken_proposal_and_what_it_denies_is_no_lever() -> None:
    found = kinds(SERVING)
    assert found["quantize.kv"].startswith("kv-cache-dtype")
    assert "prefix_cache" not in found
    assert not read(Source("guide.md", SERVING)).problems


def test_python_is_read_as_python() -> None:
    assert "l1_unstructured" in kinds(SCRIPT)["prune.unstructured"]


def test_a_proposal_in_a_fence_is_a_proposal() -> None:
    text = "# Plan\n\n```yaml\nrooflint: 1\nlevers:\n  - kind: prune\n    sparsty: 30%\n```\n"
    reading = read(Source("plan.md", text))
    (problem,) = reading.problems
    assert (problem.rule, problem.start.line) == ("E903", 7)
