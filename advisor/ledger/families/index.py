"""Which module knows a model_type: families are imported only when a config needs them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_MODULES: Final = {
    "dense": (
        "llama mistral ministral ministral3 qwen2 qwen3 mimo gemma gemma2 vaultgemma "
        "gemma3_text phi phi3 phi3small gpt2 gpt_bigcode gpt_neo gptj codegen gpt_neox opt "
        "bloom mpt falcon persimmon stablelm starcoder2 cohere cohere2 olmo olmo2 olmo3 "
        "granite granite_swa cwm nemotron arcee apertus helium hunyuan_v1_dense bitnet jais2 "
        "iquestcoder smollm3 seed_oss ernie4_5 exaone exaone4 glm glm4 glm4v_text "
        "muse_glimmer_text kosmos_2_5_text_model chatglm qwen baichuan internlm internlm2 "
        "internlm3 minicpm orion xverse "
    ),
    "experts": (
        "mixtral qwen2_moe qwen3_moe olmoe flex_olmo gpt_oss granitemoe granitemoeshared "
        "phimoe dbrx deepseek ernie4_5_moe glm4_moe sarvam_moe dots1 solar_open minimax_m2 "
        "afmoe hy_v3 hunyuan_v1_moe exaone_moe mimo_v2_flash laguna kolibri1 mellum "
        "cohere2_moe minimax_m3 ernie4_5_vl_moe_text glm4v_moe_text step3p7_text step3p5 "
        "llama4_text beam "
    ),
    "latent": (
        "deepseek_v2 deepseek_v3 kimi_k2 deepseek_v32 glm_moe_dsa glm4_moe_lite axk1 mistral4 "
        "sarvam_mla minicpm3 youtu "
    ),
    "hybrid": (
        "qwen3_next qwen3_5_text qwen3_5_moe_text olmo_hybrid kimi_linear bailing_hybrid "
        "minimax minimax_text_01 mamba falcon_mamba mamba2 jamba bamba falcon_h1 "
        "granitemoehybrid nemotron_h lfm2 lfm2_moe "
    ),
    "gemma": ("gemma3n_text gemma4_text "),
    "hyper": ("deepseek_v4 deepseek_ref glm5_next_text hy_v4_vl_text "),
    "crossed": ("mllama_text_model t5 mt5 umt5 whisper "),
    "reused": ("zamba zamba2 "),
    "searched": ("nemotron-nas "),
}

FAMILY_MODULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        model_type: f"advisor.ledger.families.{module}"
        for module, types in _MODULES.items()
        for model_type in types.split()
    }
)
