"""Options of inference engines as data: what each does to a decode step, by any spelling.

    read_option("vllm", "--tensor-parallel-size", 4)
        -> (Setting("tensor_parallel", {"size": 4}),)
    read_option("sglang", "disable_cuda_graph", True)
        -> (Setting("cuda_graphs", {"enabled": False}),)
    read_option("vllm", "no-enable-prefix-caching", True)       -> ()     known, and off
    read_option("vllm", "tool-parser-plugin", "x")              -> None   not known
    read_environment("tgi", "NUM_SHARD", "2")

A `Setting` is a lever in the kinds and fields of the proposal dialect, a `Fact` something of the
context. Values are plain data: text, numbers, booleans, None, lists and mappings (of Python
literals, JSON or YAML alike), True for a flag without a value, and `OPEN` where the text does
not fix the value (a template's place, a variable): the lever's field is then "unknown".
Nothing here knows a file or a place in it; `Setting.path` says which keys inside a mapping's
value set the lever. Settings with `starts` false only complete a lever that another option sets.

Tables: one module an engine, each a mapping from spellings to a `Meaning`; engines.py's names
are `ENGINES`. `named_precision` reads the precision that stands only in a model's name.
"""

from advisor.readers.options.effects import (
    NOTHING,
    OPEN,
    UNKNOWN,
    Effect,
    Fact,
    Meaning,
    Setting,
    Value,
)
from advisor.readers.options.lookup import (
    ENGINES,
    engine_named_in,
    find_option,
    read_environment,
    read_option,
    settings_of,
    tool_named_in,
)
from advisor.readers.options.names import Named, named_precision

__all__ = [
    "ENGINES",
    "NOTHING",
    "OPEN",
    "UNKNOWN",
    "Effect",
    "Fact",
    "Meaning",
    "Named",
    "Setting",
    "Value",
    "engine_named_in",
    "find_option",
    "named_precision",
    "read_environment",
    "read_option",
    "settings_of",
    "tool_named_in",
]
