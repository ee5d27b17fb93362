"""The sessions of one agent: their gate, their pinned mode, and what is known of their calls."""

from __future__ import annotations

import json
import os

from controlplane.client.acp.calls import list_new_texts, list_places
from controlplane.client.acp.gate_client import GateClient, Verdict
from controlplane.client.acp.modes import ModeRule, list_mode_settings, show_only_asking
from controlplane.client.commands.mcp_bridge import ACP_AGENT, SESSION_FILE_VARIABLE
from controlplane.client.config.install import LAUNCHER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHANGING_KINDS = frozenset({"edit", "delete", "move", "execute"})
ANSWER_SECONDS = 60


class AcpSession:
    """One conversation. Its id is the agent's own, so that its hooks, where it has any, mean the same one."""

    def __init__(self, gate: GateClient, pinned: dict[str, str]) -> None:
        self.gate, self.pinned = gate, pinned
        self.refusals: list[str] = []
        self.calls: dict[str, dict[str, Any]] = {}  # what the agent has told of each call so far
        self.allowed: dict[str, dict[str, None]] = {}  # the files of each allowed call
        self.call_ids: dict[str, str] = {}  # by call, for the same write that comes through the editor
        self.terminals: dict[str, Verdict] = {}

    def take_texts(self) -> list[str]:
        """Return the texts for the next prompt: the mandate, and what was refused since the last one."""
        refusals, self.refusals = self.refusals, []
        texts = [self.gate.read_prompt(), *(f"A call of yours was refused: {text}" for text in refusals)]
        return [text for text in texts if text]

    def note_refusal(self, text: str) -> None:
        self.refusals.append(text)

    def note_allowed(self, call: tuple[str, dict[str, Any]], call_id: str, verdict: Verdict) -> None:
        self.call_ids[json.dumps(call, sort_keys=True, default=str)] = call_id
        self.allowed.setdefault(call_id, {}).update(dict.fromkeys(verdict.targets))

    def find_call_id(self, call: tuple[str, dict[str, Any]]) -> str:
        """Return the id under which the same call was allowed as a question; a grant for once is its own."""
        return self.call_ids.get(json.dumps(call, sort_keys=True, default=str), "")

    def complete_call(self, tool_call: dict[str, Any]) -> dict[str, Any]:
        """Return a call with what earlier updates told of it: a question may name no more than its id."""
        known = self.calls.setdefault(str(tool_call.get("toolCallId")), {})
        known.update({name: value for name, value in tool_call.items() if value is not None})
        return dict(known)

    def note_result(
        self, method: str, params: dict[str, Any], result: Any, verdict: Verdict, call_id: str
    ) -> None:
        """Record a file that the editor has written; remember what the command of a terminal changes."""
        if method == "fs/write_text_file":
            self.gate.record(str(params.get("path")), call_id)
        elif method == "terminal/create" and isinstance(result, dict):
            self.terminals[str(result.get("terminalId"))] = verdict

    def note_call(self, update: dict[str, Any]) -> None:
        """Record what a call has changed once it is done, also one for which nobody was asked."""
        call_id = str(update.get("toolCallId"))
        tool_call = self.complete_call(update)
        if update.get("status") != "completed" or tool_call.get("kind") not in CHANGING_KINDS:
            return
        places = () if tool_call.get("kind") == "execute" else list_places(tool_call)
        for path in {**self.allowed.pop(call_id, {}), **dict.fromkeys([*places, *list_new_texts(tool_call)])}:
            self.gate.record(path, call_id)


class SessionTable:
    """All sessions of the agent. Raise LookupError for one that it has not opened."""

    def __init__(self, rule: ModeRule, program: str) -> None:
        import tempfile

        self.rule, self.agent_name, self.version = rule, os.path.basename(program), ""
        self.sessions: dict[str, AcpSession] = {}
        # In it the MCP server of each session finds the session's id.
        self.folder = tempfile.TemporaryDirectory(prefix="icp-acp-")

    def note_agent(self, result: dict[str, Any]) -> None:
        """Take the agent's own name for itself, where it gives one."""
        about = result.get("agentInfo") or {}
        self.agent_name = str(about.get("name") or self.agent_name)
        self.version = f"{self.agent_name} {about.get('version') or ''}".strip()

    def add_server(self, opening: dict[str, Any]) -> dict[str, Any]:
        """Return the request with our MCP server, which is told the session's id by a file."""
        params = opening["params"]
        variables = {
            SESSION_FILE_VARIABLE: self.session_file(opening),
            "CLAUDE_PROJECT_DIR": params.get("cwd"),  # where the server looks for the repository
        }
        env = [{"name": name, "value": str(value)} for name, value in variables.items()]
        server = {"name": "icp", "command": LAUNCHER, "args": ["mcp", ACP_AGENT], "env": env}
        others = [entry for entry in params.get("mcpServers") or () if entry.get("name") != "icp"]
        return {**opening, "params": {**params, "mcpServers": [*others, server]}}

    def session_file(self, opening: dict[str, Any]) -> str:
        return os.path.join(self.folder.name, "".join(filter(str.isalnum, str(opening["id"]))) or "session")

    def open(self, opening: dict[str, Any], result: dict[str, Any], agent: Any) -> dict[str, Any]:
        """Know a session and pin its mode. Return the agent's result as the editor may see it."""
        params = opening["params"]
        session_id = str(result.get("sessionId") or params.get("sessionId"))
        with open(self.session_file(opening), "w", encoding="utf-8") as file:
            file.write(session_id)
        pinned: dict[str, str] = {}
        for setting in list_mode_settings(result):
            mode = self.rule.choose(setting.current, setting.available)
            if mode != setting.current:
                agent.request(*setting.build_request(session_id, mode)).answer.result(ANSWER_SECONDS)
            pinned[setting.option] = mode
        gate = GateClient(session_id, str(params.get("cwd") or os.getcwd()), ACP_AGENT, self.version)
        gate.open()
        self.sessions[session_id] = AcpSession(gate, pinned)
        return show_only_asking(result, self.rule, pinned)

    def find(self, params: dict[str, Any]) -> AcpSession:
        session = self.sessions.get(str(params.get("sessionId")))
        if session is None:
            raise LookupError(f"there is no session {params.get('sessionId')}")
        return session

    def may_set(self, message: dict[str, Any]) -> bool:
        """Whether an editor may set this: any option but the mode, and a mode that asks."""
        params = message["params"]
        if message["method"] == "session/set_mode":
            return self.rule.allows(params.get("modeId"))
        is_mode = str(params.get("configId")) in self.find(params).pinned
        return not is_mode or self.rule.allows(params.get("value"))

    def note_update(self, message: dict[str, Any], agent: Any) -> bool:
        """Take note of an update. Return whether it is kept from the editor: a mode that we have set back."""
        params = message["params"]
        update, session = params.get("update") or {}, self.sessions.get(str(params.get("sessionId")))
        if session is None:
            return False
        if update.get("sessionUpdate") in {"tool_call", "tool_call_update"}:
            session.note_call(update)
            return False
        described = {"configOptions": update.get("configOptions"), "modes": None}
        if update.get("sessionUpdate") == "current_mode_update":
            described["modes"] = {"currentModeId": update.get("currentModeId"), "availableModes": []}
        wrong = [each for each in list_mode_settings(described) if not self.rule.allows(each.current)]
        for setting in wrong:
            mode = session.pinned.get(setting.option) or next(iter(session.pinned.values()), "")
            agent.request(*setting.build_request(params["sessionId"], mode))
        return bool(wrong)

    def record_terminal(self, message: dict[str, Any]) -> None:
        session = self.find(message["params"])
        verdict = session.terminals.pop(str(message["params"].get("terminalId")), None)
        for path in verdict.targets if verdict else ():
            session.gate.record(path, "")

    def end(self, message: dict[str, Any]) -> None:
        session = self.sessions.pop(str(message["params"].get("sessionId")), None)
        if session is not None:
            session.gate.end()

    def end_all(self) -> None:
        for session in self.sessions.values():
            session.gate.end()
        self.folder.cleanup()
