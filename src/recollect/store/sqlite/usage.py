"""What was spent and done, summed by agent, project, model, tool or day."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from recollect.errors import UsageError
from recollect.model.reports import StatsRow, StoreSummary
from recollect.model.search import Scope
from recollect.model.sessions import Tokens
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.search.chosen import chosen_turns
from recollect.store.sqlite.search.families import FAMILIES, IN_FAMILY, LISTED
from recollect.system.clock import iso

_GROUPS = {
    "all": "'all'",
    "agent": "sessions.agent",
    "project": "coalesce(b.key, a.key)",
    "model": "usage.model",
    "tool": "tool_calls.name",
    "day": "date(coalesce(turns.started_at, sessions.started_at) / 1000, 'unixepoch')",
}
# A turn's errors and tool calls belong to no one model, and what it spent to no one tool.
_UNTOLD = {
    "model": ("errors", "tool_calls", "failed_tool_calls"),
    "tool": ("errors", "model_calls", "tokens", "unpriced_calls"),
}
GROUP_NAMES = (*_GROUPS, "domain")
_TURNS = """
    turns join sessions on sessions.id = turns.session
    left join projects a on a.id = sessions.project
    left join projects b on b.id = a.merged_into
"""


class AgentCounts(NamedTuple):
    """How many sessions of an agent are stored, the version of the newest, and the newest time."""

    sessions: int = 0
    newest_version: str | None = None
    last_at: str | None = None


class UsageSums:
    """Tokens, cost and counts, summed up."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def sums(self, by: str, scope: Scope) -> list[StatsRow]:
        """One row for each value of `by`: days newest first, the rest by what was spent."""
        if by not in _GROUPS:
            raise UsageError(f'Cannot sum by "{by}".', hint=f"Choose {', '.join(GROUP_NAMES)}.")
        clause, values = chosen_turns(scope)
        rows: dict[str | None, StatsRow] = {}

        untold: dict[str, Any] = dict.fromkeys(_UNTOLD.get(by, ()))

        def row(name: str | None) -> StatsRow:
            return rows.setdefault(name, StatsRow(by=by, name=name, **untold))

        group = _GROUPS[by]
        if by in ("model", "tool"):
            table = "usage" if by == "model" else "tool_calls"
            tables = f"{_TURNS} join {table} on {table}.turn = turns.id"
            columns = f"count(distinct {LISTED}), count(distinct turns.id)"
            for name, sessions, turns in self._sums(group, columns, tables, clause, values):
                row(name).sessions, row(name).turns = sessions, turns
        else:
            columns = f"count(distinct {LISTED}), count(*), sum(turns.errors)"
            sums = self._sums(group, columns, _TURNS, clause, values)
            for name, sessions, turns, errors in sums:
                row(name).sessions, row(name).turns, row(name).errors = sessions, turns, errors
        if by != "model":
            tables = f"{_TURNS} join tool_calls on tool_calls.turn = turns.id"
            columns = "count(*), coalesce(sum(ok = 0), 0)"
            for name, calls, failed in self._sums(group, columns, tables, clause, values):
                row(name).tool_calls, row(name).failed_tool_calls = calls, failed
        if by != "tool":
            self._spend(group, clause, values, row)
        if by == "day":
            return sorted(rows.values(), key=lambda one: one.name or "", reverse=True)
        return sorted(
            rows.values(),
            key=lambda one: (-one.spent_tokens(), -(one.tool_calls or 0), one.name or ""),
        )

    def _spend(self, group: str, clause: str, values: list[Any], row: Any) -> None:
        columns = """
            count(*), sum(input), sum(cache_read), sum(cache_write), sum(cache_write_1h),
            sum(output), sum(reasoning), sum(cost_usd), count(*) - count(cost_usd)
        """
        tables = f"{_TURNS} join usage on usage.turn = turns.id"
        for name, calls, *tokens, cost, unpriced in self._sums(
            group, columns, tables, clause, values
        ):
            read, cached, written, written_1h, output, reasoning = tokens
            one = row(name)
            one.model_calls, one.unpriced_calls = calls, unpriced
            one.tokens = Tokens(
                input=read, cache_read=cached, cache_write=written,
                cache_write_1h=written_1h, output=output, reasoning=reasoning,
            )  # fmt: skip
            one.cost_usd = None if cost is None else round(cost, 6)

    def _sums(
        self, group: str, columns: str, tables: str, clause: str, values: list[Any]
    ) -> list[tuple[Any, ...]]:
        return self.db.rows(
            f"""
            {FAMILIES}
            select {group}, {columns} from {tables} {IN_FAMILY} where {clause} group by 1
            """,
            values,
        )

    def contexts(self, session: str, *, after: int, limit: int) -> dict[int, int]:
        """How many tokens the last model call of some turns was given, by the turn's number."""
        rows = self.db.rows(
            """
            select ordinal, max(usage.id), input + cache_read + cache_write
              from turns join usage on usage.turn = turns.id
             where turns.session = (select id from sessions where ref = ?)
               and ordinal > ? and ordinal <= ? group by ordinal
            """,
            (session, after, after + limit),
        )
        return {ordinal: tokens for ordinal, _, tokens in rows}

    def summary(self) -> StoreSummary:
        """What is in the store, in a few numbers."""
        first, last = self.db.rows("select min(started_at), max(ended_at) from sessions")[0]
        agents = {agent: count for agent, (count, _) in self._listed_by_agent().items()}
        return StoreSummary(
            path=self.db.path,
            size_bytes=sum(
                os.path.getsize(self.db.path + end)
                for end in ("", "-wal")
                if os.path.exists(self.db.path + end)
            ),
            sessions=sum(agents.values()),
            subagents=self.db.value(
                f"""
                {FAMILIES} select count(distinct session) from families
                 where session in (select session from turns)
                """
            ),
            turns=self.db.value("select count(*) from turns"),
            tool_calls=self.db.value("select count(*) from tool_calls"),
            projects=self.db.value("select count(*) from projects where merged_into is null"),
            notes=self.db.value(
                "select count(*) from notes where status in ('candidate', 'active')"
            ),
            agents=agents,
            first_at=iso(first),
            last_at=iso(last),
            jobs_waiting=Jobs(self.db).count_due(),
        )

    def agent_counts(self) -> dict[str, AgentCounts]:
        """What is stored, by agent."""
        return {
            agent: AgentCounts(count, self._newest_version(agent), iso(last))
            for agent, (count, last) in self._listed_by_agent().items()
        }

    def _listed_by_agent(self) -> dict[str, tuple[int, int | None]]:
        """How many sessions are listed of each agent, and the newest time; the most first."""
        rows = self.db.rows(
            f"""
            {FAMILIES}
            select agent, count(distinct {LISTED}), max(sessions.ended_at)
              from turns join sessions on sessions.id = turns.session {IN_FAMILY}
             group by agent order by 2 desc, 1
            """
        )
        return {agent: (count, last) for agent, count, last in rows}

    def _newest_version(self, agent: str) -> str | None:
        version: str | None = self.db.value(
            """
            select agent_version from sessions
             where agent = ? and agent_version is not null order by started_at desc limit 1
            """,
            (agent,),
        )
        return version

    def find_rates(self, model: str, day: str, version: str) -> tuple[bool, str | None]:
        """Whether the prices of a model on a day are known, and what they are."""
        row = self.db.row(
            "select prices from rates where model = ? and day = ? and version = ?",
            (model, day, version),
        )
        return (True, row[0]) if row else (False, None)

    def save_rates(self, model: str, day: str, version: str, prices: str | None) -> None:
        """Remember the prices of a model on a day."""
        self.db.execute(
            "insert or replace into rates (model, day, version, prices) values (?, ?, ?, ?)",
            (model, day, version, prices),
        )
