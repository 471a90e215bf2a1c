"""Where a walk through a configuration is, and how it puts down what it finds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from advisor.readers.flags import Option as Flag
from advisor.readers.flags import data_of
from advisor.readers.inner_text import InnerText
from advisor.readers.options import Effect, Setting, read_option
from advisor.readers.options.values import kebab
from advisor.readers.platforms import MODEL_KEYS
from advisor.readers.setups import Setup
from advisor.readers.yaml_nodes import Entry, ScalarNode
from advisor.source import Span


class Scope:
    """Where in a file the walk is: its setup, its text, the variables that hold there."""

    __slots__ = ("key", "setup", "text", "variables")

    def __init__(
        self, setup: Setup, text: InnerText, variables: Mapping[str, str], key: str = ""
    ) -> None:
        self.setup = setup
        self.text = text
        self.variables = variables
        self.key = key

    def at(self, key: str) -> Scope:
        """The same scope below a key."""
        return Scope(self.setup, self.text, self.variables, key)


def spans_nodes(entry: Entry, key: str) -> bool:
    """Whether an entry says that one replica runs on several nodes."""
    name = entry.key.text
    value = entry.value.text.strip() if isinstance(entry.value, ScalarNode) else ""
    if name == "deploy_type":
        return value.startswith("multi_node")
    counts = {"num_nodes", "nnodes", "nodes", "nodeCount", "numNodes"}
    if name in counts or (name == "size" and key == "leaderWorkerTemplate"):
        return value.isdigit() and int(value) > 1
    return False


def place_effects(
    setup: Setup, effects: tuple[Effect, ...], span: Span, value: Span | None, *, named: str
) -> None:
    """Put effects into a setup; what only a model's name says is not sure."""
    from_name = (
        named in {"model", "model-path", "model-id", "model-tag", "model-name", "m"}
        or (named in MODEL_KEYS)
        or named in {"hf", "hf-repo", "hf-file", "model-dir"}
    )
    for effect in effects:
        if from_name and isinstance(effect, Setting):
            setup.add((effect,), value or span, value, sure=False)
        else:
            setup.add((effect,), span, value)


def flag_effects(flag: Flag) -> tuple[Effect, ...]:
    """What a flag does; a flag that wants a value and has none is open."""
    found = read_option(flag.engine, flag.name, flag.value)
    if found is None and flag.engine is not None:
        found = read_option(None, flag.name, flag.value)
    return found or ()


_PROPERTY: Final = re.compile(r"^[ \t]*option\.([\w.-]+)[ \t]*=[ \t]*(.*)$", re.MULTILINE)


def place_pairs(text: str, place: Span, setup: Setup) -> None:
    """`pretrained=x,tensor_parallel_size=2`: options of lm-eval's `model_args`."""
    at = place.start
    for part in text.split(","):
        name, equals, value = part.partition("=")
        start = at + len(name) - len(name.lstrip())
        at += len(part) + 1
        option = name.strip() if name.strip() != "pretrained" else "model"
        data = data_of(value) if equals else True
        effects = read_option(setup.engine or "vllm", option, data)
        if effects is None:
            effects = read_option("transformers", option, data)
        span = Span(start, min(start + len(name.strip()), max(place.end, start)))
        place_effects(setup, effects or (), span, None, named=kebab(option))


def place_properties(text: str, node: ScalarNode, scope: Scope) -> None:
    """Lines `option.tensor_parallel_degree=4` of a serving.properties in a value."""
    inner = scope.text.inside(node)
    for match in _PROPERTY.finditer(text):
        effects = read_option("djl", match[1], data_of(match[2].strip())) or ()
        place = inner.place(Span(*match.span(1)))
        named = kebab(match[1])
        place_effects(scope.setup, effects, place, inner.place(Span(*match.span(2))), named=named)
