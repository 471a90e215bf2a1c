"""Names of models as people write them: makers, chat versions and precisions set aside.

"meta-llama/Llama-3.1-70B-Instruct", "llama 3.1 70b" and "llama3.1:70b-instruct-q4_K_M" mean one
architecture. What is set aside is what does not change a tensor: who made or tuned the model, the
date, and the precision of a repackaged checkpoint, which `ModelMatch.quantized_as` reports. A word
that nobody here knows ("Minitron", "EAGLE3") may well change tensors, so it leaves the name
unknown. So does a family without a size: "Llama" has twenty shapes, and none is a fair guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from advisor.catalog.names import MAX_NAME, Match, key, nearest_names, squeeze, words
from advisor.catalog.store import load_index
from advisor.ledger.formats import UnknownFormatError, parse_format

MAKERS = frozenset((
    "meta", "nvidia", "microsoft", "google", "openai", "ibm", "facebook", "mistralai", "the",
))  # fmt: skip
"""Words that are left out of every key: makers, where they stand in a model's name."""

QUALIFIERS = frozenset((
    "instruct", "chat", "it", "hf", "base", "pt", "sft", "dpo", "preview", "thinking", "reasoning",
    "latest", "text", "ga", "release", "official", "model", "llm", "parameter", "parameters",
    "param", "params", "dense", "moe", "weights", "checkpoint", "abliterated", "uncensored",
    "finetune", "finetuned",
))  # fmt: skip
"""Words that change no tensor's shape."""

DATE = re.compile(r"(?:2[0-9](?:0[1-9]|1[0-2])|0[1-9][0-3][0-9]|1[0-2][0-3][0-9])")
"""Year and month (2507) or month and day (0528) of a checkpoint."""
_CONTEXT = re.compile(r"\d+k")
"""Context length of a longer version, where the catalog does not tell them apart."""
_PACKAGING = re.compile(r"\.(?:gguf|safetensors)$|-v\d:\d$")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(b|m)")
_SIZE_TOLERANCE = 0.12
"""Sizes in names are round: Mistral-Nemo-12B has 12.25 billion parameters, GPT-2 "117M" 124."""

# Precisions, and the words of packaging that come with them.
_PRECISION = re.compile(
    r"""(?<![a-z0-9])(?<!\d\.)(?:
      (?:ud[-_])?(?P<gguf>i?q[1-8]_[0-9a-z]{1,3}(?:_[a-z]{1,3})?|tq[12]_0|iq[1-4]_[a-z]{1,3})
    | (?P<k_quant>q[2-8])
    | (?P<name>awq|gptq|bnb|bitsandbytes|mlx|nf4|nvfp4|mxfp4|mxfp8|fp4|int[2-8]|w[2-8]a(?:16|8|4)
        |fp8(?:[-_](?:dynamic|block|static(?:[-_]per[-_]?tensor)?|per[-_]tensor|kv))?
        |bf16|fp16|f16|float16|fp32|hqq|aqlm|autoround|auto[-_]round|smoothquant|quip|qtip)
    | (?P<bits>[2-8])[ -_]?bits?
    | (?P<bpw>\d(?:\.\d{1,2})?)[ ]?bpw
    | (?P<group>g(?:128|64|32)|(?:128|64|32)g)
    | gguf|exl[23]|quantized|marlin|imatrix|i1|unsloth|dwq|qat|torchao|gs128|h[68]|dynamic
    )(?![a-z0-9])""",
    re.VERBOSE,
)
# "llama31-70b", "Llama-3_3", "llama-v3p1": a version number without its point.
_TWO_DIGITS = re.compile(r"(?<=[a-z])([1-4])([1-9])(?=[^a-z0-9.]|$)")
_VERSION_LETTER = re.compile(r"(?<![a-z])v(?=\d)")
_POINT = re.compile(r"(?<![\d.])([1-5])[-_p ]([1-9])(?![\d.x])(?!\s?[bm](?![a-z]))")


@dataclass(frozen=True, slots=True)
class ModelMatch(Match):
    """What the name of a model may stand for: candidates are repository identifiers."""

    quantized_as: str | None = None
    """Number format that stands in the name and not in the catalog's config: int4-g128, fp8 ..."""
    note: str = ""
    """How the named model differs from the candidate whose shape it has."""


@lru_cache(maxsize=1024)
def resolve_model(text: str) -> ModelMatch:
    """Find the models of the catalog that a name may stand for.

    Nothing found, and the nearest known names, where a word is unknown or the size is missing.
    """
    name = text.strip()
    if len(name) > MAX_NAME:
        return ModelMatch(())
    if found := known_model(name):
        return found
    plain = _PACKAGING.sub("", name.lower().rpartition("/")[2])
    return ModelMatch((), nearest=nearest_names(plain, _spellings()))


def known_model(name: str) -> ModelMatch | None:
    """The models that a name may stand for; None where it is none, at the cost of a few look-ups.

    `name` is no longer than `MAX_NAME`.
    """
    if name in load_index("models").places:
        return ModelMatch((name,), exact=True)
    maker, _, last = name.lower().rpartition("/")
    for reading in _readings(_PACKAGING.sub("", last)):
        bare, precision = _split_precision(reading, packed_for_mlx="mlx" in maker)
        for spelled, quant in ((reading, None), (bare, precision)):
            if found := _lookup(spelled, quant, exact=spelled == reading):
                return found
    return None


def _readings(plain: str) -> Iterator[str]:
    """The name as it stands, then with a version number read as one: "3-1", "3p1", "31"."""
    pointed = _POINT.sub(r"\1.\2", plain)
    split = _TWO_DIGITS.sub(r"\1.\2", plain)
    yield from dict.fromkeys((plain, pointed, split, _VERSION_LETTER.sub("", pointed)))


def _lookup(spelled: str, quant: str | None, *, exact: bool) -> ModelMatch | None:
    parts = words(spelled)
    unqualified = [word for word in parts if word not in QUALIFIERS]
    undated = [word for word in unqualified if not DATE.fullmatch(word)]
    short = [word for word in undated if not _CONTEXT.fullmatch(word)]
    for kept in (parts, unqualified, undated, short):
        if found := _match(kept, exact=exact and len(kept) == len(parts), quant=quant):
            return found
    # "DeepSeek-V3 671B", "Phi-4 14B": a size that the catalog's name does not carry.
    totals: dict[str, int] = load_index("models").tables["parameters"]
    for position, word in enumerate(undated):
        if not (size := _SIZE.fullmatch(word)):
            continue
        stated = float(size[1]) * (1e9 if size[2] == "b" else 1e6)
        found = _match(undated[:position] + undated[position + 1 :], exact=False, quant=quant)
        if found and all(
            abs(totals.get(candidate, 0) / stated - 1) <= _SIZE_TOLERANCE
            for candidate in found.candidates
        ):
            return found
    return None


def _match(parts: list[str], *, exact: bool, quant: str | None) -> ModelMatch | None:
    index = load_index("models")
    name = key(parts, MAKERS)
    identifiers = index.names.get(name)
    if not identifiers:
        return None
    tables = index.tables
    return ModelMatch(
        tuple(identifiers),
        exact=exact,
        differ=tables["ambiguous"].get(name, ("", ""))[1],
        quantized_as=quant,
        note=tables["notes"].get(name, ""),
    )


def _split_precision(plain: str, *, packed_for_mlx: bool) -> tuple[str, str | None]:
    """Take the precision out of a name: what is left, and the format's name."""
    found = list(_PRECISION.finditer(plain))
    if not found:
        return plain, None
    rest = _PRECISION.sub(" ", plain)
    spelled = [match[0].replace("_", "-") for match in found]
    bits = next((match["bits"] for match in found if match["bits"]), None)
    bits = bits or next((match[0][3] for match in found if match[0].startswith("int")), None)
    group = next((match["group"].strip("g") for match in found if match["group"]), None)
    for match in found:
        if match["gguf"] or match["bpw"]:
            return rest, _format(match["gguf"] or f"{match['bpw']}bpw")
        if match["k_quant"]:
            return rest, _format("q8_0" if match["k_quant"] == "q8" else f"{match['k_quant']}_k")
    if (packed_for_mlx or "mlx" in spelled) and bits:
        return rest, _format(f"int{bits}-g{group or 64}")
    if {"bnb", "bitsandbytes"} & {*spelled}:
        return rest, _format("bnb-8bit" if bits == "8" else "bnb-4bit")
    if {"gptq", "awq"} & {*spelled} and (bits or "4") != "4":
        return rest, _format(f"int{bits}-g{group or 128}")
    if {"gptq", "awq"} & {*spelled} and (group or "128") != "128":
        return rest, _format(f"int4-g{group}-asym")
    names = [match["name"].replace("_", "-") for match in found if match["name"]]
    if bits and group:
        return rest, _format(f"int{bits}-g{group}")
    for name in (*names, *([f"int{bits}"] if bits else [])):
        if known := _format(name) or _format(name.split("-")[0]):
            return rest, known
    return rest, None


def _format(text: str) -> str | None:
    try:
        return parse_format(text).name
    except UnknownFormatError:
        return None


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    index = load_index("models")
    known = {squeeze(name.split("/")[-1]): name for name in index.places}
    known.update({squeeze(alias): alias for alias in index.tables["aliases"]})
    return known
