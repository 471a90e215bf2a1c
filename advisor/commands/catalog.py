"""`rooflint catalog`: what is known of models, hardware, formats, engines and levers."""

from __future__ import annotations

import sys

from advisor.outcome import Outcome
from advisor.reports.catalog import catalog_json, catalog_text
from advisor.reports.style import Style


def run_catalog(name: str, words: str, output: str, style: Style) -> Outcome:
    """List the entries of a catalog that hold all of the words, as text or as json."""
    if output == "json":
        return Outcome(catalog_json(name, words) + "\n")
    text = catalog_text(name, words, style, fit=sys.stdout.isatty())
    return Outcome(text, error="" if text else f"rooflint: no {name} match {words!r}\n")
