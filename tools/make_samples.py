"""Writes the sample sessions that ship with recollect.

    python tools/make_samples.py          # rewrites src/recollect/samples
    python tools/make_samples.py OUT      # the same files, somewhere else

The sessions are invented. Each is told by a script in tools/samples: a few
header lines, then blocks that begin with `%%` and a word, such as

    %%user                  what was typed
    %%run exit=1 took=2.4   a command; after a line `%=` what it printed
    %%edit src/cart.py      the old text; after `%=` the new one
    %%reply                 the answer

What a real log holds besides (ids, times, token counts, each thing said twice)
is made here, and follows from the scripts alone: the same scripts give the
same bytes on every machine. The formats are those of docs/formats, as Claude
Code 2.1 and Codex 0.14x write them.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SCRIPTS = HERE / "samples"
SAMPLES = HERE.parent / "src" / "recollect" / "samples"
CLAUDE_ROOT = "claude"
CODEX_ROOT = "codex"
HOME = "/home/mara/code"
# Only turns that take this long are timed in a transcript.
LONG_TURN_MS = 60_000
# On 25 October 2026 the clocks of Mara's machine go back; file names are in local time.
WINTER = datetime(2026, 10, 25, 1, tzinfo=UTC)
# Made up, and put together here so that no script holds one. None has
# the shape of a provider's token.
SECRETS = {
    "db_password": "-".join(("correct", "horse", "battery", "staple", "42")),
    "queue_password": "-".join(("wrong", "pony", "charger", "paperclip", "17")),
    "smtp_password": "-".join(("sleepy", "walrus", "umbrella", "lantern", "9")),
}
BASE_INSTRUCTIONS = (
    "You are Codex, a coding agent based on GPT-5. You and the user share the same workspace."
)
AGENTS_MD = {
    "webshop": "Use uv, never pip. Run `uv run ruff check .` and `uv run pytest -q` before you "
    "commit.",
    "tidepool": "Run `just check` (clippy with -D warnings, nextest) before you commit. The MSRV "
    "is 1.75.",
    "fieldnotes": "Use pnpm 9. Run `pnpm lint && pnpm test` before you commit. No default exports.",
    "infra": "Never run `terraform apply` without a saved plan. Production applies are Tomasz's.",
}


class Block(NamedTuple):
    """One step of a script: what it is, its options, and the texts between the `%=` lines."""

    kind: str
    about: str
    options: dict[str, str]
    parts: list[str]

    @property
    def text(self) -> str:
        return self.parts[0]


class Script(NamedTuple):
    """A session as it is told: the header, and the blocks in order."""

    name: str
    header: dict[str, str]
    blocks: list[Block]


def read_script(path: Path) -> Script:
    """A script from its file."""
    text = re.sub(r"\{\{(\w+)\}\}", lambda found: SECRETS[found[1]], path.read_text("utf-8"))
    head, *rest = re.split(r"^%%", text, flags=re.MULTILINE)
    header = dict(line.split(": ", 1) for line in head.splitlines() if line.strip())
    return Script(path.stem, header, [_block(chunk) for chunk in rest])


def _block(chunk: str) -> Block:
    first, _, body = chunk.partition("\n")
    kind, _, rest = first.partition(" ")
    options = dict(re.findall(r"(\w+)=(\S+)", rest))
    about = re.sub(r"\w+=\S+", "", rest).strip()
    parts = re.split(r"^%=\n", body, flags=re.MULTILINE)
    return Block(kind.strip(), about, options, [part.strip("\n") for part in parts])


# Names, times and numbers -----------------------------------------------------


class Dice:
    """Numbers and names that look random and are the same in every run."""

    def __init__(self, seed: str) -> None:
        self.seed, self.count = seed, 0

    def digest(self) -> bytes:
        self.count += 1
        return hashlib.blake2b(f"{self.seed}:{self.count}".encode(), digest_size=32).digest()

    def between(self, low: int, high: int) -> int:
        return low + int.from_bytes(self.digest()[:8]) % (high - low + 1)

    def name(self, prefix: str, length: int) -> str:
        """An id as the APIs make them: a prefix and letters and digits."""
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
        return prefix + "".join(letters[byte % len(letters)] for byte in self.digest()[:length])

    def hex(self, length: int) -> str:
        return self.digest().hex()[:length]

    def uuid(self) -> str:
        return _uuid(int.from_bytes(self.digest()[:16]), 4)

    def dated_uuid(self, ms: int) -> str:
        """A version 7 UUID, which holds the time it was made."""
        return _uuid(ms << 80 | int.from_bytes(self.digest()[:10]), 7)


def _uuid(bits: int, version: int) -> str:
    bits = bits & ~(0xF << 76) & ~(0x3 << 62) | version << 76 | 2 << 62
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def iso(ms: int) -> str:
    """A moment as both agents write it."""
    return (
        datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{ms % 1000:03}Z"
    )


def local(ms: int) -> datetime:
    """A moment on the clock of the machine that the sessions are from."""
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return moment + timedelta(hours=1 if moment >= WINTER else 2)


def tokens_in(*texts: str) -> int:
    return sum(len(text) for text in texts) * 10 // 37 + 1


def changed_lines(old: str, new: str) -> list[str]:
    """The lines of a hunk: what both texts begin and end with is context."""
    before, after = old.split("\n"), new.split("\n")
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    kept = len(before) - tail
    lines = [" " + line for line in before[:head]] + ["-" + line for line in before[head:kept]]
    lines += ["+" + line for line in after[head : len(after) - tail]]
    return lines + [" " + line for line in before[kept:]]


class Writer:
    """What both formats have in common: a clock, ids, a growing context and the records so far."""

    def __init__(self, script: Script) -> None:
        header = script.header
        self.script, self.dice = script, Dice(script.name)
        self.ms = int(
            datetime.fromisoformat(header["start"]).replace(tzinfo=UTC).timestamp() * 1000
        )
        self.ms += self.dice.between(0, 999)
        self.start_ms = self.ms
        self.project, self.model, self.branch = header["project"], header["model"], header["branch"]
        self.cwd = f"{HOME}/{self.project}"
        self.records: list[dict[str, Any]] = []
        self.context = int(header.get("context", "0")) or self.dice.between(17_000, 21_000)
        # Of the context what the cache holds, then what was given and said since the last call.
        self.cached, self.fresh, self.said = 0, 0, 0

    def tick(self, low_ms: int, high_ms: int) -> None:
        self.ms += self.dice.between(low_ms, high_ms)

    def think_time(self, *texts: str) -> None:
        """As long as a model takes to write this."""
        self.ms += 1800 + sum(len(text) for text in texts) * 6
        self.tick(0, 2500)

    def tool_time(self, block: Block) -> float:
        """As long as a tool took, in seconds; commands that matter say it."""
        took = (
            float(block.options["took"])
            if "took" in block.options
            else self.dice.between(31, 640) / 1000
        )
        self.ms += round(took * 1000)
        return took

    def play(self, blocks: list[Block]) -> None:
        for block in blocks:
            step: Callable[[Block], None] = getattr(self, "do_" + block.kind)
            step(block)

    def do_wait(self, block: Block) -> None:
        """Nothing happens for so many minutes: `%%wait 30m`."""
        self.ms += int(block.about.removesuffix("m")) * 60_000


# Claude Code ------------------------------------------------------------------


class Claude(Writer):
    """A transcript: a chain of records, an API message split
    over lines, results as user records.
    """

    def __init__(self, script: Script, parent: Claude | None = None) -> None:
        super().__init__(script)
        self.version = script.header.get("version", "2.1.232")
        self.session: str = parent.session if parent else self.dice.uuid()
        self.agent: str | None = None
        self.tip: str | None = None
        self.prompted_ms, self.prompted_at = self.ms, 0
        self.pending: list[dict[str, Any]] = []
        self.thought = 0
        self.last_prompt = ""
        self.agents: list[Claude] = []
        self.meta: dict[str, Any] = {}

    def chain(self, kind: str, **fields: Any) -> None:
        """A record that hangs on the one before."""
        uuid = self.dice.uuid()
        record: dict[str, Any] = {"parentUuid": self.tip, "isSidechain": self.agent is not None}
        if self.agent is not None:
            record["agentId"] = self.agent
        record |= {
            "type": kind,
            **fields,
            "uuid": uuid,
            "timestamp": iso(self.ms),
            "userType": "external",
        }
        record |= {
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.branch,
        }
        self.records.append(record)
        self.tip = uuid

    def beside(self, kind: str, **fields: Any) -> None:
        """A record outside the chain: the client's own state."""
        self.records.append({"type": kind, **fields, "sessionId": self.session})

    def open(self) -> None:
        self.beside("permission-mode", permissionMode=self.script.header.get("mode", "default"))

    def close(self) -> None:
        self.beside("ai-title", aiTitle=self.script.header["title"])
        self.beside("last-prompt", lastPrompt=self.last_prompt[:200], leafUuid=self.tip)

    # What is said

    def do_user(self, block: Block) -> None:
        self.tick(45_000, 400_000)
        self.prompt(block.text)

    def prompt(self, text: str) -> None:
        self.prompted_ms, self.prompted_at = self.ms, len(self.records)
        self.last_prompt = text
        self.fresh += tokens_in(text)
        fields = {
            "promptId": self.dice.uuid(),
            "message": {"role": "user", "content": text},
            "entrypoint": "cli",
        }
        if self.agent is None:
            fields |= {
                "permissionMode": self.script.header.get("mode", "default"),
                "promptSource": "typed",
            }
        self.chain("user", **fields)

    def do_queued(self, block: Block) -> None:
        """Typed while the agent worked: it reaches the model as an attachment."""
        self.tick(4_000, 20_000)
        self.beside(
            "queue-operation", operation="enqueue", timestamp=iso(self.ms), content=block.text
        )
        self.fresh += tokens_in(block.text)
        self.last_prompt = block.text
        self.chain(
            "attachment",
            attachment={"type": "queued_command", "prompt": block.text, "commandMode": "prompt"},
        )

    def do_think(self, block: Block) -> None:
        """Reasoning; since 2.1.2xx its text is left out and only a signature stays."""
        shown = block.text if self.version < "2.1.2" else ""
        self.thought += tokens_in(block.text) * 2
        self.pending.append({"type": "thinking", "thinking": shown, "signature": "c2lnbmVk"})

    def do_say(self, block: Block) -> None:
        self.pending.append({"type": "text", "text": block.text})

    def do_reply(self, block: Block) -> None:
        self.pending.append({"type": "text", "text": block.text})
        self.answer("end_turn")
        if self.ms - self.prompted_ms > LONG_TURN_MS and self.agent is None:
            count = len(self.records) - self.prompted_at
            self.chain(
                "system",
                subtype="turn_duration",
                durationMs=self.ms - self.prompted_ms,
                messageCount=count,
            )

    def answer(self, stop: str) -> None:
        """An API message: a line for each block, the figures on
        all of them, complete on the last.
        """
        message, request = self.dice.name("msg_01", 22), self.dice.name("req_011C", 20)
        texts = [json.dumps(block) for block in self.pending]
        output = sum(tokens_in(text) for text in texts) + self.thought
        self.think_time(*texts)
        if not self.cached:
            # The client's own instructions are in the cache already, those of the project are not.
            self.cached = self.context * 2 // 3
            self.fresh += self.context - self.cached
        written, self.fresh = self.fresh + self.dice.between(12, 90), output
        for number, block in enumerate(self.pending, 1):
            last = number == len(self.pending)
            usage: dict[str, Any] = {
                "input_tokens": 2 + len(self.pending),
                "cache_creation_input_tokens": written,
                "cache_read_input_tokens": self.cached,
                "output_tokens": output if last else min(output, 6 + number),
            }
            if self.thought and last:
                usage["output_tokens_details"] = {"thinking_tokens": self.thought}
            body: dict[str, Any] = {
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": self.model,
                "content": [block],
            }
            body |= {"stop_reason": stop if last else None, "usage": usage}
            self.chain("assistant", message=body, requestId=request)
            self.tick(5, 400)
        self.cached += written
        self.context = self.cached + output
        self.pending, self.thought = [], 0

    # What tools do

    def call(
        self,
        block: Block,
        name: str,
        arguments: dict[str, Any],
        text: str,
        outcome: Any,
        error: bool = False,
    ) -> None:
        call = self.dice.name("toolu_01", 22)
        self.pending.append({"type": "tool_use", "id": call, "name": name, "input": arguments})
        self.answer("tool_use")
        self.tool_time(block)
        self.fresh += tokens_in(text)
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": text}
        if error:
            result["is_error"] = True
        message = {"role": "user", "content": [result]}
        self.chain("user", message=message, toolUseResult=outcome)

    def path(self, name: str) -> str:
        return name if name.startswith("/") else f"{self.cwd}/{name}"

    def do_run(self, block: Block) -> None:
        command, output = (*block.parts, "")[:2]
        code = block.options.get("exit", "0")
        if code == "0":
            streams = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
            self.call(
                block,
                "Bash",
                {"command": command},
                output or "(Bash completed with no output)",
                streams,
            )
        else:
            text = f"Exit code {code}\n{output}"
            self.call(block, "Bash", {"command": command}, text, f"Error: {text}", error=True)

    def do_read(self, block: Block) -> None:
        path, lines = self.path(block.about), block.text.split("\n")
        first = int(block.options.get("line", "1"))
        total = int(block.options.get("of", str(first + len(lines) - 1)))
        shown = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, first))
        file = {
            "filePath": path,
            "content": block.text,
            "numLines": len(lines),
            "startLine": first,
            "totalLines": total,
        }
        arguments = {"file_path": path} | (
            {"offset": first, "limit": len(lines)} if first > 1 else {}
        )
        self.call(block, "Read", arguments, shown, {"type": "text", "file": file})

    def do_edit(self, block: Block) -> None:
        path, (old, new) = self.path(block.about), block.parts
        outcome = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "userModified": False,
            "replaceAll": False,
        }
        arguments = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        self.call(
            block, "Edit", arguments, f"The file {path} has been updated successfully.", outcome
        )

    def do_write(self, block: Block) -> None:
        path = self.path(block.about)
        outcome = {"type": "create", "filePath": path, "content": block.text, "structuredPatch": []}
        self.call(
            block,
            "Write",
            {"file_path": path, "content": block.text},
            f"File created successfully at: {path}",
            outcome,
        )

    def do_grep(self, block: Block) -> None:
        pattern, output = block.parts
        arguments = {
            "pattern": pattern,
            "path": self.path(block.about or "."),
            "output_mode": "content",
            "-n": True,
        }
        names = list(dict.fromkeys(line.split(":")[0] for line in output.split("\n")))
        outcome = {"mode": "content", "numFiles": len(names), "filenames": names, "content": output}
        self.call(block, "Grep", arguments, output, outcome)

    def do_fetch(self, block: Block) -> None:
        prompt, found = block.parts
        outcome = {
            "url": block.about,
            "code": 200,
            "bytes": len(found) * 31,
            "durationMs": self.dice.between(900, 4000),
        }
        outcome["result"] = found
        self.call(block, "WebFetch", {"url": block.about, "prompt": prompt}, found, outcome)

    def do_todo(self, block: Block) -> None:
        """The list of what is to be done, `x ` before what is."""
        marks = {"x": "completed", ">": "in_progress", "-": "pending"}
        todos = [
            {"content": line[2:], "status": marks[line[0]], "activeForm": line[2:]}
            for line in block.text.split("\n")
        ]
        text = (
            "Todos have been modified successfully. Continue to use the todo list to track your "
            "progress."
        )
        self.call(block, "TodoWrite", {"todos": todos}, text, {"oldTodos": [], "newTodos": todos})

    # What happens to the session

    def do_overload(self, block: Block) -> None:
        """The API was busy; the client tries again."""
        self.tick(900, 1500)
        error = {
            "status": 529,
            "error": {
                "type": "error",
                "error": {"type": "overloaded_error", "message": "Overloaded"},
            },
        }
        more = {"retryInMs": 1024.5, "retryAttempt": 1, "maxRetries": 10}
        self.chain(
            "system",
            subtype="api_error",
            level="error",
            error={**error, "message": "529 Overloaded"},
            **more,
        )

    def do_abort(self, block: Block) -> None:
        self.tick(1500, 6000)
        self.chain(
            "user",
            message={
                "role": "user",
                "content": [{"type": "text", "text": "[Request interrupted by user]"}],
            },
        )

    def do_compact(self, block: Block) -> None:
        self.tick(20_000, 45_000)
        before, after, self.tip = self.context, self.tip, None
        details = {"trigger": "auto", "preTokens": before, "durationMs": 41_322}
        more = {
            "content": "Conversation compacted",
            "level": "info",
            "isMeta": False,
            "logicalParentUuid": after,
        }
        self.chain("system", subtype="compact_boundary", **more, compactMetadata=details)
        lead = (
            "This session is being continued from a previous conversation that ran out of context."
        )
        covered = "The summary below covers the earlier portion of the conversation."
        text = f"{lead} {covered}\n\n{block.text}"
        message = {"role": "user", "content": text}
        self.chain("user", message=message, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        self.cached, self.fresh = 14_200, tokens_in(text)

    def do_agent(self, block: Block) -> None:
        """A sub-agent; the blocks up to `%%back` are its own."""
        call = self.dice.name("toolu_01", 22)
        kind, prompt = block.options["type"], block.text
        arguments = {"description": block.about, "prompt": prompt, "subagent_type": kind}
        self.pending.append({"type": "tool_use", "id": call, "name": "Agent", "input": arguments})
        self.answer("tool_use")
        child = Claude(self.script._replace(name=f"{self.script.name}/{call}"), parent=self)
        child.agent, child.ms, child.model = (
            "a" + child.dice.hex(16),
            self.ms + 240,
            block.options["model"],
        )
        child.meta = {
            "agentType": kind,
            "description": block.about,
            "toolUseId": call,
            "spawnDepth": 1,
        }
        child.context = 11_000
        child.prompt(prompt)
        self.agents.append(child)
        self.spawned = (call, prompt)

    def do_back(self, block: Block) -> None:
        call, prompt = self.spawned
        child = self.agents[-1]
        took, self.ms = child.ms - self.ms, child.ms + 180
        text = child.records[-1]["message"]["content"][0]["text"]
        uses = sum(record["type"] == "user" for record in child.records) - 1
        outcome = {
            "status": "completed",
            "agentId": child.agent,
            "agentType": child.meta["agentType"],
            "prompt": prompt,
        }
        outcome |= {
            "content": [{"type": "text", "text": text}],
            "totalDurationMs": took,
            "totalTokens": child.context,
        }
        outcome["totalToolUseCount"] = uses
        content = [
            {"type": "text", "text": text},
            {"type": "text", "text": f"agentId: {child.agent}"},
        ]
        self.fresh += tokens_in(text)
        result = {"type": "tool_result", "tool_use_id": call, "content": content}
        message = {"role": "user", "content": [result]}
        self.chain("user", message=message, toolUseResult=outcome)

    def play(self, blocks: list[Block]) -> None:
        """The blocks in order; those between `%%agent` and `%%back` are played by the sub-agent."""
        inside = False
        for block in blocks:
            inside = inside and block.kind != "back"
            player = self.agents[-1] if inside else self
            Writer.play(player, [block])
            inside = inside or block.kind == "agent"

    def files(self) -> Iterator[tuple[str, str]]:
        slug = re.sub(r"[^A-Za-z0-9]", "-", self.cwd)
        base = f"{CLAUDE_ROOT}/projects/{slug}/{self.session}"
        yield f"{base}.jsonl", lines(self.records)
        for child in self.agents:
            yield f"{base}/subagents/agent-{child.agent}.jsonl", lines(child.records)
            yield (
                f"{base}/subagents/agent-{child.agent}.meta.json",
                json.dumps(child.meta, separators=(",", ":")),
            )


# Codex ------------------------------------------------------------------------


class Codex(Writer):
    """A rollout: most things twice, once for the model and once for the screen."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.version = script.header.get("version", "0.149.0")
        self.thread = self.dice.dated_uuid(self.ms)
        self.turn, self.turn_ms, self.first_ms = "", self.ms, 0
        self.turns = 0
        self.total = {
            "input_tokens": 0,
            "cached_input_tokens": 0,
            "output_tokens": 0,
            "reasoning_output_tokens": 0,
        }
        self.reasoning = 0

    def put(self, kind: str, payload: dict[str, Any]) -> None:
        self.tick(1, 9)
        self.records.append({"timestamp": iso(self.ms), "type": kind, "payload": payload})

    def item(self, kind: str, **payload: Any) -> None:
        self.put("response_item", {"type": kind, **payload})

    def event(self, kind: str, **payload: Any) -> None:
        self.put("event_msg", {"type": kind, **payload})

    def open(self) -> None:
        parent = self.played_parent() if "fork" in self.script.header else None
        meta: dict[str, Any] = {"id": self.thread, "session_id": self.thread} | (
            {"forked_from_id": parent.thread} if parent else {}
        )
        remote = f"git@github.com:acme/{self.project}.git"
        git = {
            "commit_hash": Dice(f"{self.project}:{self.branch}:{self.script.name}").hex(40),
            "branch": self.branch,
        }
        meta |= {
            "timestamp": iso(self.start_ms),
            "cwd": self.cwd,
            "originator": "codex-tui",
            "cli_version": self.version,
        }
        meta |= {
            "source": "cli",
            "model_provider": "openai",
            "base_instructions": {"text": BASE_INSTRUCTIONS},
        }
        self.put("session_meta", {**meta, "git": {**git, "repository_url": remote}})
        if parent:
            self.copy(parent)

    def close(self) -> None:
        """Nothing: a rollout has no last line."""

    def played_parent(self) -> Codex:
        """The session that this one is a fork of, up to where it was
        left: `fork: SCRIPT after TURNS`.
        """
        name, turns = self.script.header["fork"].split(" after ")
        script = read_script(SCRIPTS / f"{name}.txt")
        starts = [number for number, block in enumerate(script.blocks) if block.kind == "user"]
        parent = Codex(script)
        parent.open()
        parent.play(script.blocks[: starts[int(turns)]])
        return parent

    def copy(self, parent: Codex) -> None:
        """A fork begins with its parent's records, at the time at which they were copied."""
        self.records += [{**record, "timestamp": iso(self.ms)} for record in parent.records]
        self.total, self.context, self.turns = parent.total, parent.context, parent.turns

    # What is said

    def do_user(self, block: Block) -> None:
        self.tick(45_000, 400_000)
        self.turn, self.turn_ms, self.first_ms = self.dice.dated_uuid(self.ms), self.ms, 0
        self.turns += 1
        self.event("task_started", turn_id=self.turn, model_context_window=258_400)
        if self.turns == 1:
            self.introduce()
        allowed = {"approval_policy": "on-request", "sandbox_policy": {"type": "workspace-write"}}
        self.put(
            "turn_context",
            {
                "turn_id": self.turn,
                "cwd": self.cwd,
                **allowed,
                "model": self.model,
                "effort": "medium",
            },
        )
        self.message("user", "input_text", block.text)
        self.event("user_message", message=block.text, images=[])
        self.fresh += tokens_in(block.text)

    def introduce(self) -> None:
        """What the client tells the model before the first prompt."""
        told = (
            f"# AGENTS.md instructions for {self.cwd}\n\n"
            f"<INSTRUCTIONS>\n{AGENTS_MD[self.project]}\n</INSTRUCTIONS>"
        )
        where = (
            "<environment_context>\n"
            f"  <cwd>{self.cwd}</cwd>\n"
            "  <shell>zsh</shell>\n"
            "</environment_context>"
        )
        content = [{"type": "input_text", "text": text} for text in (told, where)]
        self.item("message", role="user", content=content)

    def message(self, role: str, kind: str, text: str, **more: Any) -> None:
        self.item("message", role=role, content=[{"type": kind, "text": text}], **more)

    def do_think(self, block: Block) -> None:
        self.think_time(block.text)
        self.event("agent_reasoning", text=block.text)
        summary = [{"type": "summary_text", "text": block.text}]
        self.item("reasoning", summary=summary, content=None, encrypted_content="gAAAAA==")
        self.reasoning += tokens_in(block.text) * 3

    def do_say(self, block: Block) -> None:
        self.speak(block.text, "commentary")

    def do_reply(self, block: Block) -> None:
        self.speak(block.text, "final_answer")
        self.count(limits=True)
        spent = {"duration_ms": self.ms - self.turn_ms, "time_to_first_token_ms": self.first_ms}
        self.event("task_complete", turn_id=self.turn, **spent)

    def speak(self, text: str, phase: str) -> None:
        self.think_time(text)
        self.first_ms = self.first_ms or self.ms - self.turn_ms
        self.event("agent_message", message=text, phase=phase)
        self.message("assistant", "output_text", text, phase=phase)
        self.said += tokens_in(text)

    def count(self, *, limits: bool = False) -> None:
        """The tokens of the model call that has just been made."""
        given = self.context + self.fresh + self.dice.between(20, 120)
        # Of the first prompt only the client's own instructions are cached;
        # the cache works in steps of 128.
        known = self.context if self.total["input_tokens"] else self.context * 2 // 3
        last = {"input_tokens": given, "cached_input_tokens": known // 128 * 128}
        last |= {
            "output_tokens": self.said + self.reasoning,
            "reasoning_output_tokens": self.reasoning,
        }
        self.context, self.fresh, self.said, self.reasoning = given + self.said, 0, 0, 0
        self.total = {name: self.total[name] + last[name] for name in last}
        both = [
            {**usage, "total_tokens": usage["input_tokens"] + usage["output_tokens"]}
            for usage in (self.total, last)
        ]
        info = {
            "total_token_usage": both[0],
            "last_token_usage": both[1],
            "model_context_window": 258_400,
        }
        window = {
            "used_percent": float(self.dice.between(2, 48)),
            "window_minutes": 300,
            "resets_at": self.ms // 1000 + 7200,
        }
        self.event(
            "token_count",
            info=info,
            **({"rate_limits": {"primary": window, "secondary": None}} if limits else {}),
        )

    # What tools do

    def do_run(self, block: Block) -> None:
        command, output = (*block.parts, "")[:2]
        call, code = self.dice.name("call_", 24), block.options.get("exit", "0")
        if self.version < "0.149":
            name, given = "shell_command", {"command": command}
        else:
            name, given = "exec_command", {"cmd": command}
        self.think_time(command)
        self.said += tokens_in(command) + 20
        self.item(
            "function_call",
            name=name,
            arguments=json.dumps(given, ensure_ascii=False),
            call_id=call,
        )
        self.count()
        took = self.tool_time(block)
        if name == "shell_command":
            head = f"Exit code: {code}\nWall time: {took:.1f} seconds\n"
        else:
            head = (
                f"Chunk ID: {self.dice.hex(6)}\n"
                f"Wall time: {took:.4f} seconds\n"
                f"Process exited with code {code}\n"
                f"Original token count: {tokens_in(output)}\n"
            )
        self.item("function_call_output", call_id=call, output=f"{head}Output:\n{output}\n")
        self.fresh += tokens_in(head, output)

    def do_edit(self, block: Block) -> None:
        hunk = changed_lines(*block.parts)
        patch = "\n".join([f"*** Update File: {block.about}", "@@", *hunk])
        counts = (block.parts[0].count("\n") + 1, block.parts[1].count("\n") + 1)
        diff = "\n".join([f"@@ -1,{counts[0]} +1,{counts[1]} @@", *hunk, ""])
        self.patch(block, patch, "M", {"type": "update", "unified_diff": diff, "move_path": None})

    def do_write(self, block: Block) -> None:
        patch = "\n".join(
            [f"*** Add File: {block.about}", *("+" + line for line in block.text.split("\n"))]
        )
        self.patch(block, patch, "A", {"type": "add", "content": block.text + "\n"})

    def patch(self, block: Block, patch: str, mark: str, change: dict[str, Any]) -> None:
        call = self.dice.name("call_", 24)
        text = f"*** Begin Patch\n{patch}\n*** End Patch"
        self.think_time(text)
        self.said += tokens_in(text)
        self.item(
            "custom_tool_call", status="completed", call_id=call, name="apply_patch", input=text
        )
        self.count()
        took = self.tool_time(block)
        done = f"Success. Updated the following files:\n{mark} {block.about}\n"
        told = {
            "call_id": call,
            "turn_id": self.turn,
            "stdout": done,
            "stderr": "",
            "success": True,
        }
        if self.version >= "0.149":
            self.event(
                "patch_apply_end",
                **told,
                changes={f"{self.cwd}/{block.about}": change},
                status="completed",
            )
        output = f"Exit code: 0\nWall time: {took:.1f} seconds\nOutput:\n{done}"
        self.item("custom_tool_call_output", call_id=call, output=output)
        self.fresh += tokens_in(output)

    # What happens to the session

    def do_abort(self, block: Block) -> None:
        self.tick(1500, 6000)
        text = "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>"
        self.message("user", "input_text", text)
        self.event(
            "turn_aborted",
            turn_id=self.turn,
            reason="interrupted",
            duration_ms=self.ms - self.turn_ms,
        )

    def do_rollback(self, block: Block) -> None:
        self.tick(9_000, 30_000)
        self.event("thread_rolled_back", num_turns=int(block.about))

    def files(self) -> Iterator[tuple[str, str]]:
        began = local(self.start_ms)
        name = f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{self.thread}.jsonl"
        yield f"{CODEX_ROOT}/sessions/{began:%Y/%m/%d}/{name}", lines(self.records)


# All of them ------------------------------------------------------------------


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(
        json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records
    )


def sessions(folder: Path) -> Iterator[Claude | Codex]:
    """Every session of the scripts in a folder, played to its end."""
    for path in sorted(folder.glob("*.txt")):
        script = read_script(path)
        writer: Claude | Codex = (
            Claude(script) if script.header["agent"] == "claude-code" else Codex(script)
        )
        writer.open()
        writer.play(script.blocks)
        writer.close()
        yield writer


def files(*folders: Path) -> Iterator[tuple[str, str]]:
    """The logs of all folders, and the index in which Codex keeps the names of its threads."""
    names = []
    for session in (session for folder in folders for session in sessions(folder)):
        yield from session.files()
        if isinstance(session, Codex):
            title = session.script.header["title"]
            names.append(
                {"id": session.thread, "thread_name": title, "updated_at": iso(session.ms)}
            )
    yield (
        f"{CODEX_ROOT}/session_index.jsonl",
        lines(sorted(names, key=lambda name: name["updated_at"])),
    )


def main(out: Path) -> None:
    for root in (CLAUDE_ROOT, CODEX_ROOT):
        shutil.rmtree(out / root, ignore_errors=True)
    count = size = 0
    for name, text in files(SCRIPTS):
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        path.write_bytes(data)
        count, size = count + 1, size + len(data)
    print(f"{count} files, {size} bytes in {out}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES)
