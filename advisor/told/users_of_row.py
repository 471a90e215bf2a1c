"""A row of a table whose users have more tokens together than the server makes."""

from __future__ import annotations

import re
from typing import Final

from advisor.prose.model import Statement

_USERS: Final = re.compile(
    r"batch|streams|sessions|users\b|concurren|sequences|requests|num_seqs|clients|chats",
    re.IGNORECASE,
)
_TOTAL: Final = re.compile(
    r"aggregate|total|throughput|overall|all users|server|system|sum\b|combined", re.IGNORECASE
)
_OF_ONE: Final = re.compile(
    r"user|stream|session|itl|tpot|request|client|each|single|chat", re.IGNORECASE
)
_GRACE: Final = 1.15


def users_of_row(statement: Statement) -> tuple[float, float, float] | None:
    """Users, the tokens/s of each and those of all, where a row tells three that do not multiply.

    What benchmarks print is no claim, and has no statement to ask about: the tokens of all over a
    whole run, with its prompts and its idle ends.
    """
    if statement.table is None or statement.tpot_ms is None:
        return None
    columns, cells, own = statement.table
    users, total = _users_in(columns), _total_beside(columns, own)
    if users is None or total is None or own in {users, total} or total >= len(cells):
        return None
    if _OF_ONE.search(columns[own]) is None:
        return None
    count, rate = _number(cells[users]), _number(cells[total])
    if not count or not rate or count <= 1:
        return None
    each = 1e3 / statement.tpot_ms
    return (count, each, rate) if each * count > _GRACE * rate else None


def _users_in(columns: tuple[str, ...]) -> int | None:
    return next((at for at, name in enumerate(columns) if _USERS.search(name)), None)


def _total_beside(columns: tuple[str, ...], own: int) -> int | None:
    """The column of the tokens of all; of several, the one that goes with a column by its name.

    "Base TPOT", "Base throughput", "New TPOT", "New throughput": two runs in one row.
    """
    totals = [at for at, name in enumerate(columns) if _TOTAL.search(name) is not None]
    if len(totals) <= 1:
        return next(iter(totals), None)
    whose = columns[own].split()[:1]
    alike = [at for at in totals if columns[at].split()[:1] == whose]
    return alike[0] if len(alike) == 1 else None


def _number(cell: str) -> float | None:
    match = re.match(r"[~≈]?\s*(\d[\d,]*(?:\.\d+)?)", cell.strip())
    return float(match[1].replace(",", "")) if match else None
