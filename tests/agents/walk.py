"""One run of a real agent through everything that the gate is there for, step by step.

The script's steps are what a model might do; between them the test plays the human and the operator.
"""

from __future__ import annotations

import subprocess
import urllib.request
from pathlib import Path

from tests.agents.clients import AGENTS, Agent, path, run
from tests.agents.model import ModelServer, Step
from tests.client.machine import Machine
from tests.live import LiveServer

PROMPT, HELP = "Walk through the gate.", "Help with the walk."
TEXT = "export const one = 1;\nexport const two = 2;\n"
GIT = ["git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main"]


def machine_with(folder: Path) -> Machine:
    """A developer's machine with a repository."""
    machine = Machine(folder)
    (machine.repository / "README.md").write_text("hello\n")
    for kept in ("src/auth/.keep", "docs/.keep"):  # Copilot CLI writes into no folder that is not there
        (machine.repository / kept).parent.mkdir(parents=True)
        (machine.repository / kept).touch()
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Start"]):
        subprocess.run([*GIT, *words], cwd=machine.repository, check=True)
    return machine


def connect(machine: Machine, server: LiveServer, agent: str, token: str, *more: str) -> str:
    """As the documentation says; returns what `icp doctor` finds then."""
    with urllib.request.urlopen(f"{server.url}/client/icp.py") as answer:
        machine.file.write_bytes(answer.read())
    done = machine.icp("connect", agent, "--url", server.url, *more, ICP_TOKEN=token, PATH=path())
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return machine.icp("doctor", PATH=path()).stdout


class Walk:
    """`told[step]` is what the model was answered; `there` says which files exist."""

    def __init__(
        self, folder: Path, server: LiveServer, agent: str, tokens: dict[str, str], *more: str
    ) -> None:
        self.agent, self.server, self.tokens, self.model = agent, server, tokens, ModelServer()
        self.machine = machine_with(folder)
        self.row: Agent = AGENTS[agent]
        self.row.start(self.machine, self.model.url)
        self.doctor = connect(self.machine, server, agent, self.tokens["agent"], *more)
        self.session = ""
        self.written = {"src/auth/a.ts", "docs/design.md"} | (
            set() if self.row.apart else {"src/auth/helper.ts"}
        )
        self.output = ""

    @property
    def told(self) -> dict[str, str]:
        return self.model.told

    def there(self, path: str) -> bool:
        return (self.machine.repository / path).exists()

    def write(self, path: str, content: str = TEXT):
        """Codex writes by patches, whose paths are relative; the others want whole ones."""
        name = path if self.agent == "codex" else f"{self.machine.repository}/{path}"
        return self.row.write(name, content)

    def start(self, main: list[Step], helping: list[Step] | None = None, *more: str, **env: str) -> None:
        self.model.script = {PROMPT: main, HELP: helping or []}
        with self.model:
            done = run(self.agent, self.machine, self.model.url, PROMPT, *more, **env)
        self.output = f"exit status {done.returncode}\n{done.stdout[-4000:]}"
        assert not self.model.problems, f"{self.model.problems}\n{self.told}\n{self.output}"

    # What humans do between two calls

    def waiting(self) -> dict:
        """The newest call that waits for a human."""
        _, listed = self.server.api(self.tokens["reviewer"], "GET", "approvals?status=PENDING")
        return listed["results"][0]

    def handshake(self) -> None:
        self.session = self.waiting()["session_id"]
        self.server.select(self.tokens["agent"], self.session)

    def decide(self, action: str, grant: str = "once") -> None:
        approval, body = self.waiting(), {"action": action, "comment": "Not this file."}
        status, answer = self.server.api(
            self.tokens["reviewer"], "POST", f"approvals/{approval['id']}/decide",
            body | ({"grant": grant} if action == "approve" else {}),
        )  # fmt: skip
        assert status == 200, answer

    def walk(self) -> None:
        shell, write = self.row.shell, self.write
        main = [
            Step("before the handshake", write("src/auth/early.ts")),
            Step("around it by the shell", shell("mkdir -p src/auth && echo x > src/auth/early.ts")),
            Step("in scope", write("src/auth/a.ts"), self.handshake),
            Step("out of scope", write("docs/design.md")),
            Step("approved", write("docs/design.md"), lambda: self.decide("approve")),
            Step("asked", write("docs/other.md")),
            Step("rejected", shell("mkdir -p docs && echo x > docs/other.md"), lambda: self.decide("reject")),
            Step("delegated", self.row.delegate(HELP)),
            Step("server gone", write("src/auth/late.ts"), self.pull_the_plug),
            Step("server gone, by the shell", shell("mkdir -p src/auth && echo x > src/auth/late.ts")),
        ]
        helping = [
            Step("helper out of scope", write("docs/helper.md")),
            Step("helper in scope", write("src/auth/helper.ts")),
        ]
        if self.row.last:
            helping.append(Step("helper ends", self.row.last))
        try:
            self.start(main, helping)
        finally:
            if self.server.process is None:
                self.server.start()

    def pull_the_plug(self) -> None:
        self.model.await_results("helper out of scope", "helper in scope")
        self.server.kill()
