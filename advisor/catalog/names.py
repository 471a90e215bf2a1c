"""Names as people write them: words in any order, case and punctuation.

A name is reduced to a key: its words, sorted. "A100 80GB SXM", "a100-sxm-80gb" and
"NVIDIA A100 SXM (80 GB)" have one key. Letters and digits part ("RTX4090" is "RTX 4090"), a
number keeps its unit and its decimals ("80 GB" is one word, and so is the 2.5 of "Qwen2.5-3B",
which would else be the same bag of digits as "Qwen3.5-2B").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_TRADEMARK = re.compile(r"[™®©]|\((?:r|tm|c)\)", re.IGNORECASE)
_WORD = re.compile(
    r"""
      (?P<experts>(?<![a-z0-9.])\d{1,3}x\d{1,3}(?:\.\d+)?b(?![a-z0-9]))  # 8x7b
    | (?<![a-z0-9.])\d{1,2}b\d{1,2}(?![a-z0-9])  # BLOOM's 7b1
    | (?<![a-z0-9.])(?P<size>\d+(?:\.\d+)?)[ -]?
      (?P<unit>gib|gb|g|tib|tb|b|m|t|k|bits?|cores?|bpw)(?![a-z0-9])
    | \d+(?:\.\d+)?(?:gb|b|m)(?![a-z0-9])  # after a letter: "llama70b", "sxm80gb"
    | \d+(?:\.\d+)*\+?
    | [a-z]+\+?
    """,
    re.VERBOSE,
)
_UNITS = {"gib": "gb", "g": "gb", "tib": "tb", "bits": "bit", "cores": "core"}
MAX_NAME = 200
"""Longer texts are no names; matching takes more than linear time."""
# Two words that are as often written as one.
_COMPOUNDS: Mapping[str, tuple[str, ...]] = {
    "tisuper": ("ti", "super"),
    "tinyllama": ("tiny", "llama"),
    "codellama": ("code", "llama"),
    "openllama": ("open", "llama"),
    "codegemma": ("code", "gemma"),
    "medgemma": ("med", "gemma"),
    "deepseek": ("deep", "seek"),
    "openhermes": ("open", "hermes"),
    "smollm": ("smol", "lm"),
    "starcoder": ("star", "coder"),
    "wizardlm": ("wizard", "lm"),
    "wizardcoder": ("wizard", "coder"),
    "stablelm": ("stable", "lm"),
    "stablebeluga": ("stable", "beluga"),
    "internlm": ("intern", "lm"),
    "minimax": ("mini", "max"),
    "minicpm": ("mini", "cpm"),
    "redpajama": ("red", "pajama"),
    "gptoss": ("gpt", "oss"),
    "gptj": ("gpt", "j"),
    "gptneox": ("gpt", "neox"),
    "bitnet": ("bit", "net"),
}

_COUNT_WORDS = {
    "single": 1, "one": 1, "dual": 2, "two": 2, "pair": 2, "three": 3, "quad": 4, "four": 4,
    "six": 6, "eight": 8, "sixteen": 16,
}  # fmt: skip
_COUNT = r"[1-9]\d{0,4}"
_THINGS = r"(?:gpu|card|device|accelerator|chip|board|socket|node)s?"
_LEADING = re.compile(
    rf"\s*({_COUNT})\s*(?:[x×*]\s*|\s(?=[a-z])|-?{_THINGS}\s+)(.+)", re.IGNORECASE | re.DOTALL
)
_LEADING_WORD = re.compile(
    rf"\s*(?:an?\s+)?({'|'.join(_COUNT_WORDS)})(?:\s+of)?[\s-]+(.+)", re.IGNORECASE | re.DOTALL
)
_TRAILING = re.compile(
    rf"(.+?)\s*[,(]?\s*(?:(?<=[\s,(])[x×]|[×*])\s*({_COUNT})(?:\s*{_THINGS})?\s*\)?\s*",
    re.IGNORECASE | re.DOTALL,
)
_TRAILING_THINGS = re.compile(
    rf"(.+?)[\s,(]+({_COUNT})[\s-]*{_THINGS}\s*\)?\s*", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Match:
    """What a name may stand for."""

    candidates: tuple[str, ...]
    """Identifiers, the most usual first; several where the name leaves it open; none: unknown."""
    exact: bool = False
    """Every word belongs to the name as the catalog has it: none was set aside."""
    nearest: tuple[str, ...] = ()
    """Known names that look like it, where there is no candidate."""
    differ: str = ""
    """In what the candidates differ, where there are several."""

    @property
    def found(self) -> bool:
        """Whether anything answers to the name."""
        return bool(self.candidates)

    @property
    def unique(self) -> str | None:
        """The only candidate, if there is just one."""
        return self.candidates[0] if len(self.candidates) == 1 else None


class UnknownNameError(ValueError):
    """A name that the catalog does not know."""

    def __init__(self, kind: str, text: str, nearest: tuple[str, ...] = ()) -> None:
        """Say what kind of name it is and keep the nearest known ones."""
        self.text, self.nearest = text, nearest
        shown = text if len(text) <= 60 else text[:57] + "..."
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        super().__init__(f"unknown {kind} {shown!r}{hint}")


def words(text: str) -> list[str]:
    """Split a name into its words, as written: lower case, sizes with their unit."""
    plain = _TRADEMARK.sub(" ", text[:MAX_NAME]).lower().replace("_", "-")
    found = []
    for match in _WORD.finditer(plain):
        if match["unit"]:
            found.append(_sized(match["size"], match["unit"]))
        else:
            found += _COMPOUNDS.get(match[0], (match[0],))
    return found


def _sized(number: str, unit: str) -> str:
    """One spelling for one size: 80gb, 0.5b, 1000b for 1T, 40core."""
    unit = _UNITS.get(unit, unit)
    if unit == "t":
        return f"{float(number) * 1000:g}b"
    return f"{float(number):g}{unit}" if len(number) < 9 else number + unit


def key(parts: Iterable[str], ignored: frozenset[str] = frozenset()) -> str:
    """Sort the words of a name into the key it is looked up by."""
    return " ".join(sorted(word for word in parts if word not in ignored))


def nearest_names(text: str, known: dict[str, str], count: int = 3) -> tuple[str, ...]:
    """Names that look like `text`: `known` maps squeezed spellings to the names to show."""
    squeezed = squeeze(text)
    # difflib takes quadratic time, and nothing this long is a misspelt name.
    if not squeezed or len(squeezed) > 80:
        return ()
    from difflib import get_close_matches  # noqa: PLC0415 - only a wrong name pays for it

    close = get_close_matches(squeezed, known, n=count * 3, cutoff=0.6)
    return tuple(dict.fromkeys(known[spelling] for spelling in close))[:count]


def squeeze(text: str) -> str:
    """Letters, digits and "+" alone, lower case: the spelling that `nearest_names` compares."""
    return re.sub(r"[^a-z0-9+]", "", text.lower())


def split_counts(text: str) -> Iterator[tuple[int, str]]:
    """Ways to read `text` as a count and a name: "2 x H100", "H100 x2", "dual 3090", "4 H100"."""
    text = " ".join(text.split())
    for pattern in (_LEADING, _LEADING_WORD):
        if match := pattern.fullmatch(text):
            yield _COUNT_WORDS.get(match[1].lower()) or int(match[1]), match[2]
    for pattern in (_TRAILING, _TRAILING_THINGS):
        if match := pattern.fullmatch(text):
            yield int(match[2]), match[1]
