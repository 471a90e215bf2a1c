"""What `advise` says, against what is known to pay and not to pay at batch-1 decode."""

from __future__ import annotations

import json

import pytest

from advisor.advise import IDEAS, Ranking, advise
from advisor.cli import run
from advisor.deployment import Deployment
from advisor.levers import LEVERS, lever_class
from advisor.roofline import predict


def labels(ranking: Ranking) -> list[str]:
    return [advice.label for advice in ranking.helping]


def useless(ranking: Ranking) -> dict[str, str]:
    return {advice.label: advice.reason(ranking.goal) for advice in ranking.useless}


def test_every_idea_is_a_lever_of_the_dialect() -> None:
    for idea in IDEAS:
        assert idea.kind in LEVERS
        lever_class(idea.kind).model_validate({"kind": idea.kind, **idea.fields})
        assert idea.risk in {"none", "small", "some", "high"}


def test_at_batch_one_fewer_weight_bytes_lead_and_flops_gain_nothing() -> None:
    ranking = advise(Deployment("Llama-3.1-8B", "A100 80GB SXM", context=512))
    order = labels(ranking)
    # Measured on this card (gpt-fast, torchao): int4 1.9x, int8 1.6x, in this order.
    assert order.index("int4-g128 weights") < order.index("int8 weights")
    gains = {advice.label: advice.gain for advice in ranking.helping}
    assert gains["int4-g128 weights"].low < 1.89 * 1.2
    assert gains["int4-g128 weights"].high > 1.88 * 0.95
    reasons = useless(ranking)
    assert reasons["prune 50%, stored dense"] == "same bytes per token"
    assert reasons["prune 25% of heads, masked"] == "same bytes per token"
    assert reasons["FlashAttention-3"] == "acts on the prompt"
    assert reasons["batch 32"] == "more users, none faster"
    assert "host link" in reasons["4 GB of weights on the host"]


def test_with_a_large_batch_and_long_context_the_cache_comes_first() -> None:
    # 64 sequences of 16k: 137 GB of KV against 15 GB of weights.
    ranking = advise(Deployment("Llama-3.1-8B", "H200", batch=64, context=16384))
    order = labels(ranking)
    assert order.index("fp8 KV cache") < order.index("fp8 weights")


def test_throughput_asks_for_batch_and_memory_for_bytes() -> None:
    base = Deployment("Llama-3.1-8B", "H100 SXM")
    assert labels(advise(base, goal="throughput"))[0] == "batch 32"
    freed = advise(base, goal="memory").helping[0]
    assert freed.label == "int3-g128 weights"
    # 6.98 billion linears from 16 to 3.125 bits free 11.2 GB.
    assert freed.freed_bytes == pytest.approx(6_979_321_856 * (16 - 3.125) / 8, rel=1e-3)


def test_stacks_combine_what_does_not_exclude_each_other() -> None:
    ranking = advise(Deployment("Llama-3.1-8B", "H100 SXM"), stack=3)
    best = ranking.helping[0].gain.mid
    assert len(ranking.stacks) == 5
    for stack in ranking.stacks:
        assert stack.gain.mid > best
        assert 2 <= len({idea.slot for idea in stack.ideas}) == len(stack.ideas) <= 3


def test_devices_that_are_not_there_are_not_counted_on() -> None:
    base = Deployment("Llama-3.1-70B", "2 x H100 SXM")
    assert not any("tensor parallel" in label for label in labels(advise(base)))
    assert "tensor parallel 8" in labels(advise(base, max_devices=8))


def test_what_must_fit_fits() -> None:
    base = Deployment("Llama-3.1-70B", "H100 SXM")
    ranking = advise(base, must_fit=True, stack=2)
    assert ranking.helping
    assert all(advice.fits for advice in (*ranking.helping, *ranking.stacks))
    assert any(not advice.fits for advice in advise(base).helping)


def test_what_is_there_is_not_advised() -> None:
    int4 = Deployment("Llama-3.1-8B", "H100 SXM", weights="int4-g128")
    tried = [*labels(advise(int4)), *useless(advise(int4))]
    assert "int4-g128 weights" not in tried
    assert "fp8 weights" not in tried
    assert "CUDA graphs" not in tried
    eager = Deployment("Llama-3.1-8B", "H100 SXM", engine="transformers")
    assert "CUDA graphs" in labels(advise(eager))


def test_the_command_in_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["advise", "--model", "llama-3.1-8b", "--hardware", "RTX 4090"]) == 0
    text = capsys.readouterr().out
    assert "what would not help" in text
    assert run(["advise", "--model", "llama-3.1-8b", "--stack", "2", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["helping"][0]["speedup"]["mid"] >= record["helping"][1]["speedup"]["mid"]
    assert all(len(stack["levers"]) == 2 for stack in record["stacks"])
    assert all(item["reason"] for item in record["not_helping"])


def test_an_unknown_model_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["advise", "--model", "Lama-3.1-8B"]) == 2
    assert "Llama-3.1-8B" in capsys.readouterr().err


# Milliseconds per token as published: gpt-fast and torchao on an A100, exllamav2 on an RTX 4090,
# ik_llama.cpp on an M2 Max.
MEASURED: dict[tuple[str, str, str], dict[str, float]] = {
    ("Llama-2-7B", "A100 80GB SXM", "gpt-fast"): {"bf16": 9.53, "int8": 6.43, "int4-g32": 5.08},
    ("Llama-3-8B", "A100 80GB SXM", "torchao"): {"bf16": 10.35, "int8": 6.33, "int4-g64": 5.31},
    ("Llama-2-7B", "RTX 4090", "exllamav2"): {"5bpw": 5.59, "4bpw": 4.74, "3bpw": 3.89},
    ("Llama-3-8B", "M2 Max", "llama.cpp"): {"fp16": 45.93, "q4_0": 16.66},
}


@pytest.mark.parametrize("where", MEASURED, ids="|".join)
def test_formats_rank_as_they_were_measured(where: tuple[str, str, str]) -> None:
    model, hardware, engine = where
    predicted = {
        form: predict(
            Deployment(model, hardware, engine=engine, weights=form, context=105)
        ).expected_ms.mid
        for form in MEASURED[where]
    }
    assert sorted(predicted, key=predicted.__getitem__) == sorted(
        MEASURED[where], key=MEASURED[where].__getitem__
    )
    for form, measured_ms in MEASURED[where].items():
        assert predicted[form] == pytest.approx(measured_ms, rel=0.25)
