"""JSON Schemas of what goes in and what comes out: proposals, and the machine formats.

The schema of proposals is made of the lever classes and of the table of top-level fields that the
reader itself uses; those of the machine formats are made of the models that write them. So a
schema cannot say anything else than the program does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from advisor.levers import LEVERS, lever_class
from advisor.levers.base import UNKNOWN, Open
from advisor.readers.dialect import FIELDS

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_NAME: Final = {"type": "string", "minLength": 1}
_COUNT: Final = {"type": ["integer", "string"], "minimum": 1}
_RATE: Final = {"type": ["number", "string"]}
_SENTENCES: Final = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
}


def proposal_schema() -> dict[str, Any]:
    """Of one document of a proposal file (YAML or JSON)."""
    fields = {name: {"description": FIELDS[name], **shape} for name, shape in _fields().items()}
    return {
        "$schema": _DRAFT,
        "title": "rooflint proposal",
        "description": "What somebody proposes to make LLM inference faster.",
        "type": "object",
        "properties": fields,
        "patternProperties": {"^x-": {"description": "the author's own"}},
        "additionalProperties": False,
        "$defs": {
            "claim": {"description": "what it is to bring", **_SENTENCES, "examples": ["1.8x"]},
            **{kind: _lever(kind) for kind in LEVERS},
        },
    }


def _fields() -> dict[str, dict[str, Any]]:
    return {
        "rooflint": {"const": 1},
        "title": {"type": "string"},
        "model": {"anyOf": [_NAME, {"type": "object"}], "examples": ["Llama-3.1-8B"]},
        "hardware": {
            "anyOf": [_NAME, _mapping({"device": _NAME, "count": _COUNT}, "device")],
            "examples": ["2 x H100 SXM"],
        },
        "parallelism": _mapping(
            dict.fromkeys(("tensor", "pipeline", "data", "expert", "attention_data"), _COUNT)
        ),
        "engine": {
            "anyOf": [
                _NAME,
                _mapping({"name": _NAME, "version": {"type": ["string", "number"]}}, "name"),
            ],
            "examples": ["vllm"],
        },
        "workload": _mapping(
            {
                "phase": {"enum": ["decode", "prefill"]},
                **dict.fromkeys(("batch", "context", "prompt", "output"), _COUNT),
            }
        ),
        "weights": {**_NAME, "examples": ["fp8", "int4-g128", "q4_k_m"]},
        "kv_cache": {**_NAME, "examples": ["bf16", "fp8"]},
        "activations": {**_NAME, "examples": ["bf16", "fp8"]},
        "lm_head": {**_NAME, "examples": ["bf16", "int8"]},
        "measured": {
            "anyOf": [
                {"type": "string", "pattern": r"\.json$", "examples": ["prove.json"]},
                _mapping(dict.fromkeys(("tpot", "itl", "tokens_per_second", "throughput"), _RATE)),
            ]
        },
        "diagnosis": {**_SENTENCES, "examples": ["decode is limited by memory bandwidth"]},
        "levers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind"],
                "properties": {
                    "kind": {
                        "description": "what is changed",
                        "anyOf": [
                            {"const": kind, "description": entry.about}
                            for kind, entry in LEVERS.items()
                        ],
                    }
                },
                "allOf": [
                    {
                        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
                        "then": {"$ref": f"#/$defs/{kind}"},
                    }
                    for kind in LEVERS
                ],
            },
        },
        "claim": {"$ref": "#/$defs/claim"},
    }


def _mapping(fields: Mapping[str, Any], *required: str) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "type": "object",
        "properties": dict(fields),
        "additionalProperties": False,
    }
    return {**shape, "required": list(required)} if required else shape


def _lever(kind: str) -> dict[str, Any]:
    """A lever's own schema, with the claim that every lever may carry."""
    found = lever_class(kind)
    made = found.model_json_schema()
    fields = {
        name: _lever_field(shape, may_be_unknown=Open in found.model_fields[name].metadata)
        for name, shape in made["properties"].items()
    }
    fields["claim"] = {"$ref": "#/$defs/claim"}
    return {
        "description": LEVERS[kind].about,
        "type": "object",
        "properties": fields,
        "required": ["kind", *(name for name in made.get("required", ()) if name != "kind")],
        "additionalProperties": False,
    }


def _lever_field(shape: Mapping[str, Any], *, may_be_unknown: bool) -> dict[str, Any]:
    """A field as people write it: no null, but `unknown` where a lever may hang on it."""
    kept = {key: value for key, value in shape.items() if key not in {"title", "default"}}
    choices = [one for one in kept.pop("anyOf", ()) if one.get("type") != "null"]
    if may_be_unknown:
        choices = [*(choices or [kept]), {"const": UNKNOWN}]
        return {"anyOf": choices}
    return (
        {**kept, **choices[0]}
        if len(choices) == 1
        else {**kept, "anyOf": choices}
        if choices
        else kept
    )


def check_schema() -> dict[str, Any]:
    """Of the output of `rooflint check --format json`."""
    from advisor.reports.records import CheckRecord  # noqa: PLC0415 - builds many models

    return {"$schema": _DRAFT, **CheckRecord.model_json_schema(mode="serialization")}


def audit_schema() -> dict[str, Any]:
    """Of the output of `rooflint audit --format json`."""
    from advisor.reports.records import AuditsRecord  # noqa: PLC0415 - builds many models

    return {"$schema": _DRAFT, **AuditsRecord.model_json_schema(mode="serialization")}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {"proposal": proposal_schema, "check": check_schema, "audit": audit_schema}
)


def schema_text(name: str) -> str:
    """A schema as it is printed and committed; KeyError for a name that is none of `SCHEMAS`."""
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"
