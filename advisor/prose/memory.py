"""What a document has stated so far of its deployment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from advisor.prose.frame import NAMES, NOTHING, Frame, is_alike

_OWN_BLOCK: Final = frozenset({"is_loose", "kv_bytes", "tokens_per_pass", "acceptance", "phase"})
"""What holds for its own block alone."""


class Memory:
    """What a document has stated so far; a fact stated twice and differently is forgotten."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._stated: dict[str, object] = {}
        self._disputed: set[str] = set()
        self._mixtures: dict[float, float] = {}

    @property
    def disputed(self) -> frozenset[str]:
        """Names of what was stated twice and differently."""
        return frozenset(self._disputed)

    def learn(self, frame: Frame) -> None:
        """Take in what a frame states."""
        if frame is NOTHING:
            return
        for name in NAMES:
            value = getattr(frame, name)
            if value is None or name in self._disputed or name in _OWN_BLOCK:
                continue
            if name == "context" and frame.is_loose:
                continue  # any number of tokens, which need not be the length of a context
            known = self._stated.setdefault(name, value)
            if known != value:
                del self._stated[name]
                self._disputed.add(name)

    def learn_mixtures(self, sizes: Iterable[tuple[float, float | None]]) -> None:
        """Take in sizes of models with what a token uses of them."""
        self._mixtures.update({size: active for size, active in sizes if active is not None})

    def completed(self, frame: Frame) -> Frame:
        """A frame that names a mixture by its size alone, with what a token uses of it."""
        if frame.parameters is None or frame.active_parameters is not None:
            return frame
        for size, active in self._mixtures.items():
            if is_alike(frame.parameters, size):
                return replace(frame, active_parameters=active)
        return frame

    def frame(self) -> Frame:
        """What still holds for the whole document."""
        return Frame(**self._stated)  # type: ignore[arg-type]
