"""Our entries in a client's own configuration: put in, found and taken out, nobody else's touched."""

from __future__ import annotations

import json

from controlplane.client.clients import CLIENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = ".config/icp/hook"  # stands in every entry of ours, and in nobody else's
GRACE_SECONDS = 10  # the client's own limit is that much longer than the hook's

# Both plugins run the hook and do what it answers; no answer is a refusal.
ASK = """// Made by `icp.py connect`, taken out by `icp.py disconnect`: runs ~/.config/icp/hook
import { execFile } from "node:child_process"

const HOOK = `${process.env.HOME}/.config/icp/hook`
const ask = (event, payload, cwd) => new Promise((resolve, reject) => {
  const fail = (why) => reject(new Error(`The gate was not asked (${why}), so the tool must not run.`))
  const limits = { cwd, timeout: %(milliseconds)d, maxBuffer: 1 << 24 }
  const run = execFile(HOOK, ["%(agent)s", event], limits, (error, text) => {
    if (error) return fail(error.message)
    try { resolve(JSON.parse(text)) } catch (bad) { fail(bad.message) }
  })
  run.stdin.on("error", () => {})
  run.stdin.end(JSON.stringify(payload))
})
"""
OPENCODE = """
const TOLD = ["session.created", "session.deleted"]
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
    },
    "tool.execute.after": (input, output) => send("tool.execute.after", input, output).then(quiet, quiet),
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


class NotOursError(Exception):
    """A file that cannot be changed without harm to what is in it; the message says why."""


def configured(agent: str, text: str, *, connected: bool) -> str:
    """The file's whole text with our entries, or without them. "" for a file that holds nothing then."""
    client = CLIENTS[agent]
    if client.entry is None:
        if text and MARK not in text:
            raise NotOursError(f"{client.file} is a plugin of somebody else.")
        return plugin(agent) if connected else ""
    document = read_document(client.file, text)
    kept = without_ours(document)
    if connected:
        hooks = kept.setdefault("hooks", {})
        for event, entry in entries(agent).items():
            hooks.setdefault(event, []).append(entry)
        if "timeoutSec" in str(hooks) or agent == "cursor":
            kept.setdefault("version", 1)
    if kept == document:
        return text
    return (
        ""
        if not connected and set(kept) <= {"version"}
        else json.dumps(kept, indent=2, ensure_ascii=False) + "\n"
    )


def read_document(name: str, text: str) -> dict[str, Any]:
    try:
        document = json.loads(text or "{}")
    except ValueError as error:
        raise NotOursError(f"{name} is not plain JSON ({error}): put it right first.") from error
    hooks = document.get("hooks", {}) if isinstance(document, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(listed, list) for listed in hooks.values()):
        raise NotOursError(f"{name} does not hold hooks as this client reads them: put it right first.")
    return dict(document)


def entries(agent: str) -> dict[str, Any]:
    """One entry an event. A shell that cannot run the hook at all refuses too, and says why on stderr."""
    client = CLIENTS[agent]
    made = {}
    for event in f"{client.gates} {client.others}".split():
        gate = event in client.gates.split()
        command = f'"$HOME/{MARK}" {agent} {event}'
        if gate and agent != "cursor":  # which appends a here-document, and has `failClosed`
            command += " || exit 2"
        made[event] = client.entry(command, int(client.seconds) + GRACE_SECONDS, gate)
    return made


def without_ours(value: Any) -> Any:
    """The value without entries of ours, and without the lists and objects that held nothing else."""
    if isinstance(value, list):
        kept = [(one, without_ours(one)) for one in value if not is_ours(one)]
        return [after for before, after in kept if after == before or not is_spent(before, after)]
    if isinstance(value, dict):
        pairs = [(name, inner, without_ours(inner)) for name, inner in value.items()]
        return {name: after for name, before, after in pairs if after or after == before}
    return value


def is_spent(before: Any, after: Any) -> bool:
    """A group, which may have a matcher beside its hooks, is nothing without them."""
    return not after or (isinstance(before, dict) and "hooks" in before and "hooks" not in after)


def is_ours(value: Any) -> bool:
    """An entry of ours is an object one of whose own texts is our command."""
    return isinstance(value, dict) and any(isinstance(text, str) and MARK in text for text in value.values())


def plugin(agent: str) -> str:
    milliseconds = int(CLIENTS[agent].seconds * 1000) + 300
    return ASK % {"agent": agent, "milliseconds": milliseconds} + PLUGINS[agent]
