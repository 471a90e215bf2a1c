"""Pages to read up on: rules, problems of input, levers, and the terms of the field.

A rule's page is the docstring of its module, a lever's page is made of its class, terms stand in
terms.md. All are found by their names as people write them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from advisor.levers import LEVERS, Lever, Nature, lever_class
from advisor.problems import PROBLEMS, Problem
from advisor.reports.page import page_text
from advisor.reports.style import Style, wrap
from advisor.rule import unmarked
from advisor.rulebook import LoadedRule, entries, find_rule, rule_names
from advisor.suppress import SUPPRESSION_PROBLEMS

PROVE: Final = "prove"
"""A page that is computed for a deployment: `advisor.protocol`."""

_TERMS: Final = Path(__file__).parent / "reports" / "terms.md"

_ACTS_ON: Mapping[Nature, str] = MappingProxyType(
    {
        Nature.BYTES: "Fewer bytes per token: decode gets faster by what is no longer read.",
        Nature.TOKENS: "More tokens per pass over the weights.",
        Nature.FLOPS: "Arithmetic only: at small batch the matrix units wait for memory anyway.",
        Nature.AMORTISE: "Throughput: more sequences share the work, none of them is faster.",
        Nature.OVERHEAD: "The fixed time of a step: launches, host work, small kernels.",
        Nature.PREFILL: "The prompt: time to first token, not the tokens after it.",
        Nature.CAPACITY: "Memory only: more fits, nothing is read faster.",
        Nature.LINK: "Bytes are moved to a slower place, and read from there when needed.",
        Nature.COST: "More work or more bytes for each token.",
        Nature.HARDWARE: "Bytes and FLOPs per second: at decode the bandwidths compare.",
    }
)

LEVER_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "quantize": "{kind: quantize, weights: int4-g128, kv_cache: fp8, claim: 1.8x}",
        "prune": "{kind: prune, pattern: unstructured, sparsity: 60%, storage: bitmap, "
        "kernel: SpInfer}",
        "activation_sparsity": "{kind: activation_sparsity, sparsity: 50%, kernel: TEAL}",
        "low_rank": "{kind: low_rank, rank: 1024, storage: factored}",
        "early_exit": "{kind: early_exit, mean_depth: 70%}",
        "distill": "{kind: distill, model: Llama-3.2-3B}",
        "merge_layers": "{kind: merge_layers, layers_added: 8}",
        "no_kv_cache": "{kind: no_kv_cache}",
        "attention": "{kind: attention, variant: gqa, kv_heads: 4}",
        "speculate": "{kind: speculate, method: EAGLE-3, draft_tokens: 3, acceptance: 70%}",
        "batch": "{kind: batch, batch: 32, claim: 10x throughput}",
        "tensor_parallel": "{kind: tensor_parallel, size: 2}",
        "pipeline_parallel": "{kind: pipeline_parallel, size: 2}",
        "data_parallel": "{kind: data_parallel, size: 2}",
        "expert_parallel": "{kind: expert_parallel, size: 8}",
        "hardware": "{kind: hardware, hardware: H200, claim: 1.4x}",
        "offload": "{kind: offload, weights: 40 GB, to: host}",
        "matmul_kernel": "{kind: matmul_kernel, name: CUTLASS, speedup: 1.5x}",
        "attention_kernel": "{kind: attention_kernel, name: FlashAttention-3}",
        "cuda_graphs": "{kind: cuda_graphs, enabled: true}",
        "compile": "{kind: compile, mode: max-autotune}",
        "fuse": "{kind: fuse, mode: RMSNorm and RoPE}",
        "prefix_cache": "{kind: prefix_cache}",
        "chunked_prefill": "{kind: chunked_prefill}",
        "disaggregate": "{kind: disaggregate}",
        "compress": "{kind: compress, ratio: 70%, in_kernel: true}",
        "share_weights": "{kind: share_weights, times: 2}",
        "cache_residency": "{kind: cache_residency}",
        "lora": "{kind: lora, rank: 16, adapters: 8, merged: false}",
        "experts_per_token": "{kind: experts_per_token, top_k: 4}",
        "sparse_attention": "{kind: sparse_attention, tokens: 2k, index: 3%}",
        "shared_prefix": "{kind: shared_prefix, tokens: 8k}",
        "paged_cache": "{kind: paged_cache, claim: 2x the sequences}",
        "static_cache": "{kind: static_cache, length: 8k, read_whole: true}",
        "parallel_sampling": "{kind: parallel_sampling, samples: 8}",
        "block_decoding": "{kind: block_decoding, block: 8, tokens_per_pass: 3}",
        "continuous_batching": "{kind: continuous_batching}",
        "context_parallel": "{kind: context_parallel, size: 4}",
        "host_work": "{kind: host_work, part: scheduler, name: async scheduling}",
        "clocks": "{kind: clocks, memory: +10%}",
        "numa": "{kind: numa, name: numactl}",
        "elementwise": "{kind: elementwise, name: GELU to ReLU}",
        "token_pruning": "{kind: token_pruning, kept: 50%, claim: 1.5x lower TTFT}",
        "shorter_output": "{kind: shorter_output, kept: 60%}",
        "loading": "{kind: loading, name: tensorizer}",
        "training_only": "{kind: training_only, name: gradient checkpointing}",
    }
)
"""One entry of `levers:` for each kind."""


class Page(NamedTuple):
    """A title and the Markdown under it."""

    title: str
    markdown: str


class Term(NamedTuple):
    """A term of the field, other words for it, and its page."""

    name: str
    also: tuple[str, ...]
    markdown: str


class UnknownSubjectError(ValueError):
    """Nothing is known by this name."""

    def __init__(self, text: str, nearest: tuple[str, ...]) -> None:
        """Keep the nearest known names beside the message."""
        self.nearest = nearest
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        super().__init__(f"nothing to explain by the name {text!r}{hint}")


_PROBLEMS: Mapping[str, Problem] = MappingProxyType({**PROBLEMS, **SUPPRESSION_PROBLEMS})


def contents(style: Style, extra: Iterable[LoadedRule] = ()) -> str:
    """Everything there is a page on, rules beside the pack (`extra`) included."""
    own = [(one.rule.code, one.rule.name) for one in extra]
    groups = [
        ("Rules", [*((entry.code, entry.name) for entry in entries().values()), *own]),
        ("Input that cannot be read", [(code, one.name) for code, one in PROBLEMS.items()]),
        ("Suppressions", [(code, one.name) for code, one in SUPPRESSION_PROBLEMS.items()]),
        ("Levers", [(kind, entry.about) for kind, entry in LEVERS.items()]),
    ]
    lines: list[str] = []
    for heading, rows in groups:
        lines += [style.paint(heading, "heading")]
        lines += [f"  {name:<20} {about}" for name, about in rows]
        lines += [""]
    lines += [style.paint("Computed for a deployment", "heading")]
    lines += [f"  {PROVE:<20} tests that show whether decode is bandwidth-bound", ""]
    lines += [style.paint("Terms", "heading")]
    lines += [f"  {line}" for line in wrap(", ".join(one.name for one in terms()), style.width - 2)]
    return "\n".join([*lines, "", "rooflint explain NAME shows a page."]) + "\n"


def explain(text: str, style: Style, extra: Iterable[LoadedRule] = ()) -> str:
    """The page of a rule (of the pack or of `extra`), problem, lever or term.

    Raises:
        UnknownSubjectError: with the nearest known names.

    """
    own = (one for one in extra if _key(text) in {_key(one.rule.code), _key(one.rule.name)})
    page = _rule_page(found) if (found := next(own, None)) is not None else find_page(text)
    return page_text(page.title, page.markdown, style)


def find_page(text: str) -> Page:
    """The page of a rule code or name, a problem code, a lever kind, or a term.

    Raises:
        UnknownSubjectError: with the nearest known names.

    """
    key = _key(text)
    if (rule := find_rule(text)) is not None:
        return _rule_page(rule)
    for problem in _PROBLEMS.values():
        if key in {_key(problem.code), _key(problem.name)}:
            return _problem_page(problem)
    for kind, entry in LEVERS.items():
        if key in {_key(kind), *map(_key, entry.machine_kinds)}:
            return _lever_page(kind)
    for term in terms():
        if key in {_key(term.name), *map(_key, term.also)}:
            return Page(term.name, term.markdown)
    for kind, entry in LEVERS.items():
        if key in map(_key, entry.aliases):
            return _lever_page(kind)
    raise UnknownSubjectError(text, _nearest(key))


def subjects() -> Iterator[tuple[str, str]]:
    """Everything there is a page on, as (group, name)."""
    yield from (("rules", name) for name in rule_names())
    yield from (("problems", code) for code in _PROBLEMS)
    yield from (("levers", kind) for kind in LEVERS)
    yield from (("terms", term.name) for term in terms())


@lru_cache(maxsize=1)
def terms() -> tuple[Term, ...]:
    """The terms of terms.md."""
    found = []
    for section in re.split(r"^# ", _TERMS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        first, _, rest = body.partition("\n")
        also: tuple[str, ...] = ()
        if first.startswith("also: "):
            also, body = tuple(first.removeprefix("also: ").split(", ")), rest
        found.append(Term(name.strip(), also, body.strip("\n")))
    return tuple(found)


def _key(text: str) -> str:
    """A name without case and punctuation; 2:4 stays apart from 24."""
    return re.sub(r"[^a-z0-9:*]", "", text.lower()[:100])


def _nearest(key: str) -> tuple[str, ...]:
    from difflib import get_close_matches  # noqa: PLC0415 - only a wrong name pays for it

    known = {_key(name): name for _, name in subjects()}
    known |= {_key(name): kind for kind, entry in LEVERS.items() for name in entry.aliases}
    known |= {_key(problem.name): problem.code for problem in _PROBLEMS.values()}
    for term in terms():
        known |= {_key(other): term.name for other in term.also}
    close = get_close_matches(key, known, 3, 0.6)
    return tuple(dict.fromkeys(known[name] for name in close))


def _rule_page(loaded: LoadedRule) -> Page:
    rule = loaded.rule
    facts = f"{rule.severity.label}, {rule.confidence.label} confidence, since {rule.since}"
    if rule.error_class is not None:
        facts += f", class {rule.error_class.value}"
    examples = [("Flagged", rule.flagged), ("Not flagged", rule.passing)]
    shown = [
        f"## {heading}\n```\n{unmarked(texts[0])[0].rstrip()}\n```"
        for heading, texts in examples
        if texts
    ]
    body = "\n\n".join([facts, loaded.page.strip("\n"), *shown])
    return Page(f"{rule.code} {rule.name}", body)


def _problem_page(problem: Problem) -> Page:
    return Page(
        f"{problem.code} {problem.name}",
        f"{problem.severity.label}, high confidence\n\n"
        f"## What it does\nTells of {problem.about}. A file that cannot be read is a finding of "
        "its own and hides no other file's findings; the message says what would be right.",
    )


def _lever_page(kind: str) -> Page:
    entry, found = LEVERS[kind], lever_class(kind)
    schema = found.model_json_schema()
    required = set(schema.get("required", ()))
    fields = [
        f"- {name}: {_field(shape)}{', needed' if name in required else ''}"
        for name, shape in schema["properties"].items()
        if name != "kind"
    ]
    parts = [
        entry.about[:1].upper() + entry.about[1:] + ".",
        f"## What it acts on\n{_ACTS_ON[found.nature]}",
        f"## In the model\n{_first_line(found.apply)}",
    ]
    if found.condition is not Lever.condition:
        parts.append(f"## What the gain hangs on\n{_first_line(found.condition)}")
    if fields:
        parts.append("## Fields\n" + "\n".join(fields))
    if entry.also:
        parts.append(f"## Also called\n{entry.also}")
    parts.append("## In the machine output\n" + ", ".join(entry.machine_kinds))
    parts.append(f"## Example\n    levers:\n      - {LEVER_EXAMPLES[kind]}")
    return Page(kind, "\n\n".join(parts))


def _first_line(method: Callable[..., object]) -> str:
    return (method.__doc__ or "").strip().partition("\n\n")[0]


def _field(shape: Mapping[str, Any]) -> str:
    """What a field takes, from its JSON Schema."""
    shape = next((one for one in shape.get("anyOf", ()) if one.get("type") != "null"), shape)
    if "enum" in shape:
        return " | ".join(map(str, shape["enum"]))
    types = shape.get("type", "text")
    names = types if isinstance(types, list) else [types]
    words = {"string": "text", "boolean": "true or false", "integer": "a whole number"}
    told = " or ".join(words.get(name, f"a {name}") for name in names)
    examples = [
        value if isinstance(value, str) else json.dumps(value)
        for value in shape.get("examples", ())
    ]
    return f"{told}, e.g. {' or '.join(examples)}" if examples else told
