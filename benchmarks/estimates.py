"""How long one estimate, one config and a million points take, beside a trivial Python loop.

Run `python -m benchmarks.estimates`. Figures of one run compare with each other; alone they drift
with the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from advisor.catalog.models import load_config, model_names
from advisor.deployment import Deployment
from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.roofline import predict
from advisor.sweep import sweep

ROUNDS = 9
MODELS = (
    "Llama-3.1-8B", "Llama-3.1-70B", "Qwen3-30B-A3B", "DeepSeek-V3", "gemma-3-27b-it",
    "Qwen3-Next-80B-A3B", "gpt-oss-120b", "DeepSeek-V4-Flash",
)  # fmt: skip


def microseconds(action: Callable[[], object], repeats: int) -> float:
    """The shortest of the rounds, by call: what the code takes when nobody else does."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeats):
            action()
        times.append((time.perf_counter() - start) / repeats * 1e6)
    return min(times)


def trivial() -> float:
    """One hundred additions and multiplications of floats in a loop."""
    total = 0.0
    for number in range(100):
        total += number * 1.5
    return total


def main() -> None:
    """Print every figure."""
    print(f"a loop of 100 float operations     {microseconds(trivial, 2000):8.1f} us")
    for name in MODELS:
        deployment = Deployment(name, "H100 SXM")
        predict(deployment)
        took = microseconds(lambda d=deployment: predict(d), 500)  # type: ignore[misc]
        print(f"one estimate, {name:20} {took:8.1f} us")
    batches, contexts = np.arange(1, 1001)[:, None], np.linspace(1, 131_072, 1000).astype(int)
    for name in ("Llama-3.1-8B", "DeepSeek-V3"):
        deployment = Deployment(name, "H100 SXM")
        took = microseconds(lambda d=deployment: sweep(d, batches, contexts[None, :]), 1)  # type: ignore[misc]
        print(f"a million points, {name:16} {took / 1e6:8.3f} s = {took / 1e6:.3f} us a point")
    configs = []
    for name in model_names():
        config = load_config(name)
        try:
            read_architecture(config, name=name)
        except UnsupportedModelError:
            continue
        took = microseconds(lambda c=config, n=name: read_architecture(c, name=n), 1)  # type: ignore[misc]
        configs.append((took / 1e3, name))
    configs.sort()
    middle, last = configs[len(configs) // 2], configs[-1]
    print(
        f"reading a config: median {middle[0]:.2f} ms of {len(configs)}, slowest {last[0]:.1f} ms"
    )
    print("above 2 ms: " + ", ".join(f"{name} {ms:.1f}" for ms, name in configs if ms > 2))


if __name__ == "__main__":
    main()
