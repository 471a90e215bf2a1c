"""Where rules turn: for each limit, proposals on both sides of it.

A case is a proposal with a gap, what is wrong in the gap, what is right there, and the figures that
the finding about the first wrong one states. Of the 8B: 7.50e9 parameters are read for a token
(15.01 GB in 16 bits), a token of context is 128 KiB of cache; an H100 moves 3,350 GB/s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest

from advisor.audit import audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.operands import request_of
from advisor.readers import read
from advisor.rulebook import rule_codes, run
from advisor.source import Source


@dataclass(frozen=True)
class Case:
    rule: str
    wrong: tuple[object, ...]
    right: tuple[object, ...] = ()
    lever: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    severity: Severity | None = None
    confidence: Confidence | None = None
    says: str = ""
    model: str = "Llama-3.1-8B"
    hardware: str = "H100 SXM"
    work: str = "batch: 1, context: 2k"
    extra: str = ""

    def text(self, gap: object) -> str:
        levers = f"levers:\n  - {{{self.lever}}}\n" if self.lever else ""
        text = (
            f"rooflint: 1\nmodel: {self.model}\nhardware: {self.hardware}\n"
            f"workload: {{phase: decode, {self.work}}}\n{self.extra}{levers}"
        )
        return text.replace("{}", str(gap))


def found(rule: str, text: str) -> list[Finding]:
    """What one rule finds alone, the unsure included."""
    reading = read(Source("p.yaml", text))
    assert reading.problems == ()
    told: list[Finding] = []
    for proposal in reading.proposals:
        audited, unknown = audit(proposal)
        assert unknown == ()
        assert audited is not None
        told += run(audited, codes=(rule,), strict=True)
    return told


HIGH, MEDIUM = Confidence.HIGH, Confidence.MEDIUM
ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
STACK = (
    "levers:\n  - {kind: quantize, weights: fp8, claim: 1.6x}\n"
    "  - {kind: quantize, weights: int4-g128, claim: 2.4x}\nclaim: {} tokens/s\n"
)

TWO_IN_FOUR = 'kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: CUTLASS, claim: 1.15x'

CASES = (
    # Batch. The ridge of an H100 is 989e12 / 3.35e12 = 295 FLOP/B, of an A100 312 / 2.039 = 153.
    Case("BAT001", (296, 400), (295, 200), "kind: quantize, weights: int4-g128",
         {"tokens_per_step": 296, "crossover_16_bit_tokens": 989e3 / 3350},
         confidence=HIGH, work="batch: {}, context: 128"),
    # Between the crossovers the linear layers gain 295 / 128 = 2.31x at most, a step less.
    Case("BAT001", ("3.5x", "2.45x"), ("1.9x", "1.5x"),
         "kind: quantize, weights: int4-g128, claim: {} throughput",
         work="batch: 128, context: 64"),
    Case("BAT001", ("int4-g128", "fp8"), ("fp8, activations: fp8",),
         "kind: quantize, weights: {}", work="batch: 400, context: 128"),
    Case("BAT001", ("bf16",), ("fp8",), "kind: quantize, weights: int4-g128",
         work="batch: 400, context: 128", extra="weights: {}\n"),
    # 80 GiB of which 98% are usable, less 16.06 GB of weights and 1 GB: 15 caches of 4.29 GB,
    # and with 5% of grace on what is needed 16.
    Case("BAT004", (17, 40), (16, 10), "",
         {"largest_batch": 15, "kv_bytes_per_sequence": 32_768 * 131_072,
          "available_bytes": 80 * 2**30 * 0.98,
          "needed_bytes": 16.06e9 + 1e9 + 17 * 32_768 * 131_072},
         confidence=HIGH, says="at most 15 sequences", work="batch: {}, context: 32k"),
    Case("BAT004", ("bf16",), ("int8",), "", {"largest_batch": 0}, confidence=MEDIUM,
         says="the weights alone do not fit", model="Llama-3.1-70B", extra="weights: {}\n"),
    # Arithmetic within a large step: its linear layers are past 295 tokens, its cache is most.
    Case("BAT003", (512, 300), (295, 64), "", {}, hardware="8 x H100 SXM",
         work="batch: {}, context: 8k",
         extra="diagnosis: decode at batch {} and 8k context is compute-bound\n"),
    Case("BAT003", ("8k", "4k"), ("64", "256"), "", {}, hardware="8 x H100 SXM",
         work="batch: 512, context: {}", extra="diagnosis: decode at batch 512 is compute-bound\n"),
    # Claims
    Case("CLM003", ("2x", "1.91x", "2.09x"), ("1.88x", "2.12x"),
         "kind: quantize, weights: fp8, claim: {} tokens/s", {"bits_ratio": 16 / 8},
         confidence=HIGH, model="Llama-3.1-70B", hardware="2 x H100 SXM"),
    Case("CLM004", ("3.8x", "3.66x", "5x"), ("3.6x", "2x"), "",
         {"product_of_claims": 1.6 * 2.4, "claimed_speedup": 3.8}, confidence=HIGH,
         model="Llama-3.1-70B", hardware="2 x H100 SXM", extra=STACK),
    # 60% are left: 1 / 0.6 = 1.67x or 2 - 0.6 = 1.4x, 6% more or less.
    Case("CLM005", ("40% faster", "1.67x faster", "1.59x faster", "1.75x faster", "1.48x faster"),
         ("1.53x faster", "1.8x faster", "1.3x faster"),
         'kind: prune, pattern: experts, sparsity: 40%, claim: "40% fewer parameters, {}"',
         {"resource_left": 0.6, "claimed_speedup": 1.4}, model="Qwen3-30B-A3B"),
    # Measurements. 15.14 GB at 1,024 tokens are 4.52 ms at the full rate: half of it at 9.04 ms,
    # 5% more than it at 4.305 ms.
    Case("MEA004", (9.1, 20), (9.0, 5), "", {"mbu": 4.521 / 9.1, "measured_tpot_ms": 9.1},
         severity=INFO, work="batch: 1, context: 1k",
         extra="weights: bf16\nmeasured: {tpot: {} ms}\n"),
    Case("MEA004", (4.3, 2), (4.31, 4.5), "", {"mbu": 4.521 / 4.3}, severity=ERROR,
         says="more than the memory delivers", work="batch: 1, context: 1k",
         extra="weights: bf16\nmeasured: {tpot: {} ms}\n"),
    Case("MEA006", ("1.02x", "1.029x", "1.01x"), ("1.03x", "1.04x", "1x"),
         "kind: quantize, lm_head: int8, claim: {} tokens/s", severity=INFO),
    Case("MEA006", ("8x", "7.65x", "8.35x"), ("7.55x", "8.45x", "1.1x"),
         'kind: fuse, mode: attention, claim: "8x faster attention kernel, so {} tokens/s"',
         {"kernel_speedup": 8}),
    # Storage. Of two tokens both skip a row with 0.75 * 0.75: three quarters of the saving.
    Case("PRE006", ("50%", "70%", "75%"), ("76%", "90%"),
         "kind: activation_sparsity, sparsity: {}", {"union_density": 1 - 0.5**2},
         work="batch: 2, context: 1k"),
    Case("PRE007", (7837, 7809, 7807), (7808, 7872),
         "kind: prune, pattern: channels, sparsity: 29%, storage: removed, width: {}",
         {"width": 7837, "aligned_width": 122 * 64}, model="Llama-2-7B"),
    # 122.45 tiles: the last is 45% full, so 35 of 7,872 columns are wasted.
    Case("PRE007", (7837,), (), says="wastes 0.44% of the work; 7,808", model="Llama-2-7B",
         lever="kind: prune, pattern: channels, sparsity: 29%, storage: removed, width: {}"),
    Case("PRE007", (20, 63), (64,), "kind: prune, pattern: channels, sparsity: 29%,"
         " storage: removed, width: {}", {"aligned_width": 64}, model="Llama-2-7B"),
    # 218.1e6 weights of a layer against 81,920 for each of the rank: as many at 2,662.4.
    Case("PRE005", (2663, 4000), (2662, 1024), "kind: low_rank, rank: {}, claim: 1.2x",
         {"bytes_ratio": 2663 * 81_920 / 218_103_808}),
    # Speculation: g drafted tokens and one more are all that a pass can make.
    Case("SPC002", ("4.3x", "5x"), ("4.2x", "4x"),
         "kind: speculate, method: EAGLE, draft_tokens: 3, claim: {}", {"tokens_per_pass": 4}),
    Case("SPC002", ("2.7x",), ("2.6x",),
         "kind: speculate, method: EAGLE, draft_tokens: 3, tokens_per_pass: 2.5, claim: {}",
         {"tokens_per_pass": 2.5}, says="2.5 tokens leave a pass"),
    Case("SPC002", (3,), (4, 7), "kind: speculate, method: EAGLE, draft_tokens: {}, claim: 4.3x"),
    Case("SPC001", ("2x", "3x"), ("1.2x",),
         "kind: speculate, method: EAGLE, draft_tokens: 3, claim: {}"),
    Case("SPC001", ("",), (", acceptance: 70%", ", tokens_per_pass: 2.5"),
         "kind: speculate, method: EAGLE, draft_tokens: 3, claim: 2x{}"),
    # Devices
    Case("PAR001", ("2x", "4x"), ("1.5x", "1x"), "kind: tensor_parallel, size: 2, claim: {}",
         {"devices_ratio": 2}),
    Case("PAR001", (1, 4), (5, 64), "kind: tensor_parallel, size: 2, claim: 2x",
         work="batch: {}, context: 2k"),
    Case("FLP006", ("+32%",), ("+33%", "+34%", "+100%"),
         "kind: clocks, power: {}", hardware="RTX 4090"),
    Case("FLP006", ("H100 SXM", "A100 80GB SXM"), ("RTX 4090", "RTX 3090"),
         "kind: clocks, power: 2x", hardware="{}"),
    Case("FLP005", ("1979", "1922", "2035"), ("989", "1915", "2045"),
         "kind: matmul_kernel, name: bf16 GEMM, peak: {} TFLOPS, claim: 1.5x",
         {"quoted_tflops": 1979, "dense_tflops": 989}),
    # Two H100 do 1,978 dense: the figure is of both.
    Case("FLP005", ("H100 SXM", "4 x H100 SXM"), ("2 x H100 SXM",), hardware="{}",
         lever="kind: matmul_kernel, name: bf16 GEMM, peak: 1979 TFLOPS, claim: 1.5x"),
    # Seven tenths of 295 tokens are 206.5.
    Case("TXT001", (2, 100, 206), (207, 300), "", {}, work="batch: {}, context: 1k",
         extra="diagnosis: decode at batch {} is compute-bound\n"),
    # 15.01 + 17.18 GB allow 104 tokens/s, 109 with grace; the weights alone 223, 234 with grace.
    Case("KV002", (215, 110, 230), (108, 100, 236), "", {}, work="batch: 1, context: 128k",
         extra="claim: {} tokens/s for one user\n"),
    # 15% of the bytes are cache from 2.65 GB or 20,208 tokens on.
    Case("KV002", (20_300, 24_000), (20_100, 8_000), "", {}, work="batch: 1, context: {}",
         extra="claim: 215 tokens/s for one user\n"),
    Case("KV001", ("1k", "2k", "8k"), ("16k", "32k"),
         "kind: quantize, kv_cache: fp8, claim: 1.5x tokens/s", confidence=HIGH,
         work="batch: 1, context: {}"),
    Case("KV001", (2048,), (), "kind: quantize, kv_cache: fp8, claim: 1.5x tokens/s",
         {"kv_share_of_bytes": 2048 * 131_072 / (15.01e9 + 2048 * 131_072 + 131_072),
          "tokens_where_kv_equals_weights": 15.01e9 / 131_072}, work="batch: 1, context: {}"),
    # Experts: 61.07 GB are stored; 0.9 of it is the least that says "all".
    Case("MOE003", (60, 61, 56), (54, 68, 3), "", {"total_bytes": 61.07e9}, model="Qwen3-30B-A3B",
         extra="diagnosis: each token reads {} GB of weights\n"),
    Case("MOE003", ("30.5B", "28B"), ("27B", "34B", "3B"), "", {}, model="Qwen3-30B-A3B",
         extra="diagnosis: each token reads {} of parameters\n"),
    # A token of the 30B-A3B reads 3.04e9 parameters or 6.1 GB; 1.5 times more or less is told.
    Case("MOE001", (6, 5, 8, 4.2), (20, 60, 3.9, 9.6), "", {}, model="Qwen3-30B-A3B",
         work="batch: 32, context: 1k", extra="diagnosis: a step reads {} GB of weights\n"),
    Case("MOE001", ("3B", "4B"), ("5B", "1.8B"), "", {}, model="Qwen3-30B-A3B",
         work="batch: 32, context: 1k", extra="diagnosis: a step reads {} of parameters\n"),
    Case("MOE001", (4, 32), (1,), "", {}, model="Qwen3-30B-A3B", work="batch: {}, context: 1k",
         extra="diagnosis: a step reads 6 GB of weights\n"),
    # Phases. A prompt of 296 tokens is past the crossover of an H100, one of 295 is not.
    Case("PHS002", (296, "8k"), (295, 100), "kind: quantize, weights: int4-g128,"
         " claim: 2x lower TTFT", {"prompt_tokens": 296, "crossover": 989e3 / 3350},
         work="batch: 1, prompt: {}, output: 100"),
    Case("PHS002", ("1.1x", "2x"), ("1.05x", "1x"),
         "kind: quantize, weights: int4-g128, claim: {} lower TTFT",
         work="batch: 1, prompt: 4k, output: 100"),
    # Units: 900 GB/s are both directions of NVLink; a quarter of 12% is rounding.
    Case("TXT002", (900, 926, 874), (928, 872, 450), "", {"one_way_gbs": 450},
         extra="diagnosis: NVLink moves {} GB/s in each direction\n"),
    # 16.06 GB are stored, 15.01 read: 3% more or less of the former is the slip.
    Case("TXT002", (16, 16.5, 15.6), (16.6, 15.5, 15), "", {"stored_bytes": 16.06e9}, severity=INFO,
         extra="diagnosis: a forward pass reads {} GB per token\n"),
    # Hardware and engines
    Case("HW003", ("V100 SXM2 32GB",), ("A100 80GB SXM", "H100 SXM"), TWO_IN_FOUR, hardware="{}"),
    Case("HW001", ("A100 80GB SXM", "RTX 3090"), ("H100 SXM", "L40S", "RTX 4090"),
         "kind: quantize, weights: fp8, activations: fp8, claim: 1.3x from FP8 tensor cores",
         severity=ERROR, hardware="{}", work="batch: 32, context: 512"),
    Case("HW001", ("3x tokens/s",), ("1.3x tokens/s", "half the memory"), severity=WARNING,
         lever="kind: quantize, weights: fp8, activations: fp8, claim: {}",
         hardware="A100 80GB SXM", work="batch: 32, context: 512"),
    Case("HW002", ("H100 SXM", "A100 80GB SXM"), ("B200",), severity=ERROR, hardware="{}",
         lever="kind: quantize, weights: nvfp4, activations: nvfp4,"
         " claim: 4x from FP4 tensor cores"),
    Case("HW002", ("9x tokens/s",), ("1.5x tokens/s",), severity=WARNING,
         lever="kind: quantize, weights: nvfp4, activations: nvfp4, claim: {}"),
    Case("HW004", ("A100 80GB SXM", "RTX 4090"), ("H100 SXM", "H200"),
         "kind: attention_kernel, name: FlashAttention-3, claim: 1.1x tokens/s",
         {"least_compute_capability": 9.0}, hardware="{}"),
    # Parts of 40 and of 80 GB move 1,555 and 2,039 GB/s: 104 or 136 tokens/s at the very most.
    Case("HW004", ("120", "130"), ("60", "400"),
         "kind: quantize, lm_head: int8, claim: {} tokens/s",
         {"low_gbs": 1555, "high_gbs": 2039}, severity=INFO, hardware="A100"),
    Case("ENG001", ("0.24.0", "0.30.0"), ("0.8.5", "0.8.0"), TWO_IN_FOUR,
         severity=ERROR, extra="engine: {name: vllm, version: {}}\nweights: fp8\n"),
    Case("ENG002", (8,), (4, 1), "kind: attention, variant: gqa, kv_heads: {}",
         says="Llama-3.1-8B"),
    Case("ENG002", ("paged_cache", "continuous_batching", "cuda_graphs"), ("fuse",), "kind: {}",
         severity=INFO, says="vLLM", extra="engine: vllm\n"),
    Case("ENG003", ("Llama-3.2-1B",), ("Llama-3.1-70B",),
         "kind: cuda_graphs, enabled: false", hardware="2 x H100 SXM", model="{}",
         extra="engine: vllm\n"),
    Case("KV003", ("8 x H20", "8 x H200"), (),
         "kind: quantize, kv_cache: fp8, claim: 1.3x tokens/s",
         {"attention_flop_per_byte": 2 * 128 * (576 + 512) / (2 * 576)}, model="DeepSeek-V3",
         hardware="{}", work="batch: 64, context: 16k",
         extra="weights: fp8\nparallelism: {tensor: 8, attention_data: 8}\n"),
    # Memory and links
    Case("KV004", ("2 GB", "0.5 GB"), ("0.01 GB",),
         "kind: offload, kv_cache: {}, claim: 1.1x tokens/s", {"host_bytes": 2e9},
         severity=ERROR, work="batch: 1, context: 32k"),
    Case("KV004", ("",), (), "kind: offload, kv_cache: 2 GB{}", severity=WARNING,
         work="batch: 1, context: 32k"),
    Case("CAP003", ("60", "20"), ("5", "2"), "kind: offload, weights: 8 GB, claim: {} tokens/s",
         {"claimed_tpot_ms": 1e3 / 60}),
    Case("CAP001", ("2x lower TPOT", "1.5x tokens/s"),
         ("twice the sequences", "1.5x throughput", "1.02x tokens/s"),
         "kind: paged_cache, claim: {}", work="batch: 8, context: 4k"),
    Case("BAT002", ("40% lower latency per token", "1.5x tokens/s per user"),
         ("20x throughput", "1.02x tokens/s per user"), "kind: batch, batch: 32, claim: {}"),
    # Ceilings, byte ratios and floors. Weights are 73% of the step: 3.7x if they took no time.
    Case("CLM001", ("5x", "4.5x"), ("3x", "3.5x"),
         "kind: quantize, weights: fp8, claim: {} tokens/s", {"claimed_speedup": 5}),
    Case("CLM001", ("20x throughput", "17x throughput"), ("16x throughput", "10x throughput"),
         "kind: batch, batch: 16, claim: {}", {"ceiling_speedup": 16}),
    # 15.28 -> 8.31 GB are 1.84x, and a tenth more for kernels 2.02x.
    Case("CLM002", ("2.05x", "3x"), ("2x", "1.8x"),
         "kind: quantize, weights: fp8, claim: {} tokens/s", {"byte_ratio": 1.839}),
    # 15.28 GB over 3,350 GB/s are 4.56 ms or 219 tokens/s, with 5% of grace 230.
    Case("CLM006", ("231", "300"), ("229", "200"), "",
         {"floor_tpot_ms": 4.561, "bandwidth_gbs": 3350, "needed_gbs": 3350 * 231 / 219.2},
         severity=ERROR, confidence=HIGH, extra="claim: {} tokens/s for one user\n"),
    Case("CLM007", ("1.5x", "1.06x"), ("1.05x", "1x"),
         "kind: quantize, weights: fp8, claim: {} tokens/s", {"measured_tpot_ms": 40},
         model="Llama-2-7B", hardware="A100 80GB SXM",
         extra="engine: transformers\nmeasured: {tokens_per_second: 25}\n"),
    Case("CLM007", ("25", "40"), ("95", "90"), "kind: quantize, weights: fp8, claim: 1.5x tokens/s",
         model="Llama-2-7B", hardware="A100 80GB SXM",
         extra="engine: transformers\nmeasured: {tokens_per_second: {}}\n"),
    # Splits: heads 32, KV heads 8; a 70B has 64 and 8.
    Case("PAR003", (3, 12), (2, 4, 8), "kind: tensor_parallel, size: {}",
         {"ways": 3, "heads": 32, "kv_heads": 8}, severity=ERROR, says="32 heads"),
    Case("PAR003", (16,), (8,), severity=WARNING, says="8 ways at most", model="Llama-3.1-70B",
         lever="kind: tensor_parallel, size: {}, claim: a sixteenth of the KV cache per GPU"),
    Case("PAR002", (8,), (2,), "kind: tensor_parallel, size: {}, claim: 3x",
         hardware="8 x RTX 4090"),
    # Prompts
    Case("PHS001", ("1.5x tokens/s",), ("1.01x tokens/s", "3x lower TTFT"),
         "kind: prefix_cache, claim: {}"),
    Case("PHS001", ("512", "2k"), ("64k",), work="batch: 1, context: {}",
         lever="kind: attention_kernel, name: FlashAttention-2, claim: 1.2x tokens/s"),
    # Sparse storage and kernels
    Case("PRE002", ("20%", "29%"), ("30%", "50%"),
         "kind: prune, sparsity: {}, storage: bitmap, kernel: SpInfer, claim: 1.3x",
         {"bytes_ratio": 0.8 + 1 / 16, "kernel_break_even_percent": 30}, severity=WARNING,
         hardware="RTX 4090"),
    Case("PRE003", (1, 63), (64,), severity=ERROR, work="batch: {}, context: 512",
         lever='kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: cuSPARSELt, claim: 1.3x'),
    Case("PRE003", ("cuSPARSELt",), ("sparse-marlin", "CUTLASS"), numbers={"rows": 1},
         lever='kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: {}, claim: 1.3x'),
    Case("PRE003", ("",), (), severity=WARNING, confidence=MEDIUM,
         lever='kind: prune, pattern: "2:4", storage: 2:4-packed{}, claim: 1.3x'),
    Case("PRE004", (2, 16), (1,), "kind: quantize, weights: nf4, claim: 2x lower TPOT",
         {"traffic_ratio": (4.5 + 32) / 16}, work="batch: {}, context: 1k"),
    # Verification: 64 x 8 tokens are past 153 x 4.1 / 16; experts that five drafts touch.
    Case("SPC003", (64,), (1, 8), "kind: speculate, method: EAGLE, draft_tokens: 7,"
         " acceptance: 60%, claim: 1.5x", {"tokens_per_step": 64 * 8}, hardware="A100 80GB SXM",
         work="batch: {}, context: 512", extra="weights: int4-g128\n"),
    Case("SPC004", ("50%", "60%"), ("95%",), model="Qwen3-30B-A3B",
         lever="kind: speculate, method: EAGLE, draft_tokens: 5, acceptance: {}, claim: 2x"),
    Case("FLP004", ("2 x L40S",), ("H200", "2 x A100 80GB SXM"),
         "kind: hardware, hardware: {}, claim: 1.5x tokens/s",
         {"bandwidth_ratio": 2 * 864 / 2039, "flops_ratio": 2 * 362 / 312},
         hardware="A100 80GB SXM"),
    # Nobody states the context: the weights alone are 70.56 GB, 47.5 tokens/s, with grace 49.9.
    Case("CLM006", ("50", "60"), ("49.7", "47"), says="47 tokens/s at most", confidence=HIGH,
         model="Llama-3.1-70B", work="batch: 1",
         extra="weights: fp8\nclaim: {} tokens/s for one user\n"),
    # Nobody states the batch: at twice the floor of one sequence it may be that of two.
    Case("CLM006", ("92", "60"), ("40",), confidence=HIGH, model="Llama-3.1-70B",
         work="context: 2k", extra="weights: fp8\nclaim: {} tokens/s\n"),
    Case("CLM006", ("96", "200"), (), confidence=MEDIUM, model="Llama-3.1-70B",
         work="context: 2k", extra="weights: fp8\nclaim: {} tokens/s\n"),
    # From H200 to B200 FLOP/s grow 2.27x and bandwidth 1.67x.
    Case("FLP004", ("2.2x", "1.8x"), ("1.7x",),
         "kind: hardware, hardware: B200, claim: {} tokens/s",
         {"bandwidth_ratio": 8000 / 4800, "flops_ratio": 2250 / 989}, hardware="H200"),
    Case("FLP004", ("L40S",), ("2 x A100 80GB SXM",),
         "kind: hardware, hardware: {}, claim: 3x tokens/s", hardware="A100 80GB SXM"),
    # Where nobody states the batch, ridges of 76 and more are out of reach, of 37 are not.
    Case("TXT001", ("H100 SXM", "RTX 3090"), ("M2 Ultra", "H20"), hardware="{}",
         work="context: 1k", extra="diagnosis: decode is compute-bound\n"),
    Case("TXT001", ("H20", "M2 Ultra"), hardware="{}", work="batch: 1, context: 1k",
         extra="diagnosis: decode is compute-bound\n"),
    # Latent attention may well wait for arithmetic.
    Case("TXT001", ("decode",), ("attention in decode",), model="DeepSeek-V3",
         hardware="8 x H200", extra="weights: fp8\ndiagnosis: {} is compute-bound\n"),
    Case("TXT001", ("batch: 1",), ("context: 1k",), model="DeepSeek-V3", hardware="8 x H200",
         work="{}", extra="weights: fp8\ndiagnosis: decode is compute-bound\n"),
    Case("MEA003", ("(1000 + 200) / 2.1 s = 571 tokens/s", "tokens/s including prefill",
                    "tokens/s with the same prompt repeated", "throughput with identical prompts"),
         ("tokens/s without prefill", "tokens/s with the same prompt length",
          "tokens/s over the output", "seconds including prefill"),
         extra="diagnosis: we measured {}\n"),
    Case("MEA005", ("GPU utilization is 99%", "nvidia-smi shows 100%", "the power limit is hit",
                    "ncu shows it"), ("DCGM shows it",),
         numbers={"ridge_flop_per_byte": 989e3 / 3350},
         extra='diagnosis: "{}, so decode is compute-bound"\n'),
    Case("MEA005", ("decode is compute-bound",),
         ("decode is memory-bound", "decode is not compute-bound"),
         extra='diagnosis: "GPU utilization is 99%, so {}"\n'),
    # Of 405e6 parameters 51.5e6 are a table of which a token reads one row: 14% is no rounding.
    Case("TXT002", ("0.81",), ("0.71", "0.76"), "", {"stored_bytes": 405.3e6 * 2}, severity=WARNING,
         model="pythia-410m", extra="diagnosis: a forward pass reads {} GB per token\n"),
    Case("TXT002", ("0.9 TB/s", "900 GB/s"), ("0.45 TB/s", "0.9 GB/s"), "", {"stated_gbs": 900},
         says="one way is 450 GB/s", extra="diagnosis: NVLink moves {} in each direction\n"),
    Case("TXT002", ("H100 SXM",), ("L40S", "RTX 4090"), hardware="{}",
         extra="diagnosis: NVLink moves 900 GB/s in each direction\n"),
    Case("TXT002", ("batch: 1", "context: 1k"), ("batch: 2",), work="{}",
         extra="diagnosis: a forward pass reads 16 GB per token\n"),
    Case("SPC004", ("80%", "90%"), ("95%",), model="Qwen3-30B-A3B",  # 3.46x of 3.69, 4.69, 5.30
         lever="kind: speculate, method: EAGLE, draft_tokens: 5, acceptance: {}, claim: 3x"),
    Case("PAR002", ("8 x L40S", "8 x RTX 4090"), ("8 x A100 80GB SXM",),
         "kind: tensor_parallel, size: 4, claim: 9x", hardware="{}",
         extra="weights: int4-g128\n"),
    Case("PAR002", ("8B",), ("70B",), "kind: tensor_parallel, size: 4, claim: 9x",
         model="Llama-3.1-{}", hardware="8 x RTX 4090", extra="weights: int4-g128\n"),
    # Bitmaps hold 0.5 + 1 / 16 of 13.96 GB; beside them 1.05 GB of head and 0.27 GB of cache.
    Case("PRE001", ("50%",), lever="kind: prune, sparsity: {}, claim: 1.5x", confidence=HIGH,
         says="dense 100% of the bytes, 1.00x; bitmap 60% of the bytes"),
    Case("CLM006", ("231",), says="needs 3,529 GB/s; H100 SXM has 3,350",
         extra="claim: {} tokens/s for one user\n"),
    # Split two ways, tiles are 128 wide.
    Case("PRE007", (7872,), (7808,), "kind: prune, pattern: channels, sparsity: 29%,"
         " storage: removed, width: {}", model="Llama-2-7B", hardware="2 x H100 SXM",
         extra="parallelism: {tensor: 2}\n"),
    Case("PRE005", (64, 3000), (), "kind: low_rank, rank: {}, storage: multiplied, claim: 1.2x",
         {"bytes_ratio": 1}, says="multiplied back"),
    Case("PRE005", (3000,), (), "kind: low_rank, rank: {}, claim: 1.2x", says="the two factors"),
    Case("BAT001", (320,), (), "kind: quantize, weights: int4-g128, claim: 2x throughput",
         says="what is left is 1.00x at most", work="batch: {}, context: 256"),
    Case("SPC003", ("1.5x", "2x"), ("half the memory",), "kind: speculate, method: EAGLE,"
         " draft_tokens: 7, acceptance: 60%, claim: {}", hardware="A100 80GB SXM",
         work="batch: 64, context: 512", extra="weights: int4-g128\n"),
    Case("SPC004", (5,), (), "kind: speculate, method: EAGLE, draft_tokens: {}, acceptance: 60%,"
         " claim: 2x", says="instead of 8", model="Qwen3-30B-A3B"),
    # That a pass makes no more than the drafts and one is certain where they are stated.
    Case("CLM001", ("4.5x", "9x"), ("3.9x",), confidence=HIGH,
         lever="kind: speculate, method: EAGLE, draft_tokens: 3, claim: {} tokens/s"),
    Case("CLM001", ("9x",), (), confidence=MEDIUM,
         lever="kind: speculate, method: EAGLE, claim: {} tokens/s"),
    Case("CLM006", ("60",), (), numbers={"claimed_tpot_ms": 1e3 / 60}, model="Llama-3.1-70B",
         work="batch: 1", extra="weights: fp8\n"
         "claim: [49 tokens/s for one user, '{} tokens/s for one user']\n"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.lever}{case.extra}")
def test_both_sides_of_a_limit(case: Case) -> None:
    assert case.rule in rule_codes()
    wrong = [found(case.rule, case.text(gap)) for gap in case.wrong]
    assert [gap for gap, one in zip(case.wrong, wrong, strict=True) if not one] == []
    assert [gap for gap in case.right if found(case.rule, case.text(gap))] == []
    first = wrong[0][0]
    stated = {name: first.numbers[name] for name in case.numbers}
    assert stated == pytest.approx(case.numbers, rel=0.002)
    assert case.severity in {None, first.severity}
    assert case.confidence in {None, first.confidence}
    assert case.says in first.message


@pytest.mark.parametrize(
    ("claim", "rules"),
    [("1.06x tokens/s", ["MEA001"]), ("1.05x tokens/s", []), ("100 tokens/s", [])],
)
def test_a_factor_over_nothing_is_told_from_a_figure(claim: str, rules: list[str]) -> None:
    assert [one.rule for one in found("MEA001", f"rooflint: 1\nclaim: {claim}\n")] == rules


@pytest.mark.parametrize(
    ("lever", "error_class"),
    [
        ("kind: matmul_kernel, name: new GEMM", ErrorClass.FASTER_MATMUL),
        ("kind: quantize, weights: fp8, activations: fp8", ErrorClass.DECODE_CALLED_COMPUTE_BOUND),
    ],
)
def test_arithmetic_beside_a_large_cache(lever: str, error_class: ErrorClass) -> None:
    case = Case(
        "BAT003", (), lever=f"{lever}, claim: 2x throughput", hardware="8 x H100 SXM",
        work="batch: 512, context: 8k",
    )  # fmt: skip
    [one] = found("BAT003", case.text(""))
    assert one.error_class is error_class


def test_acceptance_is_told_at_60_and_at_80_percent() -> None:
    case = Case("SPC001", (), lever="kind: speculate, method: EAGLE, draft_tokens: 3, claim: 2x")
    [one] = found("SPC001", case.text(""))
    low, high = one.numbers["speedup_at_60_percent"], one.numbers["speedup_at_80_percent"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    # A pass costs the same and yields (1 - a^4) / (1 - a) tokens: 2.176 and 2.952.
    assert high / low == pytest.approx(2.952 / 2.176)
    assert 1.5 < low < 2.176


@pytest.mark.parametrize(("of_product", "flagged"), [(0.84, True), (0.86, False)])
def test_a_product_is_held_against_what_the_levers_bring_jointly(
    of_product: float, flagged: bool
) -> None:
    head = Case("CLM004", ()).text("")
    lines = (
        "levers:\n  - {{kind: quantize, weights: fp8, claim: {:.4f}x}}\n"
        "  - {{kind: quantize, kv_cache: fp8, claim: 1.1x}}\n"
    )
    [proposal] = read(Source("p.yaml", head + lines.format(1.2))).proposals
    audited, _ = audit(proposal)
    assert audited is not None
    product = audited.speedup.mid / of_product
    text = head + lines.format(product / 1.1) + f"claim: {product:.4f}x tokens/s\n"
    assert bool(found("CLM004", text)) is flagged


def test_nothing_is_left_of_nothing() -> None:
    claim = '"100% fewer parameters, 2x tokens/s"'
    case = Case("CLM005", (), lever=f"kind: quantize, weights: fp8, claim: {claim}")
    assert found("CLM005", case.text("")) == []


def test_what_does_not_fit_and_what_was_not_measured_are_two_findings() -> None:
    case = Case("", (), work="batch: 256, context: 32k", extra="measured: {tpot: 1 ms}\n")
    [proposal] = read(Source("p.yaml", case.text(""))).proposals
    audited, _ = audit(proposal)
    assert audited is not None
    assert {one.rule for one in run(audited, strict=True)} == {"BAT004", "MEA004"}


def test_one_name_of_several_parts_is_told_of_each_lever_on_which_it_bears() -> None:
    levers = (
        "levers:\n  - {kind: cuda_graphs}\n"
        "  - {kind: quantize, lm_head: int8, claim: 120 tokens/s}\n"
    )
    [one] = found("HW004", Case("HW004", (), hardware="A100", extra=levers).text(""))
    assert one.subject is not None
    assert one.subject.number == 1


@pytest.mark.parametrize(
    ("tpot", "instead"),
    [(2, "check format, batch and speculation"), (20, "look at launches and host time")],
)
def test_what_to_look_at_in_a_measurement(tpot: int, instead: str) -> None:
    case = Case("MEA004", (), extra=f"weights: bf16\nmeasured: {{tpot: {tpot} ms}}\n")
    [one] = found("MEA004", case.text(""))
    assert one.instead == instead


def test_a_cache_that_makes_a_model_run_is_no_error_and_hides_none() -> None:
    levers = (
        "levers:\n  - {kind: offload, kv_cache: 2 GB}\n"
        "  - {kind: offload, kv_cache: 2 GB, claim: 1.1x tokens/s}\n"
    )
    case = Case("KV004", (), model="Llama-3.1-70B", work="batch: 1, context: 32k", extra=levers)
    [one] = found("KV004", case.text(""))
    assert one.subject is not None
    assert (one.subject.number, one.severity) == (1, ERROR)


def test_what_is_left_between_the_crossovers() -> None:
    lever = "kind: quantize, weights: int4-g128, claim: 3.5x throughput"
    case = Case("BAT001", (), lever=lever, work="batch: 128, context: 64")
    [one] = found("BAT001", case.text(""))
    best = re.search(r"what is left is (\d\.\d+)x", one.message)
    assert best is not None
    # 295 / 128 = 2.31x of the linear layers, which are more than half of the step.
    assert 1.0 / (0.5 + 0.5 / 2.31) < float(best[1]) < 2.31


@pytest.mark.parametrize(("phase", "dense"), [("decode", False), ("prefill", True)])
def test_the_dense_rate_is_of_use_to_a_prompt_alone(phase: str, dense: bool) -> None:
    lever = "kind: matmul_kernel, name: bf16 GEMM, peak: 1979 TFLOPS, claim: 1.5x"
    text = Case("FLP005", (), lever=lever).text("").replace("phase: decode", f"phase: {phase}")
    [one] = found("FLP005", text)
    assert (one.instead == "use 989 TFLOPS") is dense


@pytest.mark.parametrize("output", range(9, 18))
def test_a_phase_is_minor_below_a_fifth_of_the_request(output: int) -> None:
    case = Case(
        "PHS003", (), lever="kind: quantize, weights: int4-g128,"
        " claim: 2x lower end-to-end latency", work=f"batch: 1, prompt: 16k, output: {output}",
    )  # fmt: skip
    [proposal] = read(Source("p.yaml", case.text(""))).proposals
    audited, _ = audit(proposal)
    assert audited is not None
    request = request_of(audited)
    assert request is not None
    assert bool(found("PHS003", case.text(""))) is (request.decode_share < 0.2)
