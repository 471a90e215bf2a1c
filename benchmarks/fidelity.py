"""How far the time model is off: `python -m benchmarks.fidelity [--write|--check]`.

Every figure is of rows that the fit did not see: whole hardware|model groups, whole cards, whole
model|hardware|engine groups. Each group weighs the same. `--write` keeps them in docs/fidelity.md.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from advisor.catalog.hardware import device
from advisor.deployment import Deployment
from advisor.ledger.formats import parse_format
from advisor.roofline import predict
from advisor.timing.effects import SERVING
from advisor.timing.fitted import KernelTables, Spread, load_fitted
from advisor.timing.kernels import narrow_cache
from benchmarks.calibrate import PRIORS, TOKEN_MS, local_observations, serving_observations
from benchmarks.fitting import Array, Design, Fit
from benchmarks.holding_out import (
    Held,
    folds_of,
    group_weights,
    hold_out,
    quantile,
    served_pairs,
)
from benchmarks.kernel_tables import kernel_tables
from benchmarks.measured import (
    Row,
    counts,
    gpt_fast,
    observe,
    pairs,
    served,
    single_stream,
)

PAGE: Final = Path(__file__).parent.parent / "docs" / "fidelity.md"
TWIN: Final = log(1.15)
GROUP_FOLDS: Final = 10


class Population(NamedTuple):
    """Rows, the design over them, and the fit to all."""

    rows: Sequence[Row]
    design: Design
    fit: Fit


def local_population(tables: KernelTables) -> Population:
    """Engines that run one sequence."""
    rows = [row for row in single_stream() if row.deployment.engine.family != SERVING]
    design = Design(local_observations(tables), PRIORS)
    return Population(rows, design, design.fit(tolerance=1e-3))


def errors_of(held: Held, rows: Sequence[int]) -> Array:
    """|predicted / measured - 1| of the speed, in percent."""
    found: Array = np.abs(np.exp(held.residuals[list(rows)]) - 1.0) * 100.0
    return found


def summary(errors: Array, groups: Sequence[str]) -> str:
    """Median and 90th percentile, each group weighing the same."""
    weights = group_weights(groups)
    return f"{quantile(errors, weights, 0.5):.1f} / {quantile(errors, weights, 0.9):.0f}"


def without_twin(population: Population, rows: Sequence[int]) -> list[int]:
    """Rows with no row of another group on the same card, engine and format of nearly their size.

    Size: the weights' bytes, within 15 %.
    """
    alike: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place in rows:
        deployment = population.rows[place].deployment
        form = deployment.weights.name if deployment.weights else "stored"
        alike[population.rows[place].card, deployment.engine.id, form].append(place)
    sizes = {
        place: sum(part.memory_ms for part in population.design.observations[place].segments)
        for place in rows
    }
    return [
        place
        for others in alike.values()
        for place in others
        if all(
            population.rows[place].group == population.rows[other].group
            or abs(log(sizes[place] / sizes[other])) > TWIN
            for other in others
        )
    ]


class Ratios(NamedTuple):
    """Predicted over measured speedups of pairs."""

    model: Array
    """Error in percent."""
    bytes_only: Array
    groups: list[str]
    speedups: Array


def ratios(
    population: Population, held: Held, lever: str, keep: Callable[[float], bool] = bool
) -> Ratios:
    """Errors of the speedups of one lever's pairs, by the model and by bytes alone."""
    places = {
        row.id: place
        for place, row in enumerate(population.rows)
        if counts(row) or row.grade == "sparse"
    }
    # Rows that are never fitted to are held out by any fit.
    residuals = np.where(
        np.isnan(held.residuals),
        population.design.residuals(population.fit.values),
        held.residuals,
    )
    model, plain, groups, speedups = [], [], [], []
    for pair in pairs():
        if pair.lever != lever or pair.base not in places or pair.target not in places:
            continue
        base, target = places[pair.base], places[pair.target]
        measured = population.rows[base].measured_ms / population.rows[target].measured_ms
        if not keep(measured):
            continue
        model.append(abs(exp(residuals[target] - residuals[base]) - 1.0) * 100.0)
        plain.append(abs(pair.bytes_ratio / measured - 1.0) * 100.0)
        groups.append(population.rows[base].group)
        speedups.append(measured)
    return Ratios(np.array(model), np.array(plain), groups, np.array(speedups))


def coverage(held: Held, rows: Sequence[int], groups: Sequence[str], spread: Spread) -> str:
    """Part of the groups' rows inside the 90 % interval, and its median factor either way."""
    chosen = list(rows)
    width = spread.scale * np.hypot(held.deviations[chosen], spread.noise)
    inside = (np.abs(held.residuals[chosen]) <= width).astype(float)
    weights = group_weights(groups)
    part = float(inside @ weights / weights.sum())
    return f"{part * 100:.0f} % at a median factor of {exp(quantile(width, weights, 0.5)):.2f}"


def gpt_fast_errors(tables: KernelTables) -> dict[str, float]:
    """Signed error in percent of the 27 public points, each model's group left out of the fit."""
    points = gpt_fast()
    names = {row.deployment.hardware.id for row in points}
    others = [
        row
        for row in single_stream()
        if row.deployment.engine.family != SERVING
        and not (row.deployment.engine.id == "gpt-fast" and row.card in names)
    ]
    rows = [*others, *points]
    design = Design([observe(row, tables, TOKEN_MS) for row in rows], PRIORS)
    fit = design.fit(tolerance=1e-3)
    found: dict[str, float] = {}
    for group in sorted({row.group for row in points}):
        out = np.array([row.group == group for row in rows])
        other = design.fit((~out).astype(float), fit.values, steps=60, tolerance=1e-3)
        residuals = design.residuals(other.values)
        for place, row in enumerate(rows):
            if out[place] and row.source == "gpt-fast":
                found[row.id] = (exp(residuals[place]) - 1.0) * 100.0
    return found


def local_figures(tables: KernelTables) -> Iterator[str]:
    """Single streams: speed, pairs, intervals, other levers."""
    local = local_population(tables)
    spread = load_fitted().local
    places = [place for place, row in enumerate(local.rows) if counts(row)]
    groups = [local.rows[place].group for place in places]
    by_group = folds_of(groups, GROUP_FOLDS)
    by_card = folds_of((local.rows[place].card for place in places), 10**6)
    groups_out = hold_out(
        local.design, local.fit, {place: by_group[local.rows[place].group] for place in places}
    )
    cards_out = hold_out(
        local.design, local.fit, {place: by_card[local.rows[place].card] for place in places}
    )
    alone = without_twin(local, places)
    yield "## One sequence\n"
    yield (
        f"{len(places)} rows of calibration grade, {len(set(groups))} hardware|model groups,"
        f" {len(by_card)} cards; {len(local.design.keys)} effects. Median / 90th percentile of"
        " |predicted / measured - 1| of the speed, in percent.\n"
    )
    yield "| decode speed at batch 1 | error |"
    yield "|---|---|"
    yield f"| unseen group | {summary(errors_of(groups_out, places), groups)} |"
    alone_errors = summary(errors_of(groups_out, alone), [local.rows[p].group for p in alone])
    yield f"| unseen group without a near twin in the data | {alone_errors} |"
    yield f"| unseen card | {summary(errors_of(cards_out, places), groups)} |"
    for name, chosen in _slices(local, places):
        names = [local.rows[place].group for place in chosen]
        both = (summary(errors_of(held, chosen), names) for held in (groups_out, cards_out))
        yield f"| {name} (group; card) | {'; '.join(both)} |"
    yield ""
    yield "| 90 % interval | holds |"
    yield "|---|---|"
    yield f"| interval, unseen group | {coverage(groups_out, places, groups, spread)} |"
    yield f"| interval, unseen card | {coverage(cards_out, places, groups, spread)} |"
    yield ""
    yield "| speedup of pairs | pairs, groups | bytes only | unseen group | unseen card |"
    yield "|---|---|---|---|---|"
    for label, lever, keep in _LEVERS:
        seen, unseen = (ratios(local, held, lever, keep) for held in (groups_out, cards_out))
        yield (
            f"| {label} | {len(seen.groups)}, {len(set(seen.groups))}"
            f" | {summary(seen.bytes_only, seen.groups)} | {summary(seen.model, seen.groups)}"
            f" | {summary(unseen.model, unseen.groups)} |"
        )
    yield ""
    yield from _cpu_lines(local)


_LEVERS: Final[tuple[tuple[str, str, Callable[[float], bool]], ...]] = (
    ("weight quantization", "weight_quant", bool),
    ("context growth", "context_growth", bool),
    ("context growth where speed falls by 10 %", "context_growth", lambda gain: gain < 0.9),
    ("tensor parallel", "tensor_parallel", bool),
    ("layer split", "multi_gpu_layer_split", bool),
    ("sparsity", "sparsity", bool),
)


def _slices(local: Population, places: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    routed = [
        place
        for place in places
        if any(layer.routing for layer in local.rows[place].deployment.model.layers)
    ]
    yield "mixture of experts", routed
    sparse = [place for place in places if local.rows[place].deployment.sparsity is not None]
    yield "2:4 sparse", sparse
    classes = sorted({local.rows[place].deployment.hardware.hardware_class for place in places})
    for name in classes:
        yield (
            name,
            [p for p in places if local.rows[p].deployment.hardware.hardware_class == name],
        )


def _cpu_lines(local: Population) -> Iterator[str]:
    cpus = [place for place, row in enumerate(local.rows) if row.deployment.hardware.kind == "cpu"]
    names = [local.rows[place].group for place in cpus]
    cards = folds_of((local.rows[place].card for place in cpus), 10**6)
    held = hold_out(
        local.design, local.fit, {place: cards[local.rows[place].card] for place in cpus}
    )
    yield (
        f"CPUs, whole machines left out ({len(cpus)} rows, {len(cards)} machines):"
        f" {summary(errors_of(held, cpus), names)}; the interval holds"
        f" {coverage(held, cpus, names, load_fitted().local)}. Threads and core rate decide there,"
        " which nobody states.\n"
    )


def floor_figures() -> Iterator[str]:
    """Rows that are faster than the floor."""
    beaten = []
    rows = [row for row in (*single_stream(), *served()) if row.grade != "weak"]
    for row in rows:
        floor = predict(row.deployment).floor_ms
        if row.measured_ms < floor:
            beaten.append((row, floor))
    yield "## The floor\n"
    yield f"Of {len(rows)} measured rows, {len(beaten)} are faster than the floor."
    for row, floor in beaten:
        why = "; it very likely speculates" if row.grade == "suspect" else ""
        name = row.group.replace("|", ", ")
        yield f"* {row.id} {name}: {row.measured_ms:.2f} ms, floor {floor:.2f} ms{why}"
    yield ""


def gpt_fast_figures(tables: KernelTables) -> Iterator[str]:
    """The 27 points that other estimators were compared on."""
    errors = gpt_fast_errors(tables)
    mean = float(np.mean([abs(error) for error in errors.values()]))
    yield "## The 27 gpt-fast points\n"
    yield (
        f"Leave one model out (all rows of the model on that card): mean error {mean:.1f} %,"
        f" median {float(np.median([abs(error) for error in errors.values()])):.1f} %. Kernel"
        " tables of 12.6 million measurements: 9.8 %; two constants: 7.6 %.\n"
    )
    yield ", ".join(f"{name} {error:+.0f}" for name, error in errors.items()) + "\n"


def served_figures(tables: KernelTables) -> Iterator[str]:
    """Served systems: time per output token, curves over the batch."""
    rows = list(served())
    design = Design(serving_observations(tables), PRIORS)
    fit = design.fit(tolerance=1e-3)
    places = list(range(len(rows)))
    folds = folds_of((row.group for row in rows), 10**6)
    held = hold_out(design, fit, {place: folds[rows[place].group] for place in places})
    yield "## Served systems\n"
    yield (
        f"{len(rows)} rows, {len(folds)} model, hardware and engine groups, 1 to 64 requests a"
        " replica; whole groups left out. Error of the time per output token, median / 90th"
        " percentile, each group weighing the same; by rows: the median over all rows.\n"
    )
    yield "| systems | groups | error | by rows |"
    yield "|---|---|---|---|"
    plain = [place for place in places if rows[place].grade == "served"]
    slices: list[tuple[str, list[int]]] = [
        ("all", places),
        ("without rows that very likely speculate (MTP)", plain),
    ]
    slices += [
        (engine, [p for p in plain if rows[p].deployment.engine.id == engine])
        for engine in ("vllm", "sglang", "tensorrt-llm")
    ]
    slices += [
        (f"{low} to {high} requests", [p for p in plain if low <= rows[p].deployment.batch <= high])
        for low, high in ((1, 8), (9, 64))
    ]
    for name, chosen in slices:
        errors = np.abs(np.exp(-held.residuals[chosen]) - 1.0) * 100.0
        groups = [rows[place].group for place in chosen]
        yield (
            f"| {name} | {len(set(groups))} | {summary(errors, groups)}"
            f" | {float(np.median(errors)):.1f} |"
        )
    yield ""
    covered = coverage(held, plain, [rows[p].group for p in plain], load_fitted().serving)
    yield f"90 % interval of unseen groups, without those rows: {covered}.\n"
    yield from _served_pairs(rows, design, fit, folds)
    yield from _curves(rows, design, held)


def _served_pairs(
    rows: Sequence[Row], design: Design, fit: Fit, folds: Mapping[str, int]
) -> Iterator[str]:
    yield "| speedup of served pairs, group left out | pairs, groups | error |"
    yield "|---|---|---|"
    for label, found in served_pairs(rows).items():
        held = hold_out(
            design, fit, {place: folds[row.group] for place, row in enumerate(rows)}, found
        )
        wrong = np.array(
            [held.residuals[after] - held.residuals[before] for before, after in found]
        )
        groups = [rows[before].group for before, _ in found]
        error = summary(np.abs(np.exp(wrong) - 1.0) * 100.0, groups)
        yield f"| {label} | {len(found)}, {len(set(groups))} | {error} |"
    yield ""


_CURVES: Final = (
    ("meta-llama/Llama-3.1-70B|H200|vllm", 4, 1024),
    ("openai/gpt-oss-120b|H100 SXM|vllm", 2, 1024),
    ("deepseek-ai/DeepSeek-V3|B200|sglang", 8, 1024),
)


def _curves(rows: Sequence[Row], design: Design, held: Held) -> Iterator[str]:
    yield (
        "Time per output token over the requests, ms, measured / predicted (the group left out)."
        " The knee is where it is twice that of the fewest requests.\n"
    )
    for group, devices, prompt in _CURVES:
        cells: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for place, row in enumerate(rows):
            tensor = row.deployment.parallelism.tensor
            if (
                row.group == group
                and tensor == devices
                and row.prompt == prompt
                and row.output == 1024
                and row.deployment.parallelism.attention_data == 1
            ):
                measured = design.observations[place].measured_ms
                cells[row.deployment.batch].append(
                    (measured, measured / exp(held.residuals[place]))
                )
        curve = {
            batch: (
                float(np.median([a for a, _ in pairs_])),
                float(np.median([b for _, b in pairs_])),
            )
            for batch, pairs_ in sorted(cells.items())
        }
        line = ", ".join(f"{batch}: {a:.1f} / {b:.1f}" for batch, (a, b) in curve.items())
        knees = [_knee([(batch, pair[side]) for batch, pair in curve.items()]) for side in (0, 1)]
        yield f"* {group}, {devices} devices: {line}; knee {knees[0]} / {knees[1]}".replace(
            "|", ", "
        )
    yield ""


def _knee(curve: Sequence[tuple[int, float]]) -> str:
    start = curve[0][1]
    for (low, below), (high, above) in pairwise(curve):
        if above >= 2.0 * start:
            part = (2.0 * start - below) / (above - below)
            return f"{exp(log(low) + part * log(high / low)):.0f}"
    return f"over {curve[-1][0]}"


def cache_figures() -> Iterator[str]:
    """Whether an 8-bit cache makes attention faster, by engine, batch and context."""
    narrow = parse_format("fp8")
    yield "## 8-bit KV caches\n"
    yield (
        "Speedup of the attention of one layer of Llama-3.1-8B (8 KV heads of 128) with an FP8"
        " cache over a 16-bit one, from the attention kernels' own times; below 1 it hurts.\n"
    )
    cases = [(batch, context) for batch in (1, 8, 64) for context in (1024, 8192, 65536)]
    yield "| engine, GPU | " + " | ".join(f"{b} x {c}" for b, c in cases) + " |"
    yield "|---|" + "---|" * len(cases)
    for engine in ("vllm", "sglang", "trtllm"):
        for gpu in ("nvidia-h100-sxm", "nvidia-b200", "nvidia-l40s"):
            cells = []
            for batch, context in cases:
                wide, slim = (
                    predict(
                        Deployment(
                            "Llama-3.1-8B", device(gpu), engine=engine, kv_cache=form,
                            batch=batch, context=context,
                        )
                    )
                    for form in ("bf16", "fp8")
                )  # fmt: skip
                known = Deployment(engine=engine, hardware=device(gpu))
                kernels = known.engine.kernel_set(known.hardware)
                extra = narrow_cache(narrow, kernels, known.hardware.generation).extra_us
                before = wide.shares.kv * wide.expected_ms.mid
                after = slim.shares.kv * slim.expected_ms.mid + 32 * extra * 1e-3
                start = 32 * _ATTENTION_START_US * 1e-3
                cells.append(f"{(before + start) / (after + start):.2f}")
            yield f"| {engine}, {device(gpu).name} | " + " | ".join(cells) + " |"
    yield ""


_ATTENTION_START_US: Final = 10.0
"""Time of an attention kernel that reads nothing, from the same tables (8.5 to 16 us)."""


def page() -> str:
    """The whole page."""
    tables = kernel_tables()
    lines: Iterable[str] = (
        "# How far the time model is off\n",
        (
            "Written by `python -m benchmarks.fidelity --write` from fixtures/measured; nothing"
            " here is set by hand. Every figure is of rows that the fit did not see.\n"
        ),
        *local_figures(tables),
        *gpt_fast_figures(tables),
        *floor_figures(),
        *served_figures(tables),
        *cache_figures(),
    )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Print the page; keep it with `--write`, or with `--check` say whether it is kept."""
    text = page()
    print(text)
    if "--write" in arguments:
        PAGE.write_text(text, encoding="utf-8")
    fresh = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
    return 1 if "--check" in arguments and not fresh else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
