"""The formats that findings are told in, one module each, imported when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.checking import Checked
from advisor.reports.style import Style

FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "text": "text",
        "concise": "concise",
        "markdown": "markdown",
        "json": "machine",
        "github": "github",
        "gitlab": "gitlab",
        "junit": "junit",
        "sarif": "sarif",
    }
)
"""Module of each format, whose `report` writes it."""


class PageSetup(NamedTuple):
    """What a report is written on."""

    style: Style = Style()
    quiet: bool = False
    """Findings only, no summary."""
    terminal: bool = False
    """Whether somebody looks at it: they are told that nothing was found."""
    root: Path = Path()
    """Of the repository: programs that show findings beside code take paths from there."""

    def path(self, path: str) -> str:
        """A path from the root of the repository, with forward slashes; as it is outside."""
        if path == "-":
            return path
        relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        return path if relative.startswith("../") else relative


def write(name: str, checked: Checked, page: PageSetup) -> str:
    """The findings of a run in a format; KeyError for a name that is none of `FORMATS`."""
    text: str = import_module(f"advisor.reports.{FORMATS[name]}").report(checked, page)
    return text


def repository_root(start: Path) -> Path:
    """The nearest folder at or above one that git keeps; the folder itself where there is none."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return start
