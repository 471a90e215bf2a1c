"""A folder of 1,000 manifests: how long `check` and `audit` take, start-up included.

    python benchmarks/manifests.py [COUNT]

Half are serving configs and recipes in the forms of fixtures/serving with names and numbers of
their own, half are what stands beside them in a repository: services, secrets, workflows.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "serving"
BAR_SECONDS = 3.0
OTHERS = (
    (
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: s{number}\nspec:\n  ports:\n"
        "    - port: 80\n      targetPort: 8000\n  selector:\n    app: a{number}\n"
    ),
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s{number}\nstringData:\n  token: x\n",
    (
        "name: CI {number}\non: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n"
        "      - uses: actions/checkout@v4\n      - run: make test\n"
    ),
    (
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: h{number}\n"
        "spec:\n  minReplicas: 1\n  maxReplicas: 4\n"
    ),
)


def write(folder: Path, count: int) -> None:
    forms = sorted(path for path in FIXTURES.iterdir() if path.suffix != ".md")
    for number in range(count):
        if number % 2:
            text = OTHERS[number // 2 % len(OTHERS)].format(number=number)
            name = f"m{number:05}.yaml"
        else:
            form = forms[number // 2 % len(forms)]
            text = f"# deployment {number}\n" * (form.suffix != ".json")
            text += form.read_text(encoding="utf-8")
            name = f"m{number:05}{form.suffix}"
        (folder / name).write_text(text, encoding="utf-8")


def seconds(*words: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "advisor", *words], check=False, capture_output=True)
    return time.perf_counter() - started


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), count)
        slow = False
        for command in ("check", "audit"):
            best = min(seconds(command, folder) for _ in range(3))
            slow |= command == "check" and best > BAR_SECONDS
            print(f"{command} of {count:,} manifests: {best:.2f} s")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
