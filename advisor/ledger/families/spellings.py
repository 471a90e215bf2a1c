"""How configs write things: keys by role, keys that change nothing, and what a value may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "hidden": ("hidden_size", "n_embd", "n_embed", "d_model", "embed_dim"),
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads", "num_attention_groups"),
    "head_dim": ("head_dim", "kv_channels"),
    "value_dim": ("v_head_dim",),
    "intermediate": ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size"),
    "vocabulary": ("vocab_size", "padded_vocab_size"),
    "positions": (
        "max_position_embeddings",
        "n_positions",
        "max_seq_len",
        "max_sequence_length",
        "seq_length",
        "model_max_length",
        "context_length",
        "n_ctx",
    ),
    "window": ("sliding_window", "sliding_window_size"),
    "experts": ("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"),
    "top_k": (
        "num_experts_per_tok",
        "num_experts_per_token",
        "experts_per_token",
        "top_k_experts",
        "moe_topk",
        "moe_top_k",
        "moe_k",
    ),
    "expert_width": ("moe_intermediate_size",),
    "shared_experts": (
        "n_shared_experts",
        "num_shared_experts",
        "moe_num_shared_experts",
        "num_shared_expert",
    ),
    "moe_layers": ("moe_layers", "moe_layers_enum"),
    "layer_types": ("layer_types", "layers_block_type"),
    "mtp_layers": ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"),
    "sliding_window_pattern": ("sliding_window_pattern", "_sliding_window_pattern"),
    "n_groups": ("n_groups", "mamba_num_groups"),
    "ssm_state_size": ("ssm_state_size", "mamba_state_dim"),
    "no_rope_layer_interval": ("no_rope_layer_interval", "nope_layer_interval"),
    "qkv_bias": ("qkv_bias", "attention_bias"),
    "linear_bias": ("bias", "mlp_bias"),
    "tied": ("tie_word_embeddings", "tie_embedding"),
}
"""The keys under which the families write each dimension, the most common first."""

LIMITS: Final[Mapping[str, int]] = {"layers": 10_000, "vocabulary": 2**25, "positions": 2**40}
DEFAULT_LIMIT: Final = 2**24
"""No published dimension comes near these; beyond them a config is absurd, not large."""

LAYOUTS: Final = (
    "layer_types",
    "mlp_layer_types",
    "sliding_window_pattern",
    "moe_layers",
    "moe_layers_enum",
    "moe_layer_freq",
    "first_k_dense_replace",
    "num_dense_layers",
    "interleave_moe_layer_step",
    "decoder_sparse_step",
    "mlp_only_layers",
    "moe_layer_interval",
    "moe_layer_start_index",
    "moe_layer_end_index",
)
"""Keys that lay out the layers in different words: one of them decides, the others repeat it."""

_STRUCTURAL_WORDS: Final = """
hidden layer layers head heads dim dims size sizes expert experts rank width window mlp ffn attn
attention conv ssm kv intermediate share shared latent moe mtp nextn mamba linear depth altup
laurel lora adapter vocab embed embedding embeddings channel channels group groups block blocks
ratio ratios bias norm
"""
STRUCTURAL: Final = frozenset(_STRUCTURAL_WORDS.split())
"""Words of a key that speak of what a model is made of."""

_HARMLESS_WORDS: Final = """
dropout pdrop layerdrop token tokens initializer init std coef loss dtype rope rotary eps
epsilon softcap softcapping fp32 multiplier scaling scalar scale implementation impl backend
kernels fusion act activation temperature limit ngram threshold clip factor beams labels logits
"""
HARMLESS: Final = frozenset(_HARMLESS_WORDS.split())
"""Words of a key that speak of training, numerics or generation."""

_STARTS: Final = """
output_ summary_ time_step mup_ fuse_ is_ max_length min_length chunk_size mask_ image_ video_
audio_ vision_ mm_ boi_ eoi_ tile_ num_beam num_return num_special use_cache
"""
HARMLESS_STARTS: Final = tuple(_STARTS.split())

_HARMLESS_NAMES: Final = """
add_cross_attention cross_attention_hidden_size tie_encoder_decoder pruned_heads
chunk_size_feed_forward attention_softmax_in_fp32 scale_attn_weights max_window_layers
original_max_position_embeddings initial_context_length topk_group n_group num_expert_group
norm_topk_prob routed_scaling_factor ep_size pretraining_tp moe_layer_freq seq_aux
classifier_proj_size use_weighted_layer_sum max_tokenizer_truncation max_position_embeddings
sliding_window use_sliding_window cache_implementation scale_attn_by_inverse_layer_idx
reorder_and_upcast_attn head_dim qk_head_dim rope_head_dim attention_dropout scale_embedding
embedding_initializer_range gradient_checkpointing moe_router_activation_func use_flash_attn
use_flash_attn_2 use_logn_attn use_flash_attention attn_implementation problem_type
apply_query_key_layer_scaling attention_value_scale tokenizer_class layer_norm_eps
layer_norm_epsilon rms_norm_eps norm_eps num_key_value_heads seq_length use_mamba_kernels
mamba_ssm_dtype moe_router_dtype use_mem_eff_path rescale_prenorm_residual residual_in_fp32
unused_token_ids tensor_parallel_size bnb_4bit_compute_dtype neftune_noise_alpha moe_renormalize
use_grouped_topk quantization quantization_config compression_config type_vocab_size
dim_model_base norm_type mlp_type num_nextn_predict_layers
"""
HARMLESS_KEYS: Final = frozenset(_HARMLESS_NAMES.split())
"""Keys with structural-looking names that add or resize nothing."""

NOT_PARTS: Final = frozenset(
    {
        "quantization_config",
        "compression_config",
        "generation_config",
        "img_token_compression_config",
        "projector_config",
    }
)
"""Nested objects that are no part of the model."""
