"""Where and how people start an agent: in each place it is asked to do the same, in scope and out of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.agents.model import Step
from tests.agents.walk import GIT, TEXT, Walk
from tests.client.machine import Machine
from tests.live import LiveServer

SUB = "packages/web app"  # a package of a monorepo, with a blank in its name


def at_the_top(machine: Machine) -> tuple[Path, Path]:
    return machine.repository, machine.repository


def in_a_sub_directory(machine: Machine) -> tuple[Path, Path]:
    (machine.repository / SUB).mkdir(parents=True)
    return machine.repository / SUB, machine.repository


def in_a_work_tree(machine: Machine) -> tuple[Path, Path]:
    tree = machine.repository.parent / "other tree"
    git(machine.repository, "worktree", "add", "-q", str(tree), "-b", "other")
    return tree, tree


def in_an_inner_work_tree(machine: Machine) -> tuple[Path, Path]:
    """Where `claude --worktree` puts its own."""
    tree = machine.repository / ".claude" / "worktrees" / "feat"
    git(machine.repository, "worktree", "add", "-q", str(tree), "-b", "feat")
    return tree, tree


# Each makes the place, and returns it with the top of its work tree.
PLACES: dict[str, Callable[[Machine], tuple[Path, Path]]] = {
    "at the top": at_the_top,
    "in a sub-directory": in_a_sub_directory,
    "in a work tree": in_a_work_tree,
    "in a work tree inside": in_an_inner_work_tree,
}


def git(folder: Path, *words: str) -> None:
    subprocess.run([*GIT, *words], cwd=folder, check=True)


def trust(machine: Machine) -> None:
    """As a person says yes to a folder: Gemini CLI and Qwen Code start in no other one."""
    for name in (".gemini", ".qwen"):
        file = machine.home / name / "trustedFolders.json"
        if file.exists():
            file.write_text(json.dumps({str(machine.repository.parent): "TRUST_FOLDER"}))


class PlacedWalk(Walk):
    """A walk that starts in one of the places, of an agent that is connected by the user's own entry."""

    def __init__(
        self, folder: Path, server: LiveServer, agent: str, tokens: dict[str, str], place: str, *more: str
    ) -> None:
        super().__init__(folder, server, agent, tokens, *more)
        self.machine.place, self.top = PLACES[place](self.machine)
        # Some clients write nowhere but below the directory in which they were started.
        inside = self.machine.place.relative_to(self.top)
        self.inside = "" if inside == Path() else f"{inside}/"
        scope = {"owned_scope": ["src/auth/**", f"{self.inside}src/auth/**"], "version": 1}
        assert server.api(tokens["admin"], "PATCH", "intents/INT-001", scope)[0] == 200
        for directory in ("src/auth", "docs"):
            (self.machine.place / directory).mkdir(parents=True, exist_ok=True)
        trust(self.machine)

    def path(self, path: str) -> str:
        """Codex writes by patches, whose paths are relative to where it was started."""
        return path if self.agent == "codex" else str(self.machine.place / path)

    def write(self, path: str, content: str = TEXT):
        return self.row.write(self.path(path), content)

    def there(self, path: str) -> bool:
        return (self.machine.place / path).exists()

    def steps(self) -> list[Step]:
        shell = self.row.shell
        return [
            Step("before the handshake", self.write("src/auth/early.ts")),
            Step("around it by the shell", shell(f"echo x > '{self.machine.place}/src/auth/early.ts'")),
            Step("in scope", self.write("src/auth/a.ts"), self.handshake),
            Step("in scope by the shell", shell(f"echo x > '{self.machine.place}/src/auth/sh.ts'")),
            Step("out of scope", self.write("docs/design.md")),
            Step("out of scope by the shell", shell(f"echo x > '{self.machine.place}/docs/design.md'")),
        ]

    def traced(self) -> dict[str, list[dict[str, object]]]:
        """Ranges by path, of all that was recorded."""
        _, listed = self.server.api(self.tokens["reviewer"], "GET", "traces")
        return {
            file["relative_path"]: file["conversations"][0]["ranges"]
            for entry in listed["results"]
            for file in entry["files"]
        }
