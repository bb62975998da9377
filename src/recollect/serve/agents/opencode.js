// OpenCode loads this file when it starts. It tells recollect what happens and hands on what recollect remembers.
import { spawn } from "node:child_process"

const program = PROGRAM
const events = EVENTS
const patience_ms = 1500

// One event to recollect, its answer's text back. Whatever goes wrong there, OpenCode goes on as if we were not here.
function ask(event, said) {
  if (!events.includes(event)) return Promise.resolve("")
  return new Promise((resolve) => {
    let answer = ""
    const child = spawn(program[0], [...program.slice(1), "hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), patience_ms)
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => (answer += chunk))
    child.on("close", () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(answer).context ?? "")
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(said))
  })
}

export const Recollect = async ({ directory }) => {
  const started = new Set()
  const children = new Set()
  const reminders = new Map()
  const about = (session, more = {}) => ({ session, folder: directory, ...more })

  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      // A sub-agent's session has a parent; what it needs to know, its parent was told.
      if (event.type === "session.created" && info?.parentID) children.add(info.id)
      if (["session.idle", "session.compacted"].includes(event.type)) ask(event.type, about(sessionID))
    },

    "chat.message": async (input, output) => {
      const session = input.sessionID
      if (children.has(session)) return
      const first = !started.has(session)
      started.add(session)
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      const told = await Promise.all([
        first ? ask("session.created", about(session)) : "",
        ask("chat.message", about(session, { prompt })),
      ])
      const text = told.filter(Boolean).join("\n")
      if (!text) return
      const id = `prt_${Date.now().toString(16)}${Math.random().toString(36).slice(2, 14)}`
      output.parts.push({ id, sessionID: session, messageID: output.message.id, type: "text", text, synthetic: true })
    },

    // A plugin cannot speak before a tool runs; what it has to say then goes with the tool's answer.
    "tool.execute.before": async (input, output) => {
      if (input.tool !== "bash" || children.has(input.sessionID)) return
      const command = output.args?.command
      reminders.set(input.callID, await ask("tool.execute.before", about(input.sessionID, { tool: "bash", command })))
    },

    "tool.execute.after": async (input, output) => {
      if (input.tool !== "bash" || children.has(input.sessionID)) return
      const before = reminders.get(input.callID)
      reminders.delete(input.callID)
      const said = about(input.sessionID, { tool: "bash", command: input.args?.command, error: output.output })
      const after = output.metadata?.exit ? await ask("tool.execute.after", said) : ""
      for (const text of [before, after].filter(Boolean)) output.output += `\n${text}`
    },
  }
}
