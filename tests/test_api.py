from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import advisor

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", advisor.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(advisor, name).__name__ == name
    assert name in dir(advisor)


def test_importing_the_package_imports_nothing_else() -> None:
    code = (
        "import sys, advisor; print([name for name in sys.modules if name.startswith('advisor.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "first", ["import advisor.audit", "import advisor.checking", "from advisor import audit"]
)
def test_audit_is_the_function_whoever_imports_first(first: str) -> None:
    code = f"{first}\nimport advisor\nfrom advisor.audit import audit\nprint(type(advisor.audit))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "<class 'function'>"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'predikt'"):
        _ = advisor.predikt


def test_predict_and_check_as_a_program_uses_them(tmp_path: Path) -> None:
    estimate = advisor.predict(
        advisor.Deployment(model="Llama-3.1-8B", hardware="H100 SXM", batch=1, context=4096)
    )
    # 15.01 GB of weights and 4,096 * 131,072 bytes of cache at 3,350 GB/s.
    assert estimate.floor_ms == pytest.approx(4.64, rel=0.01)
    assert estimate.floor_ms < estimate.expected_ms.low < estimate.expected_ms.mid

    path = tmp_path / "a.yaml"
    path.write_text("rooflint: 1\nlevers:\n  - {kind: prune, storage: dense, claim: 2x}\n")
    checked = advisor.check([str(path)])
    assert [finding.rule for finding in checked.findings] == ["FLP002"]
    [proposal] = advisor.read(checked.sources[str(path)]).proposals
    judged, problems = advisor.audit(proposal)
    assert judged is not None
    assert problems == ()
    assert judged.levers[0].score == 0
