"""Fit advisor/timing/timing.json to fixtures/measured: `python -m benchmarks.calibrate [--check]`.

Kernel tables first (rates of matrix units, collectives, 8-bit caches), then all effects together
on single-stream rows and, apart from them, on served ones. Reproducible: one start, no
randomness, figures rounded to what the data can tell. The spread of the intervals comes from the
residuals of groups and cards left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Final

from advisor.timing.effects import SERVING, kind_of
from advisor.timing.fitted import FILE, KernelTables
from benchmarks.fitting import Design, Fit, Observation, Priors
from benchmarks.holding_out import covering_scale, folds_of, hold_out, pair_scale, served_pairs
from benchmarks.kernel_tables import kernel_observations, kernel_tables, rounded
from benchmarks.measured import Row, counts, observe, served, single_stream, weight_pairs

NOISE: Final = 0.04
"""Of one published figure beside the scatter between groups, in log units."""
PAIR_NOISE: Final = 0.03
SERVING_NOISE: Final = 0.1
FINAL_TOLERANCE: Final = 1e-6
TOKEN_MS: Final = 0.05
"""Fixed time of a step beside its layers: embedding, final norm, sampling."""

PRIORS: Final = Priors(
    means={
        "bandwidth": 1.5, "dequantize": 0.9, "kv": 0.5, "kv:sharing": -0.2, "layer": 4.1,
        "growth": 0.15, "reduce": 0.3, "hop": -1.6, "prefill": 0.0,
        # Captured graphs of a data-centre engine: 35 to 70 us a dense layer, more with a router.
        "serving layer": 3.85, "serving layer:routed": 0.25,
    },
    widths={
        "bandwidth": 3.0, "bandwidth:class": 0.4, "bandwidth:generation": 0.3,
        "bandwidth:card": 0.35, "bandwidth:width": 0.4, "bandwidth:format": 0.4,
        "bandwidth:engine+format": 0.4, "bandwidth:era": 0.4, "bandwidth:routed": 0.3,
        "dequantize": 1.0, "dequantize:format": 0.5, "dequantize:engine": 0.4,
        "dequantize:generation": 0.5,
        "kv": 2.0, "kv:kernel": 0.7, "kv:class": 0.3, "kv:sharing": 1.0,
        "kv:sharing+kernel": 0.4, "kv:latent": 0.5,
        "layer": 3.0, "layer:family": 0.4, "layer:engine": 0.4, "layer:class": 0.4,
        "layer:engine+class": 0.25, "layer:generation": 0.2, "layer:card": 0.3,
        "layer:model": 0.2, "layer:width": 0.5, "layer:vocabulary": 0.3, "layer:era": 0.2,
        "layer:routed": 0.15, "layer:routed+engine": 0.5, "layer:latent": 0.5,
        "layer:recurrent": 0.4, "layer:devices": 0.3,
        "growth": 0.3, "growth:engine": 0.1, "reduce": 0.5, "reduce:engine": 0.3,
        "hop": 1.0, "prefill": 0.5, "prefill:engine": 0.2,
        # Data-centre cards of one class differ less than the systems they were measured in.
        "serving layer:card": 0.1, "serving bandwidth:card": 0.1,
    },
    weight_exponent=0.4,
)  # fmt: skip
"""Widths in logit or log units: two kernels of one kind differ by about this much."""


def local_observations(tables: KernelTables) -> list[Observation]:
    """Rows of engines that run one sequence."""
    rows = [row for row in single_stream() if row.deployment.engine.family != SERVING]
    return [observe(row, tables, TOKEN_MS) for row in rows]


def serving_observations(tables: KernelTables) -> list[Observation]:
    """Rows of serving engines: served systems, their few single streams, and their kernels."""
    alone = [row for row in single_stream() if row.deployment.engine.family == SERVING]
    rows = [observe(row, tables, TOKEN_MS) for row in served()]
    # A lone figure of one card must not set what all serving engines take.
    rows += [observe(row._replace(grade="lone"), tables, TOKEN_MS) for row in alone]
    return rows + kernel_observations()


def _local_spread(design: Design, fit: Fit, rows: Sequence[Row]) -> dict[str, float]:
    """Noise and scale of the intervals of local engines, from groups and cards held out."""
    counted = [place for place, row in enumerate(rows) if counts(row)]
    groups = [row.group for row in rows]
    cards = [row.card for row in rows]
    place_of = {rows[place].id: place for place in counted}
    pairs = [
        (place_of[pair.base], place_of[pair.target])
        for pair in weight_pairs()
        if pair.base in place_of and pair.target in place_of
    ]
    by_group = folds_of((groups[place] for place in counted), 10)
    by_card = folds_of((cards[place] for place in counted), 10)
    unseen_groups = hold_out(
        design, fit, {place: by_group[groups[place]] for place in counted}, pairs
    )
    unseen_cards = hold_out(design, fit, {place: by_card[cards[place]] for place in counted})
    scales = [
        covering_scale(held, counted, groups, NOISE) for held in (unseen_groups, unseen_cards)
    ]
    return {
        "noise": NOISE,
        "scale": rounded(max(scales), 3),
        "pair_noise": PAIR_NOISE,
        "pair_scale": rounded(pair_scale(unseen_groups, pairs, groups, PAIR_NOISE), 3),
    }


def _serving_spread(design: Design, fit: Fit, rows: Sequence[Row]) -> dict[str, float]:
    """The same of serving engines, from model|hardware|engine groups held out."""
    groups = [row.group for row in rows]
    plain = [place for place, row in enumerate(rows) if row.grade == "served"]
    by_group = folds_of((groups[place] for place in plain), 30)
    pairs = [pair for found in served_pairs(rows).values() for pair in found]
    held = hold_out(design, fit, {place: by_group[groups[place]] for place in plain}, pairs)
    scale = covering_scale(held, plain, groups, SERVING_NOISE)
    return {
        "noise": SERVING_NOISE,
        "scale": rounded(scale, 3),
        "pair_noise": SERVING_NOISE,
        "pair_scale": rounded(pair_scale(held, pairs, groups, SERVING_NOISE), 3),
    }


def calibrate() -> dict[str, Any]:
    """Everything that timing.json holds."""
    tables = kernel_tables()
    rows = [row for row in single_stream() if row.deployment.engine.family != SERVING]
    local = Design(local_observations(tables), PRIORS)
    local_fit = local.fit(tolerance=FINAL_TOLERANCE)
    serving = Design(serving_observations(tables), PRIORS)
    serving_fit = serving.fit(tolerance=FINAL_TOLERANCE)
    effects: dict[str, list[float]] = {}
    for design, fit in ((local, local_fit), (serving, serving_fit)):
        told = design.told()
        for key, place in design.keys.items():
            # What no fitted row speaks of is left out: an estimate then says what stands in.
            if key in told and not kind_of(key).startswith("prefill"):
                value = round(float(fit.values[place]), 3) + 0.0
                effects[key] = [value, rounded(float(fit.conditional_sd[place]), 2)]
    return {
        "effects": dict(sorted(effects.items())),
        "widths": {kind: width for kind, width in PRIORS.widths.items() if "prefill" not in kind},
        "token_ms": TOKEN_MS,
        "tables": {
            "math": dict(tables.math),
            "all_reduce": {key: list(pair) for key, pair in tables.all_reduce.items()},
            "narrow_cache": {key: list(pair) for key, pair in tables.narrow_cache.items()},
        },
        "spread": {
            "local": _local_spread(local, local_fit, rows),
            "serving": _serving_spread(serving, serving_fit, served()),
        },
    }


def rendered() -> bytes:
    """timing.json as it is written: one effect a line."""
    data = calibrate()
    effects = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(pair)}" for key, pair in data.pop("effects").items()
    )
    rest = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
    return f'{{"effects": {{\n{effects}\n}},\n{rest}}}\n'.encode()


def main(arguments: Sequence[str]) -> int:
    """Write timing.json, or with `--check` say whether it is what the data gives."""
    content = rendered()
    if "--check" in arguments:
        fresh = FILE.is_file() and FILE.read_bytes() == content
        print("timing.json is fresh" if fresh else "timing.json is stale")
        return 0 if fresh else 1
    FILE.write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
