"""Short scripts in the forms people write, and what an expert sees on their lines.

Each file of fixtures/python_forms holds scripts, each under "%% name". Behind a line stands:

    #= kind verdict      a lever, there or in the same call; `|` between what may be said
    #~ kind              another place of one lever: it may be told of there as well
    #! kind              what a naive reader would see and what is not there; anything, without kind

Kinds and verdicts are those of the labelled files of the field.
"""

from __future__ import annotations

import ast
import random
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from advisor.audit import audit
from advisor.readers.python.marks import worth_reading
from advisor.readers.python.reader import read
from advisor.source import Source

FOLDER = Path(__file__).parents[2] / "fixtures" / "python_forms"
VERDICTS = {
    "bandwidth": "bandwidth_lever", "flop_only": "flag_flop_only",
    "throughput_only": "throughput_only", "overhead": "latency_overhead_lever",
    "prefill_only": "prefill_only", "conditional": "needs_condition",
    "capacity_only": "needs_condition", "regression": "needs_condition",
}  # fmt: skip


class Said(NamedTuple):
    """What stands behind a line."""

    line: int
    sign: str
    kinds: frozenset[str]
    verdicts: frozenset[str]


class Script(NamedTuple):
    """A script without its remarks, and the remarks."""

    text: str
    said: tuple[Said, ...]


def script_of(part: str) -> Script:
    lines: list[str] = []
    said: list[Said] = []
    for number, line in enumerate(part.splitlines(), 1):
        match = re.search(r"\s*#([=~!])(.*)$", line)
        lines.append(line[: match.start()] if match else line)
        for item in match[2].split(";") if match else ():
            sign = "!" if item.strip().startswith("!") else match[1] if match else ""
            words = [*item.strip().lstrip("! ").split(), "", ""]
            kinds, verdicts = (frozenset(filter(None, word.split("|"))) for word in words[:2])
            said.append(Said(number, sign, kinds, verdicts))
    return Script("\n".join(lines) + "\n", tuple(said))


def scripts() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for path in sorted(FOLDER.glob("*.txt")):
        for part in re.split(r"^%% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, _, rest = part.partition("\n")
            found.append((f"{path.stem}-{name.strip()}", rest))
    return found


def levers(text: str, *, named: bool) -> set[tuple[int, str, str]]:
    """Line, kind and verdict of every lever."""
    source = Source("script.py", text)
    found: set[tuple[int, str, str]] = set()
    for proposal in read(source, named=named).proposals:
        audited, _ = audit(proposal)
        assert audited is not None
        for lever in audited.levers:
            line = source.position(lever.proposed.span.start).line
            found.add((line, lever.lever.machine_kind, VERDICTS[str(lever.verdict)]))
    return found


def call_around(text: str, line: int) -> range:
    """The lines of the innermost call or statement that holds a line."""
    held = [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) or (isinstance(node, ast.stmt) and not hasattr(node, "body"))
    ]
    return min((one for one in held if line in one), key=len, default=range(line, line + 1))


@pytest.mark.parametrize("part", [pytest.param(part, id=name) for name, part in scripts()])
def test_finds_what_an_expert_sees_and_nothing_in_traps(part: str) -> None:
    script = script_of(part)
    found = levers(script.text, named=True)
    for one in script.said:
        places = [call_around(script.text, one.line)]
        if one.sign == "=":
            places += [
                call_around(script.text, other.line)
                for other in script.said
                if other.sign == "~" and other.kinds & one.kinds
            ]
            assert any(
                kind in one.kinds
                and verdict in one.verdicts
                and any(line in place for place in places)
                for line, kind, verdict in found
            ), (one, sorted(found))
        elif one.sign == "!":
            sprung = [kind for line, kind, _ in found if line == one.line]
            assert not (one.kinds & set(sprung) if one.kinds else sprung), (one, sorted(found))


@pytest.mark.parametrize("part", [pytest.param(part, id=name) for name, part in scripts()])
def test_says_the_same_of_a_script_that_is_met_in_a_folder(part: str) -> None:
    text = script_of(part).text
    met = levers(text, named=False) if worth_reading(text.encode()) else set()
    assert met == levers(text, named=True)


def test_holds_levers_and_traps() -> None:
    signs = [one.sign for _, part in scripts() for one in script_of(part).said]
    assert signs.count("=") > 250
    assert signs.count("!") > 80


ODD = ("None", "0", "[]", "*a", "**k", "-1", "lambda: 0", "(1, 2)", "{}", "...", "1e400", "x[0]()")


def test_reads_any_mutant_of_a_script_without_failing() -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    for name, part in scripts():
        text = script_of(part).text
        words = list(re.finditer(r"\b\w+\b|\"[^\"\n]*\"", text))
        for _ in range(2):
            word = chance.choice(words)
            mutant = text[: word.start()] + chance.choice(ODD) + text[word.end() :]
            assert read(Source(f"{name}.py", mutant), named=True).problems is not None
