"""Checks between intents: ids that occur twice, dependencies, circles, scopes that share a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from time import monotonic

from controlplane.policy.globs.overlaps import find_overlap, find_overlaps
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import IntentStatus
from intents.file_format.intent_parser import LocatedIntent
from intents.file_format.report import Diagnostic, DiagnosticType
from intents.file_format.values import IntentValues

LARGE_REGISTRY = 1_000
"""More intents than this are worth a warning."""

MAX_CYCLES = 20
MAX_PAIRS = 2_000
MAX_SECONDS = 0.5
_NOT_READY = frozenset({IntentStatus.PENDING, IntentStatus.BLOCKED, IntentStatus.ABANDONED})


def find_errors(parsed: Sequence[LocatedIntent], others: Sequence[IntentValues] = ()) -> list[Diagnostic]:
    """Errors among the intents of a document; `kept` are those that are registered and stay beside it."""
    return [*_duplicates(parsed), *_unknown_dependencies(parsed, others), *_circles(parsed, others)]


def find_warnings(
    parsed: Sequence[LocatedIntent], others: Sequence[IntentValues] = (), *, ignore_case: bool = False
) -> list[Diagnostic]:
    """Doubts among the sound intents of a document and those that stay beside it."""
    sound = _first_of_each_id(item for item in parsed if item.is_valid)
    found = [*_not_ready(sound, others), *_overlaps(sound, others, ignore_case=ignore_case)]
    if len(parsed) > LARGE_REGISTRY:
        found.append(Diagnostic(DiagnosticType.LARGE_FILE, f"The file holds {len(parsed):,} intents."))
    return found


def _duplicates(read: Sequence[LocatedIntent]) -> Iterator[Diagnostic]:
    first: dict[str, LocatedIntent] = {}
    for item in read:
        intent_id = item.values.intent_id
        earlier = first.setdefault(intent_id, item)
        if earlier is not item and intent_id:
            message = f"{intent_id} stands in the file already, at line {earlier.line}."
            yield Diagnostic(DiagnosticType.DUPLICATE_ID, message, intent_id, "id", item.line)


def _unknown_dependencies(
    read: Sequence[LocatedIntent], kept: Sequence[IntentValues]
) -> Iterator[Diagnostic]:
    known = {item.values.intent_id for item in read} | {values.intent_id for values in kept}
    for item in read:
        for wanted in item.values.dependencies:
            if wanted and wanted not in known:
                yield _dependency_problem(
                    DiagnosticType.INVALID_DEPENDENCY,
                    f"It depends on {wanted}, which is not registered.",
                    item,
                )


def _circles(read: Sequence[LocatedIntent], kept: Sequence[IntentValues]) -> Iterator[Diagnostic]:
    """One problem a circle: each that is found is cut open before the next is looked for."""
    waits = {values.intent_id: set(values.dependencies) for values in kept}
    waits |= {item.values.intent_id: set(item.values.dependencies) for item in read}
    by_id = {item.values.intent_id: item for item in read}
    for _ in range(MAX_CYCLES):
        circle = _circle(waits)
        if not circle:
            return
        waits[circle[0]].discard(circle[1])
        member = next((by_id[name] for name in circle if name in by_id), None)
        message = f"The dependencies run in a circle: {' → '.join(circle)}."
        if member:
            yield _dependency_problem(DiagnosticType.CIRCULAR_DEPENDENCY, message, member)


def _circle(waits: Mapping[str, set[str]]) -> list[str]:
    """Ids from one that waits to what it waits for, and back to the first; empty when there is none."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def _not_ready(read: Sequence[LocatedIntent], kept: Sequence[IntentValues]) -> Iterator[Diagnostic]:
    status = {values.intent_id: values.status for values in kept}
    status |= {item.values.intent_id: item.values.status for item in read}
    for item in read:
        if item.values.status is not IntentStatus.IN_PROGRESS:
            continue
        for wanted in item.values.dependencies:
            if status.get(wanted) in _NOT_READY:
                message = f"It is in progress and depends on {wanted}, which is {status[wanted].value}."
                yield _dependency_problem(DiagnosticType.DEPENDENCY_NOT_READY, message, item)


def _overlaps(
    read: Sequence[LocatedIntent], kept: Sequence[IntentValues], *, ignore_case: bool
) -> Iterator[Diagnostic]:
    lines = {item.values.intent_id: item.field_lines.get("owned_scope") for item in read}
    running = [item.values for item in read] + [values for values in kept if values.intent_id not in lines]
    running = [values for values in running if values.status is IntentStatus.IN_PROGRESS]
    shared = find_scope_overlaps(running, ignore_case=ignore_case)
    for one, other, path in shared.pairs:
        if one.intent_id in lines:
            yield _overlap_problem(one, other, path, lines[one.intent_id])
    if not shared.complete:
        message = "Scopes are too many or too tangled to compare all: more of them may overlap."
        yield Diagnostic(DiagnosticType.LARGE_FILE, message)


def _overlap_problem(one: IntentValues, other: IntentValues, path: str, line: int | None) -> Diagnostic:
    return Diagnostic(
        DiagnosticType.SCOPE_OVERLAP,
        f"{one.intent_id} and {other.intent_id} are both in progress and both own {path}",
        one.intent_id,
        "owned_scope",
        line,
        path=path,
        other_intent_id=other.intent_id,
    )


@dataclass(frozen=True, slots=True)
class ScopeOverlaps:
    """Pairs of intents with a path that both own. Not `complete`: there may be more."""

    pairs: tuple[tuple[IntentValues, IntentValues, str], ...]
    complete: bool


def find_scope_overlaps(intents: Sequence[IntentValues], *, ignore_case: bool = False) -> ScopeOverlaps:
    """The pairs whose scopes meet as the workspace compares paths, in the order of the file, within limits on
    their number and on time.

    Inclusions alone are compared fast. Exclusions can make a pair costly, so only pairs that meet without
    theirs are decided with them, one by one, where the path found first is excluded.
    """
    scopes = [Scope.from_patterns(values.owned_scope, case_insensitive=ignore_case) for values in intents]
    inclusions = [
        Scope.from_patterns(
            (part for part in scope.patterns if part[:1] != "!"), case_insensitive=ignore_case
        )
        for scope in scopes
    ]
    ends = monotonic() + MAX_SECONDS
    decided: dict[tuple[int, int], str | None] = {}
    complete = True
    for one, other, path in find_overlaps(inclusions):
        if (one, other) not in decided:
            decided[one, other] = _witness(scopes[one], scopes[other], path)
        if len(decided) >= MAX_PAIRS or monotonic() > ends:
            complete = False
            break
    found = sorted((pair, path) for pair, path in decided.items() if path is not None)
    return ScopeOverlaps(
        tuple((intents[one], intents[other], path) for (one, other), path in found), complete
    )


def _witness(one: Scope, other: Scope, path: str) -> str | None:
    return path if one.matches(path) and other.matches(path) else find_overlap(one, other)


def _first_of_each_id(read: Iterable[LocatedIntent]) -> list[LocatedIntent]:
    first: dict[str, LocatedIntent] = {}
    for item in read:
        first.setdefault(item.values.intent_id, item)
    return list(first.values())


def _dependency_problem(kind: DiagnosticType, message: str, item: LocatedIntent) -> Diagnostic:
    line = item.field_lines.get("dependencies", item.line)
    return Diagnostic(kind, message, item.values.intent_id, "dependencies", line)
