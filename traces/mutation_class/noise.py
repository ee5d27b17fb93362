"""Remove tokens that do not change the meaning: separators, trailing commas, redundant parentheses."""

from __future__ import annotations

from traces.mutation_class.forms import NormalNode
from traces.mutation_class.languages.grammar import Grammar


def remove_noise(
    grammar: Grammar, node: NormalNode, kind: str, parent: str, field: str | None
) -> NormalNode | None:
    """Return the node without noise, what it consists of alone, or None where nothing is left.

    `kind` is that of the syntax tree, which the normal form may call otherwise.
    """
    noise = grammar.separators.get(kind, frozenset()) | grammar.separators.get("*", frozenset())
    if kind in grammar.without_parentheses:
        noise |= {"(", ")"}
    if noise:
        node.children = [child for child in node.children if child.kind or child.text not in noise]
    if kind in grammar.trailing:
        node.children = _drop_trailing_comma(node.children)
    parts = [child for child in node.children if child.kind]
    if kind in grammar.transparent and parent not in grammar.keeps_parentheses and len(parts) == 1:
        only = parts[0]
        if not _contains_kind(only, grammar.keeps_parentheses):
            only.field = field
            return only
    is_empty = kind in grammar.dropped_when_empty and parent == "class_definition" and not parts
    return None if is_empty else node


def _drop_trailing_comma(children: list[NormalNode]) -> list[NormalNode]:
    """Turn `[a, b,]` into `[a, b]`; not `[a,,]`, where a comma stands for an element."""
    last = len(children) - 1
    while last >= 0 and not children[last].kind and children[last].text in {")", "]", "}", ">"}:
        last -= 1
    has_comma = last > 0 and not children[last].kind and children[last].text == ","
    return [*children[:last], *children[last + 1 :]] if has_comma and children[last - 1].kind else children


def _contains_kind(node: NormalNode, kinds: frozenset[str]) -> bool:
    return bool(kinds) and any(part.kind in kinds for part in node.walk())
