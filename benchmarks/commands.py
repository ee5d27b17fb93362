"""Processor time of a management command beside the imports of Django that every command needs.

The bars: `create_workspace` at most 6 times those imports, and `check`, which imports every view, at most 16
times, each the least of several runs that take turns.

    python benchmarks/commands.py [--quick]

Prints one JSON object a line; exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from gate import report

ROOT = Path(__file__).resolve().parent.parent
DJANGO = ("-c", "import django.core.management, django.contrib.auth.hashers")
COMMANDS = {
    "create_workspace": (("manage.py", "create_workspace", "--help"), 6),
    "check": (("manage.py", "check"), 16),
}


def measure(arguments: tuple[str, ...], data: str) -> float:
    """Return the processor seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "ICP_DATA_DIR": data}
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in {0, 1}:  # `check` may find faults of the deployment
        raise SystemExit(done.stderr.decode())
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Two runs of each.")
    rounds = 2 if parser.parse_args().quick else 6
    with tempfile.TemporaryDirectory() as data:
        processes = {"django": DJANGO} | {name: arguments for name, (arguments, _) in COMMANDS.items()}
        runs = [{name: measure(each, data) for name, each in processes.items()} for _ in range(rounds)]
    least = {name: min(run[name] for run in runs) for name in processes}
    held = True
    for name, (_, bar) in COMMANDS.items():
        ratio = least[name] / least["django"]
        held &= report(f"commands/{name}", ratio, "ratio", f"<= {bar}", holds=ratio <= bar)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
