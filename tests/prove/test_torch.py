"""The whole command with torch on a tiny model; skipped where the extra is not installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor import cli

torch = pytest.importorskip("torch")

# Wide enough for the packed 4-bit kernel, which takes multiples of 128; 0.7 million weights.
TINY = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 128,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 512, "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}  # fmt: skip
MIXTURE = TINY | {
    "model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 4,
    "num_experts_per_tok": 2,
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small probes, and the number of threads as it was."""
    module = pytest.importorskip("advisor.prove.torch_machine")
    monkeypatch.setattr(module, "_LARGEST_PROBE", 4e6)
    monkeypatch.setattr(module, "_MATMUL_SIZE", {"cpu": 64})
    monkeypatch.setattr(module.TorchMachine, "cache_bytes", 1e6)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def prove(folder: Path, config: dict[str, object], *options: str) -> int:
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return cli.run(
        ["prove", "--model", str(path), "--device", "cpu", "--threads", "1", "--context", "16",
         "--rounds", "3", *options]
    )  # fmt: skip


@pytest.mark.parametrize("config", [TINY, MIXTURE], ids=["dense", "mixture of experts"])
def test_a_tiny_model_is_measured_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], config: dict[str, object]
) -> None:
    saved, drawn = tmp_path / "prove.json", tmp_path / "sweep.svg"
    assert prove(tmp_path, config, "--save", str(saved), "--svg", str(drawn)) == 0
    out, _err = capsys.readouterr()
    assert "predicted against measured" in out
    run = json.loads(saved.read_text())
    assert run["ended"] == "done"
    assert {trial["group"] for trial in run["trials"]} == {"placebo", "weights", "batch", "context"}
    names = {trial["name"] for trial in run["trials"]}
    assert {"int8 weights", "int4-g128 weights", "bf16 weights"} <= names, run["notes"]
    assert all(time > 0.0 for trial in run["trials"] for time in trial["times_ms"])
    assert drawn.read_text().startswith("<svg")
    assert cli.run(["prove", "--from", str(saved)]) == 0


def test_a_device_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has one")
    path = tmp_path / "config.json"
    path.write_text(json.dumps(TINY))
    assert cli.run(["prove", "--model", str(path), "--device", "cuda"]) == 2
    assert "no cuda device here; torch sees cpu" in capsys.readouterr().err


def test_the_clock_of_a_core_needs_one_thread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove(tmp_path, TINY, "--threads", "2", "--clock", "cpu") == 2
    assert "--threads 1" in capsys.readouterr().err


def test_half_the_weights_of_the_placebo_are_zero() -> None:
    from advisor.deployment import Deployment  # noqa: PLC0415
    from advisor.ledger.architecture import read_architecture  # noqa: PLC0415
    from advisor.prove.experiments import Variant  # noqa: PLC0415
    from advisor.prove.torch_step import Weights  # noqa: PLC0415

    model = read_architecture(TINY, name="tiny")
    deployment = Deployment(model, "H100 SXM", weights="fp32", lm_head="fp32")
    built = Weights(Variant("zeros", deployment, zeros=0.5), "cpu", torch.float32, 1)
    # 2 layers of 2 * 128 * 128 + 2 * 64 * 128 + 3 * 128 * 512 weights, and the tied head.
    assert built.arena.used_bytes == 4 * (2 * (49_152 + 196_608) + 512 * 128)
    used = built.arena.block.view(torch.float32)[: built.arena.used_bytes // 4]
    assert 0.45 < float((used == 0).float().mean()) < 0.55


def test_weights_lie_side_by_side() -> None:
    from advisor.prove.torch_step import Arena  # noqa: PLC0415

    arena = Arena("cpu")
    first = arena.take((3, 5), torch.float32)
    second = arena.take((4,), torch.int8)
    assert second.data_ptr() - first.data_ptr() == 256
    assert (first.shape, second.dtype) == ((3, 5), torch.int8)
