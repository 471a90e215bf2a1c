"""Serving configurations as people have them: manifests, values, compose files, engine configs.

Recognised by what they hold, not by their names: commands with an engine's flags, variables that
an engine reads, mappings whose keys are an engine's options, wherever they stand (Kubernetes,
KServe, Helm values, docker-compose, Ray, SkyPilot, Dynamo, TensorRT-LLM and vLLM configs, text
inside ConfigMaps). One setup is a container, a service, a worker role or an options file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.readers.flags import Option as Flag
from advisor.readers.flags import data_of, options_of, resolved
from advisor.readers.inner_text import InnerText
from advisor.readers.manifest_values import (
    FLAG_TEXT,
    SENTENCE,
    decisive,
    inner_key,
    is_argument,
    key_span,
    literals_of,
    value_of,
    variables_of,
    words_of,
)
from advisor.readers.options import Effect, Setting, find_option, read_environment, read_option
from advisor.readers.options.values import kebab, switch_of
from advisor.readers.placing import device_count, device_of, device_of_expression
from advisor.readers.platforms import MODEL_KEYS, model_effects, platform_effects
from advisor.readers.recipes import add_recipe, modifiers_of
from advisor.readers.recognising import (
    ROLES,
    engine_hint,
    engine_of_options,
    has_options,
    is_checkpoint,
    is_schema,
    is_unit,
    name_of,
    runs,
    version_of,
)
from advisor.readers.setups import Setup, lever_key
from advisor.readers.tuning import add_tuning, is_training
from advisor.readers.walking import (
    Scope,
    flag_effects,
    place_effects,
    place_pairs,
    place_properties,
    spans_nodes,
)
from advisor.readers.words import Word, shell_words
from advisor.readers.yaml_nodes import (
    Entry,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    plain_value,
)
from advisor.source import Span

_WORDS: Final = frozenset(
    {
        "description", "display_name", "displayName", "help", "summary", "note", "notes", "title",
        "message", "comment", "comments", "annotations", "labels", "docs", "readme", "icon",
        "matchLabels", "$schema", "example", "examples", "NOTES.txt", "README.md",
    }
)  # fmt: skip
"""Keys whose values are words about the configuration."""


_PLAIN_OPTIONS: Final = frozenset({"quantize", "quantization", "load_in_low_bit"})
"""Options that are read under any key of a setup whose engine is known."""
_PAIR_KEYS: Final = frozenset({"model_args", "modelArgs"})
_COMMAND_KEYS: Final = ("entrypoint", "command", "args", "cmd", "arguments")


_ENVIRONMENT_KEYS: Final = frozenset(
    {"env", "environment", "envs", "extraEnv", "extra_env", "envVars", "env_vars", "extraEnvVars",
     "containerEnv", "environment_variables", "Environment", "environmentVariables"}
)  # fmt: skip


_MAX_FLAG_TEXT: Final = 60_000


class Walked(NamedTuple):
    """What a text's documents hold."""

    setups: list[Setup]
    scripts: list[InnerText]
    """Python files inside of values."""


def walk(text: InnerText, roots: tuple[Node, ...], title: str = "") -> Walked:
    """The setups of a text's documents, and the scripts in them."""
    found = _Walk(text)
    for root in roots:
        found.document(root, title)
    return Walked(found.setups, found.scripts)


def walk_script(text: InnerText, engine: str | None = None) -> list[Setup]:
    """The setups that the commands of a shell text start, or flags of an engine alone."""
    found = _Walk(text)
    setup = found.new("")
    setup.engine = engine
    found.flags(shell_words(text), Scope(setup, text, MappingProxyType({})))
    return found.setups


class _Walk:
    """Goes through documents and gathers setups."""

    def __init__(self, text: InnerText) -> None:
        self.text = text
        self.setups: list[Setup] = []
        self.scripts: list[InnerText] = []

    def document(self, root: Node, title: str) -> None:
        """One document."""
        setup = self.new(title or name_of(root))
        self.node(root, Scope(setup, self.text, MappingProxyType({})))

    def new(self, title: str, like: Setup | None = None) -> Setup:
        """A setup of its own, on the devices of the one around it."""
        setup = Setup(title=title)
        if like is not None:
            setup.engine, setup.engine_span = like.engine, like.engine_span
            setup.version = like.version
            setup.hardware = like.hardware
            setup.spans_nodes = like.spans_nodes
        self.setups.append(setup)
        return setup

    def node(self, node: Node, scope: Scope) -> None:
        """Any value."""
        if isinstance(node, MapNode):
            self.mapping(node, scope)
        elif isinstance(node, ListNode):
            self.items(node, scope)
        else:
            self.scalar(node, scope)

    def items(self, node: ListNode, scope: Scope) -> None:
        """A list: of arguments, or of anything."""
        scalars = [item for item in node.items if isinstance(item, ScalarNode)]
        named = scope.setup.engine == "jetstream"
        if scalars and (named or any(is_argument(item.text) for item in scalars)):
            self.flags(words_of(scalars, scope.text), scope)
            return
        for item in node.items:
            self.node(item, scope)

    def scalar(self, node: ScalarNode, scope: Scope) -> None:
        """Text: a command, or YAML or JSON of its own."""
        text = node.text
        if scope.key.endswith(".py"):
            self.scripts.append(scope.text.inside(node))
            return
        if len(text) < 6 or len(text) > _MAX_FLAG_TEXT:
            return
        if ("\n" in text or text.lstrip()[:1] == "{") and (
            scope.key.endswith((".yaml", ".yml", ".json", ".conf")) or has_options(text)
        ):
            inner = scope.text.inside(node)
            roots = [root for root in inner.documents() if isinstance(root, MapNode)]
            for root in roots:
                self.mapping(root, Scope(scope.setup, inner, scope.variables, scope.key))
            if roots:
                return
        if "option." in text:
            place_properties(text, node, scope)
        if "-" in text and FLAG_TEXT.search(text) and not SENTENCE.match(text):
            self.flags(shell_words(scope.text.inside(node)), scope)

    def mapping(self, node: MapNode, scope: Scope) -> None:
        """A mapping: a container, an options table, or anything."""
        entries = {entry.key.text: entry for entry in node.entries}
        if is_schema(entries):
            return
        if is_checkpoint(entries):
            self.checkpoint(entries, scope)
            return
        if is_training(entries):
            setup = self.new("")
            add_tuning(setup, node, scope.text)
            return
        scope = self._scope_of(node, entries, scope)
        setup = scope.setup
        self._placing(node, scope)
        options = engine_of_options(entries, setup.engine, scope.key)
        if options is not None and setup.engine is None:
            setup.engine = options
        read = self._command(entries, scope)
        self._halves(entries, scope)
        for name, entry in entries.items():
            if name in read or name in _WORDS:
                continue
            if options is not None and self.option(entry, options, scope):
                continue
            plain = name in _PLAIN_OPTIONS and isinstance(entry.value, ScalarNode)
            if plain and setup.engine is not None and self.option(entry, setup.engine, scope):
                continue
            if name in _PAIR_KEYS and isinstance(entry.value, ScalarNode):
                place_pairs(entry.value.text, scope.text.place(entry.value.span), scope.setup)
                continue
            if name in _ENVIRONMENT_KEYS:
                self.environment(entry.value, scope)
            elif not self._special(name, entry, scope):
                self.node(entry.value, scope.at(name))

    def _scope_of(self, node: MapNode, entries: Mapping[str, Entry], scope: Scope) -> Scope:
        """The scope inside a mapping: of its own setup, engine and variables."""
        setup = scope.setup
        if is_unit(entries, scope.key) and (setup.placed or scope.key in ROLES or runs(entries)):
            setup = self.new(name_of(node) or scope.key or setup.title, setup)
        variables = dict(scope.variables)
        for name in _ENVIRONMENT_KEYS & entries.keys():
            variables.update(literals_of(entries[name].value))
        resources = entries.get("resources")
        if resources is not None and isinstance(resources.value, MapNode):
            for entry in resources.value.entries:
                count = device_count(entry.value) if entry.key.text == "accelerators" else None
                if count is not None and count > 1:
                    variables.setdefault("SKYPILOT_NUM_GPUS_PER_NODE", str(count))
        hint = engine_hint(entries)
        if hint is not None:
            engine, place = hint
            if setup.engine is None or "image" in entries or "command" in entries:
                setup.engine, setup.engine_span = engine, scope.text.place(place)
            image = entries.get("image")
            if image is not None and isinstance(image.value, ScalarNode):
                setup.version = version_of(image.value.text) or setup.version
        return Scope(setup, scope.text, MappingProxyType(variables), scope.key)

    def _placing(self, node: MapNode, scope: Scope) -> None:
        """Devices that the mapping names."""
        setup = scope.setup
        found = device_of_expression(node)
        for entry in node.entries:
            found = found or device_of(entry)
            setup.spans_nodes |= spans_nodes(entry, scope.key)
        if found is not None and setup.hardware is None:
            setup.hardware = (found[0], scope.text.place(found[1]))

    def _halves(self, entries: Mapping[str, Entry], scope: Scope) -> None:
        """Prefill and decode as two groups of workers of one deployment."""
        for name in ("prefill", "context_servers"):
            entry = entries.get(name)
            if entry is None or not isinstance(entry.value, MapNode):
                continue
            other = entries.keys() & {"decode", "template", "parallelism", "generation_servers"}
            parts = {one.key.text: one.value for one in entry.value.entries}
            switches = [parts[key] for key in ("create", "enabled") if key in parts]
            if other and not any(switch_of(plain_value(part)) is False for part in switches):
                scope.setup.add((Setting("disaggregate"),), scope.text.place(entry.key.span))

    def _command(self, entries: Mapping[str, Entry], scope: Scope) -> frozenset[str]:
        """Command and arguments of a container as one command; the keys that were read."""
        words: list[Word | None] = []
        read: set[str] = set()
        for key in _COMMAND_KEYS:
            entry = entries.get(key)
            if entry is None:
                continue
            if isinstance(entry.value, ListNode):
                scalars = [item for item in entry.value.items if isinstance(item, ScalarNode)]
                if len(scalars) == len(entry.value.items):
                    words += words_of(scalars, scope.text)
                    read.add(key)
            elif isinstance(entry.value, ScalarNode) and not has_options(entry.value.text):
                words += shell_words(scope.text.inside(entry.value))
                read.add(key)
        if words:
            self.flags(iter(words), scope)
        return frozenset(read)

    def flags(self, words: Iterator[Word | None], scope: Scope) -> None:
        """The options of commands; a second server in one script is a setup of its own."""
        setup = scope.setup
        started = frozenset[tuple[str, str]]()
        for command in options_of(words, setup.engine, scope.variables):
            read = [(flag, flag_effects(flag)) for flag in command]
            keys = {
                lever_key(effect.kind, effect.fields)
                for _, effects in read
                for effect in effects
                if isinstance(effect, Setting)
            }
            if keys & started:
                setup = self.new(setup.title, setup)
                started = frozenset()
            started |= keys
            for flag, effects in read:
                self.flag(flag, effects, setup)

    def flag(self, flag: Flag, effects: tuple[Effect, ...], setup: Setup) -> None:
        """One flag of a command."""
        name = kebab(flag.name)
        if name == "model-args" and isinstance(flag.value, str):
            place_pairs(flag.value, flag.value_span or flag.span, setup)
        elif effects:
            setup.engine = setup.engine or flag.engine
            self.place_flag(flag, effects, setup)
        elif name in {"nnodes", "num-nodes"} and flag.value not in {"1", 1}:
            setup.spans_nodes = True

    def place_flag(self, flag: Flag, effects: tuple[Effect, ...], setup: Setup) -> None:
        """Effects of a flag, those of keys inside its value at these keys."""
        for effect in effects:
            span = flag.span
            if isinstance(effect, Setting) and effect.path and flag.inner is not None:
                span = key_span(flag.inner, effect.path) or span
            place_effects(setup, (effect,), span, flag.value_span, named=kebab(flag.name))

    def option(self, entry: Entry, engine: str, scope: Scope) -> bool:
        """A key that is an option of an engine; False for one that is none."""
        name = entry.key.text
        if find_option(engine, name) is None:
            return False
        if isinstance(entry.value, MapNode):
            inside = {one.key.text for one in entry.value.entries}
            if name in {"dtype", "model"} or {"type", "description"} <= inside:
                return False
            if inside & {"type", "$ref"} and len(inside) <= 3 and not inside & {"backend"}:
                return False
        value = value_of(entry.value, scope.variables)
        if value == "" and scope.key.endswith(("parameters", "_args")):
            value = True  # benchmark suites write flags without a value so
        effects = read_option(engine, name, value) or ()
        text = scope.text
        key = text.place(entry.key.span)
        for effect in effects:
            span = key
            if isinstance(effect, Setting):
                span = inner_key(entry.value, effect.path or decisive(entry.value), text) or key
            place_effects(
                scope.setup, (effect,), span, text.place(entry.value.span), named=kebab(name)
            )
        return True

    def checkpoint(self, entries: Mapping[str, Entry], scope: Scope) -> None:
        """A model's config.json: how its weights are quantized, if they are."""
        names = ("quantization_config", "compression_config", "quantization")
        entry = next((entries[name] for name in names if name in entries), None)
        if entry is None or not isinstance(entry.value, MapNode):
            return
        recipe = MapNode(
            (Entry(entry.key._replace(text="QuantizationModifier"), entry.value),), entry.value.span
        )
        if any(one.key.text == "config_groups" for one in entry.value.entries):
            add_recipe(scope.setup, modifiers_of(recipe, scope.text))
        else:
            effects = read_option("transformers", "quantization_config", plain_value(entry.value))
            place = inner_key(entry.value, decisive(entry.value), scope.text)
            place_effects(
                scope.setup, effects or (), place or scope.text.place(entry.key.span), None,
                named="quantization-config",
            )  # fmt: skip

    def environment(self, node: Node, scope: Scope) -> None:
        """Variables: a list of names and values, a mapping, or lines NAME=value."""
        for name, value, key, place in variables_of(node):
            self.variable(name, value, key, place, scope)

    def variable(
        self, name: str, value: ScalarNode | None, key: Span, place: Span, scope: Scope
    ) -> None:
        """One variable."""
        text = scope.text
        written = value.text if value is not None else scope.text.text[place.start : place.end]
        given = resolved(written, scope.variables)
        data = data_of(given) if isinstance(given, str) else given
        effects = read_environment(scope.setup.engine, name, data)
        if effects is None and kebab(name) in MODEL_KEYS and isinstance(given, str):
            effects = model_effects(given)
        if effects:
            named = "model" if "MODEL" in name else "variable"
            place_effects(scope.setup, effects, text.place(key), text.place(place), named=named)
        elif effects is None and value is not None and FLAG_TEXT.search(value.text):
            self.flags(shell_words(text.inside(value)), scope)

    def _special(self, name: str, entry: Entry, scope: Scope) -> bool:
        """Keys of platforms that mean a lever; True where nothing below is left to read."""
        setup, text = scope.setup, scope.text
        key, value = text.place(entry.key.span), entry.value
        spelled = kebab(name)
        if spelled in MODEL_KEYS and isinstance(value, ScalarNode):
            given = resolved(value.text, scope.variables)
            if isinstance(given, str):
                place_effects(
                    setup, model_effects(given), key, text.place(value.span), named="model"
                )
            return not FLAG_TEXT.search(value.text)
        effects = platform_effects(spelled, value, scope.variables)
        if effects is None:
            return False
        for effect in effects:
            path = effect.path if isinstance(effect, Setting) else ()
            span = inner_key(value, path, text) or key
            place_effects(setup, (effect,), span, text.place(value.span), named="platform")
        return True
