"""Which agent session an MCP call belongs to.

Most clients open a connection to an MCP server without saying in which conversation. So a call is tied by the
first of these that holds, among the sessions of its own token only:

1. it says so: the argument `session_id`, or the header `X-ICP-Session` of the connection;
2. the client's hook has just let this very call pass: the gate recorded it, with the conversation's id;
3. the token (and the agent of `X-ICP-Agent`, where that is sent) has one live session.

What is left is refused with the ids to choose from, never guessed.
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
from sessions.gate.request import AGENT_FIELDS, MAX_ID_LENGTH, text_field
from sessions.lifecycle.intent_lock import live_sessions
from sessions.lifecycle.open import Opening, find_session, open_session, require_owner
from sessions.models import AgentSession
from traces.ledger.append import body_of
from traces.models import Kind, LedgerEntry

# From the hook's answer to the call itself: at once, or after the client's own prompt to its user. The first
# that holds one session decides.
JUST_NOW = (timedelta(seconds=3), timedelta(minutes=2))
MAX_LOOK_BACK = 50  # decisions on this tool
UNFILLED = ("$", "{")  # how a variable begins that the client did not fill in: all its conversations share it
MAX_IDS = 10


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and what the connection's headers say: the session, the agent, "" for neither."""

    bearer: Bearer
    session_id: str = ""
    agent: str = ""
    everything: bool = False  # list every tool, for a client that lists once


def tied_session(caller: Caller, tool: str, arguments: Mapping[str, Any]) -> AgentSession | None:
    """None when there is no live session to mean. At most 5 queries.

    Raise ForeignSessionError, NotFoundError for an unknown session, ConflictError when several may be meant.
    The handshake opens a session of an unknown id, as the gate does, and so does the header.
    """
    if "session_id" in arguments:
        named = text_field(dict(arguments), "session_id", MAX_ID_LENGTH, required=True)
        return _opened(caller, named) if tool == HANDSHAKE_TOOL else _found(caller, named)
    if caller.session_id:
        return _opened(caller, _filled(caller.session_id))
    live = sessions_of(caller)
    if len(live) > 1:
        passed = _let_pass(caller.bearer, tool, arguments, live)
        if len(passed) != 1:
            raise ConflictError(_choose(live), error_type="SESSION_UNKNOWN")
        live = [session for session in live if session.session_id in passed]
    return find_session(caller.bearer.workspace_id, live[0].session_id) if live else None


def begin_session(caller: Caller) -> AgentSession:
    """A new session for a client that has none and names none."""
    return open_session(caller.bearer, Opening(agent_name=caller.agent))[0]


def sessions_of(caller: Caller) -> list[AgentSession]:
    """The caller's live sessions, the one that was heard of last first. 2 queries."""
    workspace = Workspace.objects.get(pk=caller.bearer.workspace_id)
    own = live_sessions(workspace.pk, load_policy(workspace)).filter(token_id=caller.bearer.token_id)
    if caller.agent:
        own = own.filter(agent_name=caller.agent)
    return list(own.order_by("-last_seen_at"))


def works_on_intent(caller: Caller) -> bool:
    """Whether a session that may be the caller's has made the handshake; nothing is opened. 2 queries."""
    live = sessions_of(caller)
    if caller.session_id:
        live = [session for session in live if session.session_id == caller.session_id]
    return any(session.selected_intent_id for session in live)


def caller_of(bearer: Bearer, headers: Mapping[str, str]) -> Caller:
    """From the request's headers, by lower-case names. Raise GateInputError for a malformed one."""
    told = {"session": headers.get("x-icp-session", ""), "agent": headers.get("x-icp-agent", "")}
    for name, most in (("session", MAX_ID_LENGTH), ("agent", AGENT_FIELDS["name"])):
        text_field(told, name, most, required=bool(told[name]))
    return Caller(bearer, told["session"], told["agent"], headers.get("x-icp-tools") == "all")


def _found(caller: Caller, session_id: str) -> AgentSession:
    session = find_session(caller.bearer.workspace_id, session_id)
    if session is None:
        error = f"There is no session {session_id!r}. {_choose(sessions_of(caller))}"
        raise NotFoundError(error, error_type="SESSION_UNKNOWN")
    require_owner(session, caller.bearer)
    return session


def _opened(caller: Caller, session_id: str) -> AgentSession:
    return open_session(caller.bearer, Opening(session_id=session_id, agent_name=caller.agent))[0]


def _filled(session_id: str) -> str:
    if session_id.startswith(UNFILLED):
        error = f"X-ICP-Session holds {session_id!r}: the client left the variable as is. Remove the header."
        raise InvalidInputError(error)
    return session_id


def _choose(live: list[AgentSession]) -> str:
    if not live:
        return "No session is open with this token: call select_active_intent first, without session_id."
    ids = ", ".join(session.session_id for session in live[:MAX_IDS])
    return f"Open with this token: {ids}. Name the one of this conversation in session_id."


def _let_pass(bearer: Bearer, tool: str, arguments: Mapping[str, Any], live: list[AgentSession]) -> set[str]:
    """Ids of the live sessions whose hook asked for this call a moment ago. 1 query."""
    wanted, now = to_storable(dict(arguments)), timezone.now()
    entries = LedgerEntry.objects.filter(
        workspace_id=bearer.workspace_id,
        kind=Kind.DECISION,
        session_id__in=[session.session_id for session in live],
        outcome="allow",
        tool__in=[tool, *list_spellings(tool), *MCP_WRAPPERS],
        received_at__gt=now - JUST_NOW[-1],
    )
    newest = entries.select_related("body").order_by("-pk")[:MAX_LOOK_BACK]
    found = [
        entry
        for entry in newest
        if (body := body_of(entry)) is not None and _is_call(entry.tool, body.get("input"), tool, wanted)
    ]
    tiers = [{one.session_id for one in found if one.received_at > now - since} for since in JUST_NOW]
    return next((ids for ids in tiers if len(ids) == 1), tiers[-1])


def _is_call(recorded: str, data: Any, tool: str, wanted: Any) -> bool:
    """Whether the recorded call is this one, out of any wrapping."""
    found = resolve_tool(ToolCall(recorded, data))
    return found.name in (tool, *list_spellings(tool)) and to_storable(found.input) == wanted
