"""Patches as a tool's input and as a shell command: the files that they name."""

from __future__ import annotations

import pytest

from controlplane.policy.calls.patch_targets import find_patch_targets
from controlplane.policy.calls.targets import find_targets
from controlplane.policy.model import Policy
from tests.policy.builders import call, judge, said, snapshot


def found(the_call, **policy):
    return find_targets(the_call, Policy(**policy))


def test_a_text_that_is_no_patch_has_unknown_targets():
    assert said(judge(call("apply_patch", {"patch": "x"}), snapshot("**")))[2] == "unknown_target"


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("", "apply_patch <<'E'\n*** Add File: a\nE"),
        ("codex", "apply_patch <<E\n*** Add File: a\nE"),
        ("codex", "apply_patch <<'E'\n*** Add File: a\nE\nrm b\nE"),
        ("codex", "apply_patch <<'E'\n*** Add File: a\nE\nrm b"),
        ("codex", ["apply_patch", "*** Add File: a", "b"]),
        ("codex", ["zsh", "-c", "apply_patch <<'E'\n*** Add File: a\nE"]),
    ],
)
def test_what_a_shell_gets_to_see_is_no_patch(agent, command):
    assert found(call("Bash", {"command": command}, agent=agent)).unknown


def test_a_patch_of_the_shell_is_read_in_the_folder_of_the_command():
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Frob\n*** End Patch"
    the_call = call("shell", {"command": ["apply_patch", patch], "workdir": "src"}, agent="codex")
    decision = judge(the_call, snapshot("src/**"))
    assert [target.path for target in decision.targets] == ["src/a"]
    assert said(decision)[2] == "unknown_target"


def test_only_what_a_patch_moves_arrives():
    patch = (
        "*** Begin Patch\n*** Add File: n\n+x\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch"
    )
    writes = find_patch_targets([patch], None).writes
    assert [(named.raw, named.op, named.is_move_destination) for named in writes] == [
        ("n", "write", False), ("a", "move", False), ("b", "write", True),
    ]  # fmt: skip
