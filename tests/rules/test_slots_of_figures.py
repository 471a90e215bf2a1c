"""As test_slots, for judges that compute: bytes, rates, experts, contexts."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.prose.frame import Frame
from advisor.prose.model import Kind, Phase, Status
from tests.rules.slots import (
    AGGREGATE,
    DENIED,
    FAR,
    HEDGED,
    HIGH,
    MEDIUM,
    PREFILL,
    UNKNOWN,
    Change,
    confidence,
)  # fmt: skip

LONG = Frame(context=16_000)
MIXTURE = Frame(parameters=47e9, active_parameters=13e9)
WIDE = Frame(parameters=47e9, active_parameters=13e9, weight_bits=16.0)
NARROW = Frame(parameters=47e9, active_parameters=13e9, weight_bits=4.0)
STATED = {"parameters": 47e9, "active_parameters": 13e9, "bandwidth_gbs": 3350.0}
ACTIVE = {"words": "24 GB for the active ones"}
TWO_CARDS = Frame(parameters=120e9, active_parameters=5e9, devices=2)


def read(gigabytes: float) -> dict[str, str]:
    return {"words": f"{gigabytes:g} GB are read for each token"}


CASES: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "KV002 ignored": (
        {"kind": Kind.KV_IGNORED, "sentence": {"KV"}, "frame": LONG},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), (UNKNOWN, HIGH),
            ({"frame": Frame(context=15_999)}, None), ({"frame": Frame()}, None),
            ({"frame": Frame(), "sentence": {"LONG"}}, None), ({"sentence": {"SHORT"}}, None),
            ({"frame": Frame(), "sentence": {"LONG", "TIME"}}, HIGH),
            ({"sentence": set()}, None), ({"sentence": set(), "words": "the context"}, None),
            ({"sentence": set(), "words": "the context of a step"}, HIGH),
            ({"words": "in Mamba"}, None), ({"kind": Kind.GAIN}, None),
            ({"frame": Frame(), "words": "64K tokens"}, HIGH),
            ({"frame": Frame(), "words": "64,000 tokens"}, HIGH),
            ({"frame": Frame(), "words": "8K tokens"}, None),
        ],
    ),
    "KV002 loss": (
        {"kind": Kind.LOSS, **DENIED, "frame": LONG, "words": "the context does not slow it"},
        [
            ({"status": Status.ASSERTED}, None), ({"kind": Kind.GAIN}, None), (UNKNOWN, None),
            ({"frame": Frame(context=15_999)}, None), ({"words": "the context? no"}, None),
            ({"words": "it does not slow"}, None),
        ],
    ),
    "KV002 same": (
        {
            "kind": Kind.KV_IGNORED, **DENIED, "clause": {"RATE"}, "frame": LONG,
            "words": "at this context it has the same rate",
        },
        [
            ({"status": Status.HEDGED, "clause": {"RATE"}}, MEDIUM), ({"clause": set()}, None),
            ({"clause": {"LONG"}}, HIGH), ({"sentence": {"GQA"}}, None),
            ({"words": "it has the same rate"}, None), ({"words": "at this context"}, None),
            ({"frame": Frame(context=15_999)}, None), ({"kind": Kind.FIGURE}, None),
        ],
    ),
    # 8 GB over 3,350 GB/s are 2.39 ms; up to a quarter more leaves no room for a cache.
    "KV002 rate": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 2.9, "words": "with a context of 32K tokens",
            "frame": Frame(weight_bytes=8e9, bandwidth_gbs=3350.0, context=32_000),
        },
        [
            ({"tpot_ms": 3.0}, None), ({"tpot_ms": None}, None), (UNKNOWN, None), (HEDGED, MEDIUM),
            ({"nearby": {"SPEC"}}, None), ({"kind": Kind.GAIN}, None),
            (
                {
                    "words": "with a context of 31K tokens",
                    "frame": Frame(weight_bytes=8e9, bandwidth_gbs=3350.0, context=31_999),
                },
                None,
            ),
            ({"words": "per token"}, None), ({"frame": Frame(context=32_000)}, None),
            (
                {
                    "frame": Frame(
                        weight_bytes=8e9, bandwidth_gbs=3350.0, context=32_000, kv_bytes=1e9
                    )
                },
                None,
            ),
        ],
    ),
    "KV002 batch": (
        {
            "kind": Kind.AMOUNT, "frame": Frame(context=32_000),
            "words": "100 KB per token for 16 sessions: 3.2 GB",
        },
        [
            ({"words": "100 KB per token for 16 sessions: 3.5 GB"}, HIGH),
            ({"words": "100 KB per token for 16 sessions: 3.6 GB"}, None),
            ({"words": "100 KB per token for 16 sessions: 51.2 GB"}, None),
            ({"words": "100 KB per token for 1 sessions: 3.2 GB"}, None),
            ({"words": "100 KB per token at batch 2: 3.2 GB"}, HIGH),
            ({"words": "16 sessions: 3.2 GB"}, None), ({"words": "100 KB per token: 3.2 GB"}, None),
            ({"frame": Frame()}, None), (HEDGED, MEDIUM), ({"kind": Kind.SAVING}, None),
        ],
    ),
    "MOE002": (
        {
            "kind": Kind.FITS, "frame": Frame(parameters=120e9, active_parameters=5e9),
            "words": "16 GB are enough for the active ones",
        },
        [
            (HEDGED, MEDIUM), (DENIED, None), ({"kind": Kind.AMOUNT}, None),
            ({"frame": Frame(parameters=120e9)}, HIGH), ({"frame": Frame()}, None),
            ({"frame": Frame(parameters=120e9), "words": "16 GB are enough"}, None),
            ({"words": "47.9 GB for the active ones"}, HIGH),
            ({"words": "48 GB for the active ones"}, None),
            ({"words": "16 GB and 60 GB for the active ones"}, None),
            ({**ACTIVE, "frame": TWO_CARDS}, None),
            ({**ACTIVE, "words": "23 GB for the active ones", "frame": TWO_CARDS}, HIGH),
            ({"words": "enough for the active ones"}, None),
            ({"words": "16 GB for the active ones, with offload"}, None),
        ],
    ),
    "MOE003 reads": (
        {"kind": Kind.READS, "nearby": {"MOE"}, "words": "a token goes through all experts"},
        [
            (DENIED, None), (PREFILL, None), ({"nearby": set()}, None),
            ({"nearby": set(), "frame": Frame(active_parameters=3e9)}, HIGH),
            ({"frame": Frame(batch=2)}, None), ({"frame": Frame(batch=1)}, HIGH),
            ({"words": "64 tokens go through all experts"}, None),
            ({"sentence": {"AGGREGATE"}}, None), ({"kind": Kind.GAIN}, None),
            ({"words": "a token goes through only all experts"}, None),
            ({"words": "a token goes through 2 of 8 experts"}, None),
            ({"words": "a token reads the whole model"}, HIGH),
            ({"words": "a token reads the model"}, None),
            ({"words": "a token of the 30B reads 49 GB"}, HIGH),
            ({"words": "a token of the 30B reads 47 GB"}, None),
        ],
    ),
    "PAR001": (
        {"nearby": {"TP"}, "clause": {"RATE"}, "speedup": 4.0, "words": "on 4 GPUs"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), (AGGREGATE, None), (FAR, None),
            (UNKNOWN, HIGH), ({"kind": Kind.FIGURE}, HIGH), ({"kind": Kind.LOSS}, None),
            ({"nearby": set()}, HIGH), ({"speedup": 3.8}, HIGH), ({"speedup": 3.7}, None),
            ({"speedup": None}, None), ({"clause": set()}, None),
            ({"clause": set(), "kind": Kind.FIGURE}, HIGH),
            ({"words": "on 4 GPUs, it did not fit"}, None), ({"words": "almost, on 4 GPUs"}, None),
            ({"words": "by layers"}, None),
            ({"words": "by layers", "frame": Frame(devices=4)}, HIGH),
            ({"words": "by layers", "frame": Frame(devices=4), "nearby": set()}, None),
            ({"words": "by layers", "frame": Frame(devices=1)}, None),
            ({"words": "TP=4"}, HIGH),
            ({"words": "with another GPU", "speedup": 1.9}, HIGH),
            ({"words": "with another GPU", "speedup": 1.89}, None),
            ({"words": "from 2 to 8 GPUs"}, HIGH), ({"words": "from 1 to 8 GPUs"}, None),
            ({"words": "GPUs from 2 to 8"}, HIGH), ({"words": "4 of them"}, HIGH),
            ({"words": "it scales linearly", "speedup": None}, HIGH),
            ({"words": "it scales linearly", "speedup": None, "nearby": set()}, None),
            (
                {
                    "speedup": None, "tpot_ms": 10.0,
                    "earlier": ((Phase.DECODE, None, 20.0), (Phase.DECODE, None, 40.0)),
                },
                HIGH,
            ),
            (
                {
                    "speedup": None, "tpot_ms": 10.0,
                    "earlier": ((Phase.DECODE, None, 40.0), (Phase.DECODE, None, 20.0)),
                },
                None,
            ),
        ],
    ),
    "PAR001 sum": (
        {
            "kind": Kind.AMOUNT, "words": "64 all-reduces at 20 us each add up to 0.32 ms",
        },
        [
            (HEDGED, MEDIUM), (DENIED, None), ({"kind": Kind.FIGURE}, None),
            ({"words": "64 all-reduces at 20 us each add up to 1.28 ms"}, None),
            ({"words": "64 all-reduces at 20 us each add up to 1.59 ms"}, None),
            ({"words": "64 all-reduces at 20 us each add up to 1.61 ms"}, HIGH),
            ({"words": "64 all-reduces at 20 us each add up to 1.03 ms"}, None),
            ({"words": "64 all-reduces at 20 us each add up to 1.02 ms"}, HIGH),
            ({"words": "64 calls at 20 us each add up to 0.32 ms"}, None),
            ({"words": "64 all-reduces at 20 µs each add up to 1.28 ms"}, None),
            ({"words": "64 all-reduces at 20 µs each add up to 0.32 ms"}, HIGH),
            ({"words": "all-reduces at 20 us each add up to 0.32 ms"}, None),
            ({"words": "64 all-reduces add up to 0.32 ms"}, None),
            ({"words": "64 all-reduces at 20 us each"}, None),
        ],
    ),
    "BAT002 step": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 2.0, "clause": {"SINGLE"}, "frame": Frame(batch=16),
            "words": "a step takes 20 ms, each 2",
        },
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None),
            ({"tpot_ms": None}, None), ({"tpot_ms": 15.9}, HIGH), ({"tpot_ms": 16.1}, None),
            ({"frame": Frame(batch=1)}, None), ({"frame": Frame()}, None),
            ({"frame": Frame(), "nearby": {"BATCH"}}, HIGH),
            ({"frame": Frame(), "nearby": {"AGGREGATE"}}, HIGH),
            ({"frame": Frame(), "words": "a step of 8 users takes 20 ms, each 2"}, HIGH),
            ({"kind": Kind.SAVING}, None), ({"words": "a smaller batch: a step takes 20 ms"}, None),
        ],
    ),
    "BAT002 same": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 2.0, "clause": {"SINGLE"}, "frame": Frame(batch=16),
            "earlier": ((Phase.DECODE, None, 2.0),),
        },
        [
            ({"tpot_ms": 2.1}, HIGH), ({"tpot_ms": 2.15}, None), ({"tpot_ms": 1.9}, HIGH),
            ({"tpot_ms": 1.85}, None), ({"earlier": ()}, None),
            ({"earlier": ((Phase.DECODE, 2.0, None),)}, None),
        ],
    ),
    "BAT002 divided": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 2.0, "clause": {"SINGLE"}, "nearby": {"BATCH"},
            "earlier": ((Phase.DECODE, None, 20.0),), "words": "sharing the pass, each of them",
        },
        [
            ({"tpot_ms": 15.9}, HIGH),
            ({"tpot_ms": 16.1}, None), ({"words": "sharing the pass"}, None),
            ({"earlier": ()}, None),
        ],
    ),
    "BAT002 words": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 10.0, "clause": {"SINGLE"},
            "words": "1,600 tok/s in total for 32 users",
        },
        [
            (HEDGED, MEDIUM), (AGGREGATE, None), ({"clause": set()}, None),
            ({"tpot_ms": 17.3}, HIGH), ({"tpot_ms": 17.5}, None), ({"tpot_ms": None}, None),
            ({"words": "1,600 tok/s in total"}, None), ({"words": "32 users"}, None),
            ({"words": "1,600 tok/s in total for 1 users"}, None),
            ({"words": "in total 1,600 tok/s at batch 32"}, HIGH),
        ],
    ),
    "TXT002 all": (
        {"kind": Kind.OVER_ALL, "speedup": 1.2},
        [(HEDGED, MEDIUM), (DENIED, None), ({"speedup": 1.0}, None), ({"speedup": None}, None)],
    ),
    "TXT002 square": (
        {"kind": Kind.KV_SQUARE, "words": "the cache"},
        [(HEDGED, MEDIUM), (DENIED, None), ({"words": "the attention cost"}, None)],
    ),
    "TXT002 bits": (
        {"kind": Kind.AMOUNT, "words": "20 GB over 400 Gb/s take 50 ms"},
        [
            (HEDGED, MEDIUM), ({"kind": Kind.FIGURE}, None),
            ({"words": "20 GB over 400 Gb/s take 0.05 s"}, HIGH),
            ({"words": "20 GB over 400 Gb/s take 400 ms"}, None),
            ({"words": "20 GB over 400 Gb/s take 55.9 ms"}, HIGH),
            ({"words": "20 GB over 400 Gb/s take 56.1 ms"}, None),
            ({"words": "20 GB take 50 ms"}, None), ({"words": "10 GB or 20 GB over 400 Gb/s take"
             " 50 ms"}, HIGH),
        ],
    ),
    "TXT002 equation": (
        {"kind": Kind.AMOUNT, "words": "20 GB / 2 TB/s = 20 ms"},
        [
            ({"kind": Kind.FIGURE}, HIGH), ({"kind": Kind.GAIN}, None),
            ({"words": "20 GB / 2 TB/s = 10 ms"}, None), (DENIED, None),
        ],
    ),
    "TXT002 size": (
        {"kind": Kind.AMOUNT, "words": "a 7B in int8 takes 14 GB"},
        [
            ({"words": "a 7B in int8 takes 10.1 GB"}, None), ({"words": "a 7B in int8 takes"
             " 10.2 GB"}, HIGH), ({"words": "a 7B in int8 takes 5.7 GB"}, None),
            ({"words": "a 10B in int8 takes 8 GB"}, None),
            ({"words": "a 7B in int8 takes 5.5 GB"}, HIGH), ({"kind": Kind.FIGURE}, None),
            ({"words": "a 7B in int8 takes 14 GB per GPU"}, None),
        ],
    ),
    "TXT002 rate": (
        {"kind": Kind.FIGURE, "words": "20 ms per token, i.e. 60 tok/s"},
        [
            ({"words": "20 ms per token, i.e. 50 tok/s"}, None), ({"kind": Kind.GAIN}, None),
            ({"words": "20 ms per token, i.e. 44.6 tok/s"}, HIGH),
            ({"words": "20 ms per token, i.e. 44.7 tok/s"}, None),
            ({"words": "20 ms per token, i.e. 56.8 tok/s"}, None),
            ({"words": "20 ms per token, i.e. 56.9 tok/s"}, HIGH),
            ({"words": "20 ms per token, i.e. 60 tok/s at this batch"}, None),
            ({"words": "20 ms per token, i.e. 0 tok/s"}, None),
            ({"words": "0 ms per token, i.e. 60 tok/s"}, None),
        ],
    ),
    # 47e9 parameters in 16 bits are 94 GB, over 3,350 GB/s 28.06 ms.
    "MOE003 bytes": (
        {
            "kind": Kind.READS, "words": "94 GB are read for each token",
            "frame": WIDE,
        },
        [
            ({"kind": Kind.AMOUNT}, HIGH), ({"kind": Kind.GAIN}, None), (PREFILL, None),
            ({"words": "26 GB are read for each token"}, None),
            ({"words": "94 GB are held for each token"}, None),
            ({"words": "it reads 26 GB and not 94 GB for each token"}, None),
            ({"words": "94 GB are read"}, None), ({"frame": Frame(parameters=47e9)}, None),
            ({"frame": Frame(parameters=47e9, active_parameters=13e9, weight_bits=8.0)}, None),
            ({"frame": MIXTURE}, HIGH),
            ({**read(101), "frame": WIDE}, HIGH),
            ({**read(102), "frame": WIDE}, None),
            ({**read(87), "frame": WIDE}, HIGH),
            ({**read(86), "frame": WIDE}, None),
            ({**read(30), "frame": NARROW}, HIGH),
            ({**read(31), "frame": NARROW}, None),
            ({**read(20), "frame": NARROW}, HIGH),
            ({**read(19), "frame": NARROW}, None),
            ({**read(47), "frame": MIXTURE}, HIGH),
            # 26.4 GB are the 47B in 4.5 bits, and the 13B in use in 16
            ({**read(26.4), "frame": MIXTURE}, None),
            ({**read(30), "frame": MIXTURE}, None),
            ({**read(23), "frame": MIXTURE}, None),
            ({**read(105), "frame": MIXTURE}, HIGH),
            ({**read(106), "frame": MIXTURE}, None),
            ({**read(83), "frame": MIXTURE}, HIGH),
            ({**read(82), "frame": MIXTURE}, None),
        ],
    ),
    "MOE003 time": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 28.0, "words": "so it takes that long",
            "frame": Frame(
                parameters=47e9, active_parameters=13e9, weight_bits=16.0, bandwidth_gbs=3350.0
            ),
        },
        [
            ({"tpot_ms": 30.0}, HIGH), ({"tpot_ms": 30.1}, None), ({"tpot_ms": 26.2}, HIGH),
            ({"tpot_ms": 26.0}, None), ({"tpot_ms": None}, None), ({"kind": Kind.GAIN}, None),
            ({"words": "it was measured"}, None),
            ({"frame": Frame(**STATED, weight_bytes=94e9)}, HIGH),
            ({"frame": Frame(**STATED, weight_bytes=26e9)}, None),
            ({"frame": Frame(**STATED, weight_bytes=26e9, weight_bits=16.0)}, HIGH),
            ({"words": "94 / 3.35", "tpot_ms": 37.8}, HIGH),
            ({"words": "94 / 3.35", "tpot_ms": 38.0}, None),
            ({"words": "94 / 3.35", "tpot_ms": 11.3}, HIGH),
            ({"words": "94 / 3.35", "tpot_ms": 11.1}, None),
        ],
    ),
    "PAR001 chain": (
        {
            "kind": Kind.FIGURE, "nearby": {"TP"}, "words": "TP2 20 ms, TP4 10 ms, TP8 5 ms",
            "tpot_ms": 5.0,
        },
        [
            ({"words": "TP2 20 ms, TP4 10 ms, TP8 5.2 ms"}, HIGH),
            ({"words": "TP2 20 ms, TP4 10 ms, TP8 5.3 ms"}, None),
            ({"words": "TP2 20 ms, TP4 11 ms, TP8 5 ms"}, None),
            ({"words": "TP2 50 tok/s, TP4 100 tok/s, TP8 200 tok/s"}, HIGH),
            ({"words": "TP2 50 tok/s, TP4 100 tok/s, TP8 180 tok/s"}, None),
            ({"words": "TP8 5 ms, TP4 10 ms"}, None), ({"words": "TP4 10 ms, TP4 10 ms"}, None),
        ],
    ),
    "SPC003 crowded": (
        {
            "kind": Kind.FREE, "sentence": {"SPEC"}, "nearby": {"SPEC"}, "frame": Frame(batch=16),
            "words": "drafting is free",
        },
        [
            (HEDGED, MEDIUM), ({"frame": Frame(batch=15)}, None), ({"frame": Frame()}, None),
            ({"frame": Frame(batch=16, context=8193)}, None),
            ({"frame": Frame(batch=16, context=8192)}, HIGH),
            ({"words": "drafting is free, else off"}, None),
            ({"words": "bad drafts are free", "frame": Frame(batch=1)}, HIGH),
            ({"words": "bad drafts are free", "frame": Frame(batch=16, context=8193)}, HIGH),
            ({"words": "drafting is never a loss", "frame": Frame()}, HIGH),
            ({"words": "drafting is never a loss", "frame": Frame(), "is_single": True}, None),
            ({"words": "drafting is never a loss", "frame": Frame(batch=8)}, None),
            ({"words": "drafting is free at any load", "frame": Frame()}, HIGH),
            ({"words": "drafting with 16 users is free", "frame": Frame()}, HIGH),
            ({"words": "drafting needs memory that costs nothing"}, None),
        ],
    ),
    "SPC003 loaded": (
        {"sentence": {"SPEC"}, "nearby": {"SPEC"}, "frame": Frame(batch=64)},
        [
            ({"speedup": 1.5}, HIGH), ({"speedup": 1.4}, None), ({"frame": Frame(batch=63)}, None),
            ({"speedup": 1.3, "frame": Frame(batch=65)}, HIGH),
            ({"speedup": 1.2, "frame": Frame(batch=65)}, None),
            ({"sentence": {"SPEC", "MEASURED"}}, None),
            ({"sentence": {"SPEC", "MEASURED", "HOPED"}}, HIGH),
            ({"frame": Frame(batch=64, context=8193)}, None),
            ({"frame": Frame(batch=64, context=8192)}, HIGH), ({"kind": Kind.CARRIED}, HIGH),
            ({"frame": Frame(), "words": "with 64 users"}, HIGH),
            ({"frame": Frame(), "words": "with 63 users"}, None),
            ({"frame": Frame(), "words": "at batch 64"}, HIGH),
            ({"frame": Frame(), "words": "in busy hours"}, HIGH),
            ({"frame": Frame(), "words": "in busy hours it is off"}, None),
            ({"frame": Frame(), "nearby": {"SPEC", "LONG"}, "words": "in busy hours"}, None),
        ],
    ),
    "CLM002 nearer": (
        {
            "cause": "GRAPHS", "sentence": {"QUANT"}, "reach": 2, "speedup": 3.0,
            "words": "INT8 instead of FP16",
        },
        [
            ({"reach": 1}, None), ({"reach": 1, "cause": "PEAK"}, None),
            ({"sentence": set()}, None),
            ({"reach": 1, "cause": "PEAK", "words": "INT8, 2x fewer bytes"}, HIGH),
        ],
    ),
    "CLM006 devices": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 5.0, "is_single": True, "words": "tokens/s",
            "frame": Frame(weight_bytes=14e9, bandwidth_gbs=1000.0),
        },
        [
            ({"words": "tokens/s of a cluster"}, None),
            (
                {
                    "words": "tokens/s of a cluster",
                    "frame": Frame(weight_bytes=14e9, total_bandwidth_gbs=1000.0),
                },
                HIGH,
            ),
            (
                {
                    "words": "tokens/s of a cluster",
                    "frame": Frame(weight_bytes=14e9, bandwidth_gbs=500.0, devices=2),
                },
                HIGH,
            ),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_each_slot_does(name: str) -> None:
    rule = name.split(maxsplit=1)[0]
    base, changes = CASES[name]
    assert confidence(rule, base) is HIGH
    found = [(changed, confidence(rule, {**base, **changed})) for changed, _ in changes]
    assert found == changes
