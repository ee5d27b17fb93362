"""Generated programs: whatever only looks otherwise is no evolution, whatever does something else is one."""

from __future__ import annotations

import ast
import random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.traces.mutation_class.programs import COMPARISONS, NAMES, OPERATORS, functions, laid_out, source
from traces.mutation_class import EVOLUTION_CLASS, REFACTOR, classify_change

pytestmark = pytest.mark.deep

EXAMPLES = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FRESH = ("first", "second", "third", "fourth")


class Renamed(ast.NodeTransformer):
    """Every local name by a map; members stay, for nobody here defines them."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node):
        return ast.arg(self.names.get(node.arg, node.arg))


def declared(function):
    """The names that a function declares: the others are found outside and must stay."""
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {"alpha", "beta"}


def changed(tree, choice):
    """The tree with one constant or operator replaced; None where it has neither."""
    places = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.BinOp | ast.Compare)
    ]  # fmt: skip
    if not places:
        return None
    node = places[choice % len(places)]
    if isinstance(node, ast.Constant):
        node.value = (
            {True: False, False: True}.get(node.value, "other") if isinstance(node.value, bool) else "other"
        )
    elif isinstance(node, ast.BinOp):
        node.op = other_of(OPERATORS, node.op)
    else:
        node.ops = [other_of(COMPARISONS, node.ops[0])]
    return tree


def other_of(kinds, one):
    at = next(place for place, kind in enumerate(kinds) if isinstance(one, kind))
    return kinds[(at + 1) % len(kinds)]()


@EXAMPLES
@given(functions(), st.integers(1, 9))
def test_another_layout_is_no_evolution(definitions, spaces):
    text = source(definitions)
    other = laid_out(text, spaces)
    assert ast.dump(ast.parse(other)) == ast.dump(ast.parse(text))
    assert classify_change("a.py", text, other) == REFACTOR
    assert classify_change("a.py", other, ast.unparse(ast.parse(other))) == REFACTOR


@EXAMPLES
@given(functions(), st.integers(0, 10**6))
def test_another_order_of_definitions_is_no_evolution(definitions, seed):
    text = source(definitions)
    random.Random(seed).shuffle(definitions)
    assert classify_change("a.py", text, source(definitions)) == REFACTOR


@EXAMPLES
@given(functions(), st.permutations(FRESH), st.integers(0, 10**6))
def test_other_names_of_what_a_function_declares_are_no_evolution(definitions, fresh, seed):
    text = source(definitions)
    for function in definitions:
        names = {old: new for old, new in zip(NAMES, fresh, strict=True) if old in declared(function)}
        function.body = [Renamed(names).visit(statement) for statement in function.body]
        function.args = Renamed(names).visit(function.args)
    assert classify_change("a.py", text, source(definitions)) == REFACTOR
    random.Random(seed).shuffle(definitions)
    assert classify_change("a.py", text, source(definitions)) == REFACTOR


@EXAMPLES
@given(functions(), st.integers(0, 10**6))
def test_another_constant_or_operator_is_an_evolution(definitions, choice):
    text = source(definitions)
    tree = changed(ast.parse(text), choice)
    assume(tree is not None)
    other = ast.unparse(tree)
    assume(ast.dump(ast.parse(other)) != ast.dump(ast.parse(text)))
    assert classify_change("a.py", text, other) == EVOLUTION_CLASS


@EXAMPLES
@given(functions(), st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 10**6))
def test_one_use_of_a_name_for_another_is_an_evolution(definitions, old, new, choice):
    """Both parameters are used, so that a name put in the place of one use means something else."""
    assume(old != new)
    for function in definitions:
        uses = [ast.Expr(ast.Name(name, ast.Load())) for name in NAMES]
        function.body = [*uses, *function.body, *uses]
    text = source(definitions)
    tree = ast.parse(text)
    places = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == old]
    places[choice % len(places)].id = new
    assert classify_change("a.py", text, ast.unparse(tree)) == EVOLUTION_CLASS


@EXAMPLES
@given(functions(), functions())
def test_two_programs_are_one_only_where_python_says_so(one, other):
    """Never a refactoring between programs whose trees differ in more than names and order."""
    first, second = source(one), source(other)
    if classify_change("a.py", first, second) == REFACTOR:
        assert outline(first) == outline(second)


def outline(text):
    """The kinds and constants of a program's functions, whatever they are called and in whatever order."""
    shapes = [
        [(type(node).__name__, repr(getattr(node, "value", "")) if isinstance(node, ast.Constant) else "")
         for node in ast.walk(function)]
        for function in ast.parse(text).body
    ]  # fmt: skip
    return sorted(shapes)
