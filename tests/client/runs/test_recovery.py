"""A command, its client or its disk ends in the middle: nothing is lost, and nothing lands by half."""

from __future__ import annotations

import json
import os
import resource
import signal
from pathlib import Path

import pytest

from tests.client.runs.conftest import NOBODY, Done, Machine

pytestmark = pytest.mark.deep  # machines of two users, killed at each step

RUN_ID = "a" * 32
BOTH = "echo new >src/new.py; echo more >>src/app.py; echo more >>docs/guide.md"
# (call of the system, part of its arguments) -> where the client is killed
STEPS = {
    "before the report is sent": {"KILL_AT": "report"},
    "before the first file lands": {"KILL_BEFORE": "open", "KILL_PATH": ".app.py.icp-"},
    "while a file is written": {"KILL_BEFORE": "sendfile", "KILL_PATH": ""},
    "before a file replaces another": {"KILL_BEFORE": "rename", "KILL_PATH": ".app.py.icp-"},
    "between two files": {"KILL_BEFORE": "rename", "KILL_PATH": ".new.py.icp-"},
    "before the rest is held": {"KILL_BEFORE": "replace", "KILL_PATH": "docs/guide.md"},
    "before what is held is listed": {"KILL_BEFORE": "replace", "KILL_PATH": f"held/{RUN_ID}/changes"},
    "before the folder is removed": {"KILL_BEFORE": "unlink", "KILL_PATH": "report.json"},
}


def run_killed(machine: Machine, command: str, **environment: str) -> Done:
    data = json.dumps(machine.allow(command, RUN_ID))
    return machine.drive("run", RUN_ID, data=data, **environment)


def list_files(machine: Machine) -> set[str]:
    root = machine.repository
    paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {str(path) for path in paths if path.parts[0] != ".git"}


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_client_is_taken_up_where_it_was(step: str, machine: Machine) -> None:
    before = list_files(machine)
    killed = run_killed(machine, BOTH, **STEPS[step])
    assert killed.status == -signal.SIGKILL
    text = (machine.repository / "src/app.py").read_text()
    assert text in {"print('hi')\n", "print('hi')\nmore\n"}
    assert machine.drive("waiting").out.split() == [RUN_ID]

    machine.drive("land", RUN_ID)
    assert list_files(machine) == before | {"src/new.py"}
    assert (machine.repository / "src/app.py").read_text() == "print('hi')\nmore\n"
    assert (machine.repository / "docs/guide.md").read_text() == "# Guide\n"
    approved = '{"land": ["docs/guide.md"], "hold": [], "discard": []}'
    assert machine.drive("land", RUN_ID, LAND=approved).status == 0
    assert (machine.repository / "docs/guide.md").read_text() == "# Guide\nmore\n"
    assert machine.drive("waiting").out.split() == []
    assert not (machine.state / "runs" / RUN_ID).exists()


@pytest.mark.parametrize("step", ["before a file replaces another", "before the folder is removed"])
def test_a_killed_landing_of_what_was_approved_goes_on(step: str, machine: Machine) -> None:
    machine.run("echo more >>docs/guide.md; echo x >docs/x.md", run_id=RUN_ID)
    answer = '{"land": ["docs/guide.md", "docs/x.md"], "hold": [], "discard": []}'
    kill = {"KILL_BEFORE": "rename", "KILL_PATH": ".x.md.icp-"}
    if step == "before the folder is removed":
        kill = {"KILL_BEFORE": "unlink", "KILL_PATH": "changes.json"}
    assert machine.drive("land", RUN_ID, LAND=answer, **kill).status == -signal.SIGKILL
    machine.drive("land", RUN_ID, LAND=answer)
    assert list_files(machine) == {
        ".env", ".gitignore", "docs/guide.md", "docs/x.md", "secrets/key", "src/app.py"
    }  # fmt: skip
    assert (machine.repository / "docs/guide.md").read_text() == "# Guide\nmore\n"
    assert machine.drive("waiting").out.split() == []


def test_a_client_killed_while_the_command_runs_takes_it_along_and_nothing_lands(machine: Machine) -> None:
    process = machine.start("echo half >src/half; while sleep 0.05; do echo x >>src/n; done", RUN_ID)
    upper = machine.state / "runs" / RUN_ID / "upper/src/n"
    while not upper.exists():
        pass
    process.kill()
    process.communicate()
    assert not (machine.repository / "src/half").exists()
    machine.run("true")  # the next command clears up
    assert not (machine.state / "runs" / RUN_ID).exists()
    again = machine.drive("run", RUN_ID)
    assert again.status == 126


def test_the_folder_of_a_command_that_still_runs_is_left_alone(machine: Machine) -> None:
    process = machine.start("until grep -q go docs/guide.md; do sleep 0.02; done; echo 1 >src/one", RUN_ID)
    machine.run("true")
    (machine.repository / "docs/guide.md").write_text("go\n")
    process.communicate(timeout=60)
    assert (machine.repository / "src/one").exists()


def test_a_killed_command_leaves_what_it_wrote_to_the_gate(machine: Machine) -> None:
    done = machine.run("echo 1 >src/n; kill -9 $$")
    assert done.status == 128 + signal.SIGKILL
    assert (machine.repository / "src/n").read_text() == "1\n"


def test_a_full_disk_lands_nothing(machine: Machine) -> None:
    """The state lies on a disk of 8 MiB, in a mount namespace of the test's own."""
    machine.state.mkdir(parents=True, exist_ok=True)
    owner = NOBODY if machine.as_user else 0  # of the namespace
    script = f'mount -t tmpfs -o size=8m,mode=0700,uid={owner},gid={owner} none "$0" && exec "$@"'
    namespace = ["unshare", *([] if os.getuid() == 0 else ["--map-root-user"]), "--mount"]
    before = [*namespace, "sh", "-c", script, str(machine.state)]
    data = json.dumps(machine.allow("head -c 20000000 /dev/zero >src/big; echo 1 >src/n; true", RUN_ID))
    done = machine.drive("run", RUN_ID, data=data, before=before)
    assert "The disk is full: nothing landed" in done.err
    assert list_files(machine) == {".env", ".gitignore", "docs/guide.md", "secrets/key", "src/app.py"}


def test_two_gigabytes_take_no_memory(machine: Machine) -> None:
    """A sparse file: hashed and landed in pieces, in less address space than it has bytes."""
    limit = 1 << 30
    before = ["prlimit", f"--as={limit}:{resource.RLIM_INFINITY}"]
    data = json.dumps(machine.allow("truncate -s 2G src/big", RUN_ID))
    done = machine.drive("run", RUN_ID, data=data, before=before)
    assert done.status == 0, done.err
    landed = (machine.repository / "src/big").stat()
    assert landed.st_size == 2 << 30
    assert landed.st_blocks * 512 < 1 << 20, "its holes were filled"


def test_renames_of_files_and_of_folders(machine: Machine) -> None:
    machine.shell("mkdir -p src/old/deep; echo 1 >src/old/deep/one; git add src; git commit -qm more")
    done = machine.run("mv src/app.py src/main.py; cp -r src/old src/new && rm -r src/old")
    assert done.changes == {
        "src/app.py": "deleted",
        "src/main.py": "created",
        "src/new/deep/one": "created",
        "src/old/deep/one": "deleted",
    }
    assert sorted(str(path.relative_to(machine.repository)) for path in (machine.repository / "src").rglob("*")) == [
        "src/main.py", "src/new", "src/new/deep", "src/new/deep/one",
    ]  # fmt: skip


def test_names_that_start_like_options_and_end_in_spaces(machine: Machine) -> None:
    names = ["-rf", " lead", "trail ", "a'b\"c", "$(x)", "*", "\u202etxt", "x" * 255]
    script = "cd src; python3 - <<'END'\n" + f"for name in {names!r}:\n    open(name, 'w').write('x')\nEND\n"
    done = machine.run(script)
    assert set(done.changes) == {f"src/{name}" for name in names}
    assert {path.name for path in (machine.repository / "src").iterdir()} == {*names, "app.py"}
    assert "\u202e" not in done.err


def test_links_that_lead_outside_are_reported_with_their_text(machine: Machine) -> None:
    done = machine.run("ln -s ../../outside/canary src/link; ln -sfn /etc docs/etc")
    assert done.report
    assert {row["path"]: row["target"] for row in done.report["files"]} == {
        "src/link": "../../outside/canary",
        "docs/etc": "/etc",
    }
    assert (machine.repository / "src/link").readlink() == Path("../../outside/canary")
