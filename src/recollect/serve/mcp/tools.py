"""The eight tools that an agent can call. Their names and order do not change.

A model reads their descriptions and decides at a glance, so each says in a
line when to use the tool. All of them together, with schemas, stay below 8 KB,
because every session of every agent carries them. No tool reads a file: the
path that `blame` gets is compared with stored ones.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec import Meta

from recollect.errors import RecollectError, UsageError
from recollect.memory import Memory
from recollect.model.answers import Answers, FileChange, Fix, FixStep, Invocation
from recollect.model.notes import Category as OneOf
from recollect.model.search import SearchResult
from recollect.serve.mcp import pages
from recollect.serve.mcp.answers import (
    HITS_SCHEMA,
    Page,
    ToolAnswer,
    ToolHit,
    harmless,
    hit,
    result,
    said,
    sentence,
)
from recollect.serve.mcp.episodes import ID_SCHEMA, REWARD_SCHEMA, EpisodeTools
from recollect.serve.mcp.memories import RECORD_SCHEMA, WRITTEN_SCHEMA, MemoryTools
from recollect.serve.memory_thread import MemoryThread
from recollect.system.operations import Operation

log = logging.getLogger(__name__)

# More than a page holds of any of them, so that the page decides.
ROWS_AT_ONCE = 25
# More was pasted by mistake; the end of an output is where its error stands.
MOST_ERROR_CHARACTERS = 1 << 20
MOST_QUERY_CHARACTERS = 10_000
MOST_BUDGET = 2_000

Project = Annotated[str | None, Meta(description="its key")]
Cursor = Annotated[str | None, Meta(description="of the last result")]
# Models have other names for them; the memory knows which.
Category = Annotated[str, Meta(extra_json_schema={"enum": list(get_args(OneOf))})]

_FEEDBACK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "helpful": {"type": "boolean"}},
    "required": ["id", "helpful"],
}


class Tool(NamedTuple):
    """One tool: what answers its calls, on which thread (at once without one), and whether it
    only reads.
    """

    run: Callable[..., ToolAnswer]
    thread: MemoryThread | None
    reads: bool
    output: dict[str, Any]

    def arguments(self) -> type[msgspec.Struct]:
        """What a call may give, as the function says it."""
        code, hints = self.run.__code__, get_type_hints(self.run, include_extras=True)
        defaults = self.run.__defaults__ or ()
        # After `self` and the memory.
        names = code.co_varnames[2 : code.co_argcount]
        asked = len(names) - len(defaults)
        fields: list[Any] = [(name, hints[name]) for name in names[:asked]]
        fields += [
            (name, hints[name], default)
            for name, default in zip(names[asked:], defaults, strict=True)
        ]
        return msgspec.defstruct("Arguments", fields)

    def described(self) -> dict[str, Any]:
        """The tool as it is listed."""
        hints = {"readOnlyHint": self.reads, "openWorldHint": False}
        hints["idempotentHint" if self.reads else "destructiveHint"] = self.reads
        return {
            "name": self.run.__name__,
            # On one line: line breaks are paid for too.
            "description": " ".join((self.run.__doc__ or "").split()),
            "inputSchema": _brief(self.arguments()),
            "outputSchema": self.output,
            "annotations": hints,
        }


class Tools:
    """The tools of one server, by name, always in this order; those that write only when there is
    a thread for them.

    `folder` is where the agent works; its project is meant unless another is named. `records` is
    the memory that attempts are recorded in, when they are.
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
        reading: list[Callable[..., ToolAnswer]] = [
            self.search, self.get, self.recall, self.fix, self.blame, self.how,
        ]  # fmt: skip
        listed = [Tool(one, reads, True, HITS_SCHEMA) for one in reading]
        if writes is not None:
            listed += [
                Tool(self.remember, writes, False, HITS_SCHEMA),
                Tool(self.feedback, writes, False, _FEEDBACK_SCHEMA),
            ]
        if distill and writes is not None:
            memories = MemoryTools(folder)
            listed += [
                Tool(memories.read_record, writes, True, RECORD_SCHEMA),
                Tool(memories.write_memory, writes, False, WRITTEN_SCHEMA),
            ]
        if records is not None:
            episodes = EpisodeTools(records, folder, self._offered)
            listed += [
                Tool(episodes.start_episode, None, False, ID_SCHEMA),
                Tool(episodes.log_step, None, False, ID_SCHEMA),
                Tool(episodes.complete_episode, writes, False, REWARD_SCHEMA),
                Tool(episodes.retrieve_relevant, reads, True, HITS_SCHEMA),
            ]
        self._records = records
        self.listed = {tool.run.__name__: tool for tool in listed}

    def call(self, name: str, arguments: Mapping[str, Any]) -> Future[ToolAnswer]:
        """Have a tool that is listed answer; what it cannot do is said in one sentence."""
        tool = self.listed[name]

        def answer(memory: Memory) -> ToolAnswer:
            with Operation("tool", tool=name) as operation:
                made = _answer(tool, arguments, memory)
                operation.note(failed=made.failed)
                return made

        if tool.thread is not None:
            return tool.thread.start(answer)
        assert self._records is not None
        made: Future[ToolAnswer] = Future()
        made.set_result(answer(self._records))
        return made

    def search(
        self,
        memory: Memory,
        query: Annotated[
            str,
            Meta(description='words, "phrases", filters such as agent:codex file:app.py is:error'),
        ],
        limit: Annotated[int, Meta(ge=1, le=50)] = 10,
        project: Project = None,
        since: Annotated[str | None, Meta(description="2026-10-31, 7d, yesterday")] = None,
        cursor: Cursor = None,
        scope: Annotated[
            Literal["own", "team"], Meta(description="team: what others share")
        ] = "own",
    ) -> ToolAnswer:
        """Find turns of earlier sessions by word and by meaning, of any agent and project.

        Use when earlier work may help.
        """
        if len(query) > MOST_QUERY_CHARACTERS:
            raise UsageError(
                "The query is too long.",
                hint="Use a few characteristic words; fix takes whole outputs.",
            )

        if scope == "team":
            return pages.team_page(memory, query, limit, project)

        def ask(most: int) -> SearchResult:
            return memory.search(
                query, limit=most, cursor=cursor, here=self._folder, project=project, since=since
            )

        found, page = ask(limit), Page()
        fitting = page.add_all(
            hit(one.ref, one.snippet, project=one.project, at=one.at, provenance=one.provenance)
            for one in found
        )
        # A shorter page has another cursor, which only a search can tell.
        found = ask(fitting) if fitting < len(found) else found
        remarks = found.remarks or (
            [] if found.hits else ["Nothing found. Try fewer or other words."]
        )
        return result(memory, page, cursor=found.cursor, remark=" ".join(remarks))

    def get(
        self,
        memory: Memory,
        ref: Annotated[str, Meta(description="a session, a turn (...#3) or a note")],
        cursor: Cursor = None,
        handoff: Annotated[bool, Meta(description="what it takes to go on")] = False,
    ) -> ToolAnswer:
        """Read the outline of a session, a whole turn, or a note. Use with an id from a result."""
        if handoff:
            return result(memory, pages.handoff_page(memory, ref.strip()))
        page, following = pages.read(memory, ref.strip(), cursor)
        if ref.strip().startswith("note:"):
            self._offered("get", [one["id"] for one in page.hits])
        return result(memory, page, cursor=following)

    def recall(
        self,
        memory: Memory,
        prompt: Annotated[str, Meta(description="the task; empty: what matters here")],
        project: Project = None,
        budget: Annotated[
            Annotated[int, Meta(ge=0, le=MOST_BUDGET)] | None,
            Meta(description="tokens (default 600)"),
        ] = None,
    ) -> ToolAnswer:
        """What is known in this project about a task.

        Use before you start on it; often there is nothing.
        """
        pack = memory.recall(prompt, project=project, folder=self._folder, budget=budget)
        page = Page()
        page.add_all(map(pages.told_hit, pack.lines))
        if not page.hits:
            return sentence("Nothing relevant found. search may still find something.")
        self._offered("recall", [ref for line in pack.lines for ref in line.ref.split()])
        return result(memory, page)

    def fix(
        self,
        memory: Memory,
        error: Annotated[str, Meta(description="the error as it was printed")],
        cursor: Cursor = None,
    ) -> ToolAnswer:
        """What got past this error before, and whether it worked.

        Use as soon as a command fails.
        """
        last = error[-MOST_ERROR_CHARACTERS:]
        page, following = _rows(
            lambda most: memory.fix(last, folder=self._folder, limit=most), _fix, cursor
        )
        if not page.hits:
            return sentence("This error has not come up before. search finds its words.")
        self._offered("fix", [one["id"] for one in page.hits])
        return result(memory, page, cursor=following)

    def blame(
        self,
        memory: Memory,
        path: Annotated[str, Meta(description="a path or the end of one")],
        cursor: Cursor = None,
    ) -> ToolAnswer:
        """Which turns changed a file, and why.

        Use to see why code is as it is.
        """
        page, following = _rows(
            lambda most: memory.blame(path.strip(), folder=self._folder, limit=most),
            _change,
            cursor,
        )
        if not page.hits:
            return sentence(f"No session changed {harmless(path.strip()[:200])}.")
        return result(memory, page, cursor=following)

    def how(
        self,
        memory: Memory,
        tool: Annotated[
            str,
            Meta(description="such as pytest, docker compose, or an agent's tool"),
        ],
        cursor: Cursor = None,
    ) -> ToolAnswer:
        """Commands of a tool that worked, in this project if there are any.

        Use before guessing flags.
        """
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

    def remember(
        self,
        memory: Memory,
        text: Annotated[
            str, Meta(description="one fact, in the user's own words if they said it; no secrets")
        ],
        category: Category = "project",
        project: Project = None,
    ) -> ToolAnswer:
        """Remember a fact for later sessions.

        Use when the user states a preference, rule or decision. A person confirms it.
        """
        page = Page()
        page.add(
            pages.note_hit(
                memory.notes.add(
                    text, category=category, project=project, folder=self._folder, by="agent"
                )
            )
        )
        return result(memory, page)

    def feedback(
        self,
        memory: Memory,
        id: Annotated[str, Meta(description="id from a result")],
        helpful: bool,
    ) -> ToolAnswer:
        """Say whether a result helped. Use after acting on it."""

        memory.injections.give_feedback(id.strip(), helpful)
        return ToolAnswer("Noted, thank you.", {"id": id.strip(), "helpful": helpful})

    def _offered(self, tool: str, refs: list[str]) -> None:
        """Note down in the background what an agent was given."""
        if self._writes is not None:
            self._writes.submit(
                lambda memory: memory.injections.record("mcp", tool, refs, folder=self._folder)
            )


def _answer(tool: Tool, arguments: Mapping[str, Any], memory: Memory) -> ToolAnswer:
    name = tool.run.__name__
    try:
        given = msgspec.convert(arguments, tool.arguments(), strict=False)
        return tool.run(memory, **msgspec.structs.asdict(given))
    except msgspec.ValidationError as error:
        why, _, where = str(error).partition(" - at `$.")
        place = f"{where.rstrip('`')}: " if where else ""
        return sentence(f"Wrong arguments for {name}: {place}{why}", failed=True)
    except RecollectError as error:
        return sentence(said(error), failed=True)
    except Exception as error:
        log.exception("a tool failed")
        return sentence(f"{name} failed: {type(error).__name__}.", failed=True)


def _brief(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """A schema of arguments without titles, and without saying that what is optional may be null.

    Null is taken all the same. Every byte is paid for by every session,
    and some hosts cannot read unions.
    """
    schema = msgspec.json.schema(arguments)["$defs"]["Arguments"]
    return {
        "type": "object",
        "properties": {
            name: _brief_argument(argument) for name, argument in schema["properties"].items()
        },
        "required": schema.get("required", []),
    }


def _brief_argument(argument: dict[str, Any]) -> dict[str, Any]:
    first: dict[str, Any] = next(
        (one for one in argument.get("anyOf", []) if one != {"type": "null"}), {}
    )
    kept = {
        name: value for name, value in argument.items() if name != "anyOf" and value is not None
    }
    # Some hosts cannot read a list of texts that does not say so.
    return {**({"type": "string"} if "enum" in kept else {}), **first, **kept}


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
