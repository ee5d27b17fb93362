"""What to put into a repository so that an agent asks the gate. One row in `AGENTS` for each agent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controlplane.client.clients import CLIENTS
from controlplane.client.configuring import configured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Snippets = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Connection:
    """`says` is what happens when the gate does not answer. `snippets` takes the product's address."""

    name: str
    says: str
    snippets: Callable[[str], Snippets]


def snippets(agent: str, url: str) -> Snippets:
    """The configuration of the agent, then a call that the gate must deny."""
    return [*AGENTS[agent].snippets(url), _canary(url)]


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
            "export ICP_TOKEN=icp_…\n"
            f"curl -fsS {url}/client/icp.py -o icp.py\n"
            f"python3 icp.py connect {agent} --url {url}\n"
            "python3 icp.py doctor"
        )
        return [
            {"title": "Shell, in the repository", "text": commands},
            {
                "title": f"What this adds: {CLIENTS[agent].file}",
                "text": configured(agent, "", connected=True),
            },
        ]

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


AGENTS: Mapping[str, Connection] = {
    "claude-code": Connection("Claude Code", "fails closed", _by_client("claude-code")),
    "codex": Connection("Codex", "trust its hooks once", _by_client("codex")),
    "gemini-cli": Connection("Gemini CLI", "in a trusted folder", _by_client("gemini-cli")),
    "qwen-code": Connection("Qwen Code", "in a trusted folder", _by_client("qwen-code")),
    "copilot": Connection("Copilot CLI", "in a trusted folder", _by_client("copilot")),
    "cursor": Connection("Cursor", "fails closed", _by_client("cursor")),
    "opencode": Connection("OpenCode", "by a plugin", _by_client("opencode")),
    "kilo": Connection("Kilo Code", "by a plugin", _by_client("kilo")),
    "cline": Connection("Cline", "by a plugin, not tried yet", _by_client("cline")),
    "windsurf": Connection("Windsurf", "not tried yet", _by_client("windsurf")),
    "roo": Connection("Roo Code", "no hook: only in your own build", _roo_code),
    "rest": Connection("Plain REST", "as you write it", _plain),
}
