"""Sort children whose order does not matter, in the same way on both sides.

Two neighbours may be swapped unless one of them has side effects, or defines a name that the other defines or
uses. Sorting never moves such a pair past each other, so two texts that differ by allowed moves become equal.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traces.mutation_class.forms import LexicalScope, NormalNode
from traces.mutation_class.languages.grammar import Container, Grammar, Ordering
from traces.mutation_class.parse import CpuLimit

MAX_ITEMS = 400  # every pair is compared

IMPORT, DEFINITION, VALUE, PINNED = "import", "definition", "value", "fixture"


@dataclass(slots=True)
class SortableItem:
    """A child with what is attached to it: its category, and the names it defines and uses."""

    nodes: list[NormalNode]
    category: str
    defined: frozenset[str]
    used: frozenset[str]
    digest: int


def sort_children(node: NormalNode, grammar: Grammar, cpu_limit: CpuLimit, *, with_names: bool) -> int:
    """Sort the children of all containers; return a digest, which ignores names unless `with_names`."""
    return _sort_children(node, "", grammar.ordering, cpu_limit, with_names=with_names)


def _sort_children(
    node: NormalNode, parent: str, rules: Ordering, cpu_limit: CpuLimit, *, with_names: bool
) -> int:
    cpu_limit.count_steps()
    digests = [
        _sort_children(child, node.kind, rules, cpu_limit, with_names=with_names) for child in node.children
    ]
    container = rules.containers.get((node.kind, parent)) or rules.containers.get((node.kind, "*"))
    if container is not None and 1 < len(node.children) <= MAX_ITEMS:
        items = list(_group_items(node.children, container, rules))
        node.children = [child for item in _sort_items(items, container, cpu_limit) for child in item.nodes]
        digests = [child.digest for child in node.children]
    # Blind to names, a renamed definition still sorts to the place of its counterpart.
    text = "" if node.role and not with_names else node.text
    node.digest = hash((node.kind, text, tuple(digests)))
    return node.digest


def _sort_items(
    items: Sequence[SortableItem], container: Container, cpu_limit: CpuLimit
) -> Iterator[SortableItem]:
    """Yield items topologically: always the smallest digest that no earlier item blocks."""
    successors: list[list[int]] = [[] for _ in items]
    blocker_counts = [0] * len(items)
    for follower, item in enumerate(items):
        cpu_limit.count_steps(follower + 1)
        for earlier in range(follower):
            if not _may_swap(items[earlier], item, container):
                successors[earlier].append(follower)
                blocker_counts[follower] += 1
    # Kahn's algorithm with a heap: among the items that may come next, content decides, not position.
    ready = [_sort_key(items[index], index) for index, count in enumerate(blocker_counts) if count == 0]
    heapq.heapify(ready)
    while ready:
        *_, index = heapq.heappop(ready)
        yield items[index]
        for follower in successors[index]:
            blocker_counts[follower] -= 1
            if blocker_counts[follower] == 0:
                heapq.heappush(ready, _sort_key(items[follower], follower))


def _sort_key(item: SortableItem, index: int) -> tuple[int, tuple[str, ...], int]:
    """Sort by content; items that differ only in names by their names, so that each meets its counterpart."""
    return item.digest, tuple(sorted(item.defined)), index


def _may_swap(first: SortableItem, second: SortableItem, container: Container) -> bool:
    categories = {first.category, second.category}
    if not first.defined.isdisjoint(second.defined) or (
        PINNED in categories and not (container.is_unordered and DEFINITION in categories)
    ):
        return False
    if container.is_unordered and DEFINITION in categories:
        return True
    if categories == {VALUE} and container.keeps_value_order:
        return False
    return first.defined.isdisjoint(second.used) and second.defined.isdisjoint(first.used)


def _group_items(
    children: Sequence[NormalNode], container: Container, rules: Ordering
) -> Iterator[SortableItem]:
    attached: list[NormalNode] = []
    for child in children:
        if child.kind in rules.attached:
            attached.append(child)
            continue
        is_pinned = bool(attached) and rules.attached_is_fixed
        category = PINNED if is_pinned else _categorize(child, container, rules)
        nodes = [*attached, child]
        yield SortableItem(
            nodes,
            category,
            _find_defined_names(child, rules),
            frozenset(name for node in nodes for name in _iterate_used(node, "", rules)),
            hash(tuple(node.digest for node in nodes)),
        )
        attached = []
    if attached:
        yield SortableItem(
            attached, PINNED, frozenset(), frozenset(), hash(tuple(node.digest for node in attached))
        )


def _categorize(node: NormalNode, container: Container, rules: Ordering) -> str:
    unwrapped = _unwrap(node, rules)
    if any(not _is_inert(child, rules) for child in node.children if child.kind in rules.decorators):
        return PINNED
    if unwrapped.kind in container.definitions:
        return DEFINITION
    if unwrapped.kind in container.imports:
        has_side_effects = bool(rules.binding_imports) and not _contains(unwrapped, rules.binding_imports)
        return PINNED if has_side_effects or _contains(unwrapped, rules.wildcard_imports) else IMPORT
    return VALUE if unwrapped.kind in container.values and not _is_executing(unwrapped, "", rules) else PINNED


def _unwrap(node: NormalNode, rules: Ordering) -> NormalNode:
    while node.kind in rules.wrappers:
        inner = next(
            (child for child in node.children if child.kind and child.kind not in rules.decorators), None
        )
        if inner is None:
            break
        node = inner
    return node


def _is_inert(decorator: NormalNode, rules: Ordering) -> bool:
    return rules.order_free_decorators.fullmatch("".join(_iterate_texts(decorator))) is not None


def _iterate_texts(node: NormalNode) -> Iterator[str]:
    yield node.text
    for child in node.children:
        yield from _iterate_texts(child)


def _contains(node: NormalNode, kinds: frozenset[str]) -> bool:
    return node.kind in kinds or any(_contains(child, kinds) for child in node.children)


def _is_executing(node: NormalNode, parent: str, rules: Ordering) -> bool:
    if node.kind in rules.executing:
        return True
    if (parent, node.field) in rules.deferred:
        return False
    return any(_is_executing(child, node.kind, rules) for child in node.children)


def _find_defined_names(node: NormalNode, rules: Ordering) -> frozenset[str]:
    """Return the names that an item declares in the scope around it, members included."""
    inner = _unwrap(node, rules)
    names = {child.text for child in inner.children if child.field == "name" and child.role}
    return frozenset(names | set(_iterate_declared(node, inner.scope)))


def _iterate_declared(node: NormalNode, own_scope: LexicalScope | None) -> Iterator[str]:
    """Yield names declared outside of nested scopes."""
    if node.declared_in is not None and node.declared_in is not own_scope:
        yield node.text
    for child in node.children:
        if child.scope is None or child.scope is own_scope:
            yield from _iterate_declared(child, own_scope)


def _iterate_used(node: NormalNode, parent: str, rules: Ordering) -> Iterator[str]:
    """Yield names that are resolved where the item is, not when it is called."""
    if (parent, node.field) in rules.deferred:
        return
    if node.role:
        yield node.text
    for child in node.children:
        yield from _iterate_used(child, node.kind, rules)
