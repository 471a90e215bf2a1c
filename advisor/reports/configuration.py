"""Which settings hold and where each comes from: the output of `rooflint config`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from advisor.checking import known_rules
from advisor.config import Configuration
from advisor.config_table import CONTEXT
from advisor.deployment import (
    REFERENCE_BATCH,
    REFERENCE_CONTEXT,
    REFERENCE_ENGINE,
    REFERENCE_HARDWARE,
    REFERENCE_MODEL,
)
from advisor.plan import Plan
from advisor.reports.columns import table
from advisor.reports.style import Style, clean

_REFERENCE: Final[Mapping[str, Any]] = {
    "model": REFERENCE_MODEL,
    "hardware": REFERENCE_HARDWARE,
    "engine": REFERENCE_ENGINE,
    "phase": "decode",
    "batch": REFERENCE_BATCH,
    "context": REFERENCE_CONTEXT,
    "weights": "as the model's checkpoint",
    "kv_cache": "bf16",
    "activations": "as the weights",
    "lm_head": "as the weights of the model",
}
"""What is assumed where neither a proposal nor the settings state it."""


class Row(NamedTuple):
    """One setting."""

    name: str
    value: Any
    origin: str
    """The file that sets it, or "default"."""


def rows(configured: Configuration) -> tuple[Row, ...]:
    """Every setting, in the order of the documentation."""
    file = "" if configured.path is None else os.path.relpath(configured.path)
    settings = configured.settings._asdict()
    facts = settings.pop("context")
    found = [
        Row(
            name.replace("_", "-"),
            dict(value) if isinstance(value, Mapping) else value,
            file if name in configured.given else "default",
        )
        for name, value in settings.items()
    ]
    found += (
        Row(
            f"context.{name}",
            facts.get(name, _REFERENCE.get(name)),
            file if name in facts else "default",
        )
        for name in CONTEXT
    )
    return tuple(found)


def configuration_text(
    configured: Configuration, plan: Plan, paths: Sequence[str], style: Style
) -> str:
    """A table of the settings, and what they mean for each of the paths."""
    lines = table(
        ("setting", "from", "value"),
        [(row.name, row.origin, _literal(row.value)) for row in rows(configured)],
        style,
    )
    if configured.settings.rules and not configured.named:
        lines.append("(rules are loaded only where --config names the file)")
    if paths:
        lines.append("")
    lines += (_told(path, plan) for path in paths)
    return "\n".join(lines) + "\n"


def configuration_json(configured: Configuration, plan: Plan, paths: Sequence[str]) -> str:
    """The same for programs."""
    whole = {
        "version": 1,
        "file": None if configured.path is None else str(configured.path),
        "settings": [row._asdict() for row in rows(configured)],
        "paths": [
            {
                "path": path,
                "excluded": plan.run.scope.excludes(path),
                "rules": sorted(_running(path, plan)),
            }
            for path in paths
        ],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _literal(value: Any) -> str:
    """A value as it is written in TOML; nothing as a dash."""
    if value is None or value in ((), {}):
        return "-"
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(key)} = {_literal(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _running(path: str, plan: Plan) -> frozenset[str]:
    return (plan.run.codes or frozenset()) - plan.run.scope.ignored(path)


def _told(path: str, plan: Plan) -> str:
    """What happens to a path."""
    if plan.run.scope.excludes(path):
        return f"{clean(path)}: left out by exclude"
    every = {rule.code for rule in known_rules(plan.run.rules).rules}
    missing = sorted(every - _running(path, plan))
    if not missing:
        return f"{clean(path)}: all {len(every)} rules run"
    return (
        f"{clean(path)}: {len(every) - len(missing)} of {len(every)} rules run, "
        f"not {', '.join(missing)}"
    )
