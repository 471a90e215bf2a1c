"""The sample proposals say in comments what is found in them, by line: `# expect: CODE`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.checking import check

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "fixtures" / "proposals").rglob("*.yaml"))
_EXPECT = re.compile(r"# expect: ([A-Z0-9]+(?: or [A-Z0-9]+)*)$")
SEED = {
    "TXT001": ("295", "2.0 FLOP/B"),
    "FLP002": ("30%", "70.6 GB"),
    "FLP003": ("25%", "70.6 GB"),
    "FLP007": ("70.6 GB", "3,350 GB/s"),
    "FLP005": ("3,958", "1,979"),
    "CLM006": ("21.3 ms", "47 tokens/s"),
}
"""The six errors of the seed case, with numbers that refute each."""


def expected(path: Path) -> dict[int, set[str]]:
    """Codes by line; several are alternatives, where figures decide which limit is hit first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {
        number: set(match[1].split(" or "))
        for number, line in enumerate(lines, 1)
        if (match := _EXPECT.search(line))
    }


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_has_the_findings_that_it_announces(path: Path) -> None:
    wanted = expected(path)
    checked = check([str(path)])
    found = {finding.start.line: finding.rule for finding in checked.findings}
    assert len(found) == len(checked.findings)
    assert found.keys() == wanted.keys()
    assert all(found[line] in codes for line, codes in wanted.items())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_names_its_schema(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    match = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert match is not None
    assert (path.parent / match[1]).resolve() == ROOT / "schemas" / "proposal.schema.json"


def test_the_samples_flag_pass_and_suppress() -> None:
    counts = {path.stem: len(expected(path)) for path in SAMPLES}
    assert counts["70b-fewer-flops"] == len(SEED)
    assert counts["70b-fewer-bytes"] == counts["moe-serving"] == counts["silent"] == 0
    assert len(check([str(ROOT / "fixtures/proposals/suppressed.yaml")]).suppressed) == 2


def test_the_seed_case_is_refuted_with_its_numbers() -> None:
    found = check([str(ROOT / "fixtures/proposals/70b-fewer-flops.yaml")]).findings
    assert {finding.rule for finding in found} == SEED.keys()
    for finding in found:
        said = " ".join((finding.message, *(text for _, text in finding.facts)))
        for number in SEED[finding.rule]:
            assert number in said
