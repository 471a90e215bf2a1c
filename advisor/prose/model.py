"""What is read of prose: statements, each with its slots filled as far as the text fills them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.source import Span

if TYPE_CHECKING:
    from advisor.prose.extremes import Least
    from advisor.prose.frame import Frame


class Status(StrEnum):
    """How a clause stands in its text."""

    ASSERTED = "asserted"
    HEDGED = "hedged"
    """May, might, could: not firm enough for the default level."""
    MEASURED = "measured"
    """Told as an observation."""
    DENIED = "denied"
    ASKED = "asked"
    SUPPOSED = "supposed"
    QUOTED = "quoted"
    REFUTED = "refuted"
    REJECTED = "rejected"


class Kind(StrEnum):
    """What a statement says."""

    GAIN = "gain"
    """Something gets faster."""
    LOSS = "loss"
    """Something gets slower."""
    NO_GAIN = "no_gain"
    """Something cannot get faster: an effect, denied."""
    FIGURE = "figure"
    """A rate or a time per token, as such."""
    BOUND = "bound"
    """What a step waits for."""
    SAVING = "saving"
    """Fewer bytes are read."""
    SKIPPED = "skipped"
    """Zeros, or heads that are off, are said to be left unread."""
    DRIVER = "driver"
    """What decides speed, as such."""
    INPUTS_DRIVE = "inputs_drive"
    """Activations, and not weights, are said to decide what a token costs."""
    UTILISATION = "utilisation"
    """How busy the matrix units are."""
    KV_IGNORED = "kv_ignored"
    """The KV cache, or the length of the context, does not count."""
    UNHURT = "unhurt"
    """What lies in slower memory is said not to slow down."""
    KV_SQUARE = "kv_square"
    """The cache grows with the square of the context."""
    READS = "reads"
    """What is read for a token."""
    FITS = "fits"
    """What memory is enough."""
    PEAK = "peak"
    """A peak rate, as such."""
    ADVICE = "advice"
    """What to buy or to choose."""
    AMOUNT = "amount"
    """Bytes or a time, as such: what follows from figures before it."""
    OVER_ALL = "over_all"
    """More than the whole is saved."""
    FREE = "free"
    """Something holds always, or costs nothing."""
    MEMORY = "memory"
    """The prompt waits for memory."""
    CARRIED = "carried"
    """A figure or a gain holds elsewhere as well."""
    SHARE = "share"
    """What a step spends its time on: attention, for the most part."""
    PREMISE = "premise"
    """What a step reads, waits for or does at once, other than weights and cache."""


class Phase(StrEnum):
    """What the statement is about."""

    DECODE = "decode"
    PREFILL = "prefill"
    TRAINING = "training"
    OTHER = "other"
    """Models that are no language models: encoders, vision, diffusion."""
    UNKNOWN = "unknown"


class Effect(NamedTuple):
    """What happens to speed in a clause."""

    kind: Kind
    start: int
    """Offset in the block of the words that say it."""
    end: int
    speedup: float | None = None
    tpot_ms: float | None = None
    is_aggregate: bool = False
    is_single: bool = False
    is_prefill: bool = False
    metric: int | None = None
    """Where the metric stands, if it stands before the change."""


class Statement(NamedTuple):
    """One clause that says something about speed."""

    kind: Kind
    span: Span
    """The clause in the file: what a reviewer would underline."""
    text: str
    status: Status
    phase: Phase
    frame: Frame
    """The regime and operands, as far as they are stated."""
    near: Frame | None = None
    """Those of its block, row, lead-in and headings alone, where other parts of the document differ
    in theirs."""
    least: Least | None = None
    """Of a figure: the lowest floor that any of the operands stated before it allows."""
    phase_reach: int = 0
    """How far away the words stand that say the phase: as for `reach`."""
    cause: str | None = None
    """The lever it is ascribed to: a tag of the lexicon."""
    reach: int = 0
    """How far away the lever stands: 0 in the clause, 1 in the sentence, 2 in one before, 3 in the
    row, lead-in or headings."""
    is_linked: bool = True
    """Whether the clause points back ("this", "so", "the same") or states a target."""
    speedup: float | None = None
    """Claimed factor, the low end of a range."""
    tpot_ms: float | None = None
    """Time per output token it comes to, where it is an absolute figure."""
    earlier: tuple[tuple[Phase, float | None, float | None], ...] = ()
    """Effects told before it in its block: phase, speedup, time per token in ms."""
    is_aggregate: bool = False
    """About the tokens of all users."""
    is_single: bool = False
    """About one user's stream, by its words or those around it."""
    clause: frozenset[str] = frozenset()
    """Kinds of terms in the clause."""
    sentence: frozenset[str] = frozenset()
    """... in its sentence."""
    nearby: frozenset[str] = frozenset()
    """... in its block, row and list."""
    around: frozenset[str] = frozenset()
    """... in headings and lead-in as well."""
    context_text: str = ""
    """Sentence, with what stands before it in the block: what the numbers were read from."""
    after_text: str = ""
    """The two sentences after its own, which may explain it."""
    opener: str = ""
    """The connective that the clause begins with."""
    sentence_text: str = ""
    next_text: str = ""
    """The sentence after it."""
    heading_text: str = ""
    """The heading that its block stands under."""
    lead_text: str = ""
    """The paragraph that opens its list or table."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Of a cell: the rows of its table before its own."""
    table: tuple[tuple[str, ...], tuple[str, ...], int] | None = None
    """Of a cell: the headers, the row, and the index of its column."""

    @property
    def first_row(self) -> tuple[str, ...]:
        """Of a cell: the first row of its table, where it stands in a later one."""
        return self.rows[0] if self.rows else ()

    @property
    def is_sure(self) -> bool:
        """Whether the text asserts it without hedge."""
        return self.status is Status.ASSERTED
