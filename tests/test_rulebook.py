"""How rules are found, selected and run, and how their findings become one for each subject."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from advisor.audit import Audit, audit
from advisor.finding import Confidence, Finding, Severity, Subject
from advisor.readers import read
from advisor.rulebook import (
    compile_index,
    entries,
    find_rule,
    load_rules,
    rule_codes,
    rule_names,
    rule_page,
    run,
)
from advisor.source import Source

ROOT = Path(__file__).resolve().parent.parent
PRUNED = """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 4096}
weights: fp8
diagnosis: decode is compute-bound
levers:
  - kind: prune
    sparsity: 30%
    storage: dense
    claim: 200 tokens/s
claim: 200 tokens/s
"""


def audited(text: str) -> Audit:
    [proposal] = read(Source("proposal.yaml", text)).proposals
    found, unknown = audit(proposal)
    assert found is not None
    assert unknown == ()
    return found


def codes(found: tuple[Finding, ...]) -> list[str]:
    return [finding.rule for finding in found]


def test_the_index_is_fresh() -> None:
    for path, content in compile_index().items():
        assert path.read_bytes() == content, "run `make generated`"


def test_every_module_of_the_pack_is_a_rule() -> None:
    stems = {path.stem for path in (ROOT / "rules").glob("[!_]*.py")}
    assert {entry.module for entry in entries().values()} == stems
    for code, entry in entries().items():
        assert entry.module.startswith(f"{code.lower()}_")


def test_rules_are_found_by_code_and_by_name() -> None:
    for text in ("FLP002", "flp002", "pruning-dense-storage", "Pruning dense storage"):
        found = find_rule(text)
        assert found is not None
        assert found.rule.code == "FLP002"
    assert find_rule("FLP999") is None
    assert "FLP002" in rule_codes()
    assert {"FLP002", "pruning-dense-storage"} <= set(rule_names())
    assert rule_page("FLP002").startswith("## What it does")
    with pytest.raises(KeyError):
        rule_page("FLP999")


def test_rules_come_in_the_order_of_their_codes() -> None:
    loaded = [one.rule.code for one in load_rules()]
    assert loaded == sorted(loaded)


def test_each_subject_has_one_finding_in_the_order_of_the_text() -> None:
    found = run(audited(PRUNED))
    assert codes(found) == ["TXT001", "FLP002", "CLM006"]
    assert [finding.subject for finding in found] == [
        Subject("statement", 0),
        Subject("lever", 0),
        Subject("claim", 0),
    ]


def test_what_a_specific_rule_absorbs_is_a_note_where_it_stands() -> None:
    found = run(audited(PRUNED), codes=rule_codes() - {"TXT001"})
    [lever, _] = found
    assert lever.rule == "FLP002"
    [note] = lever.notes
    assert note.rule == "CLM006"
    assert note.span is not None
    assert PRUNED[slice(*note.span)] == "200 tokens/s"


def test_the_floor_comes_before_the_ceiling_and_the_byte_ratio() -> None:
    text = """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 1k}
measured: {tpot: 6.5 ms}
levers:
  - {kind: quantize, weights: fp8, claim: 2000 tokens/s}
"""
    [finding] = run(audited(text))
    assert finding.rule == "CLM006"
    assert "CLM002" in {note.rule for note in finding.notes}
    [finding] = run(audited(text), codes=rule_codes() - {"CLM006"})
    assert finding.rule in {"CLM001", "CLM002"}


def test_only_the_rules_asked_for_run() -> None:
    one = audited(PRUNED)
    assert codes(run(one, codes={"FLP002"})) == ["FLP002"]
    assert codes(run(one, codes={"FLP002", "TXT001"})) == ["TXT001", "FLP002"]
    assert codes(run(one, codes=())) == []


def test_what_is_not_run_absorbs_nothing() -> None:
    assert codes(run(audited(PRUNED), codes=rule_codes() - {"FLP002"})) == [
        "TXT001",
        "CLM006",
        "CLM006",
    ]


def test_strict_tells_what_is_less_sure() -> None:
    text = """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
levers:
  - {kind: prune, pattern: heads, sparsity: 25%, claim: 1.1x}
"""
    assert run(audited(text), codes={"PRE001"}) == ()
    [finding] = run(audited(text), codes={"PRE001"}, strict=True)
    assert finding.confidence is Confidence.MEDIUM
    assert finding.severity is Severity.WARNING


def test_only_rules_that_can_apply_are_imported() -> None:
    text = "rooflint: 1\nworkload: {batch: 1, context: 2k}\nlevers:\n  - {kind: batch, batch: 8}\n"
    script = f"""
import sys
from advisor.audit import audit
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source
[proposal] = read(Source("p.yaml", {text!r})).proposals
run(audit(proposal)[0])
print(*sorted(name for name in sys.modules if name.startswith("advisor.rules.")))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["advisor.rules.bat002_amortise_lever_for_latency"]


def test_an_index_that_misses_a_module_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entries.cache_clear()
    monkeypatch.setattr("advisor.rulebook._INDEX", str(tmp_path / "index.json"))
    try:
        everything = dict(entries())
        (tmp_path / "index.json").write_text("[]")
        entries.cache_clear()
        assert dict(entries()) == everything
        assert "FLP002" in everything
    finally:
        entries.cache_clear()
