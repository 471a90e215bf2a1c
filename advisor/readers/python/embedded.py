"""Documents in a script's texts: a recipe, a merge, an engine's config, a manifest.

What stands around the text is blanked, so that every place in it is a place in the file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from advisor.proposal import Proposal
from advisor.readers.python.syntax import Places
from advisor.source import Source

_DOCUMENT: Final = re.compile(
    r"^\s*(?:-\s*)?(?:layer_range|merge_method|\w+Modifier|tensor[-_]parallel[-_]size"
    r"|kv[-_]cache[-_]dtype|speculative[-_]config|image)\s*:",
    re.MULTILINE,
)
_FEW: Final = 10
"""Documents of one script; a file with more of them is made of test data."""


def embedded(
    documents: Iterable[ast.Constant], source: Source, places: Places
) -> Iterator[Proposal]:
    """What the texts of a script configure."""
    chosen = [node for node in documents if _DOCUMENT.search(str(node.value)) is not None]
    for node in chosen[:_FEW]:
        text = str(node.value)
        span = places.span(node)
        start = source.text.find(text, span.start, span.end)
        if start < 0:
            continue  # escapes or joined parts: its places are not those of the file
        from advisor.readers.configurations import read_configurations  # noqa: PLC0415

        around = re.sub(r"[^\r\n]", " ", source.text[:start])
        for proposal in read_configurations(Source(source.path, around + text)):
            yield proposal._replace(source=source)
