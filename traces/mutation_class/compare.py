"""Which class a change is of: the one function that the rest of the product calls."""

from __future__ import annotations

from traces.entry_schema import EVOLUTION
from traces.mutation_class.canonical_order import arrange
from traces.mutation_class.languages import grammar_for
from traces.mutation_class.languages.grammar import Grammar
from traces.mutation_class.normal_form import Shaped, shaped
from traces.mutation_class.parse import Budget, UnclearError
from traces.mutation_class.renames import Verdict, compared

REFACTOR = "AST_REFACTOR"
MAX_BYTES = 128 * 1024
CPU_SECONDS = 1.0  # for both texts together


def mutation_class(path: str, before: str, after: str, *, seconds: float = CPU_SECONDS) -> str | None:
    """AST_REFACTOR where layout, comments, order or names alone differ, INTENT_EVOLUTION for anything else.

    None where nothing is claimed: a language that is not known by the name of the file, a text that does not
    parse, is too large, too deep or takes longer than `seconds` of processor time. Never raises.
    """
    grammar = grammar_for(path)
    if grammar is None or max(len(before), len(after)) > MAX_BYTES:
        return None
    budget = Budget(seconds)
    try:
        old, new = (shaped(grammar, text.encode(), budget) for text in (before, after))
        verdict = _verdict(old, new, grammar, budget)
    except (UnclearError, UnicodeEncodeError, RecursionError):
        return None
    return {Verdict.SAME: REFACTOR, Verdict.DIFFERENT: EVOLUTION}.get(verdict)


def _verdict(before: Shaped, after: Shaped, grammar: Grammar, budget: Budget) -> Verdict:
    """As they stand; then with what may move put in order, by names and content, or by content alone."""
    found = [compared(before, after, grammar.naming, budget)]
    for named in (False, True):
        if found[-1] is Verdict.SAME or not grammar.ordering.containers:
            break
        digests = [arrange(side.root, grammar, budget, named=named) for side in (before, after)]
        if not named and digests[0] != digests[1]:
            break  # more than order and names
        found.append(compared(before, after, grammar.naming, budget))
    best = (Verdict.SAME, Verdict.UNCLEAR, Verdict.DIFFERENT)
    return next(one for one in best if one in found)
