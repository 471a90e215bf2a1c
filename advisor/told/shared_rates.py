"""The rate of all users of a server, taken for what one of them sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.prose.totals import shared_rate, users_of
from advisor.prose.users import AS_OWN
from advisor.said import Said, Wrong

if TYPE_CHECKING:
    from advisor.finding import Confidence


def taken_for_own(said: Said, sure: Confidence) -> Wrong | None:
    """The rate of many together that is said to be what one of them has: "that is what you get"."""
    statement = said.statement
    match = AS_OWN.search(statement.text)
    if match is None or statement.table is not None:
        return None
    text = statement.context_text
    total = shared_rate(text[: text.rfind(statement.text) + match.start()])
    if total is None:
        return None
    users = users_of(text)
    each = f": each of {users} has {total / users:,.3g}" if users else ""
    return Wrong(
        f"{total:,.0f} tokens/s are those of all who share the steps{each}",
        sure,
        numbers={"total_tokens_per_second": total},
    )
