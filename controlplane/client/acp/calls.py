"""Read what an agent asks its editor for as calls that the gate knows: files, commands, addresses."""

from __future__ import annotations

import re
import shlex

from controlplane.client.call_context import list_named_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    GateCall = tuple[str, dict[str, Any]]

GATED = ("fs/read_text_file", "fs/write_text_file", "terminal/create")
OF_TERMINALS = ("terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release")
READING_KINDS = frozenset({"read", "search"})
# Of the kinds of the protocol, those that a call of an MCP server has. All others act by themselves.
MCP_KINDS = frozenset({None, "other"})
OWN_TOOLS = frozenset(
    {
        "select_active_intent", "list_active_intents", "get_intent_context", "gate_status", "propose_intent",
        "request_scope_expansion", "complete_intent", "record_lesson",
    }
)  # fmt: skip
# The names that clients give a tool of the server that the proxy adds: Codex and Claude, Qwen, OpenCode and
# Kilo, Copilot, Gemini's title. Without the server's name it is the tool as the server itself lists it.
OWN_NAME = re.compile(
    rf"(?:mcp__icp__|mcp_icp_|icp_|icp__|icp-|icp/)?({'|'.join(sorted(OWN_TOOLS))})( \(icp MCP Server\))?"
)
COMMAND_FIELDS = ("command", "cmd")
# Gemini shows what a tool is given as JSON; of a long one the first names only.
COMMAND_SHOWN = re.compile(r'"(?:command|cmd)":|^\[Payload omitted.*(?:\bcommand\b|\bcmd\b|, \.\.\.)')
DIRECTORY_FIELDS = ("cwd", "workdir", "directory", "dir_path")
# Agents whose question about a command has it as its title, with the directory in a text beside it.
COMMAND_IN_TITLE = frozenset({"gemini-cli", "gemini"})
DIRECTORY_TEXT = re.compile(
    r"\[(?:in|current working directory) ([\w./ -]+)\](?: \(.*\))?(?: \[background\])?"
)
MAX_TITLE = 150


def is_unknown_file_request(method: Any) -> bool:
    """Whether a method is about files or terminals and no gate stands before it, in whatever spelling."""
    if method is None or method in (*GATED, *OF_TERMINALS):
        return False
    import unicodedata

    plain = "".join(filter(str.isprintable, unicodedata.normalize("NFKC", str(method)))).casefold()
    return re.findall(r"[a-z0-9]+", plain)[:1] in (["fs"], ["terminal"])


def read_file_request(method: str, params: dict[str, Any]) -> GateCall:
    """Return the call of `fs/*` and `terminal/create`."""
    if method == "fs/read_text_file":
        return "read_file", {"path": params.get("path")}
    if method == "fs/write_text_file":
        return "write_file", {"path": params.get("path"), "content": params.get("content")}
    words = [params.get("command"), *(params.get("args") or ())]
    is_line = len(words) == 1  # agents put a whole command line there, too
    command = words[0] if is_line or not all(isinstance(word, str) for word in words) else shlex.join(words)
    variables = {entry.get("name"): entry.get("value") for entry in params.get("env") or ()}
    settings = {"cwd": params.get("cwd"), "env": variables or None}
    return "shell", {"command": command, **{name: value for name, value in settings.items() if value}}


def read_permission_request(tool_call: dict[str, Any], agent: str) -> list[GateCall]:
    """Return the calls that a question for permission amounts to; none for what touches nothing."""
    kind, title = tool_call.get("kind"), str(tool_call.get("title") or "")
    raw = tool_call.get("rawInput")
    raw = raw if isinstance(raw, dict) else {}
    if is_thought(tool_call) or is_own_tool(tool_call, raw):
        return []
    if kind == "fetch":
        return [("web_fetch", raw or {"url": title})]
    calls = read_command(tool_call, raw, agent) if kind == "execute" else read_file_calls(tool_call, raw)
    return calls or [(name_unknown_tool(title or str(kind)), raw)]


def is_thought(tool_call: dict[str, Any]) -> bool:
    """Whether a question names nothing that could be touched: an agent may call anything a thought."""
    return tool_call.get("kind") == "think" and not tool_call.get("rawInput") and shows_only_text(tool_call)


def shows_only_text(tool_call: dict[str, Any]) -> bool:
    """Whether a question has neither places nor differences nor terminals."""
    parts = tool_call.get("content") or ()
    is_text = all(isinstance(part, dict) and part.get("type") == "content" for part in parts)
    return is_text and not tool_call.get("locations")


def name_unknown_tool(title: str) -> str:
    """Return a name that no table of tools holds, so that a person decides."""
    return "acp: " + "".join(sign if sign.isprintable() else " " for sign in title)[:MAX_TITLE]


def is_own_tool(tool_call: dict[str, Any], raw: dict[str, Any]) -> bool:
    """Whether a question is about a tool of our own MCP server, which asks the control plane itself.

    Its title must be the tool's name and nothing else: for some agents the title is the command. Where the
    call has a command, a tool of another server may have made it its title.
    """
    if tool_call.get("kind") not in MCP_KINDS or not OWN_NAME.fullmatch(str(tool_call.get("title"))):
        return False
    if not shows_only_text(tool_call) or (tool_call.get("rawInput") and not raw):
        return False
    has_command = bool(set(COMMAND_FIELDS) & set(raw)) or any(
        map(COMMAND_SHOWN.search, list_texts(tool_call))
    )
    return not has_command


def list_texts(tool_call: dict[str, Any]) -> list[str]:
    texts = [part.get("content") for part in tool_call.get("content") or () if isinstance(part, dict)]
    return [str(text.get("text")) for text in texts if isinstance(text, dict)]


def read_command(tool_call: dict[str, Any], raw: dict[str, Any], agent: str) -> list[GateCall]:
    """Return the call of a command; nothing where the agent does not show the whole of it."""
    for name in COMMAND_FIELDS:
        if isinstance(raw.get(name), str | list):
            settings = {key: raw[key] for key in (*DIRECTORY_FIELDS, "env") if raw.get(key)}
            return [("shell", {"command": raw[name], **settings})]
    found = list_texts(tool_call)
    place = DIRECTORY_TEXT.fullmatch(found[0]) if len(found) == 1 else None
    if agent not in COMMAND_IN_TITLE or place is None:
        return []
    return [("shell", {"command": str(tool_call.get("title") or ""), "cwd": place[1]})]


def read_file_calls(tool_call: dict[str, Any], raw: dict[str, Any]) -> list[GateCall]:
    """Return one call for each file that a question names: in its places, its differences, its input."""
    kind, contents = tool_call.get("kind"), list_new_texts(tool_call)
    paths = dict.fromkeys([*contents, *list_places(tool_call), *list_named_paths(raw)])
    if kind in READING_KINDS:
        return [("read_file", {"path": path}) for path in paths] or [("search_file_content", raw)]
    if kind == "delete":
        return [("delete_file", {"path": path}) for path in paths]
    if kind not in {"edit", "move"}:
        return []
    return [
        ("write_file", {"path": path, **({"content": contents[path]} if path in contents else {})})
        for path in paths
    ]


def list_places(tool_call: dict[str, Any]) -> list[str]:
    places = [place.get("path") for place in tool_call.get("locations") or () if isinstance(place, dict)]
    return [path for path in places if isinstance(path, str)]


def list_new_texts(tool_call: dict[str, Any]) -> dict[str, Any]:
    """Return the new text of each file of the differences in a call."""
    parts = [part for part in tool_call.get("content") or () if isinstance(part, dict)]
    return {
        part["path"]: part.get("newText") for part in parts if part.get("type") == "diff" and part.get("path")
    }
