"""Small Python programs, generated as trees, and the same program written in another layout."""

from __future__ import annotations

import ast
import io
import tokenize

from hypothesis import strategies as st

NAMES = ("alpha", "beta", "gamma", "delta")
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.BitOr, ast.Pow)
COMPARISONS = (ast.Lt, ast.GtE, ast.Eq, ast.Is, ast.NotIn)

names = st.sampled_from(NAMES)
constants = st.one_of(
    st.integers(0, 9), st.text("ab'\"\\\n", max_size=4), st.booleans(), st.none(), st.binary(max_size=2),
    st.floats(0, 9, allow_nan=False),
)  # fmt: skip
leaves = names.map(lambda name: ast.Name(name, ast.Load())) | constants.map(ast.Constant)


def expressions():
    return st.recursive(leaves, _compound, max_leaves=8)


def _compound(inner):
    return st.one_of(
        st.builds(lambda one, how, other: ast.BinOp(one, how(), other), inner, st.sampled_from(OPERATORS), inner),
        st.builds(lambda one, how, more: ast.Compare(one, [how()], [more]), inner, st.sampled_from(COMPARISONS), inner),
        st.builds(lambda name, given: ast.Call(ast.Name(name, ast.Load()), given, []), names, st.lists(inner, max_size=2)),
        st.builds(lambda parts: ast.Tuple(parts, ast.Load()), st.lists(inner, max_size=3)),
        st.builds(lambda parts: ast.List(parts, ast.Load()), st.lists(inner, max_size=3)),
        st.builds(lambda of, name: ast.Attribute(of, name, ast.Load()), inner, names),
        st.builds(lambda one, test, other: ast.IfExp(test, one, other), inner, inner, inner),
        st.builds(lambda one: ast.UnaryOp(ast.Not(), one), inner),
    )  # fmt: skip


def statements():
    simple = st.one_of(
        st.builds(lambda name, value: ast.Assign([ast.Name(name, ast.Store())], value, lineno=1), names, expressions()),
        expressions().map(ast.Return),
        expressions().map(lambda value: ast.Expr(ast.Call(ast.Name("alpha", ast.Load()), [value], []))),
    )  # fmt: skip
    return st.recursive(simple, _blocks, max_leaves=5)


def _blocks(inner):
    body = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        st.builds(lambda test, then: ast.If(test, then, []), expressions(), body),
        st.builds(lambda test, then: ast.While(test, then, []), expressions(), body),
        st.builds(
            lambda name, over, then: ast.For(ast.Name(name, ast.Store()), over, then, [], lineno=1),
            names, expressions(), body,
        ),
    )  # fmt: skip


def functions():
    """Functions of different names, so that their order says nothing."""
    bodies = st.lists(st.lists(statements(), min_size=1, max_size=3), min_size=1, max_size=3)
    return bodies.map(lambda found: [_function(number, body) for number, body in enumerate(found)])


def _function(number, body):
    given = ast.arguments([], [ast.arg("alpha"), ast.arg("beta")], None, [], [], None, [])
    return ast.FunctionDef(f"_function_{number}", given, body, [], lineno=1)


def source(definitions):
    return ast.unparse(ast.fix_missing_locations(ast.Module(definitions, [])))


def laid_out(text: str, spaces: int) -> str:
    """The same tokens with other blanks, and a comment behind every line."""
    found, at = [], "".ljust(spaces)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind, word = token.type, token.string
        if kind == tokenize.INDENT:
            word = word.replace("    ", at)
        if kind == tokenize.NEWLINE:
            found.append((tokenize.COMMENT, f"{at}# {len(found)}"))
        found.append((kind, word))
    return tokenize.untokenize(found)
