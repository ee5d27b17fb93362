"""What the patterns in the scope editor would mean, before they are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controlplane.models import Workspace
from controlplane.policy.globs import parse
from controlplane.policy.globs.overlaps import find_overlap
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import IntentStatus
from controlplane.policy.rules import policy_document
from intents import store
from intents.known_files import known_files
from intents.pages.text_area_lists import numbered_lines
from intents.replay import DAYS, RuleChanges, replay_recorded_calls

if TYPE_CHECKING:
    from intents.models import Intent

SHOWN = 20
CALLS_REPLAYED = 1_000  # the newest: the answer comes while one types


def find_line_errors(text: str) -> list[dict[str, Any]]:
    """`{line, message}` of each pattern that is none; lines count from 1."""
    found = [(number, parse.find_problem(line)) for number, line in numbered_lines(text)]
    return [
        {"line": number, "message": f"{problem.message} {problem.suggestion or ''}".strip()}
        for number, problem in found
        if problem
    ]


def preview_scope(intent: Intent, text: str) -> dict[str, Any]:
    """Known files that would match, overlaps that the saved scope does not have, and recorded calls whose
    answer would flip. At most 8 queries."""
    workspace = Workspace.objects.get(pk=intent.workspace_id)
    ignore_case = policy_document.parse(workspace.policy).case_insensitive_paths
    patterns = tuple(line for _, line in numbered_lines(text))
    scope = Scope.from_patterns(patterns, case_insensitive=ignore_case)
    matches = known_files(workspace).matching(scope)
    return {
        "errors": find_line_errors(text),
        "matches": matches[:SHOWN],
        "more": max(0, len(matches) - SHOWN),
        "new_overlaps": _new_overlaps(intent, scope),
        **_replayed(workspace, intent, patterns),
    }


def _replayed(workspace: Workspace, intent: Intent, patterns: tuple[str, ...]) -> dict[str, Any]:
    proposal = RuleChanges(owned_scope={intent.intent_id: patterns})
    found = replay_recorded_calls(workspace, proposal, limit=CALLS_REPLAYED)
    return {
        "flips": [
            {"before": f.before, "after": f.after, "path": f.path, "calls": f.calls, "last": f.at}
            for f in found.flips[:SHOWN]
        ],
        "more_flips": max(0, len(found.flips) - SHOWN),
        "replayed": found.replayed,
        "not_replayable": found.total - found.replayed,
        "days": DAYS,
    }


def _new_overlaps(intent: Intent, scope: Scope) -> list[dict[str, str]]:
    ignore_case = scope.case_insensitive
    before = Scope.from_patterns(tuple(intent.owned_scope), case_insensitive=ignore_case)
    found = []
    for other in store.list_values(intent.workspace_id):
        if other.intent_id == intent.intent_id or other.status is not IntentStatus.IN_PROGRESS:
            continue
        theirs = Scope.from_patterns(other.owned_scope, case_insensitive=ignore_case)
        path = find_overlap(scope, theirs)
        if path is not None and find_overlap(before, theirs) is None:
            found.append({"id": other.intent_id, "name": other.name, "path": path})
    return found
