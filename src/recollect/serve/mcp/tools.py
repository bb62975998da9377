"""The eight tools that an agent can call. Their names and order do not change.

A model reads their descriptions and decides at a glance, so each says in a
line when to use the tool. All of them together, with schemas, stay below 8 KB,
because every session of every agent carries them. No tool reads a file: the
path that `blame` gets is compared with stored ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_args

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.answers import Answers, FileChange, Fix, FixStep, Invocation
from recollect.model.notes import Category as OneOf
from recollect.serve.mcp import pages
from recollect.serve.mcp.answers import HITS_SCHEMA, Page, ToolHit, harmless, hit, result, sentence
from recollect.serve.mcp.episodes import ID_SCHEMA, REWARD_SCHEMA, EpisodeTools
from recollect.serve.mcp.memories import RECORD_SCHEMA, WRITTEN_SCHEMA, MemoryTools
from recollect.serve.memory_thread import MemoryThread

# More than a page holds of any of them, so that the page decides.
ROWS_AT_ONCE = 25
# More was pasted by mistake; the end of an output is where its error stands.
MOST_ERROR_CHARACTERS = 1 << 20
MOST_QUERY_CHARACTERS = 10_000
MOST_BUDGET = 2_000

Project = Annotated[str | None, Field(description="project key, as results show it")]
Cursor = Annotated[str | None, Field(description="from the previous result")]
# Models have other names for them; the memory knows which.
Category = Annotated[str, Field(json_schema_extra={"enum": list(get_args(OneOf))})]

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_FEEDBACK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "helpful": {"type": "boolean"}},
    "required": ["id", "helpful"],
}


class Tools:
    """The tools of one server.

    `folder` is where the agent works; its project is meant unless another is named.
    """

    def __init__(
        self,
        reads: MemoryThread,
        writes: MemoryThread | None,
        folder: str,
        *,
        distill: bool = False,
        records: Memory | None = None,
    ) -> None:
        self._reads, self._writes, self._folder = reads, writes, folder
        self._memories = MemoryTools(writes, folder) if distill and writes is not None else None
        self._episodes = None
        if records is not None:
            self._episodes = EpisodeTools(records, folder, self._offered)

    def listed(self) -> list[Tool]:
        """As they are offered, always in this order.

        Those that write only when there is a thread for them.
        """
        reading_tools: list[Callable[..., Any]] = [
            self.search, self.get, self.recall, self.fix, self.blame, self.how,
        ]  # fmt: skip
        tools = [_tool(one, _READS, HITS_SCHEMA) for one in reading_tools]
        if self._writes is not None:
            tools += [
                _tool(self.remember, _WRITES, HITS_SCHEMA),
                _tool(self.feedback, _WRITES, _FEEDBACK_SCHEMA),
            ]
        if self._memories is not None:
            tools += [
                _tool(self._memories.read_record, _READS, RECORD_SCHEMA),
                _tool(self._memories.write_memory, _WRITES, WRITTEN_SCHEMA),
            ]
        if self._episodes is not None:
            tools += [
                _tool(self._episodes.start_episode, _WRITES, ID_SCHEMA),
                _tool(self._episodes.log_step, _WRITES, ID_SCHEMA),
                _tool(self._episodes.complete_episode, _WRITES, REWARD_SCHEMA),
                _tool(self._episodes.retrieve_relevant, _READS, HITS_SCHEMA),
            ]
        return tools

    async def search(
        self,
        query: Annotated[
            str,
            Field(description='words, "phrases", filters such as agent:codex file:app.py is:error'),
        ],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
        project: Project = None,
        since: Annotated[str | None, Field(description="2026-10-31, 7d, yesterday")] = None,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Find turns of earlier sessions by word and by meaning, of any agent and project.

        Use when earlier work may help.
        """
        if len(query) > MOST_QUERY_CHARACTERS:
            raise UsageError(
                "The query is too long.",
                hint="Use a few characteristic words; fix takes whole outputs.",
            )

        def ask(memory: Memory, most: int) -> Any:
            return memory.search(
                query, limit=most, cursor=cursor, here=self._folder, project=project, since=since
            )

        def answer(memory: Memory) -> CallToolResult:
            found, page = ask(memory, limit), Page()
            fitting = page.add_all(
                hit(one.ref, one.snippet, project=one.project, at=one.at, provenance=one.provenance)
                for one in found
            )
            # A shorter page has another cursor, which only a search can tell.
            found = ask(memory, fitting) if fitting < len(found) else found
            remarks = found.remarks or (
                [] if found.hits else ["Nothing found. Try fewer or other words."]
            )
            return result(memory, page, cursor=found.cursor, remark=" ".join(remarks))

        return await self._reads.ask(answer)

    async def get(
        self,
        ref: Annotated[
            str, Field(description="id from a result: a session, a turn (...#3) or a note")
        ],
        cursor: Cursor = None,
        handoff: Annotated[bool, Field(description="of a session: what it takes to go on")] = False,
    ) -> CallToolResult:
        """Read the outline of a session, a whole turn, or a note. Use with an id from a result."""

        def answer(memory: Memory) -> CallToolResult:
            if handoff:
                return result(memory, pages.handoff_page(memory, ref.strip()))
            page, following = pages.read(memory, ref.strip(), cursor)
            if ref.strip().startswith("note:"):
                self._offered("get", [one["id"] for one in page.hits])
            return result(memory, page, cursor=following)

        return await self._reads.ask(answer)

    async def recall(
        self,
        prompt: Annotated[str, Field(description="the task; empty: what matters in this project")],
        project: Project = None,
        budget: Annotated[
            int | None, Field(ge=0, le=MOST_BUDGET, description="tokens (default 600)")
        ] = None,
    ) -> CallToolResult:
        """What is known in this project about a task.

        Use before you start on it; often there is nothing.
        """

        def answer(memory: Memory) -> CallToolResult:
            pack = memory.recall(prompt, project=project, folder=self._folder, budget=budget)
            page = Page()
            page.add_all(map(pages.told_hit, pack.lines))
            if not page.hits:
                return sentence("Nothing relevant found. search may still find something.")
            self._offered("recall", [ref for line in pack.lines for ref in line.ref.split()])
            return result(memory, page)

        return await self._reads.ask(answer)

    async def fix(
        self,
        error: Annotated[str, Field(description="the error as it was printed")],
        cursor: Cursor = None,
    ) -> CallToolResult:
        """What got past this error before, and whether it worked.

        Use as soon as a command fails.
        """

        def answer(memory: Memory) -> CallToolResult:
            last = error[-MOST_ERROR_CHARACTERS:]
            page, following = _rows(
                lambda most: memory.fix(last, folder=self._folder, limit=most), _fix, cursor
            )
            if not page.hits:
                return sentence("This error has not come up before. search finds its words.")
            self._offered("fix", [one["id"] for one in page.hits])
            return result(memory, page, cursor=following)

        return await self._reads.ask(answer)

    async def blame(
        self,
        path: Annotated[str, Field(description="a path or the end of one; the file is not read")],
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Which turns changed a file, and why.

        Use to understand why code is the way it is.
        """

        def answer(memory: Memory) -> CallToolResult:
            page, following = _rows(
                lambda most: memory.blame(path.strip(), folder=self._folder, limit=most),
                _change,
                cursor,
            )
            if not page.hits:
                return sentence(f"No session changed {harmless(path.strip()[:200])}.")
            return result(memory, page, cursor=following)

        return await self._reads.ask(answer)

    async def how(
        self,
        tool: Annotated[
            str,
            Field(description="a program, such as pytest or docker compose, or an agent's tool"),
        ],
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Commands of a tool that worked, in this project if there are any.

        Use before guessing flags.
        """

        def answer(memory: Memory) -> CallToolResult:
            own = memory.projects.of(self._folder) is not None and bool(
                memory.how(tool, folder=self._folder, limit=1)
            )
            page, following = _rows(
                lambda most: memory.how(tool, folder=self._folder, everywhere=not own, limit=most),
                _invocation,
                cursor,
            )
            if not page.hits:
                return sentence("No command of it has worked here yet.")
            return result(
                memory,
                page,
                cursor=following,
                remark="" if own else "This project has none; these are from others.",
            )

        return await self._reads.ask(answer)

    async def remember(
        self,
        text: Annotated[
            str, Field(description="one fact, in the user's own words if they said it; no secrets")
        ],
        category: Category = "project",
        project: Project = None,
    ) -> CallToolResult:
        """Remember a fact for later sessions.

        Use when the user states a preference, rule or decision. A person confirms it.
        """

        def answer(memory: Memory) -> CallToolResult:
            page = Page()
            page.add(
                pages.note_hit(
                    memory.notes.add(
                        text, category=category, project=project, folder=self._folder, by="agent"
                    )
                )
            )
            return result(memory, page)

        return await self._writing.ask(answer)

    async def feedback(
        self,
        id: Annotated[str, Field(description="id from a result")],
        helpful: bool,
    ) -> CallToolResult:
        """Say whether a result helped. Use after acting on it."""

        def answer(memory: Memory) -> CallToolResult:
            memory.injections.give_feedback(id.strip(), helpful)
            made = sentence("Noted, thank you.")
            made.structured_content = {"id": id.strip(), "helpful": helpful}
            return made

        return await self._writing.ask(answer)

    @property
    def _writing(self) -> MemoryThread:
        assert self._writes is not None
        return self._writes

    def _offered(self, tool: str, refs: list[str]) -> None:
        """Note down in the background what an agent was given."""
        if self._writes is not None:
            self._writes.submit(
                lambda memory: memory.injections.record("mcp", tool, refs, folder=self._folder)
            )


def _tool(
    function: Callable[..., Any], annotations: ToolAnnotations, output: dict[str, Any]
) -> Tool:
    # On one line: line breaks are paid for too.
    description = " ".join((function.__doc__ or "").split())
    made = Tool.from_function(function, description=description, annotations=annotations)
    made.parameters = _brief(made.parameters)
    made.fn_metadata.output_schema = output
    return made


def _brief(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of arguments without titles, which repeat the names, and without
    saying that what is optional may be null.

    Null is taken all the same. Every byte is paid for by every session,
    and some hosts cannot read unions.
    """
    return {
        "type": "object",
        "properties": {
            name: _brief_argument(argument) for name, argument in schema["properties"].items()
        },
        "required": schema.get("required", []),
    }


def _brief_argument(argument: dict[str, Any]) -> dict[str, Any]:
    first, *_ = argument.get("anyOf", [{}])
    kept = {
        name: value
        for name, value in argument.items()
        if name not in ("anyOf", "title") and value is not None
    }
    return {**first, **kept}


def _rows(
    ask: Callable[[int], Answers[Any]], shown: Callable[[Any], ToolHit], cursor: str | None
) -> tuple[Page, str | None]:
    """A page of answers that are best asked for from the start.

    The cursor is how many were shown.
    """
    if cursor is not None and not (cursor.isdecimal() and len(cursor) <= 6):
        raise UsageError(
            f'"{cursor[:50]}" is not a cursor of this.',
            hint="Use the one that the last page ended with.",
        )
    start, page = int(cursor or 0), Page()
    rows = ask(start + ROWS_AT_ONCE + 1).rows[start:]
    fitting = page.add_all(map(shown, rows[:ROWS_AT_ONCE]))
    return page, str(start + fitting) if fitting < len(rows) else None


def _fix(row: Fix) -> ToolHit:
    lines = [f"{row.confidence}: {row.why}"]
    # Nobody needs to read the line he asked about, and another is a tool's own words.
    foreign = row.match not in ("exact", "shape")
    lines += [f"error: {row.error}"] if foreign else []
    lines += [f"failed: {row.failed}{_code(row.exit_code)}"] if row.failed else []
    for step in row.steps:
        verb = "edited" if step.kind == "edit" else "ran"
        lines.append(f"{verb}: {step.text}{_ended(step)}")
    lines += [f"… {row.steps_left_out} more steps"] if row.steps_left_out else []
    if row.proof:
        elsewhere = f" ({row.proof.ref})" if row.proof.ref != row.ref else ""
        lines.append(f"worked: {row.proof.text}{_code(row.proof.exit_code)}{elsewhere}")
    # How a command ended is proven, but its words are an agent's, and a sentence may be among them.
    trust = "external" if foreign else "assistant"
    return hit(
        row.ref, "\n".join(lines), project=row.project, at=row.at, provenance="tool", trust=trust
    )


def _ended(step: FixStep) -> str:
    return "" if step.ok else _code(step.exit_code) or " (outcome unknown)"


def _code(code: int | None) -> str:
    return "" if code is None else f" (exit {code})"


def _change(row: FileChange) -> ToolHit:
    lines = "" if row.added is None else f" +{row.added} -{row.removed}"
    ended = {True: "", False: " (failed)", None: " (outcome unknown)"}[row.ok]
    undone = "" if row.live else " (undone)"
    changed = f"{', '.join(row.tools)} changed {row.file}{lines}{ended}"
    text = f"asked “{row.prompt}”{undone}; {changed}: {row.excerpt}"
    return hit(row.ref, text, project=row.project, at=row.at, provenance="assistant")


def _invocation(row: Invocation) -> ToolHit:
    results = f"{row.ok} worked, {row.failed} failed, {row.unclear} unclear"
    text = f"{row.example}\n{results}; shape: {row.shape}"
    project = row.projects[0] if len(row.projects) == 1 else None
    return hit(row.ref, text, project=project, at=row.last_at, provenance="tool", trust="assistant")
