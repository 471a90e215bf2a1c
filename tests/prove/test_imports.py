from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.deployment import Deployment
from advisor.prove.imports import read_benchmark
from advisor.prove.imports.figures import Counters, Figure
from advisor.prove.published import judge_counters, judge_figure
from advisor.prove.record import RunFileError

FILES = Path(__file__).resolve().parents[2] / "fixtures" / "benchmarks"
NCU = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
H100 = Deployment("Llama-3.1-8B", "H100 SXM", context=1088)


def figures(name: str) -> tuple[Figure, ...]:
    return read_benchmark(str(FILES / name)).figures


def only(name: str) -> Figure:
    (figure,) = figures(name)
    return figure


def counters(name: str) -> tuple[Counters, ...]:
    return read_benchmark(str(FILES / name)).counters


def written(folder: Path, name: str, **changes: Any) -> str:
    """A fixture with some fields of its only object changed."""
    data = json.loads((FILES / name).read_text())
    path = folder / name
    path.write_text(json.dumps(data | changes))
    return str(path)


# What the files say


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "md"])
def test_llama_bench_says_the_same_in_all_its_forms(form: str) -> None:
    prompt, decode = figures(f"llama_bench.{form}")[:2]
    assert prompt.prompt == 512
    assert prompt.prompt_rate == pytest.approx(11500.5)
    assert prompt.tpot_ms is None
    assert decode.tpot_ms == pytest.approx(10.0)
    assert decode.weights == "q8_0"
    assert decode.hardware == "NVIDIA GeForce RTX 4090"
    assert decode.mean_context == 64
    # llama.cpp prints 7.95 GiB; the file has 8,532,934,912 bytes.
    assert decode.model_bytes == pytest.approx(8.533e9, rel=1e-3)


def test_a_table_tells_depth_mixed_tests_and_scatter() -> None:
    deep, mixed = figures("llama_bench.md")[2:]
    assert deep.mean_context == 4096 + 64
    assert [remark.code for remark in deep.remarks] == ["MEA006"]
    assert mixed.tpot_ms is None
    assert [remark.code for remark in mixed.remarks] == ["MEA003"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama 8B Q4_K - Medium", "q4_k_m"),
        ("llama 8B Q4_K - Small", "q4_k_s"),
        ("qwen2 1B Q4_0", "q4_0"),
        ("llama 7B IQ4_XS - 4.25 bpw", "iq4_xs"),
        ("llama 8B F16", "f16"),
        ("llama 8B", None),
    ],
)
def test_formats_in_the_types_of_models(name: str, expected: str | None) -> None:
    from advisor.prove.imports.llama_bench import quantization  # noqa: PLC0415

    assert quantization(name) == expected


def test_vllm_serve_gives_time_per_token_without_the_first() -> None:
    figure = only("vllm_serve.json")
    assert (figure.tpot_ms, figure.ttft_ms, figure.batch) == (6.33, 91.0, 1.0)
    assert figure.mean_context == 1024 + 64
    assert figure.model == "meta-llama/Llama-3.1-8B-Instruct"
    assert figure.engine == "vllm"


@pytest.mark.parametrize("name", ["vllm_latency.json", "vllm_throughput.json"])
def test_windows_with_prefill_in_them_give_no_time_per_token(name: str) -> None:
    figure = only(name)
    assert figure.tpot_ms is None
    assert [(remark.code, remark.severity) for remark in figure.remarks] == [("MEA003", "warning")]


def test_sglang_under_load_has_prefill_between_its_tokens() -> None:
    figure = only("sglang_serving.jsonl")
    assert (figure.tool, figure.tpot_ms, figure.batch) == ("sglang bench_serving", 22.3, 61.3)
    assert [remark.code for remark in figure.remarks] == ["MEA003"]


def test_sglang_one_batch_times_a_decode_step_in_seconds() -> None:
    one, many = figures("sglang_one_batch.jsonl")
    assert one.tpot_ms == pytest.approx(6.33)
    assert many.tpot_ms == pytest.approx(8.1)
    assert (many.batch, many.throughput) == (32.0, pytest.approx(3950.6, rel=1e-4))


def test_tensorrt_llm_reports_devices_formats_and_streaming_times() -> None:
    figure = only("trtllm_bench.json")
    assert (figure.devices, figure.weights, figure.kv_cache) == (4, "fp8", "fp8")
    assert (figure.tpot_ms, figure.batch, figure.mean_context) == (9.7, 1.0, 1152.0)


def test_tensorrt_llm_without_streaming_has_no_time_per_token(tmp_path: Path) -> None:
    path = written(tmp_path, "trtllm_bench.json", streaming_metrics=None)
    (figure,) = read_benchmark(path).figures
    assert figure.tpot_ms is None
    assert figure.remarks[0].code == "MEA003"


def test_aiperf_times_have_units(tmp_path: Path) -> None:
    assert only("aiperf.json").tpot_ms == 7.5
    seconds = written(tmp_path, "aiperf.json", inter_token_latency={"unit": "s", "p50": 0.0075})
    (figure,) = read_benchmark(seconds).figures
    assert figure.tpot_ms == pytest.approx(7.5)
    assert (figure.batch, figure.mean_context) == (8.0, 612.0)


def test_nsight_compute_by_metric_and_by_kernel() -> None:
    (gemv,) = counters("ncu.csv")
    # 117.6 MB in 39.81 us.
    assert (gemv.read_bytes, gemv.time_ms) == (pytest.approx(117.6e6), pytest.approx(0.03981))
    assert judge_counters(gemv).bound == "memory"
    (gemm,) = counters("ncu_raw.csv")
    assert (gemm.read_bytes, gemm.time_ms) == (234_881_024, pytest.approx(0.41216))
    assert judge_counters(gemm).bound == "compute"
    assert gemm.remarks[0].code == "MEA005"


def test_gaps_of_a_timeline_are_the_hosts() -> None:
    (trace,) = counters("nsys_trace.csv")
    # Four kernels of 20 us from 1,000 to 1,200 us: busy 80 of 200.
    assert trace.idle_share == pytest.approx(0.6)
    assert judge_counters(trace).bound == "overhead"


def test_sums_of_kernels_show_no_gaps() -> None:
    (sums,) = counters("nsys_kern_sum.csv")
    assert sums.time_ms == pytest.approx(500.0)
    assert [remark.code for remark in sums.remarks] == ["MEA005"]
    assert judge_counters(sums).bound == "undecided"


def test_dcgm_samples_are_averaged_by_gpu() -> None:
    first, second = counters("dcgm_dmon.txt")
    assert first.dram_share == pytest.approx(0.788)
    assert first.tensor_share == pytest.approx(0.042)
    assert judge_counters(first).bound == "memory"
    assert second.tensor_share is None
    (exported,) = counters("dcgm_exporter.txt")
    assert judge_counters(exported).bound == "compute"


def test_utilisation_alone_is_the_wrong_instrument(tmp_path: Path) -> None:
    path = tmp_path / "metrics.txt"
    path.write_text('DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="x"} 100\n')
    (one,) = read_benchmark(str(path)).counters
    assert one.dram_share is None
    assert [remark.code for remark in one.remarks] == ["MEA005"]
    assert judge_counters(one).bound == "undecided"


@pytest.mark.parametrize(
    ("dram", "tensor", "bound"),
    [(0.2, 0.1, "overhead"), (0.5, 0.1, "undecided"), (0.8, 0.9, "compute"), (0.7, None, "memory")],
)
def test_bounds_by_counters(dram: float, tensor: float | None, bound: str) -> None:
    one = Counters("DCGM", "GPU 0", dram_share=dram, tensor_share=tensor)
    assert judge_counters(one).bound == bound


def test_a_gpu_that_is_busy_throughout_is_not_the_hosts_fault() -> None:
    reading = judge_counters(Counters("Nsight Systems", "x", idle_share=0.02))
    assert reading.bound == "undecided"
    assert "kernels, not the host" in reading.because


# What they come to


def test_mbu_of_a_published_speed() -> None:
    # 15.01 GB of weights and 1,088 * 131,072 bytes of cache in 6.33 ms, of 3,350 GB/s: 71 %,
    # as SGLang's 158 tokens/s on an H100 come to.
    reading = judge_figure(only("vllm_serve.json"), H100)
    assert reading.mbu == pytest.approx(15.152 / 6.33 / 3.350, rel=0.005)
    assert reading.bound == "memory"
    assert reading.remarks == ()


def test_an_mbu_above_one_is_impossible() -> None:
    # 300 tokens/s of an 8B in bf16 on an H100.
    reading = judge_figure(Figure("vllm bench serve", "x", batch=1.0, tpot_ms=1e3 / 300), H100)
    assert reading.mbu == pytest.approx(1.36, abs=0.01)
    assert reading.bound == "undecided"
    assert [(one.code, one.severity) for one in reading.remarks] == [("MEA004", "error")]


def test_an_mbu_near_one_is_doubted() -> None:
    reading = judge_figure(Figure("vllm bench serve", "x", batch=1.0, tpot_ms=4.65), H100)
    assert [(one.code, one.severity) for one in reading.remarks] == [("MEA004", "warning")]


def test_several_tokens_a_pass_are_no_impossible_mbu() -> None:
    figure = Figure("sglang bench_serving", "x", batch=1.0, tpot_ms=1e3 / 300, step_tokens=2.5)
    reading = judge_figure(figure, H100)
    assert reading.mbu == pytest.approx(1.36 / 2.5, abs=0.01)


def test_a_slow_step_at_batch_one_is_overhead_and_not_computing() -> None:
    reading = judge_figure(Figure("vllm bench serve", "x", batch=1.0, tpot_ms=18.0), H100)
    assert reading.bound == "overhead"
    assert "not computing" in reading.because


def test_a_large_batch_below_the_bandwidth_is_compute() -> None:
    deployment = Deployment("Llama-3.1-8B", "H100 SXM", batch=1024, context=64)
    reading = judge_figure(Figure("vllm bench serve", "x", batch=1024.0, tpot_ms=30.0), deployment)
    assert reading.bound == "compute"


def test_a_first_token_sooner_than_its_prompt_was_cached(tmp_path: Path) -> None:
    # 1,024 tokens * 2 * 7.0e9 FLOP at 989 TFLOP/s: 14 ms at the very least.
    path = written(tmp_path, "vllm_serve.json", median_ttft_ms=5.0)
    (figure,) = read_benchmark(path).figures
    reading = judge_figure(figure, H100)
    assert any("prefix cache" in one.message for one in reading.remarks if one.code == "MEA003")


def test_prefill_in_the_rate_is_told_from_decode(tmp_path: Path) -> None:
    path = written(tmp_path, "vllm_serve.json", output_throughput=100.0)
    (figure,) = read_benchmark(path).figures
    reading = judge_figure(figure, H100)
    assert any("158" in one.message for one in reading.remarks)


def test_what_nobody_says_is_asked_for() -> None:
    reading = judge_figure(only("vllm_serve.json"), None, "the file does not say which hardware")
    assert reading.mbu is None
    assert reading.remarks[-1].code == "MEA001"


def test_failed_requests_are_told(tmp_path: Path) -> None:
    (figure,) = read_benchmark(written(tmp_path, "vllm_serve.json", failed=10)).figures
    assert any("10 of 110" in one.message for one in figure.remarks)


# Bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ('{"date": "2026", "mean_tp', "truncated"),
        ('{"avg_ts": 1}\n{"avg_ts":', ":2:11: ends in the middle"),
        ('{"a": 1}', "not a result that this reads"),
        ("[]", "not a result that this reads"),
        ("[1, 2]", "not a result that this reads"),
        ("{a: 1}", "no JSON"),
        ("hello\n", "not a result that this reads"),
        ("| model | test | t/s |\n|---|---|---|\n| x | tg128 |\n", ":3: 2 cells under 3"),
        ("| model | test | t/s |\n|---|---|---|\n| x | warm | 3 |\n", "unknown test 'warm'"),
        ("| model | test | t/s |\n|---|---|---|\n| x | tg128 | fast |\n", "t/s is a number"),
        (NCU, "without any kernel"),
        (NCU + '"0","k","x","%","1"\n', "no DRAM counter"),
        (NCU + '"0","k","dram__bytes_read.sum","%","1"\n', "not in bytes"),
        ("Start (ns),Duration (ns),Name\n", "without any kernel"),
        ("Start (ns),Duration (ns),Name\n5,0,k\n", "nothing was measured"),
        ("Time (%),Total Time (ns),Name\n0,0,k\n", "no kernel was traced"),
        ("#Entity   DRAMA\nID\n", "without any sample"),
        ("#Entity   DRAMA\nGPU 0   78.8\n", "share from 0 to 1"),
        ("#Entity   DRAMA  TENSO\nGPU 0   0.5\n", "1 values under 2 columns"),
    ],
)
def test_files_that_are_no_results(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "result.txt"
    path.write_text(text)
    with pytest.raises(RunFileError) as raised:
        read_benchmark(str(path))
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("vllm_serve.json", {"median_tpot_ms": 0}, "median_tpot_ms is 0: nothing was measured"),
        ("vllm_serve.json", {"median_tpot_ms": "6.33 ms"}, "a number of ms and nothing beside it"),
        ("vllm_serve.json", {"median_tpot_ms": float("nan")}, "median_tpot_ms is nan"),
        ("vllm_serve.json", {"duration": -1}, "duration is -1"),
        ("vllm_serve.json", {"completed": None}, "completed is missing"),
        ("vllm_serve.json", {"completed": True}, "a number of requests, not True"),
        ("vllm_latency.json", {"avg_latency": [1]}, "avg_latency is a number of seconds"),
        ("aiperf.json", {"inter_token_latency": {"unit": "lightyears", "avg": 3}}, "'lightyears'"),
        ("aiperf.json", {"inter_token_latency": 7.5}, "inter_token_latency is a mapping"),
        ("trtllm_bench.json", {"performance": {}}, "performance.system_output_throughput_tok_s"),
    ],
)
def test_impossible_values_are_named(
    tmp_path: Path, name: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(RunFileError) as raised:
        read_benchmark(written(tmp_path, name, **changes))
    assert message in str(raised.value)


def test_places_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="no such file"):
        read_benchmark(str(tmp_path / "missing.json"))
    with pytest.raises(RunFileError, match="a folder"):
        read_benchmark(str(tmp_path))
    binary = tmp_path / "weights.bin"
    binary.write_bytes(b"\xff\xfe\x00\x80" * 10)
    with pytest.raises(RunFileError, match="not a text file"):
        read_benchmark(str(binary))
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    with pytest.raises(RunFileError):
        read_benchmark(str(deep))


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir()))
@given(data=st.data())
def test_a_file_cut_anywhere_is_read_or_refused_in_words(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = (FILES / name).read_text()
    cut = data.draw(st.integers(0, len(text)))
    path = tmp_path_factory.mktemp("cut") / name
    path.write_text(text[:cut])
    try:
        read_benchmark(str(path))
    except RunFileError as error:
        assert str(path) in str(error)  # noqa: PT017  it may as well be read
