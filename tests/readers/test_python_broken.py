from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.readers import decode_text
from advisor.readers.python.comments import comments
from advisor.readers.python.reader import read
from advisor.readers.python.syntax import MAX_PARSED
from advisor.source import DecodingError, Source

BROKEN = {
    "brackets": "x = " + "(" * 5000 + ")" * 5000,
    "signs": "x = " + "-" * 100_000 + "1",
    "sums": "x = " + "+".join(["1"] * 20_000),
    "attributes": "x = a" + ".b" * 20_000,
    "calls": "x = f" + "()" * 20_000,
    "lambdas": "x = " + "lambda: " * 3000 + "1",
    "nul": "x = 1\0\n",
    "tabs": "if 1:\n\tx = 1\n        y = 2\n",
    "open string": "x = 'abc\n",
    "half a class": "class A\n    x = 1\n",
    "one line of data": "x = [" + ",".join(["1"] * 600_000) + "]\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_named_file_that_cannot_be_read_is_told_and_others_are_left_alone(text: str) -> None:
    source = Source("a.py", text)
    (found,) = read(source, named=True).problems
    assert found.rule in {"E902", "E908"}
    assert read(source, named=False).problems == ()
    assert comments(source) == ()


def test_a_file_of_ours_that_cannot_be_read_is_told_wherever_it_is_met() -> None:
    text = "# rooflint: model=Llama-3.1-8B\nx = (\n"
    (found,) = read(Source("a.py", text), named=False).problems
    assert found.rule == "E902"
    assert found.start.line == 2


def kinds(text: str) -> set[tuple[int, str]]:
    source = Source("a.py", text)
    reading = read(source, named=True)
    assert reading.problems == ()
    return {
        (source.position(lever.span.start).line, lever.lever.machine_kind)
        for one in reading.proposals
        for lever in one.levers
    }


LEVER = 'from vllm import LLM\nLLM("m", kv_cache_dtype="fp8")\n'


def test_magics_of_notebooks_stand_in_nobodys_way_and_shell_lines_are_read() -> None:
    text = "%matplotlib inline\n!pip install -q vllm\n" + LEVER + "llm?\n"
    text += "!vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 2\n"
    assert kinds(text) == {(4, "quantize.kv"), (6, "tensor_parallel")}


def test_both_sides_of_a_conflict_are_read_where_they_can_stand_together() -> None:
    text = (
        "from vllm import LLM\n<<<<<<< HEAD\nLLM('m', quantization='awq')\n=======\n"
        "LLM('m', quantization='fp8')\n>>>>>>> theirs\n"
    )
    assert kinds(text) == {(3, "quantize.weights.int4"), (5, "quantize.weights.fp8")}


@pytest.mark.parametrize("comma", [",", ""], ids=["an argument twice", "no comma between"])
def test_the_first_side_of_a_conflict_is_read_where_they_cannot(comma: str) -> None:
    text = (
        f"from vllm import LLM\nLLM('m',\n<<<<<<< HEAD\n    quantization='awq'{comma}\n=======\n"
        "    quantization='fp8'\n>>>>>>> theirs\n)\n"
    )
    assert kinds(text) == {(4, "quantize.weights.int4")}


def test_python_2_is_read_past_its_prints_and_excepts() -> None:
    text = 'print "hello"\ntry:\n    pass\nexcept ValueError, e:\n    print e\n' + LEVER
    assert kinds(text) == {(7, "quantize.kv")}


def test_form_feeds_and_odd_line_ends_keep_lines_right() -> None:
    assert kinds("\x0cimport os\r\n\x0c\r" + LEVER) == {(4, "quantize.kv")}


@pytest.mark.parametrize(
    "line", ["# -*- coding: latin-1 -*-", "#!/x\n# vim: set fileencoding=cp1252 :"]
)
def test_an_encoding_is_read_as_the_file_declares_it(line: str) -> None:
    data = f"{line}\nname = 'café'\n".encode("latin-1")
    assert "café" in decode_text("a.py", data)


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: klingon\nx = 1\n",
        b"# coding: latin-1\nx = 1\0\n",
        b"name = '\xe9'\n",
        b"# coding: ascii\nname = '\xe9'\n",
    ],
)
def test_bytes_that_are_no_text_are_refused_with_their_line(data: bytes) -> None:
    with pytest.raises(DecodingError):
        decode_text("a.py", data)


@pytest.mark.parametrize(
    "text",
    [
        "from vllm import LLM\nd = {}\nd['a'] = d\nLLM(**d)\nprint(d['a']['a'])\n",
        "import subprocess\nl = ['vllm', 'serve', '--x']\nl.append(l)\nl += l\nsubprocess.run(l)\n",
        "def f():\n    return g()\ndef g():\n    return f()\nx = f()\n",
        "x = 'a'\n" + "x += x\n" * 200 + "import os\nos.system(x)\n",
        "from vllm import LLM\nx = 1\n" + "x = x if a else [x, x]\n" * 200
        + "LLM('m', tensor_parallel_size=x)\n",
        "l = [1]\n" + "l += l\n" * 100,
    ],
    ids=["own dict", "own list", "recursion", "long text", "alternatives", "doubling"],
)  # fmt: skip
def test_values_that_hold_themselves_or_grow_come_to_an_end(text: str) -> None:
    assert read(Source("a.py", text), named=True).problems == ()


def test_a_file_beyond_the_size_of_a_script_is_not_parsed() -> None:
    text = "# rooflint: batch=1\n" + "x = 1\n" * (MAX_PARSED // 6)
    (found,) = read(Source("a.py", text), named=False).problems
    assert found.rule == "E908"


@given(st.text(alphabet="rooflint: =\"'#[](){}\n\t mdelbatch01.,é", max_size=60))
def test_no_comment_is_a_traceback(words: str) -> None:
    source = Source("a.py", f"# rooflint: {words}\nx = 1\n")
    read(source, named=True)
    comments(source)
