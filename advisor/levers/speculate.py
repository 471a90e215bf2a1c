"""Speculative decoding: draft several tokens, verify them in one pass over the weights."""

from __future__ import annotations

import re
from typing import ClassVar, Final, Literal

from advisor.deployment import Deployment, Speculation, find_model
from advisor.levers.base import Count, Factor, Lever, Nature, Ratio

_METHODS: Final = {
    "eagle": "eagle", "eagle2": "eagle", "eagle3": "eagle", "medusa": "medusa", "hydra": "medusa",
    "mtp": "mtp", "nextn": "mtp", "multitokenprediction": "mtp", "ngram": "ngram",
    "promptlookup": "ngram", "suffix": "ngram", "lookahead": "ngram", "rest": "ngram",
    "draftmodel": "draft_model", "draft": "draft_model", "assisted": "draft_model",
    "speculative": "draft_model", "layerskip": "self", "selfspeculation": "self",
    "kangaroo": "self",
}  # fmt: skip
_DEFAULT_DRAFT: Final = 3
_LARGE_BATCH: Final = 16
"""Sequences from which published gains of speculation shrink fast."""


class Speculate(Lever):
    """A cheap draft proposes tokens, one pass of the model verifies them all."""

    nature: ClassVar[Nature] = Nature.TOKENS

    kind: Literal["speculate"] = "speculate"
    method: str | None = None
    draft_model: str | None = None
    draft_tokens: Count | None = None
    acceptance: Ratio | None = None
    tokens_per_pass: Factor | None = None

    @property
    def machine_kind(self) -> str:
        """Speculative."""
        return "speculative"

    @property
    def label(self) -> str:
        """Method and draft length."""
        name = self.method or ("draft model" if self.draft_model else "speculation")
        length = f", {self.draft_tokens} draft tokens" if self.draft_tokens else ""
        return f"{name}{length}"

    def speculation(self) -> Speculation:
        """The lever as the ledger reads it; tokens per pass from acceptance where stated.

        (1-a^(g+1))/(1-a) tokens leave a pass of g drafts accepted independently with chance a.
        """
        flat = re.sub(r"[^a-z0-9]", "", (self.method or "draft").lower())
        method = _METHODS.get(flat, "draft_model")
        draft = self.draft_tokens or _DEFAULT_DRAFT
        tokens = self.tokens_per_pass
        if tokens is None and self.acceptance is not None:
            a = self.acceptance
            tokens = draft + 1.0 if a >= 1.0 else (1.0 - a ** (draft + 1)) / (1.0 - a)
        model = find_model(self.draft_model) if self.draft_model else None
        return Speculation(method, draft, tokens, model)

    def apply(self, deployment: Deployment) -> Deployment:
        """Passes of several query tokens, drafts before each."""
        return deployment.evolve(speculation=self.speculation())

    def condition(self, deployment: Deployment) -> str | None:
        """A batch so large that verifying drafts is work, not spare arithmetic."""
        if deployment.batch >= _LARGE_BATCH:
            return f"a small batch: at {deployment.batch} sequences verifying drafts costs time"
        return None
