"""The least bytes and the most bandwidth that a document has stated so far.

Where several formats or devices stand in a text, nobody can tell which of them a figure is meant
for. A figure that none of them allows is wrong all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.catalog.hardware import device, variants_of
from advisor.forms import Form
from advisor.prose.devices import devices_in
from advisor.prose.frame import Frame, frame_of
from advisor.prose.split import count_in
from advisor.prose.widths import widths_of

_READ: Final = 0.93
"""Of the parameters in a name: names round sizes, and input embeddings are not read."""
_NOMINAL: Final = 0.15
"""A size further from another is that of another model."""
_BANDWIDTH: Final = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?([TG])B/s", re.IGNORECASE)


_DRAFTS: Final = Form(
    r"\b(?:speculat\w+|draft(?:s|er|ing|ed)?|eagle|medusa|mtp|lookahead|n-?gram|prompt lookup)\b"
)


_MIXTURES: Final = Form(
    r"\b(?:experts?|mixtures?|moes?|mixtral|gpt-oss|deepseek|kimi|maverick|scout|grok|hunyuan"
    r"|minimax"
    r"|glm-4\.[5-9]|\d+x\d+b|a\d+(?:\.\d+)?b"
    r"|active (?:parameters|params|weights)|(?:b|billion) (?:are |is )?(?:active|activated))\b"
    r"|\b(?:activates|routed? to) "
)
_HUGE: Final = 150e9
_DENSE: Final = (175e9, 176e9, 180e9, 253e9, 340e9, 405e9, 530e9, 540e9)
"""Parameters of dense models beyond the size that nearly all others are mixtures from."""


def may_be_mixture(frame: Frame, text: str) -> bool:
    """Whether a model whose active part is untold is a mixture, by its name or by its size."""
    if frame.active_parameters is not None:
        return False
    size = frame.parameters
    if size is None and frame.weight_bytes is not None:
        size = frame.weight_bytes * 8.0 / (frame.weight_bits or 16.0)
    if size is not None and size > _HUGE:
        return not any(abs(size / dense - 1.0) < _NOMINAL for dense in _DENSE)
    if frame.parameters is not None and "distil" in text.lower():
        return False  # a dense one that a mixture taught
    return frame.model is None and _MIXTURES.search(text) is not None


_FORMAT: Final = r"\b(?:fp|bf|f|int|q)\d{1,2}(?:_\d)?|\b\d{1,2}[- ]bits?"
_OF_A_PART: Final = Form(
    r"\b\d{1,2}[- ]bits? (?:output |lm |word )?(?:heads?|scales?|embeddings?|logits|norms?"
    r"|accum\w+)\b"
    rf"|(?:{_FORMAT})[- ](?:kv[- ]?|key[- ]value )?(?:cache|keys|activations?)\b"
    rf"|(?<!and )(?<!with )\b(?:kv[- ]?cache|kv|cache)(?: is| stays| kept| held| stored)?"
    rf"(?: in| at|:) (?:{_FORMAT})\b"
)
"""A width of a part that is small beside the weights, or of the cache and no weights at all."""


UNDRAFTED: Final = (
    r"\bnon-?speculative|\b(?:no|without(?: an?| any)?|not any) (?:speculat\w+|draft\w*|mtp|eagle"
    r"|medusa)"
    r"|\b(?:draft\w*|speculat\w+(?: decoding)?|mtp|eagle) (?:models? |heads? )?(?:is |are |was "
    r"|stays? |kept |switched "
    r"|turned )?(?:off|disabled|out of scope|excluded|unused|not (?:allowed|permitted|planned|used"
    r"|admitted|in use)|forbidden|ruled out)\b|\bplain (?:decod\w+|autoregress\w+)"
    r"|\b(?:draft(?:s|ing)?|speculat\w+(?: decoding)?|mtp)(?: ?[:=] ?| \| )(?:off|no|none|false"
    r"|disabled|0)\b"
)
"""Words that rule several tokens a pass out."""
NONE_DRAFTED: Final = Form(
    r"\b(?:no|without) (?:speculat\w+|draft\w*|mtp)(?: decoding)?(?: is used)?,? (?:unless|except"
    r"|in any|in all|throughout|anywhere)\b"
    r"|\b(?:all|every|each|these|the) (?:figures?|numbers?|rates?|targets?|rows?|measurements?)\b"
    r"[^.;]{0,60}? (?:no|without) (?:speculat\w+|draft\w*|mtp)\b"
)
"""The same of all figures of a text."""


class Least(NamedTuple):
    """The lowest floor that the operands of a text allow."""

    weight_bytes: float
    bandwidth_gbs: float
    """Of all devices together."""
    has_drafts: bool
    """Whether drafts are spoken of anywhere before: a pass may then yield several tokens."""
    is_undrafted: bool
    """Whether the text says of its figures, as such, that none of them is with drafts."""

    @property
    def ms(self) -> float:
        """Bytes over bandwidth."""
        return self.weight_bytes / self.bandwidth_gbs / 1e6


class Operands(NamedTuple):
    """What one sentence states; of several bandwidths and numbers of devices the largest."""

    frame: Frame
    bandwidth_gbs: float
    """Of one device; zero where none is stated."""
    total_gbs: float
    """Of all devices together; zero where none is stated."""
    devices: int
    widths: frozenset[float]
    """Bits of every number format that is named."""


@lru_cache(maxsize=8192)
def operands_of(text: str) -> Operands:
    """The operands in a sentence."""
    frame = frame_of(_OF_A_PART.sub(" ", text))
    rates = [
        float(number.replace(",", "")) * (1e3 if unit in "Tt" else 1.0)
        for number, unit in _BANDWIDTH.findall(text)
    ]
    named = {one.identifier for one in devices_in(text)} | ({frame.hardware} - {None})
    for identifier in named:
        known = variants_of(identifier) if identifier is not None else ()
        rates.extend(device(name).bandwidth_gbs for name in known)
    several = count_in(text) if named or frame.devices else None
    summed = bool(rates) and not named and _SUMMED.search(text) is not None
    return Operands(
        frame,
        0.0 if summed else max(rates, default=0.0),
        max(rates) if summed else 0.0,
        max(several or 1, frame.devices or 1),
        frozenset(widths_of(_OF_A_PART.sub(" ", text))),
    )


_SUMMED: Final = Form(
    r"\b(?:total|together|combined|aggregated?|in sum|altogether)\b(?!.*\b(?:each|apiece"
    r"|per (?:card"
    r"|gpu|device))\b)"
)
"""A sentence of bandwidths that are those of all devices."""


class Extremes:
    """Operands as a document states them, sentence by sentence."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._told: dict[Operands, None] = {}
        self._has_drafts = False
        self._is_undrafted = False
        self._has_mixtures = False

    def note(self, text: str) -> None:
        """Take note of a block, which may state no operand."""
        self._is_undrafted = self._is_undrafted or NONE_DRAFTED.search(text) is not None
        self._has_drafts = self._has_drafts or _DRAFTS.search(text) is not None
        self._has_mixtures = self._has_mixtures or _MIXTURES.search(text) is not None

    def learn(self, text: str, heading: str = "") -> None:
        """Take in what a sentence states; its heading may name the format of its bytes."""
        if len(self._told) > _MOST:
            return
        self._keep(_under(operands_of(text), heading))

    def learn_row(self, text: str, frame: Frame) -> None:
        """Take in the bytes of a row, which is of a variant of its own."""
        if frame.weight_bytes is not None and len(self._told) <= _MOST:
            told = operands_of(text)
            self._keep(told._replace(frame=frame.over(told.frame)))

    def _keep(self, told: Operands) -> None:
        if (
            told.widths
            or told.bandwidth_gbs
            or told.total_gbs
            or any(getattr(told.frame, name) is not None for name in _OF_BYTES)
        ):
            self._told[told] = None  # each once: a long document repeats them

    def least(self, block: Sequence[str], near: Frame) -> Least | None:
        """The lowest floor of a figure: by its own block as far as that tells, else by all before.

        `block` holds the sentences of the block up to the figure, its own the last; `near` is what
        it inherits from them and from its labels.
        """
        if near.active_parameters is not None or len(self._told) > _MOST:
            return None
        if self._has_mixtures or any(_MIXTURES.search(sentence) for sentence in block):
            return None  # a token reads a part of the file
        own = [operands_of(sentence) for sentence in block]
        own.append(Operands(near, _rate_of(near), 0.0, near.devices or 1, frozenset()))
        every = [*self._told, *own]
        if all(one.frame.weight_bytes is None for one in every):
            return None
        widths = {width for one in every for width in one.widths}
        weights = _own_bytes(own, every) or _bytes_of(widths, None, every)
        rate = max(one.bandwidth_gbs for one in own) or max(one.bandwidth_gbs for one in every)
        if weights is None or not rate:
            return None
        told_here = near.devices is not None or any(one.devices > 1 for one in own)
        together = rate * max(one.devices for one in (own if told_here else every))
        together = max(together, *(one.total_gbs for one in (own if told_here else every)))
        return Least(weights, together, self._has_drafts, self._is_undrafted)


_MOST: Final = 64
"""Sentences with operands; a document with more of them is about no one deployment."""
_OF_BYTES: Final = ("weight_bytes", "parameters", "devices")


def _under(told: Operands, heading: str) -> Operands:
    """Operands of a sentence whose bytes are of the one format that its heading names.

    They have to be such as that format comes to, for a section may tell those of today as well.
    """
    frame = told.frame
    if frame.weight_bytes is None or frame.weight_bits is not None or told.widths:
        return told
    widths, count = widths_of(heading), frame.active_parameters or frame.parameters
    if len(widths) != 1:
        return told
    (width,) = widths
    if count is not None and not _LEAST_OF < frame.weight_bytes / (count * width / 8.0) < _MOST_OF:
        return told
    return told._replace(frame=replace(frame, weight_bits=width))


_LEAST_OF: Final = 0.9
_MOST_OF: Final = 1.35
"""Scales, and an output head in 16 bits, come on top of the width in a name."""


def _rate_of(frame: Frame) -> float:
    """The bandwidth of a frame of several sentences, or zero."""
    stated = frame.total_bandwidth_gbs or frame.bandwidth_gbs
    if stated is not None or frame.hardware is None:
        return stated or 0.0
    return max(device(name).bandwidth_gbs for name in variants_of(frame.hardware))


def _own_bytes(own: Sequence[Operands], every: Sequence[Operands]) -> float | None:
    """Bytes of the format that the block names; None where it names none."""
    told = [one.frame.weight_bytes for one in own if one.frame.weight_bytes is not None]
    widths = {width for one in own for width in one.widths}
    sizes = {one.frame.parameters for one in own if one.frame.parameters is not None}
    if widths:
        of_width = _bytes_of(widths, max(sizes) if len(sizes) == 1 else None, every)
        told.extend([of_width] if of_width is not None else [])
    return min(told, default=None)


def _bytes_of(
    widths: Iterable[float], size: float | None, every: Sequence[Operands]
) -> float | None:
    """The fewest bytes of some widths: as stated, else the parameters in that width."""
    frames = [one.frame for one in every if _is_of(size, one.frame)]
    told = [
        frame.weight_bytes
        for frame in frames
        if frame.weight_bits is None and frame.weight_bytes is not None
    ]
    counts = [frame.active_parameters for frame in frames if frame.active_parameters is not None]
    counts = counts or [frame.parameters for frame in frames if frame.parameters is not None]
    for width in widths:
        stated = [
            frame.weight_bytes
            for frame in frames
            if frame.weight_bits == width and frame.weight_bytes is not None
        ]
        if not stated and counts:
            stated = [_READ * min(counts) * width / 8.0]
        told.extend(stated)
    return min(told, default=None)


def _is_of(size: float | None, frame: Frame) -> bool:
    """Whether a frame is of a model of that size, as far as it tells."""
    if size is None or frame.parameters is None:
        return True
    return abs(frame.parameters - size) <= _NOMINAL * size
