"""Run every benchmark; one JSON object a line, exit status 1 when a bar does not hold.

python -m benchmarks [--quick]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ALL = (
    "commands", "contained", "core", "gate", "hook", "interruptions", "ledger", "neighbours", "nodes",
    "pages", "push",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Within five minutes.")
    parser.add_argument("only", nargs="*", help=f"Of {', '.join(ALL)}; default: all.")
    options = parser.parse_args()
    failed = False
    for name in options.only or ALL:
        command = [sys.executable, str(HERE / f"{name}.py"), *(["--quick"] if options.quick else [])]
        failed |= subprocess.run(command, cwd=HERE.parent, check=False).returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
