"""Pass messages between an editor and its agent; what the agent asks for waits for the gate."""

from __future__ import annotations

import json
import sys

from controlplane.client.acp.calls import (
    GATED,
    is_unknown_file_request,
    read_file_request,
    read_permission_request,
)
from controlplane.client.acp.decisions import (
    ALLOW,
    CANCELLED,
    REJECT,
    PersonsDecision,
    run_apart,
    select_option,
    selects_one,
)
from controlplane.client.acp.gate_client import GATE_FAILED, Verdict
from controlplane.client.acp.sessions import AcpSession, SessionTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Any

    Message = dict[str, Any]

REFUSAL_CODE = -32000  # of a refusal; its message is for the model
OPENINGS = ("session/new", "session/load", "session/resume", "session/fork")
SETTINGS = ("session/set_mode", "session/set_config_option")
NOT_KNOWN = (
    "{!r} is a request for files or terminals that the gate does not know, so it was not passed on. "
    "Next: use fs/read_text_file, fs/write_text_file or terminal/create, or tell the user to update icp.py."
)
MAX_METHOD = 100  # characters of a method that a refusal repeats
NOT_SET = "This mode is not known to ask before it acts, so the gate does not let it be set."
PERMISSION = "session/request_permission"
OWN_OPTIONS = [
    {"optionId": "icp-allow", "name": "Allow once", "kind": ALLOW},
    {"optionId": "icp-reject", "name": "Reject", "kind": REJECT},
]


class Question:
    """A request of our own, and the answer that is to come."""

    def __init__(self, number: str, answer: Future[Any]) -> None:
        self.number, self.answer = number, answer


class Peer:
    """One side of the proxy: where its messages go, and our own requests that it has yet to answer."""

    def __init__(self, stream: Any) -> None:
        import threading
        import uuid

        self.stream, self.lock, self.name, self.count = stream, threading.Lock(), f"icp-{uuid.uuid4().hex}", 0
        self.waiting: dict[str, Future[Any]] = {}

    def send(self, message: Message) -> None:
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        with self.lock:
            self.stream.write(line)
            self.stream.flush()

    def request(self, method: str, params: Any) -> Question:
        """Send a request of our own. Its result is the peer's, or the peer's error as an exception."""
        from concurrent.futures import Future

        answer: Future[Any] = Future()
        with self.lock:
            self.count += 1
            question = Question(f"{self.name}-{self.count}", answer)
            self.waiting[question.number] = answer
        self.send({"jsonrpc": "2.0", "id": question.number, "method": method, "params": params})
        return question

    def take_answer(self, message: Message) -> bool:
        """Whether a message answers a request of ours, which then has its result."""
        future = self.waiting.pop(str(message.get("id")), None) if "method" not in message else None
        if future is None:
            return False
        if "error" in message:
            future.set_exception(RuntimeError(str((message["error"] or {}).get("message"))))
        else:
            future.set_result(message.get("result"))
        return True

    def answer(self, number: Any, result: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "result": result})

    def refuse(self, number: Any, text: str) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "error": {"code": REFUSAL_CODE, "message": text}})


class Proxy:
    """Between the two: `from_editor` and `from_agent` take each message of one side."""

    def __init__(self, editor: Any, agent: Any, sessions: SessionTable, reviewer: str = "") -> None:
        self.editor, self.agent, self.reviewer = Peer(editor), Peer(agent), reviewer
        self.sessions = sessions
        self.openings: dict[Any, Message] = {}  # by the id of the editor's request

    def guard(self, function: Callable[..., None], message: Message, asker: Peer, *more: Any) -> None:
        """Refuse whatever fails: the one that asks must get an answer, and no tool may run."""
        try:
            function(message, *more)
        except Exception as problem:  # noqa: BLE001  whatever it is
            if "id" in message:
                asker.refuse(message["id"], GATE_FAILED.format(problem or type(problem).__name__))

    # --- from the editor ---

    def from_editor(self, message: Message) -> None:
        if not self.editor.take_answer(message):
            self.guard(self.pass_to_agent, message, self.editor)

    def pass_to_agent(self, message: Message) -> None:
        method = message.get("method")
        if method in {*OPENINGS, "initialize"} and "id" in message:
            self.openings[message["id"]] = message
            self.agent.send(self.sessions.add_server(message) if method in OPENINGS else message)
        elif method == "session/prompt":
            run_apart(self.guard, self.send_prompt, message, self.editor)
        elif method in SETTINGS and not self.sessions.may_set(message):
            self.editor.refuse(message.get("id"), NOT_SET)
        else:
            if method == "session/close":
                self.sessions.end(message)
            self.agent.send(message)

    def send_prompt(self, message: Message) -> None:
        """Put the mandate, and what was refused since the last prompt, before what the person says."""
        params = message["params"]
        session = self.sessions.find(params)
        blocks = [{"type": "text", "text": text} for text in session.take_texts()]
        self.agent.send({**message, "params": {**params, "prompt": [*blocks, *params.get("prompt", ())]}})

    # --- from the agent ---

    def from_agent(self, message: Message) -> None:
        if not self.agent.take_answer(message):
            self.guard(self.pass_to_editor, message, self.agent)

    def pass_to_editor(self, message: Message) -> None:
        method = message.get("method")
        if method is None and message.get("id") in self.openings:
            opening = self.openings.pop(message["id"])
            run_apart(self.guard, self.open_session, message, self.editor, opening)
        elif method == PERMISSION:
            run_apart(self.guard, self.answer_permission, message, self.agent)
        elif method in GATED:
            run_apart(self.guard, self.answer_file_request, message, self.agent)
        elif is_unknown_file_request(method):
            if "id" in message:
                self.agent.refuse(message["id"], NOT_KNOWN.format(str(method)[:MAX_METHOD]))
        elif method == "session/update" and self.sessions.note_update(message, self.agent):
            return
        else:
            if method == "terminal/release":
                self.sessions.record_terminal(message)
            self.editor.send(message)

    def open_session(self, message: Message, opening: Message) -> None:
        """Know the agent, or a session that it has opened; pin the mode before anything happens in it."""
        result = message.get("result") or {}
        if opening["method"] == "initialize":
            self.sessions.note_agent(result)
        elif "error" not in message:
            message = {**message, "result": self.sessions.open(opening, result, self.agent)}
        self.editor.send(message)

    def answer_permission(self, message: Message) -> None:
        params = message["params"]
        session, tool_call = self.sessions.find(params), params["toolCall"]
        options = [option for option in params.get("options") or () if option.get("kind") != "allow_always"]
        calls = read_permission_request(session.complete_call(tool_call), self.sessions.agent_name)
        asking = {**params, "options": options}
        verdict, answer = self.decide(session, calls, asking, str(tool_call.get("toolCallId")))
        if verdict.decision != "allow":
            session.note_refusal(verdict.text)
            self.tell_editor(params, verdict.text)
            answer = select_option(options, REJECT)
        elif answer is None:
            answer = select_option(options, ALLOW)
        self.agent.answer(message["id"], answer)

    def decide(
        self, session: AcpSession, calls: list[Any], asking: Message, call_id: str
    ) -> tuple[Verdict, Any]:
        """Return the verdict on all calls of a question, and the editor's answer where it gave one."""
        editor: Question | None = None
        for call in calls:
            verdict = session.gate.check(call[0], call[1], call_id)
            if verdict.decision == "ask":
                editor = editor or self.editor.request(PERMISSION, explain(asking, verdict.text))
                person = PersonsDecision(session.gate, editor.answer, asking["options"], self.reviewer)
                verdict = person.settle(call, call_id, verdict)
            if verdict.decision != "allow":
                self.withdraw(editor)
                return verdict, None
            session.note_allowed(call, call_id, verdict)
        if editor is None:
            answer = self.editor.request(PERMISSION, asking).answer.result()
            return Verdict("allow"), answer if selects_one(answer, asking["options"]) else CANCELLED
        self.withdraw(editor)
        return Verdict("allow"), None

    def answer_file_request(self, message: Message) -> None:
        """Gate a file or a terminal of the editor; the person is asked there, too, where the gate asks."""
        method, params = message["method"], message["params"]
        session, call = self.sessions.find(params), read_file_request(method, params)
        call_id = session.find_call_id(call) or f"acp-{message['id']}"
        verdict = session.gate.check(call[0], call[1], call_id)
        if verdict.decision == "ask":
            title = f"{call[0]} {params.get('path') or params.get('command')}"
            tool_call = {"toolCallId": call_id, "title": title}
            asking = {"sessionId": params["sessionId"], "toolCall": tool_call, "options": OWN_OPTIONS}
            editor = self.editor.request(PERMISSION, explain(asking, verdict.text))
            person = PersonsDecision(session.gate, editor.answer, OWN_OPTIONS, self.reviewer)
            verdict = person.settle(call, call_id, verdict)
            self.withdraw(editor)
        if verdict.decision != "allow":
            self.agent.refuse(message["id"], verdict.text)
            return
        result = self.editor.request(method, params).answer.result()
        session.note_result(method, params, result, verdict, call_id)
        self.agent.answer(message["id"], result)

    def withdraw(self, question: Question | None) -> None:
        """Take back a question that somebody else has decided."""
        if question is not None and not question.answer.done():
            number = {"requestId": question.number}
            self.editor.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": number})

    def tell_editor(self, params: Message, text: str) -> None:
        """Show the person why a call was refused: the agent is told no more than that it was."""
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        update = {"toolCallId": params["toolCall"].get("toolCallId"), "status": "failed", "content": content}
        update = {"sessionUpdate": "tool_call_update", **update}
        told = {"sessionId": params["sessionId"], "update": update}
        self.editor.send({"jsonrpc": "2.0", "method": "session/update", "params": told})


def explain(asking: Message, text: str) -> Message:
    """Return a question whose title says why the gate asks a person."""
    title = f"{asking['toolCall'].get('title') or 'Tool'} ({text})"
    return {**asking, "toolCall": {**asking["toolCall"], "title": title}}


def pump(stream: Any, take: Callable[[Message], None]) -> None:
    """Take each line of a stream until it ends. What is no JSON object is not passed on."""
    for line in stream:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict):
            take(message)
        elif line.strip():
            sys.stderr.write(f"icp acp: left out a line that is no message: {line[:200]!r}\n")
