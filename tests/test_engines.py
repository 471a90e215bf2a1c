"""Engines by the names people write, and what each runs on a device."""

from __future__ import annotations

import pytest
import yaml

from advisor.catalog.engines import all_engines, compile_engines, resolve_engine
from advisor.catalog.hardware import device
from advisor.catalog.store import FOLDER


@pytest.mark.parametrize(
    ("text", "identifier", "version"),
    [
        ("vLLM", "vllm", None),
        ("vllm==0.6.3", "vllm", "0.6.3"),
        ("SGLang v0.5.9", "sglang", "0.5.9"),
        ("TRT-LLM", "tensorrt-llm", None),
        ("TensorRT LLM 1.0", "tensorrt-llm", "1.0"),
        ("llama.cpp b4500", "llama.cpp", "b4500"),
        ("llama.cpp (Vulkan)", "llama.cpp-vulkan", None),
        ("Ollama", "ollama", None),
        ("ExLlamaV2", "exllamav2", None),
        ("Hugging Face Transformers", "hf-eager", None),
        ("MLX-LM", "mlx", None),
        ("bitsandbytes", "bitsandbytes", None),
        ("AutoAWQ", "autoawq", None),
    ],
)
def test_an_engine_is_found_as_people_write_it(
    text: str, identifier: str, version: str | None
) -> None:
    found = resolve_engine(text)
    assert (found.id, found.version, found.known) == (identifier, version, True)


def test_an_engine_nobody_knows_is_kept_by_its_name() -> None:
    found = resolve_engine("vlm-turbo 3")
    assert not found.known
    assert found.id == "unknown"
    assert found.label == "vlm-turbo 3"
    assert "vLLM" in resolve_engine("vlm").nearest


@pytest.mark.parametrize(
    ("hardware", "kernels"),
    [
        ("nvidia-rtx-4090", "llama.cpp-cuda"),
        ("apple-m2-ultra", "llama.cpp-metal"),
        ("amd-rx-7900-xtx", "llama.cpp-hip"),
        ("intel-arc-b580", "llama.cpp-sycl"),
        ("raspberry-pi-5", "llama.cpp-cpu"),
    ],
)
def test_llama_cpp_runs_the_kernels_of_the_device(hardware: str, kernels: str) -> None:
    assert resolve_engine("llama.cpp").kernel_set(device(hardware)) == kernels


@pytest.mark.parametrize(
    ("version", "era"),
    # b1742 was built on the last day of 2023, b4410 on the last of 2024.
    [("b1300", "2023"), ("b2836", "2024"), ("b6077", None), ("2023-09", "2023"), ("0.5", None)],
)
def test_old_builds_of_llama_cpp_are_told_apart(version: str, era: str | None) -> None:
    assert resolve_engine("llama.cpp", version).era == era


def test_eager_engines_have_no_graphs_and_say_what_the_host_takes() -> None:
    eager = resolve_engine("transformers")
    assert not eager.graphs
    assert 0 < eager.host.low < eager.host.typical < eager.host.high
    assert resolve_engine("vllm").graphs


def test_every_engine_says_what_it_rests_on() -> None:
    assert all(engine.evidence for engine in all_engines().values())


def test_one_name_belongs_to_one_engine() -> None:
    source = yaml.safe_load((FOLDER / "engines.yaml").read_text(encoding="utf-8"))
    source["engines"].append({**source["engines"][0], "id": "twin", "label": "Twin"})
    with pytest.raises(ValueError, match=r"is both twin and llama\.cpp"):
        compile_engines(source)
