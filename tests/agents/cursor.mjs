// An agent of Cursor without its editor: `node cursor.mjs PROMPT MODULES`, in the folder that it works in.
import { createRequire } from "node:module"

const [prompt, modules] = process.argv.slice(2)
const { Agent } = createRequire(`${modules}/`)("@cursor/sdk")
const cwd = process.cwd()
const local = { cwd, settingSources: ["project", "user"], enableAgentRetries: false }
const agent = await Agent.create({ apiKey: "fake", model: { id: "stub-model" }, local })
const run = await agent.send(prompt)
console.log(JSON.stringify(await run.wait()))
process.exit(0)
