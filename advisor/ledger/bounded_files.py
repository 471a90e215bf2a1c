"""Reading small parts of files that may lie: regular files only, inside one folder, bounded."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

MAX_JSON_BYTES: Final = 64 * 2**20
"""The largest real indexes and configs have a few megabytes."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be read: which file, and what is wrong with it."""


def inside(folder: Path, name: str) -> Path:
    """The path of a file of a folder, named by a file of the folder.

    Raises:
        CheckpointError: the name leads out of the folder, by dots, as an absolute path or by a
            symbolic link.

    """
    if not name or "\0" in name or name != os.path.basename(name) or name in {".", ".."}:  # noqa: PTH119 (Path would normalise the name before it is judged)
        raise CheckpointError(f"{name!r} is no file name: an index may only name its own folder")
    path = folder / name
    resolved = path.resolve()
    if folder.resolve() != resolved.parent:
        raise CheckpointError(
            f"{name} is a link that leads out of the folder; "
            "give a folder that holds the files themselves"
        )
    return path


def open_regular(path: Path) -> tuple[BinaryIO, int]:
    """Open a regular file for reading, with its size in bytes.

    Raises:
        CheckpointError: there is none, it cannot be read, or it is a device, pipe or folder.

    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise CheckpointError(f"{path.name} is not a regular file")
        return path.open("rb"), status.st_size
    except OSError as error:
        raise CheckpointError(f"{path.name} cannot be read: {error.strerror}") from None


def read_json(path: Path, limit: int = MAX_JSON_BYTES) -> dict[str, object]:
    """The object in a JSON file of at most `limit` bytes.

    Raises:
        CheckpointError: it is too large, no JSON, nested beyond reason, or no object.

    """
    file, size = open_regular(path)
    with file:
        if size > limit:
            raise CheckpointError(f"{path.name} has {size:,} bytes; at most {limit:,} are read")
        data = file.read(limit + 1)
    return parse_json(data, path.name)


def parse_json(data: bytes, name: str) -> dict[str, object]:
    """The object in a JSON text.

    Raises:
        CheckpointError: it is no JSON, nested beyond reason, or no object.

    """
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise CheckpointError(f"{name}:{error.lineno}:{error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{name} is no UTF-8 text: {error.reason}") from None
    except ValueError as error:  # a number of thousands of digits
        raise CheckpointError(f"{name} cannot be read: {error}") from None
    except RecursionError:
        raise CheckpointError(f"{name} is nested too deep") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{name} holds no JSON object, but a {type(value).__name__}")
    return value
