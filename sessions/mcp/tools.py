"""The tools that a model may call: each takes checked arguments, calls one service function, and answers in
words or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.models import Workspace
from controlplane.policy.model import ErrorType
from controlplane.shared.errors import ConflictError, DomainError, NotFoundError
from intents.evidence.schema import CLAIMS
from intents.prompts.context import build_intent_context
from intents.proposals import Proposer, propose
from intents.selectors import find_intent, list_intent_ids
from sessions.approvals.representations import represent_approval
from sessions.lifecycle.guidance import render_prompt
from sessions.lifecycle.handshake import select_intent
from sessions.lifecycle.handshake_tools import render_available_intents, run_handshake_tool
from sessions.mcp.run_command import decide_command
from sessions.mcp.schemas import INTENT_ID, PROPOSAL_FIELDS, SESSION_ID, choice, text, texts
from sessions.mcp.session_binding import Caller, begin_session, find_bound_session
from sessions.models import AgentSession, Approval
from sessions.representations import represent_session
from traces.lessons.store import LessonSection

NO_SESSION = "This conversation is not known yet. Call select_active_intent first."
APPROVALS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class McpCall:
    """A call with checked arguments. Each of the three finds its session anew: ask once."""

    caller: Caller
    tool: str
    arguments: Mapping[str, Any]

    @property
    def workspace_id(self) -> int:
        return self.caller.bearer.workspace_id

    @property
    def actor(self) -> str:
        return self.caller.bearer.actor

    def bound_session(self) -> AgentSession | None:
        return find_bound_session(self.caller, self.tool, self.arguments)

    def require_session(self) -> AgentSession:
        session = self.bound_session()
        if session is None:
            raise ConflictError(NO_SESSION, error_type="SESSION_UNKNOWN")
        return session

    def require_intent(self) -> AgentSession:
        """With an intent; whether it still holds is the service's to say."""
        session = self.bound_session()
        if session is None or not session.selected_intent_id:
            error = f"You must cite a valid active Intent ID. Call select_active_intent before {self.tool}."
            raise ConflictError(error, error_type="MISSING_OR_INVALID_INTENT")
        return session


@dataclass(frozen=True, slots=True)
class McpTool:
    """`needs_intent`: offered only to a session that has taken one; its `run` asks for `working()`.

    `needs_program`: offered only through the client's program, which does the work.
    """

    description: str
    run: Callable[[McpCall], str]
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    needs_intent: bool = False
    needs_program: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {**self.properties, "session_id": SESSION_ID},
            "required": list(self.required),
            "additionalProperties": False,
        }


def list_active_intents(call: McpCall) -> str:
    """List with marks; without a session that is certainly the caller's, its own intent is marked too."""
    try:
        session = call.bound_session()
    except DomainError:
        session = None
    workspace = Workspace.objects.get(pk=call.workspace_id)
    return render_available_intents(workspace, session, call.arguments.get("status_filter", ""))


def select_active_intent(call: McpCall) -> str:
    """Make the handshake. Where the hook has made it with the same call already, return the context again."""
    opened, session = "", call.bound_session()
    if session is None:
        session = begin_session(call.caller)
        opened = f"Your session_id is {session.session_id}: pass it with every later call.\n"
    answer = select_intent(session, call.arguments["intent_id"], call.actor)
    already_selected = answer.get("error_type") == ErrorType.INTENT_LOCKED and answer["context"]
    if not answer["success"] and not already_selected:
        raise ConflictError(f"{answer['error']} {opened}".strip(), error_type=answer["error_type"])
    return f"{opened}{answer['context']}"


def get_intent_context(call: McpCall) -> str:
    """Return the context of the named intent, else of the session's, else the governance section."""
    intent_id = call.arguments.get("intent_id")
    if not intent_id:
        session = call.require_session()
        intent_id = session.selected_intent_id
        if not intent_id:
            return render_prompt(session)
    intent = find_intent(call.workspace_id, intent_id)
    if intent is None:
        known = ", ".join(list_intent_ids(call.workspace_id)) or "none"
        raise NotFoundError(f"There is no intent {intent_id!r}. Known intents: {known}.")
    return str(build_intent_context(intent)["context"])


def gate_status(call: McpCall) -> str:
    """Return the session's state and newest approvals, or the named approval."""
    session = call.require_session()
    approvals = Approval.objects.select_related("workspace", "session").filter(session=session)
    if call.arguments.get("approval_id"):
        approval = approvals.filter(public_id=call.arguments["approval_id"]).first()
        if approval is None:
            raise NotFoundError("This session has no such approval.")
        approvals.filter(pk=approval.pk).ended().mark_told()
        return _json(represent_approval(approval))
    newest = [represent_approval(one) for one in approvals.order_by("-pk")[:APPROVALS_SHOWN]]
    return _json({"session": represent_session(session), "newest_approvals": newest})


def run_for_intent(call: McpCall) -> str:
    """Run a tool of the handshake that works on the session's intent."""
    return run_handshake_tool(call.tool, call.require_intent(), call.arguments, call.actor).text


def propose_intent(call: McpCall) -> str:
    fields = {name: value for name, value in call.arguments.items() if name in PROPOSAL_FIELDS}
    session = call.bound_session()
    agent = (session.agent_name if session else "") or call.caller.agent or call.caller.bearer.name
    proposer = Proposer(agent, call.actor, session.session_id if session else "")
    intent = propose(call.workspace_id, fields, proposer)
    return (
        f"{intent.intent_id} is proposed, and BLOCKED until an admin accepts it on the Intents page. "
        "Tell the user; do not start on it before. When it is accepted, call select_active_intent with it."
    )


def run_command(call: McpCall) -> str:
    """Decide the command. The client's program runs it and puts its output in the place of this answer."""
    client = call.caller.client
    if client is None:
        error = "Commands are run by the client's program: connect with `icp.py connect`, or use your shell."
        raise ConflictError(error, error_type="NO_PROGRAM")
    return decide_command(call.caller.bearer, call.require_session(), call.arguments, client)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


TOOLS: Mapping[str, McpTool] = {
    "list_active_intents": McpTool(
        "List the intents that work can be done under.",
        list_active_intents,
        {"status_filter": text("Only intents of this status", 40)},
    ),
    "select_active_intent": McpTool(
        "Take the intent that this session's work belongs to, for the whole session, and get its scope, "
        "constraints and history. Must be called before anything is changed.",
        select_active_intent,
        {"intent_id": INTENT_ID},
        ("intent_id",),
    ),
    "get_intent_context": McpTool(
        "Read an intent's scope, constraints, criteria and history; this session's when none is named.",
        get_intent_context,
        {"intent_id": INTENT_ID},
    ),
    "gate_status": McpTool(
        "The state of this session and of its approvals.",
        gate_status,
        {"approval_id": text("One approval", 32)},
    ),
    "propose_intent": McpTool(
        "Propose an intent for work that none covers. It stays blocked until an admin accepts it.",
        propose_intent,
        PROPOSAL_FIELDS,
        ("name", "description", "owned_scope"),
    ),
    "request_scope_expansion": McpTool(
        "Ask a human once for what the work needs: patterns to write, kinds of commands, places to read.",
        run_for_intent,
        {
            "patterns": texts("Globs to write; with access read, folders outside such as ~/notes/**", 1),
            "kinds": texts("Kinds of commands to run without asking, such as go test", 1),
            "access": choice("write when absent", ["write", "read"]),
            "reason": text("Why the work needs them"),
        },
        ("reason",),
        needs_intent=True,
    ),
    "complete_intent": McpTool(
        "Say that the work of this session's intent is done; a human may have to confirm.",
        run_for_intent,
        {
            "intent_id": INTENT_ID,
            "verification_notes": text("How each acceptance criterion was verified", 20_000),
            "acceptance_evidence": CLAIMS,
        },
        ("verification_notes",),
        needs_intent=True,
    ),
    "record_lesson": McpTool(
        "Remember a failed verification, a decision or a constraint, so that later sessions know it.",
        run_for_intent,
        {
            "file": text("The file it is about", 1000),
            "problems": text("What failed and how to avoid it, what was decided and why, or what must hold"),
            "section": choice("What it is; lesson when absent", [section.value for section in LessonSection]),
        },
        ("problems",),
        needs_intent=True,
    ),
    "run_command": McpTool(
        "Run a shell command over a copy of the workspace: what it changes within your scope lands, the rest "
        "waits for a human with its diff. For tests, builds and whatever else your own shell is refused. It "
        "has no terminal, and no network unless the command needs one.",
        run_command,
        {
            "command": text("As for bash", 100_000),
            "cwd": text("The folder to run it in; the top of the workspace when absent", 4000),
        },
        ("command",),
        needs_program=True,
    ),
}
