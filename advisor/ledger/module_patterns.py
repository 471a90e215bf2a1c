"""Patterns over module paths as quantization configs write them: names, wildcards, "re:...".

Regular expressions come from a file, so they are never run: the few constructs that such configs
use are rewritten as wildcards, anything else is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, NamedTuple

_PREFIXES: Final = (
    "model.language_model.layers.",
    "language_model.model.layers.",
    "language_model.layers.",
    "model.decoder.layers.",
    "backbone.layers.",
    "transformer.layers.",
    "transformer.h.",
    "model.layers.",
    "layers.",
)
_MODEL: Final = "model."
_LAYERS: Final = "layers."
_EVERY_LAYER: Final = "layers.*."
_APART: Final = (
    "mtp",
    "vision",
    "visual",
    "audio",
    "mm_projector",
    "multi_modal_projector",
    "patch_merge",
    "embed_vision",
    "model.vision",
    "model.visual",
    "model.audio",
    "model.embed_vision",
    "model.multi_modal_projector",
)
"""Starts of names that no text tensor has: MTP layers are told apart as a whole, towers are
never quantized here."""
_MAX_ALTERNATIVES: Final = 64
_MAX_LENGTH: Final = 400


class PatternError(ValueError):
    """A pattern that cannot be read with certainty."""


class Named(NamedTuple):
    """Modules named within one layer, relative to it ("mlp.gate"; "" is the whole layer)."""

    names: frozenset[str] = frozenset()
    globs: frozenset[str] = frozenset()

    def match(self, paths: tuple[str, ...]) -> bool:
        """Whether any of a tensor's paths in the layer is one of these, or stands inside one."""
        if not self.names.isdisjoint(_heads(paths)):
            return True
        return any(matches_glob(path, glob) for glob in self.globs for path in paths)


_NOTHING: Final = Named()


class Patterns(NamedTuple):
    """Module patterns, sorted by what they speak of."""

    by_layer: Mapping[int, Named]
    every_layer: Named
    """What is named in every layer ("layers.*.self_attn"), relative to it."""
    names: frozenset[str]
    """Names and dotted parts of names that count in every layer, and outside the layers."""
    globs: tuple[str, ...]
    """Wildcards that count in every layer, and outside the layers."""
    mtp: bool
    """The MTP layers are named as a whole ("mtp*", "mtp.layers.0*")."""

    def of_layer(self, index: int) -> Named:
        """What is named in this layer alone."""
        return self.by_layer.get(index, _NOTHING)

    @property
    def numbered(self) -> bool:
        """Whether a wildcard may tell layers apart by their numbers."""
        return any(_LAYERS in glob for glob in self.globs)

    def match(self, paths: tuple[str, ...], index: int | None) -> bool:
        """Whether any of a tensor's paths is named; `index` is its layer, None outside them."""
        if not self.names.isdisjoint(_parts(paths)):
            return True
        if index is not None and (
            self.every_layer.match(paths) or self.of_layer(index).match(paths)
        ):
            return True
        where = "" if index is None else f"{_MODEL}{_LAYERS}{index}."
        return any(matches_glob(where + path, glob) for glob in self.globs for path in paths)


@lru_cache(maxsize=512)
def _parts(paths: tuple[str, ...]) -> frozenset[str]:
    """Every dotted part of the paths: a.b.c -> a, b, c, a.b, b.c, a.b.c."""
    found: set[str] = set()
    for path in paths:
        words = path.split(".")
        for start in range(len(words)):
            found.update(".".join(words[start:end]) for end in range(start + 1, len(words) + 1))
    return frozenset(found)


@lru_cache(maxsize=512)
def _heads(paths: tuple[str, ...]) -> frozenset[str]:
    """What the paths stand inside: a.b.c -> "", a, a.b, a.b.c."""
    found = {""}
    for path in paths:
        words = path.split(".")
        found.update(".".join(words[:end]) for end in range(1, len(words) + 1))
    return frozenset(found)


def _has_wildcard(text: str) -> bool:
    return "*" in text or "?" in text or "[" in text


def matches_glob(path: str, pattern: str) -> bool:
    """Whether a path is what a wildcard names, or stands inside it."""
    head = pattern[:-1]
    if pattern.endswith("*") and not _has_wildcard(head):
        return f"{path}.".startswith(head)
    return fnmatchcase(f"{path}.", pattern if pattern.endswith("*") else f"{pattern}.*")


def other_expert(entry: str) -> bool:
    """Whether an entry names one expert that is not the first: the first speaks for all."""
    return ".experts." in entry and ".experts.0." not in entry and _names_expert(entry)


def read_patterns(entries: Iterable[str], layers: int) -> Patterns:
    """Sort patterns by what they speak of; `layers` counts the MTP layers too.

    Raises:
        PatternError: a regular expression beyond the constructs known here.

    """
    by_layer: dict[int, set[str]] = {}
    every_layer: set[str] = set()
    names: set[str] = set()
    globs: dict[str, None] = {}
    mtp = False
    for entry in entries:
        if other_expert(entry):
            continue
        for glob in regex_globs(entry[3:]) if entry.startswith("re:") else (entry,):
            text = _normal(glob)
            if text.startswith(_APART):
                mtp = mtp or text.startswith("mtp")
                continue
            index, rest = _split(text)
            if text.startswith(_EVERY_LAYER):
                every_layer.add(text[len(_EVERY_LAYER) :])
            elif index is None and _has_wildcard(text):
                globs[_MODEL + text if text.startswith(_LAYERS) else text] = None
            elif index is None:
                names.add(text)
            elif rest is None:  # "layers.1*": every layer whose number starts so
                for number in range(layers):
                    if str(number).startswith(index):
                        by_layer.setdefault(number, set()).add("")
            else:
                by_layer.setdefault(int(index), set()).add(rest)
    return Patterns(
        {index: _named(found) for index, found in by_layer.items()},
        _named(every_layer),
        frozenset(names),
        tuple(globs),
        mtp=mtp,
    )


def _named(found: set[str]) -> Named:
    wild = frozenset(text for text in found if _has_wildcard(text))
    return Named(frozenset(found - wild), wild)


def _names_expert(entry: str) -> bool:
    after = entry.partition(".experts.")[2].partition(".")[0]
    return after.isdigit()


def _normal(text: str) -> str:
    """The same pattern with whatever stands before the layers cut to "layers."."""
    for prefix in _PREFIXES:
        if text.startswith(prefix):
            return _LAYERS + text[len(prefix) :]
    return text


def _split(text: str) -> tuple[str | None, str | None]:
    """(layer number, what is named in it); no number where the pattern names no single layer."""
    if not text.startswith(_LAYERS):
        return None, None
    head, dot, rest = text[len(_LAYERS) :].partition(".")
    if head.isdigit() and len(head) <= 5:
        return head, rest if dot else ""
    if head.endswith("*") and head[:-1].isdigit() and not dot:
        return head[:-1], None
    return None, None


def regex_globs(text: str) -> tuple[str, ...]:
    """A regular expression, matched from the start of a name, as wildcards.

    Raises:
        PatternError: for any construct but literals, ".", ".*", ".+", digits, groups of
            alternatives and anchors.

    """
    if len(text) > _MAX_LENGTH:
        raise PatternError(f"the pattern is longer than {_MAX_LENGTH} characters")
    body = text.removeprefix("^")
    ends = body.endswith("$")
    found = _alternatives(body.removesuffix("$"))
    return tuple(glob if ends or glob.endswith("*") else f"{glob}*" for glob in found)


def _alternatives(text: str) -> list[str]:
    """Every expansion of the groups in a pattern."""
    results = [""]
    at = 0
    while at < len(text):
        if text[at] == "(":
            end = _closing(text, at)
            inner = text[at + 1 : end].removeprefix("?:")
            options = [glob for part in _top_level(inner) for glob in _alternatives(part)]
            at = end + 1
            if text[at : at + 1] in {"*", "+", "?", "{"} and text[at : at + 1]:
                raise PatternError("a repeated group")
        else:
            piece, at = _piece(text, at)
            options = [piece]
        results = [head + tail for head in results for tail in options]
        if len(results) > _MAX_ALTERNATIVES:
            raise PatternError(f"more than {_MAX_ALTERNATIVES} alternatives")
    return results


def _closing(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0) if text[at - 1 : at] != "\\" else 0
        if not depth:
            return at
    raise PatternError("an open group")


def _top_level(text: str) -> list[str]:
    """The parts between the bars that stand outside inner groups."""
    parts, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return parts


_DIGITS: Final = ("\\d+", "\\d*", "[0-9]+", "[0-9]*", "\\w+", "\\w*", "[^.]+", "[^.]*")


def _piece(text: str, at: int) -> tuple[str, int]:
    """One construct as a wildcard, and where the next begins."""
    for construct in _DIGITS:
        if text.startswith(construct, at):
            return "*", at + len(construct)
    char = text[at]
    if char == ".":
        following = text[at + 1 : at + 2]
        if following == "*":
            return "*", at + 2
        return ("?*", at + 2) if following == "+" else ("?", at + 1)
    if char == "\\" and text[at + 1 : at + 2] in {".", "-", "_", "/"}:
        return text[at + 1], at + 2
    if char.isalnum() or char in "_-/:":
        if text[at + 1 : at + 2] in {"*", "+", "?", "{"} and text[at + 1 : at + 2]:
            raise PatternError(f"a repeated {char!r}")
        return char, at + 1
    raise PatternError(f"{char!r} at {at}")
