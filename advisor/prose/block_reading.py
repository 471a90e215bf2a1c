"""The statements of one block: each effect with the lever it is ascribed to and its regime.

The lever is looked for near by: in the clause, its sentence, the sentences before it, then in the
row, lead-in and headings. Among the levers of one place the more specific counts: masked heads
before pruning, an attention kernel before the TFLOPS it reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from advisor.forms import Form
from advisor.prose.baselines import CONCLUDING, against_earlier
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.causes import cause_of
from advisor.prose.effects import effects_of
from advisor.prose.frame import NOTHING, Frame, frame_of
from advisor.prose.ideas import ideas_of
from advisor.prose.lexicon import terms
from advisor.prose.model import Effect, Kind, Phase, Statement, Status
from advisor.prose.patterns import SOME_DIGIT
from advisor.prose.refusals import is_rejected
from advisor.prose.rows import label_frame, regime_text, row_frame, row_text
from advisor.prose.sentences import LONGEST_SENTENCE, Clause, Sentence, sentences_of
from advisor.prose.serving import elliptic, is_topical
from advisor.prose.setting import LONGEST_BLOCK, Setting
from advisor.prose.status import goes_on_past, is_past, part_of, status_of
from advisor.prose.tagging import tags_of, words_of
from advisor.prose.voices import Answer, answer_of
from advisor.quantity.lexing import words

_MOST_CLAUSES: Final = 60
_MOST_EFFECTS: Final = 20
"""Of one sentence: what holds more is a list of figures."""
_BACK: Final = 3
"""Sentences before the own one that a statement may rest on."""
_AHEAD: Final = 2
"""Sentences after the own one that may explain a statement."""
_SETUP_LABEL: Final = Form(
    r"\W*(?:model|hardware|device|card|gpus?|machine|box|set-?up|weights|configuration|platform"
    r"|accelerator|conditions?)\W*[:=] "
)
"""A sentence that names the setup of those before it: "Model: 24B, BF16"."""

OUTCOME: Final = Form(
    r"(?:[\w-]+ )?(?:gain|result|effect|speed|speed-?up|target|goal|outcome|tpot|itl|latency|decode"
    r"|tok\S*|forecast|projected|projection|estimate|plan|promise|expect\w*|after|new|then"
    r"|value|benefits?|impact|pay-?off|upshot|advantage|improvement|reward|rationale|motivation"
    r"|remedy|fix|consequence|time per token)\b[^:.]{0,60}: ",
)
"""An item that tells what comes of those above it."""
_LAID_OUT: Final = re.compile(r"\S {3,}\S[^\n]{0,80}?\S {3,}\S")
"""Columns kept apart by spaces: output of a program, no prose."""
_POINTING: Final = words(
    "this that these those it they such same so therefore thus hence both accordingly we"
    " you i our your his her their user users each every one everyone everybody all expect"
    " expected target goal result then outcome effect"
)
_POINTING_TAIL: Final = Form(
    r"\b(?:for (?:it|that|this)|because of (?:it|this|that)|as a (?:result|consequence|reward)"
    r"|in (?:return|exchange|consequence)|thanks to (?:it|this|that)|from (?:it|this|then on)"
    r"|through (?:it|this|that)|with (?:it|this|that)|that way|thereby)\W*$"
)
_CONTRAST: Final = Form(r"[ ,](?:not|rather than|instead of|unlike|never)\b")


@lru_cache(maxsize=512)
def tag_names(text: str) -> frozenset[str]:
    """The kinds of terms in a short text."""
    if len(text) > LONGEST_SENTENCE:
        return frozenset()
    return ideas_of(text, tags_of(text, words_of(text), terms()))


_A_RATE: Final = Form(r"tok|t/s|tps")
_A_TIME: Final = Form(r"\bm?s\b|second|tpot|itl")
_PURPOSE: Final = Form(r"\W*(?:in order )?to (?:[\w-]+ )?$|\W*to$")
_SHOWS: Final = Form(
    r"\b(?:shows?|means?|prov(?:es?|ing)|impl(?:y|ies)|indicates?|tells|suggests?|confirms?"
    r"|demonstrates?)\b"
)
_PRUNED: Final = frozenset({"PRUNE"})
_SHORT_ANSWER: Final = 3
"""Words of an answer that is told by the sentence after it: "A: Yes."."""


class BlockReader:
    """Reads one block."""

    def __init__(
        self,
        block: Block,
        setting: Setting,
        siblings: Sequence[Block] = (),
        following: Block | None = None,
        base_ms: float | None = None,
    ) -> None:
        self.block = block
        self.base_ms = base_ms
        self.following = following
        self.siblings = siblings
        self.prior = [tag_names(sibling.text) for sibling in siblings]
        self.setting = setting
        self.sentences = sentences_of(block.text)
        self.names = [ideas_of(block.text, sentence.tags) for sentence in self.sentences]
        self._known: dict[int, tuple[Frame, Frame]] = {}

    def _frame(self, index: int) -> Frame:
        text = self.sentences[index].text
        return NOTHING if len(text) > LONGEST_SENTENCE else frame_of(text)

    def statements(self) -> Iterable[Statement]:
        """What the block says about speed, in order."""
        earlier: list[tuple[Phase, float | None, float | None]] = []
        last: tuple[float, bool] | None = None
        for index, sentence in enumerate(self.sentences):
            if "   " in sentence.text and _LAID_OUT.search(sentence.text) is not None:
                continue
            if len(sentence.text) > LONGEST_SENTENCE or len(sentence.clauses) > _MOST_CLAUSES:
                continue
            for clause, effect in islice(self._effects(index, sentence, last), _MOST_EFFECTS):
                if effect.kind is Kind.FIGURE and effect.tpot_ms:
                    last = (effect.tpot_ms, self._is_rate(effect, last))
                statement = self._statement(index, sentence, clause, effect, tuple(earlier[-4:]))
                statement = against_earlier(statement, self.base_ms)
                if statement.status is Status.ASKED:
                    statement = self._answered(index, statement)
                elif self.block.kind is BlockKind.HEADING:
                    continue
                yield statement
                if statement.kind in {Kind.GAIN, Kind.FIGURE}:
                    earlier.append((statement.phase, statement.speedup, statement.tpot_ms))

    def _effects(
        self, index: int, sentence: Sentence, last: tuple[float, bool] | None
    ) -> Iterable[tuple[Clause, Effect]]:
        """The effects in a sentence, with figures whose unit was told before it."""
        near = frozenset().union(self.names[index], *self._before(index), *self._labels)
        found = effects_of(
            self.block,
            sentence,
            topical=is_topical(sentence.text, near),
            of_decode=not near.isdisjoint({"DECODE", "SINGLE"}),
        )
        for clause in sentence.clauses:
            own = [effect for within, effect in found if within == clause]
            yield from ((clause, effect) for effect in own)
            told = [effect for effect in own if effect.tpot_ms]
            if told:
                last = (told[-1].tpot_ms or 0.0, self._is_rate(told[-1], last))
            if last is None or SOME_DIGIT.search(self.block.text, clause.start, clause.end) is None:
                continue
            start = max([clause.start, *(effect.end for effect in told)])
            more = elliptic(
                Clause(start, clause.end, clause.opener, clause.tags),
                self.block.text[start : clause.end],
                last[0],
                is_rate=last[1],
            )
            if more is not None:
                yield clause, more

    def _is_rate(self, effect: Effect, last: tuple[float, bool] | None) -> bool:
        """Whether a figure is a rate; one without a unit is what the one before it was."""
        told = self.block.text[effect.start : effect.end + 12]
        if _A_RATE.search(told):
            return True
        return last is not None and last[1] and _A_TIME.search(told) is None

    def _statement(
        self,
        index: int,
        sentence: Sentence,
        clause: Clause,
        effect: Effect,
        earlier: tuple[tuple[Phase, float | None, float | None], ...],
    ) -> Statement:
        block = self.block
        of_speed = effect.kind not in {
            Kind.FREE,
            Kind.CARRIED,
            Kind.SHARE,
            Kind.KV_IGNORED,
            Kind.UNHURT,
            Kind.NO_GAIN,
        }
        status = status_of(
            block,
            self.sentences,
            index,
            clause,
            effect.start,
            of_speed=of_speed and effect.kind is not Kind.READS,
        )
        own = ideas_of(block.text, (*clause.subject, *clause.tags))
        if effect.kind is Kind.SKIPPED and self._follows_pruning(index):
            # "those cost no reads in mul_mat": the zeros are the lever, whoever reads them
            own |= _PRUNED
            self.names[index] |= _PRUNED
        kind = effect.kind
        if kind is Kind.GAIN and status is Status.DENIED:
            kind = Kind.NO_GAIN
        before = self._before(index)
        after = self.names[index + 1 : index + 2]
        labels = self._labels
        nearby = frozenset().union(*before, self.names[index], *after, *labels[:1])
        around = nearby.union(*labels)
        phase, phase_reach = self._phase(
            index, clause, self._before_not(clause, effect, own), effect, labels
        )
        told = (is_past(sentence, clause) or goes_on_past(sentence, clause)) and (
            "TRANSFER" not in own
        )
        if told and _PURPOSE.match(block.text, sentence.start, effect.start):
            told = False  # "to speed up chats we raised the batch" tells what is hoped for
        if kind is Kind.BOUND and _SHOWS.search(block.text, clause.start, effect.start):
            told, own = False, own - {"MEASURED"}  # what a figure is said to show is an opinion
        reported = clause.opener == ":" and "MEASURED" in self.names[index]
        measured = "MEASURED" in own or (reported and kind is not Kind.BOUND)
        if status is Status.ASSERTED and "HOPED" not in own and (told or measured):
            status = Status.MEASURED
        near, frame = self._frames(index)
        if effect.tpot_ms is not None and near != frame:
            lacking = near.lacks(frame)
            if not lacking or lacking.isdisjoint(self.setting.disputed):
                near = frame
        apart = self._apart(index, clause, own)
        named = labels[:2] if block.kind is BlockKind.CELL else labels
        cause, reach = cause_of(sentence.text, own, apart, before, named)
        start, end = clause.start, clause.end
        if not of_speed or kind is Kind.BOUND:
            start, end = part_of(block.text, clause, effect.start)
            start += len(block.text[start:end]) - len(block.text[start:end].lstrip(" ,"))
        return Statement(
            kind=kind,
            span=block.body.span(start, end),
            text=block.text[start:end],
            status=status,
            phase=phase,
            phase_reach=phase_reach,
            cause=cause,
            reach=reach,
            is_linked=self._is_linked(sentence, clause),
            speedup=effect.speedup,
            tpot_ms=effect.tpot_ms,
            earlier=earlier,
            is_aggregate=effect.is_aggregate or self._is_aggregate(clause, effect),
            is_single=effect.is_single or self._is_single(index, clause, effect, labels),
            clause=own,
            sentence=self.names[index],
            nearby=nearby,
            around=around,
            frame=frame,
            near=near,
            context_text=self._context(index),
            after_text=self._after(index),
            opener=clause.opener,
            sentence_text=sentence.text,
            lead_text=block.lead_in,
            next_text=self.sentences[index + 1].text if index + 1 < len(self.sentences) else "",
            table=self._table(),
            rows=block.rows,
        )

    def _follows_pruning(self, index: int) -> bool:
        """Whether the sentences before one are about weights that are zero, and no heads."""
        before = frozenset().union(*self._before(index))
        return "PRUNE" in before and before.isdisjoint({"MASKED_HEADS", "S24"})

    def _answered(self, index: int, statement: Statement) -> Statement:
        """A question as its answer has it: underlined is the answer."""
        block, sentences, at = self.block, self.sentences, index + 1
        if at == len(sentences) and self.following is not None:
            block, at = self.following, 0
            sentences = sentences_of(block.text) if len(block.text) <= LONGEST_BLOCK else ()
            if block.kind is BlockKind.HEADING or block.quoted:
                return statement
        if at >= len(sentences) or is_rejected(block) or is_rejected(self.block):
            return statement
        first = sentences[at]
        answer = answer_of(first.text)
        if answer is None:
            return statement
        last = first
        if len(first.words) <= _SHORT_ANSWER and at + 1 < len(sentences):
            last = sentences[at + 1]
        told = block.text[first.start : last.end]
        answered = block.text[first.start :][:LONGEST_SENTENCE]
        names = frozenset().union(*(ideas_of(block.text, one.tags) for one in sentences[at:]))
        kind, status = statement.kind, Status.ASSERTED
        if answer is Answer.NO:
            if kind not in {Kind.GAIN, Kind.LOSS}:
                return statement
            kind, status = Kind.NO_GAIN if kind is Kind.GAIN else kind, Status.DENIED
        return statement._replace(
            kind=kind,
            status=status,
            span=block.body.span(first.start, last.end),
            text=f"{statement.text.rstrip('?')}. {told}",
            sentence_text=f"{statement.sentence_text.rstrip('?')}. {told}",
            context_text=f"{statement.context_text}. {answered}",
            sentence=statement.sentence | names,
            nearby=statement.nearby | names,
            around=statement.around | names,
        )

    def _context(self, index: int) -> str:
        """The sentence with what it rests on: those before it, items above it, its row."""
        own = self.block.text[
            self.sentences[max(0, index - _BACK)].start : self.sentences[index].end
        ]
        if self.block.kind is BlockKind.CELL:
            row = row_text(self.block)
            return f"{row}. {own}" if len(row) <= LONGEST_SENTENCE else own
        return ". ".join([*(sibling.text for sibling in self.siblings), own])

    def _after(self, index: int) -> str:
        """The two sentences after one."""
        last = min(index + _AHEAD, len(self.sentences) - 1)
        return self.block.text[self.sentences[index].end : self.sentences[last].end]

    def _before(self, index: int) -> list[frozenset[str]]:
        """Kinds of terms in the sentences, or items of one record, before a sentence."""
        return [*self.prior, *self.names[:index]][-_BACK:]

    def _before_not(self, clause: Clause, effect: Effect, own: frozenset[str]) -> frozenset[str]:
        """Kinds of terms in the clause, without what it contrasts itself with."""
        match = _CONTRAST.search(self.block.text, effect.end, clause.end)
        if match is None:
            return own
        kept = [tag for tag in clause.tags if tag.start < match.start()]
        return ideas_of(self.block.text, kept)

    def _table(self) -> tuple[tuple[str, ...], tuple[str, ...], int] | None:
        block = self.block
        if block.kind is not BlockKind.CELL or block.column not in block.columns:
            return None
        return block.columns, block.cells, block.columns.index(block.column)

    @cached_property
    def _labels(self) -> list[frozenset[str]]:
        """Kinds of terms in the row and column, the lead-in and the headings."""
        block = self.block
        found = []
        if block.kind is BlockKind.CELL:
            named = block.columns[0] if block.columns else ""
            row = " | ".join(block.cells)
            found.append(tag_names(f"{block.column} | {named} | {row}"))
        found.append(tag_names(block.lead_in))
        found.extend(tag_names(title) for title in block.headings)
        return found

    def _frames(self, index: int) -> tuple[Frame, Frame]:
        """What is stated for a sentence, its own words first: near by, and in the document."""
        if index not in self._known:
            near = self._inherited(index)
            self._known[index] = near, self.setting.within(near)
        return self._known[index]

    def _inherited(self, index: int) -> Frame:
        frame = self._frame(index)
        if self.block.kind is BlockKind.CELL:
            frame = frame.over(row_frame(self.block))
        for earlier in range(index - 1, max(-1, index - 1 - 2 * _BACK), -1):
            frame = frame.over(self._frame(earlier))
        for later in self.sentences[index + 1 : index + 1 + _BACK]:
            if _SETUP_LABEL.match(later.text):
                frame = frame.over(frame_of(later.text))
        block = self.block
        if block.kind is BlockKind.CELL:
            frame = frame.over(label_frame(regime_text(block))).over(label_frame(block.column))
        frame = frame.over(label_frame(block.lead_in))
        for title in reversed(block.headings):
            frame = frame.over(label_frame(title))
        return frame

    def _phase(
        self,
        index: int,
        clause: Clause,
        own: frozenset[str],
        effect: Effect,
        labels: Sequence[frozenset[str]],
    ) -> tuple[Phase, int]:
        """The phase by the nearest words that say one."""
        if effect.is_prefill:
            return Phase.PREFILL, 0
        if effect.kind is Kind.BOUND:
            phases = [tag for tag in clause.tags if tag.name in _PHASES]
            nearest = [tag for tag in phases if tag.start < effect.start][-1:] or [
                tag for tag in phases if tag.start >= effect.end
            ]
            if nearest:
                return _phase_of(frozenset({nearest[0].name})), 0
        if effect.kind in {Kind.GAIN, Kind.LOSS} and self._is_of_prompt(clause, effect):
            return Phase.PREFILL, 0
        sentence = self.names[index]
        previous = self._before(index)
        places = [(own, 0), (sentence, 1), *((place, 2) for place in reversed(previous)),
                  *((place, 4) for place in labels)]  # fmt: skip
        for place, reach in places:
            known = _phase_of(place)
            if known is not Phase.UNKNOWN:
                return known, reach
        for place, reach in places:
            if "TOKENS" in place:
                return Phase.DECODE, reach
        return Phase.UNKNOWN, 0

    def _is_of_prompt(self, clause: Clause, effect: Effect) -> bool:
        """Whether the prompt gets faster, and decode is told of after a comma."""
        phases = [tag for tag in clause.tags if tag.name in {"PREFILL", "DECODE", "SINGLE"}]
        before = {tag.name for tag in phases if tag.start < effect.start}
        after = [tag for tag in phases if tag.start >= effect.end]
        if before != {"PREFILL"} or not after:
            return False
        between = self.block.text[effect.end : after[0].start]
        return (
            "," in between
            or (" and " in between and _AS_IT_IS.search(self.block.text, after[0].end, clause.end))
            is not None
        )

    def _is_aggregate(self, clause: Clause, effect: Effect) -> bool:
        """Whether a clause, or the column of a cell, counts the tokens of all users."""
        if self.block.kind is BlockKind.CELL:
            labels = tag_names(self.block.column) | tag_names(self.block.row)
            return "AGGREGATE" in labels and "SINGLE" not in labels
        nearest = _nearest(clause, effect, ("AGGREGATE", "SINGLE"))
        return nearest == "AGGREGATE"

    def _is_single(
        self,
        index: int,
        clause: Clause,
        effect: Effect,
        labels: Sequence[frozenset[str]],
    ) -> bool:
        """Whether the tokens of one user are meant, by the nearest words that say it."""
        nearest = _nearest(clause, effect, ("AGGREGATE", "SINGLE"))
        if nearest is not None:
            return nearest == "SINGLE"
        for place in (self.names[index], *reversed(self.names[max(0, index - _BACK) : index])):
            if "SINGLE" in place:
                return True
            if "LARGE_BATCH" in place:
                return False
        return any("SINGLE" in place for place in labels) or self._frames(index)[1].batch == 1

    def _apart(self, index: int, clause: Clause, own: frozenset[str]) -> frozenset[str]:
        """Kinds of terms in the sentence, without a later clause that is about the prompt."""
        sentence = self.sentences[index]
        other = [
            later
            for later in sentence.clauses
            if later.start > clause.start and any(tag.name == "PREFILL" for tag in later.tags)
        ]
        if not other or "DECODE" not in own:
            return self.names[index]
        apart = min(later.start for later in other)
        return ideas_of(self.block.text, [tag for tag in sentence.tags if tag.start < apart])

    def _is_linked(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether a clause points back at what was said before its sentence, or states a target."""
        if clause.opener in CONCLUDING or self.siblings:
            return True
        if OUTCOME.match(self.block.text, sentence.start) is not None:
            return True
        opening = [w.folded for w in sentence.words if w.start >= clause.start][:6]
        if not _POINTING.isdisjoint(opening):
            return True
        if not sentence.names.isdisjoint({"DENSE", "MASK"}):
            return True
        if any(w.folded in {"former", "latter"} for w in sentence.words if w.start < clause.end):
            return True
        if clause.opener == ":" and "HOPED" in sentence.names:
            return True
        if _POINTING_TAIL.search(self.block.text, clause.start, clause.end) is not None:
            return True
        return not {"HOPED", "TRANSFER"}.isdisjoint(tag.name for tag in clause.tags)


_AS_IT_IS: Final = Form(r"\b(?:no|not|never|unchanged|the same|as before|nothing)\b|n['’]t\b")
"""What is told of decode beside a gain of prompts: that it has none."""


def _nearest(clause: Clause, effect: Effect, kinds: Sequence[str]) -> str | None:
    """Which of some kinds of terms stands nearest to an effect in its clause."""
    start = min(effect.start, effect.start if effect.metric is None else effect.metric)
    found = [
        (max(tag.start - effect.end, start - tag.end, 0), tag.name)
        for tag in clause.tags
        if tag.name in kinds
    ]
    return min(found)[1] if found else None


_PHASES: Final = frozenset({"PREFILL", "DECODE", "SINGLE", "TRAINING"})


def _phase_of(place: frozenset[str]) -> Phase:
    if "TRAINING" in place and "DECODE" not in place:
        return Phase.TRAINING
    if "OTHER_MODEL" in place:
        return Phase.OTHER
    if "PREFILL" in place and "DECODE" not in place:
        return Phase.PREFILL
    if not place.isdisjoint({"DECODE", "SINGLE"}):
        return Phase.DECODE
    return Phase.UNKNOWN
