"""Models by the names that prose gives them: what the catalog knows of their size and cache.

Only names of known families are looked up, so that a text without one costs one search.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.forms import Form

_NAMES: Final = (
    "deepseek|mixtral|mistral|ministral|codestral|devstral|llama|codellama|tinyllama|qwen|"
    "qwq|gpt-oss|gpt-j|gpt-neox|phi|gemma|dbrx|grok|glm|chatglm|kimi|minimax|olmoe|olmo|"
    "command|falcon|yi|opt|bloom|pythia|vicuna|smollm|starcoder|granite|nemotron|jamba|"
    "hunyuan|ernie|seed-oss|solar|internlm|exaone|mimo|lfm2"
)
_FAMILY: Final = Form(
    rf"\b(?:(?:{_NAMES})(?![a-z])|(?-i:Scout|Maverick|R1)\b)",
)
_LETTERS: Final = re.compile(r"[a-z]+")
_FIRST_LETTERS: Final = frozenset(
    {"scout", "maverick", "r", *(_LETTERS.findall(name)[0] for name in _NAMES.split("|"))}
)
"""Every name of a family begins with one of these: quicker to look for than the names."""
_PIECE: Final = Form(
    r"[- ]?(?:v?\d[\w.]*|[Vv]\d[\w.]*|[KMRA]\d[\w.]*|R\+|R|oss|Scout|Maverick|Large|Small|Nemo|mini"
    r"|medium|MoE|Coder|Next|Flash|Air|Pro|Lite|Distill|Qwen|Llama|Instruct|Chat|it|NeMo|Nano"
    r"|Super|Ultra|Lightning|Linear|VL|Text|Plus)(?![\w])(?<![.,])",
)
_MOST_PIECES: Final = 5
_SHORTHANDS: Final = {"scout": "Llama-4-Scout", "maverick": "Llama-4-Maverick",
                      "r1": "DeepSeek-R1"}  # fmt: skip
"""Names so usual that they stand alone; where they do they must be of this very model."""
_SPARSE: Final = 0.8
"""Active over total parameters, below which a model is a mixture of experts."""


class Known(NamedTuple):
    """What the catalog says of a model."""

    repo_id: str
    parameters: float
    active: float | None
    """Of a mixture of experts; None where every token uses everything."""


class NamedModel(NamedTuple):
    """A model that a text names; offsets in the text."""

    start: int
    end: int
    model: Known


def models_in(text: str) -> list[NamedModel]:
    """The models of the catalog that a text names, in order."""
    found: list[NamedModel] = []
    if _FIRST_LETTERS.isdisjoint(_LETTERS.findall(text.lower())):
        return found
    for match in _FAMILY.finditer(text):
        if found and match.start() < found[-1].end:
            continue
        ends = [match.end()]
        while len(ends) <= _MOST_PIECES and (piece := _PIECE.match(text, ends[-1])) is not None:
            ends.append(piece.end())
        for end in reversed(ends):
            name = text[match.start() : end].rstrip(".-")
            known = _known(_SHORTHANDS.get(name.lower(), name))
            if known is not None:
                found.append(NamedModel(match.start(), match.start() + len(name), known))
                break
    return found


@lru_cache(maxsize=1024)
def _known(name: str) -> Known | None:
    from advisor.catalog.model_names import known_model  # noqa: PLC0415 - few texts name one
    from advisor.catalog.models import load_model  # noqa: PLC0415
    from advisor.ledger.families.keys import UnsupportedModelError  # noqa: PLC0415

    match = known_model(name)
    if match is None:
        return None
    try:
        model = load_model(match.candidates[0])
    except UnsupportedModelError:
        return None  # the catalog lists it, and nobody counts its bytes yet
    total, active = float(model.total_parameters), float(model.active_parameters)
    return Known(match.candidates[0], total, active if active < _SPARSE * total else None)


@lru_cache(maxsize=256)
def read_parameters(repo_id: str) -> float:
    """Weights that one token reads: of a mixture those in use; a table of embeddings is not read.

    A tied table is read as the output head.
    """
    from advisor.catalog.models import load_model  # noqa: PLC0415 - few texts need it

    model = load_model(repo_id)
    table = 0 if model.tied else model.vocabulary * model.hidden
    return float(model.active_parameters - table)


@lru_cache(maxsize=256)
def sizes_of(repo_id: str) -> tuple[float, float | None]:
    """All parameters of a model, and of a mixture those that one token reads."""
    from advisor.catalog.models import load_model  # noqa: PLC0415 - few texts need it

    model = load_model(repo_id)
    total, active = float(model.total_parameters), float(model.active_parameters)
    return total, active if active < _SPARSE * total else None


_CACHE_BYTES: Final = 2.0


@lru_cache(maxsize=256)
def cache_bytes(repo_id: str, context: int) -> float:
    """Bytes of cache that one token reads of one sequence in 16 bits: windows and latents count."""
    from advisor.catalog.models import load_model  # noqa: PLC0415 - few texts need it

    return sum(
        cache.elements * cache.read_entries(context) * layer.count * _CACHE_BYTES
        for layer in load_model(repo_id).layers
        for cache in layer.caches
    )
