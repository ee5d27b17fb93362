"""OpenCode and its fork Kilo: a plugin sends what its hooks get (checked with 1.18.33 and 7.7.7).

The body is `{"input", "output"}` of the hook, or the bus event itself. A plugin adds `directory`, and
`rootSessionID` for a sub-agent, which has a session of its own: `session.created` names its parent.
`{"throw": text}` asks the plugin to throw an error of that text, which is the only way to refuse.
"""

from __future__ import annotations

from sessions.adapters.hook_call import (
    Body,
    Client,
    Event,
    FileContent,
    HookAnswer,
    HookCall,
    Payload,
    event_table,
    file_content,
    first,
    mapping,
)

EVENTS = event_table(
    pre_tool="tool.execute.before",
    post_tool="tool.execute.after",
    prompt="chat.message",
    session_start="session.created",
    session_end="session.deleted",
    compact="session.compacted",
    other="session.idle session.updated session.error shell.env command.execute.before permission.asked"
    " file.edited",
)


def parse(payload: Payload, event: Event) -> HookCall:
    """Parse the payload. A new session with a parent is a sub-agent of it, not a session of its own."""
    hook_input, hook_output = mapping(payload.get("input")), mapping(payload.get("output"))
    properties = mapping(payload.get("properties"))
    info = mapping(properties.get("info"))
    if event is Event.SESSION_START and info.get("parentID"):
        event = Event.SUBAGENT
    return HookCall(
        event=event,
        session_id=first(payload, "rootSessionID")
        or first(info, "parentID")
        or first({**properties, **hook_input}, "sessionID"),
        tool=hook_input.get("tool"),
        input=first(hook_output, "args") if event is Event.PRE_TOOL else hook_input.get("args"),
        call_id=hook_input.get("callID"),
        cwd=first({**info, **payload}, "directory"),
        version=info.get("version"),
        model=mapping(mapping(hook_output.get("message")).get("model")).get("modelID"),
        contents=_read_contents(hook_input) if event is Event.POST_TOOL else (),
        exit_status=mapping(hook_output.get("metadata")).get("exit"),
    )


def _read_contents(hook_input: Payload) -> tuple[FileContent, ...]:
    args = mapping(hook_input.get("args"))
    return file_content(args.get("filePath"), args.get("content"))


def render(name: str, answer: HookAnswer) -> Body:
    if answer.denied:
        return {"throw": answer.text}
    takes_context = EVENTS[name] is Event.PROMPT
    return {"context": answer.context} if answer.context and takes_context else {}


CLIENT = Client(EVENTS, parse, render, max_wait_seconds=55.0)  # it waits for ever
