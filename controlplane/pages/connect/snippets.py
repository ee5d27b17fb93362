"""What to put into a repository so that an agent asks the gate. One row in `AGENTS` for each agent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controlplane.client.agents import CLIENTS
from controlplane.client.config.hook_entries import configured
from controlplane.client.config.mcp_servers import SERVERS, with_server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Snippets = list[dict[str, str]]

NO_TOKEN = "icp_…"  # noqa: S105 - what stands where a token belongs
ONLY_WHAT_ASKS = "Whatever you do not send to the gate."


@dataclass(frozen=True, slots=True)
class Connection:
    """`says` is a word on how it is enforced, `stays_open` what is not. `snippets` takes our address."""

    name: str
    says: str
    stays_open: str
    snippets: Callable[[str], Snippets]


def snippets(agent: str, url: str, token: str = NO_TOKEN) -> Snippets:
    """The configuration of the agent, then a call that the gate must deny. All of them read ICP_TOKEN."""
    export = {"title": "Shell: the token, role agent", "text": f"export ICP_TOKEN={token}"}
    return [export, *AGENTS[agent].snippets(url), _canary(url)]


def curl(url: str, path: str, body: Mapping[str, Any]) -> str:
    """A command that works with ICP_TOKEN in the environment. The bodies hold no single quote."""
    return (
        f"curl -sS {url}/api/v1/{path} \\\n"
        '  -H "Authorization: Bearer $ICP_TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{json.dumps(body)}'"
    )


def _canary(url: str) -> dict[str, str]:
    """Reading outside the workspace is denied before any intent is asked for, and no human can allow it."""
    call = {
        "session_id": "canary",
        "tool": "read_file",
        "input": {"path": "../canary"},
        "root": "/srv/repository",
        "cwd": "/srv/repository",
    }
    return {"title": 'Canary: the answer must say "decision": "deny"', "text": curl(url, "gate", call)}


def _by_client(agent: str) -> Callable[[str], Snippets]:
    """The hook client does it; beside it, what it puts where."""

    def made(url: str) -> Snippets:
        commands = (
            f"curl -fsS {url}/client/icp.py -o icp.py\n"
            f"python3 icp.py connect {agent} --url {url}\n"
            "python3 icp.py doctor"
        )
        files = {CLIENTS[agent].file: configured(agent, "", connected=True)}
        name = SERVERS[agent].files.split()[0]
        files[name] = with_server(agent, name, files.get(name, ""), connected=True)
        added = [{"title": f"What this adds: {name}", "text": text} for name, text in files.items()]
        return [{"title": "Shell, in the repository", "text": commands}, *added]

    return made


def _roo_code(url: str) -> Snippets:
    """Roo Code runs no hook before its tools: what calls the gate is the build that runs them."""
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
            "text": curl(url, "gate", write),
        },
        {
            "title": "The section for its system prompt",
            "text": f'curl -sS {url}/api/v1/sessions/task-1/prompt -H "Authorization: Bearer $ICP_TOKEN"',
        },
    ]


def _plain(url: str) -> Snippets:
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
        {"title": "Open a session", "text": curl(url, "sessions", opening)},
        {
            "title": "Take an intent",
            "text": curl(url, "sessions/run-1/select-intent", {"intent_id": "INT-001"}),
        },
        {"title": "Before each tool; run it only on allow", "text": curl(url, "gate", write)},
        {"title": "After each change", "text": curl(url, "sessions/run-1/traces", trace)},
    ]


def _sdk(url: str) -> Snippets:
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


def _client(agent: str, name: str, says: str) -> Connection:
    """An agent that the hook client connects; it knows what stays open."""
    return Connection(name, says, CLIENTS[agent].fails_open, _by_client(agent))


AGENTS: Mapping[str, Connection] = {
    "claude-code": _client("claude-code", "Claude Code", "fails closed"),
    "codex": _client("codex", "Codex", "trust its hooks once"),
    "gemini-cli": _client("gemini-cli", "Gemini CLI", "in a trusted folder"),
    "qwen-code": _client("qwen-code", "Qwen Code", "in a trusted folder"),
    "copilot": _client("copilot", "Copilot CLI", "in a trusted folder"),
    "cursor": _client("cursor", "Cursor", "fails closed"),
    "opencode": _client("opencode", "OpenCode", "by a plugin"),
    "kilo": _client("kilo", "Kilo Code", "by a plugin"),
    "cline": _client("cline", "Cline", "by a plugin"),
    "windsurf": _client("windsurf", "Windsurf", "not tried yet"),
    "roo": Connection("Roo Code", "no hook: only in your own build", ONLY_WHAT_ASKS, _roo_code),
    "sdk": Connection("Your own, in Python", "fails closed", ONLY_WHAT_ASKS, _sdk),
    "rest": Connection("Plain REST", "as you write it", ONLY_WHAT_ASKS, _plain),
}
