"""What was spent and done, summed by agent, project, model, tool or day."""

from __future__ import annotations

import os
from typing import Any

from recollect.errors import UsageError
from recollect.model.reports import StatsRow, StoreSummary
from recollect.model.search import Query
from recollect.model.sessions import Tokens
from recollect.store.sqlite import jobs
from recollect.store.sqlite.chosen import chosen_turns
from recollect.store.sqlite.database import Database
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
    left join projects a on a.id = turns.project left join projects b on b.id = a.merged_into
"""


def stats(db: Database, by: str, query: Query, domains: dict[str, list[str]]) -> list[StatsRow]:
    """One row for each value of `by`: days newest first, the rest by what was spent."""
    if by not in _GROUPS:
        raise UsageError(f"cannot sum by {by}", hint=f"use one of {', '.join(GROUP_NAMES)}")
    clause, values = chosen_turns(query, domains)
    rows: dict[str | None, StatsRow] = {}

    untold: dict[str, Any] = dict.fromkeys(_UNTOLD.get(by, ()))

    def row(name: str | None) -> StatsRow:
        return rows.setdefault(name, StatsRow(by=by, name=name, **untold))

    group = _GROUPS[by]
    if by in ("model", "tool"):
        tables = f"{_TURNS} join {'usage on usage.turn' if by == 'model' else 'tool_calls on tool_calls.turn'} = turns.id"
        for name, sessions, turns in _sums(
            db,
            group,
            "count(distinct turns.session), count(distinct turns.id)",
            tables,
            clause,
            values,
        ):
            row(name).sessions, row(name).turns = sessions, turns
    else:
        for name, sessions, turns, errors in _sums(
            db,
            group,
            "count(distinct turns.session), count(*), sum(turns.errors)",
            _TURNS,
            clause,
            values,
        ):
            row(name).sessions, row(name).turns, row(name).errors = sessions, turns, errors
    if by != "model":
        tables = f"{_TURNS} join tool_calls on tool_calls.turn = turns.id"
        for name, calls, failed in _sums(
            db, group, "count(*), coalesce(sum(ok = 0), 0)", tables, clause, values
        ):
            row(name).tool_calls, row(name).failed_tool_calls = calls, failed
    if by != "tool":
        _spend(db, group, clause, values, row)
    if by == "day":
        return sorted(rows.values(), key=lambda one: one.name or "", reverse=True)
    return sorted(
        rows.values(), key=lambda one: (-_spent(one), -(one.tool_calls or 0), one.name or "")
    )


def _spent(row: StatsRow) -> int:
    return row.tokens.input + row.tokens.output if row.tokens else 0


def _spend(db: Database, group: str, clause: str, values: list[Any], row: Any) -> None:
    columns = """
        count(*), sum(input), sum(cache_read), sum(cache_write), sum(output), sum(reasoning), sum(cost_usd),
        count(*) - count(cost_usd)
    """
    tables = f"{_TURNS} join usage on usage.turn = turns.id"
    for name, calls, read, cached, written, output, reasoning, cost, unpriced in _sums(
        db, group, columns, tables, clause, values
    ):
        one = row(name)
        one.model_calls, one.unpriced_calls = calls, unpriced
        one.tokens = Tokens(
            input=read, cache_read=cached, cache_write=written, output=output, reasoning=reasoning
        )
        one.cost_usd = None if cost is None else round(cost, 6)


def _sums(
    db: Database, group: str, columns: str, tables: str, clause: str, values: list[Any]
) -> list[tuple[Any, ...]]:
    return db.rows(f"select {group}, {columns} from {tables} where {clause} group by 1", values)


def by_domain(projects: list[StatsRow], domain_of: Any) -> list[StatsRow]:
    """Project rows summed up by domain. Sessions that span projects are counted in each."""
    rows: dict[str | None, StatsRow] = {}
    for project in projects:
        name = domain_of(project.name)
        total = rows.setdefault(name, StatsRow(by="domain", name=name))
        for field in (
            "sessions",
            "turns",
            "errors",
            "tool_calls",
            "failed_tool_calls",
            "model_calls",
            "unpriced_calls",
        ):
            setattr(total, field, getattr(total, field) + getattr(project, field))
        for field in Tokens.__struct_fields__:
            setattr(
                total.tokens, field, getattr(total.tokens, field) + getattr(project.tokens, field)
            )
        if project.cost_usd is not None:
            total.cost_usd = round((total.cost_usd or 0.0) + project.cost_usd, 6)
    return sorted(rows.values(), key=lambda one: -_spent(one))


def summary(db: Database) -> StoreSummary:
    """What is in the store, in a few numbers."""
    first, last = db.rows("select min(started_at), max(ended_at) from sessions")[0]
    return StoreSummary(
        path=db.path,
        size_bytes=sum(
            os.path.getsize(db.path + end) for end in ("", "-wal") if os.path.exists(db.path + end)
        ),
        sessions=db.value("select count(*) from sessions"),
        turns=db.value("select count(*) from turns"),
        tool_calls=db.value("select count(*) from tool_calls"),
        projects=db.value("select count(*) from projects where merged_into is null"),
        notes=db.value("select count(*) from notes where status in ('candidate', 'active')"),
        agents=dict(db.rows("select agent, count(*) from sessions group by agent order by 2 desc")),
        first_at=iso(first),
        last_at=iso(last),
        jobs_waiting=jobs.count_due(db),
    )


def agent_counts(db: Database) -> dict[str, tuple[int, str | None, str | None]]:
    """Sessions, the version of the newest one, and the newest time, by agent."""
    rows = db.rows("select agent, count(*), max(ended_at) from sessions group by agent")
    return {agent: (count, _newest_version(db, agent), iso(last)) for agent, count, last in rows}


def _newest_version(db: Database, agent: str) -> str | None:
    version: str | None = db.value(
        """
        select agent_version from sessions
         where agent = ? and agent_version is not null order by started_at desc limit 1
        """,
        (agent,),
    )
    return version
