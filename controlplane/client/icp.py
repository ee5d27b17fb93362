"""Puts a coding agent under the control plane's gate. Needs Python 3.9 or later, and nothing else.

    python3 icp.py connect AGENT --url https://icp.example.com [--token icp_…] [--wait SECONDS] [--dry-run]
    python3 icp.py disconnect AGENT [--dry-run]
    python3 icp.py doctor
    python3 icp.py reconcile [A..B | --base REF --head REF] [--intent ID] [--session ID] [--json] [--notes]
    python3 icp.py sync [--dir .orchestration] [--dry-run] [--prefer registry|folder]
    python3 icp.py hook AGENT EVENT       reads the hook's stdin; installed as ~/.config/icp/hook AGENT EVENT

Run it in the repository. The token stands in ICP_TOKEN or --token and is kept, by repository, in
~/.config/icp/connections.json (0600); for a hook, ICP_URL and ICP_TOKEN together win over that file, and
ICP_DEADLINE_SECONDS shortens the time that it may take. With --wait, a call that a human must approve is
held so long, as far as the client's own time limit allows; else it is refused at once, and may be sent again.
"""

from __future__ import annotations

import json
import os
import sys
import time

from controlplane.client.asking import post
from controlplane.client.clients import CLIENTS
from controlplane.client.configuring import MARK, NotOursError, configured
from controlplane.client.facts import CONNECTIONS, FOLDER, CannotAskError, connections, repository
from controlplane.client.hook import hook
from controlplane.client.reconciling import add_reconcile
from controlplane.client.syncing import add_sync
from controlplane.client.trusting import untrusted
from controlplane.client.writing import mode_of, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

LAUNCHER = f"{FOLDER}/hook"
LAUNCH = """#!{python} -IS
# Made by `icp.py connect`. Imported rather than run, so that Python keeps the compiled form.
import sys
sys.path.insert(0, {folder!r})
import icp
sys.exit(icp.main(["hook", *sys.argv[1:]]))
"""


def main(arguments: list[str]) -> int:
    if arguments[:1] != ["hook"]:
        return manage(arguments)
    try:
        return hook(*arguments[1:])
    except Exception as error:  # noqa: BLE001  a mistake in the configuration must not let the tool run
        sys.stderr.write(f"icp hook {' '.join(arguments[1:])}: {error!r}. So the tool must not run.\n")
        return 2


def manage(arguments: list[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser(
        "icp.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run in (("connect", connect), ("disconnect", disconnect)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("agent", choices=sorted(CLIENTS))
        command.add_argument("--dry-run", action="store_true", help="show the change, make none")
        if run is connect:
            command.add_argument("--url", required=True, help="the address of the control plane")
            command.add_argument("--wait", type=float, default=0, help="seconds to wait for a human (0)")
            command.add_argument("--token", default=os.environ.get("ICP_TOKEN"), help="else ICP_TOKEN")
    add_reconcile(commands.add_parser("reconcile"))
    add_sync(commands.add_parser("sync"))
    commands.add_parser("doctor").set_defaults(run=doctor)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except OSError as error:
        print(error, file=sys.stderr)
        return 1


def connect(options: argparse.Namespace) -> int:
    if not options.token:
        print("Give a token of role agent: ICP_TOKEN or --token.", file=sys.stderr)
        return 1
    root = repository(os.getcwd())
    if not change(root, options.agent, connected=True, dry_run=options.dry_run):
        return 1
    if not options.dry_run:
        install()
        told = {"url": options.url.rstrip("/"), "token": options.token, "wait": options.wait}
        remember(root, told)
        print(f"Connected {root}. Now: icp.py doctor\nWhat stays open: {CLIENTS[options.agent].fails_open}")
        if options.agent == "codex" and (problem := untrusted(root, trust=True)):
            print(f"NOT ENFORCED YET. {problem}", file=sys.stderr)
    return 0


def disconnect(options: argparse.Namespace) -> int:
    root = repository(os.getcwd())
    if not change(root, options.agent, connected=False, dry_run=options.dry_run):
        return 1
    if not options.dry_run and not installed_in(root):
        remember(root, None)
    return 0


def change(root: str, agent: str, *, connected: bool, dry_run: bool) -> bool:
    """Show the difference and write it, after a copy of the old text. False where nothing may be changed."""
    import difflib

    name = CLIENTS[agent].file
    path, text = f"{root}/{name}", text_of(f"{root}/{name}")
    try:
        wanted = configured(agent, text, connected=connected)
    except NotOursError as problem:
        print(problem, file=sys.stderr)
        return False
    sides = text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    sys.stdout.writelines(difflib.unified_diff(*sides, fromfile=name, tofile=name))
    if dry_run or wanted == text:
        return True
    if text:
        back_up(path, text)
    if wanted:
        write(path, wanted, 0o644)
    else:
        os.remove(path)
    return True


def text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def back_up(path: str, text: str) -> None:
    name = path.strip("/").replace("/", "_")
    kept = f"{FOLDER}/backups/{time.strftime('%Y%m%dT%H%M%S')}-{name}"
    write(kept, text, 0o600)
    print(f"The old text is kept as {kept}")


def write(path: str, text: str, mode: int) -> None:
    """Whole or not at all; through a symlink, to where it leads. An existing file keeps its own mode."""
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), mode=0o700 if path.startswith(FOLDER) else 0o777, exist_ok=True)
    write_whole(path, text.encode(), mode_of(path, mode) if mode == 0o644 else mode)


def install() -> None:
    """This very file and its launcher, beside the tokens; compiled, so that the first call is no slower."""
    import py_compile

    write(f"{FOLDER}/icp.py", text_of(__file__), 0o600)
    py_compile.compile(f"{FOLDER}/icp.py")
    write(LAUNCHER, LAUNCH.format(python=os.path.realpath(sys.executable), folder=FOLDER), 0o700)


def remember(root: str, connection: dict[str, Any] | None) -> None:
    known = {place: told for place, told in connections().items() if place != root}
    if connection:
        known[root] = connection
    write(CONNECTIONS, json.dumps(known, indent=2) + "\n", 0o600)


def installed_in(root: str) -> list[str]:
    """The agents whose configuration holds entries of ours, all of them or some."""
    return [agent for agent, client in CLIENTS.items() if MARK in text_of(f"{root}/{client.file}")]


def doctor(_: argparse.Namespace) -> int:
    """Prove that enforcement is alive. Exit status 1 where a check fails."""
    root = repository(os.getcwd())
    agents = installed_in(root)
    checks = [("an agent is connected here", "" if agents else "none is: icp.py connect AGENT --url …")]
    checks += [("the tokens are yours alone", exposed()), ("the gate denies what it must", canary(root))]
    for agent in agents:
        checks.append((f"{agent}: every entry is in place", incomplete(root, agent)))
        checks.append((f"{agent}: without a server nothing runs", open_without_server(root, agent)))
        if agent == "codex":
            checks.append((f"{agent}: it runs our hooks", untrusted(root)))
    for title, problem in checks:
        print(f"{'FAIL' if problem else 'ok  '} {title}{': ' if problem else ''}{problem}")
    for agent in agents:
        print(f"note {agent}: what stays open: {CLIENTS[agent].fails_open}")
    return 1 if any(problem for _, problem in checks) else 0


def exposed() -> str:
    if not os.path.exists(CONNECTIONS):
        return f"{CONNECTIONS} does not exist"
    mode = os.stat(CONNECTIONS).st_mode & 0o777
    return f"{CONNECTIONS} has mode {mode:o}, not 600" if mode & 0o077 else ""


def canary(root: str) -> str:
    """A read outside the workspace, which no intent and no human can allow; it is not recorded."""
    told = connections().get(root)
    if told is None:
        return f"no connection is kept for {root}"
    call: dict[str, Any] = {"session_id": "canary", "tool": "read_file", "input": {"path": "../canary"}}
    call |= {"root": root, "cwd": root, "dry_run": True}
    try:
        answer, _ = post(f"{told['url']}/api/v1/gate", told["token"], json.dumps(call).encode(), 10)
    except CannotAskError as problem:
        return str(problem)
    return "" if answer.get("decision") == "deny" else f"it answered {answer.get('decision')!r} to a canary"


def incomplete(root: str, agent: str) -> str:
    text = text_of(f"{root}/{CLIENTS[agent].file}")
    try:
        held = configured(agent, text, connected=True) == text
    except NotOursError as problem:
        return str(problem)
    return "" if held else f"{CLIENTS[agent].file} differs from what this version writes: connect again"


def open_without_server(root: str, agent: str) -> str:
    """The installed hook itself, run as the client runs it, with an address where nobody listens."""
    import subprocess

    client = CLIENTS[agent]
    gate = client.gates.split()[0]
    dead = os.environ | {"ICP_URL": "http://127.0.0.1:9", "ICP_TOKEN": "icp_canary"}
    command = [LAUNCHER, agent, gate]
    try:
        done = subprocess.run(  # noqa: S603  our own launcher
            command, input="{}", cwd=root, env=dead, capture_output=True, text=True, check=False
        )
    except OSError as error:
        return f"{LAUNCHER} cannot be run ({error.strerror})"
    refused = done.returncode == client.status and "must not run" in done.stdout
    return (
        "" if refused else f"{LAUNCHER} ended with {done.returncode} and said {done.stdout or done.stderr!r}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
