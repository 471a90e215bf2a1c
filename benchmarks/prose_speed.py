"""Time of reading prose: 1 MB of documents, and adversarial texts of doubling length.

    python -m benchmarks.prose_speed [FILES ...]

A text of twice the length should take about twice the time: the last column is the ratio.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from advisor.audit import audit
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

_SENTENCE = "We prune 30% of the weights of the 8B at batch 1, so decode gets 30% faster. "
_LONG = "pruning 50% of the weights makes decode 2x faster and "

TEXTS: dict[str, Callable[[int], str]] = {
    "paragraphs": lambda n: (_SENTENCE * 4 + "\n\n") * n,
    "one paragraph": lambda n: _SENTENCE * 4 * n,
    "one sentence": lambda n: _LONG * 6 * n,
    "nested lists": lambda n: "".join(f"{'  ' * (i % 12)}- {_SENTENCE}\n" for i in range(4 * n)),
    "nested quotations": lambda n: "".join(
        f"{'> ' * (i % 30)}{_SENTENCE}\n\n" for i in range(4 * n)
    ),
    "rows of a table": lambda n: (
        "| a | b | c |\n|---|---|---|\n" + "| prune 50% | 2x faster decode | 40 tok/s |\n" * 8 * n
    ),
    "columns of a table": lambda n: (
        "|" + " a |" * 20 * n + "\n|" + "---|" * 20 * n + "\n|" + " 2x |" * 20 * n + "\n"
    ),
    "open brackets": lambda n: "[" * 300 * n,
    "links": lambda n: "[a](b" * 60 * n,
    "backticks": lambda n: "".join("`" * (1 + i % 40) + " " for i in range(15 * n)),
    "stars": lambda n: "**a *b " * 45 * n,
    "angles": lambda n: "<a <b " * 50 * n,
    "quotation marks": lambda n: "\"decode is 2x faster' " * 15 * n,
    "numbers": lambda n: "1.5x 2 ms 30% 4 GB 5 tok/s " * 12 * n,
    "negations": lambda n: "not no never cannot decode faster " * 9 * n,
    "commas": lambda n: "decode, faster, so, which, " * 12 * n,
    "headings": lambda n: "# Decode faster\n\n" * 18 * n,
    "comments": lambda n: "<!-- rooflint: ignore[FLP002] x -->\n" * 9 * n,
    "fences": lambda n: "```yaml\na: 1\n```\n" * 20 * n,
}


def seconds(text: str) -> float:
    """Time to read and judge a text."""
    start = perf_counter()
    for proposal in read(Source("doc.md", text)).proposals:
        audited, _ = audit(proposal)
        if audited is not None:
            run(audited)
    return perf_counter() - start


def main() -> None:
    seconds(_SENTENCE)
    for path in sys.argv[1:]:
        text = Path(path).read_text(encoding="utf-8")
        whole = (text * (1_000_000 // max(len(text), 1) + 1))[:1_000_000]
        print(f"{path}: {seconds(whole):.2f} s for 1 MB")
    print(f"{'text':20} {'KB':>6} {'s':>7} {'KB':>6} {'s':>7}  ratio")
    for name, text_of in TEXTS.items():
        one, other = text_of(100), text_of(200)
        first, second = seconds(one), seconds(other)
        print(
            f"{name:20} {len(one) / 1e3:6.0f} {first:7.3f} {len(other) / 1e3:6.0f} {second:7.3f}"
            f"  {second / first:.1f}"
        )


if __name__ == "__main__":
    main()
