"""What `rooflint check one.yaml` costs from a cold start, against an empty typer command.

`python benchmarks/cold_start.py [RUNS] [PROPOSAL]` starts both in turns with the same interpreter,
each as an installed command starts, bytecode compiled, and prints medians and their ratio. Exit 1
where the ratio of what they compute is above the bar; the clock also counts what else runs.
"""

from __future__ import annotations

import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BAR = 1.5
EMPTY = """\
import typer

app = typer.Typer()


@app.command()
def check(path: str) -> None:
    pass


def main() -> None:
    app()
"""
PROPOSAL = """\
rooflint: 1
title: FP8 weights for the 8B
model: Llama-3.1-8B
hardware: H100 SXM
engine: vllm
workload: {phase: decode, batch: 1, context: 4096}
levers:
  - kind: quantize
    weights: fp8
    claim: 1.5x
"""


def start_ms(
    module: str, arguments: list[str], place: Path, env: dict[str, str]
) -> tuple[float, float]:
    """Milliseconds from start to end of a command whose `main` stands in `module`.

    By the clock, and of the processor: what the command computes, however busy the machine is.
    """
    command = [sys.executable, "-c", f"import sys\nfrom {module} import main\nsys.exit(main())"]
    before, begin = computed_s(), time.perf_counter()
    done = subprocess.run(
        [*command, *arguments], cwd=place, env=env, stdout=subprocess.DEVNULL, check=False
    )
    spent_ms = 1000 * (time.perf_counter() - begin)
    if done.returncode != 0:
        sys.exit(f"{module} ended with {done.returncode}")
    return spent_ms, 1000 * (computed_s() - before)


def computed_s() -> float:
    """Seconds of the processor that all commands until now took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: list[str]) -> int:
    runs = int(arguments[0]) if arguments else 40
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "empty_command.py").write_text(EMPTY, encoding="utf-8")
        proposal = place / "one.yaml"
        proposal.write_text(PROPOSAL, encoding="utf-8")
        if len(arguments) > 1:
            proposal.write_bytes(Path(arguments[1]).read_bytes())
        for source in (place, ROOT / "advisor", ROOT / "rules"):
            compileall.compile_dir(str(source), quiet=1)
        env = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }
        commands = {
            "empty typer command": ("empty_command", [str(proposal)]),
            "rooflint check one.yaml": ("advisor.cli", ["check", "--exit-zero", str(proposal)]),
        }
        times_ms: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for turn in range(runs + 2):
            for name, (module, rest) in commands.items():
                spent_ms = start_ms(module, rest, place, env)
                if turn >= 2:
                    times_ms[name].append(spent_ms)
    clock, computed = (
        [statistics.median(spent[which] for spent in values) for values in times_ms.values()]
        for which in (0, 1)
    )
    for name, *medians in zip(times_ms, clock, computed, strict=True):
        print(f"{name:24} {medians[0]:6.1f} ms by the clock, {medians[1]:6.1f} ms computed")
    ratio = computed[1] / computed[0]
    print(
        f"ratio {clock[1] / clock[0]:.2f} by the clock, {ratio:.2f} computed (bar {BAR}); "
        f"medians of {runs} runs each in turns"
    )
    return int(ratio > BAR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
