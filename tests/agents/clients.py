"""One row for each real agent: how it is started against the model server, and how it spells a call.

Of the gate nothing stands here: that is what `icp connect` configures. What does stand here is what a person has
of their own: the model's address, the trust in the folder, the permissions.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.dialects import Call
from tests.client.machine import Machine

FOLDER = Path(os.environ.get("ICP_AGENTS_DIR") or Path(__file__).parents[2] / ".agents")
MODULES = FOLDER / "node_modules"
RUN_SECONDS = 360
DRIVER = Path(__file__).with_name("cursor.mjs")  # an agent of the SDK has no command of its own
OF_OPENCODE = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
SWITCHES = {
    "opencode": OF_OPENCODE,
    "kilo": (*OF_OPENCODE, "SESSION_INGEST", "PRESENCE", "CODEBASE_INDEXING"),
}
CODEX = """model = "gpt-5.5"
model_provider = "stub"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."{root}"]
trust_level = "trusted"
"""


@dataclass(frozen=True, slots=True)
class Agent:
    """`start`: (machine, the model's address) → words after the program's name, and its environment.

    `write`, `shell`, `delegate` make the model's calls; `mcp` is how it names a tool of the server «icp».
    """

    binary: str
    start: Callable[[Machine, str], tuple[list[str], dict[str, str]]]
    write: Callable[[str, str], Call]
    shell: Callable[[str], Call]
    delegate: Callable[[str], Call]
    mcp: str
    last: Call | None = None  # how a sub-agent must end its work
    apart: bool = False  # nothing tells whose sub-agent one is: it is a session of its own, without an intent


def claude(machine: Machine, url: str) -> tuple[list[str], dict[str, str]]:
    words = [
        "--output-format",
        "json",
        "--permission-mode",
        "acceptEdits",
        "--allowedTools",
        "Bash,Agent,mcp__icp",
    ]
    return words, {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "fake",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }


def codex(machine: Machine, url: str) -> tuple[list[str], dict[str, str]]:
    file = machine.home / ".codex" / "config.toml"
    if not file.exists():
        file.parent.mkdir()
        file.write_text(CODEX.format(url=url, root=machine.repository))
    return ["--json", "--sandbox", "danger-full-access", "--enable", "multi_agent_v2"], {"STUB_KEY": "fake"}


def gemini(machine: Machine, url: str) -> tuple[list[str], dict[str, str]]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    put(machine.home / ".gemini" / "settings.json", settings)
    put(machine.home / ".gemini" / "trustedFolders.json", {str(machine.repository): "TRUST_FOLDER"})
    env = {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": url}
    return ["--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-o", "json"], env


def qwen(machine: Machine, url: str) -> tuple[list[str], dict[str, str]]:
    settings = {
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"folderTrust": {"enabled": True}},
    }
    put(machine.home / ".qwen" / "settings.json", settings)
    put(machine.home / ".qwen" / "trustedFolders.json", {str(machine.repository): "TRUST_FOLDER"})
    env = {"OPENAI_API_KEY": "fake", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "stub-model"}
    return ["--approval-mode", "yolo", "--auth-type", "openai", "-o", "json"], env


def opencode(machine: Machine, url: str, name: str = "opencode") -> tuple[list[str], dict[str, str]]:
    """Kilo is made of it, and differs by its name."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stub",
        "options": {"baseURL": f"{url}/v1", "apiKey": "fake"},
        "models": {"stub-model": {"name": "stub", "tool_call": True}},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "stub/stub-model",
        "small_model": "stub/stub-model",
        "provider": {"stub": provider},
        "permission": "allow",
    }
    put(machine.home / ".config" / name / f"{name}.json", settings)
    env = {f"{name.upper()}_DISABLE_{switch}": "1" for switch in SWITCHES[name]}
    return ["--format", "json"], env | {"npm_config_offline": "true"}  # else a minute goes to what types need


def kilo(machine: Machine, url: str) -> tuple[list[str], dict[str, str]]:
    return opencode(machine, url, "kilo")


def copilot(machine: Machine, url: str) -> tuple[list[str], dict[str, str]]:
    """The model id makes it offer `create` and `edit`; with one of GPT it offers `apply_patch`."""
    put(machine.home / ".copilot" / "config.json", {"trustedFolders": [str(machine.repository)]})
    words = ["--no-color", "--log-level", "error", "--allow-all-tools", "--trust-folder"]
    return words, {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "fake",
        "COPILOT_MODEL": "claude-sonnet-4.5",
    }


def cline(machine: Machine, url: str) -> tuple[list[str], dict[str, str]]:
    words = ["--json", "--auto-approve", "true", "-P", "openai", "-m", "stub-model"]
    env = {
        "CLINE_NO_AUTO_UPDATE": "1",
        "CLINE_SESSION_BACKEND_MODE": "local",  # leaves no process behind
        "CLINE_PLUGIN_IMPORT_TIMEOUT_MS": "30000",  # however busy this machine is
        "TERM": "xterm",
    }
    settings = machine.home / ".cline" / "data" / "settings"
    if not settings.exists():
        put(settings / "global-settings.json", {"telemetryOptOut": True, "autoUpdateEnabled": False})
        login = ["auth", "-p", "openai", "-k", "fake", "-m", "stub-model", "-b", f"{url}/v1"]
        machine.run(str(MODULES / ".bin" / "cline"), *login, PATH=path(), **env)
    return words, env


def cursor(machine: Machine, url: str) -> tuple[list[str], dict[str, str]]:
    return [str(MODULES)], {"CURSOR_BACKEND_URL": url, "NODE_NO_WARNINGS": "1"}


def put(file: Path, settings: dict[str, object]) -> None:
    """The settings where there are none yet."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_text(json.dumps(settings))


def tool(agent: str, name: str, **given: Any) -> Call:
    """A call of the MCP server «icp», as the agent's model spells it."""
    more = {"namespace": "mcp__icp"} if agent == "codex" else {}
    return Call(AGENTS[agent].mcp.format(name), given, more)


def patch(path: str, content: str) -> Call:
    added = "".join(f"+{line}\n" for line in content.splitlines())
    return Call("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n")


def of_opencode(binary: str, start: Callable[[Machine, str], tuple[list[str], dict[str, str]]]) -> Agent:
    return Agent(
        binary, start,
        lambda path, content: Call("write", {"filePath": path, "content": content}),
        lambda command: Call("bash", {"command": command, "description": "Go on"}),
        lambda prompt: Call("task", {"description": "Help", "prompt": prompt, "subagent_type": "general"}),
        "icp_{}",
    )  # fmt: skip


AGENTS = {
    "claude-code": Agent(
        "claude -p", claude,
        lambda path, content: Call("Write", {"file_path": path, "content": content}),
        lambda command: Call("Bash", {"command": command, "description": "Go on"}),
        lambda prompt: Call("Agent", {"description": "Help", "prompt": prompt, "subagent_type": "general-purpose",
                                      "run_in_background": False}),
        "mcp__icp__{}",
    ),
    "codex": Agent(
        "codex exec", codex, patch,
        lambda command: Call("exec_command", {"cmd": command}),
        lambda prompt: Call("spawn_agent", {"message": prompt, "task_name": "help", "fork_turns": "none"},
                            {"namespace": "collaboration"}),
        "{}",
    ),
    "gemini-cli": Agent(
        "gemini -p", gemini,
        lambda path, content: Call("write_file", {"file_path": path, "content": content}),
        lambda command: Call("run_shell_command", {"command": command, "description": "Go on"}),
        lambda prompt: Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt}),
        "mcp_icp_{}", Call("complete_task", {"result": {"response": "Done."}}),
    ),
    "qwen-code": Agent(
        "qwen -p", qwen,
        lambda path, content: Call("write_file", {"file_path": path, "content": content}),
        lambda command: Call("run_shell_command", {"command": command, "is_background": False}),
        lambda prompt: Call("agent", {"description": "Help", "prompt": prompt, "subagent_type": "general-purpose",
                                      "run_in_background": False}),
        "mcp__icp__{}",
    ),
    "opencode": of_opencode("opencode run", opencode),
    "kilo": of_opencode("kilo run", kilo),
    "copilot": Agent(
        "copilot -p", copilot,
        lambda path, content: Call("create", {"path": path, "file_text": content}),
        lambda command: Call("bash", {"command": command, "description": "Go on", "mode": "sync"}),
        lambda prompt: Call("task", {"description": "Help", "prompt": prompt, "agent_type": "general-purpose",
                                     "name": "help", "mode": "sync"}),
        "icp-{}",
    ),
    "cline": Agent(
        "cline", cline,
        lambda path, content: Call("editor", {"path": path, "new_text": content}),
        lambda command: Call("run_commands", {"commands": [command]}),
        lambda prompt: Call("spawn_agent", {"systemPrompt": "You help.", "task": prompt}),
        "icp__{}",
    ),
    "cursor": Agent(
        f"node {shlex.quote(str(DRIVER))}", cursor,
        lambda path, content: Call("write", {"path": path, "content": content}),
        lambda command: Call("shell", {"command": command}),
        lambda prompt: Call("task", {"prompt": prompt}),
        "{}", apart=True,
    ),
}  # fmt: skip


def run(
    agent: str, machine: Machine, url: str, prompt: str, *more: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """The whole client, without a terminal, in a clean environment; ended with its children when it takes too long."""
    row = AGENTS[agent]
    words, own = row.start(machine, url)
    name, *before = shlex.split(row.binary)
    command = [str(MODULES / ".bin" / name), *before, prompt, *words, *more]
    env |= own | {"HOME": str(machine.home), "PATH": path(), "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        command, cwd=machine.place, env=env, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, output)


def node() -> str:
    """The Node.js that came with the clients, which reads TypeScript; else this machine's."""
    shipped = [str(file) for file in MODULES.glob("node-linux-*/bin/node")]
    return shipped[0] if shipped else "node"


def path() -> str:
    """The Node.js that came with the clients, else this machine's; git and a shell."""
    shipped = [str(folder) for folder in MODULES.glob("node-linux-*/bin")]
    found = [str(Path(tool).parent) for tool in (shutil.which("node"), shutil.which("git")) if tool]
    return os.pathsep.join([*shipped, str(MODULES / ".bin"), *found, "/usr/bin", "/bin"])


def missing() -> str:
    """What to install before the tests, "" where nothing is missing."""
    lacking = [
        row.binary.split()[0]
        for row in AGENTS.values()
        if not (MODULES / ".bin" / row.binary.split()[0]).exists()
    ]
    return (
        f"{', '.join(lacking)} not found below {MODULES}: `make agents` installs them (it needs npm)."
        if lacking
        else ""
    )
