"""Speak to a served product as its clients do: with the payloads that their hooks were captured sending, and by REST."""

from __future__ import annotations

import hashlib
import json
import re
import urllib.request
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any

from tests.live import LiveServer
from tests.sessions.adapters import captured

ROOT = "/home/dev/shop"
REST = "rest"
Texts = dict[str, str]
_numbers = count(1)
_CALL_ID = re.compile(r"(?:toolu|call)_\w+")  # a client never uses one for two calls


def sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True)
class Payloads:
    """Names of a client's captured payloads, and what in them stands for path, text and command."""

    write: str
    wrote: str
    shell: str
    select: str
    read: str
    start: str = "SessionStart"
    prompt: str = "UserPromptSubmit"
    path: str = "src/new.txt"
    text: str = "hi\n"
    command: str = "echo hi > sh.txt"
    read_path: str = "/workspace/app.py"


CLIENTS = {
    "claude-code": Payloads(
        "PreToolUse-Write", "PostToolUse-Write", "PreToolUse-Bash", "PreToolUse-mcp__icp__select_active_intent",
        "PreToolUse-Read",
    ),
    "codex": Payloads(  # it reads with its shell
        "PreToolUse-apply_patch", "PostToolUse-apply_patch", "PreToolUse-Bash",
        "PreToolUse-mcp__icp__select_active_intent", "PreToolUse-Bash", command="cat app.py", read_path="app.py",
    ),
    "gemini-cli": Payloads(
        "BeforeTool-write_file", "AfterTool-write_file", "BeforeTool-run_shell_command",
        "BeforeTool-mcp_icp_select_active_intent", "BeforeTool-read_file", prompt="BeforeAgent",
    ),
    "qwen-code": Payloads(
        "PreToolUse-write_file", "PostToolUse-write_file", "PreToolUse-run_shell_command",
        "PreToolUse-mcp__icp__select_active_intent", "PreToolUse-read_file",
    ),
    "copilot": Payloads(
        "preToolUse-create", "postToolUse-create-subagent", "preToolUse-bash", "preToolUse-icp-select_active_intent",
        "preToolUse-view", start="sessionStart", prompt="userPromptSubmitted",
    ),
    "cursor": Payloads(
        "preToolUse-Write", "postToolUse-Write", "preToolUse-Shell", "preToolUse-MCP-select_active_intent",
        "preToolUse-Read", start="sessionStart", prompt="beforeSubmitPrompt", path="src/auth/a.ts",
        text="export const one = 1;\nexport const two = 2;\n", command="echo x > docs/other.md",
        read_path="/workspace/README.md",
    ),
    "opencode": Payloads(
        "tool.execute.before-write", "tool.execute.after-write", "tool.execute.before-bash",
        "tool.execute.before-icp_select_active_intent", "tool.execute.before-read", start="event-session.created",
        prompt="chat.message",
    ),
    "cline": Payloads(
        "PreToolUse-editor", "PostToolUse-editor", "PreToolUse-run_commands", "PreToolUse-icp__select_active_intent",
        "PreToolUse-read_files", start="TaskStart", prompt="TaskStart",
    ),
}  # fmt: skip
ALL = (REST, *CLIENTS)
# What the captured payloads call the conversation. A new name for each session keeps tests apart.
_CONVERSATIONS = (
    "agent-00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000001", "ses_000001", "conv_000001", "session_000001", "agent_000001",
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """The decision on a call, and all that the model reads of it."""

    decision: str
    text: str
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def ran(self) -> bool:
        return self.decision == "allow"


class Agent:
    """One conversation of one client."""

    def __init__(self, server: LiveServer, token: str, client: str) -> None:
        self.server, self.token, self.client = server, token, client
        self.session = f"conversation-{next(_numbers)}"
        self._asked: dict[tuple[str, str], str] = {}  # the id of a call whose report is to come

    def write(self, path: str, text: str = "x\n") -> Answer:
        """Ask to create a file."""
        if self.client == REST:
            return self.gate("write_to_file", path=path, content=text)
        call_id = self._asked[path, text] = f"call_{next(_numbers)}"
        return self.hook(self._payloads.write, call_id=call_id, path=path, text=text)

    def wrote(self, path: str, text: str = "x\n") -> None:
        """Report that a file was created."""
        if self.client == REST:
            status, answer = self.api(
                "POST", f"sessions/{self.session}/traces", {"path": path, "content": text}
            )
            assert status == 201, answer
            return
        call_id = self._asked.pop((path, text), "")
        self.hook(self._payloads.wrote, call_id=call_id, path=path, text=text)

    def read(self, path: str) -> Answer:
        """Ask to read a file."""
        if self.client == REST:
            return self.gate("read_file", path=path)
        return self.hook(self._payloads.read, read_path=path)

    def shell(self, command: str) -> Answer:
        """Ask to run a command."""
        if self.client == REST:
            return self.gate("execute_command", command=command)
        return self.hook(self._payloads.shell, command=command)

    def select(self, intent_id: str = "INT-001") -> Answer:
        """Take an intent, by REST or by the tool call that the client's hook sees."""
        if self.client == REST:
            return self.gate("select_active_intent", intent_id=intent_id)
        return self.hook(self._payloads.select, intent_id=intent_id)

    def take(self, intent_id: str = "INT-001") -> dict[str, Any]:
        """Take an intent over REST, whatever the client; return the handshake's answer."""
        self.api("POST", "sessions", {"session_id": self.session})
        return self.api("POST", f"sessions/{self.session}/select-intent", {"intent_id": intent_id})[1]

    def prompt(self) -> str:
        """Return the governance section as it reaches the model before a prompt."""
        if self.client == REST:
            return self.preflight()["prompt"]
        return self.hook(self._payloads.prompt).text

    def preflight(self, *tools: str) -> dict[str, Any]:
        self.api("POST", "sessions", {"session_id": self.session})
        body = {"tools": list(tools)} if tools else {}
        return self.api("POST", f"sessions/{self.session}/preflight", body)[1]

    def gate(self, tool: str, *, more: dict[str, Any] | None = None, **call: Any) -> Answer:
        """Send a call to the gate; keyword arguments are the tool's input, `more` the request's own fields."""
        place = {"session_id": self.session, "root": ROOT, "cwd": ROOT}
        body = place | {"tool": tool, "input": call} | (more or {})
        _, answer = self.api("POST", "gate", body)
        return Answer(answer["decision"], f"{answer['error'] or ''}{answer.get('context') or ''}", answer)

    def api(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return self.server.api(self.token, method, path, body)

    @property
    def _payloads(self) -> Payloads:
        return CLIENTS[self.client]

    def hook(
        self,
        name: str,
        replaced: Texts | None = None,
        hashes: Texts | None = None,
        call_id: str = "",
        **values: str,
    ) -> Answer:
        """Send a captured payload with other texts in it, and the hashes that the hook client would add."""
        case = _find_captured(self.client, name)
        body = _replace(self._fill(case.payload, **values), replaced or {})
        body = _set_call_id(body, call_id or f"call_{next(_numbers)}")
        if self.client in captured.PLUGINS:
            body |= {"directory": ROOT}
        if hashes:
            body |= {"icp": {"root": ROOT, "current_content_hashes": hashes}}
        return self.send(case.event, json.dumps(body).encode())

    def send(self, event: str, body: bytes) -> Answer:
        """Send the bytes of a hook's event as they are."""
        request = urllib.request.Request(f"{self.server.url}/hooks/{self.client}/{event}", method="POST")
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, body, timeout=70) as answer:
            said = json.loads(answer.read())
            return Answer(answer.headers["X-ICP-Decision"] or "", " ".join(_list_texts(said)), said)

    def _fill(self, payload: dict[str, Any], **values: str) -> dict[str, Any]:
        """Put the values of this call where the captured ones stand."""
        replaced = dict.fromkeys(_CONVERSATIONS, self.session)
        if "read_path" in values:
            replaced[self._payloads.read_path] = values["read_path"]
        replaced |= {"/workspace": ROOT, "exit 3": "true"}
        if "path" in values:
            replaced |= {self._payloads.path: values["path"], "sub.txt": values["path"]}
            replaced |= {self._payloads.text: values["text"], "from the sub-agent\n": values["text"]}
        if "command" in values:
            replaced[self._payloads.command] = values["command"]
        if "intent_id" in values:
            replaced |= {"INT-001": values["intent_id"], "INT-1": values["intent_id"]}
        filled = _replace(payload, replaced)
        if self.client == "codex" and "path" in values:
            added = "".join(f"+{line}\n" for line in values["text"].splitlines())
            patch = f"*** Begin Patch\n*** Add File: {values['path']}\n{added}*** End Patch\n"
            filled["tool_input"] = {"command": patch}
        return filled


@cache
def _find_captured(client: str, name: str) -> captured.Captured:
    return captured.one(client, name)


def _replace(value: Any, replaced: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _replace(item, replaced) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace(item, replaced) for item in value]
    if not isinstance(value, str):
        return value
    for old, new in replaced.items():
        value = value.replace(old, new)
    return value


def _set_call_id(value: Any, call_id: str) -> Any:
    if isinstance(value, dict):
        return {
            key: call_id if key == "tool_use_id" else _set_call_id(item, call_id)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_set_call_id(item, call_id) for item in value]
    return call_id if isinstance(value, str) and _CALL_ID.fullmatch(value) else value


def _list_texts(value: Any) -> list[str]:
    """Return every text in a hook's answer, wherever the client wants it."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in _list_texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _list_texts(item)]
    return [value] if isinstance(value, str) else []
