"""Bad input: each file with the findings it must give, and what is still read of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.finding import Confidence, Finding, Severity
from advisor.problems import MAX_PROBLEMS, PROBLEMS
from advisor.proposal import Reading
from advisor.readers import read
from advisor.readers.discover import discover
from advisor.source import DecodingError, Source, decode

BROKEN = Path(__file__).parents[2] / "fixtures" / "broken"

# file -> (code, line, words of the message or of what to do instead) in the order of the text
EXPECTED = {
    "empty.proposal.yaml": [("E911", 1, "begin with rooflint: 1")],
    "only_comments.proposal.yaml": [("E911", 1, "only comments")],
    "sentence.proposal.yaml": [("E904", 1, "a proposal is a mapping")],
    "list.proposal.yaml": [("E904", 1, "not a list")],
    "unknown_keys.yaml": [
        ("E903", 3, "did you mean hardware?"),
        ("E903", 4, "did you mean batch?"),
        ("E903", 4, "did you mean context?"),
        ("E903", 5, "did you mean tensor?"),
        ("E903", 7, "did you mean parallelism: {tensor: ...}?"),
        ("E903", 10, "did you mean sparsity?"),
        ("E903", 13, "did you mean weights?"),
        ("E903", 17, "known: weights, kv_cache, activations"),
    ],
    "wrong_types.yaml": [
        ("E904", 2, "title is text, not a list"),
        ("E904", 3, "write model: Llama-3.1-8B"),
        ("E911", 4, "{device: h100-sxm, count: 2}"),
        ("E904", 5, "engine.name is text, not a mapping"),
        ("E904", 6, "write workload: {phase: decode, batch: 1, context: 4096}"),
        ("E904", 7, "write measured: {tpot: 26 ms}"),
        ("E904", 8, "a sentence or a list of sentences, not a mapping"),
        ("E904", 10, "write - kind: quantize"),
        ("E904", 11, "kind is a word, not a list"),
        ("E911", 12, "write - kind: prune"),
        ("E904", 14, "an amount such as 30%, not a mapping"),
        ("E904", 15, "one of unstructured, 2:4, block"),
        ("E904", 17, "true or false, not 'perhaps'"),
        ("E905", 20, "write claim: 2x"),
    ],
    "unreadable_quantities.yaml": [
        ("E905", 3, "cannot read 'many'"),
        ("E905", 3, "'-4k' is negative"),
        ("E905", 3, "is a range"),
        ("E905", 4, "can be read: 26 ms"),
        ("E905", 4, "write tokens_per_second: 83 tokens/s"),
        ("E905", 7, "'130%' is more than the whole"),
        ("E905", 9, "2.5 is not a whole number"),
        ("E905", 10, "can be read: 30%, 0.3"),
        ("E905", 12, "can be read: 70 GB"),
    ],
    "unknown_names.yaml": [
        ("E906", 2, "did you mean decode?"),
        ("E906", 4, "did you mean quantize?"),
        ("E906", 6, "did you mean tensor_parallel?"),
        ("E906", 8, "did you mean quantize?"),
        ("E906", 10, "did you mean int4-g128"),
        ("E906", 12, "did you mean dense"),
        ("E906", 14, "did you mean gqa?"),
        ("E906", 15, "known: quantize, prune"),
    ],
    "missing.yaml": [
        ("E911", 2, "engine needs its name"),
        ("E911", 4, "write batch: 8"),
        ("E911", 5, "give weights, kv_cache, activations or lm_head"),
        ("E911", 7, "window: 4096"),
        ("E911", 9, "- kind: quantize"),
        ("E911", 10, "- kind: quantize"),
    ],
    "second_colon.yaml": [("E902", 2, 'quote a value that holds ": "')],
    "open_quote.yaml": [("E902", 2, "close the quote")],
    "open_list.yaml": [("E902", 3, "close it: }")],
    "tab.yaml": [("E902", 3, "indent with spaces")],
    "outdented.yaml": [("E902", 5, "align it with the keys above it")],
    "merge_conflict.yaml": [("E902", 2, "choose one side")],
    "template.yaml": [("E904", 2, "render templates first")],
    "duplicate_keys.yaml": [
        ("E910", 6, "the one at line 5 holds"),
        ("E910", 8, "the one at line 2 holds"),
    ],
    "merge_keys.yaml": [],
    "aliases.yaml": [
        ("E902", 2, "nothing before this is named &format"),
        ("E902", 3, "would hold itself"),
        ("E904", 5, "<<: *defaults"),
    ],
    "alias_bomb.yaml": [("E908", 6, "aliases counted as what they stand for")],
    "tags.yaml": [
        ("E912", 2, "'!!python/object/apply:os.system' is not acted on"),
        ("E904", 2, "title is text"),
        ("E912", 3, "'!include' is not acted on"),
    ],
    "version.yaml": [("E913", 1, "reads version 1")],
    "version_word.yaml": [("E904", 1, "write rooflint: 1")],
    "documents.yaml": [
        ("E911", 5, "begin it with rooflint: 1"),
        ("E904", 10, "not a list"),
        ("E902", 14, "close the list with ]"),
    ],
}  # fmt: skip


def words(finding: Finding) -> str:
    return f"{finding.message} | {finding.instead}"


def read_file(name: str) -> Reading:
    path = BROKEN / name
    return read(Source(name, decode(path.read_bytes())))


def test_every_broken_file_is_tested() -> None:
    assert {path.name for path in BROKEN.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_broken_file_gives_each_finding_at_its_line(name: str) -> None:
    found = read_file(name).problems
    expected = EXPECTED[name]
    assert [(f.rule, f.start.line) for f in found] == [(code, line) for code, line, _ in expected]
    for finding, (code, _, right) in zip(found, expected, strict=True):
        assert right in words(finding)
        assert finding.path == name
        assert finding.name == PROBLEMS[code].name
        assert (finding.severity, finding.confidence) == (Severity.ERROR, Confidence.HIGH)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("unknown_keys.yaml", ["quantize.weights.int4"]),  # a key of its own hides no lever
        ("wrong_types.yaml", ["quantize.weights.fp8"]),
        ("unreadable_quantities.yaml", ["batching"]),
        ("unknown_names.yaml", ["batching"]),
        ("duplicate_keys.yaml", ["prune.unstructured"]),
        ("merge_keys.yaml", ["prune.unstructured"] * 3),
        ("documents.yaml", ["batching"]),
        ("version.yaml", []),
    ],
)
def test_what_is_wrong_hides_nothing_else(name: str, kinds: list[str]) -> None:
    levers = [lever for proposal in read_file(name).proposals for lever in proposal.levers]
    assert [proposed.lever.machine_kind for proposed in levers] == kinds


def test_a_typing_error_in_a_field_is_not_taken_for_its_default() -> None:
    # `sparcity: 30%` is no proposal to prune the default part of the weights.
    (proposal,) = read_file("unknown_keys.yaml").proposals
    assert "prune" not in [proposed.lever.kind for proposed in proposal.levers]


def test_the_first_of_two_keys_holds() -> None:
    reading = read_file("duplicate_keys.yaml")
    (proposal,) = reading.proposals
    assert proposal.weights is not None
    assert proposal.weights.value == "fp8"
    assert proposal.levers[0].lever.model_dump()["sparsity"] == 0.3
    (note,) = reading.problems[0].notes
    assert note.span is not None
    assert reading.source.slice(note.span) == "sparsity: 30%"


def test_anchors_and_merge_keys_make_levers_where_they_are_used() -> None:
    reading = read_file("merge_keys.yaml")
    (proposal,) = reading.proposals
    assert proposal.kv_cache is not None
    assert proposal.kv_cache.value == "fp8"
    first, second, third = proposal.levers
    assert [reading.source.position(lever.span.start).line for lever in (first, second)] == [10, 12]
    assert first.claim is not None
    assert first.claim.text == "1.3x"
    assert third.lever == first.lever
    values = second.lever.model_dump()
    assert (values["sparsity"], values["storage"], values["kernel"]) == (0.6, "bitmap", "spinfer")


DEEP = ("[" * 10_000, "- " * 10_000, "{a: " * 10_000, "a: " + "[" * 10_000 + "]" * 10_000)


@pytest.mark.parametrize("text", DEEP)
def test_ten_thousand_levels_are_one_finding(text: str) -> None:
    (problem,) = read(Source("deep.proposal.yaml", text)).problems
    assert (problem.rule, problem.start.line) == ("E908", 1)


@pytest.mark.parametrize(
    ("data", "line", "right"),
    [
        (b"rooflint: 1\nmodel: caf\xe9\n", 2, "save as UTF-8"),
        (b"rooflint: 1\r\nmodel: x\r\ntitle: \xff\n", 3, "save as UTF-8"),
        (b"rooflint: 1\nmodel: a\0b\n", 2, "NUL"),
        ("rooflint: 1\n".encode("utf-16-le"), 1, "UTF-16 without a byte-order mark"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, line: int, right: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(data)
    (found,) = discover([str(path)])
    assert isinstance(found.content, Finding)
    assert (found.content.rule, found.content.start.line) == ("E907", line)
    assert right in found.content.message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_that_are_read(
    tmp_path: Path, encoding: str, line_end: str
) -> None:
    path = tmp_path / "a.yaml"
    lines = [
        "rooflint: 1",
        "title: ⚡ schnell",
        "levers:",
        "  - kind: quantize",
        "    weights: int9",
    ]
    path.write_bytes(line_end.join(lines).encode(encoding))
    (found,) = discover([str(tmp_path)])
    assert isinstance(found.content, Source)
    (problem,) = read(found.content).problems
    assert (problem.start.line, problem.start.column, problem.end.column) == (5, 14, 18)
    (proposal,) = read(found.content).proposals
    assert proposal.title == "⚡ schnell"


# Files that are somebody else's

NO_PROPOSAL = (
    "version: 3\nservices: {}\n",
    "- hosts: all\n  tasks: []\n",
    "a: {{ x }}\nb: [\n",
    "{}",
)


@pytest.mark.parametrize("text", NO_PROPOSAL)
def test_a_file_of_another_tool_is_told_only_if_named(text: str) -> None:
    source = Source("values.yaml", text)
    assert read(source, named=False) == Reading(source)
    (problem,) = read(source, named=True).problems
    assert (problem.rule, problem.severity) == ("E914", Severity.INFO)
    assert "rooflint: 1" in problem.instead


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "E911"),
        ("# nothing yet\n", "E911"),
        ("faster decode\n", "E904"),
        ("- int4\n- 2:4 pruning\n", "E904"),
        ("- kind: quantize\n  weights: int4\n", "E904"),
        ("model: Llama-3.1-8B\nlevers: []\n", "E911"),
        ("model: Llama-3.1-8B\nclaim: a: b\n", "E902"),
    ],
)
def test_a_named_file_that_was_to_be_a_proposal_is_an_error(text: str, code: str) -> None:
    source = Source("a.yaml", text)
    (problem,) = read(source, named=True).problems
    assert (problem.rule, problem.severity, problem.start.line > 0) == (code, Severity.ERROR, True)
    assert not read(source, named=False).problems


@pytest.mark.parametrize(
    "text",
    [
        "rooflint: 1\nmodel: [\n",
        '{"model": "x", "rooflint": 1, ',
        '{\n  "rooflint": 1,\n  "model": [\n',
        "'rooflint': 1\na: 'b\n",
    ],
)
def test_a_broken_proposal_in_a_folder_is_told(text: str) -> None:
    (problem,) = read(Source("a.yaml", text), named=False).problems
    assert problem.rule == "E902"


def test_a_word_of_rooflint_makes_no_proposal() -> None:
    hooks = "repos:\n  - repo: https://example.com/rooflint\n    hooks: [{id: rooflint}]\n"
    assert not read(Source(".pre-commit-config.yaml", hooks), named=False).problems
    assert not read(Source("x.yaml", f"{hooks}  broken: [\n"), named=False).problems


def test_a_file_of_no_known_kind_is_read_if_it_says_rooflint() -> None:
    text = "rooflint: 1\ntitle: yes\n"
    for path in ("proposal", "-"):
        (proposal,) = read(Source(path, text)).proposals
        assert proposal.title == "yes"
    (problem,) = read(Source("notes.log", "hello")).problems
    assert (problem.rule, problem.severity) == ("E914", Severity.INFO)
    assert not read(Source("notes.log", "hello"), named=False).problems


@pytest.mark.parametrize(
    ("text", "code", "right"),
    [
        ("model: ''", "E904", "write model: Llama-3.1-8B"),
        (f"title: {'x' * 400}", "E904", "400 characters long"),
        (f"workload: {{batch: {'8' * 400}}}", "E905", "400 characters long"),
        (f"claim: {'2x ' * 2000}", "E904", "one thing in a sentence"),
        ("hardware: {device: [a]}", "E904", "write hardware.device: h100-sxm"),
        ("engine: true\nworkload: true", "E904", "a mapping, not true or false"),
        ("levers: {kind: prune}", "E904", "begin each lever with - kind: quantize"),
        ("levers:\n  - kind: prune\n    sparsity: true", "E905", "can be read: 30%"),
        ("measured: {throughput: fast}", "E905", "can be read: 83 tokens/s"),
        ("title: a\n...\nclaim: b", "E902", "begin the next document with ---"),
        ("claim: @here", "E902", 'quote it: "@..."'),
        ("claim: [a,, b]", "E902", "a value is missing here"),
        ("<<: [1]", "E904", "<<: *defaults"),
        ("claim: !<x", "E902", "not well-formed YAML"),
        ("title: a\n---\n" * 501, "E908", "more than 500 documents"),
    ],
)
def test_what_else_can_be_wrong(text: str, code: str, right: str) -> None:
    (problem,) = read(Source("a.proposal.yaml", text)).problems
    assert problem.rule == code
    assert right in words(problem)


def test_a_mistake_used_through_aliases_is_told_once() -> None:
    text = "x-a: &a {batchsize: 8}\nworkload: *a\n---\nx-b: &b {kinds: 1}\nlevers: [*b, *b]\n"
    problems = read(Source("a.proposal.yaml", text)).problems
    assert [(problem.rule, problem.start.line) for problem in problems] == [
        ("E903", 1),
        ("E911", 4),
    ]


def test_problems_beyond_a_page_are_not_listed() -> None:
    text = "rooflint: 1\n" + "".join(f"key{number}: 1\n" for number in range(MAX_PROBLEMS * 3))
    problems = read(Source("a.yaml", text)).problems
    assert len(problems) == MAX_PROBLEMS
    assert problems[-1].rule == "E908"


SEED = (BROKEN / "unknown_names.yaml").read_text("utf-8")
PIECES = st.sampled_from(
    ["\n", ": ", "- ", "{", "]", "&a ", "*a", "<<: ", "!x ", "'", '"', "|\n", "#", "\t", "😀", "?",
     "---\n", "kind: ", "rooflint: 1\n", "claim: 2x\n", "\\", "\u2028", "\x00", "9" * 50, "~"]
)  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, len(SEED)), st.integers(0, 9), PIECES), max_size=6))
def test_no_edit_of_a_proposal_breaks_the_reader(edits: list[tuple[int, int, str]]) -> None:
    text = SEED
    for at, length, piece in edits:
        text = text[:at] + piece + text[at + length :]
    reading = read(Source("a.proposal.yaml", text))
    for problem in reading.problems:
        assert 0 <= problem.start.offset <= problem.end.offset <= len(text)
        assert problem.message
    for proposal in reading.proposals:
        for lever in proposal.levers:
            assert 0 <= lever.span.start <= lever.span.end <= len(text)


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_refused_at_a_line_of_theirs(data: bytes) -> None:
    try:
        text = decode(data)
    except DecodingError as error:
        line = error.line
    else:
        read(Source("a.proposal.yaml", text))
        line = 1
    assert 1 <= line <= data.count(b"\n") + data.count(b"\r") + 1
