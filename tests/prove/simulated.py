"""A machine whose times follow from a formula written here, with repeatable noise."""

from __future__ import annotations

import random

from advisor.prove.experiments import Missing, Step, Variant, counted
from advisor.prove.record import Clock


class SimulatedMachine:
    """t = fixed + max(bytes / bandwidth, flops / rate), each step with a little noise.

    Bandwidth in GB/s, rate in GFLOP/s, fixed in ms. `missing` names weights without a kernel.
    """

    device = "cpu"
    clock: Clock = "wall"
    threads = 1
    version = "simulated"
    sixteen_bit = "bf16"
    name = "A simulated processor"
    memory_bytes = 64e9
    cache_bytes = 32e6
    busy: float | None = 1.0

    def __init__(
        self,
        *,
        bandwidth_gbs: float = 20.0,
        gflops: float = 400.0,
        fixed_ms: float = 1.0,
        noise: float = 0.005,
        drift: float = 0.0,
        missing: tuple[str, ...] = (),
        graph_saves_ms: float = 0.0,
        largest_context: int = 10**9,
        interrupt_after: int | None = None,
    ) -> None:
        self.bandwidth, self.rate, self.fixed_ms = bandwidth_gbs, gflops, fixed_ms
        self.noise, self.drift, self.missing = noise, drift, missing
        self.graph_saves_ms, self.largest_context = graph_saves_ms, largest_context
        self.steps, self.interrupt_after = 0, interrupt_after
        self.random = random.Random(1)  # noqa: S311
        self.prepared: list[str] = []

    def bandwidth_gbs(self) -> tuple[float, ...]:
        return (self.bandwidth * 0.98, self.bandwidth * 0.99, self.bandwidth)

    def matmul_gflops(self, dtypes: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
        return dict.fromkeys(dtypes, (self.rate,))

    def prepare(self, variant: Variant) -> Step:
        weights = variant.deployment.weights
        if weights is not None and weights.name in self.missing:
            raise Missing(f"no kernel for {weights.name} on this simulated machine")
        if variant.deployment.context > self.largest_context:
            raise Missing("not enough memory")
        self.prepared.append(variant.name)
        ledger = counted(variant)
        reading_ms = ledger.memory_bytes / self.bandwidth / 1e6
        computing_ms = ledger.flops / self.rate / 1e6
        exact = self.fixed_ms + max(reading_ms, computing_ms)
        exact -= self.graph_saves_ms if variant.graph else 0.0

        def step() -> float:
            self.steps += 1
            if self.interrupt_after is not None and self.steps > self.interrupt_after:
                raise KeyboardInterrupt
            grown = 1.0 + self.drift * self.steps
            return exact * grown * (1.0 + abs(self.random.gauss(0.0, self.noise)))

        return step

    def release(self) -> None:
        self.prepared.clear()
