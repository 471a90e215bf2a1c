"""Write every generated file of the repository: `python -m docs.generate [--check]`.

Generated are the compiled catalogs, the letters that the forms need, the index of the rules, the
JSON Schemas, the table of counted bytes, and the command output that README.md and the pages of
docs/ show. Each producer returns the contents of its files by path; with `--check` nothing is
written and the names of the stale files are an error.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from advisor.catalog.compile import compiled_files
from advisor.catalog.store import FOLDER
from advisor.deployment import Deployment
from advisor.forms.compile import compiled_file, form_patterns
from advisor.forms.letters import FILE as LETTERS
from advisor.reports.wall import ridges_drawing, roofline_drawing
from advisor.rulebook import compile_index
from advisor.schema import SCHEMAS, schema_text
from advisor.wall import generations, roofline_of
from docs import bytes_per_token, claims
from docs.reference_pages import lever_pages, rule_pages

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
WIDTH = 100

_SHOWN = re.compile(r"^(```console\n\$ (rooflint [^\n]*)\n).*?(^```$)", re.MULTILINE | re.DOTALL)


def catalogs() -> dict[Path, bytes]:
    """The compiled catalogs."""
    return {FOLDER / name: content for name, content in compiled_files().items()}


def letters() -> dict[Path, bytes]:
    """What the patterns of the package need of a text."""
    return {LETTERS: compiled_file(form_patterns())}


def rules() -> Mapping[Path, bytes]:
    """The index of the rule modules."""
    return compile_index()


def schemas() -> dict[Path, bytes]:
    """The JSON Schemas, as `rooflint schema` prints them."""
    return {
        ROOT / "schemas" / f"{name}.schema.json": schema_text(name).encode() for name in SCHEMAS
    }


def bytes_page() -> dict[Path, bytes]:
    """The table of counted steps, beside what others print."""
    return {ROOT / "docs" / "bytes-per-token.md": bytes_per_token.page().encode()}


def claims_page() -> dict[Path, bytes]:
    """Published claims, judged."""
    return {ROOT / "docs" / "claims.md": claims.page().encode()}


def images() -> dict[Path, bytes]:
    """The plots of docs/memory-wall.md."""
    roof = roofline_of(Deployment("Llama-3.1-8B", "H100 SXM"))
    folder = ROOT / "docs" / "images"
    return {
        folder / "ridges.svg": ridges_drawing(generations()).svg().encode(),
        folder / "roofline.svg": roofline_drawing(roof).svg().encode(),
    }


def reference() -> dict[Path, bytes]:
    """A page for each rule and each lever, as `rooflint explain` shows it."""
    made = (("rules", rule_pages()), ("levers", lever_pages()))
    return {
        ROOT / "docs" / folder / name: text.encode()
        for folder, pages in made
        for name, text in pages
    }


def shown() -> dict[Path, bytes]:
    """README.md and the pages of docs/ with the output that their commands have today."""
    pages = (README, *sorted((ROOT / "docs").glob("*.md")))
    return {page: refresh(page.read_text(encoding="utf-8"), output_of).encode() for page in pages}


PRODUCERS: tuple[Callable[[], Mapping[Path, bytes]], ...] = (
    catalogs,
    letters,
    rules,
    schemas,
    reference,
    bytes_page,
    claims_page,
    images,
    shown,
)


def refresh(text: str, run: Callable[[list[str]], str]) -> str:
    """Give every `$ rooflint ...` block of a Markdown text the output that `run` returns."""

    def block(match: re.Match[str]) -> str:
        shown = "\n".join(line.rstrip() for line in run(shlex.split(match[2])[1:]).splitlines())
        return f"{match[1]}{shown}\n{match[3]}"

    return _SHOWN.sub(block, text)


def output_of(arguments: list[str]) -> str:
    """Run `rooflint` in the root of the repository, in a fixed width and without colour.

    Raises:
        SystemExit: where the command does not end as one that checked its input.

    """
    plain = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "advisor", *arguments],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "FORCE_COLOR"} | plain,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(f"rooflint {shlex.join(arguments)}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def main(arguments: list[str]) -> int:
    """Write what is stale, or with `--check` name it and return 1."""
    if unknown := set(arguments) - {"--check"}:
        sys.stderr.write(f"unknown: {', '.join(sorted(unknown))}; known: --check\n")
        return 2
    check = "--check" in arguments
    stale = []
    for produce in PRODUCERS:
        for path, content in produce().items():
            if path.is_file() and path.read_bytes() == content:
                continue
            stale.append(path.relative_to(ROOT).as_posix())
            if not check:  # at once: what the next ones show rests on it
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    names = ", ".join(stale)
    if check and stale:
        sys.stderr.write(f"stale: {names}; run `make generated`\n")
        return 1
    if not check:
        sys.stdout.write(f"written: {names or 'nothing, all is fresh'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
