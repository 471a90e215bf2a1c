"""Compiled catalog files: one entry a line, and an index that says where each stands.

A command looks up one or two names. Parsing every device or every model for that would cost more
than the command itself, so the index (names and places) is parsed whole and an entry alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent


class Index(NamedTuple):
    """The index of one compiled file. Its tables are read-only by convention: they are cached."""

    file: str
    names: Mapping[str, list[str]]
    """Key of a name -> identifiers that answer to it, the most usual first."""
    places: Mapping[str, list[int]]
    """Identifier -> offset and length of its line in bytes."""
    tables: Mapping[str, Any]
    """Whatever else the catalog keeps beside its names."""

    def entry(self, identifier: str) -> dict[str, Any]:
        """Parse one entry; a KeyError where there is none."""
        offset, length = self.places[identifier]
        with (FOLDER / self.file).open("rb") as stream:
            stream.seek(offset)
            found: dict[str, Any] = json.loads(stream.read(length))
        return found


@lru_cache(maxsize=4)
def load_index(name: str) -> Index:
    """Read the index of the compiled catalog `name` ("hardware", "models")."""
    data = json.loads((FOLDER / f"{name}_index.json").read_bytes())
    return Index(f"{name}.json", data["names"], data["places"], data["tables"])


def render_lines(entries: Mapping[str, Mapping[str, Any]]) -> tuple[bytes, dict[str, list[int]]]:
    """Write entries as one JSON object with an entry a line; return it with the places."""
    places: dict[str, list[int]] = {}
    parts = [b"{\n"]
    offset = len(parts[0])
    for position, (identifier, entry) in enumerate(entries.items()):
        head = json.dumps(identifier).encode() + b": "
        body = json.dumps(entry, separators=(",", ":"), ensure_ascii=False).encode()
        tail = b"\n" if position == len(entries) - 1 else b",\n"
        places[identifier] = [offset + len(head), len(body)]
        parts += [head, body, tail]
        offset += len(head) + len(body) + len(tail)
    parts.append(b"}\n")
    return b"".join(parts), places
