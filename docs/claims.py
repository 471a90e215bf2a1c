"""The page docs/claims.md: published claims, judged, beside what was measured of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from advisor.audit import audit
from advisor.judge import ClaimVerdict, JudgedClaim
from advisor.readers import read
from advisor.roofline import Interval
from advisor.rulebook import run
from advisor.source import Source
from advisor.wording import factor, factors

FILE = Path(__file__).resolve().parent.parent / "fixtures" / "claims" / "published.yaml"

_WHY = {
    "compile": (
        "the published baseline is the eager Python of 2023 at 39 ms a token, of which the device"
        " works 8; the profile of eager engines rests on later versions. Where the proposal states"
        " the baseline as measured, what the device does not explain is the host's time, and the"
        " claim is plausible"
    ),
    "quantize.weights.fp4": (
        "bytes fall 1.61 times; the rest is the kernel: FP8 reached 0.60 of the bus there, NVFP4"
        " 0.70. CLM002 asks to name what else changed, and that is what it was"
    ),
}
"""Why a verdict differs from the measurement, by lever."""


_LIMITS = frozenset({"CLM001", "CLM002", "CLM006"})
"""Rules that say a claim cannot be."""


class Judged(NamedTuple):
    """One published claim, how it was judged, and what is known of it."""

    source: str
    title: str
    kind: str
    text: str
    is_right: bool
    measured: str
    claim: JudgedClaim
    possible: Interval | None
    findings: tuple[str, ...]

    @property
    def is_refuted(self) -> bool:
        """Whether a reader of `check` is told that it cannot be so."""
        return self.claim.verdict is ClaimVerdict.IMPOSSIBLE or bool(self.findings)

    @property
    def agrees(self) -> bool:
        """Whether the judgement agrees with what was measured."""
        if not self.is_right:
            return self.is_refuted
        impossible = self.claim.verdict is ClaimVerdict.IMPOSSIBLE
        return not impossible and not _LIMITS & set(self.findings)


@lru_cache(maxsize=1)
def judged() -> tuple[Judged, ...]:
    """Every claim of the file, judged as `audit` and `check` do."""
    return tuple(_judged())


def _judged() -> Iterator[Judged]:
    text = FILE.read_text(encoding="utf-8")
    known = list(yaml.safe_load_all(text))
    proposals = read(Source(FILE.name, text)).proposals
    for facts, proposal in zip(known, proposals, strict=True):
        result, problems = audit(proposal)
        if result is None:
            raise ValueError(f"{proposal.title}: {'; '.join(p.message for p in problems)}")
        codes = tuple(finding.rule for finding in run(result))
        claims = [(lever.lever.machine_kind, lever.claim) for lever in result.levers]
        claims += [("all together", claim) for claim in result.claims]
        for kind, claim in claims:
            if claim is not None:
                yield Judged(
                    facts["x-source"], proposal.title, kind, claim.sentence.text,
                    facts["x-truth"] == "right", facts["x-measured"], claim, claim.possible, codes,
                )  # fmt: skip


_PAGE = """\
# Published claims, judged

{count} claims from READMEs, papers, release notes and threads, right ones and wrong ones, each with
the deployment it is about: [the file](../{file}). `possible` is the expected interval of the gain,
the verdict is the one of `rooflint audit`, the codes are what `rooflint check` says of it.

Of {right} claims that somebody measured, {right_ok} are not called impossible; of {wrong} that were
measured to be otherwise, {wrong_ok} are refuted.

## Measured so

{right_rows}

## Measured otherwise

{wrong_rows}

## Where the judgement and the measurement differ

{differences}
"""


def page() -> str:
    """The whole page in Markdown."""
    all_claims = judged()
    right = [one for one in all_claims if one.is_right]
    wrong = [one for one in all_claims if not one.is_right]
    differing = [one for one in all_claims if not one.agrees]
    return _PAGE.format(
        count=len(all_claims),
        file=FILE.relative_to(FILE.parent.parent.parent).as_posix(),
        right=len(right),
        right_ok=sum(one.agrees for one in right),
        wrong=len(wrong),
        wrong_ok=sum(one.agrees for one in wrong),
        right_rows=_table(right),
        wrong_rows=_table(wrong),
        differences="\n".join(map(_difference, differing)) or "Nowhere.",
    )


def _table(claims: list[Judged]) -> str:
    lines = [
        "| lever | claimed | possible | verdict | check | measured | source |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in claims:
        verdict = one.claim.verdict.value.replace("_", " ") if one.claim.verdict else "not judged"
        possible = factors(one.possible) if one.possible is not None else "-"
        speedup = factor(one.claim.speedup) if one.claim.speedup is not None else "-"
        codes = ", ".join(dict.fromkeys(one.findings)) or "-"
        lines.append(
            f"| {one.kind} | {one.text} ({speedup}) | {possible} | {verdict} | {codes} "
            f"| {one.measured} | {one.source} |"
        )
    return "\n".join(lines)


def _difference(one: Judged) -> str:
    why = _WHY.get(one.kind, "see the figures above: the interval or a rule is too wide or narrow")
    return f"- {one.kind}, {one.text}, measured {one.measured}: {why}."
