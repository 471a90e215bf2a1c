"""Time of reading prose: 1 MB of documents, and adversarial texts of doubling length.

    python -m benchmarks.prose_speed [FILES ...] [--words 100000]

FILES are read as one text of 1 MB, each file once as far as they reach. Of each kind of
adversarial text one of half as many words is read, and then one of all of them, in which nothing
is repeated word for word: the last column, their ratio, is about 2 where time is linear. Time is
that of the processor.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from time import process_time

from advisor.audit import audit
from advisor.process import collect_seldom
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

_NUMBERS = count(1000)
"""A number for each sentence, so that no two are equal and nothing is read from a cache."""


def _sentence() -> str:
    number = next(_NUMBERS)
    return (
        f"We prune {number % 89 + 1}% of the weights of the 8B in run {number} at batch 1, so"
        " decode gets 30% faster. "
    )


def _clause() -> str:
    number = next(_NUMBERS)
    return f"pruning {number % 89 + 1}% of the weights in run {number} makes decode 2x faster and "


def _times(words: int, one: int, part: Callable[[int], str]) -> str:
    return "".join(part(index) for index in range(max(words // one, 1)))


TEXTS: dict[str, Callable[[int], str]] = {
    "paragraphs": lambda n: _times(
        n, 80, lambda _: "".join(_sentence() for _ in range(4)) + "\n\n"
    ),
    "long paragraphs": lambda n: _times(
        n, 5000, lambda _: "".join(_sentence() for _ in range(250)) + "\n\n"
    ),
    "one paragraph": lambda n: _times(n, 20, lambda _: _sentence()),
    "long sentences": lambda n: _times(
        n, 220, lambda _: "".join(_clause() for _ in range(17)) + "ends.\n\n"
    ),
    "one sentence": lambda n: _times(n, 13, lambda _: _clause()),
    "nested lists": lambda n: _times(n, 20, lambda i: f"{'  ' * (i % 12)}- {_sentence()}\n"),
    "nested quotations": lambda n: _times(n, 20, lambda i: f"{'> ' * (i % 30)}{_sentence()}\n\n"),
    "rows of a table": lambda n: (
        "| a | b | c |\n|---|---|---|\n"
        + _times(n, 8, lambda i: f"| prune {i}, 50% | 2x faster decode | {i} tok/s |\n")
    ),
    "tables": lambda n: _times(
        n,
        30,
        lambda i: f"Run {i}.\n\n| a {i} | tok/s |\n|---|---|\n| bf16 | {i} |\n| int4 | 9 |\n\n",
    ),
    "columns of a table": lambda n: (
        "|" + " a |" * (n // 3) + "\n|" + "---|" * (n // 3) + "\n|" + " 2x |" * (n // 3) + "\n"
    ),
    "operands": lambda n: _times(
        n,
        26,
        lambda i: (
            f"The {7 + i % 60}B in INT{4 + i % 2 * 4} takes {14 + i / 100:.2f} GB at {800 + i} GB/s"
            f" and {20 + i / 10:.1f} tok/s. TP={1 + i % 8} has {i % 40 + 3}.5 ms.\n\n"
        ),
    ),
    "headings": lambda n: _times(n, 4, lambda i: f"{'#' * (i % 6 + 1)} Decode {i} faster\n\n"),
    "comments": lambda n: _times(n, 4, lambda i: f"<!-- rooflint: ignore[FLP002] x{i} -->\n"),
    "fences": lambda n: _times(n, 4, lambda i: f"```yaml\na: {i}\n```\n"),
    "shells": lambda n: _times(
        n, 8, lambda i: f"```bash\nvllm serve m --tensor-parallel-size {i}\n```\n"
    ),
    "spaces": lambda n: " " * (6 * n) + "faster",
    "comments in a line": lambda n: _times(
        n, 4, lambda i: f"<!-- rooflint: ignore[FLP002] x{i} --> "
    ),
    "line ends": lambda n: "\r\n" * (3 * n),
}


UNITS: dict[str, str] = {
    "brackets": "[",
    "links": "[a{i}](b ",
    "backticks": "`a{i} ``b ",
    "stars": "**a{i} *b ",
    "underscores": "__a{i} _b ",
    "angles": "<a{i} <b ",
    "quotation marks": "\"decode is {i}x faster' ",
    "numbers": "1.{i}x {i} ms 30% {i} GB {i} tok/s ",
    "digits": "1{i}",
    "fractions": "1/{i}:2-3 ",
    "negations": "not no never cannot decode {i} faster ",
    "commas": "decode, faster, so, which, {i}, ",
    "hyphens": "batch-{i}-decode-",
    "dots": "decode. faster.{i} e.g. ",
    "questions": "Is decode {i} compute-bound? No, it reads {i} GB. ",
    "heads": "{i} of 64 heads are masked of layers 2 to ",
    "settings": "--max-num-seqs {i} kv_cache_dtype=fp8 ",
    "spaces": "{i}                    faster ",
}
"""What is repeated without an end, in one block and in blocks of the length of long sentences."""


def _pieces(unit: str, words: int, length: int) -> str:
    """Blocks of about so many characters of a unit, 6 characters for a word."""
    blocks = []
    left = 6 * words
    while left > 0:
        size = min(length, left)
        block = "".join(unit.format(i=next(_NUMBERS)) for _ in range(max(size // len(unit), 1)))
        blocks.append(block[:size])
        left -= size
    return "\n\n".join(blocks)


def _texts() -> dict[str, Callable[[int], str]]:
    """All kinds of text: the units once without an end, once in long sentences."""
    found = dict(TEXTS)
    for name, unit in UNITS.items():
        found[f"{name}, one block"] = partial(_pieces, unit, length=10**9)
        found[f"{name}, sentences"] = partial(_pieces, unit, length=1400)
    return found


def seconds(text: str, path: str = "doc.md") -> float:
    """Processor time to read and judge a text."""
    start = process_time()
    for proposal in read(Source(path, text)).proposals:
        audited, _ = audit(proposal)
        if audited is not None:
            run(audited)
    return process_time() - start


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description="Time of reading prose.")
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--words", type=int, default=100_000)
    given = parser.parse_args()
    collect_seldom()
    seconds("\n\n".join(_sentence() for _ in range(400)))
    if given.files:
        text = "\n\n".join(path.read_text(encoding="utf-8") for path in given.files)
        whole = (text * (1_000_000 // max(len(text), 1) + 1))[:1_000_000]
        repeated = f", of which {len(text) / 1e6:.2f} MB are no repetition" if text < whole else ""
        print(f"{seconds(whole):.2f} s for 1 MB of {len(given.files)} files{repeated}")
    print(f"{'text':26} {'KB':>6} {'s':>7} {'KB':>6} {'s':>7}  ratio")
    for name, text_of in _texts().items():
        one, other = text_of(given.words // 2), text_of(given.words)
        first, second = seconds(one), seconds(other)
        print(
            f"{name:26} {len(one) / 1e3:6.0f} {first:7.3f} {len(other) / 1e3:6.0f} {second:7.3f}"
            f"  {second / max(first, 1e-3):.1f}"
        )


if __name__ == "__main__":
    main()
