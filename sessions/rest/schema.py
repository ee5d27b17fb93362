"""The bodies of the sessions API for OpenAPI; what a field means is said here once."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from controlplane.api.fields import Text, Whole, YesNo
from controlplane.policy.model import SessionState
from sessions.gate.health import GateHealth
from sessions.models import Approval
from traces.entries.api_schema import COMPUTED_CLASS

Body = s.Serializer[Any]
STATES = [state.value for state in SessionState]


class AgentBody(Body):
    name = Text(required=False, allow_blank=True, max_length=100, help_text="claude-code, codex, …")
    version = Text(required=False, allow_blank=True, max_length=100)
    model = Text(required=False, allow_blank=True, max_length=200)
    hook = Text(required=False, allow_blank=True, max_length=100, help_text="Version of the hook client.")


class OpenSessionBody(Body):
    session_id = Text(
        required=False, allow_null=True, max_length=200, help_text="The client's own id; made when absent."
    )
    agent = AgentBody(required=False, allow_null=True)
    root = Text(  # type: ignore[assignment]  # declared, not the property
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=4096,
        help_text="The workspace's folder on the agent's machine; fixed for life.",
    )
    cwd = Text(required=False, allow_null=True, allow_blank=True, max_length=4096)
    revision_id = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=200,
        help_text="The commit that the agent starts from.",
    )


class AvailableIntent(Body):
    id = Text()
    name = Text()
    description = Text()
    status = Text()


class SessionAnswer(Body):
    session_id = Text()
    state = s.ChoiceField(choices=STATES)
    intent_id = Text(allow_null=True)
    frozen = YesNo()
    agent = AgentBody()
    root = Text()  # type: ignore[assignment]  # declared, not the property
    revision_id = Text(allow_null=True)
    opened_at = s.DateTimeField()
    last_seen_at = s.DateTimeField()
    ended_at = s.DateTimeField(allow_null=True)


class OpenedSession(SessionAnswer):
    created = YesNo(help_text="False when the session was resumed.")
    prompt = Text(help_text="The governance section for the system prompt.")
    available_intents = AvailableIntent(many=True)


class SessionHealth(Body):
    state = s.ChoiceField(choices=[state.value for state in GateHealth])
    why = Text()


class SessionCounts(Body):
    calls = Whole()
    allowed = Whole()
    denied = Whole()
    asked = Whole()
    traces = Whole()
    approvals = Whole()
    pending_approvals = Whole()


class SessionDetail(SessionAnswer):
    counts = SessionCounts()
    health = SessionHealth(help_text="Whether its tool calls really pass the gate.")


class SessionPage(Body):
    results = SessionAnswer(many=True)
    next = Text(allow_null=True)


class SelectIntentBody(Body):
    intent_id = Text(max_length=200)


class ContextFile(Body):
    path = Text()
    content_hash = Text(allow_null=True)
    last_changed = Text(allow_null=True)
    intent_id = Text(allow_null=True)


class HandshakeAnswer(Body):
    success = YesNo()
    context = Text(allow_null=True, help_text="The <intent_context> XML for the agent.")  # type: ignore[assignment]  # declared, not the property
    intent = s.DictField(allow_null=True, help_text="All fields of the intent.")
    history = s.ListField(child=s.DictField())
    files = ContextFile(many=True)
    error = Text(required=False)
    error_type = Text(required=False)
    reason = Text(required=False)
    action_hint = Text(required=False)


class PromptAnswer(Body):
    session_id = Text()
    state = s.ChoiceField(choices=STATES)
    intent_id = Text(allow_null=True)
    prompt = Text()


class PreflightBody(Body):
    tools = s.ListField(
        child=s.JSONField(),
        required=False,
        allow_null=True,
        help_text="Names of tools, or objects with a `name`.",
    )


class PreflightAnswer(Body):
    ok = YesNo()
    error = Text(required=False)
    error_type = Text(required=False)
    reason = Text(required=False)
    prompt = Text()
    tools = s.ListField(child=s.JSONField(), help_text="The tools that may be offered to the model now.")


class RequestScopeBody(Body):
    patterns = s.ListField(child=Text(max_length=512), min_length=1, max_length=50)
    reason = Text(max_length=2000)


class CompleteIntentBody(Body):
    verification_notes = Text(max_length=20_000)


class ReachAnswer(Body):
    level = s.ChoiceField(choices=["narrow", "medium", "wide"])
    why = Text()


class ApprovalAnswer(Body):
    id = Text()
    status = s.ChoiceField(choices=Approval.Status.values)
    kind = s.ChoiceField(choices=Approval.Kind.values)
    url = Text()
    session_id = Text()
    agent = Text()
    intent_id = Text(allow_null=True)
    intent_revision = Whole(allow_null=True)
    tool = Text(allow_null=True)
    input = s.JSONField(allow_null=True, help_text="As the agent sent it, secrets masked and long texts cut.")
    targets = s.ListField(child=s.DictField())
    offending = s.ListField(child=Text())
    unknown = s.ListField(child=s.DictField())
    error_type = Text(allow_null=True)
    reason = Text(allow_null=True)
    error = Text(allow_null=True)
    reach = ReachAnswer()
    requested_at = s.DateTimeField()
    expires_at = s.DateTimeField()
    decided_at = s.DateTimeField(allow_null=True)
    decided_by = Text(allow_null=True)
    grant = Text(allow_null=True)
    patterns = s.ListField(child=Text())
    minutes = Whole(allow_null=True)
    comment = Text(allow_null=True)


class DecidedAnswer(ApprovalAnswer):
    lesson_id = Text(
        allow_null=True, help_text="The lesson that the rejection was kept as, known before or not."
    )


class ApprovalPage(Body):
    results = ApprovalAnswer(many=True)
    next = Text(allow_null=True)


class CompletionAnswer(Body):
    completed = YesNo()
    approval = ApprovalAnswer(allow_null=True)


class DecideBody(Body):
    action = s.ChoiceField(choices=["approve", "reject"])
    grant = s.ChoiceField(choices=["once", "session", "scope"], default="once")
    patterns = s.ListField(child=Text(max_length=512), required=False, max_length=50)
    minutes = Whole(required=False, allow_null=True, min_value=1, max_value=7 * 24 * 60)
    comment = Text(required=False, allow_blank=True, max_length=4000, help_text="Text for the agent.")
    lesson = YesNo(default=False, help_text="Keep the `comment` of a rejection as a lesson about its files.")


class TraceBody(Body):
    path = Text(max_length=4096)
    content = Text(required=False, allow_null=True, allow_blank=True, trim_whitespace=False)
    content_hash = Text(required=False, allow_null=True, max_length=200)
    start_line = Whole(required=False, allow_null=True, min_value=1, max_value=2**31)
    end_line = Whole(required=False, allow_null=True, min_value=1, max_value=2**31)
    mutation_class = Text(required=False, allow_null=True, max_length=40)
    revision_id = Text(required=False, allow_null=True, max_length=200)
    tool_use_id = Text(required=False, allow_null=True, max_length=200)
    problems = s.JSONField(required=False, help_text="What a verification found: a text or a list of texts.")


class RecordedTrace(Body):
    id = Text()
    status = s.ChoiceField(
        choices=["pending"], help_text="Recorded; the sealer gives it a place in the tree."
    )
    leaf_hash = Text(help_text="What the ledger commits to, 64 hex digits.")
    received_at = s.DateTimeField()
    entry = s.DictField(help_text="The trace entry, as it stands in agent_trace.jsonl.")
    computed_mutation_class = s.ChoiceField(
        choices=["AST_REFACTOR", "INTENT_EVOLUTION"], allow_null=True, help_text=COMPUTED_CLASS
    )


class GateBody(Body):
    session_id = Text(max_length=200)
    tool = Text(max_length=200)
    input = s.JSONField(help_text="The tool's input, a JSON object of at most 1 MiB.")
    tool_use_id = Text(required=False, allow_null=True, max_length=200)
    cwd = Text(required=False, allow_null=True, allow_blank=True, max_length=4096)
    root = Text(required=False, allow_null=True, allow_blank=True, max_length=4096)  # type: ignore[assignment]  # declared, not the property
    agent = AgentBody(required=False, allow_null=True)
    current_content_hashes = s.DictField(
        child=Text(allow_null=True, allow_blank=True), required=False, allow_null=True
    )
    links = s.DictField(
        child=Text(),
        required=False,
        allow_null=True,
        help_text="Paths of the workspace that stand for other places on the agent's machine, each with that "
        "place, relative to the root or absolute. Both names must be allowed; a hint opens nothing.",
    )
    wait_seconds = s.FloatField(required=False, min_value=0, max_value=55)
    dry_run = YesNo(required=False)
    revision_id = Text(required=False, allow_null=True, allow_blank=True, max_length=200)


class ApprovalBrief(Body):
    id = Text()
    status = s.ChoiceField(choices=Approval.Status.values)
    url = Text()
    expires_at = s.DateTimeField()


class GateAnswer(Body):
    decision = s.ChoiceField(choices=["allow", "deny", "ask"])
    decision_id = Text(allow_null=True)
    session_id = Text(allow_null=True)
    state = s.ChoiceField(choices=STATES, allow_null=True)
    status = s.ChoiceField(choices=["ok", "error"])
    message = Text(allow_null=True)
    error = Text(allow_null=True, help_text="For the agent: what was wrong and what to do next.")
    error_type = Text(allow_null=True)
    reason = Text(allow_null=True)
    recoverable = YesNo(allow_null=True)
    action_hint = Text(allow_null=True)
    classification = s.ChoiceField(choices=["safe", "destructive", "handshake"], allow_null=True)
    targets = s.ListField(child=Text())
    intent_id = Text(allow_null=True)
    approval = ApprovalBrief(allow_null=True)
    override = s.DictField(allow_null=True, help_text="The grant that turned a denial into allow.")
    context = Text(allow_null=True, help_text="The <intent_context>, when the call was the handshake.")  # type: ignore[assignment]  # declared, not the property
    would_be = s.ChoiceField(
        choices=["deny", "ask"], allow_null=True, help_text="The decision, where policy only monitors."
    )


class GateRefusal(GateAnswer):
    """The same envelope with `decision: deny`, for 400, 401, 403 and 5xx."""
