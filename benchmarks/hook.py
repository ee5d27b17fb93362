"""One hook call of the installed hook client, whole process, gate and record included.

The bars: the median at most 3 times the start of `python3 -I -S -c pass` in the same run, and the 95th
percentile at most twice the median, the first call included.

    python benchmarks/hook.py [--calls 200] [--quick] [--peers]

Starts the product's own server on a scratch database, downloads the client from it, connects a repository.
Then the hook, `true` and `python3 -c pass` take turns on a write to an existing file.
With --peers two other tools' hooks for the same client take turns too, installed in a scratch folder.
Prints one JSON object a line; exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gate import Server, connect, report, request, seeded
from peers import install_peers

PYTHON = str(Path(sys.executable).resolve())
AGENT, EVENT, TOOL = "claude-code", "PreToolUse", "Write"


class Machine:
    """A home and a repository; `hook` is the installed hook."""

    def __init__(self, folder: Path, server: Server, token: str) -> None:
        self.repository, home = folder / "repository", folder / "home"
        (self.repository / ".git").mkdir(parents=True)
        home.mkdir()
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        program = folder / "icp.py"
        program.write_bytes(request(connect(server.port), "GET", "/client/icp.py")[1])
        address = ["--url", f"http://127.0.0.1:{server.port}", "--token", token]
        command = [PYTHON, "-I", "-S", str(program), "connect", AGENT, *address]
        subprocess.run(command, cwd=self.repository, env=self.env, check=True, capture_output=True)
        self.hook = [str(home / ".config/icp/hook"), AGENT, EVENT]
        self.file = self.repository / "src/area0/file0.ts"
        self.file.parent.mkdir(parents=True)
        self.file.write_text("export const n = 0;\n" * 20)

    def payload(self, number: int) -> bytes:
        """A write of an ordinary size, in scope, to a file that exists and so is hashed."""
        tool_input = {"file_path": str(self.file), "content": f"export const n = {number};\n" * 20}
        return json.dumps(
            {"session_id": "bench-0", "hook_event_name": EVENT, "cwd": str(self.repository),
             "tool_name": TOOL, "tool_input": tool_input, "tool_use_id": f"t-{number}"}
        ).encode()  # fmt: skip

    def timed(self, command: list[str], number: int) -> float:
        """Milliseconds from start to end of the process."""
        began = time.perf_counter()
        done = subprocess.run(
            command,
            input=self.payload(number),
            cwd=self.repository,
            env=self.env,
            capture_output=True,
            check=False,
        )
        taken = (time.perf_counter() - began) * 1000
        if done.returncode or (command is self.hook and json.loads(done.stdout) != {}):
            raise SystemExit(f"{command}: {done.returncode} {done.stdout!r} {done.stderr!r}")
        return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="Fewer calls.")
    parser.add_argument(
        "--peers", action="store_true", help="Beside the hooks of cc-safety-net and HOL Guard."
    )
    options = parser.parse_args()
    calls = 60 if options.quick else options.calls
    with tempfile.TemporaryDirectory() as folder:
        server = Server(str(Path(folder) / "data"))
        server.manage("migrate", "-v0")
        with server:
            machine = Machine(Path(folder), server, seeded(server, 10, 0)["token"])
            commands = {
                "true": ["true"],
                "python_pass": [PYTHON, "-I", "-S", "-c", "pass"],
                "call": machine.hook,
            }
            beside = (
                install_peers(Path(folder) / "peers", TOOL, machine.env)
                if options.peers
                else contextlib.nullcontext({})
            )
            with beside as others:
                commands |= others
                rows = [
                    {name: machine.timed(command, n) for name, command in commands.items()}
                    for n in range(calls)
                ]
    for name in commands.keys() - {"call"}:
        report(f"hook/{name}_p50", statistics.median(row[name] for row in rows), "ms")
    for name in others:
        report(f"hook/{name}_first", rows[0][name], "ms")
        ours_to_theirs = statistics.median(row["call"] / row[name] for row in rows)
        report(f"hook/call_to_{name}", ours_to_theirs, "ratio")
    taken = [row["call"] for row in rows]
    report("hook/call_first", taken[0], "ms")
    median, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[18]
    report("hook/call_p50", median, "ms")
    report("hook/call_p95", p95, "ms")
    # Against the start of the interpreter in the same run, so that the bars hold on a slow machine.
    ratio = statistics.median(row["call"] / row["python_pass"] for row in rows)
    held = report("hook/call_beside_python", ratio, "ratio", "<= 3", holds=ratio <= 3)
    held &= report("hook/call_p95_beside_p50", p95 / median, "ratio", "<= 2", holds=p95 / median <= 2)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
