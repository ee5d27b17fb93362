"""Calls that touch files outside the workspace, in places that policy opens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controlplane.policy.decision import decide
from controlplane.policy.model import Place, Policy
from tests.policy.builders import NOW, bash, call, said, snapshot
from tests.policy.local_filesystem import LocalFilesystem

POLICY = Policy(
    places=(
        Place("/tmp/**", "write"),
        Place("~/.claude/plans/**", "write"),
        Place("~/go/pkg/mod/**"),
        Place("C:/Users/dev/AppData/Local/Temp/**", "write"),
    )
)
ROOT = "/home/dev/app"


def judge(the_call, *, root=ROOT, filesystem=None, policy=POLICY):
    state = replace(snapshot("src/**"), policy=policy, intentignore="*.secret\n")
    extra = (filesystem,) if filesystem else ()
    return said(decide(replace(the_call, root=root), state, NOW, *extra))


@pytest.mark.parametrize(
    "the_call",
    [
        bash("cat /tmp/x.txt"),
        bash("echo hi > /tmp/x.txt"),
        bash("cat ~/go/pkg/mod/a/b.go"),
        bash("cat ../go/pkg/mod/a/b.go"),
        bash("ls /tmp"),
        bash("rm -rf /tmp/build"),
        call("Write", {"file_path": "/home/dev/.claude/plans/a.md", "content": "x"}),
        call("Read", {"file_path": "~/go/pkg/mod/x.go"}),
    ],
)
def test_a_place_is_used_without_a_scope(the_call):
    assert judge(the_call)[0] == "allow"


@pytest.mark.parametrize(
    "the_call",
    [
        bash("cat /etc/passwd"),
        bash("echo hi > ~/go/pkg/mod/x.go"),
        bash("cat /tmp/../etc/passwd"),
        bash("cat /tmp/x.secret"),
        bash("cat /tmp/.ssh/id_rsa"),
        bash("cat ~other/go/pkg/mod/a.go"),
        bash("rm -rf /tmp"),
        call("Write", {"file_path": "/tmp/a/.git/config", "content": "x"}),
        call("Write", {"file_path": "/tmp/a/.claude/settings.json", "content": "x"}),
    ],
)
def test_what_no_place_opens(the_call):
    assert judge(the_call)[0] == "deny"


def test_without_places_all_outside_is_refused():
    assert judge(bash("cat /tmp/x.txt"), policy=Policy())[0] == "deny"


def test_a_home_on_windows():
    the_call = call("Write", {"file_path": r"C:\Users\dev\AppData\Local\Temp\a.txt", "content": "x"})
    assert judge(the_call, root=r"D:\p")[0] == "allow"
    assert judge(call("Read", {"file_path": r"C:\Users\dev\x.txt"}), root=r"D:\p")[0] == "deny"


def test_a_link_in_a_place_does_not_lead_out_of_it(tmp_path):
    root = tmp_path / "app"
    root.mkdir()
    filesystem = LocalFilesystem(root)
    places = Policy(places=(Place(f"{tmp_path}/scratch/**", "write"),))
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "out").symlink_to("/etc")
    inside, outside = f"{tmp_path}/scratch/a", f"{tmp_path}/scratch/out/passwd"
    read = [call("Read", {"file_path": path}) for path in (inside, outside)]
    answers = [judge(each, root=str(root), filesystem=filesystem, policy=places)[0] for each in read]
    assert answers == ["allow", "deny"]


def test_a_link_of_the_workspace_leads_into_no_place(tmp_path):
    root = tmp_path / "app"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "scratch")
    places = Policy(places=(Place(f"{tmp_path}/scratch/**", "write"),))
    the_call = call("Read", {"file_path": "link/a"})
    assert judge(the_call, root=str(root), filesystem=LocalFilesystem(root), policy=places)[0] == "deny"
