"""Real commands, from the hook through the walls to the server: what is in scope lands, the rest waits."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.client.machine import PATH
from tests.client.runs.test_contained_call import ask, connected, server, tokens  # noqa: F401  fixtures
from tests.programs import require

pytestmark = pytest.mark.deep
SECONDS = 240
NODE = """
import fs from "node:fs";
for (const name of ["src/auth/made.js", "docs/made.js"]) {
  fs.mkdirSync(name.split("/").slice(0, -1).join("/"), { recursive: true });
  fs.writeFileSync(name, "made\\n");
}
"""
GO = """package main
import "os"
func main() {
	for _, name := range []string{"src/auth/made.txt", "docs/made.txt"} {
		os.MkdirAll(name[:len(name)-len("made.txt")], 0o755)
		os.WriteFile(name, []byte("made\\n"), 0o644)
	}
}
"""
FILES = {
    "gen.mjs": NODE,
    "cmd/gen/main.go": GO,
    "go.mod": "module example.com/x\n\ngo 1.19\n",
    "package.json": '{"name": "x", "version": "1.0.0", "scripts": {"test": "node gen.mjs", "build": "node gen.mjs"}}',
    "Makefile": "gen:\n\tmkdir -p src/auth docs\n\techo made > src/auth/made.mk\n\techo made > docs/made.mk\n",
    "gen.sh": "mkdir -p src/auth docs; echo made > src/auth/made.sh; echo made > docs/made.sh\n",
    "tests/test_x.py": (
        "from pathlib import Path\n\n\ndef test_x():\n"
        "    for name in ('src/auth', 'docs'):\n"
        "        Path(name).mkdir(parents=True, exist_ok=True)\n"
        "        Path(name, 'snapshot.txt').write_text('made\\n')\n"
    ),
    ".gitignore": "__pycache__\n.pytest_cache\nnode_modules\n",
}
COMMANDS = (
    ("python3", "python3 scripts/gen.py", "made.py", "made.md"),
    ("python3", "python3 -c \"open('gen.sh'); exec(open('scripts/gen.py').read())\"", "made.py", "made.md"),
    ("pytest", "python3 -m pytest -q tests", "snapshot.txt", "snapshot.txt"),
    ("node", "node gen.mjs", "made.js", "made.js"),
    ("npm", "npm test", "made.js", "made.js"),
    ("npm", "npm run build", "made.js", "made.js"),
    ("make", "make gen", "made.mk", "made.mk"),
    ("sh", "sh gen.sh", "made.sh", "made.sh"),
    ("go", "go run ./cmd/gen", "made.txt", "made.txt"),
)


@pytest.fixture
def project(connected):  # noqa: F811
    """The machine's repository as a real one, with files for each program."""
    repository = connected.repository
    shutil.rmtree(repository / ".git")
    for name, text in FILES.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "One")):
        git(connected, *arguments)
    return connected


def git(machine, *arguments: str) -> str:
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    command = ["git", *person, *arguments]
    return subprocess.run(command, cwd=machine.repository, capture_output=True, text=True, check=True).stdout


def execute(machine, command: str) -> subprocess.CompletedProcess[str]:
    """Ask the hook, and run what it makes of the call, as the agent would."""
    said, asked = ask(machine, command)
    assert said.get("updatedInput"), asked.stdout + asked.stderr
    return subprocess.run(
        ["bash", "-c", said["updatedInput"]["command"]], cwd=machine.repository, capture_output=True, text=True,
        timeout=SECONDS, check=False, env={"HOME": str(machine.home), "PATH": PATH},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("program", "command", "inside", "outside"),
    COMMANDS,
    ids=[f"{number}-{row[0]}" for number, row in enumerate(COMMANDS)],
)
def test_what_is_in_scope_lands_and_the_rest_waits(project, program, command, inside, outside):
    require(None if shutil.which(program, path=PATH) else f"{program} is not installed", program)
    done = execute(project, command)
    assert f"src/auth/{inside}" in done.stderr, done.stdout + done.stderr
    assert (project.repository / "src/auth" / inside).exists()
    assert not (project.repository / "docs" / outside).exists()
    assert f"docs/{outside} waits for approval" in done.stderr


@pytest.mark.usefixtures("tokens")
def test_a_commit_lands_whole(project):
    (project.repository / "src/auth").mkdir(parents=True)
    (project.repository / "src/auth/new.py").write_text("new = 1\n")
    git(project, "config", "user.name", "Ada")
    git(project, "config", "user.email", "ada@example.com")
    done = execute(project, "git add -A && git commit -qm Two")
    assert done.returncode == 0, done.stderr
    assert git(project, "log", "--format=%s").split() == ["Two", "One"]
    assert git(project, "status", "--porcelain") == ""
