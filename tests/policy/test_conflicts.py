"""What somebody else works on: always marked, and asked about or refused as policy says."""

from __future__ import annotations

import pytest

from controlplane.policy.explain import explain
from controlplane.policy.globs.owner_index import OwnerIndex
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import Conflict, ErrorType, Policy, Reason, Verdict
from tests.policy.builders import NOW, FakeFilesystem, judge, snapshot, write

OWNERS = OwnerIndex(
    [
        ("INT-001", Scope.from_patterns(["src/**"])),
        ("INT-002", Scope.from_patterns(["src/b/**", "src/shared.ts"])),
    ]
)


class ContestedFilesystem(FakeFilesystem):
    """Session s-2 has changed src/a.ts."""

    def find_changes_by_others(self, paths):
        return {path: "s-2" for path in paths if path == "src/a.ts"}


def under(conflicts, path):
    return judge(
        write(path),
        snapshot("src/**", policy=Policy(conflicts=conflicts), owners=OWNERS),
        world=ContestedFilesystem(),
    )


@pytest.mark.parametrize("conflicts", ["allow", "ask", "deny"])
def test_nobody_elses_file_is_no_conflict(conflicts):
    assert under(conflicts, "src/own.ts").conflicts == ()
    assert under(conflicts, "src/own.ts").verdict is Verdict.ALLOW


def test_a_conflict_is_marked_and_goes_through():
    decision = under("allow", "src/a.ts")
    assert decision.verdict is Verdict.ALLOW
    assert decision.conflicts == (Conflict("src/a.ts", Reason.CHANGED_BY_OTHER_SESSION, "s-2"),)
    assert under("allow", "src/b/c.ts").conflicts == (
        Conflict("src/b/c.ts", Reason.OWNED_BY_OTHER_INTENT, "INT-002"),
    )


@pytest.mark.parametrize(("conflicts", "verdict"), [("ask", Verdict.ASK), ("deny", Verdict.DENY)])
def test_policy_asks_or_refuses(conflicts, verdict):
    decision = under(conflicts, "src/a.ts")
    assert (decision.verdict, decision.error_type) == (verdict, ErrorType.STALE_FILE)
    assert decision.offending == ("src/a.ts",)
    assert decision.error.startswith("Stale File: [src/a.ts] was changed by another session (s-2)")
    decision = under(conflicts, "src/shared.ts")
    assert (decision.verdict, decision.error_type) == (verdict, ErrorType.INTENT_CONFLICT)
    assert decision.error.startswith("[src/shared.ts] is also owned by INT-002")


def test_a_weightier_problem_is_told_first_and_refusal_beats_asking():
    decision = judge(write("docs/a.md"), snapshot("src/**", policy=Policy(conflicts="deny"), owners=OWNERS))
    assert decision.reason == Reason.NOT_IN_SCOPE
    owners = OwnerIndex([("INT-002", Scope.from_patterns(["docs/**"]))])
    decision = judge(write("docs/a.md"), snapshot("src/**", policy=Policy(conflicts="deny"), owners=owners))
    assert decision.verdict is Verdict.DENY
    assert decision.reason == Reason.OWNED_BY_OTHER_INTENT


def test_the_step_that_looks_for_stale_files_tells_it():
    steps = explain(write("src/a.ts"), snapshot("src/**", owners=OWNERS), NOW, ContestedFilesystem())
    assert steps[6].observed.endswith("conflicts allow: src/a.ts (changed_by_other_session: s-2)")
    assert explain(write("src/own.ts"), snapshot("src/**"), NOW)[6].observed.endswith("conflicts allow: none")
