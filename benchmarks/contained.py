"""What containment costs: whole commands by the installed client, walls, report and landing included.

The bars: a run of a second at most 1.15 times as long as without containment, and a command that does nothing
at most 3 times the start of `python3 -I -S -c pass`, medians of ratios of runs that take turns.

    python benchmarks/contained.py [--runs 20] [--quick]

Starts the product's own server on a scratch database and connects a repository, as benchmarks/hook.py does.
Each contained run is allowed by the gate first; that call is not in the time, for the hook makes it anyway.
Prints one JSON object a line; exit status 1 when a bar does not hold, 0 with a note where nothing can be
contained.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gate import Server, report, seeded
from hook import EVENT, PYTHON, Machine

# About a second of work: modules are read and compiled, results are written.
WORK = """
import hashlib, pathlib, time
ends, modules = time.process_time() + 1, sorted(pathlib.Path("src").rglob("*.ts"))
pathlib.Path("dist").mkdir(exist_ok=True)
count = 0
while count < 2000:
    module = modules[count % len(modules)]
    text = module.read_bytes() * 20
    for _ in range(40):
        text = hashlib.sha256(text).hexdigest().encode() * 200
    if count % 20 == 0:
        pathlib.Path(f"dist/{count}.txt").write_bytes(text)
    count += 1
"""
COMMANDS = {"nothing": "./nothing", "second": "python3 work.py"}
SECOND_BAR, NOTHING_BAR = 1.15, 3


class ContainingMachine(Machine):
    """A machine whose commands are contained."""

    def __init__(self, folder: Path, server: Server, token: str) -> None:
        super().__init__(folder, server, token)
        shutil.copy(shutil.which("true") or "/bin/true", self.repository / "nothing")
        (self.repository / "work.py").write_text(WORK)
        (self.repository / ".gitignore").write_text("dist/\n")
        self.calls = 0

    def find_obstacle(self) -> str:
        state = Path(self.env["HOME"]) / ".local/state/icp/containment.json"
        return str(json.loads(state.read_text())["reason"])

    def allow(self, command: str) -> list[str]:
        """Return the command line that the hook puts in the place of the command."""
        self.calls += 1
        payload = {
            "session_id": "bench-0", "hook_event_name": EVENT, "cwd": str(self.repository),
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t-{self.calls}",
        }  # fmt: skip
        done = subprocess.run(
            self.hook, input=json.dumps(payload).encode(), cwd=self.repository, env=self.env,
            capture_output=True, check=True,
        )  # fmt: skip
        changed = json.loads(done.stdout)["hookSpecificOutput"]["updatedInput"]["command"]
        return ["/bin/sh", "-c", changed]

    def measure(self, command: list[str]) -> float:
        """Return the milliseconds from start to end of the process."""
        began = time.perf_counter()
        done = subprocess.run(command, cwd=self.repository, env=self.env, capture_output=True, check=False)
        taken = (time.perf_counter() - began) * 1000
        if done.returncode:
            raise SystemExit(f"{command}: {done.returncode} {done.stderr!r}")
        return taken


def measure_turn(machine: ContainingMachine) -> dict[str, float]:
    taken = {"python": machine.measure([PYTHON, "-I", "-S", "-c", "pass"])}
    for name, command in COMMANDS.items():
        contained = machine.allow(command)
        taken[name] = machine.measure(["/bin/sh", "-c", command])
        taken[f"{name}_contained"] = machine.measure(contained)
    return taken


def report_turns(turns: list[dict[str, float]]) -> bool:
    for name in turns[0]:
        report(f"contained/{name}_p50", statistics.median(turn[name] for turn in turns), "ms")
    second = statistics.median(turn["second_contained"] / turn["second"] for turn in turns)
    nothing = statistics.median(turn["nothing_contained"] / turn["python"] for turn in turns)
    held = report("contained/second", second, "ratio", f"<= {SECOND_BAR}", holds=second <= SECOND_BAR)
    held &= report(
        "contained/nothing_beside_python", nothing, "ratio", f"<= {NOTHING_BAR}", holds=nothing <= NOTHING_BAR
    )
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="Fewer runs.")
    options = parser.parse_args()
    # Below no /tmp: a contained command has one of its own.
    with tempfile.TemporaryDirectory(dir="/var/tmp" if os.access("/var/tmp", os.W_OK) else None) as folder:
        server = Server(str(Path(folder) / "data"))
        server.manage("migrate", "-v0")
        with server:
            machine = ContainingMachine(Path(folder), server, seeded(server, 10, 0)["token"])
            if obstacle := machine.find_obstacle():
                print(f"Nothing can be contained here: {obstacle}", file=sys.stderr)
                return
            turns = [measure_turn(machine) for _ in range(7 if options.quick else options.runs)]
    sys.exit(0 if report_turns(turns) else 1)


if __name__ == "__main__":
    main()
