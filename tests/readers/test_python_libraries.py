"""The call forms of libraries, as their documentation writes them, and the lever each sets up."""

from __future__ import annotations

import pytest

from advisor.readers import read
from advisor.source import Source

TORCH = "import torch\nimport torch.nn as nn\nfrom torch.nn.utils import prune\n"
HF = "import torch\nfrom transformers import *\n"
MODEL = 'model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.1-8B"'

CALLS: list[tuple[str, str]] = [
    # torch
    (TORCH + 'prune.l1_unstructured(layer, name="weight", amount=0.3)', "prune.unstructured"),
    (TORCH + 'prune.random_unstructured(layer, "weight", 0.5)', "prune.unstructured"),
    (TORCH + 'prune.ln_structured(layer, "weight", amount=0.5, n=2, dim=0)', "prune.channels"),
    (
        ("import torch\nfrom torch.ao.quantization import quantize_dynamic\n"
        "m = quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)"),
        "quantize.weights.int8",
    ),
    (
        "from torch.sparse import to_sparse_semi_structured\nw = to_sparse_semi_structured(w)",
        "prune.2:4",
    ),
    ('import torch\nm = torch.compile(model, mode="reduce-overhead")', "compile"),
    ("import torch\ng = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    y = m(x)",
     "cuda_graph"),
    # torchao
    (
        ("from torchao.quantization import quantize_, Int4WeightOnlyConfig\n"
        "quantize_(model, Int4WeightOnlyConfig(group_size=64))"),
        "quantize.weights.int4",
    ),
    (
        ("from torchao.quantization import quantize_, int8_weight_only\n"
        "quantize_(model, int8_weight_only())"),
        "quantize.weights.int8",
    ),
    (
        ("from torchao.quantization import quantize_, Float8WeightOnlyConfig\n"
        "quantize_(model, Float8WeightOnlyConfig())"),
        "quantize.weights.fp8",
    ),
    ("import torchao\nm = torchao.autoquant(model)", "quantize.weights.auto"),
    # transformers, bitsandbytes
    (
        HF + 'c = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")\n'
        + MODEL + ", quantization_config=c)",
        "quantize.weights.nf4",
    ),
    (HF + MODEL + ", load_in_8bit=True)", "quantize.weights.int8"),
    (HF + MODEL + ", quantization_config=GPTQConfig(bits=4))", "quantize.weights.int4"),
    (HF + MODEL + ", quantization_config=HqqConfig(nbits=4, group_size=64))",
     "quantize.weights.int4"),
    (HF + MODEL + ", quantization_config=FineGrainedFP8Config())", "quantize.weights.fp8"),
    (HF + MODEL + ', attn_implementation="flash_attention_2")', "attention_kernel"),
    (HF + MODEL + ")\nmodel.generate(ids, prompt_lookup_num_tokens=10)", "speculative"),
    (HF + MODEL + ")\nmodel.generate(ids, assistant_model=small)", "speculative"),
    (HF + MODEL + ")\nmodel.generate(ids, use_cache=False)", "kv_cache.off"),
    (HF + MODEL + ')\nmodel.generate(ids, cache_implementation="quantized")', "quantize.kv"),
    (HF + MODEL + ')\nmodel.generate(ids, cache_implementation="static")', "cuda_graph"),
    # serving engines
    ('from vllm import LLM\nLLM("m", quantization="awq")', "quantize.weights.int4"),
    ('from vllm import LLM\nLLM("m", kv_cache_dtype="fp8")', "quantize.kv"),
    ('from vllm import LLM\nLLM("m", tensor_parallel_size=4)', "tensor_parallel"),
    ('from vllm import LLM\nLLM("m", enforce_eager=True)', "cuda_graph.off"),
    ('from vllm import LLM\nLLM("m", enable_prefix_caching=True)', "prefix_cache"),
    ('from vllm import LLM\nLLM("m", max_num_seqs=64)', "batching"),
    ('from vllm import LLM\nLLM("m", cpu_offload_gb=10)', "offload.weights"),
    (
        ("from vllm import LLM\n"
        'LLM("m", speculative_config={"method": "eagle3", "num_speculative_tokens": 3})'),
        "speculative",
    ),
    ('import sglang as sgl\nsgl.Engine(model_path="m", tp_size=2)', "tensor_parallel"),
    ('import sglang as sgl\nsgl.Engine(model_path="m", disable_cuda_graph=True)',
     "cuda_graph.off"),
    (
        ("from tensorrt_llm import LLM\nfrom tensorrt_llm.llmapi import QuantConfig, QuantAlgo\n"
        'LLM("m", quant_config=QuantConfig(quant_algo=QuantAlgo.FP8))'),
        "quantize.weights.fp8",
    ),
    (
        ("from lmdeploy import pipeline, TurbomindEngineConfig\n"
        'pipeline("m", backend_config=TurbomindEngineConfig(quant_policy=8))'),
        "quantize.kv",
    ),
    ('import ctranslate2\nctranslate2.Generator("m", compute_type="int8_float16")',
     "quantize.weights.int8"),
    ('from llama_cpp import Llama\nLlama("llama-2-7b.Q4_K_M.gguf")', "quantize.weights.int4"),
    ('from llama_cpp import Llama\nLlama("m.gguf", type_k=8, type_v=8)', "quantize.kv"),
    # compression tools
    (
        ("from llmcompressor import oneshot\n"
        "from llmcompressor.modifiers.quantization import GPTQModifier\n"
        'oneshot(model="m", recipe=GPTQModifier(targets="Linear", scheme="W4A16"))'),
        "quantize.weights.int4",
    ),
    (
        ("from llmcompressor import oneshot\n"
        "from llmcompressor.modifiers.quantization import QuantizationModifier\n"
        'oneshot(model="m", recipe=QuantizationModifier(targets="Linear", scheme="FP8_DYNAMIC"))'),
        "quantize.weights.fp8",
    ),
    (
        ("from llmcompressor import oneshot\n"
        "from llmcompressor.modifiers.obcq import SparseGPTModifier\n"
        'oneshot(model="m", recipe=SparseGPTModifier(sparsity=0.5, mask_structure="2:4"))'),
        "prune.2:4",
    ),
    (
        ("from llmcompressor import oneshot\n"
        "from llmcompressor.modifiers.obcq import SparseGPTModifier\n"
        'oneshot(model="m", recipe=SparseGPTModifier(sparsity=0.5, mask_structure="0:0"))'),
        "prune.unstructured",
    ),
    (
        ("from awq import AutoAWQForCausalLM\n"
        'm = AutoAWQForCausalLM.from_pretrained("m")\n'
        'm.quantize(tok, quant_config={"w_bit": 4, "q_group_size": 128})'),
        "quantize.weights.int4",
    ),
    (
        ("from auto_gptq import AutoGPTQForCausalLM, BaseQuantizeConfig\n"
        'AutoGPTQForCausalLM.from_pretrained("m", BaseQuantizeConfig(bits=3, group_size=128))'),
        "quantize.weights.int3",
    ),
    (
        ("import modelopt.torch.quantization as mtq\n"
        "mtq.quantize(model, mtq.NVFP4_DEFAULT_CFG, loop)"),
        "quantize.weights.fp4",
    ),
    ("import modelopt.torch.quantization as mtq\nmtq.quantize(model, mtq.INT4_AWQ_CFG, loop)",
     "quantize.weights.int4"),
    (
        ("import modelopt.torch.sparsity as mts\n"
        'mts.sparsify(model, "sparsegpt", config={"data_loader": d})'),
        "prune.2:4",
    ),
    (
        ("from neural_compressor import WeightPruningConfig\n"
        'c = WeightPruningConfig([{"pattern": "1x1", "target_sparsity": 0.8}])\n'
        "from neural_compressor.training import prepare_compression\n"
        "prepare_compression(model, c)"),
        "prune.unstructured",
    ),
    (
        "import nncf\nnncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT4_SYM)",
        "quantize.weights.int4",
    ),
    (
        ("from optimum.intel import OVModelForCausalLM, OVWeightQuantizationConfig\n"
        "OVModelForCausalLM.from_pretrained("
        '"m", quantization_config=OVWeightQuantizationConfig(bits=4))'),
        "quantize.weights.int4",
    ),
    (
        ("from onnxruntime.quantization import quantize_dynamic, QuantType\n"
        'quantize_dynamic("a.onnx", "b.onnx", weight_type=QuantType.QInt8)'),
        "quantize.weights.int8",
    ),
    (
        ("import torch, deepspeed\n"
        'deepspeed.init_inference(model, tensor_parallel={"tp_size": 4}, dtype=torch.half)'),
        "tensor_parallel",
    ),
    ("import torch_pruning as tp\np = tp.pruner.MetaPruner(m, x, imp, pruning_ratio=0.5)\np.step()",
     "prune.channels"),
    (
        "from mlx_lm import convert\nconvert('m', quantize=True, q_bits=4)",
        "quantize.weights.int4",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("script", "kind"), CALLS, ids=lambda value: value[-60:])
def test_the_lever_of_a_call(script: str, kind: str) -> None:
    reading = read(Source("script.py", script + "\n"))
    found = [lever.lever.machine_kind for one in reading.proposals for lever in one.levers]
    assert kind in found


OFF: list[str] = [
    HF + MODEL + ", load_in_4bit=False)",
    'from vllm import LLM\nLLM("m", tensor_parallel_size=1)',
    'from vllm import LLM\nLLM("m", quantization=None, enforce_eager=False)',
    'from vllm import LLM\nLLM("m", kv_cache_dtype="auto", speculative_config=None)',
    TORCH + "# prune.l1_unstructured(layer, 'weight', 0.5)\n",
    (
        "from torch.optim import AdamW\nopt = AdamW(model.parameters())\n"
        "import torch\nm = torch.compile(model)\nloss = m(x)\nloss.backward()\nopt.step()"
    ),
    "import nltk\nprune = nltk.prune\nprune.tree(0.5)",
]


@pytest.mark.parametrize("script", OFF, ids=lambda value: value[-60:])
def test_what_is_off_or_something_else_is_no_lever(script: str) -> None:
    reading = read(Source("script.py", script + "\n"))
    assert not [lever.lever.label for one in reading.proposals for lever in one.levers]
