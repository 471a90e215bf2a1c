"""Judges of prose, slot by slot: what of a statement makes it wrong, unsure, or none of a rule's.

A case is a statement that is wrong and what becomes of it where one thing in it is different: the
confidence of the finding, or None where nothing is found.
"""

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
    LARGE,
    MEDIUM,
    PREFILL,
    UNKNOWN,
    Change,
    confidence,
)  # fmt: skip

CASES: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "FLP001 arithmetic": (
        {"cause": "FLOPS", "words": "8% fewer FLOPs"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None), (FAR, None), (LARGE, None),
            ({"words": "8% fewer FLOPs and half the bytes"}, None), ({"nearby": {"REMOVED"}}, None),
            ({"nearby": {"DISTILL"}}, None), ({"nearby": {"LAYERS"}}, None),
            ({"nearby": {"QUANT"}}, HIGH), ({"words": "a cheaper norm"}, None),
            ({"words": "8% fewer FLOPs and bytes"}, None), ({"cause": "QUANT"}, None),
        ],
    ),
    "FLP001 layers": (
        {"cause": "LAYERS", "nearby": {"DENSE"}},
        [
            ({"nearby": {"MASK"}}, HIGH), ({"nearby": set()}, None),
            ({"nearby": {"DENSE", "REMOVED"}}, None), ({"cause": "PRUNE"}, None),
        ],
    ),
    "FLP001 rank": (
        {"cause": "LOWRANK", "words": "factors multiplied back"},
        [({"words": "factors"}, None), ({"cause": "LAYERS"}, None)],
    ),
    "FLP002": (
        {"cause": "PRUNE", "clause": {"FASTER"}},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), (FAR, None),
            ({"cause": "QUANT"}, None), ({"kind": Kind.FIGURE}, None),
            ({"kind": Kind.SAVING}, HIGH), ({"nearby": {"REMOVED"}}, None),
            ({"nearby": {"PACKED"}}, None), ({"sentence": {"KVQ"}}, None),
            ({"sentence": {"SPEC"}}, None), ({"sentence": {"DISTILL"}}, None),
            ({"sentence": {"ACTQ"}}, None), ({"kind": Kind.SAVING, **UNKNOWN}, None),
            ({"kind": Kind.SAVING, "reach": 2}, HIGH), ({"kind": Kind.SAVING, "reach": 3}, None),
            ({"kind": Kind.SAVING, "nearby": {"MOE"}}, None), ({"nearby": {"MOE"}}, HIGH),
            ({"reach": 3}, MEDIUM), ({"reach": 3, "nearby": {"DENSE"}}, HIGH),
            ({"reach": 3, "clause": {"QUANT"}}, None), ({"reach": 2, "clause": {"QUANT"}}, HIGH),
            ({"reach": 3, "clause": {"QUANT", "PRUNE"}}, MEDIUM),
            (UNKNOWN, MEDIUM), ({**UNKNOWN, "nearby": {"LLM"}}, MEDIUM),
            ({**UNKNOWN, "nearby": {"LLM"}, "words": "zeros"}, HIGH),
            ({**UNKNOWN, "reach": 1, "nearby": {"DENSE"}, "words": "masked"}, HIGH),
            ({**UNKNOWN, "reach": 2}, MEDIUM),
            ({**UNKNOWN, "reach": 2, "nearby": {"DENSE"}, "words": "zeros"}, MEDIUM),
            ({**UNKNOWN, "reach": 2, "is_linked": False}, None),
            ({**UNKNOWN, "reach": 2, "is_linked": False, "nearby": {"DENSE"}}, MEDIUM),
            ({**UNKNOWN, "reach": 3, "nearby": {"DENSE"}}, None),
        ],
    ),
    "FLP003": (
        {"cause": "MASKED_HEADS"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), (FAR, None), (UNKNOWN, HIGH),
            ({"kind": Kind.SAVING}, HIGH), ({"kind": Kind.FIGURE}, None),
            ({"nearby": {"REMOVED"}}, HIGH), ({"cause": "PRUNE"}, None),
            ({"nearby": {"REMOVED"}, "words": "heads cut out of the tensors"}, None),
        ],
    ),
    "FLP004 advice": (
        {"kind": Kind.ADVICE, "clause": {"PEAK"}, "sentence": {"FASTER"}},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None), (LARGE, None), (FAR, None),
            ({"clause": set()}, None), ({"sentence": set()}, None), ({"sentence": {"RATE"}}, HIGH),
            ({"sentence": {"FASTER", "PREFILL"}}, None), ({"sentence": {"FASTER", "BYTES"}}, None),
            ({"phase_reach": 2, "is_linked": False}, MEDIUM), ({"phase_reach": 2}, HIGH),
            ({"phase_reach": 1, "is_linked": False}, HIGH),
            ({"phase_reach": 2, "is_linked": False, "is_single": True}, HIGH),
            ({"words": "more cores"}, MEDIUM), ({"words": "more cores", "speedup": 2.0}, HIGH),
            ({"words": "more tensor cores"}, HIGH),
        ],
    ),
    "FLP004 driven": (
        {"cause": "PEAK", "clause": {"FASTER"}, "words": "twice the TFLOPS"},
        [
            (AGGREGATE, None), ({"kind": Kind.FIGURE}, None), ({"cause": "QUANT"}, None),
            ({"clause": set()}, None), ({"clause": {"SINGLE"}}, HIGH), ({"kind": Kind.LOSS}, None),
            ({"kind": Kind.LOSS, "words": "a lower power cap"}, HIGH),
            ({"kind": Kind.LOSS, "words": "a lower power cap", "opener": "yet"}, None),
            ({"words": "despite twice the TFLOPS"}, None), ({"sentence": {"SPEC"}}, None),
            ({"sentence": {"PREFIX"}}, None), ({"words": "more TFLOPS"}, HIGH),
            ({"words": "more TFLOPS, 2 TB/s instead of 1 TB/s"}, None),
            ({"words": "more TFLOPS", "sentence": {"BYTES"}}, None),
        ],
    ),
    "FLP007": (
        {"cause": "MATMUL"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None), (LARGE, None), (AGGREGATE, None),
            ({"clause": {"BYTES"}}, None), ({"words": "a faster GEMV"}, None),
            ({"words": "fewer launches"}, None), ({"cause": "QUANT"}, None),
            ({"earlier": ((Phase.PREFILL, 2.0, None),), "clause": {"DECODE", "TRANSFER"}}, None),
        ],
    ),
    "FLP008 gain": (
        {"cause": "ACTQ", "is_single": True, "words": "8-bit activations"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None), ({"cause": "QUANT"}, None),
            ({"is_single": False}, MEDIUM), ({"words": "W8A8"}, None),
            ({"words": "W4A16 to W4A8"}, HIGH), ({"words": "W8A16 to W8A8"}, HIGH),
            ({"words": "W8A16 to W4A8"}, None), ({"words": "W16A16 to W8A8 activations"}, None),
            ({"words": "8-bit activations", "is_single": False}, MEDIUM),
            ({"words": "8-bit weights and activations"}, None),
            ({"words": "the weights are already 4 bits", "is_single": False}, HIGH),
        ],
    ),
    "FLP008 driver": (
        {"kind": Kind.INPUTS_DRIVE, "nearby": {"ACTQ"}, "is_single": True},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), (UNKNOWN, HIGH),
            ({"is_single": False}, None), ({"nearby": set()}, None),
            ({"nearby": set(), "words": "hidden states"}, HIGH),
        ],
    ),
    "FLP008 bytes": (
        {"kind": Kind.SAVING, "cause": "ACTQ", "is_single": True, "words": "8-bit activations"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), ({"is_single": False}, MEDIUM),
            ({"words": "8-bit weights and activations"}, None), ({"cause": "QUANT"}, None),
            ({"words": "activations: half the activation traffic"}, None),
        ],
    ),
    "CAP001 gain": (
        {"cause": "CAPACITY", "sentence": {"CAPACITY"}, "words": "more VRAM"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), (AGGREGATE, None),
            ({"sentence": set()}, None), ({"kind": Kind.FIGURE}, None),
            ({"sentence": {"CAPACITY", "QUANT"}}, None), ({"cause": "QUANT"}, None),
            ({"cause": "HARDWARE"}, HIGH), ({"words": "a card"}, None),
            ({"words": "more VRAM, it did not fit"}, None),
            ({"words": "more VRAM and bandwidth"}, None),
            ({"words": "more VRAM at the same bandwidth"}, HIGH),
            ({"words": "more VRAM, the memory is faster"}, None), (UNKNOWN, MEDIUM),
            ({**UNKNOWN, "nearby": {"TOKENS"}}, HIGH),
            ({**UNKNOWN, "words": "more VRAM, it fits"}, HIGH),
            ({"words": "paged attention"}, None),
            ({"words": "paged attention", "clause": {"SINGLE"}}, HIGH),
        ],
    ),
    "CAP001 ratio": (
        {"speedup": 2.0, "words": "48 GB instead of 24 GB"},
        [
            ({"speedup": 2.1}, HIGH), ({"speedup": 1.9}, HIGH), ({"speedup": 2.15}, None),
            ({"speedup": None}, None), ({"words": "triple the memory", "speedup": 3.0}, HIGH),
            ({"words": "triple the memory"}, None), (UNKNOWN, None),
            ({**UNKNOWN, "is_single": True}, HIGH),
            ({"words": "four times the memory", "speedup": 4.0}, HIGH),
            ({"words": "twice the memory"}, HIGH), ({"words": "48 GB of weights"}, None),
        ],
    ),
    "CAP001 advice": (
        {
            "kind": Kind.ADVICE, "clause": {"CAPACITY"}, "sentence": {"CAPACITY", "FASTER"},
            "words": "the card with more memory",
        },
        [
            (UNKNOWN, None), ({"clause": set()}, None), ({"sentence": {"CAPACITY"}}, None),
            ({"sentence": {"CAPACITY", "RATE"}}, HIGH), ({"words": "for more users"}, None),
        ],
    ),
    "BAT002": (
        {"cause": "BATCH", "is_single": True, "clause": {"SINGLE"}, "words": "a larger batch"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), (FAR, None), (AGGREGATE, None),
            ({"sentence": {"SPEC"}}, None), ({"words": "a larger batch, a shorter queue"}, None),
            ({"words": "a smaller batch"}, None),
            ({"clause": {"TIME"}, "is_single": False}, MEDIUM),
            ({"clause": set()}, None),
            ({"clause": set(), "words": "a larger batch, each user"}, HIGH),
            ({"kind": Kind.FIGURE}, None), ({"cause": "QUANT"}, None),
            ({"cause": None, "clause": {"TIME"}, "words": "batch from 1 to 16"}, HIGH),
            ({"cause": None, "clause": {"TIME"}, "words": "batch from 16 to 1"}, None),
            ({"cause": None, "clause": {"TIME"}, "words": "batch from 1 to 16", **UNKNOWN}, None),
        ],
    ),
    "PHS001 prefix": (
        {"cause": "PREFIX", "clause": {"DECODE"}, "words": "each token is faster"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None), ({"clause": {"RATE"}}, HIGH),
            ({"clause": {"DECODE", "PREFILL"}}, HIGH), ({"clause": set()}, None),
            ({"reach": 2}, HIGH), ({"reach": 3}, None), ({"words": "the first token"}, None),
            ({"words": "a response is faster"}, None),
        ],
    ),
    "PHS001 alike": (
        {"cause": "QUANT", "nearby": {"PREFILL", "DECODE"}, "words": "both are GEMMs"},
        [
            ({"cause": "PRUNE"}, None), ({"nearby": {"DECODE"}}, None), ({"words": "GEMMs"}, None),
        ],
    ),
    "PHS001 attention": (
        {"cause": "ATTN", "frame": Frame(context=512)},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None), ({"cause": "KVQ"}, None),
            ({"frame": Frame(context=4096)}, HIGH), ({"frame": Frame(context=4097)}, None),
            ({"frame": Frame()}, MEDIUM), ({"frame": Frame(), "nearby": {"SHORT"}}, HIGH),
            ({"sentence": {"LONG"}}, None), ({"sentence": {"LONG", "SHORT"}}, HIGH),
            ({"kind": Kind.DRIVER}, HIGH), ({"kind": Kind.DRIVER, **UNKNOWN}, None),
        ],
    ),
    "PHS001 rate": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 10.0, "clause": {"TRANSFER"},
            "earlier": ((Phase.PREFILL, None, 10.0),),
        },
        [
            (DENIED, None), (UNKNOWN, None), ({"clause": set()}, None), ({"tpot_ms": None}, None),
            ({"tpot_ms": 10.5}, HIGH), ({"tpot_ms": 10.7}, None), ({"tpot_ms": 9.3}, None),
            ({"earlier": ((Phase.DECODE, None, 10.0),)}, None),
            ({"earlier": ((Phase.PREFILL, 2.0, None),)}, None),
        ],
    ),
    "PHS001 words": (
        {
            "kind": Kind.FIGURE, "nearby": {"PREFILL"},
            "words": "prompts at 8,000 tok/s, and therefore also 8,000 tok/s",
        },
        [
            ({"nearby": set()}, None), (UNKNOWN, None), (DENIED, None),
            ({"words": "prompts at 8,000 tok/s, and therefore 80 tok/s"}, None),
            ({"words": "prompts at 8,000 tok/s, not 8,000 tok/s"}, None),
        ],
    ),
    "PHS002 same": (
        {"cause": "QUANT", "clause": {"PREFILL"}, "words": "and will do the same for prompts"},
        [
            (HEDGED, MEDIUM), (DENIED, None), ({"kind": Kind.FIGURE}, None),
            ({"clause": set()}, None), ({"cause": "KVQ"}, None), ({"words": "and prompts"}, None),
        ],
    ),
    "PHS002 carried": (
        {
            **PREFILL, "clause": {"PREFILL"}, "opener": "so",
            "earlier": ((Phase.DECODE, 3.0, None),),
        },
        [
            (UNKNOWN, None), ({"opener": "and"}, None), ({"earlier": ()}, None),
            ({"opener": "and", "clause": {"PREFILL", "TRANSFER"}}, HIGH), ({"clause": set()}, None),
            ({"earlier": ((Phase.PREFILL, 3.0, None),)}, None), (DENIED, None),
        ],
    ),
    "PRE003": (
        {"cause": "S24"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None), (LARGE, None),
            ({"cause": "PRUNE"}, None),
            ({"clause": {"PREFILL"}}, None), ({"nearby": {"PACKED"}}, None),
            ({"nearby": {"PACKED"}, "speedup": 1.8}, None),
            ({"nearby": {"PACKED"}, "speedup": 1.9}, HIGH), ({"speedup": 1.2}, HIGH),
        ],
    ),
    "SPC003 free": (
        {
            "kind": Kind.FREE, "sentence": {"SPEC"}, "nearby": {"SPEC"},
            "words": "rejected drafts cost nothing",
        },
        [
            (HEDGED, MEDIUM), (DENIED, None), ({"nearby": set()}, None),
            ({"sentence": set()}, HIGH), ({"sentence": set(), "is_linked": False}, None),
        ],
    ),
    "SPC003 gain": (
        {"sentence": {"SPEC", "ALWAYS"}, "nearby": {"SPEC"}},
        [
            ({"sentence": {"SPEC"}}, None), ({"kind": Kind.FIGURE}, None),
            ({"sentence": {"SPEC", "LARGE_BATCH"}}, HIGH),
            ({"sentence": {"SPEC"}, "frame": Frame(batch=64)}, HIGH),
            ({"sentence": {"SPEC"}, "frame": Frame(batch=63)}, None),
            ({"sentence": {"SPEC"}, "frame": Frame(batch=64), "words": "it is off"}, None),
        ],
    ),
    "SPC003 never": (
        {
            "kind": Kind.LOSS, "sentence": {"SPEC"}, "nearby": {"SPEC"}, **DENIED,
            "words": "it is never slower",
        },
        [
            ({"status": Status.ASSERTED}, HIGH), ({"words": "it is slower"}, None),
            ({"nearby": set()}, None), ({"kind": Kind.GAIN}, None),
        ],
    ),
    "SPC003 drafts": (
        {
            "sentence": {"SPEC"}, "nearby": {"SPEC"}, "speedup": 5.0,
            "words": "drafting five tokens",
        },
        [
            ({"speedup": None}, None), ({"speedup": 4.75}, HIGH), ({"speedup": 4.7}, None),
            ({"speedup": 6.3}, HIGH), ({"speedup": 6.4}, None), ({"words": "drafting"}, None),
            ({"words": "drafting five tokens, all accepted"}, None),
            ({"words": "drafting 1 token", "speedup": 1.0}, None),
            ({"words": "5 draft tokens"}, HIGH),
        ],
    ),
    "TXT001 bound": (
        {"kind": Kind.BOUND, "words": "arithmetic"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (PREFILL, None), (LARGE, None), (UNKNOWN, None),
            ({"words": "with MLA"}, None), ({"words": "with MLA", "frame": Frame(batch=1)}, HIGH),
            ({"words": "with 64 sequences"}, None), ({"words": "with 2 sequences"}, HIGH),
            ({"words": "the attention kernel"}, MEDIUM), ({"phase_reach": 4}, MEDIUM),
            ({"words": "intensity of 2 against a ridge of 295 FLOP/B", **UNKNOWN}, HIGH),
            ({"words": "intensity of 270 against a ridge of 295 FLOP/B"}, None),
        ],
    ),
    "TXT001 busy": (
        {"kind": Kind.UTILISATION, "speedup": 0.5},
        [
            (UNKNOWN, None), ({"speedup": None}, None), ({"speedup": 0.1}, HIGH),
            ({"speedup": 0.09}, None), ({"sentence": {"PREFILL"}}, None),
        ],
    ),
    "TXT003": (
        {
            "kind": Kind.NO_GAIN, "cause": "QUANT", "is_single": True, "opener": "so",
            "words": "the FLOPs stay",
        },
        [
            (UNKNOWN, None), ({"kind": Kind.GAIN}, None), ({"cause": "SPEC"}, HIGH),
            ({"cause": "PRUNE"}, None), ({"words": "the format stays"}, None),
            ({"words": "the FLOPs stay?"}, None), ({"sentence": {"ACTQ"}}, None),
            ({"opener": "but"}, None), ({"is_single": False}, None),
            ({"frame": Frame(batch=32)}, None), ({"cause": "GQA", "nearby": {"LONG"}}, HIGH),
            ({"cause": "GQA"}, None),
        ],
    ),
    "CLM001 smaller": (
        {"cause": "DISTILL", "speedup": 15.0, "words": "8B instead of 70B"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None), ({"speedup": 9.0}, None),
            ({"speedup": None}, None), ({"words": "8B"}, None), ({"kind": Kind.FIGURE}, None),
        ],
    ),
    "CLM001 cache": (
        {"cause": "KVQ", "frame": Frame(context=2048)},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None),
            ({"frame": Frame(context=2049)}, None),
            ({"frame": Frame()}, None), ({"frame": Frame(), "nearby": {"SHORT"}}, HIGH),
            ({"sentence": {"LONG"}}, None), ({"cause": "GQA"}, None),
        ],
    ),
    "CLM002": (
        {"cause": "QUANT", "speedup": 3.0, "words": "INT8 instead of FP16"},
        [
            (HEDGED, MEDIUM), (DENIED, None), (UNKNOWN, None),
            ({**UNKNOWN, "is_single": True}, HIGH),
            (AGGREGATE, None), (LARGE, None), ({"cause": "PRUNE"}, None),
            ({"cause": "MATMUL"}, HIGH), ({"speedup": 2.2}, None), ({"speedup": 2.25}, HIGH),
            ({"speedup": None}, None), ({"sentence": {"SPEC"}}, None),
            ({"words": "INT8 instead of FP16, it fits"}, None), ({"words": "INT8"}, HIGH),
            ({"words": "FP16"}, None), ({"kind": Kind.FIGURE}, None),
        ],
    ),
    "CLM006": (
        {
            "kind": Kind.FIGURE, "tpot_ms": 5.0, "is_single": True, "words": "tokens/s",
            "frame": Frame(weight_bytes=14e9, bandwidth_gbs=1000.0),
        },
        [
            (HEDGED, None), (DENIED, None), (PREFILL, None), (UNKNOWN, HIGH), (AGGREGATE, None),
            ({"tpot_ms": None}, None), ({"tpot_ms": 13.3}, HIGH), ({"tpot_ms": 13.4}, None),
            ({"tpot_ms": 2.0}, HIGH),
            (
                {
                    "is_single": False,
                    "frame": Frame(weight_bytes=14e9, bandwidth_gbs=1000.0, batch=2),
                },
                None,
            ),
            ({"kind": Kind.GAIN}, HIGH), ({"kind": Kind.SAVING}, None), ({"frame": Frame()}, None),
            ({"is_single": False}, HIGH), ({"is_single": False, "tpot_ms": 2.0}, MEDIUM),
            ({"is_single": False, "nearby": {"BATCH"}}, MEDIUM), ({"nearby": {"OFFLOAD"}}, None),
            ({"nearby": {"SPEC"}}, None), ({"words": "requests"}, None),
            ({"words": "at most so many tokens/s"}, None), ({"around": {"MOE"}}, None),
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
