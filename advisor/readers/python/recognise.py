"""What a script sets up: levers with their places, and the facts of their context.

Each call that sets something is a setup of its own; setups that speak of one deployment are then
joined, as for any configuration. Training is left alone: what acts on a training run only is no
lever of serving, and vision classifiers are not served token by token.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Mapping as Mapping_
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from advisor.readers.inner_text import InnerText
from advisor.readers.options import ENGINES, Effect, Fact, Setting, engine_named_in
from advisor.readers.python import tables
from advisor.readers.python.calls import Call, File, Found, Rule, options, variable
from advisor.readers.python.commands import Command, commands_of, shell_commands
from advisor.readers.python.flow import Flow
from advisor.readers.python.handing import handed_on
from advisor.readers.python.idioms import idioms
from advisor.readers.python.marks import calls_levers
from advisor.readers.python.nodes import Nodes
from advisor.readers.python.seen import Assigned
from advisor.readers.python.survey import survey
from advisor.readers.python.syntax import Parsed, Places
from advisor.readers.python.telling import TELLING, by_argument
from advisor.readers.python.traps import (
    CLIENTS,
    DECLARES,
    OF_TRAINING,
    TRAINS,
    guarded_by_convolutions,
    is_of_pictures,
    is_trap,
)
from advisor.readers.python.values import (
    Made,
    Sequence,
    Value,
    plain,
    symbol_of,
    usual,
)
from advisor.readers.python.variables import environment_of
from advisor.readers.setups import Placed, Setup
from advisor.readers.yaml_nodes import MapNode
from advisor.source import Source, Span

_MARK: Final = "rooflint"
_NOTHING: Final = ast.Module(body=[], type_ignores=[])
_ALL: Final = "all"
_MAX_USERS: Final = 20
_COUNTED: Final = "layers of a config"
_CONFIG: Final = re.compile(r"Config(?:\.from_pretrained)?$")
_ATTRIBUTE_ENGINES: Final = (
    ("generation_config", "transformers"), ("config", "transformers"),
)  # fmt: skip


class Recognised:
    """Everything one script sets up."""

    def __init__(self, source: Source, parsed: Parsed, places: Places, *, named: bool) -> None:
        """Read the tree; of a file that nobody named, no more than its words promise."""
        assert parsed.tree is not None
        self._source, self._places = source, places
        self._known = survey(parsed.tree)
        follows = named or _MARK in source.text or bool(parsed.shell)
        # What works on tensors by hand is read without following values.
        follows = follows or calls_levers(source.text.encode(), self._known.called)
        self.flow = Flow(parsed.tree if follows else _NOTHING, self._known)
        seen = self.flow.seen
        last = frozenset(made.name.rpartition(".")[2] for made, _ in seen.calls)
        attributes = frozenset(one.name for one in seen.assigned)
        self._file = File(last, seen.names, self._engine(), attributes)
        self._trains = bool(TRAINS & last)
        self._roots = {module.partition(".")[0] for module in seen.imports}
        self._convolutions = guarded_by_convolutions(self._known)
        self._own = {node.name for node in (*self._known.functions, *self._known.classes)}
        self._done: set[int] = set()
        self._tree, self._shell = parsed.tree, parsed.shell

    @property
    def documents(self) -> list[ast.Constant]:
        """Texts of several lines in the file."""
        return self._known.documents

    def setups(self) -> list[Setup]:
        """One setup for each call, attribute and command that sets something."""
        if is_of_pictures(self._roots):
            return []
        found: list[Setup] = []
        by_call: dict[int, list[Setup]] = {}
        for made, hangs_on in self.flow.seen.calls:
            by_call[id(made)] = self._of_call(made, hangs_on)
        for made, _ in self.flow.seen.calls:
            _hand_on(made, by_call)
        found += [setup for group in by_call.values() for setup in group]
        for assigned in self.flow.seen.assigned:
            groups = self._of_group(self._of_assigned(assigned))
            counted = assigned.name == "num_hidden_layers"
            found += [replace(group, title=_COUNTED if counted else "") for group in groups]
        for text, span in self._shell:
            for engine, commands in shell_commands(text, span, self._source):
                found.append(self._of_command(engine, commands))
        by_hand = list(idioms(self._tree, self._known, self.flow.seen, self._file, self._source))
        for one in by_hand:
            found += self._of_group([one])
        if any(_is_of_layers(one.effect) for one in by_hand):
            # The config is told of the layers that the code has taken out already.
            found = [setup for setup in found if not _only_counts_layers(setup)]
        return [replace(setup, title="") for setup in found if setup.placed]

    def _engine(self) -> str | None:
        """The engine whose variables a file sets: one of those it imports."""
        for module in sorted(self.flow.seen.imports):
            root = module.partition(".")[0].replace("llama_cpp", "llamacpp")
            if root in ENGINES and root not in {"transformers", "deepspeed"}:
                return root
        # A launcher that a command names reads the variables too.
        return engine_named_in(self._source.text)

    # Calls

    def _of_call(self, made: Made, hangs_on: str) -> list[Setup]:
        made = handed_on(made) or made
        rule = self._rule(made)
        telling = rule is not None or not made.keywords.keys().isdisjoint(TELLING)
        if telling and is_trap(made, self._convolutions):
            return []
        found: list[Setup] = []
        if made.name.endswith("Modifier"):
            found += self._modifier(made, hangs_on)
        if rule is not None:
            found += self._of_group(rule(Call(made, hangs_on, self._file)))
        for engine, commands in commands_of(made, hangs_on, self._source, self._places, self._done):
            found.append(self._of_command(engine, commands))
        if rule is None:
            found += self._of_group(environment_of(made, hangs_on, self._file.engine))
            if made.name.partition(".")[0] not in CLIENTS and not self._is_own(made):
                found += self._of_group(by_argument(made, hangs_on))
        found += self._of_group(_masked_heads(made, hangs_on))
        return found

    def _is_own(self, made: Made) -> bool:
        """Whether a function or class of the file itself is called, which is read where it acts."""
        last = made.name.rpartition(".")[2]
        return made.name.startswith("?.") or last in self._own or last in DECLARES

    def _rule(self, made: Made) -> Rule | None:
        rows = tables.calls()
        name = made.name
        if not name:
            return rows.get("()") if made.receiver is not None else None
        if name.startswith("."):
            if made.receiver is not None and (own := self._of_owner(made)) is not None:
                return own
            return rows.get(name) if name.count(".") == 1 else self._star(name)
        root, _, rest = name.partition(".")
        if root == "?":
            return self._star(f".{rest}")
        parts = name.split(".")
        return (
            rows.get(f"{root}:{'.'.join(parts[-2:])}")
            or rows.get(f"{root}:{parts[-1]}")
            or rows.get(f"*:{'.'.join(parts[-2:])}")
            or (rows.get(f"*:{parts[-1]}") if root not in CLIENTS else None)
        )

    def _of_owner(self, made: Made) -> Rule | None:
        """A method of an instance whose class is known: `converter.convert(...)`."""
        maker = symbol_of(made.receiver) if made.receiver is not None else ""
        root, _, rest = maker.partition(".")
        if not rest:
            return None
        return tables.calls().get(f"{root}:{maker.rpartition('.')[2]}{made.name}")

    def _star(self, name: str) -> Rule | None:
        """A name that a star import or a module of the project's own gives."""
        rows = tables.calls()
        parts = name.strip(".").split(".")
        for module in self.flow.seen.stars:
            found = rows.get(f"{module.partition('.')[0]}:{parts[-1]}")
            if found is not None:
                return found
        known = rows.get(f"*:{'.'.join(parts[-2:])}") or rows.get(f"*:{parts[-1]}")
        if known is None and len(parts) > 1 and not parts[-2][:1].isupper():
            # A method of an object that the file takes as given: `model.generate(...)`.
            known = rows.get(f".{parts[-1]}")
        return known

    def _modifier(self, made: Made, hangs_on: str) -> list[Setup]:
        """A modifier of llm-compressor or SparseML as an object, read as an entry of a recipe."""
        from advisor.readers.recipes import Modifier, add_recipe  # noqa: PLC0415

        name = made.name.rpartition(".")[2]
        node = Nodes(self._source, self._places).of(made)
        span = _first_line(self._places.span(made.node), self._source)
        arguments = node if isinstance(node, MapNode) else None
        setup = Setup()
        modifier = Modifier(name, span, arguments, MappingProxyType({}), InnerText(self._source))
        add_recipe(setup, iter([modifier]))
        setup.placed = [one._replace(condition=hangs_on or one.condition) for one in setup.placed]
        return [setup]

    # Attributes

    def _of_assigned(self, one: Assigned) -> Iterator[Found]:
        """`plugin.reduce_fusion = True`, `generation_config.cache_implementation = "static"`."""
        maker = symbol_of(one.receiver)
        if maker in {"os.environ", "os.environ.copy"} and one.name.startswith("["):
            yield from variable(
                self._file.engine, one.name[1:-1], one.node, one.value, one.hangs_on
            )
            return
        if one.name == "[attn_impl]":  # MPT's config
            yield from options("transformers")(
                Call(Made(one.node, "", [], {"attn_implementation": (one.node, one.value)}),
                     one.hangs_on, self._file)
            )  # fmt: skip
        if maker.startswith("torch.") or one.name.startswith("["):
            return
        owner = maker.rpartition(".")[2]
        if maker and maker[:1] not in {".", "?"}:
            rule = self._rule(Made(one.node, maker, [], {}))
            if (
                rule is not None
                and (owner[:1].isupper() or owner.endswith("_params"))
                and "." in maker
            ):
                made = Made(one.node, maker, [], {one.name: (one.node, one.value)})
                found = list(rule(Call(made, one.hangs_on, self._file)))
                if any(isinstance(item.effect, Setting) for item in found):
                    yield from found
                    return
        yield from self._of_config(one)

    def _of_config(self, one: Assigned) -> Iterator[Found]:
        """Attributes of transformers' configs, wherever the config comes from."""
        before = one.path.rpartition(".")[0].rpartition(".")[2]
        maker = symbol_of(one.receiver)
        if maker.partition(".")[0] == "transformers" and _CONFIG.search(maker):
            before = "config"
        engine = next((name for end, name in _ATTRIBUTE_ENGINES if before.endswith(end)), None)
        if engine is None or not self._roots & {"transformers", "optimum"}:
            return
        if one.name == "sliding_window":
            given = plain(one.value)
            if isinstance(given, int) and given > 0:
                fields = {"pattern": "kv_tokens"}
                yield Found(Setting("prune", fields), one.node, one.hangs_on)
            return
        if one.name == "num_hidden_layers" and isinstance(given := plain(one.value), int):
            counted = {"pattern": "layers", "storage": "removed", "kept": given}
            yield Found(Setting("prune", counted), one.node, one.hangs_on)
            return
        if one.name == "num_key_value_heads" and isinstance(given := plain(one.value), int):
            kind = {"variant": "mqa"} if given == 1 else {"variant": "gqa", "kv_heads": given}
            yield Found(Setting("attention", kind), one.node, one.hangs_on)
            return
        if one.name in {"k_bits", "v_bits"} and isinstance(given := plain(one.value), int):
            fields = {"kv_cache": f"int{given}"}
            if 1 <= given <= 8:
                yield Found(Setting("quantize", fields), one.node, one.hangs_on)
            return
        if one.name in {"use_cache", "dtype", "torch_dtype", "cache_implementation",
                        "attn_implementation", "_attn_implementation", "prompt_lookup_num_tokens",
                        "num_assistant_tokens", "compile_config",
                        "quantization_config"}:  # fmt: skip
            made = Made(one.node, "", [], {one.name.lstrip("_"): (one.node, one.value)})
            yield from options(engine)(Call(made, one.hangs_on, self._file))

    # Setups

    def _of_group(self, found: Iterator[Found] | list[Found]) -> list[Setup]:
        """What one call sets, as a setup."""
        setup = Setup()
        for one in found:
            effect = one.effect
            if isinstance(effect, Setting) and self._trains and effect.kind in OF_TRAINING:
                continue
            if isinstance(effect, Setting) and effect.fields.get("size") == _ALL:
                # As many devices as there are: two is the fewest that a split is over.
                effect = effect._replace(fields={**effect.fields, "size": 2})
            span = self._places.span(one.node)
            if isinstance(effect, Fact) and effect.name == "engine":
                setup.engine, setup.engine_span = str(effect.value), span
                continue
            if isinstance(effect, Fact) and effect.name == "inline_model":
                effect = Fact("model", effect.value)
            value = span if isinstance(effect, Fact) else None
            setup.placed.append(
                Placed(
                    effect, _first_line(span, self._source), value, not one.by_name, one.condition
                )
            )
        return [setup] if setup.placed else []

    def _of_command(self, engine: str | None, commands: list[Command]) -> Setup:
        setup = Setup(engine=engine)
        if commands:
            setup.engine_span = commands[0].span
        for one in commands:
            for effect in one.effects:
                if isinstance(effect, Fact):
                    setup.placed.append(Placed(effect, one.value or one.span, one.value))
                    continue
                sure = one.name.strip("-").replace("_", "-") not in {"model", "model-path"}
                span = one.span if sure else one.value or one.span
                setup.placed.append(Placed(effect, span, None, sure, one.condition))
        return setup


def _users(made: Made, by_call: Mapping_[int, list[Setup]], depth: int = 3) -> Iterator[Setup]:
    """Setups of the calls that take what a call makes, or take what is made of it."""
    for user in made.used_by[:_MAX_USERS]:
        groups = by_call.get(id(user), [])
        if groups:
            yield groups[0]
        elif depth:
            yield from _users(user, by_call, depth - 1)


def _hand_on(made: Made, by_call: dict[int, list[Setup]]) -> None:
    """What a config object or a loaded model sets, told of the calls that use it."""
    own = by_call.get(id(made), [])
    if len(own) != 1:
        return
    setup = own[0]
    taken = False
    for user in _users(made, by_call):
        facts = [one for one in setup.placed if isinstance(one.effect, Fact)]
        user.placed += [one for one in facts if user.fact(one.effect.name) is None]  # type: ignore[union-attr]
        user.engine = user.engine or setup.engine
        known = [(one.effect, one.span) for one in user.placed]
        setup.placed = [one for one in setup.placed if (one.effect, one.span) not in known]
        if not taken and not user.kinds() & setup.kinds():
            user.placed += [one for one in setup.placed if isinstance(one.effect, Setting)]
            taken = True
    if taken:
        by_call[id(made)] = []


def _is_of_layers(effect: Effect) -> bool:
    return isinstance(effect, Setting) and effect.fields.get("pattern") == "layers"


def _only_counts_layers(setup: Setup) -> bool:
    """Whether all that a setup does is to set `num_hidden_layers` of a config."""
    return setup.title == _COUNTED


def _masked_heads(made: Made, hangs_on: str) -> Iterator[Found]:
    """`model(..., head_mask=mask)` with a mask that is made in the file."""
    place, value = made.keywords.get("head_mask", (made.node, Value(made.node)))
    mask = usual(value)
    if isinstance(mask, Made) and mask.name.endswith(".get_head_mask"):
        return  # the library's own, of what its caller hands in: in general nothing
    if isinstance(mask, Made | Sequence):
        fields = {"pattern": "heads", "storage": "masked"}
        yield Found(Setting("prune", fields), place, hangs_on, call=made)


def _first_line(span: Span, source: Source) -> Span:
    """The first line of what a call says: where a finding underlines."""
    line = source.position(span.start).line
    stop = source.offset(line, 1) + len(source.line(line))
    return Span(span.start, max(span.start, min(span.end, stop)))
