"""What looks like a lever of serving and is none: training, pictures, clients, declarations."""

from __future__ import annotations

import ast
import re
from typing import Final

from advisor.readers.python.survey import Survey
from advisor.readers.python.tables.huggingface import OF_PICTURES
from advisor.readers.python.values import Literal, Made, usual

TRAINS: Final = frozenset(
    {"backward", "Trainer", "SFTTrainer", "TrainingArguments", "Seq2SeqTrainer", "DPOTrainer",
     "SFTConfig", "GRPOTrainer", "get_peft_model", "prepare_model_for_kbit_training", "zero_grad",
     "gradient_checkpointing_enable",
     "get_linear_schedule_with_warmup", "Seq2SeqTrainingArguments", "AdamW", "GradScaler",
     "ORPOTrainer", "KTOTrainer", "CPOTrainer", "PPOTrainer", "RewardTrainer", "RLOOTrainer",
     "DPOConfig", "ORPOConfig", "KTOConfig", "GRPOConfig", "AdamW8bit",
     "PagedAdamW8bit", "PagedAdamW32bit", "Adam8bit", "Lion8bit", "DistributedDataParallel"}
)  # fmt: skip
OF_TRAINING: Final = frozenset(
    {"batch", "attention_kernel", "compile", "cuda_graphs", "fuse", "tensor_parallel",
     "data_parallel", "pipeline_parallel", "no_kv_cache", "offload", "expert_parallel"}
)  # fmt: skip
"""Kinds that act on a training run when they stand in one."""
_VISION: Final = frozenset(
    {"torchvision", "timm", "ultralytics", "diffusers", "monai", "detectron2", "mmcv", "mmdet",
     "segmentation_models_pytorch", "torch_geometric", "dgl", "cv2", "skimage", "albumentations"}
)  # fmt: skip
_LANGUAGE: Final = frozenset(
    {"transformers", "vllm", "llmcompressor", "optimum", "sglang", "tensorrt_llm", "auto_gptq",
     "gptqmodel", "awq", "mlx_lm", "ctranslate2", "exllamav2", "lmdeploy", "llama_cpp", "unsloth",
     "trl", "ipex_llm", "onnxruntime_genai", "openvino_genai"}
)  # fmt: skip
_PICTURES: Final = re.compile(
    r"(?:^|[/_.-])(?:resnet|mobilenet|yolo|efficientnet|vgg|densenet|squeezenet|unet|inception"
    r"|convnext|segformer|swin|alexnet|mnist|cifar|detr|vit|deit|dinov2|stable-diffusion|sdxl)"
    r"(?=[\d/_.v-]|$)",
    re.IGNORECASE,
)
_GUARD: Final = re.compile(r"\bConv[123]?d?\b|\bBatchNorm")
DECLARES: Final = frozenset(
    {"add_argument", "field", "Field", "dict", "Namespace", "SimpleNamespace", "update", "replace",
     "set_defaults", "setdefault", "option", "Option", "info", "print", "format"}
)  # fmt: skip
"""Calls whose arguments only declare or pass on."""
CLIENTS: Final = frozenset(
    {
        "crewai",
        "openai",
        "anthropic",
        "litellm",
        "langchain_openai",
        "mistralai",
        "groq",
        "together",
        "cohere",
    }
)


def _is_about_pictures(made: Made, depth: int = 2) -> bool:
    """Whether a call names a model of pictures, or takes one that is loaded by name.

    A config object is about what all that take it are about.
    """
    if any(word in made.name for word in OF_PICTURES):
        return True
    if depth and made.used_by and all(_is_about_pictures(user, 0) for user in made.used_by):
        return True
    for value in (made.receiver, *made.args[:3]):
        inner = usual(value) if value is not None else None
        if isinstance(inner, Literal) and isinstance(inner.data, str):
            if len(inner.data) < _LONG_NAME and _PICTURES.search(inner.data):
                return True
        elif isinstance(inner, Made) and depth and _is_about_pictures(inner, depth - 1):
            return True
    return False


_LONG_NAME: Final = 200


def guarded_by_convolutions(known: Survey) -> list[tuple[int, int]]:
    """Lines of branches that only convolutions reach."""
    found: list[tuple[int, int]] = []
    for node in known.branches:
        names = {item.attr for item in ast.walk(node.test) if isinstance(item, ast.Attribute)}
        names |= {item.id for item in ast.walk(node.test) if isinstance(item, ast.Name)}
        if "isinstance" in names and any(map(_GUARD.search, names)) and "Linear" not in names:
            last = node.body[-1]
            found.append((node.body[0].lineno, last.end_lineno or last.lineno))
    return found


def is_trap(made: Made, convolutions: list[tuple[int, int]]) -> bool:
    """Convolutions, and what stands in a branch for them."""
    line = getattr(made.node, "lineno", 0)
    if any(start <= line <= end for start, end in convolutions):
        return True
    if _is_about_pictures(made):
        return True
    first = made.args[0].node if made.args else None
    if not made.name.startswith(("torch.nn.utils.prune", "torch.prune")) or first is None:
        return False
    return re.search(r"\bconv|features|\bdownsample", ast.unparse(first)) is not None


def is_of_pictures(roots: set[str]) -> bool:
    """Whether a script imports libraries of pictures and graphs, and none of language."""
    return bool(roots & _VISION) and not roots & _LANGUAGE
