"""Sizing sheets: ideas as rows, each with a technique, its numbers and what it is to gain.

No tool reads such a file, so its keys are the words of the field. It is told by what it holds:
rows that say what they are to gain, and name a technique or a batch of their own. What stands
around the rows, or is merged into them, holds for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

from advisor.proposal import Proposal, Sentence, Stated
from advisor.readers.entries import number_of
from advisor.readers.entries import text_of as _text
from advisor.readers.inner_text import InnerText
from advisor.readers.options import engine_named_in
from advisor.readers.options.effects import Fact, Setting
from advisor.readers.options.formats import AUTO, integer_format, kv_format, weight_format
from advisor.readers.options.meanings import dtype, model
from advisor.readers.options.names import named_precision
from advisor.readers.options.values import kebab, whole_of
from advisor.readers.placing import device_of
from advisor.readers.setups import Setup, proposal_of
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node
from advisor.source import Source, Span

_IDEAS: Final = frozenset(
    {"proposal", "proposals", "idea", "ideas", "optimizations", "optimisations", "candidates"}
)
"""Names of lists whose rows are proposed, so that a bare speedup is what is hoped for."""
_ROWS: Final = _IDEAS | {"options", "techniques", "experiments", "changes", "plan", "scenarios"}
_TECHNIQUE: Final = (
    "technique", "optimization", "optimisation", "method", "lever", "idea", "change", "approach",
    "kind", "type", "what", "name", "title",
)  # fmt: skip
"""Keys whose value names a technique, the plainest first."""
_BASELINE: Final = frozenset({"baseline", "base", "defaults", "setup", "deployment", "context"})
"""Blocks around the rows that hold for each of them."""
_CLAIM: Final = (
    r"(?:claim(?:ed|s)?|expect(?:ed|s)?|estimated|projected|predicted|promised|anticipated)"
    r"(?:-[\w-]+)?"
)
_GAIN: Final = rf"{_CLAIM}|speed-?up|(?:latency|tpot|throughput)-(?:gain|reduction|improvement)"
_LONGEST_NAME: Final = 60
_BATCH: Final = ("batch-size", "batch", "concurrency", "max-num-seqs")
_CONTEXT: Final = ("context", "context-length", "context-len", "seq-len", "sequence-length", "ctx")

_Parts = Mapping[str, Entry]
_Meaning = Callable[[str, _Parts], Setting]
Phase = Literal["decode", "prefill"]


def is_sheet(root: Node) -> bool:
    """Whether a document is a list of ideas, or one idea."""
    return any(True for _ in _rows(root))


def read_sheet(root: Node, text: InnerText, source: Source) -> Iterator[Proposal]:
    """Each row as a proposal of one lever."""
    around = _parts(root)
    for name in _BASELINE & around.keys():
        around = {**_parts(around[name].value), **around}
    for row in _rows(root):
        said = {**_inner(row), **_parts(row)}
        parts = {**around, **said}
        setting, entry = _lever(said, parts, _own(row, text))
        if setting is None or entry is None:
            continue
        setup = Setup(title=_text(parts.get("name") or parts.get("title") or parts.get("id")))
        _add_context(setup, parts, text, batched=setting.kind == "batch")
        setup.add((setting,), text.place(entry.key.span), text.place(entry.value.span))
        first = min(one.key.span.start for one in row.entries)
        proposal = proposal_of(setup, source, text.place(Span(first, row.span.end)))
        if proposal is not None:
            proposal = _with_claim(proposal, parts, text)
            yield _in_phase(proposal, parts.get("phase") or parts.get("stage"), text)


def _rows(root: Node) -> Iterator[MapNode]:
    """Rows that name a technique or a batch, and what it is to gain."""
    lists = [(root, _CLAIM)]
    for entry in root.entries if isinstance(root, MapNode) else ():
        name = kebab(entry.key.text)
        if name in _ROWS:
            lists.append((entry.value, _GAIN if name in _IDEAS else _CLAIM))
    for node, gain in lists:
        for row in _items(node, whole=node is root):
            if isinstance(row, MapNode) and _is_row(row, gain):
                yield row


def _items(node: Node, *, whole: bool) -> Iterator[Node]:
    """Rows of a list, or of a mapping by their names; one idea alone is a row."""
    if isinstance(node, ListNode):
        yield from node.items
    elif isinstance(node, MapNode):
        yield node
        if not whole:
            yield from (entry.value for entry in node.entries)


def _is_row(row: MapNode, gain: str) -> bool:
    parts = _parts(row)
    if not any(re.fullmatch(gain, name) for name in parts):
        return False
    return _technique(parts) is not None or any(name in parts for name in _BATCH)


def _technique(parts: _Parts) -> tuple[_Meaning, Entry] | None:
    """What a row says its technique is, by a name or by a number that only one technique has."""
    for name in _TECHNIQUE:
        meaning = _meaning(_text(parts.get(name)))
        if meaning is not None:
            return meaning, parts[name]
    for name, entry in parts.items():
        if isinstance(entry.value, MapNode) and (meaning := _meaning(name)) is not None:
            return meaning, entry
    if _share(parts) is not None and "sparsity" in parts:
        return _prune("unstructured"), parts["sparsity"]
    if whole_of(_value(parts, "bits")) is not None:
        return _weights, parts["bits"]
    return None


def _parts(node: Node) -> dict[str, Entry]:
    if not isinstance(node, MapNode):
        return {}
    return {kebab(entry.key.text): entry for entry in node.entries}


def _inner(row: MapNode) -> dict[str, Entry]:
    """What blocks of a row say: {pruning: {pattern: ..., sparsity: 0.6}}."""
    return {
        name: entry
        for block in row.entries
        if _meaning(block.key.text) is not None
        for name, entry in _parts(block.value).items()
    }


def _own(row: MapNode, text: InnerText) -> frozenset[str]:
    """Keys that a row has itself: what an alias brings in stands at the alias."""
    return frozenset(
        kebab(entry.key.text)
        for entry in row.entries
        if not text.text.startswith("*", entry.key.span.start)
    )


def _lever(said: _Parts, parts: _Parts, own: frozenset[str]) -> tuple[Setting | None, Entry | None]:
    """The lever that a row says, with what stands around it, and the entry that names it."""
    found = _technique(said)
    if found is not None:
        meaning, named = found
        return meaning(kebab(_text(named) or named.key.text), parts), named
    sizes = (parts[name] for name in _BATCH if name in own)
    entry = next((one for one in sizes if (whole_of(_text(one)) or 0) > 1), None)
    return (None, None) if entry is None else (_batch("", parts), entry)


def _add_context(setup: Setup, parts: _Parts, text: InnerText, *, batched: bool) -> None:
    """Model, device, engine, batch and context; a row on the batch states the new one."""
    for name in ("model", "checkpoint", "base-model"):
        entry = parts.get(name)
        if entry is not None and _text(entry):
            place = text.place(entry.value.span)
            facts = [one for one in model(_text(entry)) if isinstance(one, Fact)]
            setup.add(facts, place, place)
            break
    for name, entry in parts.items():
        place = text.place(entry.value.span)
        found = device_of(entry)
        if found is not None and setup.hardware is None:
            setup.hardware = (found[0], text.place(found[1]))
        number = whole_of(_text(entry))
        if name in {"engine", "runtime", "framework", "server"} and setup.engine is None:
            setup.engine, setup.engine_span = engine_named_in(_text(entry)), place
        elif name in {"dtype", "precision", "torch-dtype"}:
            setup.add([one for one in dtype(_text(entry)) if isinstance(one, Fact)], place)
        elif name in _BATCH and number is not None and number > 0 and not batched:
            setup.add((Fact("batch", number),), place, place)
        elif name in _CONTEXT and number is not None and number > 0:
            setup.add((Fact("context", number),), place, place)


def _with_claim(proposal: Proposal, parts: _Parts, text: InnerText) -> Proposal:
    """The proposal with what its row is to gain, in words where it is a bare number."""
    name = next((one for one in parts if re.fullmatch(_GAIN, one)), "")
    said = _in_words(name, _text(parts.get(name)).strip())
    if not said:
        return proposal
    claim = Sentence(said, text.place(parts[name].value.span))
    first, *others = proposal.levers
    return proposal._replace(levers=(first._replace(claim=claim), *others))


def _in_words(name: str, written: str) -> str:
    number = number_of(written.rstrip("xX%").strip())
    if number is None:
        return written
    percent = number * 100 if "%" not in written else number
    if re.search("speed-?up", name):
        return f"{number:g}x speedup" if "%" not in written else f"{number:g}% faster"
    if re.search("(?:latency|tpot).*(?:reduction|gain|improvement)", name) and 0 < percent < 100:
        return f"{percent:g}% lower latency"
    if "throughput" in name and number >= 1 and "%" not in written:
        return f"{number:g}x throughput"
    return written if written[-1:] in "xX%" else ""


def _in_phase(proposal: Proposal, entry: Entry | None, text: InnerText) -> Proposal:
    named: dict[str, Phase] = {"decode": "decode", "prefill": "prefill"}
    phase = named.get(_text(entry).lower())
    if entry is None or phase is None:
        return proposal
    stated: Stated[Phase] = Stated(phase, "given", text.place(entry.value.span))
    return proposal._replace(workload=proposal.workload._replace(phase=stated))


def _value(parts: _Parts, *names: str) -> str:
    return next((_text(parts[name]) for name in names if _text(parts.get(name))), "")


def _share(parts: _Parts) -> float | None:
    """A part of the whole, as a fraction or in percent."""
    written = _value(parts, "sparsity", "ratio", "amount", "prune-ratio", "pruning-ratio", "drop")
    number = number_of(written.removesuffix("%").strip())
    if number is not None and (written.endswith("%") or 1 < number < 100):
        number /= 100
    return number if number is not None and 0 < number < 1 else None


def _prune(pattern: str) -> _Meaning:
    def read(_: str, parts: _Parts) -> Setting:
        fields: dict[str, object] = {"pattern": pattern}
        share, stored = _share(parts), _value(parts, "storage", "stored", "layout")
        if share is not None and pattern != "2:4":
            fields["sparsity"] = share
        if stored:
            fields["storage"] = stored.lower()
        return Setting("prune", fields)

    return read


def _weights(word: str, parts: _Parts) -> Setting:
    """A width with its group, or a format by its name."""
    bits = whole_of(_value(parts, "bits", "num-bits", "weight-bits", "w-bits").removesuffix("-bit"))
    group = whole_of(_value(parts, "group-size", "group"))
    named = _value(parts, "format", "scheme", "quantization", "weights", "to", "target-dtype")
    form = weight_format(named) or weight_format(word) or named_precision(word).weights
    if bits is not None and 1 <= bits <= 8 and (form is None or not form.startswith("fp")):
        form = integer_format(bits, 128 if group is None else group)
    return Setting("quantize", {"weights": form or AUTO})


def _cache(word: str, parts: _Parts) -> Setting:
    named = _value(parts, "format", "kv-cache-dtype", "kv-dtype", "dtype-kv", "bits", "to")
    inside = re.search(r"(?:fp|int)\d", word)
    return Setting("quantize", {"kv_cache": kv_format(named or (inside or [AUTO])[0]) or AUTO})


def _speculate(word: str, parts: _Parts) -> Setting:
    fields: dict[str, object] = {}
    method = re.search(r"eagle|medusa|mtp|n-?gram|lookahead|suffix", word)
    if method is not None:
        fields["method"] = method[0].replace("-", "")
    count = whole_of(_value(parts, "draft-tokens", "num-speculative-tokens", "k", "gamma"))
    if count is not None and count > 0:
        fields["draft_tokens"] = count
    if draft := _value(parts, "draft-model", "draft"):
        fields["draft_model"] = draft
    accepted = number_of(_value(parts, "acceptance", "acceptance-rate"))
    if accepted is not None and 0 < accepted < 1:
        fields["acceptance"] = accepted
    return Setting("speculate", fields)


def _batch(_: str, parts: _Parts) -> Setting:
    size = whole_of(_value(parts, "new-batch-size", "to", *_BATCH))
    return Setting("batch", {"batch": size if size is not None and size > 1 else "unknown"})


def _split(kind: str) -> _Meaning:
    def read(_: str, parts: _Parts) -> Setting:
        size = whole_of(_value(parts, "size", "degree", "ways", "tp", "num-gpus", "gpus", "to"))
        return Setting(kind, {"size": size if size is not None and size > 1 else "unknown"})

    return read


def _plain(kind: str, **fields: object) -> _Meaning:
    def read(_: str, __: _Parts) -> Setting:
        return Setting(kind, MappingProxyType(fields))

    return read


_MEANINGS: Final[tuple[tuple[str, _Meaning], ...]] = (
    (r"kv.*(?:quant|fp8|int[48])|(?:quant|fp8|int[48]).*kv", _cache),
    (r"sparse-attention", _plain("sparse_attention")),
    (r"activation-sparsity", _plain("activation_sparsity")),
    (r"(?:layer|block|depth).*(?:prun|drop|remov)|prun.*layer|short-?gpt", _prune("layers")),
    (r"head.*prun|prun.*head", _prune("heads")),
    (r"expert.*(?:prun|drop)|prun.*expert|reap", _prune("experts")),
    (r"semi-?struct|2[-:]?(?:of-?)?4|^n[-:]m(?:$|-)", _prune("2:4")),
    (r"(?:^|-)(?:width|channel|neuron)|^structured-(?:prun|spars)|slice-?gpt",
     _prune("channels")),
    (r"prun|sparsi|unstructured|wanda|sparse-?gpt|magnitude|lottery", _prune("unstructured")),
    (r"quant|(?:^|-)(?:u?int|fp|nf|mxfp|nvfp)-?[2-8](?:$|-)|awq|gptq|(?:^|-)w[2-8]-?a\d",
     _weights),
    (r"specul|eagle|medusa|draft|(?:^|-)mtp(?:$|-)|lookahead|n-?gram", _speculate),
    (r"continuous-batch|in-?flight-batch", _plain("continuous_batching")),
    (r"batch", _batch),
    (r"tensor-parallel|^tp(?:-?\d+)?$", _split("tensor_parallel")),
    (r"pipeline-parallel|^pp$", _split("pipeline_parallel")),
    (r"data-parallel|^dp$", _split("data_parallel")),
    (r"expert-parallel|^ep$", _split("expert_parallel")),
    (r"cuda-?-?graph", _plain("cuda_graphs")),
    (r"torch-?compile|^compil", _plain("compile")),
    (r"flash-?-?attention|attention-kernel", _plain("attention_kernel")),
    (r"(?:prefix|prompt)-cach", _plain("prefix_cache")),
    (r"chunked-prefill", _plain("chunked_prefill")),
    (r"disagg", _plain("disaggregate")),
)  # fmt: skip
"""Techniques by the words people name them with; the first that fits."""


def _meaning(word: str) -> _Meaning | None:
    """What a technique's name means; None for a word that names none."""
    name = kebab(word).replace(" ", "-")
    if not name or len(name) > _LONGEST_NAME:
        return None
    return next((meaning for words, meaning in _MEANINGS if re.search(words, name)), None)
