"""Serving configs and recipes in the forms people write: levers, places, what is off, what breaks.

What each file sets was listed by reading it beside the engine's documentation.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.audit import LeverAudit, Verdict, audit
from advisor.checking import check
from advisor.context import Defaults
from advisor.finding import Confidence
from advisor.proposal import Proposal
from advisor.readers import may_hold_proposals, read
from advisor.readers.inner_text import InnerText
from advisor.readers.templates import readable
from advisor.readers.yaml_nodes import MapNode, ScalarNode
from advisor.readers.yaml_tree import compose
from advisor.source import Source, decode

FIXTURES = Path(__file__).parents[2] / "fixtures" / "serving"


def proposals(text: str, path: str = "deploy.yaml") -> tuple[Proposal, ...]:
    return read(Source(path, text), named=False).proposals


def audited(proposal: Proposal, **defaults: object) -> dict[str, LeverAudit]:
    found, problems = audit(proposal, Defaults(defaults))
    assert found is not None
    assert not problems
    return {lever.lever.machine_kind: lever for lever in found.levers}


def kinds(text: str, path: str = "deploy.yaml") -> list[str]:
    return [
        proposed.lever.machine_kind
        for proposal in proposals(text, path)
        for proposed in proposal.levers
    ]


EXPECTED = {
    "compose_llamacpp.yaml": {
        (5, "quantize.weights.int4"), (5, "speculative"), (6, "attention_kernel"),
        (6, "quantize.kv"), (6, "batching"), (10, "quantize.kv"), (11, "attention_kernel"),
        (12, "batching"),
    },
    "compose_lmdeploy.yaml": {
        (4, "tensor_parallel"), (4, "quantize.kv"), (4, "quantize.weights.int4"),
    },
    "compose_tgi.yaml": {
        (6, "quantize.weights.int4"), (7, "tensor_parallel"), (8, "speculative"),
        (9, "cuda_graph.off"),
    },
    "configmap_recipe.yaml": {(11, "prune.unstructured")},
    "deployment_vllm.yaml": {
        (16, "tensor_parallel"), (17, "quantize.weights.fp8"), (18, "quantize.kv"),
        (19, "prefix_cache"), (20, "chunked_prefill"), (21, "batching"), (24, "attention_kernel"),
    },
    "dynamo_graph.yaml": {
        (5, "disaggregate"), (9, "prefix_cache"), (14, "tensor_parallel"), (15, "prefix_cache"),
    },
    "kserve_kv_fp8.yaml": {(15, "quantize.kv")},
    "kserve_llm_inference_service.yaml": {
        (9, "tensor_parallel"), (14, "speculative"), (19, "offload.kv"), (25, "prefix_cache"),
        (25, "batching"),
    },
    "kubeai_model.yaml": {
        (5, "quantize.weights.fp8"), (7, "tensor_parallel"), (7, "quantize.kv"),
        (7, "prefix_cache"),
    },
    "llama_swap.yaml": {
        (5, "quantize.weights.int4"), (6, "quantize.kv"), (6, "attention_kernel"),
        (7, "offload.weights"),
    },
    "modelopt_recipe.yaml": {(4, "quantize.weights.fp4"), (6, "quantize.kv")},
    "neural_compressor.yaml": {(15, "prune.block")},
    "olive_workflow.json": {
        (5, "quantize.weights.int4"), (6, "quantize.weights.int4"), (7, "prune.channels"),
    },
    "ray_serve_llm.yaml": {
        (14, "tensor_parallel"), (15, "quantize.weights.fp8"), (16, "chunked_prefill"),
        (18, "speculative"),
    },
    "skypilot_vllm.yaml": {(9, "tensor_parallel"), (10, "batching")},
    "sparseml_recipe.yaml": {(7, "prune.block"), (10, "quantize.weights.int8")},
    "tabbyapi.yml": {
        (5, "quantize.weights.int4"), (7, "tensor_parallel"), (8, "quantize.kv"),
        (12, "speculative"),
    },
    "trtllm_api_options.yaml": {
        (1, "tensor_parallel"), (2, "expert_parallel"), (4, "batching"), (8, "quantize.kv"),
        (10, "offload.kv"), (12, "cuda_graph"), (15, "speculative"), (19, "latency_overhead"),
    },
    "off.yaml": set(),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_levers_stand_where_they_are_set(name: str) -> None:
    source = Source(name, decode((FIXTURES / name).read_bytes()))
    found = {
        (source.position(proposed.span.start).line, proposed.lever.machine_kind)
        for proposal in read(source).proposals
        for proposed in proposal.levers
    }
    assert found == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "kind", "verdict"),
    [
        ("configmap_recipe.yaml", "prune.unstructured", Verdict.FLOP_ONLY),
        ("deployment_vllm.yaml", "prefix_cache", Verdict.PREFILL_ONLY),
        ("deployment_vllm.yaml", "batching", Verdict.THROUGHPUT_ONLY),
        ("deployment_vllm.yaml", "tensor_parallel", Verdict.BANDWIDTH),
        ("kserve_kv_fp8.yaml", "quantize.kv", Verdict.CONDITIONAL),
        ("kserve_llm_inference_service.yaml", "offload.kv", Verdict.PREFILL_ONLY),
        ("llama_swap.yaml", "offload.weights", Verdict.CAPACITY_ONLY),
        ("sparseml_recipe.yaml", "quantize.weights.int8", Verdict.CONDITIONAL),
        ("trtllm_api_options.yaml", "speculative", Verdict.BANDWIDTH),
        ("trtllm_api_options.yaml", "latency_overhead", Verdict.OVERHEAD),
    ],
)
def test_verdicts(name: str, kind: str, verdict: Verdict) -> None:
    source = Source(name, decode((FIXTURES / name).read_bytes()))
    found = {
        lever.verdict
        for proposal in read(source).proposals
        for key, lever in audited(proposal).items()
        if key == kind
    }
    assert found == {verdict}


def test_the_context_is_read_from_the_manifest() -> None:
    (proposal,) = proposals((FIXTURES / "deployment_vllm.yaml").read_text(encoding="utf-8"))
    assert proposal.kind == "configuration"
    assert proposal.title == "llama"
    assert proposal.model is not None
    assert proposal.model.value == "meta-llama/Llama-3.1-70B-Instruct"
    assert proposal.hardware is not None
    assert proposal.hardware.value == "nvidia-h100-80gb"
    assert proposal.engine is not None
    assert proposal.engine.version is not None
    assert (proposal.engine.name.value, proposal.engine.version.value) == ("vllm", "0.10.0")
    # 256 sequences and 32,768 tokens are limits, not the batch and the context.
    assert proposal.workload.batch is None
    assert proposal.workload.context is None


def test_one_sequence_and_a_short_limit_fix_batch_and_context() -> None:
    (proposal,) = proposals((FIXTURES / "kserve_kv_fp8.yaml").read_text(encoding="utf-8"))
    assert proposal.workload.batch is not None
    assert proposal.workload.context is not None
    assert (proposal.workload.batch.value, proposal.workload.context.value) == (1, 1024)


def test_an_fp8_cache_hardly_moves_a_short_single_stream() -> None:
    (finding,) = check([str(FIXTURES / "kserve_kv_fp8.yaml")]).findings
    assert finding.rule == "KV001"
    # 1,024 tokens of 131,072 bytes against 15.01 GB of weights: 0.9%.
    assert "0.88%" in finding.message or "0.89%" in finding.message


def test_the_same_cache_moves_a_large_batch_at_long_context() -> None:
    text = (FIXTURES / "kserve_kv_fp8.yaml").read_text(encoding="utf-8")
    text = text.replace("        - --max-model-len=1024\n        - --max-num-seqs=1\n", "")
    (proposal,) = proposals(text)
    lever = audited(proposal, batch=64, context=16384)["quantize.kv"]
    # 64 x 16,384 x 131,072 B = 137.4 GB of cache become 68.7; weights stay 15.0.
    assert lever.before.estimate.bytes.kv_read == 64 * 16384 * 131072
    assert lever.after.estimate.bytes.kv_read == 64 * 16384 * 131072 / 2
    assert lever.verdict is Verdict.BANDWIDTH
    assert round(lever.byte_ratio, 2) == 1.82  # (137.4 + 15.0) / (68.7 + 15.0)
    assert lever.tpot.interval.mid > 1.2


def test_an_ordinary_deployment_has_no_findings() -> None:
    assert check([str(FIXTURES / "deployment_vllm.yaml")]).findings == ()


def test_speculation_in_a_configuration_promises_nothing(tmp_path: Path) -> None:
    # On a mixture of experts drafts touch more experts; a proposal is told so, a setting is not.
    args = '--model=Qwen/Qwen3-30B-A3B, --speculative-config, \'{"method": "eagle3"}\''
    (tmp_path / "x.yaml").write_text(MANIFEST.format(args=args), encoding="utf-8")
    assert check([str(tmp_path)], strict=False).findings == ()


def test_variants_with_a_model_of_their_own_are_setups_of_their_own() -> None:
    text = (
        "name: x\nmodel:\n  model_id: a/b-21B\nvariants:\n"
        "  large:\n    model_id: a/b-300B\n    precision: bf16\n"
        "    extra_args: [--tensor-parallel-size, '8']\n"
        "  small:\n    model_id: a/b-21B-FP8\n    precision: fp8\n"
    )
    found = {
        proposal.model.value: [one.lever.machine_kind for one in proposal.levers]
        for proposal in proposals(text)
        if proposal.model is not None
    }
    assert found == {"a/b-300B": ["tensor_parallel"], "a/b-21B-FP8": ["quantize.weights.fp8"]}


def test_zeros_that_are_stored_are_flagged_in_a_recipe() -> None:
    (finding,) = check([str(FIXTURES / "configmap_recipe.yaml")]).findings
    assert (finding.rule, finding.start.line) == ("FLP002", 11)


def test_a_suppression_on_the_key_of_a_block_covers_the_text_in_it(tmp_path: Path) -> None:
    text = (FIXTURES / "configmap_recipe.yaml").read_text(encoding="utf-8")
    path = tmp_path / "recipe.yaml"
    path.write_text(
        text.replace("recipe.yaml: |", "recipe.yaml: |  # rooflint: ignore[FLP002] measured"),
        encoding="utf-8",
    )
    checked = check([str(path)])
    assert checked.findings == ()
    assert len(checked.suppressed) == 1


MANIFEST = """\
spec:
  containers:
    - name: server
      image: vllm/vllm-openai:v0.9.1
      args: [{args}]
"""


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("--model=x/y-AWQ", ["quantize.weights.int4"]),
        ("--model=x/y-AWQ, --quantization=awq", ["quantize.weights.int4"]),
        ('--model, x/y, --speculative-config, \'{"method": "ngram"}\'', ["speculative"]),
        ("--tensor-parallel-size, $(TP)", ["tensor_parallel"]),
        ('"--tensor-parallel-size {{ .Values.tp }}"', ["tensor_parallel"]),
        ('"--tensor-parallel-size ${TP:-1}"', ["tensor_parallel"]),
        ("--tensor-parallel-size=1, --enforce-eager=false", []),
        ("-tp, '4', -O3", ["tensor_parallel", "compile"]),
        ('--compilation-config, \'{"cudagraph_mode": "NONE"}\'', ["cuda_graph.off"]),
        ("--kv-cache-dtype=bfloat16, --swap-space=4", []),
        ("--disable-log-requests, --max-num-seq=512", ["batching"]),
    ],
)
def test_flags_of_a_container(args: str, expected: list[str]) -> None:
    assert kinds(MANIFEST.format(args=args)) == expected


def test_an_option_speaks_more_surely_than_a_name() -> None:
    (proposal,) = proposals(MANIFEST.format(args="--model=x/y-AWQ"))
    assert [one.confidence for one in proposal.levers] == [Confidence.LOW]
    (proposal,) = proposals(MANIFEST.format(args="--model=x/y-AWQ, --quantization=awq_marlin"))
    assert [one.confidence for one in proposal.levers] == [Confidence.HIGH]


def test_a_lever_is_underlined_at_its_flag_or_key() -> None:
    text = (
        "kind: ConfigMap\n"
        "data:\n"
        "  worker.yaml: |-\n"
        "    tp-size: 4\n"
        "    kv-cache-dtype: fp8_e5m2\n"
        "---\n"
        "command: >\n"
        "  vllm serve a/b\n"
        "  --enforce-eager\n"
        "---\n"
        'compilation-config: \'{"pass_config": {"fuse_attn_quant": true}}\'\n'
    )
    source = Source("x.yaml", text)
    words = [
        source.slice(proposed.span)
        for proposal in read(source, named=False).proposals
        for proposed in proposal.levers
    ]
    assert sorted(words) == ["--enforce-eager", "kv-cache-dtype", "pass_config", "tp-size"]


def test_attention_in_data_parallel_takes_from_a_tensor_split() -> None:
    args = "--model-path=deepseek-ai/DeepSeek-R1, --tp=8, --dp=8, --enable-dp-attention"
    text = MANIFEST.format(args=args).replace("vllm/vllm-openai:v0.9.1", "lmsysorg/sglang:v0.5")
    (proposal,) = proposals(text)
    lever = audited(proposal)["tensor_parallel"]
    assert lever.verdict is Verdict.CONDITIONAL
    assert "attention" in (lever.condition or "")


def test_workers_of_one_file_are_setups_of_their_own() -> None:
    text = (
        "services:\n"
        "  decode:\n    args: [--model-path, a/b, --tp-size, '8']\n"
        "  prefill:\n    args: [--model-path, a/b, --tp-size, '4']\n"
    )
    found = [proposal.levers[0].lever.label for proposal in proposals(text)]
    assert found == ["tensor parallel 8", "tensor parallel 4"]


def test_training_runs_configure_no_inference() -> None:
    text = (
        "base_model: Qwen/Qwen3-8B\nload_in_4bit: true\nadapter: qlora\nmicro_batch_size: 2\n"
        "optimizer: adamw_8bit\nlearning_rate: 2e-5\nattn_implementation: flash_attention_2\n"
    )
    assert kinds(text) == []
    assert kinds(text + "qat:\n  weight_dtype: int4\n  group_size: 32\n") == [
        "quantize.weights.int4"
    ]


def test_convolutional_networks_are_left_alone() -> None:
    recipe = (
        "pruning_modifiers:\n  - !GMPruningModifier\n    final_sparsity: 0.8\n"
        "    params: ['sections.0.0.conv1.weight']\n"
    )
    assert kinds(recipe) == []


@pytest.mark.parametrize(
    ("ranges", "kind", "amount"),
    [
        ([(0, 21), (29, 32)], "prune.layers", 0.25),  # 24 of 32 layers stay
        ([(0, 24), (8, 32)], "merge.layers_added", 16),  # 48 of 32
        ([(0, 16), (16, 32)], None, None),
    ],
)
def test_merges_count_layers(
    ranges: list[tuple[int, int]], kind: str | None, amount: float | None
) -> None:
    text = "merge_method: passthrough\nslices:\n" + "".join(
        f"  - sources:\n      - model: meta-llama/Meta-Llama-3-8B\n"
        f"        layer_range: [{first}, {last}]\n"
        for first, last in ranges
    )
    found = [proposed.lever for proposal in proposals(text) for proposed in proposal.levers]
    assert [lever.machine_kind for lever in found] == ([kind] if kind else [])
    if kind == "prune.layers":
        assert found[0].model_dump()["sparsity"] == amount
    elif kind is not None:
        assert found[0].model_dump()["layers_added"] == amount


def test_a_compressed_recipe_takes_variables_and_the_last_stage() -> None:
    text = (
        "sparsity: 0.6\n"
        "first_stage:\n  pruning_modifiers:\n    SparseGPTModifier:\n      sparsity: 0.1\n"
        "      mask_structure: '0:0'\n"
        "second_stage:\n  pruning_modifiers:\n    SparseGPTModifier:\n"
        "      sparsity: eval(sparsity)\n      mask_structure: '0:0'\n"
    )
    (proposal,) = proposals(text)
    assert [lever.lever.label for lever in proposal.levers] == ["prune 60%, stored dense"]


BROKEN = {
    "helm": (
        "{{- if .Values.enabled }}\nkind: Deployment\nspec:\n  containers:\n"
        "    - image: vllm/vllm-openai\n      args:\n        {{- range .Values.more }}\n"
        "        - {{ . | quote }}\n        {{- end }}\n"
        "        - --kv-cache-dtype=fp8\n{{- end }}\n"
    ),
    "merge": (
        "args:\n  - --enable-prefix-caching\n<<<<<<< HEAD\n  - --kv-cache-dtype=fp8\n=======\n"
        "  - --kv-cache-dtype=auto\n>>>>>>> other\n"
    ),
    "placeholders": '{\n  "tensor_parallel_size": {{ tp }},\n  "kv_cache_dtype": "fp8"\n}\n',
    "comments": '{\n  // ours\n  "kv_cache_dtype": "fp8",\n  "enforce_eager": false\n}\n',
    "tabs": "engine:\n\tvllm:\n\t\tcommand: vllm serve a/b --kv-cache-dtype fp8\n",
    "nonsense": "kv_cache_dtype: fp8\nenforce_eager: false\n  ]: x\n- }{\n",
}


def test_an_unquoted_place_of_a_template_is_an_open_value() -> None:
    text = "vllm:\n  tensorParallelSize: {{ .Values.tp }}\n  kvCacheDtype: fp8\n"
    (proposal,) = proposals(text)
    assert [one.lever.label for one in proposal.levers] == ["tensor parallel", "fp8 KV cache"]


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_literal_in_a_broken_file_is_read(name: str, tmp_path: Path) -> None:
    assert "quantize.kv" in kinds(BROKEN[name])
    (tmp_path / "x.yaml").write_text(BROKEN[name], encoding="utf-8")
    assert [one.rule for one in check([str(tmp_path)]).findings if one.rule[0] == "E"] == []


def test_both_sides_of_a_conflict_are_read() -> None:
    text = BROKEN["merge"].replace("dtype=auto", "dtype=int8")
    labels = [one.lever.label for proposal in proposals(text) for one in proposal.levers]
    assert sorted(labels) == ["fp8 KV cache", "int8 KV cache", "prefix cache"]


HOSTILE = {
    "tags": "x: !!python/object/apply:os.system ['touch /tmp/owned']\nkv_cache_dtype: fp8\n",
    "recursion": "a: &a\n  kv_cache_dtype: fp8\n  b: *a\n",
    "documents": "---\nkv_cache_dtype: fp8\n" * 10_000,
    "braces": "args: --x " + "{{" * 50_000,
    "dollars": "args: --tensor-parallel-size " + "${" * 50_000,
    "quotes": "args: --kv-cache-dtype '" + "a'\"" * 20_000,
    "blank": "vllm: |\n" + "\n" * 50_000 + "  x\n",
    "flat": "run: " + "-" * 60_000,
    "words": "command: " + "--kv-cache-dtype fp8 " * 3_000,
    "long": f"kv_cache_dtype: {'f' * 300_000}\ntensor_parallel_size: {'9' * 300}\n",
    "deep": "a: " + "[" * 5_000,
    "numbers": "tensor_parallel_size: -3\nmax_num_seqs: 1e400\nspeculative_config: {a: 1}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_give_levers_or_silence(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(HOSTILE[name], encoding="utf-8")
    for proposal in proposals(HOSTILE[name]):
        audit(proposal)
    assert check([str(tmp_path)]).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "name: CI\non: push\njobs:\n  test:\n    runs-on: ubuntu\n    steps:\n      - run: make\n",
        "replicas: 3\nimage: nginx\nports: [80]\n",
        "model:\n  layers: 12\n  hidden: 768\n",
        '{"name": "app", "version": "1.0.0", "scripts": {"build": "tsc --strict"}}',
    ],
)
def test_other_files_are_left_alone(text: str) -> None:
    assert kinds(text) == []
    assert read(Source("x.yaml", text), named=False).problems == ()


def test_other_files_cost_a_search_of_their_bytes() -> None:
    assert not may_hold_proposals("x.yaml", b"name: CI\non: push\njobs: {}\n")
    assert may_hold_proposals("x.yaml", b"args: [--tensor-parallel-size=2]\n")
    wide = "args: [--tensor-parallel-size=2]\n".encode("utf-16-le")
    assert may_hold_proposals("x.yaml", wide)


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("C",), exclude_characters="\x85\u2028\u2029"),
    max_size=60,
)
STYLES = st.sampled_from(["'", '"', "|", ">", None])


@settings(max_examples=300, deadline=None)
@given(text=WORDS, style=STYLES, depth=st.integers(0, 3))
def test_characters_of_a_value_know_where_they_stand(
    text: str, style: str | None, depth: int
) -> None:
    class Styled(str):
        __slots__ = ()

    class Dumper(yaml.SafeDumper):
        pass

    Dumper.add_representer(
        Styled,
        lambda dumper, value: dumper.represent_scalar(
            "tag:yaml.org,2002:str", str(value), style=style
        ),
    )
    data: object = {"key": Styled(text)}
    for _ in range(depth):
        data = {"outer": [data]}
    written = yaml.dump(data, Dumper=Dumper, allow_unicode=True, width=20)
    source = Source("x.yaml", written)
    node = compose(source).documents[0]
    while isinstance(node, MapNode):
        value = node.entries[0].value
        node = value.items[0] if not isinstance(value, ScalarNode | MapNode) else value
    assert isinstance(node, ScalarNode)
    inner = InnerText(source).inside(node)
    assert inner.text == node.text
    for index, character in enumerate(node.text):
        if character.isspace() or inner.offsets is None:
            continue
        there = written[inner.offsets[index]]
        assert there in (character, "\\")


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="a{}%# \n\t<=>$-:", max_size=80))
def test_making_a_text_readable_keeps_every_place(text: str) -> None:
    made = readable(text)
    assert len(made) == len(text)
    assert [index for index, one in enumerate(made) if one == "\n"] == [
        index for index, one in enumerate(text) if one == "\n"
    ]
