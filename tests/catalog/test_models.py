import random
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog import compile as compiler
from advisor.catalog.models import (
    load_config,
    load_model,
    model_names,
    model_record,
    resolve_model,
)
from advisor.catalog.names import UnknownNameError

FOLDER = Path(compiler.__file__).parent
NAMES = yaml.load(
    (FOLDER / "model_names.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
)


def only(text: str) -> str:
    match = resolve_model(text)
    assert match.unique is not None, (text, match)
    return match.unique


def test_every_config_has_a_source_and_a_model_type() -> None:
    assert len(model_names()) >= 269
    for repo in model_names():
        record, config = model_record(repo), load_config(repo)
        assert record.source
        assert record.confidence in {"exact", "explained", "unverified"}
        text = config.get("text_config", config)
        assert config.get("model_type") or text.get("model_type"), repo


def test_a_config_belongs_to_its_caller() -> None:
    load_config("openai-community/gpt2")["n_layer"] = 1
    assert load_config("openai-community/gpt2")["n_layer"] == 12


@pytest.mark.parametrize(
    ("repo", "published"),
    [
        # Totals as the hosts of the checkpoints print them.
        ("meta-llama/Meta-Llama-3.1-8B", 8_030_261_248),
        ("meta-llama/Meta-Llama-3.1-70B", 70_553_706_496),
        ("huggyllama/llama-30b", 32_528_943_616),
        ("huggyllama/llama-65b", 65_285_660_672),
        ("openlm-research/open_llama_3b", 3_426_473_600),
        ("JackFram/llama-160m", 162_417_408),
        ("princeton-nlp/Sheared-LLaMA-1.3B", 1_345_423_360),
        ("codellama/CodeLlama-7b-hf", 6_738_546_688),
        ("deepseek-ai/deepseek-coder-33b-base", 33_342_991_360),
        ("deepseek-ai/deepseek-llm-7b-base", 6_910_365_696),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 1_777_088_000),
        ("01-ai/Yi-6B", 6_061_035_520),
        ("upstage/SOLAR-10.7B-v1.0", 10_731_524_096),
        ("tiiuae/Falcon3-7B-Base", 7_455_550_464),
        ("mistralai/Mistral-Small-Instruct-2409", 22_247_282_688),
        ("mistralai/Mistral-Large-Instruct-2407", 122_610_069_504),
        ("mistralai/Ministral-8B-Instruct-2410", 8_019_808_256),
        ("Qwen/Qwen1.5-32B", 32_512_218_112),
        ("Qwen/Qwen1.5-72B", 72_287_920_128),
        ("Qwen/Qwen1.5-110B", 111_209_914_368),
        ("microsoft/Phi-3-medium-4k-instruct", 13_960_238_080),
        ("google/gemma-3-270m", 268_098_176),
        ("CohereForAI/c4ai-command-r-plus", 103_810_674_688),
        ("EleutherAI/pythia-12b", 11_846_072_320),
        ("facebook/opt-13b", 12_853_473_280),
        ("bigscience/bloom-7b1", 7_069_016_064),
        ("openai-community/gpt2-xl", 1_557_611_200),
        ("bigcode/starcoder", 15_517_456_384),
        ("tencent/Hunyuan-A13B-Instruct", 80_393_183_232),
    ],
)
def test_configs_meet_the_published_total_to_the_element(repo: str, published: int) -> None:
    assert load_model(repo).total_parameters == published
    assert model_record(repo).parameters in {published, None}


def test_a_checkpoint_with_vision_and_mtp_meets_its_published_total() -> None:
    parts = load_model("Qwen/Qwen3.5-9B").parameters()
    assert sum(parts.values()) == 9_653_104_368


@pytest.mark.parametrize(
    ("text", "repo"),
    [
        ("llama 3.1 70b", "meta-llama/Meta-Llama-3.1-70B"),
        ("Llama-3.1-70B", "meta-llama/Meta-Llama-3.1-70B"),
        ("meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-70B-Instruct"),
        ("Meta-Llama-3.1-70B", "meta-llama/Meta-Llama-3.1-70B"),
        ("LLAMA_3.1_70B", "meta-llama/Meta-Llama-3.1-70B"),
        ("llama31-8b", "meta-llama/Meta-Llama-3.1-8B"),
        ("llama-v3p1-70b-instruct", "meta-llama/Llama-3.1-70B-Instruct"),
        ("meta.llama3-1-70b-instruct-v1:0", "meta-llama/Llama-3.1-70B-Instruct"),
        ("Llama-3.3-70B-Instruct", "meta-llama/Meta-Llama-3.1-70B"),
        ("Llama-3-8B", "meta-llama/Meta-Llama-3.1-8B"),
        ("Llama-2-13b-chat-hf", "meta-llama/Llama-2-13b-hf"),
        ("LLaMA-13B", "meta-llama/Llama-2-13b-hf"),
        ("lmsys/vicuna-7b-v1.5", "meta-llama/Llama-2-7b-hf"),
        ("Code Llama 34b", "codellama/CodeLlama-34b-Instruct-hf"),
        ("DeepSeek-R1-Distill-Llama-8B", "meta-llama/Meta-Llama-3.1-8B"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "Qwen/Qwen2.5-32B-Instruct"),
        ("Qwen2.5-Coder-32B-Instruct", "Qwen/Qwen2.5-32B-Instruct"),
        ("QwQ-32B", "Qwen/Qwen2.5-32B-Instruct"),
        ("qwen25-7b", "Qwen/Qwen2.5-7B-Instruct"),
        ("Qwen3-30B", "Qwen/Qwen3-30B-A3B"),
        ("Qwen3-30B MoE", "Qwen/Qwen3-30B-A3B"),
        ("Qwen3-4B-Instruct-2507", "Qwen/Qwen3-4B"),
        ("teknium/OpenHermes-2.5-Mistral-7B", "mistralai/Mistral-7B-v0.1"),
        ("HuggingFaceH4/zephyr-7b-beta", "mistralai/Mistral-7B-v0.1"),
        ("mistral-nemo", "mistralai/Mistral-Nemo-Instruct-2407"),
        ("Mixtral 8x7B", "mistralai/Mixtral-8x7B-v0.1"),
        ("DeepSeek-V3 671B", "deepseek-ai/DeepSeek-V3"),
        ("Phi-4 14B", "microsoft/phi-4"),
        ("Kimi K2 1T", "moonshotai/Kimi-K2-Instruct"),
        ("gemma 3 27b it", "google/gemma-3-27b-it"),
        ("GPT-OSS 120B", "openai/gpt-oss-120b"),
        ("Command R+", "CohereForAI/c4ai-command-r-plus"),
        ("NVIDIA-Nemotron-3-Nano-30B-A3B", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
        ("bloom-1b7", "bigscience/bloom-1b7"),
        ("bloom-7b1", "bigscience/bloom-7b1"),
        ("gpt2", "openai-community/gpt2"),
        ("qwen3.5:27b", "Qwen/Qwen3.5-27B"),
        ("zhipuai/GLM-5", "zai-org/GLM-5"),
    ],
)
def test_names_as_people_write_them(text: str, repo: str) -> None:
    assert only(text) == repo


@pytest.mark.parametrize(
    ("text", "repo", "precision"),
    [
        ("TheBloke/Llama-2-7B-Chat-GPTQ", "meta-llama/Llama-2-7b-hf", "int4-g128-asym"),
        ("Qwen/Qwen3-8B-AWQ", "Qwen/Qwen3-8B", "int4-g128-asym"),
        ("Qwen2.5-7B-Instruct-GPTQ-Int8", "Qwen/Qwen2.5-7B-Instruct", "int8-g128"),
        ("x/Llama-3.1-8B-quantized.w4a16", "meta-llama/Meta-Llama-3.1-8B", "int4-g128"),
        ("Llama-3.1-8B W8A8", "meta-llama/Meta-Llama-3.1-8B", "int8"),
        ("nvidia/Llama-3.1-8B-Instruct-FP8", "meta-llama/Llama-3.1-8B-Instruct", "fp8"),
        ("Llama-3.3-70B-Instruct-FP8-dynamic", "meta-llama/Meta-Llama-3.1-70B", "fp8-channel"),
        ("nvidia/Qwen3-32B-NVFP4", "Qwen/Qwen3-32B", "nvfp4"),
        ("unsloth/Meta-Llama-3.1-8B-bnb-4bit", "meta-llama/Meta-Llama-3.1-8B", "nf4"),
        ("mlx-community/Qwen2.5-7B-Instruct-4bit", "Qwen/Qwen2.5-7B-Instruct", "int4-g64"),
        ("Meta-Llama-3.1-8B-Q4_K_M.gguf", "meta-llama/Meta-Llama-3.1-8B", "q4_k_m"),
        ("llama3.1:70b-instruct-q8_0", "meta-llama/Llama-3.1-70B-Instruct", "q8_0"),
        ("Llama2-70B-exl2 4.0bpw", "meta-llama/Llama-2-70b-hf", "4.0bpw"),
        ("fp16 llama 2 7b", "meta-llama/Llama-2-7b-hf", "fp16"),
        # The catalog has these as they are quantized: their configs say it themselves.
        ("Qwen3-32B-FP8", "Qwen/Qwen3-32B-FP8", None),
        ("Qwen2.5-72B-Instruct-AWQ", "Qwen/Qwen2.5-72B-Instruct-AWQ", None),
        ("Qwen3-32B", "Qwen/Qwen3-32B", None),
    ],
)
def test_precision_that_stands_only_in_the_name_is_reported(
    text: str, repo: str, precision: str | None
) -> None:
    match = resolve_model(text)
    assert (match.unique, match.quantized_as) == (repo, precision)


@pytest.mark.parametrize(
    "text",
    [
        "Llama", "70B", "8B", "gpu", "H100", "LLM", "MoE", "fp8", "13B fp16", "30B-A3B",
        "20GB model",
        "Mistral", "Qwen", "DeepSeek", "gpt-4", "Llama-5-70B", "Llama-3.1-7B", "Qwen-253B",
        "Qwen3-2.5B", "Llama-3.1-Minitron-4B", "EAGLE3-LLaMA3.1-Instruct-8B", "Phi-4 70B",
        "nvidia/gpt-oss-120b-Eagle3-v3", "Jamba 1.5 Large", "Gemma-4-E2B", "", "  ", "CNN",
    ],
)  # fmt: skip
def test_what_names_no_model_matches_nothing(text: str) -> None:
    assert not resolve_model(text).found


def test_nearest_names_are_offered() -> None:
    assert "Llama-3.1-70B" in resolve_model("Llama-3.1-71B").nearest
    with pytest.raises(UnknownNameError, match="Qwen/Qwen3-8B"):
        load_config("Qwen/Qwen3-8C")


def test_aliases_resolve_to_their_model_and_say_what_differs() -> None:
    for row in NAMES["aliases"]:
        for alias in row["names"]:
            match = resolve_model(alias)
            assert match.candidates == (row["model"],), alias
            assert match.exact
            assert match.note == row["why"]


def test_ambiguous_names_keep_their_candidates() -> None:
    for row in NAMES["ambiguous"]:
        match = resolve_model(row["name"])
        assert list(match.candidates) == row["candidates"]
        assert match.differ
    assert resolve_model("mistral 7b instruct").candidates[0] == "mistralai/Mistral-7B-v0.1"


@given(
    st.sampled_from(model_names()),
    st.randoms(use_true_random=False),
    st.sampled_from(["-", " ", "_", ", "]),
)
def test_case_punctuation_and_word_order_do_not_matter(
    repo: str, chance: random.Random, separator: str
) -> None:
    parts = repo.rsplit("/", maxsplit=1)[-1].replace("_", "-").split("-")
    chance.shuffle(parts)
    written = "".join(chance.choice((c.upper(), c.lower())) for c in separator.join(parts))
    assert resolve_model(written).candidates == (repo,)


@given(st.text(max_size=300))
def test_no_text_breaks_the_matching(text: str) -> None:
    assert set(resolve_model(text).candidates) <= set(model_names())


def test_names_in_published_measurements_resolve() -> None:
    # How the published measurements that the time model is calibrated on name their models.
    named = re.findall(
        r"\S+",
        """
        CodeLlama-7B DeepSeek-R1-671B DeepSeek-R1-Distill-14B DeepSeek-V2-Lite Falcon-7B GLM-4.5-Air
        GPT-J-6B Gemma-1-2B Gemma-2-27B Gemma-3-12B Hunyuan-A13B Llama-1-7B Llama-1-30B Llama-1-65B
        Llama-2-70B Llama-3-70B Llama-3-8B Llama-3.2-1B Llama-3.2-90B-Vision MPT-7B MiniMax-M2.7
        Ministral-3-14B Ministral-8B Mistral-7B Mistral-Nemo-12B Mistral-Small-22B Mistral-Small-24B
        Mixtral-8x7B OpenLlama-3B Phi-3-mini Phi-4-mini Qwen1.5-72B Qwen2.5-3B Qwen3-30B-A3B
        Qwen3.5-27B Qwen3.6-27B Qwen3.6-35B-A3B Qwen3.8-27B TinyLlama-1.1B TriLM-99M Vicuna-7B Yi-6B
        dots.llm1 gemma-4-31B gpt-oss-20b llama-160m llama2-70b llama31-70b qwen3.5-4b-8bit
        qwen3.5-9b-8bit nvidia/DeepSeek-V3.1-NVFP4 moonshotai/Kimi-K2.5 Qwen/Qwen3.5-397B-A17B
        """,
    )
    assert [name for name in named if not resolve_model(name).found] == []
    assert resolve_model("Nemotron-Super-49B (deci)").found


def test_an_alias_of_a_missing_or_second_model_is_refused_by_the_compiler() -> None:
    configs = (FOLDER / "models.json").read_text(encoding="utf-8")
    row = '- {names: ["%s"], model: "%s", why: x}\nambiguous: []\n'
    with pytest.raises(compiler.CatalogError, match="not in the catalog"):
        compiler.compile_models(configs, "aliases:\n" + row % ("New", "a/b"))
    with pytest.raises(compiler.CatalogError, match="also means"):
        compiler.compile_models(configs, "aliases:\n" + row % ("GPT2", "microsoft/phi-4"))
