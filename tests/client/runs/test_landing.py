"""What a contained command changes: it lands, waits or is left out, and nothing is lost."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.client.runs.conftest import Machine


def test_changes_in_scope_land_and_others_wait(machine: Machine) -> None:
    done = machine.run("echo new >src/new.py; echo more >>docs/guide.md; rm src/app.py; echo out; exit 3")
    assert (done.status, done.out) == (3, "out\n")
    assert done.changes == {
        "src/new.py": "created",
        "src/app.py": "deleted",
        "docs/guide.md": "modified",
    }
    assert (machine.repository / "src/new.py").read_text() == "new\n"
    assert not (machine.repository / "src/app.py").exists()
    assert (machine.repository / "docs/guide.md").read_text() == "# Guide\n"
    assert "src/new.py, src/app.py landed; docs/guide.md waits for approval (http://icp.test/1)." in done.err


def test_a_report_holds_the_real_diff(machine: Machine) -> None:
    done = machine.run("echo more >>docs/guide.md")
    assert done.report
    row = done.report["files"][0]
    assert row["diff"] == "--- a/docs/guide.md\n+++ b/docs/guide.md\n@@ -1 +1,2 @@\n # Guide\n+more\n"
    assert row["content"] == "# Guide\nmore\n"


def test_approved_changes_land_later(machine: Machine) -> None:
    machine.run("echo more >>docs/guide.md; echo x >docs/x.md", run_id="a" * 32)
    pending = {"land": [], "hold": ["docs/guide.md", "docs/x.md"], "discard": []}
    assert machine.drive("land", "a" * 32, LAND=json.dumps(pending)).status == 1
    answer = {"land": ["docs/guide.md"], "hold": [], "discard": ["docs/x.md"]}
    done = machine.drive("land", "a" * 32, LAND=json.dumps(answer))
    assert done.status == 0
    assert (machine.repository / "docs/guide.md").read_text() == "# Guide\nmore\n"
    assert "docs/x.md did not land: it was rejected" in done.err
    assert not (machine.repository / "docs/x.md").exists()


def test_a_file_that_changed_meanwhile_is_not_overwritten(machine: Machine) -> None:
    machine.run("echo more >>docs/guide.md", run_id="b" * 32)
    (machine.repository / "docs/guide.md").write_text("# Mine\n")
    answer = {"land": ["docs/guide.md"], "hold": [], "discard": []}
    done = machine.drive("land", "b" * 32, LAND=json.dumps(answer))
    assert "docs/guide.md did not land: STALE_FILE" in done.err
    reason = "STALE_FILE: it was changed in the meantime"
    assert done.refused == [{"path": "docs/guide.md", "reason": reason}]
    assert (machine.repository / "docs/guide.md").read_text() == "# Mine\n"


def test_what_could_not_land_is_reported_until_it_is_answered(machine: Machine) -> None:
    run_id = "b" * 32
    machine.run("echo more >>docs/guide.md", run_id=run_id)
    (machine.repository / "docs/guide.md").write_text("# Mine\n")
    answer = json.dumps({"land": ["docs/guide.md"], "hold": [], "discard": []})
    for _ in range(2):
        done = machine.drive("land", run_id, LAND=answer, UNREACHABLE="refused")
        assert done.status == 1
        assert "could not land is still recorded as changed: The control plane cannot be reached" in done.err
        assert machine.drive("waiting").out.split() == [run_id]
    done = machine.drive("land", run_id)
    assert done.status == 0
    assert [row["path"] for row in done.refused] == ["docs/guide.md"]
    assert machine.drive("waiting").out.split() == []


def test_what_was_to_land_at_once_and_could_not_is_reported(machine: Machine) -> None:
    run_id = "c" * 32
    data = json.dumps(machine.allow("echo theirs >src/app.py; echo 1 >src/new", run_id))
    machine.drive("run", run_id, data=data, UNREACHABLE="1")
    (machine.repository / "src/app.py").write_text("print('mine')\n")
    done = machine.drive("land", run_id)
    assert [row["path"] for row in done.refused] == ["src/app.py"]
    assert (machine.repository / "src/new").exists()
    assert machine.drive("waiting").out.split() == []


def test_a_file_that_changes_during_the_run_is_not_overwritten(machine: Machine) -> None:
    process = machine.start(
        "echo theirs >src/app.py; until grep -q go docs/guide.md; do sleep 0.02; done", "c" * 32
    )
    (machine.repository / "src/app.py").write_text("print('mine')\n")
    (machine.repository / "docs/guide.md").write_text("go\n")
    _, err = process.communicate(timeout=60)
    assert "src/app.py did not land: STALE_FILE" in err
    assert (machine.repository / "src/app.py").read_text() == "print('mine')\n"


def test_modes_links_and_folders(machine: Machine) -> None:
    done = machine.run(
        "chmod +x src/app.py; ln -s app.py src/link; mkdir -p src/a/b; echo 1 >src/a/b/c;"
        "rm -rf docs; mkdir docs; echo 2 >docs/other.md; touch .gitignore"
    )
    assert done.changes == {
        "src/app.py": "mode",
        "src/link": "link",
        "src/a/b/c": "created",
        "docs/guide.md": "deleted",
        "docs/other.md": "created",
    }
    assert stat.S_IMODE((machine.repository / "src/app.py").stat().st_mode) & 0o100
    assert (machine.repository / "src/link").readlink() == Path("app.py")
    assert (machine.repository / "src/a/b/c").read_text() == "1\n"


def test_a_file_and_a_folder_change_places(machine: Machine) -> None:
    machine.shell("mkdir src/pkg; echo 1 >src/pkg/one; echo 2 >src/two")
    done = machine.run("rm -rf src/pkg; echo flat >src/pkg; rm src/two; mkdir src/two; echo deep >src/two/in")
    assert done.changes == {
        "src/pkg": "created",
        "src/pkg/one": "deleted",
        "src/two": "deleted",
        "src/two/in": "created",
    }


def test_special_files_and_bits_never_land(machine: Machine) -> None:
    done = machine.run("mkfifo src/pipe; cp /bin/true src/tool; chmod 6755 src/tool; printf x >$'src/\\xff'")
    assert done.changes == {"src/tool": "created"}
    assert stat.S_IMODE((machine.repository / "src/tool").stat().st_mode) == 0o755
    assert "src/pipe did not land" in done.err
    assert {file.name for file in (machine.repository / "src").iterdir()} == {"app.py", "tool"}


def test_odd_names_and_binary_files(machine: Machine) -> None:
    done = machine.run("printf 'a\\0b' >'src/a b\\c'; printf x >$'src/new\\nline'; printf x >'src/ü'")
    assert set(done.changes) == {"src/a b\\c", "src/new\nline", "src/ü"}
    assert (machine.repository / "src/a b\\c").read_bytes() == b"a\0b"
    assert (machine.repository / "src/new\nline").exists()
    assert "\nline" not in done.err


def test_what_git_ignores_lasts_for_the_session_only(machine: Machine) -> None:
    machine.run("mkdir dist; echo built >dist/app.js; echo c >~/.cache/tool/new; echo t >/tmp/t")
    assert not (machine.repository / "dist").exists()
    done = machine.run("cat dist/app.js ~/.cache/tool/old ~/.cache/tool/new /tmp/t; git status --short")
    assert done.out == "built\ncached\nc\nt\n"
    assert not (machine.base / "home/.cache/tool/new").exists()


def test_a_commit_lands_whole(machine: Machine) -> None:
    done = machine.run("echo 2 >src/two.py; git add src; git commit -qm two")
    assert done.err == "" or "landed" in done.err
    machine.shell("git fsck --strict; test $(git log --oneline | wc -l) = 2; git diff --quiet HEAD")


def test_a_look_at_git_changes_nothing(machine: Machine) -> None:
    machine.shell("touch src/app.py")
    assert machine.run("git status; git diff").changes == {}


@pytest.mark.deep
def test_many_files(machine: Machine) -> None:
    done = machine.run("for i in $(seq 10000); do echo $i >src/$i; done")
    assert len(done.changes) == 10_000
    assert sum(1 for _ in (machine.repository / "src").iterdir()) == 10_001


def test_nothing_lands_without_an_answer_and_all_of_it_later(machine: Machine) -> None:
    run_id = "d" * 32
    data = json.dumps(machine.allow("echo new >src/new.py", run_id))
    done = machine.drive("run", run_id, data=data, UNREACHABLE="1")
    assert (
        f"Nothing landed: The control plane cannot be reached. The next call sends it again, or `icp.py land {run_id}`"
        in done.err
    )
    assert not (machine.repository / "src/new.py").exists()
    assert machine.drive("land", run_id).status == 0
    assert (machine.repository / "src/new.py").read_text() == "new\n"
    assert machine.drive("land", run_id).status == 0


def test_a_run_starts_once(machine: Machine) -> None:
    assert machine.run("echo 1 >>src/n", run_id="e" * 32).status == 0
    again = machine.drive("run", "e" * 32)
    assert (again.status, again.report) == (126, None)
    assert "it was started before" in again.err
    assert (machine.repository / "src/n").read_text() == "1\n"


def test_the_deadline_ends_everything(machine: Machine) -> None:
    done = machine.run("(setsid sleep 1000 &) ; echo 1 >src/n; sleep 1000", seconds=1)
    assert done.status == 124
    assert "ended after 1 seconds" in done.err
    assert done.changes == {"src/n": "created"}


def test_a_child_that_outlives_the_command_ends_with_it(machine: Machine) -> None:
    done = machine.run("(setsid bash -c 'while sleep 0.05; do echo x >>src/n; done' &) ; sleep 0.2")
    assert done.status == 0
    size = (machine.repository / "src/n").stat().st_size
    machine.shell("sleep 0.3")
    assert (machine.repository / "src/n").stat().st_size == size


def test_a_command_in_the_background_lands_when_it_ends(machine: Machine) -> None:
    run_id = "b" * 32
    done = machine.run(
        "(until grep -q go docs/guide.md; do sleep 0.02; done; echo out; echo 1 >src/later) &", run_id=run_id
    )
    assert (done.status, done.out, done.report) == (0, "", None)
    assert "It runs in the background, contained." in done.err
    assert machine.run("echo 2 >src/meanwhile").status == 0
    log = Path(f"/tmp/icp-{run_id}.log")
    (machine.repository / "docs/guide.md").write_text("go\n")
    while "icp: " not in log.read_text():  # its last line, whatever it says
        pass
    text = log.read_text()
    log.unlink()
    assert text == "out\nicp: src/later landed.\n"
    assert (machine.repository / "src/later").read_text() == "1\n"


def test_a_command_that_needs_a_terminal_is_refused_with_words(machine: Machine) -> None:
    done = machine.run("EDITOR=vim vim src/app.py")
    assert done.status == 126
    assert "Nothing was run: vim needs a terminal, and a contained command has none." in done.err
    assert done.report
    assert (done.report["exit_code"], done.report["files"]) == (126, [])


def test_two_commands_of_a_session_at_once(machine: Machine) -> None:
    first = machine.start("echo 1 >/tmp/one; until grep -q go docs/guide.md; do sleep 0.02; done", "1" * 32)
    second = machine.run("ls /tmp; echo 2 >src/two", run_id="2" * 32)
    (machine.repository / "docs/guide.md").write_text("go\n")
    first.communicate(timeout=60)
    assert (second.status, second.out) == (0, "")
    assert (machine.repository / "src/two").exists()
