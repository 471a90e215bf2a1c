"""Compile the catalogs: `python -m advisor.catalog.compile [--check]`.

hardware.yaml becomes hardware.json and hardware_index.json, which load in a fraction of a
millisecond. models.json is source and store in one (an entry a line); models_index.json says where
its entries stand. engines.yaml and features.yaml become engines.json and features.json. `--check`
writes nothing and fails where a file is not what its source says.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

import yaml

from advisor.catalog.engines import compile_engines
from advisor.catalog.features import compile_features
from advisor.catalog.hardware import MAKERS
from advisor.catalog.model_names import DATE, QUALIFIERS
from advisor.catalog.model_names import MAKERS as MODEL_MAKERS
from advisor.catalog.names import key, words
from advisor.catalog.store import FOLDER, render_lines

_DROPPED = frozenset(("formula_crosscheck",))


class CatalogError(ValueError):
    """The source of a catalog contradicts itself."""


def compile_hardware(text: str) -> dict[str, bytes]:
    """Turn the text of hardware.yaml into the compiled files, by file name.

    Raises:
        CatalogError: where one name belongs to two devices outside the table of ambiguous ones.

    """
    data = yaml.load(text, Loader=yaml.CSafeLoader)
    entries = {entry["id"]: _device(entry) for entry in data["devices"]}
    if len(entries) != len(data["devices"]):
        raise CatalogError("two devices have one id")
    names: dict[str, list[str]] = {}
    ambiguous: dict[str, list[str]] = {}
    for row in data["ambiguous"]:
        name = key(words(row["alias"]), MAKERS)
        if names.setdefault(name, row["candidates"]) != row["candidates"]:
            raise CatalogError(f"{row['alias']!r} is twice in the table of ambiguous names")
        ambiguous.setdefault(name, [row["alias"], row["differ"]])
    for identifier, entry in entries.items():
        for alias in (identifier, entry["name"], *entry["aliases"]):
            name = key(words(alias), MAKERS)
            taken = names.setdefault(name, [identifier])
            if taken != [identifier]:
                raise CatalogError(f"{alias!r} of {identifier} also means {', '.join(taken)}")
    instances: dict[str, int] = {}
    for row in data["instances"]:
        name = key(words(row["type"]), MAKERS)
        if names.setdefault(name, [row["device"]]) != [row["device"]]:
            raise CatalogError(f"{row['type']!r} also means {', '.join(names[name])}")
        instances[name] = row["count"]
    lines, places = render_lines(entries)
    tables = {"ambiguous": ambiguous, "instances": instances, "sources": data["sources"]}
    return {"hardware.json": lines, "hardware_index.json": _index(names, places, tables)}


def compile_models(configs: str, names_text: str) -> dict[str, bytes]:
    """Turn models.json into its canonical layout and, with model_names.yaml, into its index.

    A name goes to the first of: a repository's own name, an alias, a repository's name without
    the words that change no shape. What is left to several models keeps them all.

    Raises:
        CatalogError: where an alias names two models, or one that is not there.

    """
    entries = json.loads(configs)
    given = yaml.load(names_text, Loader=yaml.CSafeLoader)
    names: dict[str, list[str]] = {}
    ambiguous: dict[str, list[str]] = {}
    notes: dict[str, str] = {}
    for repo in entries:
        names.setdefault(key(words(_repo_name(repo)), MODEL_MAKERS), []).append(repo)
    for row in given["ambiguous"]:
        name = key(words(row["name"]), MODEL_MAKERS)
        _claim(names, name, row["candidates"], row["name"], entries)
        ambiguous[name] = [row["name"], row["differ"]]
    for row in given["aliases"]:
        for alias in row["names"]:
            name = key(words(alias), MODEL_MAKERS)
            _claim(names, name, [row["model"]], alias, entries)
            notes[name] = row["why"]
    for shorten in (_unqualified, _undated, _without_active_size):
        shortened: dict[str, list[str]] = {}
        for repo in entries:
            name = shorten(_repo_name(repo))
            if name and name not in names:
                shortened.setdefault(name, []).append(repo)
        names |= {name: _distinct(repos, entries) for name, repos in shortened.items()}
    lines, places = render_lines(entries)
    tables = {
        "ambiguous": ambiguous,
        "notes": notes,
        "aliases": [alias for row in given["aliases"] for alias in row["names"]],
        "parameters": {
            repo: entry["parameters"] for repo, entry in entries.items() if entry["parameters"]
        },
    }
    return {"models.json": lines, "models_index.json": _index(names, places, tables)}


def _repo_name(repo: str) -> str:
    return repo.rsplit("/", maxsplit=1)[-1]


def _claim(
    names: dict[str, list[str]],
    name: str,
    repos: list[str],
    spelled: str,
    entries: Mapping[str, Any],
) -> None:
    if missing := [repo for repo in repos if repo not in entries]:
        raise CatalogError(f"{spelled!r} names {missing[0]}, which is not in the catalog")
    if names.setdefault(name, repos) != repos:
        raise CatalogError(f"{spelled!r} also means {', '.join(names[name])}")


def _unqualified(name: str) -> str:
    return key(words(name.removesuffix("-BF16")), MODEL_MAKERS | QUALIFIERS)


def _undated(name: str) -> str:
    kept = [word for word in words(name) if not DATE.fullmatch(word)]
    return key(kept, MODEL_MAKERS | QUALIFIERS)


def _without_active_size(name: str) -> str:
    """Give Qwen3-30B for Qwen3-30B-A3B."""
    return _unqualified(re.sub(r"-A\d+(?:\.\d+)?B(?![A-Za-z0-9])", "", name))


def _distinct(repos: list[str], entries: Mapping[str, Any]) -> list[str]:
    """Of models under one name, the plainest of each shape: unquantized, with the shortest name."""
    by_shape: dict[str, str] = {}
    for repo in sorted(repos, key=lambda repo: (len(repo), repo)):
        by_shape.setdefault(_shape(entries[repo]["config"]), repo)
    return list(by_shape.values())


def _shape(config: Mapping[str, Any]) -> str:
    """The numbers of a config that decide what a decode step moves."""
    text = config.get("text_config", config)
    ignored = re.compile(r"_id$|_ids$|^id2|^transformers|rope|max_position|^bos|^eos|^pad|dtype")
    kept = {name: value for name, value in sorted(text.items()) if not ignored.search(name)}
    return json.dumps({name: v for name, v in kept.items() if isinstance(v, int | float | list)})


def _device(entry: Mapping[str, Any]) -> dict[str, Any]:
    compiled = {name: value for name, value in entry.items() if name not in _DROPPED}
    compiled["notes"] = entry["notes"] or ""
    if entry["interconnect_gbs"] is not None:
        compiled.setdefault("interconnect_one_way_gbs", entry["interconnect_gbs"] / 2)
    return compiled


def _index(
    names: Mapping[str, list[str]], places: Mapping[str, list[int]], tables: Mapping[str, Any]
) -> bytes:
    data = {"names": dict(sorted(names.items())), "places": places, "tables": tables}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def compiled_files() -> dict[str, bytes]:
    """Every compiled file of the catalogs, by file name."""
    hardware = (FOLDER / "hardware.yaml").read_text(encoding="utf-8")
    models = (FOLDER / "models.json").read_text(encoding="utf-8")
    names = (FOLDER / "model_names.yaml").read_text(encoding="utf-8")
    engines = yaml.load(
        (FOLDER / "engines.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
    )
    features = yaml.load(
        (FOLDER / "features.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
    )
    return {
        **compile_hardware(hardware),
        **compile_models(models, names),
        "engines.json": compile_engines(engines),
        "features.json": compile_features(features),
    }


def main(arguments: list[str]) -> int:
    """Write the compiled files, or with `--check` say which are stale."""
    stale = []
    for name, content in compiled_files().items():
        path = FOLDER / name
        if path.is_file() and path.read_bytes() == content:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.write_bytes(content)
    if stale and "--check" in arguments:
        sys.stderr.write(f"stale: {', '.join(stale)}; run python -m advisor.catalog.compile\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
