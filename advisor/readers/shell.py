"""Commands in a document: servers started, checkpoints quantized, in the words of a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.proposal import Proposal
from advisor.readers.inner_text import InnerText
from advisor.readers.manifest_values import FLAG_TEXT
from advisor.readers.serving import walk_script
from advisor.readers.setups import joined, proposal_of
from advisor.source import Source, Span

_PROMPT: Final = re.compile(r"^[ \t]*(?:\$|>|#(?=[ ]\w+[ ].*--)|\(\w+\) ?\$)[ ]", re.MULTILINE)


def read_commands(source: Source, span: Span) -> Iterator[Proposal]:
    """What the commands that stand in a range of a file configure, at their places."""
    written = source.text[span.start : span.end]
    if not FLAG_TEXT.search(written):
        return
    # signs of a prompt are no words of the command
    plain = _PROMPT.sub(lambda match: " " * len(match[0]), written)
    text = InnerText(Source(source.path, plain), range(span.start, span.end))
    for setup in joined(walk_script(text)):
        proposal = proposal_of(setup, source, span)
        if proposal is not None:
            yield proposal
