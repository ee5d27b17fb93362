"""What stands in for the servers of Cursor, whose agents ask them for everything: the key, settings, each step.

An agent of `@cursor/sdk` opens a stream (RunSSE) and sends what it has to say by single requests (BidiAppend).
The server tells it to carry out a tool (`exec_server_message`), it asks its hooks, does so and sends the result
(`exec_client_message`). The numbers are those of its messages `agent.v1.*`, read in what the package ships.
"""

from __future__ import annotations

import queue
import struct
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.agents.dialects import Asked, Call, Reply
from tests.agents.wire import decode, encode, inside, texts

RUN, APPEND, KEY = "/RunSSE", "/BidiAppend", "/auth/exchange_user_api_key"
WAIT_SECONDS = 60
LAST = 2  # flag of a stream's last frame
RUN_REQUEST, EXEC_RESULT = 1, 2  # what a client's message may be
CONVERSATION, PROMPT = 5, (2, 1, 1, 1)  # in a request to run
CONTEXT, HOOK, SHELL, MCP, TASK, WRITE = (
    10,
    27,
    14,
    11,
    28,
    3,
)  # in what is asked of the client, and its results
HOOKED = (CONTEXT, 1, 1, 28)  # in the context: the events that have hooks
PROMPT_EVENT, ADDED = 7, (HOOK, 1, 7, 3)  # the event with its prompt, and the context that its hook adds
RESULTS = {WRITE: 1, SHELL: 1, MCP: 3, TASK: 1}  # how deep the texts lie; of a shell each event is a result
SHELL_ENDS = frozenset({3, 5, 6})  # exit, rejected, permission denied
MILLISECONDS = 60_000

Request = Callable[[str, Any, str], dict[int, Any]]
# tool → (the call's id, its input, the conversation's id) → the message that asks for it
TOOLS: dict[str, Request] = {
    "write": lambda name, given, _: {WRITE: {1: given["path"], 2: given["content"], 3: name}},
    "shell": lambda name, given, _: {SHELL: {1: given["command"], 3: MILLISECONDS, 4: name}},
    "task": lambda name, given, parent: {
        TASK: {1: name, 2: "generalPurpose", 3: "stub-model", 4: given["prompt"], 9: parent, 16: parent}
    },
}


def mcp(tool: str, name: str, given: Any) -> dict[int, Any]:
    args = [{1: key, 2: value_of(value)} for key, value in given.items()]
    return {MCP: {1: f"icp-{tool}", 2: args, 3: name, 4: "icp", 5: tool, 9: "icp"}}


def value_of(value: Any) -> dict[int, Any]:
    """As `google.protobuf.Value`: texts and lists of them."""
    return {6: {1: [value_of(one) for one in value]}} if isinstance(value, list) else {3: value}


class Runs:
    """The runs that are open, by the client's id of each: what the client has sent and nobody has read yet."""

    def __init__(self, reply: Callable[[Asked], Reply]) -> None:
        self._reply = reply
        self._sent: dict[bytes, queue.Queue[bytes]] = {}

    def takes(self, path: str, headers: Any) -> bool:
        return path == KEY or "Connect-Protocol-Version" in headers

    def answer(self, handler: BaseHTTPRequestHandler, path: str, raw: bytes) -> None:
        """Settings of the account, of teams and the like are answered by messages that are empty."""
        kind = handler.headers.get("Content-Type", "application/proto")
        if path == KEY:
            whole(handler, kind, b'{"accessToken": "fake"}')
        elif path.endswith(RUN):
            self._stream(handler, kind, self._of(inside(raw[5:], 1)))
        else:
            if path.endswith(APPEND):
                said = decode(raw)
                sent = said[4][0] if 4 in said else bytes.fromhex(said[1][0].decode())
                self._of(inside(raw, 2, 1)).put(sent)
            whole(handler, kind, b"{}" if "json" in kind else b"")

    def _of(self, run: bytes) -> queue.Queue[bytes]:
        return self._sent.setdefault(run, queue.Queue())

    def _stream(self, handler: BaseHTTPRequestHandler, kind: str, sent: queue.Queue[bytes]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for message in self._conversation(sent):
            framed(handler, encode(message))
        framed(handler, b"{}", LAST)
        handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = True

    def _conversation(self, sent: queue.Queue[bytes]) -> Iterator[dict[int, Any]]:
        """First what hooks add to the prompt, then one tool after the other, then a text and the end."""
        request = next(messages(sent, RUN_REQUEST))
        parent, said = inside(request, CONVERSATION).decode(), inside(request, *PROMPT).decode()
        yield {2: {1: 1, 15: "context", CONTEXT: b""}}
        if b"beforeSubmitPrompt" in inside(next(messages(sent, EXEC_RESULT)), *HOOKED):
            yield {2: {1: 2, 15: "prompt", HOOK: {1: {PROMPT_EVENT: {1: said, 4: parent, 5: parent}}}}}
            said += "\n" + inside(next(messages(sent, EXEC_RESULT)), *ADDED).decode()
        results: list[str] = []
        while (reply := self._reply(Asked(said, tuple(results), tuple(TOOLS)))).call:
            place = {1: len(results) + 3, 15: f"exec_{reply.id}"}
            yield {2: place | request_for(reply.call, f"call_{reply.id}", parent)}
            results.append(result_from(messages(sent, EXEC_RESULT)))
        yield {1: {1: {1: reply.text}}}
        yield {1: {14: {1: 10, 2: 10}}}


def request_for(call: Call, name: str, parent: str) -> dict[int, Any]:
    known = TOOLS.get(call.name)
    return known(name, call.input, parent) if known else mcp(call.name, name, call.input)


def messages(sent: queue.Queue[bytes], kind: int) -> Iterator[bytes]:
    """Those of this kind; signs of life and the like are passed over."""
    while True:
        yield from decode(sent.get(timeout=WAIT_SECONDS)).get(kind, [])


def result_from(sent: Iterator[bytes]) -> str:
    """The texts of a tool's result, gathered up to its last part."""
    told: list[str] = []
    for message in sent:
        for number, (result, *_) in decode(message).items():
            if number in RESULTS:
                told += texts(result, RESULTS[number])
                if number != SHELL or SHELL_ENDS & set(decode(result)):
                    return "\n".join(told)
    raise AssertionError("the stream of results ended")


def whole(handler: BaseHTTPRequestHandler, kind: str, content: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def framed(handler: BaseHTTPRequestHandler, content: bytes, flags: int = 0) -> None:
    frame = bytes([flags]) + struct.pack(">I", len(content)) + content
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
    handler.wfile.flush()
