"""A scripted coding agent that uses the REST API only.

It does what any agent under the gate does: ask before every tool, run the tool only on `allow`, select an
intent, report changes, wait where a person must decide. Standard library only; it never imports the server.
ICP_URL and ICP_TOKEN are its connection; the one argument is the repository's directory.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any, NoReturn

Json = dict[str, Any]

AGENT = {"name": "demo-agent", "version": "1.0", "model": "scripted"}
INTENT = "INT-001"
WAIT_SECONDS = 50  # the gate holds a call for at most 55
ANSWER_SECONDS = WAIT_SECONDS + 15
GIVE_UP_SECONDS = 20.0  # a server that is away longer is not coming back for a demo
PACE_SECONDS = float(os.environ.get("DEMO_PACE", "1"))  # so that a reader can follow

TOKENS_TS = """export const ACCESS_TOKEN_HOURS = 24
export const REFRESH_TOKEN_DAYS = 7

export function expiresAt(issued: Date): Date {
  return new Date(issued.getTime() + ACCESS_TOKEN_HOURS * 3_600_000)
}
"""


class ControlPlane:
    """A minimal REST client."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/") + "/api/v1/"
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        # No proxy: the gate of a demo is on this machine.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def post(self, path: str, body: Json) -> Json:
        """Return the response, including denials. Retry while the server restarts."""
        request = urllib.request.Request(  # noqa: S310  the address is the operator's own
            self.url + path, data=json.dumps(body).encode(), headers=self.headers
        )
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while True:
            try:
                return self._answer(request)
            except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
                if time.monotonic() > give_up:
                    exit_with_message(f"The control plane does not answer: {error}")
                time.sleep(0.5)

    def _answer(self, request: urllib.request.Request) -> Json:
        try:
            with self.opener.open(request, timeout=ANSWER_SECONDS) as response:
                answer: Json = json.load(response)
        except urllib.error.HTTPError as error:
            answer = json.loads(error.read() or b"{}")
            if error.code in {401, 403}:
                exit_with_message(f"The control plane refuses this agent: {answer.get('error')}")
        return answer


class Agent:
    """One session. Every tool call goes through `ask`, which asks the gate first."""

    def __init__(self, plane: ControlPlane, root: Path) -> None:
        self.plane, self.root = plane, root
        self.session_id = f"demo-{uuid.uuid4().hex[:8]}"

    def open(self) -> None:
        revision = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607  git as the operator has it
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        opening = {
            "session_id": self.session_id,
            "agent": AGENT,
            "root": str(self.root),
            "revision_id": revision.stdout.strip(),
        }
        self.plane.post("sessions", opening)
        say(f"opens session {self.session_id}")

    def ask(self, tool: str, arguments: Json, *, call_id: str = "", wait: bool = False) -> Json:
        """Return the gate's decision on a call; with `wait`, after a person has decided.

        The `call_id` of an earlier call sends that call again.
        """
        call = {
            "session_id": self.session_id,
            "tool": tool,
            "input": arguments,
            "tool_use_id": call_id or new_call_id(),
            "cwd": str(self.root),
            "wait_seconds": WAIT_SECONDS if wait else 0,
        }
        while True:
            answer = self.plane.post("gate", call)
            if not (wait and answer["decision"] == "ask"):
                return answer

    def read(self, path: str) -> str:
        answer = self.ask("read_file", {"path": path})
        say(f"reads {path}: {describe_decision(answer)}")
        file = self.root / path
        return file.read_text(encoding="utf-8") if answer["decision"] == "allow" and file.exists() else ""

    def write(self, path: str, content: str, answer: Json) -> None:
        """Write and report a file, if the gate allowed it."""
        if answer["decision"] != "allow":
            return
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        self.report(path, content)

    def report(self, path: str, content: str) -> None:
        """Report a file's current content to the ledger."""
        trace = {
            "path": path,
            "content": content,
            "start_line": 1,
            "end_line": max(1, content.count("\n")),
            "mutation_class": "INTENT_EVOLUTION",
        }
        recorded = self.plane.post(f"sessions/{self.session_id}/traces", trace)
        say(f"reports {path} to the ledger: {recorded.get('id') or recorded.get('error')}")

    def run(self, command: str, answer: Json) -> None:
        """Run an approved command without a shell; its one redirection is done here."""
        if answer["decision"] != "allow":
            return
        words, _, output = command.partition(" > ")
        with (self.root / output).open("w", encoding="utf-8") as file:
            done = subprocess.run(shlex.split(words), cwd=self.root, stdout=file, check=False, timeout=30)  # noqa: S603  a fixed command of this script
        say(f"ran it: exit {done.returncode}, {output} is written")
        self.report(output, (self.root / output).read_text(encoding="utf-8"))


def run_story(agent: Agent) -> None:
    """Run the demo's story once."""
    agent.open()
    agent.read("src/auth/login.ts")
    write = {"path": "src/auth/tokens.ts", "content": TOKENS_TS}
    say(
        f"writes src/auth/tokens.ts without an intent: {describe_decision(agent.ask('write_to_file', write))}"
    )
    taken = agent.plane.post(f"sessions/{agent.session_id}/select-intent", {"intent_id": INTENT})
    say(f"takes {INTENT}: {'its context is loaded' if taken.get('success') else taken.get('error')}")
    answer = agent.ask("write_to_file", write)
    say(f"writes src/auth/tokens.ts again: {describe_decision(answer)}")
    agent.write(write["path"], write["content"], answer)
    hold_for_people(agent)
    agent.plane.post(f"sessions/{agent.session_id}/end", {})
    say(f"ends its session and releases {INTENT}. The demo agent is done.")


def hold_for_people(agent: Agent) -> None:
    """Send two calls that only a person can allow: a command, and an edit outside the scope."""
    command, command_id = {"command": "python3 scripts/check-links > docs/links.txt"}, new_call_id()
    say(f"runs a command: {describe_decision(agent.ask('execute_command', command, call_id=command_id))}")
    (edit, content), edit_id = design_edit(agent), new_call_id()
    say(f"edits docs/design.md: {describe_decision(agent.ask('edit_file', edit, call_id=edit_id))}")
    say("waits for a person: sign in as rex and decide under Approvals")
    answer = agent.ask("edit_file", edit, call_id=edit_id, wait=True)
    say(f"hears about docs/design.md: {describe_decision(answer)}")
    agent.write(edit["path"], content, answer)
    answer = agent.ask("execute_command", command, call_id=command_id, wait=True)
    say(f"hears about the command: {describe_decision(answer)}")
    agent.run(command["command"], answer)


def design_edit(agent: Agent) -> tuple[Json, str]:
    """Return an edit of the design, bound to the content that was read, and the file's text after it."""
    before = agent.read("docs/design.md")
    old = next((line for line in before.splitlines() if line.startswith("Sessions are kept")), "")
    new = f"Sessions are kept as signed tokens of 24 hours (session {agent.session_id})."
    digest = hashlib.sha256(before.encode()).hexdigest()
    edit = {
        "path": "docs/design.md",
        "old_string": old,
        "new_string": new,
        "expected_content_hash": f"sha256:{digest}",
    }
    return edit, before.replace(old, new, 1)


def new_call_id() -> str:
    return f"call-{uuid.uuid4().hex}"


def describe_decision(answer: Json) -> str:
    """Return the decision in one line, with the first line of the reason."""
    error = (answer.get("error") or "").split("\n")[0]
    return f"{answer['decision'].upper()}{': ' if error else ''}{error}"


def say(text: str) -> None:
    print(f"  agent  {text}", flush=True)  # noqa: T201  a script prints
    time.sleep(PACE_SECONDS)


def exit_with_message(text: str) -> NoReturn:
    say(text)
    sys.exit(1)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    plane = ControlPlane(os.environ["ICP_URL"], os.environ["ICP_TOKEN"])
    try:
        run_story(Agent(plane, Path(sys.argv[1]).resolve()))
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
