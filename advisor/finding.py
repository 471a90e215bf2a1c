"""What rooflint says: a finding, where it stands, how sure it is, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from advisor.source import Position, Span

Number: TypeAlias = float | int | str | None


class Severity(IntEnum):
    """How bad: an error is impossible or cannot run, a warning gains nothing or loses."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The word people read."""
        return self.name.lower()


class Confidence(IntEnum):
    """How sure: the default level shows high confidence only, `--strict` all."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def label(self) -> str:
        """The word people read."""
        return self.name.lower()


class ErrorClass(StrEnum):
    """The classes of error people make about inference speed; a finding belongs to one or none."""

    DECODE_CALLED_COMPUTE_BOUND = "decode_called_compute_bound"
    FLOP_CUT = "flop_cut_claimed_as_speedup"
    PRUNING_DENSE_STORAGE = "pruning_dense_storage"
    SPARSE_HEADS = "sparse_heads_claimed"
    PEAK_TFLOPS = "peak_tflops_as_decode_driver"
    FASTER_MATMUL = "faster_matmul_for_decode"
    BATCHING_FOR_LATENCY = "batching_claimed_to_cut_single_stream_latency"
    QUANT_OVER_BYTE_RATIO = "quant_speedup_exceeds_byte_ratio"
    ACTIVATION_QUANT = "activation_quant_claimed_for_batch1_decode"
    SPARSITY_24 = "sparsity24_without_compressed_kernel"
    FLASH_ATTENTION_SHORT = "flashattention_claimed_to_speed_short_ctx_decode"
    MOE_TOTAL_READ = "moe_total_params_read_per_token"
    KV_IGNORED = "kv_ignored_at_long_context"
    OVER_CEILING = "speedup_over_ceiling"
    PREFILL_DECODE = "prefill_decode_confused"
    CAPACITY_BANDWIDTH = "capacity_vs_bandwidth_confused"
    TP_IGNORES_COMM = "tp_ignores_comm"
    SPECULATIVE_FREE_LUNCH = "speculative_free_lunch"
    OTHER = "other"


class Subject(NamedTuple):
    """What a finding judges: one lever, claim or statement of a proposal."""

    kind: Literal["lever", "claim", "statement", "said", "fact"]
    number: int
    """Its index among those of the proposal."""


class Note(NamedTuple):
    """A related fact, shown under a finding; with a span of its own where it stands elsewhere."""

    message: str
    span: Span | None = None
    rule: str | None = None


class Finding(NamedTuple):
    """One thing that is wrong, at one place, with the numbers that show it."""

    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    path: str
    start: Position
    end: Position
    message: str
    error_class: ErrorClass | None = None
    why: str = ""
    instead: str = ""
    lever: str | None = None
    """Kind of the lever the finding is about, in the machine vocabulary."""
    numbers: Mapping[str, Number] = MappingProxyType({})
    facts: tuple[tuple[str, str], ...] = ()
    """Lines under the message: ("numbers", "weights 70.6 -> 70.6 GB/token ...")."""
    notes: tuple[Note, ...] = ()
    subject: Subject | None = None
    """What it judges; of several findings about one subject one is told, the others are notes."""

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        """Findings are told in the order of the text."""
        return (self.path, self.start.offset, self.end.offset, self.rule)
