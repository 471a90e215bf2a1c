"""How many small changes of the rules and of the audit the tests notice.

`nice python -m benchmarks.mutation --seed 1` draws 400 mutants of the modules that judge
(see benchmarks.mutants), runs the tests against each and keeps the results in build/, from where a
run that was broken off goes on; `--again` runs those once more that survived. `--write` writes
docs/mutation.md, with the reasons in benchmarks/equivalent_mutants.yaml for survivors that change
nothing anybody can see.

One run with coverage tells which test reaches which line. Each mutant then has a process of its
own, in which the changed module takes the place of the one on disk and the tests that reach its
line run, to the first failure. No file is changed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, NamedTuple

import coverage
import pytest

from benchmarks.mutants import SLOW, SURVIVED, Mutant, Result, mutants, mutated, users
from benchmarks.mutation_page import BAR, page

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "mutation.md"
SIZE: Final = 400
JUDGES: Final = (
    "audit", "steps", "judge", "evidence", "operands", "corners", "alternatives", "said",
    "statements",
)  # fmt: skip
"""Modules of the engine that rules take their facts from; those of rules/ come beside them."""
SUITES: Final = (
    "tests/test_rules.py", "tests/rules", "tests/test_audit.py", "tests/test_judge.py",
    "tests/test_evidence.py", "tests/test_operands.py", "tests/test_said.py",
    "tests/test_corners.py",
    "tests/test_alternatives.py", "tests/test_statements.py", "tests/test_rulebook.py",
    "tests/test_advise.py", "tests/test_published_claims.py", "tests/levers", "tests/prose",
)  # fmt: skip
"""Tests that judge within their process; others start a command, which no mutant would reach."""
TABLES: Final = frozenset(
    {
        "tests/prose/test_counts.py", "tests/prose/test_limits.py", "tests/rules/test_limits.py",
        "tests/rules/test_slots.py", "tests/rules/test_slots_of_figures.py",
        "tests/test_audit.py", "tests/test_judge.py", "tests/test_evidence.py",
        "tests/test_operands.py", "tests/test_said.py",
    }
)  # fmt: skip
"""Tests that are collected fast and notice most: they run before the others are collected."""
LIMIT_S: Final = 120
"""Processor time of the tests of one mutant."""
_SETTLED: Final = ("-q", "-p", "no:cacheprovider", "-p", "no:cov", "-W", "default")
_THIRD_PARTIES: Final = ("hypothesis", "markdown_it", "pathspec", "pydantic", "typer")
"""Imported once, before processes part."""


class Reach(NamedTuple):
    """Which tests run what: by line, and by module."""

    by_line: Mapping[tuple[str, int], frozenset[str]]
    by_module: Mapping[str, frozenset[str]]
    seconds: Mapping[str, float]

    def order(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant's line: first those that name its rule, then the fast ones.

        What runs at import (a constant, a compiled form) belongs to no test: then those that run a
        line with its name, and where there is none those that run anything of its module.
        """
        near = self.by_line.get((mutant.path, mutant.line), frozenset())
        if not near:
            lines = users((ROOT / mutant.path).read_text(), mutant.line)
            near = frozenset().union(
                *(self.by_line.get((mutant.path, line), frozenset()) for line in lines)
            )
        tests = near or self.by_module.get(mutant.path, frozenset())
        code = Path(mutant.path).name.partition("_")[0].upper()
        return sorted(tests, key=lambda test: (code not in test, self.seconds[test], test))


def module_paths() -> list[str]:
    """The modules that are changed, from the root of the project."""
    rules = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("rules/[a-z]*.py"))
    return [*rules, *(f"advisor/{name}.py" for name in JUDGES)]


def module_name(path: str) -> str:
    """The name under which a module is imported; rules/ is installed as advisor.rules."""
    name = path.removesuffix(".py").replace("/", ".")
    return f"advisor.{name}" if name.startswith("rules.") else name


def sample(seed: int, size: int) -> list[Mutant]:
    """Mutants of all modules, drawn with a seed."""
    found = [one for path in module_paths() for one in mutants(path, (ROOT / path).read_text())]
    return random.Random(seed).sample(found, size)  # noqa: S311  no secret


class _Contexts:
    """Gives every test a coverage context of its own, and takes its time."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.measured.switch_context(item.nodeid)
        before = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - before
        self.measured.switch_context("")


class _Chosen:
    """Runs some tests, in an order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place),
            key=lambda item: self.place[item.nodeid],
        )


class _MutantLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self.code = code

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - there is one
        return self.code


class _MutantFinder(importlib.abc.MetaPathFinder):
    """Finds the changed module before Python finds the one on disk."""

    def __init__(self, mutant: Mutant) -> None:
        file = ROOT / mutant.path
        self.name = module_name(mutant.path)
        code = compile(mutated(file.read_text(), mutant), str(file), "exec")
        self.loader = _MutantLoader(self.name, str(file), code)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(
            fullname, self.loader.path, loader=self.loader
        )


def _apart(limit_s: int) -> int:
    """Fork; 0 in the child, and in the parent the number of the child's process."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
    return child


def measure_reach() -> Reach:
    """Run every test once, unchanged, and see where it goes; RuntimeError where one fails."""
    with tempfile.TemporaryDirectory() as folder:
        data, times = Path(folder, "coverage"), Path(folder, "times.json")
        child = _apart(10 * LIMIT_S)
        if child == 0:
            files = [str(ROOT / path) for path in module_paths()]
            measured = coverage.Coverage(data_file=str(data), include=files)
            contexts = _Contexts(measured)
            measured.start()
            code = pytest.main([*_SETTLED, *SUITES], plugins=[contexts])
            measured.stop()
            measured.save()
            times.write_text(json.dumps(contexts.seconds))
            os._exit(int(code))
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            raise RuntimeError("the tests fail before anything is changed")
        found = coverage.CoverageData(str(data))
        found.read()
        by_line: dict[tuple[str, int], frozenset[str]] = {}
        by_module: dict[str, frozenset[str]] = {}
        for path in module_paths():
            lines = found.contexts_by_lineno(str(ROOT / path))
            tests = {line: frozenset(names) - {""} for line, names in lines.items()}
            by_line |= {(path, line): names for line, names in tests.items()}
            by_module[path] = frozenset().union(*tests.values())
        return Reach(by_line, by_module, json.loads(times.read_text()))


def judged(mutant: Mutant, reach: Reach) -> str:
    """Run the tests against a mutant: killed, survived, or slow (which is killed)."""
    parts: tuple[list[str], list[str]] = [], []
    for test in reach.order(mutant):
        parts[test.partition("::")[0] not in TABLES].append(test)
    outcome = SURVIVED
    for part in parts:
        if part and outcome == SURVIVED:
            outcome = _outcome(mutant, part)
    return outcome


def _outcome(mutant: Mutant, tests: Sequence[str]) -> str:
    """What becomes of a mutant under some tests, to the first failure."""
    child = _apart(LIMIT_S)
    if child == 0:
        try:
            sys.meta_path.insert(0, _MutantFinder(mutant))
            files = sorted({test.split("::")[0] for test in tests})
            code = pytest.main([*_SETTLED, "-x", *files], plugins=[_Chosen(tests)])
        except BaseException:  # noqa: BLE001 - a module that cannot even be imported is noticed
            code = pytest.ExitCode.INTERNAL_ERROR
        os._exit(int(code))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    survived = code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    slow = code in {-signal.SIGXCPU, -signal.SIGKILL}
    return SURVIVED if survived else SLOW if slow else "killed"


def _key(mutant: Mutant) -> str:
    """What a result is kept under: the change, and the text of the module it was made in."""
    text = (ROOT / mutant.path).read_bytes()
    return f"{hashlib.sha256(text).hexdigest()[:12]}:{mutant.path}:{mutant.node}:{mutant.variant}"


def kept(file: Path) -> dict[str, list[str]]:
    """Outcomes that a results file holds, in their order, by the key of the mutant."""
    found: dict[str, list[str]] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        row = json.loads(line)
        found.setdefault(row["key"], []).append(row["outcome"])
    return found


def run(drawn: Sequence[Mutant], file: Path, *, again: bool) -> list[Result]:
    """The results of all mutants: those that the file holds, and the rest as they come.

    `again` runs those once more that survived last.
    """
    have = {one: kept(file).get(_key(one), []) for one in drawn}
    missing = [one for one in drawn if not have[one] or (again and have[one][-1] == SURVIVED)]
    if missing:
        file.parent.mkdir(parents=True, exist_ok=True)
        reach = measure_reach()
        with file.open("a") as out:
            for count, mutant in enumerate(missing, 1):
                before = time.monotonic()
                outcome = judged(mutant, reach)
                have[mutant].append(outcome)
                seconds = round(time.monotonic() - before, 1)
                row = {"key": _key(mutant), **mutant._asdict(), "outcome": outcome}
                out.write(json.dumps(row | {"seconds": seconds}) + "\n")
                out.flush()
                print(f"{count}/{len(missing)} {outcome} {mutant.told}", flush=True)
    return [Result(mutant, outcomes[0], outcomes[-1]) for mutant, outcomes in have.items()]


def main() -> int:
    """Run a sample; exit 1 where fewer mutants are noticed than are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--again", action="store_true", help="run those again that survived")
    parser.add_argument("--write", action="store_true", help="write docs/mutation.md")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.dont_write_bytecode = False  # every mutant's process imports what is not changed
    for name in _THIRD_PARTIES:
        importlib.import_module(name)
    file = ROOT / "build" / f"mutation-{options.seed}.jsonl"
    results = run(sample(options.seed, options.size), file, again=options.again)
    noticed = sum(one.first != SURVIVED for one in results)
    print(f"{noticed} of {len(results)} mutants noticed ({noticed / len(results):.1%})")
    for one in sorted(one.mutant for one in results if one.now == SURVIVED):
        print(f"  {one.told}")
    if options.write:
        PAGE.write_text(page(options.seed, results, time.strftime("%d %B %Y")))
    return int(noticed < BAR * len(results))


if __name__ == "__main__":
    sys.exit(main())
