"""A machine with a repository, on which commands run contained, as root and as an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from controlplane.shared.client_download import CLIENT_DIR, build_runs_program

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"  # of root's own installation nobody can read a thing
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
OBSTACLES: dict[str, str] = {}  # user -> why nothing can be contained, found once
# Lands what is below src/, holds docs/, refuses the rest: the control plane, in short.
DRIVER = """
import json, os, sys
sys.path.insert(0, os.environ["CLIENT"])
import icp_runs

def send(method, path, body):
    if os.environ.get("KILL_AT") == "report":
        os.kill(os.getpid(), 9)
    if os.environ.get("UNREACHABLE") in {"1", *body}:
        raise OSError("The control plane cannot be reached.")
    with open(os.environ["REPORT"] + (".refused" if "refused" in body else ""), "w") as file:
        json.dump([method, path, body], file)
    if path.endswith("/land"):
        return json.loads(os.environ.get("LAND", "{}"))
    named = [row["path"] for row in body["files"]]
    land = [path for path in named if path.startswith(("src/", ".git/"))]
    hold = [path for path in named if path.startswith("docs/")]
    rest = [path for path in named if path not in land + hold]
    return {"land": land, "hold": hold, "discard": rest, "approval": {"url": "http://icp.test/1"}}

def kill_before(name):
    # The client is killed when it comes to this call of the system, for a path that is told by KILL_PATH.
    real = getattr(os, name)

    def call(*arguments, **options):
        if os.environ["KILL_PATH"] in repr(arguments):
            os.kill(os.getpid(), 9)
        return real(*arguments, **options)

    setattr(os, name, call)

if os.environ.get("KILL_BEFORE"):
    kill_before(os.environ["KILL_BEFORE"])
if sys.argv[1] == "probe":
    print(json.dumps(icp_runs.probe_containment(os.environ["CLIENT"] + "/icp_landlock.py")))
elif sys.argv[1] == "waiting":
    print(*icp_runs.list_waiting_runs())
elif sys.argv[1] == "land":
    sys.exit(icp_runs.land_run(sys.argv[2], send))
else:
    if "run_id" in (run := json.load(sys.stdin)):
        icp_runs.save_run(run)
    sys.exit(icp_runs.run_by_id(sys.argv[2], send))
"""


@dataclass
class Done:
    """An ended process, the report that it sent, and the files of which it said that they could not land."""

    status: int
    out: str
    err: str
    report: dict[str, Any] | None = None
    refused: list[dict[str, str]] = field(default_factory=list)

    @property
    def changes(self) -> dict[str, str]:
        return {row["path"]: row["change"] for row in self.report["files"]} if self.report else {}


@dataclass
class Machine:
    """Folders of one user, with a repository and the client. `outside` is the canaries' folder."""

    base: Path
    as_user: list[str]
    python: str
    environment: dict[str, str] = field(default_factory=dict)
    runs: int = 0
    sockets: list[Any] = field(default_factory=list)  # kept open while the machine lives

    @property
    def repository(self) -> Path:
        return self.base / "my repo"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    @property
    def state(self) -> Path:
        return self.base / "home/.local/state/icp"

    def shell(self, command: str) -> None:
        """Run a command of the test's own, uncontained, in the repository."""
        subprocess.run([*self.as_user, "/bin/bash", "-ec", command], cwd=self.repository, check=True,
                       env=self._environment(), capture_output=True)  # fmt: skip

    def run(self, command: str, **options: Any) -> Done:
        """Run a command contained."""
        self.runs += 1
        run_id = options.pop("run_id", f"{self.runs:032x}")
        return self.drive("run", run_id, data=json.dumps(self.allow(command, run_id, **options)))

    def start(self, command: str, run_id: str) -> subprocess.Popen[str]:
        """Start a command contained and return when it prints `up`."""
        process = subprocess.Popen(
            [*self.as_user, self.python, "-c", DRIVER, "run", run_id], cwd=self.repository, text=True,
            env=self._environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(self.allow(f"echo up; {command}", run_id)))
        process.stdin.close()
        process.stdin = None
        assert process.stdout.readline() == "up\n"
        return process

    def allow(self, command: str, run_id: str, **terms: Any) -> dict[str, Any]:
        """Return a run as the hook stores it."""
        containment = {"hidden": [".env*", "secrets/"], "network": "none", "seconds": 60} | terms
        return {
            "run_id": run_id, "session_id": "s-1", "root": str(self.repository), "cwd": str(self.repository),
            "shell": "/bin/bash", "command": command, "landlock": str(self.base / "client/icp_landlock.py"),
            "containment": containment,
        }  # fmt: skip

    def drive(
        self, *arguments: str, data: str = "{}", before: Sequence[str] = (), **environment: str
    ) -> Done:
        command = [*before, *self.as_user, self.python, "-c", DRIVER, *arguments]
        process = subprocess.run(
            command, cwd=self.repository, env=self._environment() | environment, input=data, text=True,
            capture_output=True, timeout=300, check=False,
        )  # fmt: skip
        sent = [self._take_sent(name) for name in ("report.json", "report.json.refused")]
        refused = sent[1]["refused"] if sent[1] else []
        return Done(process.returncode, process.stdout, process.stderr, sent[0], refused)

    def _take_sent(self, name: str) -> dict[str, Any] | None:
        file = self.base / name
        sent = json.loads(file.read_text())[2] if file.exists() else None
        file.unlink(missing_ok=True)
        return sent

    def _environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.base / "home"), "PATH": os.environ["PATH"], "CLIENT": str(self.base / "client"),
            "REPORT": str(self.base / "report.json"), "GIT_AUTHOR_NAME": "ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org", **self.environment,
        }  # fmt: skip


def skip_uncontained(reason: str) -> NoReturn:
    """Skip a test that needs containment; fail instead where the machine is known to offer it, as in `.ci/run`."""
    if os.environ.get("ICP_REQUIRE_CONTAINMENT"):
        pytest.fail(reason)
    pytest.skip(reason)


def users() -> list[str]:
    return ["root", "nobody"] if os.getuid() == 0 and Path(SYSTEM_PYTHON).exists() else ["user"]


@pytest.fixture(scope="session")
def client_folder() -> Iterator[Path]:
    # Below the root of the disk: a contained command has a /tmp of its own.
    folder = Path(tempfile.mkdtemp(prefix="icp-runs-", dir="/var/tmp"))
    folder.chmod(0o755)
    (folder / "icp_runs.py").write_text(build_runs_program())
    shutil.copy(CLIENT_DIR / "runs/landlock.py", folder / "icp_landlock.py")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=users())
def machine(request: pytest.FixtureRequest, client_folder: Path) -> Iterator[Machine]:
    """A machine of root or of nobody. Skips, with the reason, where nothing can be contained."""
    is_nobody = request.param == "nobody"
    base = Path(tempfile.mkdtemp(prefix="icp-machine-", dir="/srv" if os.access("/srv", os.W_OK) else None))
    machine = Machine(base, AS_NOBODY if is_nobody else [], SYSTEM_PYTHON if is_nobody else sys.executable)
    shutil.copytree(client_folder, base / "client")
    for path, text in {
        "my repo/src/app.py": "print('hi')\n",
        "my repo/docs/guide.md": "# Guide\n",
        "my repo/.env": "TOKEN=1\n",
        "my repo/secrets/key": "key\n",
        "my repo/.gitignore": "dist/\n*.pyc\n",
        "home/.ssh/id_ed25519": "PRIVATE\n",
        "home/.npmrc": "//registry/:_authToken=1\n",
        "home/.config/icp/connections.json": '{"token": "icp_secret"}\n',
        "home/.cache/tool/old": "cached\n",
        "outside/canary": "alive\n",
    }.items():
        file = base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if is_nobody:
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(base)], check=True)
    machine.shell("git init -q -b main; git add .gitignore src docs; git commit -qm start")
    reason = OBSTACLES.get(request.param)
    if reason is None:
        reason = OBSTACLES[request.param] = json.loads(machine.drive("probe").out)["reason"]
    if reason:
        shutil.rmtree(base, ignore_errors=True)
        skip_uncontained(f"commands cannot be contained here: {reason}")
    yield machine
    canary = (base / "outside/canary").read_text()
    shutil.rmtree(base, ignore_errors=True)
    assert canary == "alive\n"
