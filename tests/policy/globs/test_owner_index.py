"""Who owns a path: as asking every scope would tell, without asking every scope."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from controlplane.policy.globs.owner_index import OwnerIndex
from controlplane.policy.globs.scope import Scope
from tests.policy.globs.strategies import PATHS, SIGNED


@given(st.lists(st.lists(SIGNED, max_size=4), max_size=5), st.sampled_from(PATHS), st.booleans())
def test_it_answers_as_asking_every_scope_would(scopes, path, ignore_case):
    named = [
        (f"INT-{n}", Scope.from_patterns(patterns, case_insensitive=ignore_case))
        for n, patterns in enumerate(scopes)
    ]
    expected = {intent_id for intent_id, scope in named if scope.matches(path)} - {"INT-0"}
    assert set(OwnerIndex(named).find_owners(path, exclude="INT-0")) == expected


def test_case_is_ignored_where_the_scopes_ignore_it():
    owners = OwnerIndex([("INT-1", Scope.from_patterns(["Src/Auth/**"], case_insensitive=True))])
    assert owners.find_owners("src/AUTH/a.ts", exclude=None) == ("INT-1",)


def test_a_thousand_intents_elsewhere_are_not_asked(monkeypatch):
    asked = []
    scopes = [(f"INT-{n}", Scope.from_patterns([f"area{n}/**", f"lib/area{n}/*.ts"])) for n in range(1_000)]
    owners = OwnerIndex(scopes)
    monkeypatch.setattr(Scope, "matches", lambda self, path: asked.append(self) or True)
    assert owners.find_owners("area7/deep/file.ts", exclude=None) == ("INT-7",)
    assert len(asked) == 1
