"""Files that are in use as they are: serving configs, compression recipes, merges, training.

A search for the words of the field comes before any parse; a file without them is left alone. A
file that is no YAML because templates stand in it is made readable first, place for place.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from advisor.proposal import Proposal
from advisor.readers.compression import is_vision
from advisor.readers.inner_text import InnerText
from advisor.readers.loose_lines import loose_nodes
from advisor.readers.modelopt import add_rules, is_rules
from advisor.readers.recipes import add_recipe, modifiers_of
from advisor.readers.serving import walk
from advisor.readers.setups import Setup, joined, proposal_of
from advisor.readers.sheets import is_sheet, read_sheet
from advisor.readers.templates import other_sides, readable
from advisor.readers.tuning import add_tuning, is_tuning
from advisor.readers.yaml_nodes import MapNode, Node
from advisor.readers.yaml_tree import Composed, compose
from advisor.source import Source, Span


def read_configurations(
    source: Source, composed: Composed | None = None, *, bare: bool = False
) -> tuple[Proposal, ...]:
    """The setups of a file as proposals; none where it configures nothing of the kind.

    `bare` keeps those that only name a model or an engine and set nothing.
    """
    composed = compose(source) if composed is None else composed
    roots, text = composed.documents, InnerText(source)
    if _is_template(source.text, composed):
        inner = Source(source.path, readable(source.text))
        again = compose(inner)
        text, roots = InnerText(inner), again.documents
        if not again.whole:
            read_to = max((root.outer.end for root in roots), default=0)
            roots += loose_nodes(inner.text, read_to)
        roots += tuple(
            node for span in other_sides(source.text) for node in loose_nodes(source.text, *span)
        )
    sheets: list[Node] = []
    others: list[Node] = []
    for root in roots:
        (sheets if is_sheet(root) else others).append(root)
    scripts: list[InnerText] = []
    setups = [setup for root in others for setup in _of_document(root, text, scripts)]
    found = (
        proposal_of(setup, source, _whole(setup, source), bare=bare) for setup in joined(setups)
    )
    return (
        *(proposal for sheet in sheets for proposal in read_sheet(sheet, text, source)),
        *(proposal for proposal in found if proposal is not None),
        *(proposal for script in scripts for proposal in _of_script(script, source)),
    )


def _is_template(text: str, composed: Composed) -> bool:
    """Whether a text is to be made readable first.

    YAML reads an unquoted {{X}} as a mapping whose key is a mapping, which is whole and wrong.
    """
    codes = {one.rule for one in composed.problems}
    return (not composed.whole and "E902" in codes) or ("E904" in codes and "{{" in text)


def _of_script(script: InnerText, source: Source) -> Iterator[Proposal]:
    """What a Python file inside a value configures, at its places in the file around."""
    from advisor.readers.python.reader import read  # noqa: PLC0415 - few manifests hold scripts

    place = script.place
    for proposal in read(script.source, named=False).proposals:
        levers = tuple(
            lever._replace(
                span=place(lever.span),
                spans=MappingProxyType({name: place(at) for name, at in lever.spans.items()}),
                claim=lever.claim and lever.claim._replace(span=place(lever.claim.span)),
            )
            for lever in proposal.levers
        )
        yield proposal._replace(source=source, span=place(proposal.span), levers=levers)


def _of_document(root: Node, text: InnerText, scripts: list[InnerText]) -> Iterator[Setup]:
    """The setups of one document; what it holds of Python is put aside."""
    if isinstance(root, MapNode) and is_tuning(root):
        setup = Setup()
        add_tuning(setup, root, text)
        yield setup
        return
    if is_rules(root):
        rules = Setup()
        add_rules(rules, root, text)
        yield rules
        return
    if "Modifier" in text.text and not is_vision(text.text):
        recipe = Setup()
        add_recipe(recipe, modifiers_of(root, text))
        if recipe.placed:
            yield recipe
            return
    walked = walk(text, (root,))
    scripts += walked.scripts
    yield from walked.setups


def _whole(setup: Setup, source: Source) -> Span:
    """The setup in the file: from its first to its last option."""
    starts = [placed.span.start for placed in setup.placed]
    ends = [placed.span.end for placed in setup.placed]
    first = min(starts, default=0)
    return Span(first, max(ends, default=len(source.text)))
