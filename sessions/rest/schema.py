"""Bodies of the sessions API, for OpenAPI and for validation."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.policy.effects import MAX_KIND_LENGTH
from intents.evidence.schema import CLAIMS
from sessions.api_schema import STATES, AgentBody, Body
from sessions.approvals.schema import ApprovalAnswer
from sessions.gate.monitoring.health import GateHealth
from traces.api.schema import COMPUTED_CLASS
from traces.entry_schema import MUTATION_CLASSES

CLASS_ERROR = f"Must be {' or '.join(MUTATION_CLASSES)}, or absent for no claim."


class OpenSessionBody(Body):
    session_id = StrField(
        required=False, allow_null=True, max_length=200, help_text="The client's own id; made when absent."
    )
    agent = AgentBody(required=False, allow_null=True)
    root = StrField(  # type: ignore[assignment]  # declared, not the property
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=4096,
        help_text="The workspace's folder on the agent's machine; fixed for life.",
    )
    cwd = StrField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    repository = StrField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=4096,
        help_text="By which the agent's machine knows it in all work trees; fixed for life.",
    )
    revision_id = StrField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=200,
        help_text="The commit that the agent starts from.",
    )


class AvailableIntentAnswer(Body):
    id = StrField()
    name = StrField()
    description = StrField()
    status = StrField()
    available = BoolField(help_text="Whether the handshake would take it now.")
    note = StrField(allow_null=True, help_text="Why not: held by another session, or waiting for others.")


class SessionAnswer(Body):
    session_id = StrField()
    state = s.ChoiceField(choices=STATES)
    intent_id = StrField(allow_null=True)
    resumed_from = StrField(
        allow_null=True, help_text="The intent that the conversation had before it was taken up again."
    )
    frozen = BoolField()
    agent = AgentBody()
    root = StrField()  # type: ignore[assignment]  # declared, not the property
    revision_id = StrField(allow_null=True)
    opened_at = s.DateTimeField()
    last_seen_at = s.DateTimeField()
    ended_at = s.DateTimeField(allow_null=True)


class OpenedSession(SessionAnswer):
    created = BoolField(help_text="False when the session was resumed.")
    prompt = StrField(help_text="The governance section for the system prompt.")
    available_intents = AvailableIntentAnswer(many=True)


class SessionHealth(Body):
    state = s.ChoiceField(choices=[state.value for state in GateHealth])
    why = StrField()


class SessionCounts(Body):
    calls = IntField()
    allowed = IntField()
    denied = IntField()
    asked = IntField()
    traces = IntField()
    approvals = IntField()
    pending_approvals = IntField()


class SessionDetail(SessionAnswer):
    counts = SessionCounts()
    health = SessionHealth(help_text="Whether its tool calls really pass the gate.")


class SessionPage(Body):
    results = SessionAnswer(many=True)
    next = StrField(allow_null=True)


class SelectIntentBody(Body):
    intent_id = StrField(max_length=200)


class ContextFile(Body):
    path = StrField()
    content_hash = StrField(allow_null=True)
    last_changed = StrField(allow_null=True)
    intent_id = StrField(allow_null=True)


class HandshakeAnswer(Body):
    success = BoolField()
    context = StrField(allow_null=True, help_text="The <intent_context> XML for the agent.")  # type: ignore[assignment]  # declared, not the property
    intent = s.DictField(allow_null=True, help_text="All fields of the intent.")
    history = s.ListField(child=s.DictField())
    files = ContextFile(many=True)
    error = StrField(required=False)
    error_type = StrField(required=False)
    reason = StrField(required=False)
    action_hint = StrField(required=False)


class PromptAnswer(Body):
    session_id = StrField()
    state = s.ChoiceField(choices=STATES)
    intent_id = StrField(allow_null=True)
    prompt = StrField()


class PreflightBody(Body):
    tools = s.ListField(
        child=s.JSONField(),
        required=False,
        allow_null=True,
        help_text="Names of tools, or objects with a `name`.",
    )


class PreflightAnswer(Body):
    ok = BoolField()
    error = StrField(required=False)
    error_type = StrField(required=False)
    reason = StrField(required=False)
    prompt = StrField()
    tools = s.ListField(child=s.JSONField(), help_text="The tools that may be offered to the model now.")


class RequestScopeBody(Body):
    patterns = s.ListField(
        child=StrField(max_length=512),
        required=False,
        max_length=50,
        help_text="To write: globs of the workspace. To read: folders outside it, like `~/notes/**`.",
    )
    kinds = s.ListField(
        child=StrField(max_length=MAX_KIND_LENGTH),
        required=False,
        max_length=50,
        help_text="Kinds of commands: `go test`, `git commit`.",
    )
    access = s.ChoiceField(choices=["write", "read"], default="write")
    reason = StrField(max_length=2000)


@extend_schema_field(CLAIMS)
class ClaimsField(s.JSONField):
    """What proves each criterion; the service checks it, as it does for calls of the gate and of MCP."""


class CompleteIntentBody(Body):
    verification_notes = StrField(max_length=20_000)
    acceptance_evidence = ClaimsField(required=False, allow_null=True)


class CompletionAnswer(Body):
    completed = BoolField()
    approval = ApprovalAnswer(allow_null=True)


class TraceBody(Body):
    path = StrField(max_length=4096)
    content = StrField(required=False, allow_null=True, allow_blank=True, trim_whitespace=False)
    content_hash = StrField(required=False, allow_null=True, max_length=200)
    start_line = IntField(required=False, allow_null=True, min_value=1, max_value=2**31)
    end_line = IntField(required=False, allow_null=True, min_value=1, max_value=2**31)
    mutation_class = s.ChoiceField(
        choices=list(MUTATION_CLASSES),
        required=False,
        allow_null=True,
        error_messages={"invalid_choice": CLASS_ERROR},
        help_text="What the agent claims; absent or null for no claim.",
    )
    revision_id = StrField(required=False, allow_null=True, max_length=200)
    tool_use_id = StrField(required=False, allow_null=True, max_length=200)
    problems = s.JSONField(required=False, help_text="What a verification found: a text or a list of texts.")


class RecordedTraceAnswer(Body):
    id = StrField()
    status = s.ChoiceField(
        choices=["pending"], help_text="Recorded; the sealer gives it a place in the tree."
    )
    leaf_hash = StrField(help_text="What the ledger commits to, 64 hex digits.")
    received_at = s.DateTimeField()
    entry = s.DictField(help_text="The trace entry, as it stands in agent_trace.jsonl.")
    computed_mutation_class = s.ChoiceField(
        choices=["AST_REFACTOR", "INTENT_EVOLUTION"], allow_null=True, help_text=COMPUTED_CLASS
    )
