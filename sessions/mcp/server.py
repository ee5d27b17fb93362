"""The MCP server itself: which tools are offered, and a call from its arguments to its result."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from jsonschema import Draft202012Validator
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from controlplane.api.errors import ApiError
from controlplane.api.parsers import check_text
from controlplane.policy.calls.toolsets.icp import HOOK_TOOL
from controlplane.policy.model import HANDSHAKE_TOOL
from controlplane.shared.errors import DomainError, InvalidInputError, NotFoundError
from controlplane.shared.masking import mask_text
from sessions.mcp import hooks
from sessions.mcp.session_binding import Caller, has_intent
from sessions.mcp.threads import in_thread
from sessions.mcp.tools import TOOLS, McpCall, McpTool

log = logging.getLogger(__name__)

CALLER = "icp.caller"  # key in the ASGI scope: a Caller, or the ApiError that the hook's answer is made of
INSTRUCTIONS = (
    "Before you change anything, call select_active_intent with the id of the intent that the user's request "
    "belongs to; list_active_intents shows them. Work within its scope, and ask with request_scope_expansion."
)
FAILED = "The control plane failed on this call. It has been logged; try again, then tell the user."
MAX_PROBLEM = 300
Context = ServerRequestContext[Any]


class ControlPlaneServer(Server[Any]):
    def create_initialization_options(self, *arguments: Any, **more: Any) -> InitializationOptions:
        """As it would be, and the list of tools changes: with the handshake."""
        changes = NotificationOptions(tools_changed=True)
        return super().create_initialization_options(changes, *arguments[1:], **more)


async def list_tools(context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """Before the handshake: it, and what changes nothing that counts. `X-ICP-Tools: all` lists all."""
    caller = _caller(context)
    assert isinstance(caller, Caller)  # anything else comes as far as `call_tool` only
    show_all = caller.lists_all_tools or await in_thread(has_intent, caller)
    names = {
        name: tool
        for name, tool in TOOLS.items()
        if (show_all or not tool.needs_intent) and (caller.client is not None or not tool.needs_program)
    }
    tools = [_to_mcp_tool(name, tool.description, tool.input_schema) for name, tool in names.items()]
    tools.append(_to_mcp_tool(HOOK_TOOL, hooks.DESCRIPTION, hooks.INPUT_SCHEMA))
    return types.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="private")


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Whatever goes wrong is a result that the model can read."""
    caller, arguments = _caller(context), params.arguments or {}
    try:
        if params.name == HOOK_TOOL:
            return _hook_result(await hooks.answer_hook(caller, arguments))
        assert isinstance(caller, Caller)
        answer = await in_thread(run, caller, params.name, arguments)
    except (ApiError, DomainError) as error:
        return _result(f"{error.error_type}: {error.error}", is_error=True)
    except Exception:
        log.exception("a tool failed")
        return _result(FAILED, is_error=True)
    if params.name == HANDSHAKE_TOOL:
        await _tell_of_new_tools(context)
    return _result(answer)


def run(caller: Caller, name: str, arguments: Mapping[str, Any]) -> str:
    """What the tool says. Raise `DomainError` for whatever the model can correct."""
    tool = TOOLS.get(name)
    if tool is None:
        raise NotFoundError(f"There is no tool {name[:100]!r}. Tools: {', '.join(TOOLS)}.")
    _require_valid(tool, arguments)
    return tool.run(McpCall(caller, name, arguments))


def build_schema(name: str) -> dict[str, Any] | None:
    return hooks.INPUT_SCHEMA if name == HOOK_TOOL else getattr(TOOLS.get(name), "input_schema", None)


def _require_valid(tool: McpTool, arguments: Mapping[str, Any]) -> None:
    try:
        check_text(dict(arguments))
    except ValueError as error:
        raise InvalidInputError(f"The arguments cannot be stored: {error}.") from error
    problem = next(Draft202012Validator(tool.input_schema).iter_errors(dict(arguments)), None)
    if problem is not None:
        where = ".".join(map(str, problem.absolute_path)) or "arguments"
        raise InvalidInputError(f"{where}: {mask_text(problem.message)[-MAX_PROBLEM:]}")


async def _tell_of_new_tools(context: Context) -> None:
    """On the call's own stream. Newer clients are told that a list is stale at once (`ttl_ms`)."""
    if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        news = types.ToolListChangedNotification()
        await context.session.send_notification(news, related_request_id=context.request_id)


def _caller(context: Context) -> Caller | ApiError:
    assert context.request is not None  # HTTP is the only transport
    caller: Caller | ApiError = context.request.scope[CALLER]
    return caller


def _to_mcp_tool(name: str, description: str, schema: dict[str, Any]) -> types.Tool:
    return types.Tool(name=name, description=description, input_schema=schema)


def _hook_result(answer: dict[str, Any]) -> types.CallToolResult:
    """As text and as an object: clients read either."""
    result = _result(json.dumps(answer, ensure_ascii=False))
    return result.model_copy(update={"structured_content": answer})


def _result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


server = ControlPlaneServer(
    "icp",
    title="Intent Control Plane",
    instructions=INSTRUCTIONS,
    get_tool_input_schema=build_schema,
    on_list_tools=list_tools,
    on_call_tool=call_tool,
)
