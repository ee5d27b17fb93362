// An agent in Node.js for each library, with a model that follows a script: argv are the library, the SDK's file and
// the folder of the packages. What the model was answered is printed as JSON.
import { mkdir, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"

const [library, sdk, packages] = process.argv.slice(2)
const { ControlPlane } = await import(pathToFileURL(sdk))
const require = createRequire(join(packages, "package.json"))
const load = (name) => import(pathToFileURL(require.resolve(name)))
const { ICP_URL, ICP_TOKEN, ROOT } = process.env
const icp = new ControlPlane(ICP_URL, ICP_TOKEN, { agent: library, root: ROOT, tools: { save: "write_file" } })

const save = async ({ path, content }) => {
  await mkdir(dirname(join(ROOT, path)), { recursive: true })
  await writeFile(join(ROOT, path), content)
  return "saved"
}
const calls = ["src/auth/a.ts", "docs/a.md"].map((path, at) => ({ id: `${library}-${at}`, input: { path, content: "x\n" } }))
const properties = { path: { type: "string" }, content: { type: "string" } }
const schema = { type: "object", properties, required: ["path", "content"], additionalProperties: false }
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 }, totalTokens: 2 }

const agents = {
  async plain() {
    const gated = icp.gate("save", save)
    return [await gated(calls[0].input), await gated(calls[1].input)]
  },
  async "ai-sdk"() {
    const { generateText, jsonSchema, stepCountIs, tool } = await load("ai")
    const { MockLanguageModelV3 } = await load("ai/test")
    let at = 0
    const model = new MockLanguageModelV3({
      doGenerate: async () => {
        const call = calls[at++]
        const said = { type: "text", text: "Done." }
        const asked = call && { type: "tool-call", toolCallId: call.id, toolName: "save", input: JSON.stringify(call.input) }
        const reason = call ? "tool-calls" : "stop"
        return { content: [asked ?? said], finishReason: { unified: reason, raw: reason }, usage, warnings: [] }
      },
    })
    const tools = { save: tool({ inputSchema: jsonSchema(schema), execute: icp.gate("save", save) }) }
    const { steps } = await generateText({ model, tools, prompt: "Go.", stopWhen: stepCountIs(5) })
    return steps.flatMap((step) => step.toolResults.map((result) => result.output))
  },
  async "openai-agents"() {
    const { Agent, Runner, setTracingDisabled, tool, Usage } = await load("@openai/agents")
    setTracingDisabled(true)
    let at = 0
    const told = []
    const model = {
      async getResponse({ input }) {
        if (Array.isArray(input)) told.splice(0, 9, ...input.filter((one) => one.type === "function_call_result"))
        const call = calls[at++]
        const said = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Done." }] }
        const asked = call && { type: "function_call", callId: call.id, name: "save", arguments: JSON.stringify(call.input), status: "completed" }
        return { output: [asked ?? said], usage: new Usage() }
      },
    }
    const gated = tool({ name: "save", description: "Saves", parameters: schema, strict: true, execute: icp.gate("save", save) })
    const agent = new Agent({ name: "coder", model, tools: [gated] })
    await new Runner().run(agent, "Go.")
    return told.map((one) => one.output.text ?? one.output)
  },
  async mastra() {
    const { createTool } = await load("@mastra/core/tools")
    const { z } = await load("zod")
    const inputSchema = z.object({ path: z.string(), content: z.string() })
    const gated = icp.gate("save", save)
    const execute = ({ context }) => gated(context)
    const tool = createTool({ id: "save", description: "Saves", inputSchema, execute })
    return [await tool.execute({ context: calls[0].input }), await tool.execute({ context: calls[1].input })]
  },
}

const told = await icp.run(async () => {
  await icp.selectIntent("INT-001")
  return agents[library]()
})
console.log(JSON.stringify(told))
process.exit(0)
