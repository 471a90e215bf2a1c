"""What llama.cpp calls the tensors of a layer, and what its files leave unsaid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from advisor.ledger.shapes import Component

_A, _M, _E, _S, _R, _N, _C, _B = (
    Component.ATTENTION,
    Component.MLP,
    Component.EXPERTS,
    Component.SHARED_EXPERTS,
    Component.ROUTER,
    Component.NORMS,
    Component.STATE,
    Component.EMBEDDING,
)
IN_LAYER: Final[Mapping[str, tuple[str, Component]]] = {
    "attn_q": ("q_proj", _A), "attn_k": ("k_proj", _A), "attn_v": ("v_proj", _A),
    "attn_qkv": ("qkv_proj", _A), "attn_output": ("o_proj", _A), "attn_gate": ("q_gate_proj", _A),
    "attn_q_a": ("q_a_proj", _A), "attn_q_b": ("q_b_proj", _A),
    "attn_kv_a_mqa": ("kv_a_proj", _A), "attn_kv_b": ("kv_b_proj", _A),
    "attn_k_b": ("kv_b_proj.keys", _A), "attn_v_b": ("kv_b_proj.values", _A),
    "attn_sinks": ("sinks", _A), "attn_norm": ("input_norm", _N),
    "attn_norm_2": ("input_norm_2", _N), "attn_post_norm": ("post_attention_norm", _N),
    "post_attention_norm": ("post_attention_norm", _N), "attn_q_norm": ("q_norm", _N),
    "attn_k_norm": ("k_norm", _N), "attn_sub_norm": ("attention_sub_norm", _N),
    "attn_q_a_norm": ("q_a_norm", _N), "attn_kv_a_norm": ("kv_a_norm", _N),
    "ffn_norm": ("post_attention_norm", _N), "ffn_post_norm": ("post_feedforward_norm", _N),
    "post_ffw_norm": ("post_feedforward_norm", _N), "ffn_sub_norm": ("ffn_sub_norm", _N),
    "pre_ffw_norm": ("pre_feedforward_norm", _N), "layer_output_norm": ("output_norm", _N),
    "post_ffw_norm_1": ("post_mlp_norm", _N), "post_ffw_norm_2": ("post_experts_norm", _N),
    "pre_ffw_norm_2": ("pre_experts_norm", _N),
    "indexer.k_norm": ("indexer.k_norm", _N), "indexer.proj": ("indexer.weights_proj", _A),
    "indexer.attn_k": ("indexer.k_proj", _A), "indexer.attn_q_b": ("indexer.q_b_proj", _A),
    "ffn_gate": ("gate_proj", _M), "ffn_up": ("up_proj", _M), "ffn_down": ("down_proj", _M),
    "ffn_gate_inp": ("router", _R), "exp_probs_b": ("router.selection_bias", _R),
    "ffn_gate_exps": ("gate_proj", _E), "ffn_up_exps": ("up_proj", _E),
    "ffn_down_exps": ("down_proj", _E), "ffn_gate_up_exps": ("gate_up_proj", _E),
    "ffn_gate_shexp": ("gate_proj", _S), "ffn_up_shexp": ("up_proj", _S),
    "ffn_down_shexp": ("down_proj", _S), "ffn_gate_inp_shexp": ("shared_expert_gate", _R),
    "ffn_latent_down": ("latent_down_proj", _E), "ffn_latent_up": ("latent_up_proj", _E),
    "ssm_in": ("in_proj", _C), "ssm_conv1d": ("conv1d", _C), "ssm_x": ("x_proj", _C),
    "ssm_dt": ("dt_proj", _C), "ssm_a": ("A_log", _C), "ssm_d": ("D", _C),
    "ssm_out": ("out_proj", _C),
    "ssm_norm": ("norm", _C), "ssm_ba": ("in_proj_ba", _C), "ssm_beta": ("in_proj_b", _C),
    "ssm_alpha": ("in_proj_a", _C), "ssm_dt_norm": ("dt_norm", _C), "ssm_b_norm": ("b_norm", _C),
    "ssm_c_norm": ("c_norm", _C), "shortconv.conv": ("conv1d", _C),
    "shortconv.in_proj": ("in_proj", _C), "shortconv.out_proj": ("out_proj", _C),
    "inp_gate": ("per_layer_input_gate", _M), "proj": ("per_layer_projection", _M),
    "post_norm": ("per_layer_norm", _N), "laurel_l": ("laurel.left_proj", _M),
    "laurel_r": ("laurel.right_proj", _M), "laurel_post_norm": ("laurel.norm", _N),
    "altup_correct_coef": ("altup.correction_coefs", _M),
    "altup_correct_scale": ("altup.correct_output_scale", _M),
    "altup_predict_coef": ("altup.prediction_coefs", _M),
    "altup_router": ("altup.modality_router", _M), "altup_router_norm": ("altup.router_norm", _N),
    "layer_output_scale": ("layer_scale", _N),
}  # fmt: skip
OUTSIDE: Final[Mapping[str, tuple[str, Component]]] = {
    "token_embd": ("embed_tokens", _B), "position_embd": ("embed_positions", _B),
    "token_embd_norm": ("embed_norm", _N), "output_norm": ("final_norm", _N),
    "output": ("lm_head", Component.LM_HEAD),
    "per_layer_token_embd": ("embed_tokens_per_layer", _B),
    "per_layer_model_proj": ("per_layer_model_projection", _B),
    "per_layer_proj_norm": ("per_layer_projection_norm", _N),
    "altup_proj": ("altup_projections", _B), "altup_unembd_proj": ("altup_unembed_projections", _B),
}  # fmt: skip
TABLES: Final = frozenset({"embed_tokens", "embed_tokens_per_layer"})
BUFFERS: Final = ("rope_freqs", "rope_factors_long", "rope_factors_short")
FULL_EVERY: Final[Mapping[str, int]] = {
    "gemma2": 2, "gemma3": 6, "gemma3n": 5, "cohere2": 4, "gpt-oss": 2, "exaone4": 4, "olmo2": 4,
}  # fmt: skip
"""Where the file gives a window but no pattern: every n-th layer attends to everything."""
ALL_SLIDE: Final = frozenset({"llama", "mistral", "starcoder2", "phi3"})
