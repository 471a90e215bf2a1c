"""Variables of a process that a script starts, or of its own, by the tables of engines."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.readers.options import engine_named_in
from advisor.readers.python.calls import Found, variable
from advisor.readers.python.values import Made, Mapping, Sequence, Value, text_of, usual


def environment_of(made: Made, hangs_on: str, engine: str | None) -> Iterator[Found]:
    """Variables of a process that is started: `env={"QUANTIZE": ...}`, `environ.update`."""
    values = [*made.args, *(value for _, value in made.keywords.values())]
    around = engine_named_in(" ".join(text for one in values if (text := text_of(one))))
    for name in ("env", "environment", "env_vars"):
        if name in made.keywords:
            yield from _variables(made.keywords[name][1], hangs_on, around or engine)
    if made.name in {"os.environ.update", "os.environ.setdefault", "os.putenv"}:
        if made.name.endswith("update"):
            for value in made.args:
                yield from _variables(value, hangs_on, engine)
        elif len(made.args) > 1 and (key := text_of(made.args[0])):
            yield from variable(engine, key, made.node, made.args[1], hangs_on)


def _variables(value: Value, hangs_on: str, engine: str | None) -> Iterator[Found]:
    inner = usual(value)
    for item in inner.items if isinstance(inner, Sequence) else ():
        yield from _named_variable(usual(item), hangs_on, engine)
    for key, (place, item) in inner.entries.items() if isinstance(inner, Mapping) else ():
        yield from variable(engine, key, place, item, hangs_on)


def _named_variable(item: Value, hangs_on: str, engine: str | None) -> Iterator[Found]:
    """`V1EnvVar(name="QUANTIZE", value="awq")`, or the same as a dict."""
    pairs = item.keywords if isinstance(item, Made) else getattr(item, "entries", {})
    if "name" in pairs and "value" in pairs and (key := text_of(pairs["name"][1])):
        yield from variable(engine, key, item.node, pairs["value"][1], hangs_on)
