"""Serving benchmarks in JSON: vLLM, SGLang, TensorRT-LLM, AIPerf and genai-perf.

Fields as the tools write them: vllm/benchmarks (latency, serve, throughput), sglang
bench_serving and bench_one_batch, trtllm-bench --report_json, profile_export_aiperf.json and
profile_export_genai_perf.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from advisor.prove.imports.figures import (
    Benchmark,
    Fields,
    Figure,
    Remark,
    milliseconds,
    mixed_window,
)


def read_serving(objects: Sequence[Mapping[str, Any]], path: str) -> Benchmark | None:
    """The first known form that all objects have; None for another tool's."""
    for fields, read in _FORMS:
        if all(all(name in one for name in fields) for one in objects):
            return Benchmark(path, tuple(read(Fields(one, path)) for one in objects))
    return None


def _one_batch(fields: Fields) -> Figure:
    """SGLang bench_one_batch: latencies in seconds, of a step that decodes and nothing else."""
    batch = fields.above_zero("batch_size", "sequences")
    figure = Figure(
        "sglang bench_one_batch",
        f"batch {batch:g}",
        batch=batch,
        prompt=fields.number("input_len", "tokens"),
        output=fields.number("output_len", "tokens"),
        ttft_ms=1e3 * fields.above_zero("prefill_latency", "seconds"),
    )
    if "median_decode_latency" not in fields.data:
        return figure
    step_s = fields.above_zero("median_decode_latency", "seconds")
    return figure._replace(tpot_ms=1e3 * step_s, throughput=batch / step_s)


def _served(fields: Fields) -> Figure:
    """Vllm bench serve and SGLang bench_serving: a client's view of a server under load."""
    is_sglang = "mean_e2e_latency_ms" in fields.data
    completed = fields.above_zero("completed", "requests")
    tpot = "median_tpot_ms" if "median_tpot_ms" in fields.data else "mean_tpot_ms"
    tpot_ms = fields.above_zero(tpot, "ms")
    duration = fields.above_zero("duration", "seconds")
    throughput = fields.above_zero("output_throughput", "tokens per second")
    accepted = fields.number("accept_length", "tokens")
    # Sequences that decode at once, by Little's law: each token in flight takes TPOT.
    batch = fields.number("concurrency") or max(throughput * tpot_ms / 1e3, 1.0)
    limit = fields.number("max_concurrency")
    if limit == 1.0:
        batch = 1.0
    remarks = []
    if batch > 1.5:
        remarks.append(_interleaved())
    failed = fields.number("failed") or 0.0
    if failed > 0.0:
        remarks.append(_failed(failed, completed))
    return Figure(
        "sglang bench_serving" if is_sglang else "vllm bench serve",
        f"{completed:g} requests in {duration:.4g} s",
        model=fields.text("model_id"),
        batch=batch,
        prompt=_each(fields, "total_input_tokens", completed),
        output=_each(fields, "total_output_tokens", completed),
        step_tokens=max(accepted or 1.0, 1.0),
        tpot_ms=tpot_ms,
        ttft_ms=fields.number("median_ttft_ms", "ms") or fields.number("mean_ttft_ms", "ms"),
        throughput=throughput,
        remarks=tuple(remarks),
    )


def _each(fields: Fields, total: str, requests: float) -> float | None:
    tokens = fields.number(total, "tokens")
    return None if tokens is None else tokens / requests


def _latency(fields: Fields) -> Figure:
    """Vllm bench latency: seconds of whole requests; batch and lengths are not in the file."""
    seconds = fields.above_zero("avg_latency", "seconds")
    remark = mixed_window(
        f"{seconds:.4g} s is of whole requests, prompt and output together, and the file holds "
        "neither their lengths nor the batch"
    )
    return Figure("vllm bench latency", "whole requests", remarks=(remark,))


def _throughput(fields: Fields) -> Figure:
    """Vllm bench throughput: prompt and output tokens in one rate."""
    rate = fields.above_zero("tokens_per_second", "tokens per second")
    fields.above_zero("elapsed_time", "seconds")
    remark = mixed_window(f"{rate:,.4g} tokens/s counts prompt tokens with the generated ones")
    return Figure("vllm bench throughput", "all requests at once", remarks=(remark,))


def _trtllm(fields: Fields) -> Figure:
    """Trtllm-bench: the report of a throughput or latency run."""
    world, requests = fields.inner("world_info"), fields.inner("request_info")
    performance, streaming = fields.inner("performance"), fields.inner("streaming_metrics")
    engine = fields.inner("engine")
    throughput = performance.above_zero("system_output_throughput_tok_s", "tokens per second")
    figure = Figure(
        "trtllm-bench",
        f"{requests.number('num_requests') or 0:g} requests",
        model=engine.text("model"),
        hardware=fields.inner("machine").text("name"),
        devices=int(world.number("world_size") or world.number("tp_size") or 1),
        weights=_trtllm_format(engine.text("quantization")),
        kv_cache=_trtllm_format(engine.text("kv_cache_dtype")),
        batch=requests.number("avg_num_concurrent_requests"),
        prompt=requests.number("avg_input_length", "tokens"),
        output=requests.number("avg_output_length", "tokens"),
        throughput=throughput,
    )
    if "avg_tpot_ms" not in streaming.data:
        remark = mixed_window("without --streaming the report times whole requests")
        return figure._replace(remarks=(remark,))
    remarks = (_interleaved(),) if (figure.batch or 1.0) > 1.5 else ()
    return figure._replace(
        tpot_ms=streaming.above_zero("avg_tpot_ms", "ms"),
        ttft_ms=streaming.number("avg_ttft_ms", "ms"),
        remarks=remarks,
    )


def _trtllm_format(name: str | None) -> str | None:
    return None if name is None or name.lower() in {"none", "no_quant", "auto"} else name.lower()


def _aiperf(fields: Fields) -> Figure:
    """AIPerf and genai-perf: metrics with units; the middle one, or the mean."""
    between = _metric(fields, "inter_token_latency")
    throughput = fields.inner("output_token_throughput").above_zero("avg", "tokens per second")
    settings = fields.inner("input_config")
    batch = settings.inner("loadgen").number("concurrency")
    if batch is None:
        stimulus = settings.inner("perf_analyzer").inner("stimulus")
        batch = stimulus.number("concurrency")
    batch = batch or max(throughput * between / 1e3, 1.0)
    names = settings.data.get("model_names") or settings.inner("endpoint").data.get("model_names")
    ours = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else None
    first = fields.data.get("time_to_first_token")
    return Figure(
        "AIPerf",
        f"concurrency {batch:.4g}",
        model=ours,
        batch=batch,
        prompt=_mean_tokens(fields, "input_sequence_length"),
        output=_mean_tokens(fields, "output_sequence_length"),
        tpot_ms=between,
        ttft_ms=None if first is None else _metric(fields, "time_to_first_token"),
        throughput=throughput,
        remarks=(_interleaved(),) if batch > 1.5 else (),
    )


def _metric(fields: Fields, name: str) -> float:
    inner = fields.inner(name)
    which = "p50" if "p50" in inner.data else "avg"
    value = inner.above_zero(which)
    return milliseconds(value, inner.text("unit") or "ms", f"{fields.path}: {name}")


def _mean_tokens(fields: Fields, name: str) -> float | None:
    return fields.inner(name).number("avg", "tokens")


def _interleaved() -> Remark:
    return Remark(
        "MEA003",
        "info",
        "under load, prompts of other requests are processed between the tokens: part of this "
        "TPOT is prefill",
        "--max-concurrency 1, or an engine's own decode step time",
    )


def _failed(failed: float, completed: float) -> Remark:
    return Remark(
        "MEA003",
        "warning",
        f"{failed:g} of {failed + completed:g} requests failed: the load was not the one asked for",
        "a run in which all requests complete",
    )


_FORMS: Final[tuple[tuple[tuple[str, ...], Callable[[Fields], Figure]], ...]] = (
    (("batch_size", "prefill_latency", "output_len"), _one_batch),
    (("completed", "duration", "output_throughput", "mean_tpot_ms"), _served),
    (("avg_latency", "latencies"), _latency),
    (("elapsed_time", "tokens_per_second", "num_requests"), _throughput),
    (("performance", "request_info"), _trtllm),
    (("inter_token_latency", "output_token_throughput"), _aiperf),
)
"""Fields by which a form is told, and its reader."""
