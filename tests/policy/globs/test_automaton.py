"""Searches for paths: their witnesses, and what happens when they are given up."""

from __future__ import annotations

from controlplane.policy.globs import automaton
from controlplane.policy.globs.overlaps import find_overlap
from controlplane.policy.globs.scope import Scope
from controlplane.policy.globs.syntax import Wildcard


def test_questions_that_are_given_up_err_on_the_side_of_care(monkeypatch):
    monkeypatch.setattr(automaton, "MAX_STEPS", 8)
    scope = Scope.from_patterns(["src/**", "!src/x*"])
    assert not Scope.from_patterns(["src/**"]).covers_below("src/deep/down")
    assert find_overlap(scope, Scope.from_patterns(["src/**"])) == "src/x"


def test_an_automaton_reads_only_what_globs_are_made_of():
    assert automaton.find_path([automaton.build_automaton((((Wildcard.STAR,),),))]) == "x"
