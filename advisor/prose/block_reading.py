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
from advisor.limits import Limit, limit_alone
from advisor.prose.baselines import against_earlier
from advisor.prose.bench_tables import spelled
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
from advisor.prose.slots import (
    Places,
    apart_from_prompts,
    is_aggregate,
    is_concluded,
    is_linked,
    is_observed,
    is_single,
    phase_of,
)
from advisor.prose.status import part_of, status_of
from advisor.prose.status_forms import SUPPOSED
from advisor.prose.tagging import tags_of, words_of
from advisor.prose.voices import Answer, answer_of

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
_LAID_OUT: Final = re.compile(r"\S {3,}\S[^\n]{0,80}?\S {3,}\S")
"""Columns kept apart by spaces: output of a program, no prose."""
_EAST_ASIAN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Kana, Han and Hangul."""
_FOREIGN: Final = 5
"""One such sign in so many is no quoted name."""
_NOT_OF_SPEED: Final = frozenset(
    {Kind.FREE, Kind.CARRIED, Kind.SHARE, Kind.KV_IGNORED, Kind.UNHURT, Kind.NO_GAIN,
     Kind.PREMISE}
)  # fmt: skip
_A_RATE: Final = Form(r"\btok\w*(?: ?/ ?| per | an? | each | every )s|\bt/s|\btps\b|\btg ?\d")
_A_TIME: Final = Form(r"\d ?(?:m?s|us|µs)\b|\d ?(?:milli|micro)?seconds?\b|\b(?:tpot|itl)\b")
_PRUNED: Final = frozenset({"PRUNE"})
_ASKS_LIMIT: Final = Form(
    r"\bwhat (?:\w+ )?(?:limits|bounds|holds (?:back|up)|slows|throttles|gates|keeps|caps)\b"
    r"|\bwhat(?: is|['’]s) (?:the |its |our )?(?:bottleneck|limit|limiting factor|constraint"
    r"|holding)\b"
    r"|\bwhat (?:does|do|is) [^?]{2,40} (?:wait(?:ing)? for|bound by|limited by|busy with)\b"
)
"""A question for what a step waits for."""
_SHORT_ANSWER: Final = 3
"""Words of an answer that is told by the sentence after it: "A: Yes."."""


def _is_foreign(text: str) -> bool:
    """Whether a sentence is in Chinese, Japanese or Korean, which no form reads."""
    if text.isascii():
        return False
    return len(_EAST_ASIAN.findall(text)) * _FOREIGN > len(text)


@lru_cache(maxsize=512)
def tag_names(text: str) -> frozenset[str]:
    """The kinds of terms in a short text."""
    if len(text) > LONGEST_SENTENCE:
        return frozenset()
    return ideas_of(text, tags_of(text, words_of(text), terms()))


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
            if _is_foreign(sentence.text):
                continue
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
        if index and sentence.clauses and self._answers_limit(index):
            at = sentence.start
            found = [(sentence.clauses[0], Effect(Kind.BOUND, at, at + 1)), *found]
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

    def _answers_limit(self, index: int) -> bool:
        """Whether a sentence names arithmetic alone where the one before asks for the limit."""
        asked = self.sentences[index - 1]
        return (
            asked.is_question
            and _ASKS_LIMIT.search(asked.text) is not None
            and limit_alone(self.sentences[index].text) is Limit.COMPUTE
        )

    def _is_rate(self, effect: Effect, last: tuple[float, bool] | None) -> bool:
        """Whether a figure is a rate; one without a unit is what the one before it was."""
        told = self.block.text[effect.start : effect.end + 12]
        rate, time = _A_RATE.search(told), _A_TIME.search(told)
        if rate is not None and time is not None:
            return rate.start() < time.start()  # "24 ms a token" is none
        return rate is not None or (time is None and last is not None and last[1])

    def _statement(
        self,
        index: int,
        sentence: Sentence,
        clause: Clause,
        effect: Effect,
        earlier: tuple[tuple[Phase, float | None, float | None], ...],
    ) -> Statement:
        block = self.block
        of_speed = effect.kind not in _NOT_OF_SPEED
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
        if is_concluded(block.text, clause, effect):
            own -= {"MEASURED"}
        before = self._before(index)
        after = self.names[index + 1 : index + 2]
        labels = self._labels
        nearby = frozenset().union(*before, self.names[index], *after, *labels[:1])
        places = Places(own, self.names[index], before, labels)
        phase, phase_reach = phase_of(block.text, sentence, clause, effect, places)
        if status is Status.ASSERTED and is_observed(block.text, sentence, clause, effect, places):
            status = Status.MEASURED
        near, frame = self._frames(index)
        least = None
        if effect.tpot_ms is not None:
            told = [one.text for one in self.sentences[max(0, index - 2 * _BACK) : index + 1]]
            if block.kind is BlockKind.CELL:
                told.append(regime_text(block))
            least = self.setting.least(told, near)
        if effect.tpot_ms is not None and near != frame:
            lacking = near.lacks(frame)
            if not lacking or lacking.isdisjoint(self.setting.disputed):
                near = frame
        apart = apart_from_prompts(block.text, sentence, clause, places)
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
            is_linked=bool(self.siblings) or is_linked(block.text, sentence, clause),
            speedup=effect.speedup,
            tpot_ms=effect.tpot_ms,
            earlier=earlier,
            is_aggregate=is_aggregate(clause, effect, self._cell),
            is_single=is_single(
                clause,
                effect,
                self.names[max(0, index - _BACK) : index + 1],
                labels,
                frame.batch,
                label_frame(block.column).batch if block.kind is BlockKind.CELL else None,
            ),
            clause=own,
            sentence=self.names[index],
            nearby=nearby,
            around=nearby.union(*labels),
            frame=frame,
            near=near,
            least=least,
            context_text=self._context(index),
            after_text=self._after(index),
            opener=clause.opener,
            sentence_text=sentence.text,
            heading_text=block.headings[-1] if block.headings else "",
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
        if SUPPOSED.search(last.text) is not None:
            return statement  # "Yes. If every expert were read, it could not": a reason
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
            found.append(tag_names(f"{spelled(block.column)} | {named} | {row}"))
        found.append(tag_names(block.lead_in))
        found.extend(tag_names(title) for title in block.headings)
        return found

    @cached_property
    def _cell(self) -> frozenset[str] | None:
        """Kinds of terms in the row and the column of a cell."""
        if self.block.kind is not BlockKind.CELL:
            return None
        return tag_names(spelled(self.block.column)) | tag_names(self.block.row)

    def _frames(self, index: int) -> tuple[Frame, Frame]:
        """What is stated for a sentence, its own words first: near by, and in the document."""
        if index not in self._known:
            near = self._inherited(index)
            self._known[index] = near, self.setting.within(near)
        return self._known[index]

    def _inherited(self, index: int) -> Frame:
        frame = self._frame(index).over(self.setting.row_named(self.sentences[index].text))
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
