"""OpenCode and its fork Kilo: a plugin sends what its hooks get (checked with 1.18.33 and 7.7.7).

The body is `{"input", "output"}` of the hook, or the bus event itself. A plugin adds `directory`, and
`rootSessionID` for a sub-agent, which has a session of its own: `session.created` names its parent.
`{"throw": text}` asks the plugin to throw an error of that text, which is the only way to refuse.
"""

from __future__ import annotations

from sessions.adapters.hook_call import (
    Answer,
    Body,
    Client,
    Event,
    FileText,
    HookCall,
    Payload,
    events,
    first,
    mapping,
    whole_text,
)

EVENTS = events(
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
    """A child session that is created is its parent's sub-agent, not a session of ours."""
    told, given = mapping(payload.get("input")), mapping(payload.get("output"))
    news = mapping(payload.get("properties"))
    info = mapping(news.get("info"))
    if event is Event.SESSION_START and info.get("parentID"):
        event = Event.SUBAGENT
    return HookCall(
        event=event,
        session_id=first(payload, "rootSessionID")
        or first(info, "parentID")
        or first({**news, **told}, "sessionID"),
        tool=told.get("tool"),
        input=first(given, "args") if event is Event.PRE_TOOL else told.get("args"),
        call_id=told.get("callID"),
        cwd=first({**info, **payload}, "directory"),
        version=info.get("version"),
        model=mapping(mapping(given.get("message")).get("model")).get("modelID"),
        texts=_texts(told) if event is Event.POST_TOOL else (),
    )


def _texts(told: Payload) -> tuple[FileText, ...]:
    args = mapping(told.get("args"))
    return whole_text(args.get("filePath"), args.get("content"))


def render(name: str, answer: Answer) -> Body:
    if answer.refused:
        return {"throw": answer.text}
    speaking = EVENTS[name] is Event.PROMPT
    return {"context": answer.context} if answer.context and speaking else {}


CLIENT = Client(EVENTS, parse, render, wait_most=55.0)  # it waits for ever
