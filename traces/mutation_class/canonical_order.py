"""Where the order of things says nothing, they are put in one order of our own, on both sides the same.

Two neighbours may change places unless one of them runs something, or uses or brings a name that the other
brings. So a sequence is sorted without ever letting such a pair pass each other: two texts that differ by
allowed moves alone become the same one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traces.mutation_class.languages.grammar import Container, Grammar, Ordering
from traces.mutation_class.normal_form import Scope, Shape
from traces.mutation_class.parse import Budget

MAX_ITEMS = 400  # every pair is looked at

IMPORT, DEFINITION, VALUE, FIXTURE = "import", "definition", "value", "fixture"


@dataclass(slots=True)
class Item:
    """A child with what is glued before it: its sort, the names that it brings and those it uses there."""

    shapes: list[Shape]
    sort: str
    brings: frozenset[str]
    uses: frozenset[str]
    digest: int


def arrange(shape: Shape, grammar: Grammar, budget: Budget, *, named: bool) -> int:
    """Sort the children of containers, everywhere below; a digest, blind to names unless `named`."""
    return _arrange(shape, "", grammar.ordering, budget, named=named)


def _arrange(shape: Shape, parent: str, rules: Ordering, budget: Budget, *, named: bool) -> int:
    budget.spend()
    parts = [_arrange(kid, shape.kind, rules, budget, named=named) for kid in shape.kids]
    container = rules.containers.get((shape.kind, parent)) or rules.containers.get((shape.kind, "*"))
    if container is not None and 1 < len(shape.kids) <= MAX_ITEMS:
        items = list(_items(shape.kids, container, rules))
        shape.kids = [kid for item in _sorted(items, container, budget) for kid in item.shapes]
        parts = [kid.digest for kid in shape.kids]
    text = "" if shape.role and not named else shape.text
    shape.digest = hash((shape.kind, text, tuple(parts)))
    return shape.digest


def _sorted(items: Sequence[Item], container: Container, budget: Budget) -> Iterator[Item]:
    """The smallest digest that nothing before it holds back, again and again."""
    behind: list[list[int]] = [[] for _ in items]
    held = [0] * len(items)
    for later, one in enumerate(items):
        budget.spend(later + 1)
        for earlier in range(later):
            if not _may_pass(items[earlier], one, container):
                behind[earlier].append(later)
                held[later] += 1
    ready = [_rank(items[at], at) for at, count in enumerate(held) if count == 0]
    heapq.heapify(ready)
    while ready:
        *_, at = heapq.heappop(ready)
        yield items[at]
        for later in behind[at]:
            held[later] -= 1
            if held[later] == 0:
                heapq.heappush(ready, _rank(items[later], later))


def _rank(item: Item, at: int) -> tuple[int, tuple[str, ...], int]:
    """By content; twins that differ in names alone by what they are called, so that each meets itself."""
    return item.digest, tuple(sorted(item.brings)), at


def _may_pass(one: Item, other: Item, container: Container) -> bool:
    sorts = {one.sort, other.sort}
    if not one.brings.isdisjoint(other.brings) or (
        FIXTURE in sorts and not (container.free and DEFINITION in sorts)
    ):
        return False
    if container.free and DEFINITION in sorts:
        return True
    if sorts == {VALUE} and container.values_in_order:
        return False
    return one.brings.isdisjoint(other.uses) and other.brings.isdisjoint(one.uses)


def _items(kids: Sequence[Shape], container: Container, rules: Ordering) -> Iterator[Item]:
    glued: list[Shape] = []
    for kid in kids:
        if kid.kind in rules.glued:
            glued.append(kid)
            continue
        pinned = bool(glued) and rules.glue_pins
        sort = FIXTURE if pinned else _sort(kid, container, rules)
        whole = [*glued, kid]
        yield Item(
            whole,
            sort,
            _brought(kid, rules),
            frozenset(name for one in whole for name in _used(one, "", rules)),
            hash(tuple(one.digest for one in whole)),
        )
        glued = []
    if glued:
        yield Item(glued, FIXTURE, frozenset(), frozenset(), hash(tuple(one.digest for one in glued)))


def _sort(kid: Shape, container: Container, rules: Ordering) -> str:
    inner = _unwrapped(kid, rules)
    if any(not _is_inert(one, rules) for one in kid.kids if one.kind in rules.decorators):
        return FIXTURE
    if inner.kind in container.definitions:
        return DEFINITION
    if inner.kind in container.imports:
        runs = bool(rules.bound) and not _contains(inner, rules.bound)
        return FIXTURE if runs or _contains(inner, rules.stars) else IMPORT
    return VALUE if inner.kind in container.values and not _acts(inner, "", rules) else FIXTURE


def _unwrapped(kid: Shape, rules: Ordering) -> Shape:
    while kid.kind in rules.wrappers:
        inner = next((one for one in kid.kids if one.kind and one.kind not in rules.decorators), None)
        if inner is None:
            break
        kid = inner
    return kid


def _is_inert(decorator: Shape, rules: Ordering) -> bool:
    return rules.inert.fullmatch("".join(_texts(decorator))) is not None


def _texts(shape: Shape) -> Iterator[str]:
    yield shape.text
    for kid in shape.kids:
        yield from _texts(kid)


def _contains(shape: Shape, kinds: frozenset[str]) -> bool:
    return shape.kind in kinds or any(_contains(kid, kinds) for kid in shape.kids)


def _acts(shape: Shape, parent: str, rules: Ordering) -> bool:
    if shape.kind in rules.acting:
        return True
    if (parent, shape.field) in rules.later:
        return False
    return any(_acts(kid, shape.kind, rules) for kid in shape.kids)


def _brought(kid: Shape, rules: Ordering) -> frozenset[str]:
    """The names that an item declares around itself, members by the name they stand under."""
    inner = _unwrapped(kid, rules)
    own = {one.text for one in inner.kids if one.field == "name" and one.role}
    return frozenset(own | set(_declared(kid, inner.scope)))


def _declared(shape: Shape, own: Scope | None) -> Iterator[str]:
    """Names declared outside of the scopes that stand below."""
    if shape.declared is not None and shape.declared is not own:
        yield shape.text
    for kid in shape.kids:
        if kid.scope is None or kid.scope is own:
            yield from _declared(kid, own)


def _used(shape: Shape, parent: str, rules: Ordering) -> Iterator[str]:
    """Names that are looked up where the item stands, not where it is called."""
    if (parent, shape.field) in rules.later:
        return
    if shape.role:
        yield shape.text
    for kid in shape.kids:
        yield from _used(kid, shape.kind, rules)
