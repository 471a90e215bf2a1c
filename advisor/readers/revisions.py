"""Files as they were in revisions of a git repository; nothing is checked out or run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from advisor.readers import READERS
from advisor.readers.discover import git_output
from advisor.source import MAX_BYTES

_LONGEST: Final = 200


class Revisions:
    """The revisions of the repository around a folder."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder that git is asked in."""
        self.folder = str(folder)

    @property
    def are_there(self) -> bool:
        """Whether the folder belongs to a repository at all."""
        return git_output(self.folder, "rev-parse", "--git-dir") is not None

    def has(self, name: str) -> bool:
        """Whether a name is a revision."""
        if not name or name.startswith("-") or len(name) > _LONGEST:
            return False
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return git_output(self.folder, *asked) is not None

    def changed(self, old: str, new: str, paths: Sequence[str] = ()) -> tuple[str, ...]:
        """Files that differ and that a reader is for, by their path from the top, sorted."""
        asked = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", old, new, "--")
        listed = git_output(self.folder, *asked, *paths) or b""
        names = {os.fsdecode(raw) for raw in listed.split(b"\0") if raw}
        suffixes = tuple(suffix for reader in READERS for suffix in reader.suffixes)
        return tuple(sorted(name for name in names if name.lower().endswith(suffixes)))

    def content(self, name: str, path: str) -> bytes | None:
        """A file's bytes in a revision; None where it is not there, or too large."""
        data = git_output(self.folder, "cat-file", "blob", f"{name}:{path}")
        return None if data is None or len(data) > MAX_BYTES else data
