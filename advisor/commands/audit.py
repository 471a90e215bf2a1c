"""`rooflint audit`: the scored table of each proposal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from advisor.checking import audit_paths
from advisor.commands.options import SettingsOptions
from advisor.commands.settings import configured_by, planned_by
from advisor.outcome import Outcome
from advisor.reports.style import Style

_NOTHING: Final = (
    "rooflint: nothing to audit: no proposal, no lever and no statement about the speed of"
    " inference was found\n"
)


def run_audit(
    paths: Sequence[str], settings: SettingsOptions, output: str, style: Style
) -> Outcome:
    """Audit every proposal in files and folders, as text or as json."""
    audited = audit_paths(paths, planned_by(configured_by(settings)).run)
    if output == "json":
        from advisor.reports.machine import audits_record  # noqa: PLC0415

        record = audits_record(audited.audits, audited.problems, audited.sources)
        return Outcome(record.model_dump_json(by_alias=True, indent=2) + "\n")
    from advisor.reports import table, text  # noqa: PLC0415

    parts = [table.audit_text(one, style) for one in audited.audits]
    parts += text.frames(audited.problems, audited.sources, style)
    if not parts:
        return Outcome("", error=_NOTHING)
    return Outcome("\n".join(parts))
