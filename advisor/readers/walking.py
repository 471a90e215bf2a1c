"""Where a walk through a configuration is, and how it puts down what it finds."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.readers.flags import Option as Flag
from advisor.readers.inner_text import InnerText
from advisor.readers.options import Effect, Setting, read_option
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
