"""Configuration snippets per agent: what to put into a repository so that the agent asks the gate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controlplane.client.agents import CLIENTS
from controlplane.client.config.hook_entries import configure_hooks
from controlplane.client.config.mcp_servers import SERVERS, configure_server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Snippets = list[dict[str, str]]

NO_TOKEN = "icp_…"  # noqa: S105  a placeholder
ONLY_YOUR_REQUESTS = "Every call that you do not send to the gate."


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """How to connect one agent.

    `says` is how denials are enforced, `stays_open` what is not; `snippets` takes the server's URL.
    """

    name: str
    says: str
    stays_open: str
    snippets: Callable[[str], Snippets]


def build_snippets(agent: str, url: str, token: str = NO_TOKEN) -> Snippets:
    """Return the agent's configuration, then a call that the gate must deny. All read ICP_TOKEN."""
    export = {"title": "Shell: the token, role agent", "text": f"export ICP_TOKEN={token}"}
    return [export, *AGENTS[agent].snippets(url), _canary_snippet(url)]


def to_curl(url: str, path: str, body: Mapping[str, Any]) -> str:
    """Return a curl command that reads ICP_TOKEN. `body` must not contain single quotes."""
    return (
        f"curl -sS {url}/api/v1/{path} \\\n"
        '  -H "Authorization: Bearer $ICP_TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{json.dumps(body)}'"
    )


def _canary_snippet(url: str) -> dict[str, str]:
    """Return a call that reads outside the workspace: denied without an intent, and not approvable."""
    call = {
        "session_id": "canary",
        "tool": "read_file",
        "input": {"path": "../canary"},
        "root": "/srv/repository",
        "cwd": "/srv/repository",
    }
    return {"title": 'Canary: the answer must say "decision": "deny"', "text": to_curl(url, "gate", call)}


def _client_snippets(agent: str) -> Callable[[str], Snippets]:
    """Snippets for an agent that the hook client connects, with the files that it writes."""

    def build(url: str) -> Snippets:
        commands = (
            f"curl -fsS {url}/client/icp.py -o icp.py\n"
            f"python3 icp.py connect {agent} --url {url}\n"
            "python3 icp.py doctor"
        )
        files = {CLIENTS[agent].file: configure_hooks(agent, "", connected=True)}
        name = SERVERS[agent].files.split()[0]
        files[name] = configure_server(agent, name, files.get(name, ""), connected=True)
        added = [{"title": f"What this adds: {name}", "text": text} for name, text in files.items()]
        return [{"title": "Shell, in the repository", "text": commands}, *added]

    return build


def _roo_code_snippets(url: str) -> Snippets:
    """Snippets for Roo Code, which has no hooks: a build of it has to call the gate."""
    write = {
        "session_id": "task-1",
        "tool": "write_to_file",
        "input": {"path": "src/a.ts", "content": "export {}\n", "intent_id": "INT-001"},
        "root": "/srv/repository",
        "cwd": "/srv/repository",
        "agent": {"name": "roo"},
        "wait_seconds": 50,
    }
    return [
        {
            "title": "In your own build, before each tool (Roo Code itself has no hook)",
            "text": to_curl(url, "gate", write),
        },
        {
            "title": "The section for its system prompt",
            "text": f'curl -sS {url}/api/v1/sessions/task-1/prompt -H "Authorization: Bearer $ICP_TOKEN"',
        },
    ]


def _rest_snippets(url: str) -> Snippets:
    opening = {"session_id": "run-1", "agent": {"name": "my-agent"}, "root": "/srv/repository"}
    write = {
        "session_id": "run-1",
        "tool": "write_to_file",
        "input": {"path": "src/auth/login.ts", "content": "export {}\n"},
        "cwd": "/srv/repository",
        "wait_seconds": 50,
    }
    trace = {"path": "src/auth/login.ts", "content": "export {}\n"}
    return [
        {"title": "Open a session", "text": to_curl(url, "sessions", opening)},
        {
            "title": "Take an intent",
            "text": to_curl(url, "sessions/run-1/select-intent", {"intent_id": "INT-001"}),
        },
        {"title": "Before each tool; run it only on allow", "text": to_curl(url, "gate", write)},
        {"title": "After each change", "text": to_curl(url, "sessions/run-1/traces", trace)},
    ]


def _sdk_snippets(url: str) -> Snippets:
    code = (
        "import os\n"
        "from icp_sdk import ControlPlane\n\n"
        f'icp = ControlPlane("{url}", os.environ["ICP_TOKEN"], agent="my-agent")\n'
        'icp.select_intent("INT-001")\n\n\n'
        '@icp.tool(records="path")  # asks before each call, reports the change after it\n'
        "def write_file(path: str, content: str) -> str:\n"
        "    ...\n"
    )
    return [
        {"title": "Shell: one file, nothing else needed", "text": f"curl -fsSO {url}/client/icp_sdk.py"},
        {"title": "Your agent", "text": code},
    ]


def _hook_client_setup(agent: str, name: str, says: str) -> AgentSetup:
    """Describe an agent that the hook client connects."""
    return AgentSetup(name, says, CLIENTS[agent].fails_open, _client_snippets(agent))


AGENTS: Mapping[str, AgentSetup] = {
    "claude-code": _hook_client_setup("claude-code", "Claude Code", "fails closed"),
    "codex": _hook_client_setup("codex", "Codex", "trust its hooks once"),
    "gemini-cli": _hook_client_setup("gemini-cli", "Gemini CLI", "in a trusted folder"),
    "qwen-code": _hook_client_setup("qwen-code", "Qwen Code", "in a trusted folder"),
    "copilot": _hook_client_setup("copilot", "Copilot CLI", "in a trusted folder"),
    "cursor": _hook_client_setup("cursor", "Cursor", "fails closed"),
    "opencode": _hook_client_setup("opencode", "OpenCode", "by a plugin"),
    "kilo": _hook_client_setup("kilo", "Kilo Code", "by a plugin"),
    "cline": _hook_client_setup("cline", "Cline", "by a plugin"),
    "windsurf": _hook_client_setup("windsurf", "Windsurf", "not tried yet"),
    "roo": AgentSetup("Roo Code", "no hook: only in your own build", ONLY_YOUR_REQUESTS, _roo_code_snippets),
    "sdk": AgentSetup("Your own, in Python", "fails closed", ONLY_YOUR_REQUESTS, _sdk_snippets),
    "rest": AgentSetup("Plain REST", "as you write it", ONLY_YOUR_REQUESTS, _rest_snippets),
}
