"""What expressions are known to be without running them, by hand."""

from __future__ import annotations

import ast

import pytest

from advisor.readers.options import OPEN
from advisor.readers.python.flow import Flow
from advisor.readers.python.survey import survey
from advisor.readers.python.values import plain, truth


def probed(text: str) -> object:
    """What `probe(...)` is called with, as plain data."""
    tree = ast.parse(text)
    flow = Flow(tree, survey(tree))
    made = next(made for made, _ in flow.seen.calls if made.name == "?.probe")
    return plain(made.args[0])


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # arithmetic of constants
        ("2 * 3 + 1", 7), ("7 // 2", 3), ("7 % 4", 3), ("-(2 - 5)", 3), ("+4", 4),
        ("1 / 0", OPEN), ("10 ** 3", OPEN), ("'ab' * 3", OPEN), ("1e20 * 1e20", OPEN),
        ("~5", 5), ("'a' - 1", OPEN),
        # texts
        ("'fp' + '8'", "fp8"), ("f'tp{2 + 2}'", "tp4"), ("f'{unknown}-x'", OPEN),
        ("'tp=%d' % 4", "tp=4"), ("'%s-%s' % ('a', 'b')", "a-b"), ("'%s %s' % ('a',)", OPEN),
        ("'{}-{}'.format('a', 3)", "a-3"), ("'{x}'.format(x='fp8')", "fp8"),
        ("' FP8 '.strip().lower()", "fp8"), ("str(8)", "8"), ("','.join(['a', 'b'])", "a,b"),
        ("' '.join(['a', 'b'])", ["a", "b"]), ("'a b'.split()", ["a", "b"]),
        ("'model-fp8'.endswith('fp8')", True), ("'model'.startswith(unknown)", OPEN),
        ("'root' / unknown", OPEN),
        # data
        ("[1, *[2, 3]]", [1, 2, 3]), ("(1, 2)[1]", 2), ("[1, 2][5]", OPEN), ("[1] + [2]", [1, 2]),
        ("{'a': 1, **{'b': 2}}", {"a": 1, "b": 2}), ("{'a': 1}['a']", 1), ("{'a': 1}['b']", OPEN),
        ("dict({'a': 1}, b=2)", {"a": 1, "b": 2}), ("{'a': 1} | {'b': 2}", {"a": 1, "b": 2}),
        ("{'a': 1}.get('a')", 1), ("{'a': 1}.get('b', 3)", 3), ("{'a': 1}.get('b')", None),
        ("{'a': 1}.copy()", {"a": 1}),
        # choices
        ("1 if True else 2", 1), ("1 if False else 2", 2), ("None or 4", 4), ("0 and 4", 0),
        ("'a' or 'b'", "a"), ("not 0", True), ("not unknown", OPEN),
        # comparisons
        ("1 < 2", True), ("'a' == 'b'", False), ("2 in [1, 2]", True),
        ("'x' not in {'y': 1}", True),
        ("'p8' in 'fp8'", True), ("[] is None", False), ("None is None", True),
        ("1 < 'a'", OPEN), ("1 < 2 < 3", OPEN), ("unknown in [1]", OPEN),
    ],
)  # fmt: skip
def test_knows_what_constants_make(expression: str, value: object) -> None:
    assert probed(f"probe({expression})") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("import os\nprobe(os.getenv('TP', '2'))", "2"),
        ("import os\nprobe(os.environ.get('TP'))", None),
        ("import os.path\nprobe(os.path.join('models', 'x-fp8'))", "models/x-fp8"),
        ("from pathlib import Path\nprobe(Path('models') / 'x-awq')", "models/x-awq"),
        ("import json\nprobe(json.loads('{\"a\": [1, true, null]}'))", {"a": [1, True, None]}),
        ("import json\nprobe(json.loads('{not json'))", OPEN),
        ("import json\nprobe(json.dumps({'method': 'ngram'}))", '{"method": "ngram"}'),
        ("import json\nprobe(json.dumps(unknown))", OPEN),
        ("import shlex\nprobe(shlex.split('vllm serve \"a b\"'))", ["vllm", "serve", "a b"]),
        ("import shlex\nprobe(shlex.split('an open \"quote'))", ["an", "open", '"quote']),
        ("import shlex\nprobe(shlex.join(['a', 'b']))", ["a", "b"]),
        ("import shlex\nprobe(shlex.split(unknown))", OPEN),
        ("import typing\nprobe(typing.cast(int, 4))", 4),
        ("import copy\nprobe(copy.deepcopy({'a': 1}))", {"a": 1}),
        (
            (
                "import huggingface_hub\n"
                "probe(huggingface_hub.hf_hub_download(repo_id='a/b', filename='x.Q4_0.gguf'))"
            ),
            "a/b/x.Q4_0.gguf",
        ),
        ("import huggingface_hub\nprobe(huggingface_hub.snapshot_download('a/b-awq'))", "a/b-awq"),
        ("import torch\nprobe(torch.float8_e4m3fn)", "torch.float8_e4m3fn"),
        ("probe(unknown)", OPEN),
        ("probe(lambda: 1)", OPEN),
        ("probe(b'bytes')", OPEN),
    ],
)
def test_knows_the_few_calls_that_pass_on_texts_and_data(text: str, value: object) -> None:
    assert probed(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x = 1\nx += 2\nprobe(x)", 3),
        ("x = ['a']\nx += ['b']\nprobe(x)", ["a", "b"]),
        ("x = ['a']\nx.append('b')\nx.extend(['c'])\nprobe(x)", ["a", "b", "c"]),
        ("d = {'a': 1}\nd['b'] = 2\nprobe(d)", {"a": 1, "b": 2}),
        ("d = {'a': 1}\nd.update({'b': 2}, c=3)\nprobe(d)", {"a": 1, "b": 2, "c": 3}),
        ("d = {'a': 1}\nd |= {'b': 2}\nprobe(d)", {"a": 1, "b": 2}),
        ("d = {'a': 1}\nd.setdefault('a', 5)\nd.setdefault('b', 2)\nprobe(d)", {"a": 1, "b": 2}),
        ("a, (b, c) = 1, (2, 3)\nprobe(c)", 3),
        ("a, *b = 1, 2\nprobe(a)", 1),
        ("if unknown:\n    x = 1\nelse:\n    x = 2\nprobe(x)", 1),
        ("x = 1\nif False:\n    x = 2\nprobe(x)", 1),
        ("x = 1\nif True:\n    x = 2\nprobe(x)", 2),
        ("try:\n    x = 1\nexcept ValueError:\n    x = None\nprobe(x)", 1),
        ("for x in [3, 4]:\n    probe(x)", 3),
        ("for k, v in {'a': 1}.items():\n    probe(v)", 1),
        ("with open('f') as f:\n    x = 2\nprobe(x)", 2),
        ("while unknown:\n    x = 5\nprobe(x)", 5),
        (
            "match 'b':\n  case 'a':\n    x = 1\n  case 'b' | 'c':\n    x = 2\nprobe(x)",
            2,
        ),
        ("match unknown:\n  case True:\n    x = 1\n  case None | [1, *_]:\n    x = 2\nprobe(1)", 1),
        ("(y := 3)\nprobe(3)", 3),
        ("def f(a, b=2, *, c=3):\n    probe([a, b, c])\nf(1, c=4)", [1, 2, 4]),
        ("def f(**kw):\n    probe(kw)\nf(a=1)", {"a": 1}),
        ("def f():\n    return 7\nprobe(f())", 7),
        ("def f(x):\n    if x:\n        return 1\n    return 2\nprobe(f(True))", 1),
        ("class C:\n    x = 4\nprobe(C.x)", 4),
        ("class C:\n    def __init__(self):\n        self.x = 5\n        probe(self.x)", 5),
        ("class C:\n    def f(self, n=6):\n        probe(n)", 6),
        (
            "from dataclasses import dataclass\n@dataclass\nclass C:\n    x: int = 7\nprobe(C().x)",
            7,
        ),
        (
            (
                "import argparse\np = argparse.ArgumentParser()\n"
                "p.add_argument('--tp', type=int, default=4)\na = p.parse_args()\nprobe(a.tp)"
            ),
            4,
        ),
        (
            (
                "import argparse\np = argparse.ArgumentParser()\np.add_argument('--fast', "
                "action='store_true')\np.set_defaults(kv='fp8')\na, _ = p.parse_known_args()\n"
                "probe([a.fast, a.kv])"
            ),
            [False, "fp8"],
        ),
        ("from types import SimpleNamespace\nprobe(SimpleNamespace(x=1).x)", 1),
        ("import yaml\nprobe(yaml.safe_load('''a: 1'''))", OPEN),
        ("def f():\n    return f()\nprobe(f())", OPEN),
    ],
)
def test_follows_names_through_statements_and_functions(text: str, value: object) -> None:
    assert probed(text) == value


def test_a_thing_made_by_a_class_counts_as_true_and_an_answer_of_a_call_does_not() -> None:
    tree = ast.parse("import a\nprobe(a.Config(), a.ask())")
    flow = Flow(tree, survey(tree))
    made = next(made for made, _ in flow.seen.calls if made.name == "?.probe")
    assert [truth(value) for value in made.args] == [True, None]
