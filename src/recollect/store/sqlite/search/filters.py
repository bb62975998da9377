"""Filters as SQL conditions, the same for searches, session lists and statistics.

Every value is bound. Conditions speak of the tables `turns` and `sessions`.
Values are compared without case; `*` and `?` in them are wildcards, and no
other character means anything.

A filter that nothing can pass yet is no error: it matches nothing, and
`remarks` has the sentence that says why.
"""

from __future__ import annotations

from recollect.errors import UsageError
from recollect.model.search import CHOICES, FILTERS, LONGEST_VALUE, META, MOST_VALUES, meta_key
from recollect.system.clock import MOMENTS, find_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Condition = tuple[str, list[Any]]

# The fields of a session that are columns, by the name that its record has for them.
_FIELDS = {
    "title": "title", "origin": "origin", "cwd": "cwd", "parent": "parent",
    "agent_version": "agent_version",
    "git.branch": "git_branch", "git.sha": "git_sha", "git.remote": "git_remote",
}  # fmt: skip
_IS = {
    "error": "turns.errors > 0",
    "human": "turns.author = 'human'",
    "live": "turns.live",
    "subagent": "sessions.origin = 'subagent'",
    "headless": "sessions.origin = 'headless'",
    "external": "sessions.external",
}


def conditions(filters: dict[str, list[str]], domains: dict[str, list[str]]) -> Condition:
    """All filters together.

    Values of one name are alternatives, names add up, and -name leaves out.
    """
    clauses: list[str] = []
    values: list[Any] = []
    # A text may bring as many, and options as many again.
    if sum(map(len, filters.values())) > 2 * MOST_VALUES:
        raise UsageError("Too many filters.", hint=f"Give at most {MOST_VALUES}.")
    for given, wanted in filters.items():
        name = given.removeprefix("-")
        make = _maker(name, domains)
        options = [make(_tame(name, value)) for value in wanted]
        clause = " or ".join(text for text, _ in options)
        # What is unknown does not pass a filter, and is not left out by one.
        clauses.append(f"not coalesce({clause}, 0)" if name != given else f"({clause})")
        values += [value for _, bound in options for value in bound]
    return " and ".join(clauses) or "1", values


def _maker(name: str, domains: dict[str, list[str]]) -> Callable[[str], Condition]:
    if name == "domain":
        return lambda value: _domain(value, domains)
    if name in _MAKERS:
        return _MAKERS[name]
    key = meta_key(name)
    if key:
        return lambda value: _meta(key, value)
    raise UsageError(
        f'There is no filter "{name}".', hint=f"Choose {', '.join(FILTERS)} or {META}KEY."
    )


def _tame(name: str, value: str) -> str:
    """Text that SQLite can bind and match."""
    if not value or len(value) > LONGEST_VALUE:
        what = f"{len(value)} characters" if value else "nothing"
        raise UsageError(
            f"{name}: has {what} to look for.", hint=f"Give it 1 to {LONGEST_VALUE} characters."
        )
    # Half a character cannot be bound. A pattern ends at a NUL, and
    # would match more than was asked for.
    return (
        value.encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
        .replace("\0", "\N{REPLACEMENT CHARACTER}")
    )


def _pattern(value: str) -> str:
    """A glob in which only * and ? are special."""
    return value.replace("[", "[[]")


def _agent(value: str) -> Condition:
    """By its id, or by the first words of one: claude is claude-code."""
    pattern = _pattern(value)
    return "lower(sessions.agent) glob lower(?) or lower(sessions.agent) glob lower(?)", [
        pattern,
        f"{pattern}-*",
    ]


def _project(value: str) -> Condition:
    """By the last names of its key, or by a folder that is known to belong to it."""
    return (
        """
        sessions.project in (
          select a.id from projects a left join projects b on b.id = a.merged_into
           where '/' || lower(replace(a.key, '\\', '/')) glob lower(?)
              or '/' || lower(replace(b.key, '\\', '/')) glob lower(?)
              or coalesce(b.id, a.id) in (
                select coalesce(merged_into, id) from projects
                  join project_aliases on project = id where alias = ?
              )
        )
        """,
        [_path_end(value), _path_end(value), value],
    )


def _session(value: str) -> Condition:
    """By the beginning of its id, with or without the agent; ids are compared with their case."""
    return f"sessions.{'ref' if ':' in value else 'native_id'} glob ?", [f"{_pattern(value)}*"]


def _file(value: str) -> Condition:
    """By the last names of its path.

    One edit may name several, with a comma and a space between them.
    """
    return (
        """
        exists (
          select 1 from tool_calls
           where tool_calls.turn = turns.id and kind in ('edit', 'read')
             and '/' || replace(lower(replace(target, '\\', '/')), ', ', char(10) || '/')
               || char(10) glob lower(?)
        )
        """,
        [_path_end(value).replace(", ", "\n/") + "\n*"],
    )


def _path_end(value: str) -> str:
    """Whole names at the end of a path: client.ts is in src/client.ts, not in http_client.ts."""
    return "*/" + _pattern(value.replace("\\", "/").removeprefix("./").strip("/"))


def _tool(value: str) -> Condition:
    return (
        """
        exists (
          select 1 from tool_calls
           where tool_calls.turn = turns.id and (lower(name) glob lower(?) or kind = lower(?))
        )
        """,
        [_pattern(value), value],
    )


def _model(value: str) -> Condition:
    return (
        "exists (select 1 from usage where usage.turn = turns.id and lower(model) glob lower(?))",
        [f"*{_pattern(value)}*"],
    )


def _meta(key: str, value: str) -> Condition:
    """By a field of the session's record, or by what its log said besides.

    Of a list one is enough.
    """
    clauses, pattern = [], _pattern(value)
    if key in _FIELDS:
        clauses.append(f"lower(sessions.{_FIELDS[key]}) glob lower(?)")
    # A name with dots is a path, or a single name with dots in it.
    paths = dict.fromkeys([f'$."{key}"', '$."' + key.replace(".", '"."') + '"'])
    for _ in paths:
        clauses.append(
            """
            exists (
              select 1 from json_each(sessions.meta, ?)
               where lower(case type when 'true' then type when 'false' then type else atom end)
                     glob lower(?)
            )
            """
        )
    values = [bound for path in paths for bound in (path, pattern)]
    return " or ".join(clauses), [pattern, *values] if key in _FIELDS else values


def _since(value: str) -> Condition:
    return "coalesce(turns.started_at, sessions.started_at) >= ?", [_moment(value, end=False)]


def _until(value: str) -> Condition:
    return "coalesce(turns.started_at, sessions.started_at) < ?", [_moment(value, end=True)]


def _moment(value: str, *, end: bool) -> int:
    found = find_moment(value, end=end)
    if found is None:
        raise UsageError(f'"{value}" is not a date.', hint=f"Use {MOMENTS}.")
    return found


def _is(value: str) -> Condition:
    return _IS[_choice("is", value)], []


def _outcome(value: str) -> Condition:
    clause = (
        "exists (select 1 from digests where digests.session = sessions.id and digests.outcome = ?)"
    )
    return clause, [_choice("outcome", value)]


def _choice(name: str, value: str) -> str:
    if value.lower() not in CHOICES[name]:
        known = ", ".join(f"{name}:{choice}" for choice in CHOICES[name])
        raise UsageError(f"There is no {name}:{value}.", hint=f"Choose {known}.")
    return value.lower()


def _domain(value: str, domains: dict[str, list[str]]) -> Condition:
    patterns = domains.get(value, [])
    clauses = " or ".join("coalesce(b.key, a.key) glob ?" for _ in patterns) or "0"
    return (
        f"""
        sessions.project in (
          select a.id from projects a left join projects b on b.id = a.merged_into
           where {clauses}
        )
        """,
        list(patterns),
    )


_MAKERS: dict[str, Callable[[str], Condition]] = {
    "agent": _agent, "project": _project, "session": _session, "file": _file, "tool": _tool,
    "model": _model, "since": _since, "until": _until, "outcome": _outcome, "is": _is,
}  # fmt: skip
