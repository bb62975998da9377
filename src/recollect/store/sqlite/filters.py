"""Filters as SQL conditions, the same for searches, session lists and statistics.

Every value is bound. Conditions speak of the tables `turns` and `sessions`.
"""

from __future__ import annotations

from recollect.errors import UsageError

LONGEST_VALUE = 1_000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Condition = tuple[str, list[Any]]


def conditions(filters: dict[str, list[str]], domains: dict[str, list[str]]) -> Condition:
    """All filters together; values of one name are alternatives, names add up."""
    makers: dict[str, Callable[[str], Condition]] = {**_MAKERS, "domain": lambda value: _domain(value, domains)}
    clauses: list[str] = []
    values: list[Any] = []
    for name, given in filters.items():
        wanted = [_tame(value) for value in given]
        make = makers.get(name)
        if make is None:
            raise UsageError(f"no filter is called {name}", hint=f"known: {', '.join(sorted(makers))}")
        options = [make(value) for value in wanted]
        clauses.append("(" + " or ".join(clause for clause, _ in options) + ")")
        values += [value for _, bound in options for value in bound]
    return " and ".join(clauses) or "1", values


def _tame(value: str) -> str:
    """Text that SQLite can bind and match."""
    if len(value) > LONGEST_VALUE:
        raise UsageError(f"a filter of {len(value)} characters", hint=f"at most {LONGEST_VALUE}")
    return value.encode("utf-8", "replace").decode()


def _agent(value: str) -> Condition:
    return "sessions.agent = ?", [value]


def _project(value: str) -> Condition:
    """A project by its whole key, a folder below it, or the last words of its key."""
    pattern = value if "*" in value or "?" in value else f"*{value}"
    return (
        "turns.project in (select a.id from projects a left join projects b on b.id = a.merged_into"
        " where a.key = ? or b.key = ? or a.key glob ? or b.key glob ?)",
        [value, value, pattern, pattern],
    )


def _session(value: str) -> Condition:
    return "(sessions.ref = ? or sessions.native_id = ? or sessions.native_id glob ?)", [value, value, _literal(value) + "*"]


def _file(value: str) -> Condition:
    return (
        "exists (select 1 from tool_calls where tool_calls.turn = turns.id and kind in ('edit', 'read') and target glob ?)",
        [value if "*" in value else f"*{_literal(value)}"],
    )


def _tool(value: str) -> Condition:
    return (
        "exists (select 1 from tool_calls where tool_calls.turn = turns.id and (name = ? or kind = ?))",
        [value, value],
    )


def _model(value: str) -> Condition:
    return "exists (select 1 from usage where usage.turn = turns.id and model glob ?)", [f"*{value}*"]


def _since(value: str) -> Condition:
    return "coalesce(turns.started_at, sessions.started_at) >= ?", [moment(value)]


def _until(value: str) -> Condition:
    return "coalesce(turns.started_at, sessions.started_at) < ?", [moment(value, end=True)]


def _is(value: str) -> Condition:
    known = {"error": "turns.errors > 0", "human": "turns.author = 'human'", "live": "turns.live"}
    if value not in known:
        raise UsageError(f"is:{value} means nothing", hint=f"known: {', '.join('is:' + name for name in known)}")
    return known[value], []


def _domain(value: str, domains: dict[str, list[str]]) -> Condition:
    patterns = domains.get(value)
    if patterns is None:
        known = ", ".join(domains) or "none yet; name some under [domains] in config.toml"
        raise UsageError(f"no domain is called {value}", hint=f"known: {known}")
    clauses = " or ".join("coalesce(b.key, a.key) glob ?" for _ in patterns) or "0"
    return (
        f"turns.project in (select a.id from projects a left join projects b on b.id = a.merged_into where {clauses})",
        list(patterns),
    )


def _literal(value: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in value)


_MAKERS: dict[str, Callable[[str], Condition]] = {
    "agent": _agent, "project": _project, "session": _session, "file": _file, "tool": _tool,
    "model": _model, "since": _since, "until": _until, "is": _is,
}  # fmt: skip


def moment(value: str, *, end: bool = False) -> int:
    """A day, a time, or an age such as `7d` or `12h`, as milliseconds; with `end`, the end of that day."""
    import time
    from datetime import UTC, datetime, timedelta

    units = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
    if value[:-1].isdecimal() and value[-1:] in units:
        return max(0, int(time.time() - int(value[:-1][:9]) * units[value[-1]])) * 1000
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    named = {"today": today, "yesterday": today - timedelta(days=1)}
    try:
        found = named.get(value.lower()) or datetime.fromisoformat(value)
    except ValueError:
        raise UsageError(f"{value!r} is no time", hint="use 2026-01-31, 2026-01-31T12:00, 7d, 12h, today or yesterday") from None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    day = 86_400_000 if end and len(value) <= 10 else 0
    return int(found.timestamp() * 1000) + day
