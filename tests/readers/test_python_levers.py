"""Levers in plain code: each fixture says behind "# =>" what an expert sees on its line.

Kinds and verdicts are those of the rules by which the labelled files of the field were read: zeros
in dense tensors save arithmetic only, packed formats and removed parts save bytes, and so on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from advisor.audit import audit
from advisor.proposal import Proposal
from advisor.readers.python.marks import worth_reading
from advisor.readers.python.reader import read
from advisor.reports.style import Style
from advisor.reports.table import audit_text
from advisor.source import Source

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "python").glob("*.py"))
SAID = re.compile(r"# => (.*)$")


def proposals(text: str) -> tuple[Proposal, ...]:
    reading = read(Source("script.py", text), named=True)
    assert reading.problems == ()
    return reading.proposals


def levers(text: str) -> set[tuple[int, str, str]]:
    """Line, kind and verdict of every lever."""
    found: set[tuple[int, str, str]] = set()
    source = Source("script.py", text)
    for proposal in proposals(text):
        audited, problems = audit(proposal)
        assert problems == ()
        assert audited is not None
        found |= {
            (
                source.position(one.proposed.span.start).line,
                one.lever.machine_kind,
                str(one.verdict),
            )
            for one in audited.levers
        }
    return found


def kinds(text: str) -> set[str]:
    return {kind for _, kind, _ in levers(text)}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_finds_on_each_line_what_stands_there_and_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    said: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for number, line in enumerate(text.splitlines(), 1):
        match = SAID.search(line)
        if match is not None and match[1] != "none":
            said[number] = {
                (kind, verdict) for kind, verdict in map(str.split, match[1].split(","))
            }
    found: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for number, kind, verdict in levers(text):
        found[number].add((kind, verdict))
    assert dict(found) == {number: pairs for number, pairs in said.items() if pairs}


@pytest.mark.parametrize(
    "path",
    [path for path in FIXTURES if path.stem not in {"false_friends", "training_run"}],
    ids=lambda path: path.stem,
)
def test_reads_a_script_with_levers_when_it_is_met_in_a_folder(path: Path) -> None:
    assert worth_reading(path.read_bytes())


def test_leaves_alone_a_script_that_only_loads_a_model() -> None:
    text = (
        "from transformers import AutoModelForCausalLM\n"
        'model = AutoModelForCausalLM.from_pretrained("gpt2")\n'
    )
    assert not worth_reading(text.encode())
    assert proposals(text) == ()


def test_reads_a_script_that_calls_a_lever_by_another_name() -> None:
    text = b"from torch.nn.utils.prune import l1_unstructured as cut\ncut(m, 'weight', 0.3)\n"
    assert worth_reading(text)


VLLM = "from vllm import LLM\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param('LLM("m", kv_cache_dtype="fp8")', {"quantize.kv"}, id="keyword"),
        pytest.param('LLM("m", kv_cache_dtype="auto")', set(), id="default value"),
        pytest.param('LLM("m", tensor_parallel_size=1)', set(), id="a degree of one"),
        pytest.param(
            'D = "fp8"\nLLM("m", kv_cache_dtype=D)', {"quantize.kv"}, id="constant"
        ),
        pytest.param(
            'kw = {"kv_cache_dtype": "auto"}\nkw["kv_cache_dtype"] = "fp8"\nLLM("m", **kw)',
            {"quantize.kv"}, id="item assigned later",
        ),
        pytest.param(
            'kw = dict(model="m")\nkw |= {"enforce_eager": True}\nLLM(**kw)',
            {"cuda_graph.off"}, id="merged dicts",
        ),
        pytest.param(
            'base = {"a": {"tensor_parallel_size": 2}}\nLLM("m", **base["a"])',
            {"tensor_parallel"}, id="nested dict",
        ),
        pytest.param(
            'def make(q="fp8"):\n    return LLM("m", quantization=q)\nmake()',
            {"quantize.weights.fp8"}, id="default of a parameter",
        ),
        pytest.param(
            'def make(q=None):\n    return LLM("m", quantization=q)\nmake(q="awq")',
            {"quantize.weights.int4"}, id="literal argument",
        ),
        pytest.param(
            'class C:\n    q: str = "fp8"\n\ndef make(c: C):\n    LLM("m", quantization=c.q)',
            {"quantize.weights.fp8"}, id="default of a field, by its annotation",
        ),
        pytest.param(
            'import os\nLLM("m", quantization=os.environ.get("Q", "fp8"))',
            {"quantize.weights.fp8"}, id="default of a variable of the environment",
        ),
        pytest.param(
            "import click\n@click.command()\n@click.option('--q', default='fp8')\n"
            "def main(q):\n    LLM('m', quantization=q)",
            {"quantize.weights.fp8"}, id="click option",
        ),
        pytest.param(
            "import typer\ndef main(tp: int = typer.Option(2)):\n"
            "    LLM('m', tensor_parallel_size=tp)",
            {"tensor_parallel"}, id="typer option",
        ),
        pytest.param(
            'def make(**kw):\n    kw.setdefault("quantization", "fp8")\n    LLM("m", **kw)',
            {"quantize.weights.fp8"}, id="default set in keyword arguments",
        ),
        pytest.param(
            'def make(model, **kw):\n    LLM(model, **kw)\nmake("m", quantization="awq")',
            {"quantize.weights.int4"}, id="keyword argument handed on",
        ),
        pytest.param(
            'runs = {"a": dict(tensor_parallel_size=2)}\nfor _, kw in runs.items():\n'
            '    LLM("m", **kw)',
            {"tensor_parallel"}, id="loop over a dict of dicts",
        ),
        pytest.param(
            "import json\nkw = json.loads('{\"quantization\": \"fp8\"}')\nLLM('m', **kw)",
            {"quantize.weights.fp8"}, id="text of JSON",
        ),
        pytest.param(
            "from functools import partial\nmake = partial(LLM, enforce_eager=True)",
            {"cuda_graph.off"}, id="partial",
        ),
        pytest.param(
            'size = 8\nname = f"Llama-3.1-{size}B-AWQ"\nLLM(name)',
            {"quantize.weights.int4"}, id="f-string",
        ),
        pytest.param(
            "from types import SimpleNamespace\n"
            "a = SimpleNamespace(tp=4)\nLLM('m', tensor_parallel_size=a.tp)",
            {"tensor_parallel"}, id="namespace",
        ),
        pytest.param(
            "import torch\nLLM('m', tensor_parallel_size=torch.cuda.device_count())",
            {"tensor_parallel"}, id="as many devices as there are",
        ),
    ],
)  # fmt: skip
def test_follows_values_through_a_file(code: str, expected: set[str]) -> None:
    assert kinds(VLLM + code + "\n") == expected


@pytest.mark.parametrize(
    "imports",
    [
        "from vllm import LLM",
        "from vllm import *",
        "import vllm\nLLM = vllm.LLM",
        "from vllm.entrypoints.llm import LLM",
        "try:\n    from vllm import LLM\nexcept ImportError:\n    LLM = None",
    ],
)
def test_knows_a_library_by_its_import(imports: str) -> None:
    assert "quantize.kv" in kinds(f'{imports}\nLLM("m", kv_cache_dtype="fp8")\n')


def test_does_not_know_the_same_name_of_another_library() -> None:
    assert kinds('from other import LLM\nLLM("m", quantization="fp8")\n') == set()


@pytest.mark.parametrize("library", ["other", "a_wrapper.engines"])
def test_knows_arguments_that_nothing_else_has(library: str) -> None:
    text = (
        f'from {library} import Server\nServer("m", tensor_parallel_size=4, load_in_4bit=False)\n'
    )
    assert kinds(text) == {"tensor_parallel"}


def test_leaves_clients_alone_whatever_they_pass_on() -> None:
    text = 'from crewai import LLM\nLLM("m", kv_cache_dtype="fp8", tensor_parallel_size=4)\n'
    assert kinds(text) == set()


def conditions(text: str) -> list[str]:
    return [lever.condition for one in proposals(text) for lever in one.levers]


def test_says_what_a_branch_that_the_defaults_do_not_take_hangs_on() -> None:
    code = VLLM + "def f(fast=False):\n    if fast:\n        LLM('m', quantization='fp8')\n"
    assert conditions(code) == ["fast, which the defaults do not choose"]
    assert levers(code) == {(4, "quantize.weights.fp8", "conditional")}


def test_takes_every_branch_of_a_choice_of_which_the_defaults_pick_none() -> None:
    code = (
        VLLM + "def f(mode):\n"
        "    if mode == 'a':\n        LLM('m', quantization='fp8')\n"
        "    elif mode == 'b':\n        LLM('m', quantization='awq')\n"
    )
    assert conditions(code) == ["", ""]


def test_takes_only_the_default_branch_of_a_choice_that_has_one() -> None:
    code = (
        VLLM + "def f(mode='a'):\n"
        "    if mode == 'a':\n        LLM('m', quantization='fp8')\n"
        "    elif mode == 'b':\n        LLM('m', quantization='awq')\n"
    )
    assert [bool(condition) for condition in conditions(code)] == [False, True]


def test_reads_both_sides_of_a_conditional_expression() -> None:
    code = VLLM + "q = None\nLLM('m', quantization='fp8' if q else 'awq')\n"
    assert levers(code) == {
        (3, "quantize.weights.fp8", "conditional"),
        (3, "quantize.weights.int4", "bandwidth"),
    }


def test_takes_the_context_from_the_code() -> None:
    code = VLLM + (
        'LLM(model="meta-llama/Llama-3.1-70B-Instruct", max_num_seqs=1, max_model_len=2048,\n'
        '    kv_cache_dtype="fp8", dtype="float16")\n'
    )
    (found,) = proposals(code)
    assert found.kind == "configuration"
    assert found.model is not None
    assert found.model.value == "meta-llama/Llama-3.1-70B-Instruct"
    assert found.engine is not None
    assert found.engine.name.value == "vllm"
    assert found.workload.batch is not None
    assert found.workload.batch.value == 1
    assert found.workload.context is not None
    assert found.workload.context.value == 2048


def test_keeps_offsets_in_code_points() -> None:
    code = VLLM + 'πλ = "é😀"; LLM("m", kv_cache_dtype="fp8")\n'
    (found,) = proposals(code)
    start, end = found.levers[0].span
    assert code[start:end] == 'kv_cache_dtype="fp8"'


def test_counts_layers_that_are_taken_out() -> None:
    """24 of Llama-3.1-8B's 32 layers: a quarter of the layers' bytes goes."""
    code = (
        "import torch\nfrom transformers import AutoModelForCausalLM\n"
        'm = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.1-8B")\n'
        "m.model.layers = m.model.layers[:24]\n"
    )
    (found,) = proposals(code)
    audited, _ = audit(found)
    assert audited is not None
    (one,) = audited.levers
    layers = 32 * 218_112_000 * 2  # elements of a layer of Llama-3.1-8B, in 2 bytes
    gone = one.before.ledger.weight_bytes - one.after.ledger.weight_bytes
    assert gone == pytest.approx(layers / 4, rel=1e-3)


def test_runs_nothing_of_what_it_reads(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    code = (
        f"open({str(trace)!r}, 'w').write('ran')\n"
        f"import pathlib; pathlib.Path({str(trace)!r}).touch()\n"
        "from vllm import LLM\nLLM('m', kv_cache_dtype='fp8')\n"
    )
    assert kinds(code) == {"quantize.kv"}
    assert not trace.exists()


def test_the_table_of_an_audit_says_on_which_line_each_lever_stands() -> None:
    code = VLLM + '\nLLM("m",\n    kv_cache_dtype="fp8")\n'
    (found,) = proposals(code)
    audited, _ = audit(found)
    assert audited is not None
    assert "fp8 KV cache :4" in audit_text(audited, Style())


def test_variables_of_a_process_are_read_as_the_launcher_reads_them() -> None:
    code = (
        "import os, subprocess\nenv = os.environ.copy()\nenv['QUANTIZE'] = 'eetq'\n"
        "subprocess.run(['text-generation-launcher', '--num-shard', '2'], env=env)\n"
    )
    assert kinds(code) == {"quantize.weights.int8", "tensor_parallel"}


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "import torch\nfrom diffusers import DiffusionPipeline\n"
            'p = DiffusionPipeline.from_pretrained("x")\np.unet = torch.compile(p.unet)\n',
            id="image model",
        ),
        pytest.param(
            "from transformers import AutoModelForCausalLM\nfrom trl import ORPOTrainer\n"
            'm = AutoModelForCausalLM.from_pretrained("x", use_cache=False)\n'
            "ORPOTrainer(model=m)\n",
            id="preference training",
        ),
        pytest.param(
            "import deepspeed\ndeepspeed.initialize(model=m, config={'optimizer': {'type': 'Adam'},"
            " 'zero_optimization': {'stage': 3, 'offload_param': {'device': 'cpu'}}})\n",
            id="ZeRO with an optimizer",
        ),
    ],
)
def test_leaves_alone_what_serves_no_tokens(code: str) -> None:
    assert kinds(code) == set()


def test_columns_that_no_input_reaches_are_not_pruned() -> None:
    guard = """\
import torch

def quantize(layer, hessian, damp):
    W = layer.weight.data.clone().float()
    dead = torch.diag(hessian) == 0
    hessian[dead, dead] = 1
    W[:, dead] = 0
    return W
"""
    assert kinds(guard) == set()
    pruned = guard.replace("torch.diag(hessian) == 0", "torch.diag(hessian) < damp")
    assert kinds(pruned) == {"prune.channels"}


@pytest.mark.parametrize(
    "code",
    [
        # the row of a padding token, at its place in a shard of the vocabulary
        (
            "class Embedding(nn.Module):\n"
            "    def reset(self):\n"
            "        with torch.no_grad():\n"
            "            self.weight[self.padding_idx - self.first].fill_(0)\n"
        ),
        # weights of an average, and no model's
        (
            "def merged(similarity, values, least):\n"
            "    kept = similarity >= least\n"
            "    weights = similarity.clamp(min=0) * kept.float()\n"
            "    return weights * values\n"
        ),
        # scaled back with a scale that is chosen by its sign
        (
            "def rounded(weight, largest, most):\n"
            "    flipped = weight.amax() > weight.amin()\n"
            "    scale = largest / most\n"
            "    scale = torch.where(flipped, -scale, scale)\n"
            "    return weight.mul_(scale)\n"
        ),
        # what a library's model does with whatever its caller hands in
        (
            "class Attention(nn.Module):\n"
            "    def forward(self, query, key, value, head_mask=None):\n"
            "        attn_weights = torch.matmul(query, key.transpose(-1, -2)).softmax(-1)\n"
            "        if head_mask is not None:\n"
            "            attn_weights = attn_weights * head_mask\n"
            "        return torch.matmul(attn_weights, value)\n"
        ),
        (
            "class Model(nn.Module):\n"
            "    def forward(self, hidden, head_mask=None):\n"
            "        head_mask = self.get_head_mask(head_mask, self.config.num_hidden_layers)\n"
            "        return self.encoder(hidden, head_mask=head_mask)\n"
        ),
        # scales that were kept from 0, folded from a norm into the layers after it
        (
            "def smooth(norm, layers, scales):\n"
            "    live = (norm.weight != 0).nonzero()\n"
            "    scales = scales / scales[live].max()\n"
            "    for layer in layers:\n"
            "        layer.weight.mul_(scales.view(1, -1))\n"
        ),
        # the part of each token that one expert has
        (
            "def run(tokens, indices, weights, number):\n"
            "    mask = (indices == number).to(weights.dtype)\n"
            "    share = weights * mask\n"
            "    return tokens * share\n"
        ),
        # rows of tokens that are not there yet
        (
            "def grow(embedding, vocab_size):\n"
            "    embedding.weight.data[vocab_size:, :] = 0\n"
            "    embedding.weight.data[embedding.num_embeddings_now :].fill_(0)\n"
        ),
        # an average of several models
        (
            "def merge(deltas, weights, least):\n"
            "    mask = deltas.abs() > least\n"
            "    return (weights * mask).sum(dim=0)\n"
        ),
        (
            "def route(weights, not_selected_experts):\n"
            "    weights.scatter_(1, not_selected_experts, 0)\n"
        ),
        # the weight of each token in a loss
        (
            "def shares(prefix, mask):\n"
            "    weight = torch.flip(torch.cumsum(prefix, dim=-1), dims=[-1])\n"
            "    weight = weight * mask\n"
            "    return weight\n"
        ),
    ],
    ids=[
        "padding",
        "average",
        "scale",
        "parameter",
        "passed-on",
        "smoothed",
        "routed",
        "vocabulary",
        "merged",
        "not-selected",
        "loss",
    ],
)
def test_code_of_libraries_is_no_pruning(code: str) -> None:
    assert kinds(f"import torch\nfrom torch import nn\n\n{code}") == set()
