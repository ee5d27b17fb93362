from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.policy import decision as decisions
from controlplane.policy.decision import decide, enforce
from controlplane.policy.model import (
    DEFAULT_APPROVABLE,
    Decision,
    ErrorType,
    Grant,
    IntentStatus,
    Policy,
    Registry,
    SessionState,
    ToolClass,
    Verdict,
)
from controlplane.policy.paths.filesystem import Location, ResolvedPath
from controlplane.policy.rules.path_rules import compile_rules
from tests.policy.builders import (
    NOW,
    ROOT,
    FakeFilesystem,
    bash,
    call,
    intent,
    judge,
    no_intent,
    said,
    sha256,
    snapshot,
    write,
)

ALLOW = ("allow", None, None)
IN_SRC = snapshot("src/**")


def strict(*scope, **more):
    """Nobody may approve anything: every denial stays one."""
    return snapshot(*scope, policy=Policy(approvable=frozenset(), **more.pop("policy", {})), **more)


# --- 1 registry -----------------------------------------------------------------------------------


@pytest.mark.parametrize("registry", [Registry.EMPTY, Registry.MISSING, Registry.CORRUPT])
def test_without_a_registry_everything_but_the_handshake_is_denied(registry):
    for the_call in (write("src/a.ts"), call("Read", {"file_path": "src/a.ts"}), call("attempt_completion")):
        decision = judge(the_call, snapshot("**", registry=registry))
        assert said(decision) == ("deny", "ORCHESTRATION_UNAVAILABLE", registry.value)
        assert decision.action_hint == "create_intent"
    assert said(judge(call("select_active_intent"), snapshot("**", registry=registry))) == ALLOW


def test_an_empty_registry_says_how_to_create_an_intent():
    assert "Create one" in judge(write("a"), no_intent(registry=Registry.EMPTY)).error


def test_policy_may_let_reads_pass_without_a_registry():
    policy = Policy(when_unavailable="deny_destructive")
    state = no_intent(registry=Registry.MISSING, policy=policy)
    assert said(judge(call("Read", {"file_path": "a"}), state)) == ALLOW
    assert said(judge(write("a"), state))[1] == "ORCHESTRATION_UNAVAILABLE"


# --- 2 session ------------------------------------------------------------------------------------


def test_an_ended_or_frozen_session_changes_nothing_more():
    ended = snapshot("**", state=SessionState.ENDED)
    assert said(judge(write("a"), ended)) == ("deny", "SESSION_ENDED", "ended")
    assert said(judge(write("a"), snapshot("**", frozen=True))) == ("deny", "SESSION_ENDED", "frozen")
    assert said(judge(call("Read", {"file_path": "a"}), ended)) == ALLOW


# --- 4 safe calls ---------------------------------------------------------------------------------


def test_safe_calls_need_no_intent():
    decision = judge(call("Read", {"file_path": "src/a.ts"}), no_intent())
    assert said(decision) == ALLOW
    assert decision.tool_class is ToolClass.SAFE
    assert [target.path for target in decision.reads] == ["src/a.ts"]
    assert decision.targets == ()


def test_reads_outside_the_workspace_are_denied_and_nobody_may_approve_them():
    for path in ("../x", "/etc/passwd", "~/.ssh/id_rsa"):
        decision = judge(call("Read", {"file_path": path}), no_intent())
        assert said(decision) == ("deny", "SCOPE_VIOLATION", "outside_workspace")
        assert decision.offending == (path,)


def test_policy_may_let_reads_leave_the_workspace_but_not_writes():
    policy = Policy(reads_outside_workspace="allow")
    assert said(judge(call("Read", {"file_path": "/etc/passwd"}), no_intent(policy=policy))) == ALLOW
    assert said(judge(call("Read", {"file_path": "a\0b"}), no_intent(policy=policy)))[2] == "invalid_path"
    assert said(judge(write("/etc/passwd"), snapshot("**", policy=policy)))[2] == "outside_workspace"


def test_ignored_files_are_not_read():
    state = no_intent(intentignore=".env\nsecret/\n")
    assert said(judge(call("Read", {"file_path": ".env"}), state))[1:] == (
        "INTENTIGNORE_PATH_BLOCKED",
        "intentignore",
    )
    assert said(judge(call("LS", {"path": "secret"}), state))[1] == "INTENTIGNORE_PATH_BLOCKED"
    assert said(judge(call("LS", {"path": "."}), state)) == ALLOW
    assert said(judge(bash("cat .env"), state))[1] == "INTENTIGNORE_PATH_BLOCKED"


# --- 5 intent -------------------------------------------------------------------------------------


def test_no_intent_selected_begins_with_the_exact_sentence_and_asks():
    decision = judge(write("src/a.ts"), no_intent())
    assert said(decision) == ("ask", "MISSING_OR_INVALID_INTENT", "none_selected")
    assert decision.error.startswith("You must cite a valid active Intent ID.")
    assert decision.action_hint == "select_active_intent"
    assert [target.path for target in decision.targets] == ["src/a.ts"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a\0b", "~/x"])
def test_a_missing_intent_is_told_first_but_nobody_may_approve_what_lies_outside(path):
    decision = judge(write(path), no_intent())
    assert said(decision) == ("deny", "MISSING_OR_INVALID_INTENT", "none_selected")


def test_a_citation_is_no_selection():
    assert said(judge(write("a", intent_id="INT-001"), no_intent()))[2] == "none_selected"


@pytest.mark.parametrize("cited", ["INT-002", "", "int-001", 5, ["INT-001"]])
def test_a_call_that_cites_another_intent(cited):
    assert said(judge(write("src/a.ts", intent_id=cited), IN_SRC)) == (
        "deny",
        "MISSING_OR_INVALID_INTENT",
        "mismatch",
    )


def test_a_call_may_cite_its_own_intent():
    assert said(judge(write("src/a.ts", intent_id="INT-001"), IN_SRC)) == ALLOW
    assert said(judge(write("src/a.ts", intent_id=None), IN_SRC)) == ALLOW


@pytest.mark.parametrize(
    ("own", "reason", "told"),
    [
        (None, "not_found", "no longer in the registry"),
        (intent("**", status=IntentStatus.COMPLETED), "completed", "is completed"),
        (intent("**", status=IntentStatus.ABANDONED), "abandoned", "was abandoned"),
        (
            intent("**", status=IntentStatus.BLOCKED, blocked_reason="waits for Ada"),
            "blocked",
            "(waits for Ada)",
        ),
        (intent("**", status=IntentStatus.BLOCKED), "blocked", "is blocked."),
        (intent("**", status=IntentStatus.PENDING), "blocked", "has not been started"),
    ],
)
def test_an_intent_that_is_no_longer_active(own, reason, told):
    decision = judge(write("src/a.ts"), snapshot(intent=own))
    assert said(decision) == ("deny", "MISSING_OR_INVALID_INTENT", reason)
    assert decision.error.startswith("You must cite a valid active Intent ID. INT-001")
    assert told in decision.error


def test_an_intent_that_another_session_took_in_the_meantime():
    state = snapshot("src/**", intent_held_by_other=True)
    assert said(judge(write("src/a.ts"), state)) == ("deny", "INTENT_CONFLICT", "held_by_other_session")
    assert said(judge(call("Read", {"file_path": "src/a.ts"}), state)) == ALLOW


def test_an_intent_that_intentignore_switches_off():
    state = snapshot("src/**", intentignore="intent: INT-001\n")
    assert said(judge(write("src/a.ts"), state)) == ("ask", "INTENT_IGNORED", "intentignore")
    assert said(judge(write("../a.ts"), state)) == ("deny", "INTENT_IGNORED", "intentignore")
    assert said(judge(call("Read", {"file_path": "src/a.ts"}), state)) == ALLOW


# --- 6 targets ------------------------------------------------------------------------------------


def test_in_scope_is_allowed_and_says_what_it_touches():
    decision = judge(write("src/a.ts"), IN_SRC)
    assert said(decision) == ALLOW
    assert [(target.path, target.op) for target in decision.targets] == [("src/a.ts", "write")]
    assert decision.intent_id == "INT-001"
    assert decision.digest == ""


def test_out_of_scope_says_exactly_the_contract_s_sentence():
    decision = judge(write("docs/design.md"), IN_SRC)
    assert said(decision) == ("ask", "SCOPE_VIOLATION", "not_in_scope")
    assert decision.error == (
        "Scope Violation: INT-001 is not authorized to edit [docs/design.md]. Request scope expansion."
    )
    assert decision.offending == ("docs/design.md",)
    assert decision.action_hint == "request_scope_expansion"


def test_several_targets_are_told_with_commas():
    patch = "*** Update File: docs/a.md\n*** Update File: src/b.ts\n*** Update File: lib/c.ts\n"
    decision = judge(call("apply_patch", {"patch": patch}), IN_SRC)
    assert "[docs/a.md, lib/c.ts]" in decision.error


def test_very_many_targets_are_counted():
    patch = "".join(f"*** Update File: docs/{n}.md\n" for n in range(30))
    assert "docs/19.md, and 10 more]" in judge(call("apply_patch", {"patch": patch}), IN_SRC).error


def test_the_nearest_pattern_is_told():
    decision = judge(write("src/auth/x/login.md"), snapshot("docs/**", "src/auth/**/*.ts"))
    assert decision.nearest_pattern == "src/auth/**/*.ts"
    assert judge(write(".git/config"), IN_SRC).nearest_pattern is None


def test_of_several_targets_the_strictest_decides():
    both = call("Write", {"file_path": "docs/a.md", "path": "../x", "content": ""})
    assert said(judge(both, IN_SRC)) == ("deny", "SCOPE_VIOLATION", "outside_workspace")
    policy = Policy(approvable=DEFAULT_APPROVABLE - {ErrorType.SCOPE_VIOLATION})
    ignored = call("Write", {"file_path": "docs/a.md", "path": ".env", "content": ""})
    state = snapshot("src/**", policy=policy, intentignore=".env\n")
    assert said(judge(ignored, state)) == ("deny", "SCOPE_VIOLATION", "not_in_scope")
    assert said(judge(ignored, strict("src/**", intentignore=".env\n"))) == (
        "deny", "INTENTIGNORE_PATH_BLOCKED", "intentignore",
    )  # fmt: skip


def test_what_is_known_to_be_wrong_is_told_before_what_is_unknown():
    assert said(judge(call("Frobnicate", {"path": "docs/a"}), IN_SRC))[2] == "not_in_scope"
    decision = judge(call("Frobnicate", {"path": "src/a"}), IN_SRC)
    assert said(decision) == ("ask", "SCOPE_VIOLATION", "unknown_target")
    assert "Frobnicate" in decision.error
    assert decision.unknown


def test_an_empty_scope_matches_nothing_unless_policy_says_otherwise():
    assert said(judge(write("a"), snapshot())) == ("ask", "SCOPE_VIOLATION", "empty_scope")
    lenient = snapshot(policy=Policy(empty_scope="allow"))
    assert said(judge(write("a"), lenient)) == ALLOW
    assert said(judge(write(".git/config"), lenient))[2] == "protected_path"
    assert said(judge(write("../a"), lenient))[2] == "outside_workspace"
    assert said(judge(write("a"), snapshot("!b", policy=Policy(empty_scope="allow"))))[0] == "ask"


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


# --- 6 folders and links --------------------------------------------------------------------------

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


# --- 7 stale --------------------------------------------------------------------------------------


WORLD = FakeFilesystem.from_texts({"src/a.ts": "now"})


def hashed(value, path="src/a.ts", **more):
    return write(path, expected_content_hash=value, **more)


def test_the_expected_hash_must_be_the_current_one():
    assert said(judge(hashed(sha256("now")), IN_SRC, WORLD)) == ALLOW
    assert said(judge(hashed(sha256("now").upper().replace("SHA", "sha")), IN_SRC, WORLD)) == ALLOW
    decision = judge(hashed(sha256("before")), IN_SRC, WORLD)
    assert said(decision) == ("ask", "STALE_FILE", "hash_mismatch")
    assert decision.action_hint == "read_file"
    assert "Re-read it with read_file" in decision.error


def test_a_file_that_is_gone_is_another_file():
    assert said(judge(hashed(sha256("x"), "src/gone.ts"), IN_SRC, WORLD)) == (
        "ask",
        "STALE_FILE",
        "hash_mismatch",
    )


def test_where_nobody_knows_the_hash_it_is_believed():
    assert said(judge(hashed(sha256("x")), IN_SRC)) == ALLOW


@pytest.mark.parametrize("value", ["abc", "sha256:12", "md5:" + "0" * 64, 12345, [], ""])
def test_a_malformed_hash_is_refused_never_ignored(value):
    assert said(judge(hashed(value), IN_SRC, WORLD))[1:] == ("STALE_FILE", "hash_mismatch")
    assert said(judge(hashed(value), IN_SRC)) == ("deny", "HOOK_BLOCKED", "invalid_input")


def test_null_is_no_hash():
    assert said(judge(hashed(None), IN_SRC, WORLD)) == ALLOW


def test_what_the_caller_says_comes_before_the_disk():
    told = replace(hashed(sha256("buffer")), current_content_hashes={"src/a.ts": sha256("buffer")})
    assert said(judge(told, IN_SRC, WORLD)) == ALLOW
    spelled = replace(told, current_content_hashes={"/nowhere": "x", f"{ROOT}/src/a.ts": sha256("buffer")})
    assert said(judge(spelled, IN_SRC, WORLD)) == ALLOW
    other = replace(told, current_content_hashes={"src/b.ts": sha256("buffer")})
    assert said(judge(other, IN_SRC, WORLD))[1] == "STALE_FILE"
    junk = replace(told, current_content_hashes={"src/a.ts": 5})
    assert said(judge(junk, IN_SRC, WORLD))[1] == "STALE_FILE"


def test_a_right_hash_does_not_buy_scope():
    assert said(judge(hashed(sha256("now")), snapshot("docs/**"), WORLD))[2] == "not_in_scope"


def test_policy_may_require_a_hash_for_files_that_exist():
    state = snapshot("src/**", policy=Policy(require_content_hash=True))
    assert said(judge(write("src/a.ts"), state, WORLD)) == ("ask", "STALE_FILE", "hash_required")
    assert said(judge(write("src/new.ts"), state, WORLD)) == ALLOW
    assert said(judge(write("src/a.ts"), state)) == ALLOW  # nobody knows whether it exists
    assert said(judge(call("create_directory", {"path": "src/x"}), state, WORLD)) == ALLOW
    move = call("move_file", {"source": "src/new.ts", "destination": "src/a.ts"})
    assert said(judge(move, state, WORLD)) == ALLOW
    assert said(judge(call("delete_file", {"path": "src/a.ts"}), state, WORLD))[2] == "hash_required"


def test_a_file_that_cannot_be_hashed_but_is_there_needs_a_hash():
    class Unreadable(FakeFilesystem):
        def content_hash(self, path):
            return None

    state = snapshot("src/**", policy=Policy(require_content_hash=True))
    assert (
        said(judge(write("src/a.ts"), state, Unreadable.from_texts({"src/a.ts": ""})))[2] == "hash_required"
    )


# --- 8 extra rules --------------------------------------------------------------------------------


def roo(**data):
    return call("write_to_file", {"path": "src/a.ts", "content": "x", **data})


def test_policy_may_require_a_mutation_class_on_write_to_file():
    state = snapshot("src/**", policy=Policy(require_mutation_class=True))
    decision = judge(roo(), state)
    assert said(decision) == ("deny", "HOOK_BLOCKED", "mutation_class_required")
    assert "must include mutation_class" in decision.error
    assert said(judge(roo(mutation_class="REFACTOR"), state))[2] == "mutation_class_required"
    for word in ("AST_REFACTOR", "INTENT_EVOLUTION", "intent_evolution"):
        assert said(judge(roo(mutation_class=word), state)) == ALLOW
    assert said(judge(write("src/a.ts"), state)) == ALLOW  # only write_to_file has the field


def test_a_mutation_class_is_a_text():
    assert said(judge(roo(mutation_class=42), IN_SRC)) == ("deny", "HOOK_BLOCKED", "invalid_input")
    assert said(judge(roo(mutation_class="anything"), IN_SRC)) == ALLOW
    assert said(judge(call("write_to_file", "x"), IN_SRC))[2] == "invalid_input"


# --- 9 humans -------------------------------------------------------------------------------------


def granted(the_call, state, kind="once", world=None, **more):
    """The same state with a grant that answers this very call's denial."""
    denied = judge(the_call, state, world)
    grant = Grant(grant_id="g-1", kind=kind, error_type=denied.error_type, digest=denied.digest)
    return replace(state, grants=(replace(grant, **more),))


def test_a_grant_for_once_allows_the_very_call():
    state = granted(bash("make all"), IN_SRC)
    decision = judge(bash("make all"), state)
    assert said(decision) == ALLOW
    assert (decision.grant_id, decision.denial.reason) == ("g-1", "unknown_target")
    assert decision.denial.error_type is ErrorType.SCOPE_VIOLATION
    for other in (bash("make all clean"), bash("make all "), bash("make\u00a0all")):
        assert said(judge(other, state))[0] == "ask"


def test_a_spent_or_expired_grant_allows_nothing():
    the_call = bash("make all")
    assert said(judge(the_call, granted(the_call, IN_SRC, used=True)))[0] == "ask"
    assert said(judge(the_call, granted(the_call, IN_SRC, expires_at=NOW)))[0] == "ask"
    assert said(judge(the_call, granted(the_call, IN_SRC, expires_at=NOW + timedelta(seconds=1)))) == ALLOW


def test_a_spent_grant_still_holds_for_the_same_call_again():
    the_call = replace(bash("make all"), call_id="toolu_1")
    assert said(judge(the_call, granted(the_call, IN_SRC, used=True, used_by="toolu_1"))) == ALLOW
    assert said(judge(the_call, granted(the_call, IN_SRC, used=True, used_by="toolu_2")))[0] == "ask"
    assert (
        said(judge(bash("make all"), granted(bash("make all"), IN_SRC, used=True, used_by=None)))[0] == "ask"
    )


def test_a_grant_for_once_waives_all_that_a_person_may_waive_and_nothing_else():
    the_call = call("Write", {"file_path": "docs/a", "path": ".env", "content": ""})
    state = snapshot("src/**", intentignore=".env\n")
    assert said(judge(the_call, granted(the_call, state))) == ALLOW
    outside = call("Write", {"file_path": "docs/a", "path": "../x", "content": ""})
    assert said(judge(outside, granted(outside, state))) == ("deny", "SCOPE_VIOLATION", "outside_workspace")
    missing = granted(write("docs/a"), no_intent())
    assert said(judge(write("docs/a"), missing)) == ALLOW


def test_a_grant_dies_when_policy_no_longer_lets_people_approve():
    state = granted(bash("make all"), IN_SRC)
    assert said(judge(bash("make all"), replace(state, policy=Policy(approvable=frozenset()))))[0] == "deny"


def test_a_grant_for_the_session_covers_its_patterns():
    state = granted(write("docs/a.md"), IN_SRC, kind="session", patterns=("docs/*.md",), digest="")
    assert said(judge(write("docs/b.md"), state)) == ALLOW
    assert said(judge(write("docs/x/b.md"), state))[0] == "ask"
    assert said(judge(bash("make all"), state))[0] == "ask"
    both = call("Write", {"file_path": "docs/a.md", "path": "lib/a", "content": ""})
    assert said(judge(both, state))[0] == "ask"
    unknown = call("Frobnicate", {"path": "docs/a.md"})
    assert said(judge(unknown, state)) == ("ask", "SCOPE_VIOLATION", "unknown_target")


def test_a_grant_of_another_error_covers_nothing():
    state = granted(
        write("docs/a.md"), IN_SRC, kind="session", patterns=("**",), error_type=ErrorType.STALE_FILE
    )
    assert said(judge(write("docs/a.md"), state))[0] == "ask"


def test_a_grant_with_wildcards_does_not_open_protected_paths():
    everything = granted(write("docs/a.md"), IN_SRC, kind="session", patterns=("**",))
    assert said(judge(write("docs/.git/config"), everything))[2] == "protected_path"
    named = granted(write("docs/a.md"), IN_SRC, kind="session", patterns=(".mcp.json",))
    assert said(judge(write(".mcp.json"), named)) == ALLOW


def test_a_grant_for_the_session_without_patterns_covers_the_very_call():
    state = granted(bash("make all"), IN_SRC, kind="session")
    assert said(judge(bash("make all"), state)) == ALLOW
    assert said(judge(bash("make clean"), state))[0] == "ask"


def test_a_grant_for_a_missing_intent_covers_targets_that_match():
    state = granted(write("docs/a.md"), no_intent(), kind="session", patterns=("docs/**",))
    assert said(judge(write("docs/b.md"), state)) == ALLOW
    assert said(judge(write("src/b.md"), state))[0] == "ask"
    assert said(judge(call("Monitor", {"command": "ls"}), state))[0] == "ask"


@pytest.mark.parametrize(("ignore_case", "verdict"), [(True, "allow"), (False, "ask")])
def test_a_grant_by_pattern_compares_as_the_workspace_does(ignore_case, verdict):
    state = snapshot("src/**", policy=Policy(case_insensitive_paths=ignore_case))
    state = granted(write("docs/a.md"), state, kind="session", patterns=("docs/**",))
    assert said(judge(write("Docs/b.md"), state))[0] == verdict


def test_a_lasting_grant_is_used_before_one_that_is_spent():
    the_call = write("docs/a.md")
    digest = judge(the_call, IN_SRC).digest
    once = Grant("once", "once", ErrorType.SCOPE_VIOLATION, digest)
    lasting = Grant("lasting", "session", ErrorType.SCOPE_VIOLATION, "", patterns=("docs/**",))
    assert judge(the_call, replace(IN_SRC, grants=(once, lasting))).grant_id == "lasting"
    both = call("Write", {"file_path": "docs/a.md", "path": ".env", "content": ""})
    state = snapshot("src/**", intentignore=".env\n")
    once = replace(once, digest=judge(both, state).digest)
    everywhere = replace(lasting, patterns=("**",))
    assert judge(both, replace(state, grants=(everywhere, once))).grant_id == "once"


def test_a_wider_file_changes_the_digest():
    stale = hashed(sha256("before"))
    state = granted(stale, IN_SRC, world=WORLD)
    assert said(judge(stale, state, WORLD)) == ALLOW
    assert said(judge(stale, state, FakeFilesystem.from_texts({"src/a.ts": "later"})))[0] == "ask"


# --- 10 fail safe, enforcement --------------------------------------------------------------------


class Broken(FakeFilesystem):
    def resolve(self, path):
        raise OSError("disk on fire")


@pytest.mark.parametrize("policy", [Policy(), Policy(enforcement="monitor")])
def test_any_error_inside_the_gate_is_a_denial(policy, caplog):
    decision = judge(write("src/a.ts"), snapshot("src/**", policy=policy), Broken())
    assert said(decision) == ("deny", "HOOK_BLOCKED", "internal_error")
    assert "disk on fire" in caplog.text
    assert caplog.messages == ["the gate failed while it judged a call"]
    assert decide(None, None, NOW).verdict is Verdict.DENY


def test_deep_input_is_no_way_around():
    data: dict = {}
    for _ in range(100_000):
        data = {"files": [data]}
    assert judge(call("Write", data), IN_SRC).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("enforcement", "verdict", "answer"),
    [
        ("enforce", Verdict.DENY, (Verdict.DENY, None)),
        ("enforce", Verdict.ALLOW, (Verdict.ALLOW, None)),
        ("monitor", Verdict.ASK, (Verdict.ALLOW, Verdict.ASK)),
        ("monitor", Verdict.ALLOW, (Verdict.ALLOW, None)),
        ("off", Verdict.DENY, (Verdict.ALLOW, None)),
    ],
)
def test_enforcement(enforcement, verdict, answer):
    assert enforce(Decision(verdict, ToolClass.SAFE), Policy(enforcement=enforcement)) == answer


def test_every_reason_that_can_be_told_has_its_weight_or_is_the_last():
    assert len(set(decisions._SEVERITY)) == len(decisions._SEVERITY)


# --- a denied target is never reached by another spelling -------------------------------------------

NAMES = st.sampled_from(["src", "docs", "a.md", "b.ts", ".git", "config", ".env"])
DETOURS = st.lists(st.sampled_from(["./", ".//", "x/../", "src/../", "docs/./../"]), max_size=4)


@st.composite
def spelled(draw):
    """A path and another way to write it."""
    path = "/".join(draw(st.lists(NAMES, min_size=1, max_size=4)))
    root = f"{ROOT}/" if draw(st.booleans()) else ""
    return path, root + "".join(draw(DETOURS)) + path.replace("/", draw(st.sampled_from(["/", "//", "/./"])))


@settings(max_examples=300, deadline=None)
@given(spelled())
def test_another_spelling_of_a_path_gets_the_same_answer(pair):
    path, other = pair
    state = snapshot("src/**", "docs/*.md", intentignore=".env\n")
    tools = ("Write", "delete_file", "create_file")
    for tool in tools:
        plain = judge(call(tool, {"path": path, "content": ""}), state)
        spelt = judge(call(tool, {"path": other, "content": ""}), state)
        assert said(plain) == said(spelt)
        assert plain.targets == spelt.targets


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["path", "file_path", "content", "command", "patch", "files", "paths"]),
                       st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2))),
       st.sampled_from(["Write", "Edit", "Bash", "apply_patch", "move_file", "Read", "Glob", "Other", "delete_file"]))  # fmt: skip
def test_hostile_input_is_decided_without_an_error(data, tool):
    decision = judge(call(tool, data), IN_SRC)
    assert decision.reason != "internal_error"
    if decision.verdict is Verdict.ALLOW and decision.tool_class is ToolClass.DESTRUCTIVE:
        assert all(target.path.startswith("src/") for target in decision.targets)


# ---- folders made by a command


def test_a_rule_for_folders_holds_off_a_folder_that_a_command_makes():
    """`build/` says nothing of a file of that name, and mkdir makes none."""
    state = snapshot("**", intentignore="build/\n")
    assert judge(bash("mkdir build"), state).error_type is ErrorType.INTENTIGNORE_PATH_BLOCKED
    assert judge(bash("mkdir -p build"), state).targets[0].op == "folder"
    assert judge(bash("touch build"), state).verdict is Verdict.ALLOW


def test_no_hash_is_asked_for_a_folder_that_is_there_already():
    state = snapshot("**", policy=Policy(require_content_hash=True))
    world = FakeFilesystem.from_texts({"src/a.ts": "x\n"})
    assert judge(bash("mkdir -p src"), state, world).verdict is Verdict.ALLOW
    assert said(judge(bash("touch src/a.ts"), state, world))[2] == "hash_required"


def test_only_folders_with_plain_names_hold_something_protected():
    patterns = ("a/b/c.txt", "d/*/e.txt", "!f/g.txt")
    rules = compile_rules(snapshot("**", policy=Policy(protected_paths=patterns)))
    names = ("a", "a/b", "a/b/c.txt", "d", "d/*", "f", "!f")
    assert [name for name in names if rules.has_protected_below(name)] == ["a", "a/b", "d"]
