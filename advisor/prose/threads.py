"""Threads and shaders that are programs, or the setting of a run, and no arithmetic of a device."""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.prose.tagging import Tag

_THREADS: Final = frozenset({"threads", "shader", "shaders"})
_BEFORE: Final = 40
_AFTER: Final = 48
_STARTED: Final = Form(
    r"\b(?:launch|spawn|start|wak|creat|fork|join|block|pinn?)\w*(?: up)?(?: \w+){0,2}? $"
    r"|\b(?:multiple|concurrent|worker|background|client|python|cuda|reader|i/?o|several) $"
)
_WORK: Final = Form(
    r"[ -](?:pools?|blocks?|groups?|synchroni\w+|safety|ids?|evaluat\w+|comput\w+|wait\w*|blocked"
    r"|simultaneously|in parallel|concurrently)\b"
)
"""What threads of a program do."""
_SO_MANY: Final = Form(r"\b(?:at|with|on|using|used|in) (?:just |only |all )?\d+ (?:cpu )?$")
_COMPARED: Final = Form(
    r"\b(?:instead of|rather than|than|vs\.?|versus|against|from \d+|to \d+|up from|more|fewer|→|->"
    r"|double|twice|halv\w+)"
)
_OF_CODE: Final = Form(
    r"\b(?:compute|web-?gpu|wgsl|glsl|hlsl|vulkan|metal|spir-?v|msl|native|gpu|custom|fragment"
    r"|vertex|writ\w+|compil\w+|translat\w+|generat\w+|tun\w+|optimi[sz]\w+)(?: \w+)? $"
)
_CODE: Final = Form(
    r" (?:code|compil\w+|kernels?|programs?|languages?|sources?|variants?|files?)\b"
)


def is_program(text: str, tag: Tag) -> bool:
    """Whether threads or shaders are meant that run code, or that a figure was measured with."""
    if text[tag.start : tag.end].lower() not in _THREADS:
        return False
    begin, end = max(0, tag.start - _BEFORE), tag.end + _AFTER
    if text[tag.start] in "sS":
        return _OF_CODE.search(text, begin, tag.start) is not None or (
            _CODE.match(text, tag.end) is not None
        )
    if _STARTED.search(text, begin, tag.start) or _WORK.match(text, tag.end):
        return True
    if _SO_MANY.search(text, begin, tag.start) is None:
        return False
    return not (_COMPARED.search(text, begin, tag.start) or _COMPARED.search(text, tag.end, end))
