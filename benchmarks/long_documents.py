"""False findings in long correct documents: words, documents and findings of each folder.

    python -m benchmarks.long_documents FOLDER ... [--list] [--strict]

Every document below the folders is judged as `rooflint check` judges it. What is found is printed
with its words, to be read by eye: in a correct document each finding is false. `--list` names the
documents with their words.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from advisor.audit import audit
from advisor.process import collect_seldom
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

SUFFIXES = (".md", ".mdx", ".rst", ".txt")


def findings_of(source: Source, *, strict: bool) -> list[str]:
    """What is found in a document, a line each."""
    told = []
    for proposal in read(source).proposals:
        audited, _ = audit(proposal)
        for finding in run(audited, strict=strict) if audited is not None else ():
            words = " ".join(source.text[finding.start.offset : finding.end.offset].split())
            told.append(f"{source.path}:{finding.start.line} {finding.rule} {words[:160]}")
    return told


def main() -> None:
    """Print a line for each folder, and each finding."""
    parser = argparse.ArgumentParser(description="False findings in long correct documents.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--list", action="store_true", help="name the documents")
    parser.add_argument("--strict", action="store_true")
    given = parser.parse_args()
    collect_seldom()
    total_words = total_found = 0
    for folder in given.folders:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
        words = found = 0
        for path in paths:
            if not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            lines = findings_of(Source(str(path), text), strict=given.strict)
            if given.list:
                print(f"  {len(text.split()):7,} {path}")
            print("".join(f"  {line}\n" for line in lines), end="")
            words += len(text.split())
            found += len(lines)
        print(f"{folder}: {len(paths)} documents, {words:,} words, {found} findings")
        total_words += words
        total_found += found
    rate = 1e4 * total_found / max(total_words, 1)
    print(f"{total_words:,} words, {total_found} findings: {rate:.2f} in 10,000 words")


if __name__ == "__main__":
    main()
