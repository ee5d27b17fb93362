"""Find the agent session that an MCP call belongs to.

Most clients open a connection to an MCP server without naming a conversation. A call is bound by the first of
these rules that holds, among the sessions of its own token only:

1. it names the session: the argument `session_id`, or the header `X-ICP-Session` of the connection;
2. the client's hook has just sent this very call to the gate, which recorded it with the conversation's id;
3. the token (and the agent of `X-ICP-Agent`, where sent) has exactly one live session.

Anything else is refused with the ids to choose from, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.calls.resolve_tool import MCP_WRAPPERS, resolve_tool
from controlplane.policy.calls.toolsets.icp import list_spellings
from controlplane.policy.model import HANDSHAKE_TOOL, ToolCall
from controlplane.shared.errors import ConflictError, InvalidInputError, NotFoundError
from controlplane.shared.masking import to_storable
from controlplane.shared.tokens import Bearer
from sessions.core_values import load_policy
from sessions.gate.request import AGENT_NAME, ID, parse_field
from sessions.lifecycle.open import Opening, find_session, open_session, require_owner
from sessions.mcp.run_command import CLIENT_HEADER, read_client
from sessions.models import AgentSession
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry

# From the hook's answer to the call itself: at once, or after the client's own prompt to its user. The first
# that holds one session decides.
RECENT = (timedelta(seconds=3), timedelta(minutes=2))
MAX_DECISIONS = 50  # decisions on this tool
PLACEHOLDER_PREFIXES = (
    "$",
    "{",
)  # how a variable begins that the client did not fill in: all its conversations share it
MAX_IDS = 10


@dataclass(frozen=True, slots=True)
class Caller:
    """The bearer of a call, and the session and agent that the headers name ("" for none)."""

    bearer: Bearer
    session_id: str = ""
    agent: str = ""
    lists_all_tools: bool = False  # list every tool, for a client that lists once
    client: Mapping[str, Any] | None = None  # of a program that runs commands: what it says of its machine


def find_bound_session(caller: Caller, tool: str, arguments: Mapping[str, Any]) -> AgentSession | None:
    """None when there is no live session to mean. At most 5 queries.

    Raise ForeignSessionError, NotFoundError for an unknown session, ConflictError when several may be meant.
    The handshake opens a session of an unknown id, as the gate does, and so does the header.
    """
    if "session_id" in arguments:
        named = parse_field("session_id", arguments["session_id"], ID)
        return _open_session(caller, named) if tool == HANDSHAKE_TOOL else _require_session(caller, named)
    if caller.session_id:
        return _open_session(caller, _require_filled(caller.session_id))
    live = list_live_sessions(caller)
    if len(live) > 1:
        passed = _find_gated_sessions(caller.bearer, tool, arguments, live)
        if len(passed) != 1:
            raise ConflictError(_describe_choices(live), error_type="SESSION_UNKNOWN")
        live = [session for session in live if session.session_id in passed]
    return find_session(caller.bearer.workspace_id, live[0].session_id) if live else None


def begin_session(caller: Caller) -> AgentSession:
    """Open a session for a client that has none and names none."""
    return open_session(caller.bearer, Opening(agent_name=caller.agent))[0]


def list_live_sessions(caller: Caller) -> list[AgentSession]:
    """Return the caller's live sessions, the most recently seen first. 2 queries."""
    workspace = Workspace.objects.get(pk=caller.bearer.workspace_id)
    rows = AgentSession.objects.live(load_policy(workspace), timezone.now()).filter(
        workspace=workspace, token_id=caller.bearer.token_id
    )
    if caller.agent:
        rows = rows.filter(agent_name=caller.agent)
    return list(rows.order_by("-last_seen_at"))


def has_intent(caller: Caller) -> bool:
    """Tell whether a session that may be the caller's has an intent; opens nothing. 2 queries."""
    live = list_live_sessions(caller)
    if caller.session_id:
        live = [session for session in live if session.session_id == caller.session_id]
    return any(session.selected_intent_id for session in live)


def read_caller(bearer: Bearer, headers: Mapping[str, str]) -> Caller:
    """Read the headers, by lower-case names. Raise GateInputError for a malformed one."""
    values = {"session": headers.get("x-icp-session", ""), "agent": headers.get("x-icp-agent", "")}
    for name, adapter in (("session", ID), ("agent", AGENT_NAME)):
        if values[name]:
            parse_field(name, values[name], adapter)
    shows_all = headers.get("x-icp-tools") == "all"
    client = read_client(headers.get(CLIENT_HEADER, ""))
    return Caller(bearer, values["session"], values["agent"], shows_all, client)


def _require_session(caller: Caller, session_id: str) -> AgentSession:
    session = find_session(caller.bearer.workspace_id, session_id)
    if session is None:
        error = f"There is no session {session_id!r}. {_describe_choices(list_live_sessions(caller))}"
        raise NotFoundError(error, error_type="SESSION_UNKNOWN")
    require_owner(session, caller.bearer)
    return session


def _open_session(caller: Caller, session_id: str) -> AgentSession:
    return open_session(caller.bearer, Opening(session_id=session_id, agent_name=caller.agent))[0]


def _require_filled(session_id: str) -> str:
    if session_id.startswith(PLACEHOLDER_PREFIXES):
        error = f"X-ICP-Session holds {session_id!r}: the client left the variable as is. Remove the header."
        raise InvalidInputError(error)
    return session_id


def _describe_choices(live: list[AgentSession]) -> str:
    if not live:
        return "No session is open with this token: call select_active_intent first, without session_id."
    ids = ", ".join(session.session_id for session in live[:MAX_IDS])
    return f"Open with this token: {ids}. Name the one of this conversation in session_id."


def _find_gated_sessions(
    bearer: Bearer, tool: str, arguments: Mapping[str, Any], live: list[AgentSession]
) -> set[str]:
    """Ids of the live sessions whose hook asked for this call a moment ago. 1 query."""
    call_input, now = to_storable(dict(arguments)), timezone.now()
    entries = LedgerEntry.objects.filter(
        workspace_id=bearer.workspace_id,
        kind=EntryKind.DECISION,
        session_id__in=[session.session_id for session in live],
        outcome="allow",
        tool__in=[tool, *list_spellings(tool), *MCP_WRAPPERS],
        received_at__gt=now - RECENT[-1],
    )
    newest = entries.select_related("body").order_by("-pk")[:MAX_DECISIONS]
    matches = [
        entry
        for entry in newest
        if (body := read_body(entry)) is not None
        and _is_same_call(entry.tool, body.get("input"), tool, call_input)
    ]
    candidates = [{one.session_id for one in matches if one.received_at > now - since} for since in RECENT]
    return next((ids for ids in candidates if len(ids) == 1), candidates[-1])


def _is_same_call(recorded: str, data: Any, tool: str, call_input: Any) -> bool:
    """Tell whether a recorded call is this one, without the wrapper of a client."""
    resolved = resolve_tool(ToolCall(recorded, data))
    return resolved.name in (tool, *list_spellings(tool)) and to_storable(resolved.input) == call_input
