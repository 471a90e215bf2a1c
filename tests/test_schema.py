from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from advisor.explain import LEVER_EXAMPLES
from advisor.levers import LEVERS
from advisor.readers import read
from advisor.readers.dialect import FIELDS
from advisor.schema import SCHEMAS, schema_text
from advisor.source import Source, decode

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = sorted((ROOT / "fixtures" / "proposals").glob("**/*.yaml"))
SCHEMA = SCHEMAS["proposal"]()


def validate(text: str) -> None:
    for document in yaml.safe_load_all(text):
        jsonschema.validate(document, SCHEMA)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_committed_as_they_are_made(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name]())
    committed = ROOT / "schemas" / f"{name}.schema.json"
    assert committed.read_text(encoding="utf-8") == schema_text(name)


def test_the_schema_has_the_fields_of_the_dialect_and_no_others() -> None:
    assert list(SCHEMA["properties"]) == list(FIELDS)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_sample_proposals_hold_against_the_schema(path: Path) -> None:
    validate(decode(path.read_bytes()))


@pytest.mark.parametrize("kind", LEVERS)
def test_the_example_of_each_lever_is_read_and_holds_against_the_schema(kind: str) -> None:
    text = f"rooflint: 1\nlevers:\n  - {LEVER_EXAMPLES[kind]}\n"
    validate(text)
    reading = read(Source("a.yaml", text))
    assert not reading.problems
    assert {lever.lever.kind for lever in reading.proposals[0].levers} == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "rooflint: 1\nmodle: x\n",
        "rooflint: 2\n",
        "rooflint: 1\nhardware: {count: 2}\n",
        "rooflint: 1\nworkload: {phase: training}\n",
        "rooflint: 1\nlevers: [{weights: int4}]\n",
        "rooflint: 1\nlevers: [{kind: quantise, weights: int4}]\n",
        "rooflint: 1\nlevers: [{kind: quantize, wieghts: int4}]\n",
        "rooflint: 1\nlevers: [{kind: tensor_parallel}]\n",
        "rooflint: 1\nlevers: [{kind: batch, batch: [1, 2]}]\n",
        "rooflint: 1\nclaim: {speedup: 2}\n",
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate(text)
    assert read(Source("a.yaml", text)).problems


@pytest.mark.parametrize(
    "fields",
    [
        {"hardware": {"device": "h100-sxm", "count": 2}},
        {"engine": {"name": "vllm", "version": 0.11}},
        {"model": {"model_type": "llama"}, "x-owner": "the team"},
        {"workload": {"phase": "decode", "batch": "32", "context": "4k"}},
        {"measured": {"tpot": "26 ms"}, "diagnosis": ["a", "b"], "claim": "2x tokens/s"},
        {"levers": [{"kind": "speculate", "acceptance": "70%"}, {"kind": "early_exit",
                                                                 "mean_depth": "unknown"}]},
    ],
)  # fmt: skip
def test_the_schema_takes_what_people_write(fields: dict[str, Any]) -> None:
    text = yaml.safe_dump({"rooflint": 1, **fields})
    validate(text)
    assert not read(Source("a.yaml", text)).problems
