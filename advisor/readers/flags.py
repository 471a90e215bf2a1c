"""Flags of commands as options with values: --name value, --name=value, -x value, positionals.

A flag without a value is on. A value that holds a template's place or a variable is open, unless
the variable is set beside the command or has a default there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from advisor.readers.inner_text import InnerText
from advisor.readers.options import OPEN, Value, engine_named_in, find_option, tool_named_in
from advisor.readers.words import Word
from advisor.source import Span

HELM_PLACE: Final = "\ue000"
"""Stands, as often as needed, for a template's place in a text made readable."""

_FLAG: Final = re.compile(r"--?[A-Za-z][\w.-]*")
_LONG: Final = re.compile(r"(--?[A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_TRAINING: Final = re.compile(
    r"--?(?:learning[-_]rate|lr|num[-_]train[-_]epochs|epochs"
    r"|per[-_]device[-_]train[-_]batch[-_]size"
    r"|gradient[-_]accumulation[-_]steps|lora[-_]r(?:ank)?|micro[-_]batch[-_]size|max[-_]steps"
    r"|warmup[-_](?:steps|ratio)|weight[-_]decay)(?:=|$)"
)
"""Flags of training runs, of which nothing is in effect for inference."""
_LEVEL: Final = re.compile(r"-O([0-3])")
_VARIABLE: Final = re.compile(
    r"\$(?:\{(?P<braced>\w+)(?::?[-=](?P<default>[^}]*))?\}|\((?P<kube>\w+)\)|(?P<bare>\w+))"
)
_TEMPLATE: Final = re.compile(
    r"\{\{.{0,400}?\}\}|\{%.{0,400}?%\}|"
    + HELM_PLACE
    + r"+|\$\(|\$\{|\$\w|`|<[A-Za-z_][\w .:/-]*>|%\(\w+\)s"
    r"|\bX{3,}\b|\[\[.{0,400}?\]\]",
    re.DOTALL,
)
_ASSIGNMENT: Final = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(.*)", re.DOTALL)


_GGUF_TYPE: Final = re.compile(r"I?Q\d_(?:K(?:_[SMLX]{1,2})?|[01]|XXS|XS|S|M|NL)")
"""What llama-quantize takes after its files."""
_SUBCOMMANDS: Final = frozenset({"api_server", "serve", "gradio"})


class Option(NamedTuple):
    """A flag as it stands in a command."""

    engine: str | None
    name: str
    value: Value
    span: Span
    """The flag, without its value."""
    value_span: Span | None = None
    inner: InnerText | None = None
    """The value as a text of its own."""


def resolved(text: str, variables: Mapping[str, str]) -> Value:
    """A value with its variables put in; `OPEN` where the text does not fix it."""
    found = text
    if "$" in text:
        found = _VARIABLE.sub(lambda match: _variable(match, variables), text)
    if _TEMPLATE.search(found):
        return OPEN
    return found


def _variable(match: re.Match[str], variables: Mapping[str, str]) -> str:
    name = match["braced"] or match["kube"] or match["bare"]
    known = variables.get(name)
    if known is not None and not _TEMPLATE.search(known):
        return known
    default = match["default"]
    # A default amount of nothing leaves the amount open.
    if default and default.strip() not in {"0", "1", "none", "None", "false", "auto"}:
        return default
    return match[0]


_TELLING: Final = frozenset({"echo", "printf", "logger"})
"""Programs whose words set nothing."""
_OPENING: Final = 6
_CLUSTERS: Final = frozenset({("ray", "start"), ("ray", "up"), ("minikube", "start")})
"""Commands that bring machines up: how many GPUs these have is no split of a model."""


def is_flag(word: str) -> bool:
    """Whether a word names an option rather than giving a value."""
    return bool(_FLAG.match(word))


def options_of(
    words: Iterable[Word | None], engine: str | None, variables: Mapping[str, str]
) -> Iterator[tuple[Option, ...]]:
    """The options of each command, in order; `engine` holds where a command names none itself."""
    known = dict(variables)
    for command in _commands(words):
        named = next(filter(None, (engine_named_in(word.text) for word in command[:12])), None)
        named = named or tool_named_in(" ".join(word.text for word in command[:40])) or engine
        for word in command:
            match = _ASSIGNMENT.fullmatch(word.text)
            if match is not None and not word.text.startswith("-"):
                known.setdefault(match[1], match[2])
        begins = [word.text for word in command[:_OPENING]]  # after a shell and its options too
        only_tells = begins[0] in _TELLING or not _CLUSTERS.isdisjoint(pairwise(begins))
        if not only_tells and not any(_TRAINING.match(word.text) for word in command):
            yield tuple(_of_command(command, named, known))


def _commands(words: Iterable[Word | None]) -> Iterator[Sequence[Word]]:
    """The words of each command; lines that only go on with flags belong to the line before."""
    command: list[Word] = []
    for word in words:
        if word is not None:
            command.append(word)
        elif command:
            yield command
            command = []
    if command:
        yield command


def _of_command(
    command: Sequence[Word], engine: str | None, variables: Mapping[str, str]
) -> Iterator[Option]:
    at = 0
    waits = False  # for the model, which may stand behind flags
    while at < len(command):
        word = command[at]
        at += 1
        level = _LEVEL.fullmatch(word.text)
        if level is not None and engine in {None, "vllm"}:
            yield Option("vllm", "-O", level[1], word.span)
            continue
        match = _LONG.fullmatch(word.text) if word.text.startswith("-") else None
        if match is None:
            pair = _ASSIGNMENT.fullmatch(word.text) if engine == "jetstream" else None
            if pair is not None:
                span = Span(word.span.start, word.span.start + len(pair[1]))
                yield Option(engine, pair[1], _value(pair[2], variables), span, word.span)
            elif engine == "llamacpp" and _GGUF_TYPE.fullmatch(word.text):
                yield Option(engine, "quantization-type", word.text, word.span, word.span)
            elif word.text.endswith(".gguf"):
                yield Option(engine or "llamacpp", "model", word.text, word.span, word.span)
            elif _takes_model(word.text, engine):
                found = _positional(command, at, engine, variables)
                waits = found is None and at < len(command) and is_flag(command[at].text)
                if found is not None:
                    yield found
                    at += 1
            elif waits:
                waits = False
                yield Option(engine, "model", _value(word.text, variables), word.span, word.span)
            continue
        name, value = match[1], match[2]
        if not name.startswith("--") and find_option(engine, name) is None:
            continue
        width = len(name)
        span = Span(word.span.start, min(word.span.start + width, word.span.end))
        if value is not None:
            place = Span(min(span.end + 1, word.span.end), word.span.end)
            yield Option(engine, name, _value(value, variables), span, place, word.inner)
            continue
        following = command[at] if at < len(command) else None
        if following is None or is_flag(following.text):
            yield Option(engine, name, True, span)  # noqa: FBT003
            continue
        at += 1
        parsed = _value(following.text, variables)
        yield Option(engine, name, parsed, span, following.span, following.inner)


def _takes_model(word: str, engine: str | None) -> bool:
    """Whether the next word is the model: vllm serve X, trtllm-serve X, ollama run X."""
    if engine == "ollama":
        return word in {"run", "pull"}
    return word in {"serve", "serve-model"} or word.endswith("trtllm-serve")


def _positional(
    command: Sequence[Word], at: int, engine: str | None, variables: Mapping[str, str]
) -> Option | None:
    """The model of `vllm serve MODEL`."""
    if at < len(command) and command[at].text in _SUBCOMMANDS:
        at += 1
    if at >= len(command) or is_flag(command[at].text) or engine is None:
        return None
    word = command[at]
    value = _value(word.text, variables)
    return Option(engine, "model", value, word.span, word.span)


def _value(text: str, variables: Mapping[str, str]) -> Value:
    """A value: JSON as data, open where the text does not fix it."""
    found = resolved(text, variables)
    if isinstance(found, str):
        return data_of(found)
    if text.lstrip().startswith("{") and not text.lstrip().startswith("{{"):
        return data_of(text)
    return found


def data_of(text: str) -> Value:
    """JSON objects and lists as data, anything else as the text it is."""
    bare = text.strip()
    if bare[:1] not in {"{", "["} or len(bare) > 20_000:
        return text
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(bare.replace('\\"', '"').replace("'", '"'))
    except (ValueError, RecursionError):
        return text
