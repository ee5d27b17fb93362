"""Decide which class a change has."""

from __future__ import annotations

from traces.entry_schema import EVOLUTION_CLASS, REFACTOR_CLASS
from traces.mutation_class.canonical_order import sort_children
from traces.mutation_class.forms import NormalForm
from traces.mutation_class.languages import find_grammar
from traces.mutation_class.languages.grammar import Grammar
from traces.mutation_class.normal_form import normalize
from traces.mutation_class.parse import CpuLimit, UnclassifiableError
from traces.mutation_class.renames import Equivalence, compare

REFACTOR = REFACTOR_CLASS
MAX_BYTES = 128 * 1024
CPU_SECONDS = 1.0  # for both texts


def classify_change(path: str, before: str, after: str, *, seconds: float = CPU_SECONDS) -> str | None:
    """Return AST_REFACTOR if only layout, comments, order or names differ, else INTENT_EVOLUTION.

    None where nothing can be claimed: an unknown file extension, a text that does not parse, is too large,
    too deep or takes more than `seconds` of processor time. Never raises.
    """
    grammar = find_grammar(path)
    if grammar is None or max(len(before), len(after)) > MAX_BYTES:
        return None
    cpu_limit = CpuLimit(seconds)
    try:
        old, new = (normalize(grammar, path, text.encode(), cpu_limit) for text in (before, after))
        equivalence = _compare_forms(old, new, grammar, cpu_limit)
    except (UnclassifiableError, UnicodeEncodeError, RecursionError):
        return None
    return {Equivalence.SAME: REFACTOR, Equivalence.DIFFERENT: EVOLUTION_CLASS}.get(equivalence)


def _compare_forms(
    before: NormalForm, after: NormalForm, grammar: Grammar, cpu_limit: CpuLimit
) -> Equivalence:
    """Compare as written, then sorted with names, then sorted by content alone."""
    results = [compare(before, after, grammar.naming, cpu_limit)]
    for with_names in (False, True):
        if results[-1] is Equivalence.SAME or not grammar.ordering.containers:
            break
        digests = [
            sort_children(form.root, grammar, cpu_limit, with_names=with_names) for form in (before, after)
        ]
        if not with_names and digests[0] != digests[1]:
            break  # they differ in more than order and names
        results.append(compare(before, after, grammar.naming, cpu_limit))
    # Any way of sorting that makes the texts equal proves a refactoring.
    best = (Equivalence.SAME, Equivalence.UNCLEAR, Equivalence.DIFFERENT)
    return next(result for result in best if result in results)
