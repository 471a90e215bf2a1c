"""Files that a run leaves out, and rules that it leaves out in some files.

Patterns are those of .gitignore, relative to the folder of the settings that hold them: `drafts/`,
`*.tmp.yaml`, `docs/**`; a later `!pattern` takes files back in.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Scope(NamedTuple):
    """What settings say of files by their paths."""

    folder: str = "."
    """That patterns are relative to."""
    exclude: tuple[str, ...] = ()
    """Patterns of files that are not read, even where they are named."""
    per_file: tuple[tuple[str, frozenset[str]], ...] = ()
    """Patterns of files, each with the codes of rules that do not run on them."""

    def excludes(self, path: str) -> bool:
        """Whether a file, or a folder with all it holds, is left out."""
        return bool(self.exclude) and self._matches(path, self.exclude)

    def ignored(self, path: str) -> frozenset[str]:
        """Codes of the rules that do not run on a file."""
        return frozenset(
            code
            for pattern, codes in self.per_file
            if self._matches(path, (pattern,))
            for code in codes
        )

    def _matches(self, path: str, patterns: tuple[str, ...]) -> bool:
        relative = os.path.relpath(path, self.folder).replace(os.sep, "/")
        if relative.startswith("../"):
            return False
        spec = _spec(patterns)
        is_match = spec.match_file(relative)
        return is_match or (Path(path).is_dir() and spec.match_file(f"{relative}/"))


@lru_cache(maxsize=256)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - only where there are patterns

    return GitIgnoreSpec.from_lines(patterns)
