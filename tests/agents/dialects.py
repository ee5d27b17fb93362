"""The model interfaces that coding agents speak: what a request says so far, and a reply in the same form.

A dialect is a pair of functions: `read` the request's body, `write` one reply. A reply holds a text or one
call, so that the number of results in a request tells how far its conversation is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
Event = tuple[str, Any]  # its name ("" for none) and its data
USAGE = {"input_tokens": 10, "output_tokens": 10}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; an input that is a text makes a free-form one, `more` are fields beside it."""

    name: str
    input: Any
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    text: str = ""
    call: Call | None = None
    id: str = "0"


@dataclass(frozen=True, slots=True)
class Asked:
    """`said` by the user so far, the tools' `results` in order, the `tools` on offer."""

    said: str
    results: tuple[str, ...]
    tools: tuple[str, ...]


def text_in(content: Any) -> str:
    """The text of whatever a dialect wraps it in."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_in(part) for part in content)
    if isinstance(content, dict):
        inner = next(
            (content[key] for key in ("text", "content", "output", "error") if content.get(key)), None
        )
        return json.dumps(content) if inner is None else text_in(inner)
    return "" if content is None else str(content)


def asked(said: list[Any], results: list[Any], tools: list[Any]) -> Asked:
    texts = tuple(text_in(result) for result in results)
    return Asked("\n".join(text_in(text) for text in said), texts, tuple(str(name) for name in tools))


# Anthropic Messages


def read_messages(body: Body) -> Asked:
    said, results = [], []
    for message in body.get("messages", []):
        if message["role"] != "assistant":
            content = message["content"]
            for block in [content] if isinstance(content, str) else content:
                is_result = isinstance(block, dict) and block["type"] == "tool_result"
                (results if is_result else said).append(block)
    return asked(said, results, [tool.get("name") for tool in body.get("tools") or []])


def write_messages(reply: Reply, body: Body) -> Iterator[Event]:
    block: Body = {"type": "text", "text": reply.text}
    empty, delta = block | {"text": ""}, {"type": "text_delta", "text": reply.text}
    if reply.call:
        block = {
            "type": "tool_use",
            "id": f"toolu_{reply.id}",
            "name": reply.call.name,
            "input": reply.call.input,
        }
        empty = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.call.input)}
    stop = {"stop_reason": "tool_use" if reply.call else "end_turn", "stop_sequence": None}
    message = {"id": f"msg_{reply.id}", "type": "message", "role": "assistant", "model": body["model"]}
    if not body.get("stream"):
        yield "", message | stop | {"content": [block], "usage": USAGE}
        return
    opening = message | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": USAGE}
    steps: list[tuple[str, Body]] = [
        ("message_start", {"message": opening}),
        ("content_block_start", {"index": 0, "content_block": empty}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": stop, "usage": USAGE}),
        ("message_stop", {}),
    ]
    for name, data in steps:
        yield name, {"type": name, **data}


# OpenAI Responses


def read_responses(body: Body) -> Asked:
    said, results = [], []
    for item in body.get("input", []):
        kind = item.get("type", "message")
        if kind.endswith("_output"):
            results.append(item.get("output"))
        elif kind == "agent_message" or (kind == "message" and item.get("role") != "assistant"):
            said.append(item.get("content"))
    return asked(said, results, [tool.get("name") or tool["type"] for tool in body.get("tools") or []])


def write_responses(reply: Reply, body: Body) -> Iterator[Event]:
    item: Body = {"id": f"item_{reply.id}", "status": "completed"}
    if reply.call is None:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        item |= {"type": "message", "role": "assistant", "content": [part]}
    elif isinstance(reply.call.input, str):
        item |= {"type": "custom_tool_call", "input": reply.call.input}
    else:
        item |= {"type": "function_call", "arguments": json.dumps(reply.call.input)}
    if reply.call:
        item |= {"call_id": f"call_{reply.id}", "name": reply.call.name, **reply.call.more}
    usage = USAGE | {
        "total_tokens": 20,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    head = {"id": f"resp_{reply.id}", "object": "response", "created_at": 0, "model": body["model"]}
    steps: list[tuple[str, Body]] = [
        ("response.created", {"response": head | {"status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        (
            "response.completed",
            {"response": head | {"status": "completed", "output": [item], "usage": usage}},
        ),
    ]
    for number, (name, data) in enumerate(steps):
        yield name, {"type": name, "sequence_number": number, **data}


# OpenAI Chat Completions


def read_chat(body: Body) -> Asked:
    messages = body.get("messages", [])
    said = [message.get("content") for message in messages if message["role"] == "user"]
    results = [message.get("content") for message in messages if message["role"] == "tool"]
    offers = [tool.get("function") or tool.get("custom") or {} for tool in body.get("tools") or []]
    return asked(said, results, [offer.get("name") for offer in offers])


def write_chat(reply: Reply, body: Body) -> Iterator[Event]:
    message: Body = {"role": "assistant", "content": reply.text}
    if reply.call:
        free, name = isinstance(reply.call.input, str), reply.call.name
        kind = "custom" if free else "function"
        given = {"input": reply.call.input} if free else {"arguments": json.dumps(reply.call.input)}
        call = {"index": 0, "id": f"call_{reply.id}", "type": kind, kind: {"name": name, **given}}
        message["tool_calls"] = [call]
    finish = "tool_calls" if reply.call else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    frame = {"id": f"chat_{reply.id}", "created": 0, "model": body["model"], "object": "chat.completion"}
    choice = {"index": 0, "finish_reason": finish}
    if not body.get("stream"):
        yield "", frame | {"choices": [choice | {"message": message}], "usage": usage}
        return
    chunk = frame | {"object": "chat.completion.chunk"}
    yield "", chunk | {"choices": [{"index": 0, "finish_reason": None, "delta": message}]}
    yield "", chunk | {"choices": [choice | {"delta": {}}]}
    yield "", chunk | {"choices": [], "usage": usage}
    yield "", "[DONE]"


# Gemini


def read_gemini(body: Body) -> Asked:
    said, results = [], []
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if "functionResponse" in part:
                results.append(part["functionResponse"].get("response"))
            elif content.get("role") != "model":
                said.append(part.get("text"))
    offers = [offer for tool in body.get("tools") or [] for offer in tool.get("functionDeclarations", [])]
    return asked(said, results, [offer.get("name") for offer in offers])


def write_gemini(reply: Reply, _: Body) -> Iterator[Event]:
    part: Body = {"text": reply.text}
    if reply.call:
        part = {"functionCall": {"id": f"call_{reply.id}", "name": reply.call.name, "args": reply.call.input}}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
    yield "", {"candidates": [candidate], "usageMetadata": usage, "responseId": f"resp_{reply.id}"}


Dialect = tuple[Callable[[Body], Asked], Callable[[Reply, Body], Iterator[Event]]]
# by the end of the request's path
DIALECTS: dict[str, Dialect] = {
    "/messages": (read_messages, write_messages),
    "/responses": (read_responses, write_responses),
    "/chat/completions": (read_chat, write_chat),
    ":generateContent": (read_gemini, write_gemini),
    ":streamGenerateContent": (read_gemini, write_gemini),
}
