"""Links that only the agent's machine knows: its hook client tells where they lead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controlplane.policy.paths.filesystem import Location, ResolvedPath, UnknownFilesystem
from tests.policy.builders import bash, call, judge, no_intent, said, snapshot, write

OUT = ("deny", "SCOPE_VIOLATION", "outside_workspace")


def told(the_call, **links):
    return replace(the_call, links={name.replace("__", "/"): place for name, place in links.items()})


@pytest.mark.parametrize(
    ("path", "links", "reason"),
    [
        ("src/in/x", {"src/in": "docs"}, "not_in_scope"),
        ("src/in/x", {"src/in/x": "docs/x"}, "not_in_scope"),
        ("src/in/x", {"src/in": "src/real"}, None),
        ("src/in/x", {"/home/ada/shop/src/in": "/home/ada/shop/docs"}, "not_in_scope"),
        ("src/in/x", {"src/in": "/etc"}, "outside_workspace"),
        ("src/in/x", {"src/in": "../shop2"}, "outside_workspace"),
        ("src/in/x", {"src/in": "."}, "not_in_scope"),
        ("src/in/x", {"src/in": ".git"}, "protected_path"),
        ("src/in/x", {"src/in": "src/on", "src/on": "docs"}, "not_in_scope"),
        ("src/in/x", {"src/in": "src/on", "src/on": "src/in"}, "invalid_path"),
        ("src/in/x", {"src/in": "src/in"}, None),
        ("src/in/x", {"src/other": "docs", "": "docs", "../x": "docs", ".": "docs"}, None),
        ("src/in/x", {"src/in": "a\\b"}, "invalid_path"),
        ("docs/x", {"docs": "src"}, "not_in_scope"),
    ],
)
def test_a_hint_counts_as_a_second_name_and_opens_nothing(path, links, reason):
    decision = judge(replace(write(path), links=links), snapshot("src/**"))
    assert said(decision)[2] == reason
    assert decision.verdict.value == ("allow" if reason is None else decision.verdict.value)


def test_a_read_and_a_command_follow_it_too():
    ignoring = no_intent(intentignore=".env\n")
    assert said(judge(told(call("Read", {"file_path": "a"}), a=".env"), ignoring))[2] == "intentignore"
    assert said(judge(told(call("Read", {"file_path": "a"}), a="/etc/passwd"), ignoring)) == OUT
    assert (
        said(judge(told(bash("echo x > src/in/x"), src__in="docs"), snapshot("src/**")))[2] == "not_in_scope"
    )


def test_a_refusal_says_that_a_link_leads_out():
    decision = judge(told(write("src/in/x"), src__in="a\\b"), snapshot("src/**"))
    assert decision.error == "The path [src/in/x] leads out of the workspace through a link."


def test_the_disk_knows_better_than_a_hint():
    class Disk(UnknownFilesystem):
        def resolve(self, path):
            return ResolvedPath(Location.INSIDE, path.replace("src/in", "docs"))

    decision = judge(told(write("src/in/x"), src__in="src"), snapshot("src/**"), Disk())
    assert decision.targets[0].physical == "docs/x"
    assert said(decision)[2] == "not_in_scope"
