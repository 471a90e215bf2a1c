"""What every lever is: a validated, frozen idea and a pure function on a deployment."""

from __future__ import annotations

from abc import abstractmethod
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from advisor.deployment import Deployment
from advisor.ledger.formats import parse_format, parse_storage
from advisor.quantity import Dimension, parse_quantity

Metric = Literal["tpot", "throughput", "ttft"]


class Nature(StrEnum):
    """What a lever acts on, which decides how its effect is judged."""

    BYTES = "fewer bytes per token"
    TOKENS = "more tokens per pass over the weights"
    FLOPS = "arithmetic only"
    AMORTISE = "more sequences over the same devices, or more devices over the sequences"
    OVERHEAD = "the fixed time of a step"
    PREFILL = "the prompt"
    CAPACITY = "memory only"
    LINK = "bytes moved to a slower place"
    COST = "more work per token"
    HARDWARE = "bytes and FLOPs per second"


def _reader(dimension: Dimension, unit: str | None = None) -> BeforeValidator:
    def read(value: object) -> float:
        return parse_quantity(value, dimension, unit=unit).value

    return BeforeValidator(read)


def _whole(dimension: Dimension) -> BeforeValidator:
    def read(value: object) -> int:
        return int(parse_quantity(value, dimension).value)

    return BeforeValidator(read)


def _json(*types: str, examples: list[object]) -> WithJsonSchema:
    return WithJsonSchema({"type": list(types), "examples": examples})


OPEN_WIDTHS: Final = frozenset({"auto", "mixed"})
"""Weight formats whose width the text does not fix."""


def _known_format(text: str) -> str:
    if text.strip().lower() in OPEN_WIDTHS:
        return text.strip().lower()
    parse_format(text)
    return text


def _known_storage(text: str) -> str:
    return text if text in {"removed", "deleted"} else parse_storage(text).name


UNKNOWN: Final = "unknown"
"""What stands in a field whose value the text leaves open; the lever then hangs on it."""


def _open(value: object) -> object:
    return None if isinstance(value, str) and value.strip().lower() == UNKNOWN else value


Open = BeforeValidator(_open)
"""Marks a field that may be `unknown`: asked for, and told as what the gain hangs on."""


def _amount(value: object) -> float:
    if isinstance(value, str) and value.strip().lower() == UNKNOWN:
        return 0.0
    return parse_quantity(value, Dimension.BYTES).value


Ratio = Annotated[float, _reader(Dimension.RATIO), _json("number", "string", examples=["30%", 0.3])]
Count = Annotated[int, _whole(Dimension.COUNT), _json("integer", "string", examples=[8])]
Tokens = Annotated[int, _whole(Dimension.TOKENS), _json("integer", "string", examples=["4k", 4096])]
Factor = Annotated[
    float, _reader(Dimension.FACTOR), _json("number", "string", examples=["1.8x", 1.8])
]
Flops = Annotated[
    float, _reader(Dimension.COMPUTE), _json("string", examples=["989 TFLOPS", "1.4 PFLOP/s"])
]
Amount = Annotated[float, BeforeValidator(_amount), _json("string", examples=["10 GB", UNKNOWN])]
"""Bytes; 0 where somebody says that there are some and nobody says how many."""
FormatName = Annotated[
    str,
    AfterValidator(_known_format),
    _json("string", examples=["int4-g128", "fp8", "q4_k_m"]),
]
StorageName = Annotated[
    str,
    AfterValidator(_known_storage),
    _json("string", examples=["dense", "removed", "2:4-packed", "bitmap"]),
]


class Lever(BaseModel):
    """An idea to make inference faster. Subclasses say what it changes in a deployment."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    nature: ClassVar[Nature]
    metric: ClassVar[Metric] = "tpot"
    """The metric a claim without one is about."""

    kind: str

    @property
    def machine_kind(self) -> str:
        """The kind in the machine vocabulary, e.g. quantize.weights.int4."""
        return self.kind

    @property
    @abstractmethod
    def label(self) -> str:
        """The lever in a few words, for a table."""

    @property
    def acts_on(self) -> Nature:
        """What this very lever acts on: its nature, unless its fields say otherwise."""
        return self.nature

    @abstractmethod
    def apply(self, deployment: Deployment) -> Deployment:
        """The deployment with the lever in it."""

    def condition(self, deployment: Deployment) -> str | None:
        """What the gain hangs on that is not given or not so; None where nothing is open."""
        del deployment
        return None

    def nominal_flops(self, deployment: Deployment) -> float:
        """Part of the step's FLOPs that the idea saves by name, executed or not."""
        del deployment
        return 0.0

    def parts(self) -> tuple[Lever, ...]:
        """The levers that one entry of a proposal holds (weights and KV cache are two)."""
        return (self,)
