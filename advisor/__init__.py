"""rooflint: which ideas make LLM inference faster, by the bytes they really remove.

    from advisor import Deployment, predict

    estimate = predict(Deployment(model="Llama-3.1-70B", hardware="2 x H100 SXM", weights="fp8"))
    estimate.expected_ms.mid

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from advisor.audit import Audit, LeverAudit, Verdict, audit
    from advisor.checking import Checked, check
    from advisor.context import Defaults
    from advisor.deployment import Deployment, DeploymentError
    from advisor.finding import Confidence, Finding, Severity
    from advisor.proposal import Proposal, Reading
    from advisor.readers import read
    from advisor.roofline import Estimate, Interval, predict
    from advisor.source import Source

__all__ = [
    "Audit",
    "Checked",
    "Confidence",
    "Defaults",
    "Deployment",
    "DeploymentError",
    "Estimate",
    "Finding",
    "Interval",
    "LeverAudit",
    "Proposal",
    "Reading",
    "Severity",
    "Source",
    "Verdict",
    "audit",
    "check",
    "predict",
    "read",
]

_MODULES: Final = MappingProxyType(
    {
        "Audit": "audit",
        "Checked": "checking",
        "Confidence": "finding",
        "Defaults": "context",
        "Deployment": "deployment",
        "DeploymentError": "deployment",
        "Estimate": "roofline",
        "Finding": "finding",
        "Interval": "roofline",
        "LeverAudit": "audit",
        "Proposal": "proposal",
        "Reading": "proposal",
        "Severity": "finding",
        "Source": "source",
        "Verdict": "audit",
        "audit": "audit",
        "check": "checking",
        "predict": "roofline",
        "read": "readers",
    }
)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `advisor.audit` the function, whoever imports the module of that name first."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
