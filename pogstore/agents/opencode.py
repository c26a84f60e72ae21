"""OpenCode: what our plugin says, and the plugin itself. Pure.

OpenCode has no commands as hooks; a plugin is told what happens and says it to us as the others do. It tells one thing
after the other and waits, so that what a tool does comes behind what was seen before it. Sub-agents have sessions of
their own, which name their parent (case PC-136).
"""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from pogstore.agents import command_line, heard, hearing
from pogstore.agents.dialect import OPENCODE_EDITS, OPENCODE_SHELLS
from pogstore.agents.heard import Heard
from pogstore.agents.hearing import Words
from pogstore.agents.wiring import TIMEOUT, Installed, Spell, Wiring
from pogstore.digest import hexdigest
from pogstore.errors import BadInput
from pogstore.work.spooled_record import Record

AGENT = "opencode"
FILE = "plugins/pogstore.js"
PLUGIN = "plugin"
"""The one thing that is installed, where others have events."""
CLASSES = {
    **dict.fromkeys(OPENCODE_EDITS, "edit"),
    **dict.fromkeys(OPENCODE_SHELLS, "shell"),
    **dict.fromkeys(("read", "grep", "glob", "list", "lsp", "webfetch", "websearch", "codesearch"), "read"),
}
WORDS = Words(
    AGENT,
    phases={
        "tool.execute.before": heard.BEGIN,
        "tool.execute.after": heard.END,
        "tool.failed": heard.FAILED,
        "chat.message": heard.PROMPT,
        "session.created": heard.SESSION_START,
        "session.idle": heard.TURN_END,
        "session.deleted": heard.SESSION_END,
    },
    classes=CLASSES,
    session=("sessionID",),
    agent_id=(),
    call_id=("callID",),
    tool=("tool",),
    given=("args",),
    answer=("result",),
    transcript=(),
    parent=("parentID",),
)
_HEAD = "// Made by 'git pog agent add opencode', which takes it away again unless it was changed: "
_MADE = re.compile(rf"{re.escape(_HEAD)}([0-9a-f]{{16}})\n")
_LINE = re.compile(r'^const LINE = (".*")$', re.MULTILINE)
_BODY = """\
// It tells pogstore what OpenCode does, where 'git pog init' was run, and keeps a tool from running that is refused.
import { spawn } from "node:child_process"

const LINE = {line}
const PATIENCE = {patience}

export const Pogstore = async ({ directory }) => {
  const parents = new Map()
  const failed = new Set()
  let last = Promise.resolve("")

  const call = (text) =>
    new Promise((resolve) => {
      let answer = ""
      const child = spawn("sh", ["-c", LINE], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE)
      const done = () => {
        clearTimeout(timer)
        resolve(answer)
      }
      child.stdout.on("data", (part) => (answer += part))
      child.on("error", done)
      child.on("close", done)
      child.stdin.on("error", () => {})
      child.stdin.end(text)
    })

  // one after the other, in the order in which it happens; whatever goes wrong here is not OpenCode's
  const tell = (event, said) => {
    const told = { event, directory, parentID: parents.get(said.sessionID), ...said }
    last = last.then(() => call(JSON.stringify(told))).catch(() => "")
    return last
  }

  const refusal = (answer) => {
    try {
      return JSON.parse(answer).refused
    } catch {
      return undefined
    }
  }

  const seen = (info) => {
    if (info.parentID) parents.set(info.id, info.parentID)
    return { sessionID: info.id, title: info.title }
  }

  return {
    event: async ({ event }) => {
      const { info, part, sessionID, error } = event.properties ?? {}
      if (event.type === "session.updated" && info) seen(info)
      if (["session.created", "session.deleted"].includes(event.type) && info) await tell(event.type, seen(info))
      if (["session.idle", "session.compacted"].includes(event.type)) await tell(event.type, { sessionID })
      if (event.type === "session.error") await tell(event.type, { sessionID, error })
      if (event.type !== "message.part.updated" || part?.type !== "tool" || part.state?.status !== "error") return
      const { callID, tool, state } = part
      if (failed.has(callID)) return
      failed.add(callID)
      await tell("tool.failed", { sessionID: part.sessionID, callID, tool, args: state.input, error: state.error })
    },
    "chat.message": async ({ sessionID, agent, model, messageID }, { parts }) => {
      const texts = (parts ?? []).filter((each) => each.type === "text" && !each.synthetic)
      const prompt = texts.map((each) => each.text).join("\\n")
      const named = model ? `${model.providerID}/${model.modelID}` : undefined
      await tell("chat.message", { sessionID, agent, model: named, messageID, prompt })
    },
    "tool.execute.before": async ({ sessionID, callID, tool }, { args }) => {
      const reason = refusal(await tell("tool.execute.before", { sessionID, callID, tool, args }))
      if (reason) throw new Error(reason)
    },
    "tool.execute.after": async ({ sessionID, callID, tool, args }, { output, metadata }) => {
      const result = { output, exit_code: metadata?.exit ?? undefined }
      await tell("tool.execute.after", { sessionID, callID, tool, args, result })
    },
  }
}
"""


def hear(record: Record) -> Heard:
    """Returns what a record says; never fails, whatever was sent."""
    found = hearing.hear(record, WORDS)
    return found._replace(is_part=found.parent_session is not None)


class PluginFile(NamedTuple):
    """A file that is ours as a whole. Its first line has the hash of the rest, so that a change of it is known."""

    agent: str

    def added(self, text: str | None, name: str, calls: Mapping[str, str], spell: Spell) -> str | None:
        """Returns our plugin, in the place of an older one of ours; one that somebody changed stays as it is."""
        if text is not None and text.strip():
            found = self.found(text, name, calls)
            if not found:
                raise BadInput(name, "it is no plugin of ours", "move it away, or add ours elsewhere with '--print'")
            return _plugin(found[0].command) if found[0].exact else text
        return _plugin(spell(self.agent))

    def removed(self, text: str | None, name: str, calls: Mapping[str, str]) -> str | None:
        """Returns nothing for our plugin as we wrote it, else the text."""
        found = self.found(text, name, calls)
        return None if found and found[0].exact else text

    def found(self, text: str | None, name: str, calls: Mapping[str, str]) -> list[Installed]:
        """Returns our plugin, if it is there."""
        match = _LINE.search(text or "")
        try:
            line = json.loads(match[1]) if match else ""
        except ValueError:
            return []
        if text is None or not command_line.is_ours(line, self.agent):
            return []
        made = _MADE.match(text)
        exact = made is not None and made[1] == _hash(text[made.end() :]) and command_line.is_exact(line, self.agent)
        return [Installed(PLUGIN, None, line, exact)]


def _plugin(line: str) -> str:
    body = _BODY.replace("{line}", json.dumps(line)).replace("{patience}", str(TIMEOUT * 1000))
    return f"{_HEAD}{_hash(body)}\n{body}"


def _hash(body: str) -> str:
    return hexdigest(body.encode())[:16]


WIRING = Wiring(
    AGENT,
    {"project": f".opencode/{FILE}", "local": f".opencode/{FILE}", "user": FILE},
    home=".config/opencode",
    variable="OPENCODE_CONFIG_DIR",
    events=(PLUGIN,),
    shape=PluginFile(AGENT),
)
