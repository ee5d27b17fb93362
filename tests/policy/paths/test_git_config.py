"""What git runs by the settings of a repository is protected, and keeps reading commands from being safe."""

from __future__ import annotations

import pytest

from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.paths.git_config import NO_PROGRAMS, find_programs
from tests.policy.builders import ROOT, ReadableFilesystem, bash, judge, no_intent, said, snapshot, write


def world(config, **files):
    return ReadableFilesystem.from_texts({".git/config": config, "src/a.ts": "", **files})


@pytest.mark.parametrize(
    ("config", "paths"),
    [
        ("[core]\n\thooksPath = .githooks\n", (".githooks",)),
        (f"[core]\nhookspath = {ROOT}/tools/hooks # ours\n", ("tools/hooks",)),
        ('[Core]\nHooksPath = "a b"\n', ("a b",)),
        ("[core] hooksPath = h\n", ("h",)),
        ("[core]\nhooksPath = a\nhooksPath = b\n", ("b",)),
        ("[core]\nhooksPath = .git/hooks\n", ()),
        ("[core]\nhooksPath = ~/hooks\n", ()),
        ("[core]\nhooksPath = /usr/share/hooks\n", ()),
        ("[core]\nhooksPath\n", ()),
        ("[core]\nfsmonitor = .githooks/fsm --fast\n", (".githooks/fsm",)),
        ("[core]\nfsmonitor = true\n", ()),
        ("[core]\nfsmonitor = rs-git-fsmonitor\n", ("rs-git-fsmonitor",)),
        ("[include]\npath = ../.gitconfig\n", (".gitconfig",)),
        ('[includeIf "gitdir:x"]\npath = ../shared\n', ("h", "shared")),
        ('[remote "origin"]\nurl = x\n', ()),
    ],
)
def test_what_the_settings_name_in_the_work_tree(config, paths):
    assert find_programs(world(config, shared="[core]\nhooksPath = h\n"), ROOT).paths == paths


def test_without_settings_git_runs_nothing():
    assert find_programs(UnknownFilesystem(), ROOT) == NO_PROGRAMS


HOOKED = "[core]\nhooksPath = .githooks\n"


@pytest.mark.parametrize(
    ("the_call", "scope", "reason"),
    [
        (write(".githooks/pre-commit"), "**", "protected_path"),
        (write(".githooks/pre-commit"), ".githooks/pre-commit", None),
        (write(".githooks-old"), "**", None),
        (write("src/a.ts"), "**", None),
        (bash("rm -r .githooks"), "**", "protected_path"),
        (bash("chmod +x .githooks/pre-commit"), "**", "protected_path"),
    ],
)
def test_the_folder_of_hooks_is_protected(the_call, scope, reason):
    assert said(judge(the_call, snapshot(scope), world(HOOKED)))[2] == reason


def test_a_folder_above_the_hooks_is_not_replaced_but_others_are_made():
    deep = world("[core]\nhooksPath = tools/git/hooks\n", **{"tools/git/hooks/x": ""})
    assert said(judge(bash("mv tools old"), snapshot("**"), deep))[2] == "protected_path"
    assert said(judge(bash("mkdir -p tools/other"), snapshot("**"), deep))[2] is None


@pytest.mark.parametrize(
    ("config", "files", "verdict"),
    [
        (HOOKED, {}, "allow"),
        (HOOKED, {".githooks/pre-commit": ""}, "allow"),
        (HOOKED, {".githooks/post-index-change": ""}, "ask"),
        ("[core]\nfsmonitor = .githooks/fsm\n", {}, "ask"),
        ("[core]\nfsmonitor = true\n", {}, "allow"),
    ],
)
def test_a_reading_command_of_git_that_runs_a_file_of_the_work_tree_is_not_safe(config, files, verdict):
    class OnDisk(ReadableFilesystem):
        def is_dir(self, path):
            return path == "" or super().is_dir(path)

    disk = OnDisk.from_texts({".git/config": config, **files})
    assert judge(bash("git status"), no_intent(), disk).verdict == verdict
