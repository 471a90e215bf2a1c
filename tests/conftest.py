from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def working_tree(tmp_path: Path) -> Path:
    """A copy of the repository as it stands, without what git ignores."""
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]
    return shutil.copytree(
        ROOT, tmp_path / "rooflint", ignore=shutil.ignore_patterns(".git", *ignored)
    )
