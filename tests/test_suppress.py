from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.finding import Confidence, Finding, Note, Severity
from advisor.problems import problem
from advisor.source import Source, Span
from advisor.suppress import MAX_SUPPRESSIONS, Applied, apply, find_suppressions

CODES = {"FLP001", "FLP002", "CLM001"}


def finding(
    source: Source, words: str, rule: str = "FLP002", notes: tuple[Note, ...] = ()
) -> Finding:
    start = source.text.index(words)
    return Finding(
        rule=rule,
        name="a-rule",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        path=source.path,
        start=source.position(start),
        end=source.position(start + len(words)),
        message="no gain",
        notes=notes,
    )


def applied(text: str, *found: tuple[str, str]) -> Applied:
    source = Source("a.yaml", text)
    findings = [finding(source, words, rule) for words, rule in found]
    return apply(findings, find_suppressions(source), CODES)


def codes(result: Applied) -> list[tuple[str, int]]:
    return [(kept.rule, kept.start.line) for kept in result.kept]


SEED = """\
rooflint: 1
levers:
  - kind: prune{same}
    sparsity: 30%
    claim: 1.4x{claim}
{above}
  - kind: quantize
    weights: int4
    claim: 4x
claim: 2x
"""


def seed(same: str = "", claim: str = "", above: str = "") -> str:
    return SEED.format(same=same, claim=claim, above=above)


def test_a_comment_covers_its_line_and_no_other() -> None:
    text = seed(claim="  # rooflint: ignore[CLM001] measured here")
    result = applied(text, ("1.4x", "CLM001"), ("claim: 4x", "CLM001"), ("kind: prune", "FLP002"))
    assert [hidden.finding.start.line for hidden in result.suppressed] == [5]
    assert codes(result) == [("FLP002", 3), ("CLM001", 9)]


@pytest.mark.parametrize("indent", ["", "  ", "      "])
def test_a_comment_on_its_own_line_covers_the_lever_below(indent: str) -> None:
    text = seed(
        above=f"{indent}# rooflint: ignore[FLP002, CLM001] our kernel skips zeros\n  # more"
    )
    result = applied(
        text,
        ("kind: quantize", "FLP002"),
        ("claim: 4x", "CLM001"),
        ("kind: prune", "FLP002"),
        ("claim: 2x", "CLM001"),
    )
    assert [(hidden.finding.rule, hidden.finding.start.line) for hidden in result.suppressed] == [
        ("FLP002", 8),
        ("CLM001", 10),
    ]
    assert codes(result) == [("FLP002", 3), ("CLM001", 11)]


def test_a_comment_above_a_key_covers_its_whole_value() -> None:
    note = "# rooflint: ignore[FLP002] all of them"
    text = f"rooflint: 1\n{note}\nlevers:\n- kind: prune\n- kind: batch\ntitle: x\n"
    result = applied(
        text, ("kind: prune", "FLP002"), ("kind: batch", "FLP002"), ("title", "FLP002")
    )
    assert codes(result) == [("FLP002", 6)]


def test_a_comment_covers_the_file_wherever_it_stands() -> None:
    text = seed(above="# rooflint: ignore-file[FLP002] a study of pruning")
    result = applied(text, ("kind: prune", "FLP002"), ("kind: quantize", "FLP002"))
    assert (len(result.suppressed), result.kept) == (2, ())


@pytest.mark.parametrize("header", ["|", ">-", '"'])
def test_a_comment_at_the_head_of_a_text_covers_the_text(header: str) -> None:
    note = "# rooflint: ignore[CLM001] measured"
    body = (
        f"claim: {header}  {note}\n  4x on\n  decode\n"
        if header != '"'
        else f'claim: "4x on" {note}\n'
    )
    result = applied(f"rooflint: 1\n{body}title: x\n", ("4x on", "CLM001"), ("title", "CLM001"))
    assert len(result.suppressed) == 1
    assert [kept.rule for kept in result.kept] == ["CLM001"]


def test_a_finding_is_met_at_any_place_it_points_to() -> None:
    source = Source("a.yaml", seed(claim="  # rooflint: ignore[FLP002] measured here"))
    claim = source.text.index("1.4x")
    note = Note("claimed here", Span(claim, claim + 4))
    result = apply(
        [finding(source, "kind: prune", notes=(note,))], find_suppressions(source), CODES
    )
    assert (len(result.suppressed), result.kept) == (1, ())


@pytest.mark.parametrize(
    "value",
    [
        "'x # rooflint: ignore[FLP002] no'",
        '"x # rooflint: ignore[FLP002] no"',
        "x#rooflint: ignore[FLP002]",
        "|\n  x\n  # rooflint: ignore[FLP002] no\n  y",
        ">\n\n  # rooflint: ignore[FLP002] no\n",
    ],
)
def test_words_of_a_value_are_no_comment(value: str) -> None:
    source = Source("a.yaml", f"rooflint: 1\nclaim: {value}\n")
    assert find_suppressions(source) == ()


def test_a_comment_may_follow_a_value_that_holds_the_sign() -> None:
    text = 'claim: "4x # once"  # rooflint: ignore[CLM001] measured\n'
    (found,) = find_suppressions(Source("a.yaml", text))
    assert (found.codes, found.reason) == (("CLM001",), "measured")


@pytest.mark.parametrize(
    ("comment", "codes_", "reason"),
    [
        ("rooflint: ignore[FLP002] measured", ("FLP002",), "measured"),
        (
            "rooflint:ignore[flp002,CLM001]: measured [twice]",
            ("FLP002", "CLM001"),
            "measured [twice]",
        ),
        ("rooflint: ignore [ FLP002 , ] - FLP001 is fine", ("FLP002",), "FLP001 is fine"),
        ("rooflint: ignore[FLP002, FLP002] é😀", ("FLP002",), "é😀"),
    ],
)
def test_codes_end_at_the_bracket(comment: str, codes_: tuple[str, ...], reason: str) -> None:
    (found,) = find_suppressions(Source("a.yaml", f"a: 1 # {comment}  \r\nb: 2\r\n"))
    assert (found.codes, found.reason, found.malformed) == (codes_, reason, "")


@pytest.mark.parametrize(
    ("comment", "code", "words"),
    [
        ("rooflint: ignore measured on our kernel", "SUP001", "names no rule"),
        ("rooflint: ignore[] measured", "SUP001", "names no rule"),
        ("rooflint: ignore[FLP002 measured", "SUP001", "no closing bracket"),
        ("rooflint: ignroe[FLP002] measured", "SUP001", "did you mean ignore?"),
        ("rooflint: ignore-fiel[FLP002] measured", "SUP001", "did you mean ignore-file?"),
        ("rooflint: ignore[FLP002]", "SUP002", "FLP002 gives no reason"),
        ("rooflint: ignore[FLP022] measured", "SUP003", "did you mean FLP002?"),
        ("rooflint: ignore[E902] measured", "SUP003", "cannot be suppressed"),
        ("rooflint: ignore[FLP001] measured", "SUP004", "hides no finding of FLP001"),
        ("rooflint: ignore[FLP002, CLM001] measured", "SUP004", "hides no finding of CLM001"),
    ],
)
def test_a_suppression_that_is_not_in_order_is_a_finding(
    comment: str, code: str, words: str
) -> None:
    text = seed(same=f"  # {comment}")
    result = applied(text, ("kind: prune", "FLP002"))
    own = [kept for kept in result.kept if kept.rule != "FLP002"]
    assert [(kept.rule, kept.start.line, kept.severity) for kept in own] == [
        (code, 3, Severity.WARNING)
    ]
    assert words in own[0].message
    assert Source("a.yaml", text).text[own[0].start.offset : own[0].end.offset] == comment


def test_a_reason_is_asked_for_but_the_suppression_holds() -> None:
    result = applied(seed(same=" # rooflint: ignore[FLP002]"), ("kind: prune", "FLP002"))
    assert codes(result) == [("SUP002", 3)]


def test_other_words_to_rooflint_are_left_alone() -> None:
    facts = "# rooflint: model=Llama-3.1-8B batch=1"
    text = f"a: 1 {facts}\nb: 2 # see rooflint: the docs\nc: 3 # rooflint: 1\n"
    assert find_suppressions(Source("a.yaml", text)) == ()


def test_what_cannot_be_read_cannot_be_hidden() -> None:
    source = Source("a.yaml", "rooflint: 1\nweigths: fp8 # rooflint: ignore[E903] later\n")
    unread = problem("E903", source, Span(12, 19), "unknown key")
    result = apply([unread], find_suppressions(source), CODES)
    assert [kept.rule for kept in result.kept] == ["E903", "SUP003"]


def test_a_suppression_of_a_rule_that_did_not_run_is_not_called_unused() -> None:
    source = Source("a.yaml", seed(same=" # rooflint: ignore[FLP001] measured"))
    assert not apply([], find_suppressions(source), CODES, ran={"FLP002"}).kept
    assert apply([], find_suppressions(source), CODES, ran={"FLP001"}).kept


def test_nothing_is_unused_in_a_file_that_was_not_read_to_its_end() -> None:
    source = Source("a.yaml", "a: 1 # rooflint: ignore[FLP001] measured\n---\nb: [\n")
    broken = problem("E902", source, Span(45, 46), "not closed")
    assert apply([broken], find_suppressions(source), CODES).kept == (broken,)


def test_a_suppression_speaks_of_its_own_file() -> None:
    source = Source("a.yaml", seed(above="# rooflint: ignore-file[FLP002] a study"))
    other = finding(Source("b.yaml", source.text), "kind: prune")
    result = apply([other], find_suppressions(source), CODES)
    assert [kept.rule for kept in result.kept] == ["SUP004", "FLP002"]


def test_there_is_an_end_to_suppressions() -> None:
    text = "a:\n" + "- 1 # rooflint: ignore[FLP001] x\n" * (MAX_SUPPRESSIONS + 50)
    assert len(find_suppressions(Source("a.yaml", text))) == MAX_SUPPRESSIONS


@given(st.lists(st.tuples(st.sampled_from(["kind: prune", "1.4x", "kind: quantize", "claim: 2x"]),
                          st.sampled_from(sorted(CODES)))))  # fmt: skip
def test_suppressing_every_code_of_a_file_hides_every_finding(found: list[tuple[str, str]]) -> None:
    every = ", ".join(sorted(CODES))
    result = applied(seed(above=f"# rooflint: ignore-file[{every}] all of it"), *found)
    assert len(result.suppressed) == len(found)
    assert {kept.rule for kept in result.kept} <= {"SUP004"}
