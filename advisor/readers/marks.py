"""Words in the bytes of a file that make it worth reading: one search before any decoding."""

from __future__ import annotations

import re
from typing import Final

CONFIGURATION_MARKS: Final = re.compile(
    rb"vllm|sglang|tensorrt|trtllm|text-generation|llama|lmdeploy|ollama|mlc|Modifier|modelopt"
    rb"|tensor[-_]?parallel|kv[-_]?cache|quantiz|quant_|load_in_|speculat|draft|compress|prun"
    rb"|spars|layer_range|max[-_]?(?:num[-_]?seqs|model[-_]?len|batch[-_]?size)|NUM_SHARD|QUANTIZE"
    rb"|attn_implementation|torch_compile|pass(?:es)\b|tp[-_]?size|prefix|num_bits|bits|shard"
    rb"|cuda[-_]?graph|gpu[-_]?layers|cache[-_]?type|cache_mode|local_cpu|recent_size|heavy_ratio|generation_strategy|press_name|lm_head|offload_param|maxabs|low_bit|option\.|w_bit|quant-algo|quant_algo|GPTQ|AWQ|gptq|awq|FP8|fp8",
    re.IGNORECASE,
)
"""What a file says that this reader is for; searched in its bytes."""
