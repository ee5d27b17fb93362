"""Decisions: what is reported, which grants cover it, enforcement, and that nothing raises."""

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
    Policy,
    ToolClass,
    Verdict,
)
from tests.policy.builders import (
    NOW,
    ROOT,
    FakeFilesystem,
    bash,
    call,
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


# --- 2 session ------------------------------------------------------------------------------------


# --- 4 safe calls ---------------------------------------------------------------------------------


# --- 5 intent -------------------------------------------------------------------------------------


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


# --- 6 folders and links --------------------------------------------------------------------------


# --- 7 stale --------------------------------------------------------------------------------------


WORLD = FakeFilesystem.from_texts({"src/a.ts": "now"})


def hashed(value, path="src/a.ts", **more):
    return write(path, expected_content_hash=value, **more)


# --- 8 extra rules --------------------------------------------------------------------------------


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
    assert said(judge(write("docs/b.md"), state))[0] == "ask"
    assert said(judge(write("docs/a.md"), state)) == ALLOW, "the very call that it was given for"


def test_a_grant_with_wildcards_does_not_open_protected_paths():
    everything = granted(write("docs/a.md"), IN_SRC, kind="session", patterns=("**",))
    assert said(judge(write("docs/.git/config"), everything))[2] == "protected_path"
    named = granted(write("docs/a.md"), IN_SRC, kind="session", patterns=(".mcp.json",))
    assert said(judge(write(".mcp.json"), named)) == ALLOW


def test_a_grant_for_the_session_without_patterns_covers_the_very_call():
    state = granted(bash("make all"), IN_SRC, kind="session")
    assert said(judge(bash("make all"), state)) == ALLOW
    assert said(judge(bash("make clean"), state))[0] == "ask"


def test_a_grant_for_the_session_covers_the_very_call_whatever_is_wrong_with_it():
    for the_call in (bash("make all"), write(".env"), call("Frobnicate", {"path": "docs/a.md"})):
        state = replace(no_intent(), intentignore=".env\n")
        assert said(judge(the_call, granted(the_call, state))) == ALLOW
        assert said(judge(the_call, granted(the_call, state, kind="session"))) == ALLOW


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
