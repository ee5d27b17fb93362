"""Preview what an agent asks for once: its patterns, kinds and places beside past decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import Reason
from intents.known_files import load_known_files
from intents.models import Intent, WorkspaceRule
from sessions.approvals.card.ownership import load_ownership
from sessions.approvals.card.previews.scope_and_completion import ALL_FILES, SOME_FILES, build_addition
from sessions.approvals.card.previews.values import KindAddition, PatternAddition, PlanReplay, Preview
from sessions.approvals.kinds.plans import is_for_reading, list_requested
from sessions.models import Approval

DAYS = 30
MAX_QUESTIONS = 500  # of the newest ones
MAX_LEFT = 3
PLACES = "The agent may then read these folders outside the workspace, and write nothing there."
KINDS = "These commands then run without asking, with any harmless arguments. Other files stay closed."


def preview_plan(approval: Approval, workspace: Workspace, intent: Intent | None) -> Preview:
    """Show what each pattern and kind adds, and what the plan would have spared. At most 5 queries."""
    patterns, kinds = list_requested(approval)
    questions = _list_questions(approval)
    replay = _replay(questions, patterns, kinds, approval)
    rows = _list_kinds(kinds, questions, workspace, intent)
    note = f"{len(patterns)} patterns, {len(kinds)} kinds"
    if is_for_reading(approval):
        adds = tuple(PatternAddition(pattern, ()) for pattern in patterns)
        return Preview(True, PLACES, note, adds=adds, kinds=rows, replay=replay, is_plan=True)
    known, ownership = load_known_files(workspace), load_ownership(workspace)
    scope = tuple(intent.owned_scope) if intent else ()
    adds = tuple(
        build_addition(
            pattern,
            files := known.find_added([pattern], scope),
            ", ".join(
                owner.intent_id
                for owner in ownership.find_owners(files, excluded_id=approval.intent_id)[:MAX_LEFT]
            ),
        )
        for pattern in patterns
    )
    sentence = (ALL_FILES if known.complete else SOME_FILES) if patterns else KINDS
    return Preview(known.complete, sentence, note, adds=adds, kinds=rows, replay=replay, is_plan=True)


def _list_questions(approval: Approval) -> list[Approval]:
    """Return the newest questions about calls of the workspace, of every intent. 1 query."""
    since = timezone.now() - timedelta(days=DAYS)
    rows = Approval.objects.for_workspace(approval.workspace_id).filter(
        kind=Approval.Kind.CALL, requested_at__gte=since
    )
    return list(rows.order_by("-requested_at")[:MAX_QUESTIONS])


def _replay(
    questions: list[Approval], patterns: tuple[str, ...], kinds: tuple[str, ...], approval: Approval
) -> PlanReplay:
    """Count the questions that the plan would have spared: of the intent, or of all where it had none."""
    alike = [question for question in questions if question.intent_id == approval.intent_id] or questions
    scope = Scope.from_patterns(() if is_for_reading(approval) else patterns)
    left = [question for question in alike if not _would_spare(question, scope, set(kinds))]
    names = Counter(_name(question) for question in left)
    most = ", ".join(f"{name} {number}" for name, number in names.most_common(MAX_LEFT))
    return PlanReplay(len(alike), len(alike) - len(left), most)


def _would_spare(question: Approval, scope: Scope, kinds: set[str]) -> bool:
    if question.reason == Reason.UNKNOWN_TARGET:
        return bool(question.refused) and all(part["kind"] in kinds for part in question.refused)
    offending = question.call.get("offending") or ()
    is_in_scope = question.reason in {Reason.NOT_IN_SCOPE, Reason.EMPTY_SCOPE}
    return bool(offending) and is_in_scope and all(map(scope.matches, offending))


def _name(question: Approval) -> str:
    kinds = [part["kind"] for part in question.refused if part["kind"]]
    return kinds[0] if kinds else question.reason.replace("_", " ")


def _list_kinds(
    kinds: Iterable[str], questions: list[Approval], workspace: Workspace, intent: Intent | None
) -> tuple[KindAddition, ...]:
    rules = dict(WorkspaceRule.objects.for_workspace(workspace.pk).live().values_list("kind", "permission"))
    allowed = set(intent.allowed_commands) if intent else set()
    return tuple(
        KindAddition(
            kind,
            "allowed" if kind in allowed else f"rule: {rules[kind]}" if kind in rules else "by policy",
            _describe_history(kind, questions),
        )
        for kind in kinds
    )


def _describe_history(kind: str, questions: list[Approval]) -> str:
    status = Counter(
        question.status for question in questions if any(part["kind"] == kind for part in question.refused)
    )
    approved, rejected = status[Approval.Status.APPROVED], status[Approval.Status.REJECTED]
    if not approved + rejected:
        return "never"
    return f"{approved} of {approved + rejected} approved"
