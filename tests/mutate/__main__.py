from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from mutmut.mutation.diff_apply import get_diff_for_mutant

from tests.mutate.generate import generate_mutants
from tests.mutate.sample import render_report, select

FOLDER = Path("mutants")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", fromfile_prefix_chars="@")
    parser.add_argument(
        "--sample", type=int, help="So many of them, of every module its share; default: all."
    )
    parser.add_argument(
        "patterns", nargs="*", help="Names of mutants, with wildcards; @file holds one a line."
    )
    options = parser.parse_args()
    mutants = generate_mutants(FOLDER)
    names = select(mutants, options.sample, options.patterns)
    if not names:
        parser.error(f"none of {len(mutants)} mutants fits")
    print(f"{len(names)} of {len(mutants)} mutants", flush=True)
    fates = judge_all(names)
    write_survivors([name for name, fate in fates.items() if fate in {"survived", "unreached"}])
    print(render_report(mutants, fates))
    sys.exit(0 if len(fates) == len(names) else 1)


def judge_all(names: list[str]) -> dict[str, str]:
    """Return the fate of each; every answer is also appended to `fates.jsonl` as it comes."""
    fates = {}
    with (
        (FOLDER / "fates.jsonl").open("w", encoding="utf-8") as log,
        subprocess.Popen(
            [sys.executable, "-m", "tests.mutate.judge"],
            cwd=FOLDER,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as judging,
    ):
        judging.stdin.write("\n".join(names))
        judging.stdin.close()
        for line in judging.stdout:
            log.write(line)
            log.flush()
            answer = json.loads(line)
            fates[answer["mutant"]] = answer["fate"]
    return fates


def write_survivors(names: list[str]) -> None:
    texts = [f"# {name}\n{get_diff_for_mutant(name, path=find_file(name))}\n" for name in names]
    (FOLDER / "survivors.txt").write_text("\n".join(texts), encoding="utf-8")
    print(f"{len(names)} live on: see {FOLDER}/survivors.txt")


def find_file(name: str) -> Path:
    module = Path(name.rpartition(".")[0].replace(".", "/"))
    return module / "__init__.py" if module.is_dir() else module.with_suffix(".py")


if __name__ == "__main__":
    main()
