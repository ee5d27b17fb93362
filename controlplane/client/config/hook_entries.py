"""Add, find and remove our hooks in a client's configuration, leaving everything else unchanged."""

from __future__ import annotations

import json
import re

from controlplane.client.agents import CLIENTS
from controlplane.client.commands.hook import USER_SCOPE
from controlplane.client.config.json_edit import read_json, remove_values, set_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = ".config/icp/hook"  # in every entry of ours, and in no other
ALLOW_COMMENTS = frozenset({"gemini-cli", "qwen-code", "opencode", "kilo"})  # in their configuration files
VERSIONED = frozenset({"copilot", "cursor"})
NOT_ASKED = "The gate was not asked, so the tool must not run."
GRACE_SECONDS = 10  # by which the client's limit exceeds the hook's

# The plugins run the hook and do what it answers; without an answer the tool does not run.
PLUGIN_ASK = """// Made by `icp.py connect`, taken out by `icp.py disconnect`: runs ~/.config/icp/hook
import { execFile } from "node:child_process"

const HOOK = `${process.env.HOME}/.config/icp/hook`
const ask = (event, payload, cwd) => new Promise((resolve, reject) => {
  const fail = (why) => reject(new Error(`The gate was not asked (${why}), so the tool must not run.`))
  const limits = { cwd, timeout: %(milliseconds)d, maxBuffer: 1 << 24 }
  const run = execFile(HOOK, ["%(agent)s", event%(scope)s], limits, (error, text) => {
    if (error) return fail(error.message)
    try { resolve(JSON.parse(text)) } catch (bad) { fail(bad.message) }
  })
  run.stdin.on("error", () => {})
  run.stdin.end(JSON.stringify(payload))
})
"""
OPENCODE = """
const TOLD = ["session.created", "session.deleted"]
const READING = /^(?:read|grep|glob|list|webfetch|websearch|todowrite|todoread|task|skill|question|icp_.*)$/
const quiet = () => {}
export const Icp = async ({ directory }) => {
  const parents = new Map()
  const first = (id) => parents.has(id) ? first(parents.get(id)) : id
  const send = (event, input, output) =>
    ask(event, { input, output, directory, rootSessionID: first(input.sessionID) }, directory)
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await send("tool.execute.before", input, output)
      if (answer.throw) throw new Error(answer.throw)
      if (answer.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      if (!READING.test(input.tool)) await send("tool.execute.after", input, output).then(quiet, quiet)
    },
    "chat.message": async (input, output) => {
      const { context } = await send("chat.message", input, output).catch(() => ({}))
      const { id, sessionID } = output.message
      const part = { id: `prt_${id.slice(4)}icp`, messageID: id, sessionID, type: "text", synthetic: true }
      if (context) output.parts.push({ ...part, text: context })
    },
    event: async ({ event }) => {
      const info = event.properties?.info
      if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      if (TOLD.includes(event.type)) await ask(event.type, event, directory).then(quiet, quiet)
    },
  }
}
"""
CLINE = """
const quiet = () => {}
const run = { rootSessionId: `cline-${process.pid}-${Date.now()}` }  // where the client names no session
const about = { sessionContext: run, workspaceRoots: [process.cwd()] }
const send = (event, call) => ask(event, { ...call, ...about }, about.workspaceRoots[0])
export default {
  name: "icp-gate",
  manifest: { capabilities: ["hooks"] },
  setup(_, { session, workspaceInfo, client } = {}) { // all agents of a run are told the same session
    if (session?.sessionId) about.sessionContext = { rootSessionId: session.sessionId }
    if (workspaceInfo?.rootPath) about.workspaceRoots = [workspaceInfo.rootPath]
    if (client?.version) about.clineVersion = client.version
  },
  hooks: {
    async beforeRun({ snapshot }) {
      const { appendContext } = snapshot?.parentAgentId ? {} : await send("beforeRun", {}).catch(() => ({}))
      if (appendContext) return { appendContext }
    },
    async beforeTool({ toolCall, input }) { // what it throws would end the run, and the model not read it
      const call = { toolCall: { ...toolCall, input: input ?? toolCall.input } }
      const answer = await send("beforeTool", call).catch(({ message }) => ({ skip: true, reason: message }))
      if (answer.skip) return answer
    },
    async afterTool({ toolCall, input, result }) {
      const failed = result?.isError === true || result?.output?.success === false
      const call = { toolCall: { ...toolCall, input: input ?? toolCall.input, output: { success: !failed } } }
      await send("afterTool", call).then(quiet, quiet)
    },
  },
}
"""
PLUGINS = {"opencode": OPENCODE, "kilo": OPENCODE, "cline": CLINE}


class ForeignConfigError(Exception):
    """A configuration file that cannot be changed safely; the message says why."""


def hook_file(agent: str, scope: str) -> str:
    """Return the name of the client's file with hooks: below the repository, or from the home as `~/…`."""
    return str(CLIENTS[agent].user_file if scope == USER_SCOPE else CLIENTS[agent].file)


def configure_hooks(agent: str, text: str, *, connected: bool, scope: str = "") -> str:
    """Return the file's text with our hooks, or without them; "" if nothing remains."""
    name = hook_file(agent, scope)
    if CLIENTS[agent].entry is None:
        if text and MARK not in text:
            raise ForeignConfigError(f"{name} is another plugin: move it first.")
        return render_plugin(agent, scope) if connected else ""
    document = read_document(agent, name, text)
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(entries, list) for entries in hooks.values()):
        raise ForeignConfigError(f"{name}: hooks must map events to lists. Correct the file first.")
    result = remove_values(text, is_removable_hook) if text else ""
    if connected:
        for event, entry in build_entries(agent, scope).items():
            result = set_value(result, ["hooks", event], entry, members=True)
        if agent in VERSIONED and "version" not in document:
            result = set_value(result, ["version"], 1)
    return prefer_unchanged(text, result)


def read_document(agent: str, name: str, text: str) -> dict[str, Any]:
    """Parse as the client does: with comments only where it allows them. Raise ForeignConfigError."""
    try:
        document = read_json(text or "{}").value
        if agent not in ALLOW_COMMENTS:
            json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        kind = "JSON" if agent in ALLOW_COMMENTS else "plain JSON"
        raise ForeignConfigError(f"{name} is not {kind} ({error}). Correct the file first.") from error
    if not isinstance(document, dict):
        raise ForeignConfigError(f"{name} does not contain an object. Correct the file first.")
    return document


def prefer_unchanged(text: str, new: str) -> str:
    """Return the new text; the old one if both mean the same, "" if only a version remains."""
    remaining = read_json(new or "{}").value
    if remaining == read_json(text or "{}").value:
        return text
    return "" if set(remaining) <= {"version"} and not re.search(r"//|/\*", new) else new


def build_entries(agent: str, scope: str = "") -> dict[str, Any]:
    """Return one entry per event."""
    client = CLIENTS[agent]
    result = {}
    for event in f"{client.gates} {client.others}".split():
        gate = event in client.gates.split()
        command = " ".join([f'"$HOME/{MARK}"', agent, event, *([scope] if scope else [])])
        if gate and agent != "cursor":  # Cursor appends a here-document, and has `failClosed`
            command = guard_command(agent, command)
        seconds = int(client.seconds) + GRACE_SECONDS
        assert client.entry is not None  # a plugin has no entries
        result[event] = client.entry(command, seconds, gate, client.matchers.get(event, ""))
    return result


def guard_command(agent: str, command: str) -> str:
    """Return a shell command that refuses with words however the hook ends, also by a signal or in silence.

    Codex, Gemini CLI and Qwen Code run the tool on an exit status 2 without a word on stderr. To the model of
    Copilot CLI only JSON with the status 0 is a reason.
    """
    if CLIENTS[agent].status == 0:
        denial = json.dumps(CLIENTS[agent].refuse("", NOT_ASKED))
        answer = f'o=$({command}) && [ -n "$o" ] && printf \'%s\\n\' "$o"'
        return f"trap '' INT HUP PIPE; {answer} || printf '%s\\n' '{denial}'"
    words = f"printf '%s\\n' \"${{e:-{NOT_ASKED}}}\" >&2"
    return f"trap '' INT HUP PIPE; exec 3>&1; e=$({command} 2>&1 >&3) || {{ {words}; exit 2; }}"


def is_removable_hook(before: Any, after: Any) -> bool:
    """Return whether a value is our hook, or contained nothing else; a group without hooks has no use."""
    if is_our_hook(before):
        return True
    lost = isinstance(before, dict) and "hooks" in before and "hooks" not in after
    return bool(after != before and (not after or lost))


def is_our_hook(value: Any) -> bool:
    """Return whether a value is an object with our command among its values."""
    return isinstance(value, dict) and any(isinstance(text, str) and MARK in text for text in value.values())


def render_plugin(agent: str, scope: str) -> str:
    values = {
        "agent": agent,
        "milliseconds": int(CLIENTS[agent].seconds * 1000) + 300,
        "scope": f', "{scope}"' if scope else "",
    }
    return PLUGIN_ASK % values + PLUGINS[agent]
