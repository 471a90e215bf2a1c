"""Training and compression runs: axolotl, torchtune, NeMo, DeepSpeed, Olive, neural-compressor.

Only what changes the model that is served later counts: quantization-aware training, pruning,
distillation, the checkpoint it begins with. Batches, kernels, optimizers and offload of a
training run are none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from advisor.readers.compression import (
    add_deepspeed,
    add_nemo,
    add_neural_compressor,
    add_placement,
    is_nemo,
    is_neural_compressor,
    is_placement,
)
from advisor.readers.entries import by_name, text_of
from advisor.readers.inner_text import InnerText
from advisor.readers.merging import add_merge, is_merge
from advisor.readers.modelopt import add_modelopt, add_named_recipe, is_modelopt
from advisor.readers.olive import add_olive, is_olive
from advisor.readers.options.effects import Setting
from advisor.readers.options.formats import AUTO, integer_format, weight_format
from advisor.readers.options.meanings import model
from advisor.readers.options.transformers import quantization_config
from advisor.readers.options.values import switch_of, whole_of, word_of
from advisor.readers.recipes import add_recipe, modifiers_of
from advisor.readers.setups import Setup
from advisor.readers.yaml_nodes import (
    Entry,
    ListNode,
    MapNode,
    ScalarNode,
    is_nothing,
    plain_value,
)

_TRAINING: Final = frozenset(
    {
        "learning_rate", "lr", "lr_scheduler", "optimizer", "gradient_accumulation_steps",
        "num_epochs", "num_train_epochs", "epochs", "micro_batch_size", "train_batch_size",
        "per_device_train_batch_size", "warmup_ratio", "warmup_steps", "weight_decay", "lora_r",
        "adapter", "gradient_checkpointing", "max_steps", "train_micro_batch_size_per_gpu",
        "sequence_len", "sample_packing", "loss", "trainer", "max_steps_per_epoch",
        "finetuning_type",
        "lora_rank", "output_dir", "datasets", "dataset", "zero_optimization", "logging_steps",
    }
)  # fmt: skip
_ENOUGH: Final = 3
_PRESET: Final = re.compile(
    r"W4A16(?:_ASYM)?|W8A16|W8A8|W4A8|W4AFP8|INT8|FP8|FP8_DYNAMIC|FP8_BLOCK|NVFP4(?:A16)?"
    r"|MXFP4(?:A16)?|MXFP8(?:A16)?"
)
_CHOICES: Final[Mapping[str, str]] = {
    "intermediate_size_list": "channels",
    "hidden_size_list": "channels",
    "num_experts_to_keep_list": "experts",
    "n_heads_in_group_list": "heads",
}
_COMPONENT: Final = "_component_"
_TORCHTUNE_MODEL: Final = re.compile(r"torchtune\.models\.(\w+)\.\w*?\1_(\d+(?:_\d+)?b)(?:_|$)")
_QUANTIZER: Final = re.compile(r"(Int|Float|NF)(\d)(\w*)")
_PRUNE_KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "target_ffn_hidden_size": ("prune", "channels"),
    "target_hidden_size": ("prune", "channels"),
    "target_num_attention_heads": ("prune", "heads"),
    "target_num_query_groups": ("attention", "gqa"),
    "target_num_layers": ("prune", "layers"),
    "ffn_hidden_size": ("prune", "channels"),
    "moe_ffn_hidden_size": ("prune", "channels"),
    "hidden_size": ("prune", "channels"),
    "num_attention_heads": ("prune", "heads"),
    "num_query_groups": ("attention", "gqa"),
    "num_layers": ("prune", "layers"),
    "drop_layers": ("prune", "layers"),
    "num_moe_experts": ("prune", "experts"),
    "target_num_moe_experts": ("prune", "experts"),
}


def is_tuning(root: MapNode) -> bool:
    """Whether a document is a training or compression run, or a merge."""
    entries = by_name(root)
    if is_merge(entries) or is_olive(entries) or is_neural_compressor(entries):
        return True
    if entries.keys() & (_CHOICES.keys() | {"dms"}):
        return True
    if _is_quantize_config(entries) or is_nemo(entries) or is_placement(entries):
        return True
    if "prune" in entries and by_name(entries["prune"].value).keys() & _PRUNE_KEYS.keys():
        return True
    if _is_taught(entries) or _is_compression_run(entries):
        return True
    if "compression_training" in entries or is_modelopt(entries) or _torchtune(entries):
        return True
    if "base_model" in entries and any(True for _ in _quantizations(entries)):
        return True
    return is_training(entries)


def _is_compression_run(entries: Mapping[str, Entry]) -> bool:
    """Whether a model and one of llm-compressor's preset schemes stand beside each other."""
    return "model" in entries and _PRESET.fullmatch(text_of(entries.get("scheme"))) is not None


def _is_quantize_config(entries: Mapping[str, Entry]) -> bool:
    """Whether a document is the config beside a checkpoint of AutoGPTQ or AutoAWQ."""
    return {"bits", "group_size"} <= entries.keys() or {"w_bit", "q_group_size"} <= entries.keys()


def _is_taught(entries: Mapping[str, Entry]) -> bool:
    """Whether a teacher and a student are named."""
    models = by_name(entries["models"].value).keys() if "models" in entries else set()
    names = entries.keys() | models
    teacher = names & {"teacher_model", "teacher", "teacher_model_name_or_path"}
    return bool(teacher and names & {"student_model", "student", "model", "base_model"})


def is_training(entries: Mapping[str, Entry]) -> bool:
    """Whether a mapping's keys are those of a training run."""
    return len(entries.keys() & _TRAINING) >= _ENOUGH


def add_tuning(setup: Setup, root: MapNode, text: InnerText) -> None:
    """What the document changes of the model that is served later."""
    entries = by_name(root)
    if is_merge(entries):
        add_merge(setup, entries, text)
        return
    if _is_quantize_config(entries):
        _add_checkpoint(setup, entries, root, text)
        return
    if is_placement(entries):
        add_placement(setup, entries, text)
        return
    if is_nemo(entries):
        add_nemo(setup, entries, text)
        return
    if is_modelopt(entries):
        add_modelopt(setup, entries, text, packed=not is_training(entries))
        return
    if is_olive(entries):
        add_olive(setup, entries, text)
        return
    if is_neural_compressor(entries):
        add_neural_compressor(setup, entries, text)
        return
    if "compression_training" in entries:
        add_deepspeed(setup, entries["compression_training"].value, text)
        return
    _add_model(setup, entries, text)
    if _is_compression_run(entries):
        scheme = entries["scheme"]
        form = weight_format(text_of(scheme)) or AUTO
        place = text.place(scheme.value.span)
        setup.add((Setting("quantize", {"weights": form}),), text.place(scheme.key.span), place)
    _add_choices(setup, root, text)
    _add_eviction(setup, entries.get("dms"), text)
    inside = by_name(entries["modelopt"].value) if "modelopt" in entries else {}
    for recipe in (entries.get("recipe"), inside.get("recipe")):
        if recipe is not None and is_training(entries):
            add_named_recipe(setup, recipe, text)
    _add_quantization(setup, entries, text)
    _add_torchtune(setup, entries, text)
    _add_pruning(setup, entries.get("prune"), text)
    _add_distillation(setup, entries, text)
    add_recipe(setup, modifiers_of(root, text), masks_only=True)


def _add_checkpoint(
    setup: Setup, entries: Mapping[str, Entry], root: MapNode, text: InnerText
) -> None:
    """quantize_config.json of AutoGPTQ and AutoAWQ."""
    config = plain_value(root)
    if isinstance(config, dict) and "quant_method" not in config:
        config = {"quant_method": "awq" if "w_bit" in entries else "gptq", **config}
    bits = entries.get("bits") or entries["w_bit"]
    setup.add(quantization_config(config), text.place(bits.key.span))


def _torchtune(entries: Mapping[str, Entry]) -> bool:
    return any(
        _COMPONENT in by_name(entry.value)
        and text_of(by_name(entry.value).get(_COMPONENT)).startswith("torchtune.")
        for entry in entries.values()
    )


def _add_model(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """The model that is trained, and what its name says of it."""
    models = by_name(entries["models"].value) if "models" in entries else {}
    known = {**models, **entries}
    for name in (
        "base_model",
        "model_name_or_path",
        "model",
        "restore_from_path",
        "student_model",
        "student",
    ):
        entry = known.get(name)
        if entry is None:
            continue
        named = text_of(entry)
        place = text.place(entry.value.span)
        if named:
            setup.add(model(named), place, place, sure=False)
        match = _TORCHTUNE_MODEL.search(text_of(by_name(entry.value).get(_COMPONENT)))
        if match is not None:
            family = match[1].replace("_", ".")
            setup.add(model(f"{family} {match[2].replace('_', '.')}"), place, place, sure=False)
        return


def _quantizations(
    entries: Mapping[str, Entry],
) -> Iterator[tuple[bool, dict[str, Entry], Entry]]:
    """Axolotl's two blocks: whether the weights are stored so, its keys, and the width."""
    for block, packed in (("qat", False), ("quantization", True)):
        parts = by_name(entries[block].value) if block in entries else {}
        width = parts.get("weight_dtype") or parts.get("weight_bits")
        if width is not None and not is_nothing(width.value):
            yield packed, parts, width


def _add_quantization(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """Axolotl's `qat` and `quantization`: int4 weights, simulated in training or made after it."""
    for packed, parts, width in _quantizations(entries):
        form = weight_format(text_of(width).replace("torch.", "")) or AUTO
        group = whole_of(text_of(parts.get("group_size")))
        if form in {"int4", "int8"} and group is not None:
            form = integer_format(int(form[3]), group)
        fields: dict[str, object] = {"weights": form}
        if not packed:
            fields["packed"] = False
        condition = ""
        if packed and form.startswith("int4") and "int8" in text_of(parts.get("activation_dtype")):
            condition = "a kernel for 8-bit activations and 4-bit weights where it is served"
        effect = Setting("quantize", fields, condition=condition)
        setup.add((effect,), text.place(width.key.span), text.place(width.value.span))


def _add_torchtune(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """Torchtune's quantizer, and a generation without a cache."""
    for name in ("quantizer", "qat_quantizer"):
        entry = entries.get(name)
        parts = by_name(entry.value) if entry is not None else {}
        component = parts.get(_COMPONENT)
        if component is None:
            continue
        effect = _quantizer(text_of(component), whole_of(text_of(parts.get("groupsize"))))
        if effect is not None:
            setup.add((effect,), text.place(component.key.span), text.place(component.value.span))
    plan = entries.get("tensor_parallel_plan")
    if plan is not None and not is_nothing(plan.value) and not is_training(entries):
        split = Setting("tensor_parallel", {"size": 2, "at_least": True})
        inner = next(iter(by_name(plan.value).values()), plan)
        setup.add((split,), text.place(inner.key.span))
    cache = entries.get("enable_kv_cache")
    if cache is not None and switch_of(text_of(cache) or None) is False and text_of(cache):
        setup.add((Setting("no_kv_cache"),), text.place(cache.key.span))


def _quantizer(component: str, group: int | None) -> Setting | None:
    """Int8DynActInt4WeightQATQuantizer, Int4WeightOnlyQuantizer, ..."""
    name = component.rpartition(".")[2]
    widths = _QUANTIZER.findall(name.replace("DynAct", "Act "))
    if not widths:
        return None
    number, bits, _ = widths[-1]
    form = {"Float": "fp8", "NF": "nf4"}.get(number) or integer_format(
        int(bits), group if group is not None else (None if bits == "8" else 256)
    )
    fields: dict[str, object] = {"weights": form}
    if "QAT" in name:
        fields["packed"] = False
    condition = ""
    if "DynAct" in name and "QAT" not in name:
        condition = "a kernel for 8-bit activations and 4-bit weights where it is served"
    return Setting("quantize", fields, condition=condition)


def _add_pruning(setup: Setup, prune: Entry | None, text: InnerText) -> None:
    """NeMo's and Megatron's `prune`: widths and depths of what is left."""
    for name, entry in by_name(prune.value).items() if prune is not None else ():
        bare = name
        if bare not in _PRUNE_KEYS or is_nothing(entry.value):
            continue
        kind, pattern = _PRUNE_KEYS[bare]
        left = whole_of(text_of(entry))
        fields: dict[str, object] = {"pattern": pattern, "storage": "removed"}
        if kind == "attention":
            if left is None:
                continue
            fields = {"variant": pattern, "kv_heads": left}
        elif left is not None and left > 0 and pattern != "channels":
            fields["kept"] = left
        elif left is not None and left > 0 and bare.endswith("ffn_hidden_size"):
            fields["width"] = left
        elif isinstance(entry.value, ListNode) and entry.value.items:
            fields["dropped"] = len(entry.value.items)
        setup.add((Setting(kind, fields),), text.place(entry.key.span))


def _add_choices(setup: Setup, root: MapNode, text: InnerText) -> None:
    """Widths, experts or heads of which a search keeps one: Puzzletron's lists."""
    for entry in root.entries:
        pattern = _CHOICES.get(entry.key.text)
        if pattern is not None and isinstance(entry.value, ListNode):
            fields = {"pattern": pattern, "storage": "removed"}
            setup.add((Setting("prune", fields),), text.place(entry.key.span))


def _add_eviction(setup: Setup, block: Entry | None, text: InnerText) -> None:
    """Dynamic memory sparsification: a cache trained to be a part of what it was."""
    parts = by_name(block.value) if block is not None else {}
    ratio = parts.get("final_cr") or parts.get("compression_ratio")
    if ratio is None or switch_of(text_of(parts.get("disable_eviction")) or None) is True:
        return
    number = ratio.value.value if isinstance(ratio.value, ScalarNode) else None
    fields: dict[str, object] = {"pattern": "kv_tokens"}
    if isinstance(number, int | float) and number > 1:
        fields["sparsity"] = 1.0 - 1.0 / number
    setup.add((Setting("prune", fields),), text.place(ratio.key.span))


def _add_distillation(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """A teacher beside the model: the model is the student that is served in its place."""
    for name, entry in _teachers(entries):
        if is_nothing(entry.value) or switch_of(text_of(entry) or True) is False:
            continue
        student = setup.fact("model")
        word = getattr(student.effect, "value", "unknown") if student is not None else "unknown"
        setup.add((Setting("distill", {"model": word}),), text.place(entry.key.span))
        if name in {"teacher_model", "teacher"}:
            _teach(setup, entry, text)
        return


def _teachers(entries: Mapping[str, Entry]) -> Iterator[tuple[str, Entry]]:
    models = by_name(entries["models"].value) if "models" in entries else {}
    for name, entry in (*entries.items(), *models.items()):
        if name in {"teacher_model", "teacher", "kd_teacher", "teacher_model_name_or_path",
                    "teacher_model_path", "kd_trainer", "distillation"}:  # fmt: skip
            yield name, entry


def _teach(setup: Setup, entry: Entry, text: InnerText) -> None:
    """The baseline is the teacher, where it is named."""
    place = text.place(entry.value.span)
    named = text_of(entry)
    match = _TORCHTUNE_MODEL.search(text_of(by_name(entry.value).get(_COMPONENT)))
    if match is not None:
        named = f"{match[1].replace('_', '.')} {match[2].replace('_', '.')}"
    if not word_of(named):
        return
    known = setup.fact("model")
    if known is not None:
        setup.placed.remove(known)
    setup.add(model(named)[:1], place, place)
