"""The question that a sentence answers: it says what a bare amount is of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from advisor.prose.model import Statement

_QUESTION: Final = re.compile(r"([^.?!]{8,160})\?\W*(?:A(?:nswer)?:\W*)?$")


def question_before(statement: Statement) -> str:
    """The question right before the sentence of a statement; nothing where there is none."""
    at = statement.context_text.rfind(statement.sentence_text)
    question = _QUESTION.search(statement.context_text, 0, max(at, 0))
    return question[1] if question is not None else ""
