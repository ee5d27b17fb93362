"""Preview what the patterns in the scope editor would match and change, before they are saved."""

from __future__ import annotations

from typing import Any

from controlplane.models import Workspace
from controlplane.policy.globs import parse
from intents.known_files import load_known_files
from intents.models import Intent
from intents.pages.text_area_lists import numbered_lines
from intents.rules.replay import DAYS, RuleChanges, replay_recorded_calls
from intents.scope_effects import find_scope_effect

MAX_ROWS = 20
MAX_CALLS = 1_000  # the newest ones: the preview comes while one types


def find_line_errors(text: str) -> list[dict[str, Any]]:
    """Return `{line, message}` of each invalid pattern; lines count from 1."""
    errors = [(number, parse.find_problem(line)) for number, line in numbered_lines(text)]
    return [
        {"line": number, "message": f"{problem.message} {problem.suggestion or ''}".strip()}
        for number, problem in errors
        if problem
    ]


def preview_scope(intent: Intent, text: str) -> dict[str, Any]:
    """Return what _scope_preview.html needs. At most 8 queries.

    These are the known files that match, the overlaps that the saved scope does not have, and the recorded
    calls that would be decided differently.
    """
    workspace = Workspace.objects.get(pk=intent.workspace_id)
    patterns = tuple(line for _, line in numbered_lines(text))
    others = Intent.objects.for_workspace(workspace.pk).open().exclude(pk=intent.pk).in_file_order()
    effect = find_scope_effect(patterns, intent.owned_scope, load_known_files(workspace), others)
    return {
        "errors": find_line_errors(text),
        "matches": effect.matches[:MAX_ROWS],
        "more": max(0, len(effect.matches) - MAX_ROWS),
        "added": len(effect.added),
        "new_overlaps": effect.overlaps,
        **_replay(workspace, intent, patterns),
    }


def _replay(workspace: Workspace, intent: Intent, patterns: tuple[str, ...]) -> dict[str, Any]:
    changes = RuleChanges(owned_scope={intent.intent_id: patterns})
    result = replay_recorded_calls(workspace, changes, limit=MAX_CALLS)
    return {
        "flips": [
            {
                "before": flip.before,
                "after": flip.after,
                "path": flip.path,
                "calls": flip.calls,
                "last": flip.at,
            }
            for flip in result.flips[:MAX_ROWS]
        ],
        "more_flips": max(0, len(result.flips) - MAX_ROWS),
        "replayed": result.replayed,
        "not_replayable": result.total - result.replayed,
        "days": DAYS,
    }
