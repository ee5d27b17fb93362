"""What a reviewer has refused stays refused, whatever tool it is tried with."""

from __future__ import annotations

import pytest

from controlplane.policy.model import ErrorType, Grant, Policy, RejectedPath
from controlplane.policy.paths.filesystem import Location, ResolvedPath
from tests.policy.builders import FakeFilesystem, bash, call, judge, no_intent, said, snapshot, write

WORDS = "Rejected by Rex: the design is frozen."
DESIGN = RejectedPath("docs/design.md", WORDS)
ASKS = ("ask", "SCOPE_VIOLATION", "not_in_scope")
REFUSES = ("deny", "SCOPE_VIOLATION", "not_in_scope")


def remembering(*refused, **more):
    return snapshot("src/auth/**", rejected_paths=refused or (DESIGN,), **more)


@pytest.mark.parametrize(
    "again",
    [
        write("docs/design.md"),
        call("Edit", {"file_path": "docs/design.md", "old_string": "a", "new_string": "b"}),
        bash("cp src/auth/a docs/design.md"),
        bash("echo x > ./docs//design.md"),
        bash("rm -rf docs"),
        bash("sh -c 'tee docs/design.md' && eval $x"),
    ],
)
def test_the_path_is_refused_with_the_reviewers_words(again):
    decision = judge(again, remembering())
    assert said(decision)[0] == "deny"
    assert decision.error.endswith(f"\n{WORDS} Do not retry.")


def test_other_paths_ask_as_before():
    for other in ("docs/design.md.bak", "docs/other.md", "design.md"):
        assert said(judge(write(other), remembering())) == ASKS
    assert said(judge(bash("rm docs/design.md/x"), remembering())) == ASKS


def test_what_the_scope_lets_through_by_now_is_let_through():
    assert said(judge(write("docs/design.md"), snapshot("docs/**", rejected_paths=(DESIGN,))))[0] == "allow"


def test_a_live_grant_comes_before_the_memory():
    grant = Grant("g", "session", ErrorType.SCOPE_VIOLATION, "", patterns=("docs/*",))
    assert judge(write("docs/design.md"), remembering(grants=(grant,))).grant_id == "g"


def test_all_below_a_folder_is_refused_where_all_of_it_was():
    whole = RejectedPath("docs", WORDS, recursive=True)
    assert said(judge(write("docs/a/b.md"), remembering(whole))) == REFUSES
    assert said(judge(write("docs2/b.md"), remembering(whole))) == ASKS
    assert said(judge(write("docs/b.md"), remembering(RejectedPath("docs", WORDS)))) == ASKS
    assert said(judge(write("b.md"), remembering(RejectedPath("", WORDS, recursive=True)))) == REFUSES


def test_without_an_intent_every_target_is_held_against_the_memory():
    state = no_intent(rejected_paths=(RejectedPath("src/auth/a", WORDS),))
    assert said(judge(write("src/auth/a"), state)) == ("deny", "MISSING_OR_INVALID_INTENT", "none_selected")
    assert said(judge(write("src/auth/b"), state))[0] == "ask"


def test_a_read_that_was_refused_stays_refused():
    state = remembering(RejectedPath("keys/a", WORDS), intentignore="keys/\n")
    assert judge(call("Read", {"file_path": "keys/a"}), state).error.endswith("Do not retry.")
    assert said(judge(bash("cat keys/b"), state))[0] == "ask"


class Linked(FakeFilesystem):
    def resolve(self, path):
        return ResolvedPath(Location.INSIDE, "docs/design.md" if path == "notes" else path)


@pytest.mark.parametrize("refused", ["docs/design.md", "notes"])
def test_a_link_to_the_path_is_the_path(refused):
    decision = judge(write("notes"), remembering(RejectedPath(refused, WORDS)), Linked())
    assert said(decision) == REFUSES


def test_case_counts_unless_the_workspace_has_none():
    assert said(judge(write("DOCS/Design.md"), remembering())) == ASKS
    folding = remembering(policy=Policy(case_insensitive_paths=True))
    assert said(judge(write("DOCS/Design.md"), folding)) == REFUSES


def test_the_words_stand_beside_nothing_that_nobody_may_approve():
    strict = remembering(policy=Policy(approvable=frozenset()))
    decision = judge(write("docs/design.md"), strict)
    assert said(decision) == REFUSES
    assert WORDS not in decision.error
