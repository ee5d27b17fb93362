"""Check intents against each other: duplicate ids, dependencies, cycles, overlapping scopes."""

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
    """Find errors between the intents of a document; `others` are registered and stay next to them."""
    return [*_duplicates(parsed), *_unknown_dependencies(parsed, others), *_cycles(parsed, others)]


def find_warnings(
    parsed: Sequence[LocatedIntent], others: Sequence[IntentValues] = (), *, ignore_case: bool = False
) -> list[Diagnostic]:
    """Find doubtful relations between the intents of a document and the others.

    An intent with errors takes part where what the relation is about has none.
    """
    readable = _first_of_each_id(item for item in parsed if item.error_fields.isdisjoint({"id", "status"}))
    scoped = [item for item in readable if "owned_scope" not in item.error_fields]
    warnings = [*_not_ready(readable, others), *_scope_overlaps(scoped, others, ignore_case=ignore_case)]
    if len(parsed) > LARGE_REGISTRY:
        warnings.append(Diagnostic(DiagnosticType.LARGE_FILE, f"The file holds {len(parsed):,} intents."))
    return warnings


def _duplicates(parsed: Sequence[LocatedIntent]) -> Iterator[Diagnostic]:
    first: dict[str, LocatedIntent] = {}
    for item in parsed:
        intent_id = item.values.intent_id
        previous = first.setdefault(intent_id, item)
        if previous is not item and intent_id:
            message = f"{intent_id} is in the file already, at line {previous.line}."
            yield Diagnostic(DiagnosticType.DUPLICATE_ID, message, intent_id, "id", item.line)


def _unknown_dependencies(
    parsed: Sequence[LocatedIntent], others: Sequence[IntentValues]
) -> Iterator[Diagnostic]:
    known = {item.values.intent_id for item in parsed} | {values.intent_id for values in others}
    for item in parsed:
        for dependency in item.values.dependencies:
            if dependency and dependency not in known:
                message = f"It depends on {dependency}, which is not registered."
                yield _dependency_diagnostic(DiagnosticType.INVALID_DEPENDENCY, message, item)


def _cycles(parsed: Sequence[LocatedIntent], others: Sequence[IntentValues]) -> Iterator[Diagnostic]:
    graph = {values.intent_id: set(values.dependencies) for values in others}
    graph |= {item.values.intent_id: set(item.values.dependencies) for item in parsed}
    by_id = {item.values.intent_id: item for item in parsed}
    for _ in range(MAX_CYCLES):
        cycle = _find_cycle(graph)
        if not cycle:
            return
        # TopologicalSorter reports one cycle: cut it open, so that the next search finds another.
        graph[cycle[0]].discard(cycle[1])
        member = next((by_id[intent_id] for intent_id in cycle if intent_id in by_id), None)
        message = f"The dependencies run in a circle: {' → '.join(cycle)}."
        if member:
            yield _dependency_diagnostic(DiagnosticType.CIRCULAR_DEPENDENCY, message, member)


def _find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return ids, each depending on the next, with the first again at the end; empty without a cycle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def _not_ready(parsed: Sequence[LocatedIntent], others: Sequence[IntentValues]) -> Iterator[Diagnostic]:
    status = {values.intent_id: values.status for values in others}
    status |= {item.values.intent_id: item.values.status for item in parsed}
    for item in parsed:
        if item.values.status is not IntentStatus.IN_PROGRESS:
            continue
        for dependency in item.values.dependencies:
            if status.get(dependency) in _NOT_READY:
                message = (
                    f"It is in progress and depends on {dependency}, which is {status[dependency].value}."
                )
                yield _dependency_diagnostic(DiagnosticType.DEPENDENCY_NOT_READY, message, item)


def _scope_overlaps(
    parsed: Sequence[LocatedIntent], others: Sequence[IntentValues], *, ignore_case: bool
) -> Iterator[Diagnostic]:
    lines = {item.values.intent_id: item.field_lines.get("owned_scope") for item in parsed}
    candidates = [item.values for item in parsed]
    candidates += [values for values in others if values.intent_id not in lines]
    in_progress = [values for values in candidates if values.status is IntentStatus.IN_PROGRESS]
    overlaps = find_scope_overlaps(in_progress, ignore_case=ignore_case)
    for first, second, path in overlaps.pairs:
        if first.intent_id in lines:
            yield _overlap_diagnostic(first, second, path, lines[first.intent_id])
    if not overlaps.complete:
        message = "Too many or too complex scopes to compare all: there may be more overlaps."
        yield Diagnostic(DiagnosticType.LARGE_FILE, message)


def _overlap_diagnostic(first: IntentValues, second: IntentValues, path: str, line: int | None) -> Diagnostic:
    return Diagnostic(
        DiagnosticType.SCOPE_OVERLAP,
        f"{first.intent_id} and {second.intent_id} are both in progress and both own {path}",
        first.intent_id,
        "owned_scope",
        line,
        path=path,
        other_intent_id=second.intent_id,
    )


@dataclass(frozen=True, slots=True)
class ScopeOverlaps:
    """Pairs of intents, each with a path that both own. There may be more where not `complete`."""

    pairs: tuple[tuple[IntentValues, IntentValues, str], ...]
    complete: bool


def find_scope_overlaps(intents: Sequence[IntentValues], *, ignore_case: bool = False) -> ScopeOverlaps:
    """Find the pairs whose scopes share a path, in the order of `intents`.

    Stops at `MAX_PAIRS` pairs or after `MAX_SECONDS`.
    """
    scopes = [Scope.from_patterns(values.owned_scope, case_insensitive=ignore_case) for values in intents]
    # Exclusions can make a pair costly, and many pairs share nothing even without them. So the index compares
    # inclusions alone, and only the pairs that it finds are decided with their exclusions.
    inclusions = [
        Scope.from_patterns(
            (pattern for pattern in scope.patterns if pattern[:1] != "!"), case_insensitive=ignore_case
        )
        for scope in scopes
    ]
    deadline = monotonic() + MAX_SECONDS
    shared_paths: dict[tuple[int, int], str | None] = {}
    complete = True
    for first, second, path in find_overlaps(inclusions):
        if (first, second) not in shared_paths:
            shared_paths[first, second] = _find_shared_path(scopes[first], scopes[second], path)
        if len(shared_paths) >= MAX_PAIRS or monotonic() > deadline:
            complete = False
            break
    overlaps = sorted((pair, path) for pair, path in shared_paths.items() if path is not None)
    pairs = tuple((intents[first], intents[second], path) for (first, second), path in overlaps)
    return ScopeOverlaps(pairs, complete)


def _find_shared_path(first: Scope, second: Scope, candidate: str) -> str | None:
    """Return `candidate` where no exclusion takes it away, else another path that both own, or None."""
    if first.matches(candidate) and second.matches(candidate):
        return candidate
    return find_overlap(first, second)


def _first_of_each_id(parsed: Iterable[LocatedIntent]) -> list[LocatedIntent]:
    first: dict[str, LocatedIntent] = {}
    for item in parsed:
        first.setdefault(item.values.intent_id, item)
    return list(first.values())


def _dependency_diagnostic(kind: DiagnosticType, message: str, item: LocatedIntent) -> Diagnostic:
    line = item.field_lines.get("dependencies", item.line)
    return Diagnostic(kind, message, item.values.intent_id, "dependencies", line)
