/**
 * SDK for agents that you write yourself in Node.js 22 or later. One file, no dependencies, no build step.
 *
 *     import { ControlPlane } from "./icp_sdk.ts"
 *
 *     const icp = new ControlPlane("https://icp.example.org", token, { agent: "my-agent", root: process.cwd() })
 *     await icp.run(async () => {                       // opens the session, and ends it however this ends
 *       await icp.selectIntent("INT-001")
 *       const writeFile = icp.gate("write_file", async ({ path, content }) => …)   // asks before, reports after
 *     })
 *
 * Every failure (no response, an invalid response, a revoked token) denies the call: a tool runs only after an
 * `allow`.
 */
import { createHash, randomUUID } from "node:crypto"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"

type Json = Record<string, any>
type Settings = {
  agent: string
  root?: string
  sessionId?: string
  model?: string
  /** Names by which the gate knows tools of yours: `{ run_command: "shell" }`. */
  tools?: Record<string, string>
}
type CallOptions = { callId?: string; /** Seconds that a person may take to decide. */ wait?: number }

const MAX_WAIT = 50 // seconds to hold one call; a longer wait sends it again
const MARGIN_SECONDS = 15 // for network and server in addition

/** The gate's decision. `text` tells the model why, and what to do next. */
export type Decision = {
  verdict: "allow" | "deny" | "ask"
  allowed: boolean
  text: string
  errorType?: string
  reason?: string
  approval?: Json
  callId: string
  /** The files that an allowed call changes. */
  targets: string[]
}

/** The control plane rejected a request; `status` is the HTTP status, 0 without a response. */
export class Refused extends Error {
  status: number
  answer: Json
  constructor(status: number, text: string, answer: Json) {
    super(text)
    this.status = status
    this.answer = answer
  }
}

/** One session of one agent. */
export class ControlPlane {
  readonly url: string
  readonly root: string
  readonly sessionId: string
  #token: string
  #agent: Json
  #tools: Map<string, string>

  constructor(url: string, token: string, settings: Settings) {
    if (!/^https?:\/\//.test(url)) throw new TypeError("The URL must begin with https:// or http://.")
    this.url = url.replace(/\/+$/, "")
    this.root = settings.root ?? process.cwd()
    this.sessionId = settings.sessionId ?? randomUUID()
    this.#token = token
    this.#agent = { name: settings.agent, ...(settings.model ? { model: settings.model } : {}) }
    this.#tools = new Map(Object.entries(settings.tools ?? {}))
  }

  // --- the session ---

  /** Open the session, or find it. Its `prompt` is the section for the system prompt. */
  async open(): Promise<Json> {
    return this.#ask("sessions", { session_id: this.sessionId, agent: this.#agent, root: this.root })
  }

  async prompt(): Promise<string> {
    return String((await this.open()).prompt)
  }

  /** Select an intent and return its context. Throw Refused. */
  async selectIntent(intentId: string): Promise<Json> {
    await this.open()
    const answer = await this.#session("select-intent", { intent_id: intentId })
    if (answer.success !== true) throw new Refused(200, String(answer.error), answer)
    return answer
  }

  /** Ask once for patterns to write. A person decides on the approval that is returned. */
  async requestScope(patterns: string[], reason: string): Promise<Json> {
    return this.#session("request-scope", { patterns, reason })
  }

  async completeIntent(notes: string, evidence?: Json[]): Promise<Json> {
    const given = evidence ? { acceptance_evidence: evidence } : {}
    return this.#session("complete-intent", { verification_notes: notes, ...given })
  }

  /** End the session and release its intent. */
  async end(): Promise<Json> {
    return this.#session("end", {})
  }

  /** Open the session, run the work, end the session. A failure to end only warns. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.open()
    try {
      return await work()
    } finally {
      await this.end().catch((error) => console.warn(`The session was not ended: ${error.message}`))
    }
  }

  // --- the gate ---

  /** Ask the gate before a tool runs. Never throws: a failure is a denial. */
  async check(tool: string, input: Json, { callId = "", wait = 0 }: CallOptions = {}): Promise<Decision> {
    const id = callId || randomUUID()
    const ends = Date.now() + wait * 1000
    for (;;) {
      const left = Math.max(0, (ends - Date.now()) / 1000)
      const decision = await this.#decide(tool, input, id, Math.min(MAX_WAIT, left))
      if (decision.verdict !== "ask" || left <= MAX_WAIT) return decision
    }
  }

  /**
   * Put a function under the gate. It is called with the tool's input; what it is given besides stays. A denial is
   * returned as its text, which the model reads as the tool's result.
   */
  gate<I extends Json, R>(
    tool: string,
    execute: (input: I, ...more: any[]) => R | Promise<R>,
    options: { wait?: number } = {},
  ): (input: I, ...more: any[]) => Promise<R | string> {
    return async (input, ...more) => {
      const decision = await this.check(tool, input, { ...options, callId: more[0]?.toolCallId })
      if (!decision.allowed) return decision.text
      const result = await execute(input, ...more)
      await this.recordTargets(decision)
      return result
    }
  }

  /** Hooks for the Claude Agent SDK: its `options.hooks`. */
  claudeHooks({ wait = 50 }: { wait?: number } = {}): Json {
    const decisions = new Map<string, Decision>()
    const before = async (call: Json, callId?: string) => {
      const decision = await this.check(call.tool_name, call.tool_input, { callId, wait })
      if (decision.allowed) {
        decisions.set(decision.callId, decision)
        return {}
      }
      const denial = { permissionDecision: "deny", permissionDecisionReason: decision.text }
      return { hookSpecificOutput: { hookEventName: "PreToolUse", ...denial } }
    }
    const after = async (_: Json, callId?: string) => {
      const decision = decisions.get(callId ?? "")
      decisions.delete(callId ?? "")
      if (decision) await this.recordTargets(decision)
      return {}
    }
    const timeout = wait + MARGIN_SECONDS + 5
    return { PreToolUse: [{ hooks: [before], timeout, onFailure: "block" }], PostToolUse: [{ hooks: [after] }] }
  }

  // --- the ledger ---

  /** Report a changed file with the hash of what it holds now. Throw Refused. */
  async record(path: string, more: Json = {}): Promise<Json> {
    const full = join(this.root, path)
    const text = await readFile(full).catch((error) => (error.code === "ENOENT" ? null : Promise.reject(error)))
    const digest = text === null ? "DELETED" : `sha256:${createHash("sha256").update(text).digest("hex")}`
    return this.#session("traces", { path, content_hash: digest, ...more })
  }

  /** Report each file that an allowed call has changed, after it ran. A failure only warns. */
  async recordTargets(decision: Decision): Promise<void> {
    for (const path of decision.targets) {
      const found = await stat(join(this.root, path)).catch(() => null)
      if (found?.isDirectory()) continue
      const call = { tool_use_id: decision.callId }
      await this.record(path, call).catch((e) => console.warn(`The change of ${path} was not reported: ${e.message}`))
    }
  }

  // --- requests ---

  async #decide(tool: string, input: Json, callId: string, wait: number): Promise<Decision> {
    const call = { session_id: this.sessionId, agent: this.#agent, root: this.root, tool_use_id: callId }
    let answer: Json
    try {
      const known = this.#tools.get(tool) ?? tool
      answer = await this.#ask("gate", { ...call, tool: known, input, wait_seconds: wait }, wait)
    } catch (error: any) {
      answer = error instanceof Refused && error.answer.decision === "deny" ? error.answer : unasked(error.message)
    }
    const verdict = answer.decision
    if (!["allow", "deny", "ask"].includes(verdict)) answer = unasked("its answer is none")
    const changes = verdict === "allow" && answer.classification === "destructive"
    return {
      verdict: answer.decision,
      allowed: answer.decision === "allow",
      text: String(answer.error ?? ""),
      errorType: answer.error_type,
      reason: answer.reason,
      approval: answer.approval,
      callId,
      targets: changes ? (answer.targets ?? []).filter(Boolean) : [],
    }
  }

  async #session(action: string, body: Json): Promise<Json> {
    return this.#ask(`sessions/${encodeURIComponent(this.sessionId)}/${action}`, body)
  }

  async #ask(path: string, body: Json, wait = 0): Promise<Json> {
    const headers = { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json" }
    const signal = AbortSignal.timeout((wait + MARGIN_SECONDS) * 1000)
    const request = { method: "POST", headers, body: JSON.stringify(body), signal, redirect: "manual" } as const
    let status = 0
    let answer: any
    try {
      const response = await fetch(`${this.url}/api/v1/${path}`, request) // a redirect would take the token along
      status = response.status
      answer = await response.json()
    } catch (error: any) {
      throw new Refused(status, status ? `it answered ${status}` : String(error.cause?.message ?? error.message), {})
    }
    const isObject = typeof answer === "object" && answer !== null && !Array.isArray(answer)
    if (!isObject) throw new Refused(status, "it did not answer with an object", {})
    if (status < 200 || status > 299) throw new Refused(status, String(answer.error ?? `it answered ${status}`), answer)
    return answer
  }
}

function unasked(problem: string): Json {
  const error = `The gate did not answer, so the tool must not run: ${problem}. Try again later, or tell a person.`
  return { decision: "deny", error, error_type: "HOOK_BLOCKED", reason: "unreachable" }
}
