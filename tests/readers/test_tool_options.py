"""Options of tools that make or run models, by the tools' own help."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.readers.options import OPEN, Setting, read_option

DENSE = {"storage": "dense"}


def settings(tool: str, name: str, value: Any) -> list[tuple[str, dict[str, Any]]]:
    effects = read_option(tool, name, value)
    assert effects is not None
    return [(one.kind, dict(one.fields)) for one in effects if isinstance(one, Setting)]


@pytest.mark.parametrize(
    ("tool", "name", "value", "kind", "fields"),
    [
        # Zeros that stay in dense tensors, and widths that are only rounded to.
        ("wanda", "sparsity_type", "4:8", "prune", {"pattern": "2:4", **DENSE}),
        ("wanda", "sparsity_type", "unstructured", "prune", {"pattern": "unstructured", **DENSE}),
        ("sparsegpt", "sparsity", "0.5", "prune", {"sparsity": 0.5, **DENSE}),
        ("sparsegpt", "sparsity", "half", "prune", {"sparsity": "unknown"}),
        ("sparsegpt", "prunen", "2", "prune", {"pattern": "2:4", **DENSE}),
        ("sparsegpt", "wbits", "4", "quantize", {"weights": "int4", "packed": False}),
        ("rotation", "w_bits", "4", "quantize", {"weights": "int4", "packed": False}),
        ("rotation", "k_bits", "4", "quantize", {"kv_cache": "int4", "in_kernel": False}),
        # Rows and columns that are cut out.
        ("slicegpt", "sparsity", "0.25", "prune",
         {"pattern": "channels", "storage": "removed", "sparsity": 0.25}),
        ("llm-pruner", "pruning_ratio", "0.2", "prune", {"pattern": "channels", "sparsity": 0.2}),
        # Formats that are written out.
        ("awq", "w_bit", "4", "quantize", {"weights": "int4"}),
        ("awq", "w_bit", OPEN, "quantize", {"weights": "auto"}),
        ("mlx", "q-bits", "8", "quantize", {"weights": "int8"}),
        ("modelopt", "qformat", "nvfp4", "quantize", {"weights": "nvfp4"}),
        ("modelopt", "auto_quantize_bits", "4.8", "quantize", {"weights": "mixed"}),
        ("modelopt", "sparsity_fmt", "sparsegpt", "prune", {"pattern": "2:4"}),
        ("executorch", "qmode", "8da4w", "quantize", {"weights": "int4"}),
        ("executorch", "qmode", "int8", "quantize", {"weights": "int8"}),
        ("torchchat", "quantize", {"linear:int4": {"groupsize": 256}}, "quantize",
         {"weights": "int4"}),
        ("torchchat", "quantize", {"linear:a8w4dq": {"groupsize": 256}}, "quantize",
         {"weights": "int4"}),
        ("litgpt", "quantize", "bnb.nf4", "quantize", {"weights": "nf4"}),
        ("litgpt", "quantize", "bnb.nf4-dq", "quantize", {"weights": "nf4-dq"}),
        ("litgpt", "quantize", "bnb.int8", "quantize", {"weights": "int8-bnb"}),
        ("lightllm", "mode", "triton_int8kv", "quantize", {"kv_cache": "int8"}),
        # Where bytes live, and which tokens stay.
        ("flexgen", "percent", "20", "offload", {"weights": "unknown"}),
        ("small-cache", "press_name", "snapkv", "prune", {"pattern": "kv_tokens"}),
        ("mlx", "max-kv-size", "512", "prune", {"pattern": "kv_tokens", "kept": 512}),
    ],
)  # fmt: skip
def test_what_an_option_sets(
    tool: str, name: str, value: Any, kind: str, fields: dict[str, Any]
) -> None:
    ((found, known),) = settings(tool, name, value)
    assert found == kind
    told = {key: known.get(key) for key in fields}
    if isinstance(told.get("weights"), str):  # with or without the group
        told["weights"] = str(told["weights"]).removesuffix("-g128")
    assert told == fields


@pytest.mark.parametrize(
    ("tool", "name", "value"),
    [
        ("sparsegpt", "sparsity", "0"),
        ("sparsegpt", "prunen", "0"),
        ("sparsegpt", "wbits", "16"),
        ("rotation", "k_bits", OPEN),
        ("rotation", "a_bits", "4"),
        ("wanda", "sparsity_ratio", "0.5"),
        ("modelopt", "sparsity_fmt", "dense"),
        ("modelopt", "auto_quantize_bits", None),
        ("flexgen", "percent", "100"),
        ("torchchat", "quantize", {"embedding": {"bitwidth": 8}}),
        ("litgpt", "quantize", "other"),
        ("small-cache", "press_name", None),
    ],
)
def test_what_sets_nothing(tool: str, name: str, value: Any) -> None:
    assert settings(tool, name, value) == []
