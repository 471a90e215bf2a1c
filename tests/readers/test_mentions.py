"""Levers that documents propose in words, and mentions that propose none."""

from __future__ import annotations

import pytest

from advisor.audit import audit
from advisor.readers import read
from advisor.source import Source
from benchmarks.documents import FOLDER, score


def levers_of(text: str, path: str = "doc.md") -> set[tuple[str, str]]:
    found = set()
    for proposal in read(Source(path, text)).proposals:
        audited, problems = audit(proposal)
        assert not problems
        assert audited is not None
        found |= {(one.lever.machine_kind, str(one.verdict)) for one in audited.levers}
    return found


ONE_LEVER = [
    ("We quantize the weights to INT4.", "quantize.weights.int4", "bandwidth"),
    ("Weights go to 8 bits, activations stay at 16.", "quantize.weights.int8", "bandwidth"),
    ("The checkpoint is published in NVFP4.", "quantize.weights.fp4", "bandwidth"),
    ("Load with bitsandbytes NF4.", "quantize.weights.nf4", "bandwidth"),
    ("Load with LLM.int8().", "quantize.weights.int8", "conditional"),
    ("The weights are rounded to INT4 in QAT.", "quantize.weights.int4", "conditional"),
    ("Store the KV cache as INT8 for 60,000 tokens.", "quantize.kv", "bandwidth"),
    ("Store the KV cache as INT8 at 1,024 tokens of context.", "quantize.kv", "conditional"),
    ("We zero 40% of the weights by magnitude.", "prune.unstructured", "flop_only"),
    ("40% of the weights are zero and kept as a bitmap.", "prune.unstructured", "conditional"),
    ("Mask a quarter of the attention heads.", "prune.heads.mask", "flop_only"),
    ("Remove 4 of 32 layers and fine-tune.", "prune.layers", "bandwidth"),
    ("Cut out 25% of the attention heads.", "prune.heads", "bandwidth"),
    ("Prune 20% of the MLP channels away.", "prune.channels", "bandwidth"),
    ("2:4 sparsity for the MLP.", "prune.2:4", "conditional"),
    ("Masked to 2:4, stored dense.", "prune.2:4", "flop_only"),
    ("Drop 16 of 128 experts.", "prune.experts", "conditional"),
    ("Use a sliding window of 1,024 tokens.", "prune.kv_tokens", "bandwidth"),
    ("Rank 512 low-rank factors replace each matrix.", "low_rank", "bandwidth"),
    ("Truncate the SVD and multiply the factors back.", "low_rank", "flop_only"),
    ("Early exit saves layers on easy tokens.", "early_exit", "conditional"),
    ("A 1B draft model proposes four tokens.", "speculative", "bandwidth"),
    ("Speculative decoding at batch 64.", "speculative", "conditional"),
    ("Shard the model: tensor parallelism over four GPUs.", "tensor_parallel", "bandwidth"),
    ("Raise the batch size to 64.", "batching", "throughput_only"),
    ("Two pipeline stages, i.e. pipeline parallelism.", "pipeline_parallel", "throughput_only"),
    ("Turn on prefix caching.", "prefix_cache", "prefill_only"),
    ("Switch to FlashAttention-3.", "attention_kernel", "prefill_only"),
    ("Capture the step in CUDA graphs.", "cuda_graph", "overhead"),
    ("Compile the model with torch.compile.", "compile", "overhead"),
    ("Keep the experts in host memory.", "offload.weights", "conditional"),
    ("Disaggregated prefill on other nodes.", "disaggregate", "conditional"),
    ("Start with `--tensor-parallel-size 2`.", "tensor_parallel", "bandwidth"),
    ("`OLLAMA_KV_CACHE_TYPE=q8_0` is set.", "quantize.kv", "bandwidth"),
    ("- `max_num_seqs`: 128", "batching", "throughput_only"),
]


@pytest.mark.parametrize(("text", "kind", "verdict"), ONE_LEVER)
def test_a_sentence_names_one_lever(text: str, kind: str, verdict: str) -> None:
    found = levers_of(text)
    assert {one for one, _ in found} == {kind}
    same = {"conditional", "capacity_only", "regression"}
    assert all(one == verdict or {one, verdict} <= same for _, one in found)


NO_LEVER = [
    "We do not use speculative decoding.",
    "Prefix caching is disabled.",
    "CUDA graphs are not supported on this card.",
    "`--tensor-parallel-size 1` is the default.",
    "`enforce_eager=False`",
    "Training used an 8-bit optimizer.",
    "The model was trained with tensor parallelism 8 and FlashAttention.",
    "Should we quantize the weights to INT4? No.",
    "Is speculative decoding worth it?",
    "Not planned: pruning half of the weights.",
    "We tried INT4 weights. Quality fell and we dropped the idea.",
    "Instead of 4-bit weights we stay in bf16.",
    "The images are stored with 8 bits per channel.",
    "Activations stay in FP8.",
    "A 16-bit counter overflows.",
    "The ResNet is pruned by 50%.",
    "Docker drops the cached image layers.",
    "Remove the attention mask.",
    "Draft version of this document, for review.",
    "Zero-shot accuracy of the weights is the same.",
    "4.5 bits of entropy remain.",
    "# Rejected\n\n- INT4 weights\n- speculative decoding",
    "## Out of scope\n\nTensor parallelism over two GPUs.",
    "> Mask half of the heads.\n\nNo, the tensors keep their shape.",
    "| option | default |\n|---|---|\n| speculative decoding | off |\n| prefix caching | no |",
    "```yaml\n# tensor_parallel_size: 4\n```",
    "```diff\n-tensor parallelism over 4 GPUs\n```",
]


@pytest.mark.parametrize("text", NO_LEVER)
def test_what_is_denied_off_or_about_something_else_is_no_lever(text: str) -> None:
    assert levers_of(text) == set()


def test_a_table_tells_what_a_width_is_of_and_how_large_a_split_is() -> None:
    table = (
        "| setting | value |\n|---|---|\n| KV cache | fp8 |\n| activations | int8 |\n"
        "| tensor parallel | 4 |\n"
    )
    found = read(Source("doc.md", f"At 32k tokens of context.\n\n{table}")).proposals[0].levers
    assert [one.lever.machine_kind for one in found] == ["quantize.kv", "tensor_parallel"]
    assert getattr(found[1].lever, "size", None) == 4


def test_numbers_around_a_lever_are_its_fields() -> None:
    text = (
        "- Remove layers 20 to 25.\n"
        "- AWQ weights with group size 64.\n"
        "- A draft of three tokens, speculative decoding with an acceptance rate of 0.8.\n"
        "- Narrow the MLP: channels removed from 8192 to 6144.\n"
    )
    proposed = read(Source("a.md", text)).proposals[0].levers
    levers = {f"{one.lever.kind}{index}": one.lever for index, one in enumerate(proposed)}
    assert getattr(levers["prune0"], "dropped", None) == 6
    assert getattr(levers["quantize1"], "weights", None) == "int4-g64"
    assert getattr(levers["speculate2"], "acceptance", None) == pytest.approx(0.8)
    assert getattr(levers["prune3"], "sparsity", None) == pytest.approx(0.25)


def test_the_words_that_name_a_lever_are_its_place() -> None:
    text = "Intro.\r\n\r\n* We **mask** 30% of the `heads` and use *speculative decoding* 😀.\r\n"
    proposal = read(Source("doc.md", text)).proposals[0]
    words = [text[one.span.start : one.span.end] for one in proposal.levers]
    assert words == ["mask** 30% of the `heads", "speculative decoding"]


def test_the_deployment_of_a_document_is_what_its_sentences_agree_on() -> None:
    text = (
        "Llama-3.1-70B on H200, batch 1, 32k tokens of context.\n\nWe use INT4 weights.\n\n"
        "The 70B (Llama 3.1 70B) decodes at batch 1.\n"
    )
    proposal = read(Source("doc.md", text)).proposals[0]
    assert proposal.model is not None
    assert proposal.model.value == "meta-llama/Meta-Llama-3.1-70B"
    assert proposal.hardware is not None
    assert proposal.hardware.value == "H200"
    assert proposal.workload.batch is not None
    assert proposal.workload.batch.value == 1
    assert proposal.workload.context is not None
    assert proposal.workload.context.value == 32 * 1024
    other = read(Source("doc.md", f"{text}\nAt batch 32 it is another matter.\n")).proposals[0]
    assert other.workload.batch is None


def test_commands_in_a_document_are_read_by_the_options_of_their_engine() -> None:
    text = (
        "# Serve\n\n```bash\n$ vllm serve Qwen/Qwen3-32B -tp 2 --kv-cache-dtype fp8 \\\n"
        "    --max-num-seqs 64\n```\n"
    )
    assert levers_of(text) == {
        ("tensor_parallel", "bandwidth"),
        ("quantize.kv", "bandwidth"),
        ("batching", "throughput_only"),
    }


def test_what_does_not_go_together_leaves_the_levers() -> None:
    """1,000k tokens at batch 4,096 on one small card: nobody's mistake, and no traceback."""
    text = "Mixtral-8x7B on an RTX 4090 at batch 4096. We use INT4 weights at 1000k context.\n"
    assert "quantize.weights.int4" in {kind for kind, _ in levers_of(text)}


def test_whole_documents_of_several_styles() -> None:
    counts, wrong = score(FOLDER)
    assert counts["required"] == 94
    assert counts["right"] >= 92, wrong
    assert counts["sprung"] == 0, wrong
    assert counts["without reason"] == 0, wrong


def test_what_is_in_use_already_is_the_baseline_and_no_lever() -> None:
    text = (
        "# Faster chat\n\nWe serve Llama-3.1-70B in FP8 on 2 x H100 SXM (tensor parallel 2) at"
        " batch 1.\n\n- INT4 weights (AWQ): 1.8x lower TPOT than FP8.\n- Later: H200 instead.\n"
    )
    (proposal,) = read(Source("a.md", text)).proposals
    assert [one.lever.machine_kind for one in proposal.levers] == ["quantize.weights.int4"]
    stated = {
        "weights": proposal.weights,
        "tensor": proposal.splits.tensor,
        "hardware": proposal.hardware,
    }
    assert {name: fact.value for name, fact in stated.items() if fact is not None} == {
        "weights": "fp8",
        "tensor": 2,
        "hardware": "2 x H100 SXM",
    }
    places = {name: fact.span for name, fact in stated.items() if fact is not None}
    assert places["weights"] is not None
    assert text[places["weights"].start : places["weights"].end] == "FP8"


@pytest.mark.parametrize(
    "text",
    [
        "We will serve the 70B in FP8 on two H100.",
        "We should run the model with FP8 weights on an L40S.",
        "The goal: FP8 weights on the H100.",
        "FP8 weights on H100 give 1.9x.",
    ],
)
def test_what_is_planned_is_a_lever(text: str) -> None:
    (proposal,) = read(Source("a.md", text)).proposals
    assert "quantize.weights.fp8" in {one.lever.machine_kind for one in proposal.levers}
    assert proposal.weights is None


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("INT4 weights are 1.9x faster than FP8.", {"quantize.weights.int4"}),
        ("Go from FP8 to INT4 weights.", {"quantize.weights.int4"}),
        ("INT4 weights, 1.7x over the FP8 checkpoint.", {"quantize.weights.int4"}),
        ("Load INT8 weights and compare them with INT4.", {"quantize.weights.int8",
                                                           "quantize.weights.int4"}),
    ],
)  # fmt: skip
def test_a_width_that_is_only_compared_with_is_no_lever(text: str, kinds: set[str]) -> None:
    (proposal,) = read(Source("a.md", text)).proposals
    assert {one.lever.machine_kind for one in proposal.levers} == kinds


@pytest.mark.parametrize(
    ("text", "engine", "version"),
    [
        ("The 8B on an H100 with vLLM 0.8.5, INT4 weights.", "vLLM", "0.8.5"),
        ("INT4 weights in llama.cpp b4500 on one M3 Max.", "llama.cpp", "b4500"),
        ("INT4 weights on one H100: SGLang is 5% faster than vLLM.", None, None),
        ("We run the 8B on one H100 under SGLang. Later, vLLM with INT4 weights.", "SGLang", None),
        ("INT4 weights on one H100, see docs/vllm-notes.md.", None, None),
    ],
)
def test_the_engine_is_the_one_that_a_document_names(
    text: str, engine: str | None, version: str | None
) -> None:
    (proposal,) = read(Source("a.md", text)).proposals
    told = proposal.engine
    assert (told.name.value if told else None) == engine
    assert (told.version.value if told and told.version else None) == version
