from __future__ import annotations

import pytest

from advisor.finding import Finding
from advisor.proposal import Proposal
from advisor.readers.python.reader import read
from advisor.source import Source
from advisor.suppress import find_suppressions


def reading(text: str) -> tuple[tuple[Proposal, ...], tuple[Finding, ...]]:
    found = read(Source("plan.py", text), named=True)
    return found.proposals, found.problems


def proposal(text: str) -> Proposal:
    proposals, problems = reading(text)
    assert problems == ()
    (one,) = proposals
    return one


LOAD = "from vllm import LLM\n"


def test_a_comment_in_the_header_states_the_context_of_the_file() -> None:
    found = proposal(
        '# rooflint: model=Llama-3.1-70B hardware="2 x H100 SXM" batch=1 context=4000 weights=fp8\n'
        '# rooflint: claim="1.5x decode"\n\n' + LOAD + 'LLM("m", enforce_eager=True)\n'
    )
    assert found.kind == "proposal"
    assert found.model is not None
    assert found.model.value == "Llama-3.1-70B"
    assert found.hardware is not None
    assert found.hardware.value == "2 x H100 SXM"
    assert found.workload.batch is not None
    assert found.workload.batch.value == 1
    assert found.workload.context is not None
    assert found.workload.context.value == 4000
    assert found.weights is not None
    assert found.weights.value == "fp8"
    assert [lever.claim.text for lever in found.levers if lever.claim] == ["1.5x decode"]


def test_a_comment_above_a_statement_is_about_the_statement() -> None:
    proposals, problems = reading(
        LOAD + "x = 1\n"
        '# rooflint: batch=8 claim="2x tokens/s"\n'
        'a = LLM("m", kv_cache_dtype="fp8")\n'
        'b = LLM("m", kv_cache_dtype="fp8")\n'
    )
    assert problems == ()
    by_kind = {one.kind: one for one in proposals}
    assert by_kind["proposal"].workload.batch is not None
    assert by_kind["configuration"].workload.batch is None


def test_a_comment_at_the_end_of_a_line_is_about_the_line() -> None:
    found = proposal(
        LOAD + 'LLM("m",\n    enforce_eager=True,  # rooflint: claim="1.2x"\n'
        '    kv_cache_dtype="auto")\n'
    )
    assert [lever.claim.text for lever in found.levers if lever.claim] == ["1.2x"]


@pytest.mark.parametrize(
    "head",
    ["from dataclasses import dataclass\n@dataclass\n", "from pydantic import BaseModel\n", ""],
    ids=["dataclass", "pydantic", "plain"],
)
def test_annotated_fields_are_levers_with_their_default_as_value(head: str) -> None:
    base = "(BaseModel)" if "pydantic" in head else ""
    found = proposal(
        "from typing import Annotated\n" + head + f"class Plan{base}:\n"
        '    sparsity: Annotated[float, "rooflint: prune.unstructured storage=dense"] = 0.3\n'
        '    width: Annotated[str, "rooflint: quantize.weights claim=1.8x"] = "int4-g128"\n'
        '    tp: Annotated[int, "rooflint: tensor_parallel"] = 2\n'
        '    name: Annotated[str, "rooflint: model"] = "Llama-3.1-8B"\n'
    )
    assert [lever.lever.machine_kind for lever in found.levers] == [
        "prune.unstructured", "quantize.weights.int4", "tensor_parallel",
    ]  # fmt: skip
    assert found.levers[0].lever.model_dump()["sparsity"] == pytest.approx(0.3)
    assert found.levers[1].claim is not None
    assert found.levers[1].claim.text == "1.8x"
    assert found.levers[2].lever.model_dump()["size"] == 2
    assert found.model is not None
    assert found.model.value == "Llama-3.1-8B"


LITERAL = """\
P = {"rooflint": 1, "model": "Llama-3.1-8B", "workload": {"batch": 1},
     "levers": [{"kind": "prune", "sparsity": 0.3, "storage": "dense", "claim": "1.4x"}]}
"""
CALL = """\
P = dict(rooflint=1, model="Llama-3.1-8B", workload=dict(batch=1),
         levers=[dict(kind="prune", sparsity="30%", storage="dense", claim="1.4x")])
"""
INSTANCE = """\
P = Proposal(rooflint=1, model="Llama-3.1-8B", workload=Workload(batch=1),
             levers=[Lever(kind="prune", sparsity="30%", storage="dense", claim="1.4x")])
"""


@pytest.mark.parametrize("text", [LITERAL, CALL, INSTANCE], ids=["literal", "call", "instance"])
def test_a_dict_or_instance_with_the_key_is_a_proposal(text: str) -> None:
    found = proposal(text)
    (lever,) = found.levers
    assert lever.lever.machine_kind == "prune.unstructured"
    assert lever.lever.model_dump()["sparsity"] == pytest.approx(0.3)
    assert lever.claim is not None
    assert lever.claim.text == "1.4x"
    assert found.workload.batch is not None
    assert text[lever.span.start : lever.span.end].startswith("kind")


@pytest.mark.parametrize(
    ("comment", "code", "words", "hint"),
    [
        ("modle=Llama-3.1-8B", "E903", "modle", "model"),
        ("context", "E902", "context", "context="),
        ("batch: 4", "E902", "batch: 4", "batch=4"),
        ("batch=many", "E905", "many", "batch"),
        ('claim="2x', "E902", '"2x', "quote"),
        ("", "E911", "rooflint:", "model="),
        ("prune.unstructurd", "E902", "prune.unstructurd", "model="),
    ],
)
def test_a_malformed_annotation_is_a_finding_with_the_right_form(
    comment: str, code: str, words: str, hint: str
) -> None:
    text = f"# rooflint: {comment}\n\nx = 1\n"
    _, problems = reading(text)
    (found,) = problems
    assert found.rule == code
    start, end = found.start.offset, found.end.offset
    assert words in text[start:end]
    assert hint in found.message + found.instead


def test_suppressions_cover_their_line_or_the_statement_below() -> None:
    text = (
        LOAD + 'a = LLM("m", enforce_eager=True)  # rooflint: ignore[ENG001] measured\n'
        "# rooflint: ignore[KV001] long contexts only\n"
        'b = LLM("m",\n        kv_cache_dtype="fp8")\n'
    )
    first, second = find_suppressions(Source("a.py", text))
    assert first.codes == ("ENG001",)
    assert second.codes == ("KV001",)
    assert first.scope is not None
    assert second.scope is not None
    assert text[second.scope.start : second.scope.end].startswith("b = LLM")
    assert text[second.scope.start : second.scope.end].endswith('"fp8")')
    assert text[first.scope.start : first.scope.end].startswith("a = LLM")


def test_words_in_strings_are_no_comments() -> None:
    text = 'x = "# rooflint: ignore[FLP002] no"\n'
    assert find_suppressions(Source("a.py", text)) == ()


def test_code_that_splits_is_held_against_one_device_however_many_are_named() -> None:
    found = proposal(
        '# rooflint: hardware="2 x H100 SXM"\n\n' + LOAD + 'LLM("m", tensor_parallel_size=2)\n'
    )
    assert found.splits.tensor is not None
    assert found.splits.tensor.value == 1
