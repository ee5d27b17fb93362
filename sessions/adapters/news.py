"""Tell an agent on its next hook what people decided after an earlier hook had stopped waiting.

Each decision is told once, in an answer that reaches the model: in a refusal, or as context where the
client takes any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sessions.adapters.dispatch import HookRequest, HookResult
from sessions.adapters.hook_call import Client, Event, HookAnswer
from sessions.approvals.rejections import format_rejection
from sessions.gate import snapshot_cache
from sessions.models import Approval

MAX_NEWS = 5  # decisions in one answer
TELLING_EVENTS = frozenset({Event.PRE_TOOL, Event.POST_TOOL, Event.PROMPT, Event.SESSION_START})
APPROVED_NEXT: Mapping[str, str] = {
    Approval.Kind.CALL: "Next: send that call again, unchanged: it runs.",
    Approval.Kind.SCOPE: "What you asked for is granted.",
    Approval.Kind.COMPLETION: "The intent is completed.",
    Approval.Kind.RUN: "Its changes land with your next call.",
}


def tell_news(request: HookRequest, result: HookResult, client: Client, event: str) -> HookResult:
    """Return the result with the news, where there are any. 0 queries for a call without."""
    if request.gate_request.dry_run or not _may_have_news(request, result):
        return result
    workspace_id, session_id = request.bearer.workspace_id, request.gate_request.session_id
    own = Approval.objects.for_workspace(workspace_id).filter(session__token_id=request.bearer.token_id)
    untold = list(own.untold(session_id)[:MAX_NEWS])
    known = [approval for approval in untold if _is_in_answer(approval, result)]
    texts = [render_news(approval) for approval in untold if approval not in known]
    told = add_text(result.answer, "\n".join(texts))
    if client.render(event, told) == client.render(event, result.answer):
        told, untold = result.answer, known  # this answer does not reach the model
    if untold:
        snapshot_cache.forget(workspace_id, session_id)
        own.filter(pk__in=[approval.pk for approval in untold]).mark_told()
    return replace(result, answer=told)


def _may_have_news(request: HookRequest, result: HookResult) -> bool:
    """A decision raises a revision, so that the snapshot of a call knows; other events ask the database."""
    if request.hook.event is Event.PRE_TOOL:
        return bool(result.approved_by) or snapshot_cache.has_news(
            request.bearer.workspace_id, request.gate_request.session_id
        )
    return request.hook.event in TELLING_EVENTS


def _is_in_answer(approval: Approval, result: HookResult) -> bool:
    """Whether the answer is itself about the decision: the call that was approved, or one rejected before."""
    if approval.status == Approval.Status.REJECTED:
        return format_rejection(approval.decider, approval.comment) in result.answer.text
    return approval.public_id in {result.approved_by, result.approval}


def add_text(answer: HookAnswer, text: str) -> HookAnswer:
    """Return the answer with a text for the model: behind the reason of a denial, else as context."""
    if answer.denied:
        return replace(answer, text=f"{answer.text}\n{text}".strip())
    return replace(answer, context=f"{answer.context}\n{text}".strip())


def render_news(approval: Approval) -> str:
    """Word a decision for the model, with what it was about and what to do next."""
    head = f"Approval {approval.public_id} ({_describe_call(approval)}):"
    if approval.status == Approval.Status.APPROVED:
        comment = f": {approval.comment.strip().rstrip('.')}" if approval.comment.strip() else ""
        return f"{head} approved by {approval.decider}{comment}. {APPROVED_NEXT[approval.kind]}"
    if approval.status == Approval.Status.REJECTED:
        reason = format_rejection(approval.decider, approval.comment)
        return f"{head} {reason} Next: do not send it again; find another way or stop."
    return f"{head} it expired before anybody decided. Next: send the call again to ask once more."


def _describe_call(approval: Approval) -> str:
    targets = [target["path"] for target in approval.call.get("targets") or () if target["path"]]
    about = ", ".join(approval.call.get("offending") or targets or approval.call.get("patterns") or ())
    return f"{approval.tool or approval.get_kind_display()} {about}".strip()[:300]
