"""A deployment: one model, in given formats, on given hardware, at given work.

This is the state that levers change and the ledger counts. `Deployment(...)` takes names and
formats as people write them and resolves them once; its attributes are the resolved things.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, Self

from advisor.catalog.device import Device
from advisor.catalog.engines import Engine, HostTime, resolve_engine
from advisor.catalog.hardware import device, parse_hardware
from advisor.catalog.models import load_model, resolve_model
from advisor.catalog.names import UnknownNameError
from advisor.ledger.formats import Format, SparseStorage, parse_format, parse_storage
from advisor.ledger.shapes import Architecture

Phase = Literal["decode", "prefill"]

REFERENCE_MODEL: Final = "Llama-3.1-8B"
REFERENCE_HARDWARE: Final = "H100 SXM"
REFERENCE_ENGINE: Final = "vllm"
REFERENCE_BATCH: Final = 1
REFERENCE_CONTEXT: Final = 4096

KV_DEFAULT: Final = "bf16"


class DeploymentError(ValueError):
    """A deployment that cannot be; `field` names the value at fault."""

    def __init__(self, field: str, message: str) -> None:
        """Keep the field beside the message."""
        self.field = field
        super().__init__(message)


class Sparsity(NamedTuple):
    """Zeros in the linear weights and how they are stored."""

    fraction: float
    """Part of the weights that is zero."""
    storage: SparseStorage
    kernel: str | None = None

    def bits(self, form: Format, role_bits: float) -> float:
        """Stored bits per dense weight; scales of groups stay as they are."""
        metadata = role_bits - form.element_bits
        return self.storage.bits(form.element_bits, 1.0 - self.fraction) + max(metadata, 0.0)


class Speculation(NamedTuple):
    """Drafting and verifying: several tokens may leave one pass over the weights."""

    method: str
    draft_tokens: int
    """Tokens drafted per pass (gamma; the depth of a tree); a pass verifies one more."""
    tokens_per_pass: float | None = None
    """Mean tokens that leave one pass, the bonus token included; None where nobody said."""
    draft: Architecture | None = None
    """The draft model or head, where its bytes are known."""


class Offload(NamedTuple):
    """Bytes that live across the host link or on NVMe and are read from there by every step."""

    weights_bytes: float = 0.0
    kv_bytes: float = 0.0
    tier: Literal["host", "nvme"] = "host"


@dataclass(frozen=True, slots=True)
class Parallelism:
    """How many ways each part is split over devices."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    expert: int = 1
    attention_data: int = 1
    """Attention replicated this many ways inside the tensor group, each on its own sequences."""
    context: int = 1
    """Tokens of one sequence's cache spread this many ways, the weights replicated."""

    @property
    def devices(self) -> int:
        """Devices that the splits need."""
        return self.tensor * self.pipeline * self.data * self.context

    @property
    def attention_ways(self) -> int:
        """Ways that attention's heads are split: the tensor group less its data-parallel part."""
        return max(self.tensor // self.attention_data, 1)


class Kernels(NamedTuple):
    """What is said of kernels and of the fixed time of a step, beyond the engine's defaults."""

    graphs: bool | None = None
    """CUDA graphs on or off; None leaves the engine's default."""
    compiled: bool | None = None
    attention: str | None = None
    matmul_peak_factor: float = 1.0
    """How much nearer the arithmetic peak the matmuls run; never moves bytes."""
    weight_bandwidth_fraction: float | None = None
    """Part of peak bandwidth that the weight-streaming kernel is said to sustain."""
    fixed_factor: float = 1.0
    """Multiplier on the fixed time per layer (fusion below 1)."""
    host: HostTime | None = None
    """The host's time of a layer where it was measured; None: the engine's."""


@dataclass(frozen=True, slots=True, init=False)
class Deployment:
    """A model in given formats on given hardware at given work. Frozen; see `evolve`."""

    model: Architecture
    hardware: Device
    weights: Format | None
    """Format of the linear layers; None as the checkpoint stores them."""
    lm_head: Format | None
    kv_cache: Format
    activations: Format
    engine: Engine
    phase: Phase
    batch: int
    context: int
    """Tokens in the cache that a decode step attends to; the prompt's tokens in prefill."""
    parallelism: Parallelism
    sparsity: Sparsity | None
    speculation: Speculation | None
    offload: Offload | None
    kernels: Kernels
    activation_sparsity: float
    """Part of the linear weights that one token's zero activations let the kernel skip."""
    depth: float
    """Part of the layers that a token runs through (early exit)."""
    kv_kept: float
    """Part of the cached tokens that is kept and read (eviction)."""
    kv_read: float
    """Entries a step reads of those that are kept: below 1 for sparse attention, above it where a
    cache of fixed length is read whole."""
    weight_traffic: float
    """Bytes a step moves for each byte of linear weights: above 1 where packed weights are expanded
    through memory, 0 where they stay in the last cache."""
    shared_prefix: int
    """Tokens of context that all sequences share and that attention reads once."""
    time_factor: tuple[float, float, float] | None
    """(low, mid, high) factor on expected times fitted to a measurement of the baseline."""

    def __init__(
        self,
        model: str | Architecture = REFERENCE_MODEL,
        hardware: str | Device = REFERENCE_HARDWARE,
        *,
        weights: str | Format | None = None,
        lm_head: str | Format | None = None,
        kv_cache: str | Format | None = None,
        activations: str | Format | None = None,
        engine: str | Engine = REFERENCE_ENGINE,
        phase: Phase = "decode",
        batch: int = REFERENCE_BATCH,
        context: int = REFERENCE_CONTEXT,
        tensor_parallel: int | None = None,
        pipeline_parallel: int = 1,
        data_parallel: int = 1,
        expert_parallel: int = 1,
        attention_data_parallel: int = 1,
        sparsity: Sparsity | None = None,
        speculation: Speculation | None = None,
        offload: Offload | None = None,
        kernels: Kernels | None = None,
        shared_prefix: int = 0,
    ) -> None:
        """Resolve names and formats.

        `hardware` may hold a count ("2 x H100 SXM"), which is the tensor parallel degree where
        `tensor_parallel` does not say otherwise.

        Raises:
            UnknownNameError: for a model, device or engine nobody knows by that name.
            UnknownFormatError: for a number format nobody knows by that name.
            UnsupportedModelError: for a model whose structure is not counted.
            DeploymentError: for a batch, context or parallel degree that cannot be.

        """
        put = object.__setattr__
        architecture = model if isinstance(model, Architecture) else find_model(model)
        if isinstance(hardware, Device):
            count, part = 1, hardware
        else:
            count, part = find_device(hardware)
        layers = architecture.layer_count
        put(self, "model", architecture)
        put(self, "hardware", part)
        put(self, "weights", _format(weights, layers))
        put(self, "lm_head", _format(lm_head, layers))
        put(self, "kv_cache", _format(kv_cache, layers) or parse_format(KV_DEFAULT))
        put(self, "activations", _format(activations, layers) or parse_format(architecture.dtype))
        put(self, "engine", engine if isinstance(engine, Engine) else resolve_engine(engine))
        put(self, "phase", phase)
        put(self, "batch", _count("batch", batch))
        put(self, "context", _count("context", context))
        parallelism = Parallelism(
            _count("tensor_parallel", tensor_parallel or count),
            _count("pipeline_parallel", pipeline_parallel),
            _count("data_parallel", data_parallel),
            _count("expert_parallel", expert_parallel),
            _count("attention_data_parallel", attention_data_parallel),
        )
        put(self, "parallelism", parallelism)
        put(self, "sparsity", sparsity)
        put(self, "speculation", speculation)
        put(self, "offload", offload)
        put(self, "kernels", kernels or Kernels())
        put(self, "activation_sparsity", 0.0)
        put(self, "depth", 1.0)
        put(self, "kv_kept", 1.0)
        put(self, "kv_read", 1.0)
        put(self, "weight_traffic", 1.0)
        put(self, "shared_prefix", shared_prefix)
        put(self, "time_factor", None)

    def evolve(self, **changes: Any) -> Self:
        """The same deployment with some attributes changed to other resolved values."""
        cls = type(self)
        other = object.__new__(cls)
        put = object.__setattr__
        for name in _SLOTS:
            put(other, name, changes.pop(name) if name in changes else getattr(self, name))
        if changes:
            raise TypeError(f"no attribute {', '.join(changes)} of a deployment")
        return other

    @property
    def query_tokens(self) -> int:
        """Tokens of one sequence that one pass computes: 1, or the draft and one more."""
        if self.phase == "prefill":
            return self.context
        return 1 if self.speculation is None else self.speculation.draft_tokens + 1

    @property
    def captures_steps(self) -> bool:
        """Whether steps run as captured graphs or compiled, as said or by the engine's default."""
        graphs = self.kernels.graphs
        return bool(self.kernels.compiled or (self.engine.graphs if graphs is None else graphs))

    @property
    def devices(self) -> int:
        """Devices in use."""
        return self.parallelism.devices


@lru_cache(maxsize=512)
def find_model(text: str) -> Architecture:
    """The catalog's model of a name as people write it; the most usual of several candidates.

    Raises:
        UnknownNameError: with the nearest known names.

    """
    match = resolve_model(text)
    if not match.found:
        raise UnknownNameError("model", text, match.nearest)
    return load_model(match.candidates[0])


def find_device(text: str) -> tuple[int, Device]:
    """How many of which device a text means; the most usual of several candidates.

    Raises:
        UnknownNameError: with the nearest known names.

    """
    count, match = parse_hardware(text)
    if not match.found:
        raise UnknownNameError("hardware", text, match.nearest)
    return count, device(match.candidates[0])


_SLOTS: Final = tuple(Deployment.__slots__)
_MOST: Final = 2**40


def _format(value: str | Format | None, layers: int) -> Format | None:
    return parse_format(value, layers) if isinstance(value, str) else value


def _count(field: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise DeploymentError(field, f"{field} is a whole number, not {value!r}")
    if value < 1:
        raise DeploymentError(field, f"{field} is at least 1, not {value}")
    if value > _MOST:
        raise DeploymentError(field, f"{field} is at most {_MOST:,}, not {value:,}")
    return value


def parse_sparsity(fraction: float, storage: str, kernel: str | None = None) -> Sparsity:
    """Zeros in `fraction` of the weights, stored as named."""
    if not 0.0 <= fraction < 1.0:
        raise DeploymentError("sparsity", f"sparsity is between 0 and 1, not {fraction:g}")
    return Sparsity(fraction, parse_storage(storage), kernel)
