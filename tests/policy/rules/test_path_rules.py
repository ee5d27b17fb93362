"""Protected, ignored and owned paths: which of them a call may change."""

from __future__ import annotations

import pytest

from controlplane.policy.model import (
    ErrorType,
    Policy,
    Verdict,
)
from controlplane.policy.paths.filesystem import Location, ResolvedPath
from controlplane.policy.rules.path_rules import compile_rules
from tests.policy.builders import (
    ROOT,
    FakeFilesystem,
    ReadableFilesystem,
    bash,
    call,
    judge,
    no_intent,
    said,
    snapshot,
    write,
)

IGNORE = "# x\nsrc/secret/key\n!src/open/x\n/config/*.yml\n*.pem\ndeep/a/ \n"


@pytest.mark.parametrize(
    ("the_call", "world", "reason"),
    [
        (bash("rm -rf src"), None, "intentignore"),
        (bash("rm -rf src/open"), None, None),
        (bash("rm -rf SRC"), None, None),
        (bash("rm -rf deep"), None, "intentignore"),
        (bash("rm -rf other"), None, None),
        (bash("rm -rf src"), ReadableFilesystem.from_texts({"src/a": ""}), None),
        (bash("rm -rf src"), ReadableFilesystem.from_texts({"src/secret/key": ""}), "intentignore"),
        (
            call("move_file", {"source": "x", "destination": "config"}),
            ReadableFilesystem.from_texts({"x/a.yml": ""}),
            "intentignore",
        ),
        (
            call("move_file", {"source": "config", "destination": "x"}),
            ReadableFilesystem.from_texts({"config": ""}),
            None,
        ),
        (
            call("move_file", {"source": "x", "destination": "y"}),
            ReadableFilesystem.from_texts({"x/a.yml": ""}),
            None,
        ),
        (call("delete_file", {"path": "src"}), None, "intentignore"),
        (write("src"), None, None),
    ],
)
def test_a_folder_that_holds_something_ignored_is_not_taken_as_a_whole(the_call, world, reason):
    state = snapshot("**", intentignore=IGNORE)
    assert said(judge(the_call, state, world))[2] == reason


def test_a_folder_in_another_case_holds_it_too_where_paths_have_none():
    policy = Policy(case_insensitive_paths=True)
    state = snapshot("**", intentignore=IGNORE, policy=policy)
    assert said(judge(bash("rm -rf SRC"), state))[2] == "intentignore"


@pytest.mark.parametrize(
    "the_call",
    [
        bash("rm -rf ."),
        bash("chmod -R 777 ."),
        bash("cp -r src/p/. ."),
        bash("find . -delete"),
        call("move_file", {"source": ".", "destination": "src/c"}),
        call("delete_directory", {"path": "."}),
    ],
)
def test_the_workspace_as_a_whole_holds_what_is_protected(the_call):
    """Where an empty scope allows everything, nothing else is in the way. No policy takes that away."""
    for policy in (Policy(empty_scope="allow"), Policy(empty_scope="allow", protected_paths=())):
        assert said(judge(the_call, snapshot(policy=policy)))[2] == "protected_path"


def test_the_modes_of_a_folder_that_holds_something_protected_stay():
    policy = Policy(protected_paths=("ci/flows/**",))
    assert said(judge(bash("chmod -R +x ci"), snapshot("**", policy=policy)))[2] == "protected_path"
    assert said(judge(bash("chmod +x ci"), snapshot("**", policy=policy))) == ("allow", None, None)


ALLOW = ("allow", None, None)


IN_SRC = snapshot("src/**")


def test_the_root_itself_is_never_in_scope():
    for path in (".", "src/..", ROOT):
        assert said(judge(call("delete_directory", {"path": path}), snapshot("**")))[:2] == (
            "ask",
            "SCOPE_VIOLATION",
        )


@pytest.mark.parametrize(
    "path",
    [".git/config", ".GIT/hooks/x", "lib/.git/config", ".claude/settings.json", ".mcp.json", ".intentignore", ".husky/pre-commit"],
)  # fmt: skip
def test_protected_paths_are_closed_even_to_a_scope_of_everything(path):
    assert said(judge(write(path), snapshot("**"))) == ("ask", "SCOPE_VIOLATION", "protected_path")
    assert said(judge(write(path), no_intent()))[1] == "MISSING_OR_INVALID_INTENT"


def test_a_scope_that_names_the_very_path_opens_it():
    assert said(judge(write(".mcp.json"), snapshot(".mcp.json"))) == ALLOW
    assert said(judge(write(".MCP.json"), snapshot("**", ".mcp.json")))[2] == "protected_path"


def test_what_stands_in_for_a_protected_folder_is_protected():
    for path in (".git", ".claude", ".vscode"):
        assert said(judge(write(path), snapshot("**")))[2] == "protected_path"
    assert (
        said(judge(call("move_file", {"source": ".claude", "destination": "x"}), snapshot("**")))[2]
        == "protected_path"
    )
    assert said(judge(call("create_directory", {"path": ".vscode"}), snapshot("**"))) == ALLOW
    assert said(judge(call("create_directory", {"path": ".git"}), snapshot("**")))[2] == "protected_path"


def test_a_protected_path_without_literal_beginning_protects_by_pattern_only():
    policy = Policy(protected_paths=("*.lock", "!x.lock"))
    assert said(judge(write("a.lock"), snapshot("**", policy=policy)))[2] == "protected_path"
    assert said(judge(write("x.lock"), snapshot("**", policy=policy))) == ALLOW


def test_ignored_paths_are_closed_to_writes_as_well():
    state = snapshot("**", intentignore="*.pem\nbuild/\n")
    for the_call in (
        write("a/server.pem"),
        bash("echo x > server.pem"),
        call("create_directory", {"path": "build"}),
    ):
        assert said(judge(the_call, state)) == ("ask", "INTENTIGNORE_PATH_BLOCKED", "intentignore")
    assert said(judge(write("build"), state)) == ALLOW  # a file of that name is no folder


def test_a_destructive_call_must_not_read_ignored_files_either():
    patch = "diff --git a/.env b/src/x\ncopy from .env\ncopy to src/x\n"
    state = snapshot("**", intentignore=".env\n")
    assert said(judge(call("apply_patch", {"patch": patch}), state))[1] == "INTENTIGNORE_PATH_BLOCKED"


def test_a_workspace_may_ignore_case():
    policy = Policy(case_insensitive_paths=True)
    state = snapshot("src/**", policy=policy, intentignore="Secret.txt\n")
    assert said(judge(write("SRC/a.ts"), state)) == ALLOW
    assert said(judge(write("src/sECRET.TXT"), state))[1] == "INTENTIGNORE_PATH_BLOCKED"
    assert said(judge(write("SRC/a.ts"), IN_SRC))[2] == "not_in_scope"


FILES = FakeFilesystem.from_texts(
    {"src/a.ts": "1", "src/b.md": "2", "src/.env": "3", "src/sub/.git/config": "4", "lib/x.ts": "5"}
)


@pytest.mark.parametrize(
    ("scope", "path", "verdict"),
    [
        (("lib", "lib/**"), "lib", ALLOW),
        (("lib/**",), "lib", ("ask", "SCOPE_VIOLATION", "not_in_scope")),
        (("lib", "lib/*.md"), "lib", ("ask", "SCOPE_VIOLATION", "not_in_scope")),
        (("src", "src/**"), "src", ("ask", "SCOPE_VIOLATION", "protected_path")),
        (("lib/x.ts",), "lib/x.ts", ALLOW),
    ],
)
def test_removing_a_folder_touches_all_that_is_in_it(scope, path, verdict):
    for tool in ("delete_file", "delete_directory"):
        assert said(judge(call(tool, {"path": path}), snapshot(*scope), FILES)) == verdict


def test_an_ignored_file_below_stops_the_removal_of_its_folder():
    state = snapshot("**", intentignore=".env\n")
    world = FakeFilesystem.from_texts({"src/.env": "3"})
    decision = judge(call("delete_file", {"path": "src"}), state, world)
    assert said(decision)[1] == "INTENTIGNORE_PATH_BLOCKED"
    assert decision.offending == ("src/.env",)


def test_where_nobody_knows_what_is_in_a_folder_all_must_be_in_scope():
    assert said(judge(call("delete_directory", {"path": "src"}), snapshot("src", "src/**"))) == ALLOW
    assert (
        said(judge(call("delete_directory", {"path": "src"}), snapshot("src", "src/**/*.ts")))[2]
        == "not_in_scope"
    )
    assert said(judge(call("delete_file", {"path": "src/a.ts"}), snapshot("src/**/*.ts"))) == ALLOW


class Linked(FakeFilesystem):
    """`src/link` leads to `docs`, `src/out` out of the workspace, `src/loop` to itself."""

    def resolve(self, path):
        if path.startswith("src/out"):
            return ResolvedPath(Location.OUTSIDE)
        if path.startswith("src/loop"):
            return ResolvedPath(Location.LOOP)
        return super().resolve(path.replace("src/link", "docs"))


def test_both_names_of_a_linked_file_must_be_in_scope():
    decision = judge(write("src/link/a.md"), IN_SRC, Linked())
    assert said(decision)[2] == "not_in_scope"
    assert decision.offending == ("docs/a.md",)
    assert decision.targets[0].physical == "docs/a.md"
    assert said(judge(write("src/link/a.md"), snapshot("docs/**"), Linked()))[2] == "not_in_scope"
    assert said(judge(write("src/link/a.md"), snapshot("src/**", "docs/**"), Linked())) == ALLOW


def test_a_link_that_leads_out_or_in_circles():
    assert said(judge(write("src/out/a"), IN_SRC, Linked())) == (
        "deny",
        "SCOPE_VIOLATION",
        "outside_workspace",
    )
    assert said(judge(write("src/loop/a"), IN_SRC, Linked())) == ("deny", "HOOK_BLOCKED", "invalid_path")
    assert said(judge(call("Read", {"file_path": "src/out/a"}), IN_SRC, Linked()))[2] == "outside_workspace"


def test_a_link_to_an_ignored_file_is_not_read():
    state = no_intent(intentignore="/docs/key\n")
    assert (
        said(judge(call("Read", {"file_path": "src/link/key"}), state, Linked()))[1]
        == "INTENTIGNORE_PATH_BLOCKED"
    )


def test_a_rule_for_folders_holds_off_a_folder_that_a_command_makes():
    """`build/` says nothing of a file of that name, and mkdir makes none."""
    state = snapshot("**", intentignore="build/\n")
    assert judge(bash("mkdir build"), state).error_type is ErrorType.INTENTIGNORE_PATH_BLOCKED
    assert judge(bash("mkdir -p build"), state).targets[0].op == "folder"
    assert judge(bash("touch build"), state).verdict is Verdict.ALLOW


def test_only_folders_with_plain_names_hold_something_protected():
    patterns = ("a/b/c.txt", "d/*/e.txt", "!f/g.txt")
    rules = compile_rules(snapshot("**", policy=Policy(protected_paths=patterns)))
    names = ("a", "a/b", "a/b/c.txt", "d", "d/*", "f", "!f")
    assert [name for name in names if rules.has_protected_below(name)] == ["a", "a/b", "d"]
