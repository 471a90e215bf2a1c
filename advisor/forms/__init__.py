"""Patterns that are looked for in every sentence of a document and seldom found."""

from __future__ import annotations

from advisor.forms.form import Form, Forms

__all__ = ["Form", "Forms"]
