"""Trace memories, and what a project's memory was made of and published as.

The rows are the truth; the files in the memories folder follow them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from recollect.model.digests import Digest, Engine, Trace
from recollect.model.leases import Lease
from recollect.store.notes import compared
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.digests import find_readable_digest
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.leases import Leases
from recollect.store.sqlite.old.sql import extractions
from recollect.store.sqlite.sources import path_text
from recollect.store.traces import Candidate, KeptTrace, Published, without_lines
from recollect.system.clock import now_ms

# Words of a folder's name by which a tool's memory is known.
_MEMORY_WORDS = frozenset(("mem", "memory", "memories"))

_PLACED = """
    traces join sessions on sessions.id = traces.session join digests on digests.session = sessions.id
    join projects on projects.id = sessions.project
"""
_PROJECT = "coalesce(projects.merged_into, projects.id)"
_TIME = "coalesce(sessions.ended_at, sessions.started_at)"
_IN_PROJECT = """
    left join projects a on a.id = sessions.project left join projects b on b.id = a.merged_into
    where (?1 is null or coalesce(b.key, a.key) = ?1)
"""
# Not one that began by distilling.
_WITH_A_PERSON = f"""
    {extractions.WITH_A_PERSON} and not exists (
      select 1 from tool_calls where kind = 'shell' and target like '%recollect%distill%'
        and turn = (select id from turns where turns.session = sessions.id order by ordinal limit 1)
    )
"""


def candidates(
    db: Database, *, engine: Engine, idle_before: int | None, project: str | None, home: str
) -> tuple[int, list[Candidate]]:
    """How many sessions there are to consider, and those without a trace memory
    of their present state, newest first.

    Only conversations with a person, that have been quiet since
    `idle_before`, and that were not themselves about making memories, ours in
    `home` or another tool's. What the rules made is made again by a model.
    """
    considered = int(db.value(f"select count(*) from sessions {_IN_PROJECT}", (project,)))
    rows = db.rows(
        f"""
        select sessions.id, sessions.ref, digests.state, sessions.cwd, exists (
                 select 1 from jobs where kind = 'trace' and subject = sessions.ref
                   and jobs.created_at >= digests.made_at)
          from sessions join digests on digests.session = sessions.id left join traces
            on traces.session = sessions.id
          {_IN_PROJECT} and {_WITH_A_PERSON}
           and (?2 is null or coalesce({_TIME}, 0) <= ?2)
           and (traces.state is null or traces.state != digests.state
             or (traces.engine = 'rules' and ?3 != 'rules'))
           and not exists (select 1 from undigested where undigested.session = sessions.id)
         order by {_TIME} desc, sessions.id desc
        """,
        (project, idle_before, engine),
    )
    return considered, [
        Candidate(number, ref, state, bool(queued))
        for number, ref, state, cwd, queued in rows
        if not _keeps_memories(cwd, home)
    ]


def find_candidate(db: Database, ref: str) -> Candidate | None:
    """A session as a candidate at its present state, whoever has distilled it before.

    None for one that never is.
    """
    row = db.row(
        f"""
        select sessions.id, state from sessions join digests on digests.session = sessions.id
         where ref = ? and {_WITH_A_PERSON}
        """,
        (ref,),
    )
    return Candidate(row[0], ref, row[1], True) if row else None


def _keeps_memories(cwd: str | None, home: str) -> bool:
    """Whether a folder is where we, or another tool in its hidden folder, keep memories."""
    if not cwd:
        return False
    if cwd == home or cwd.startswith(home + os.sep):
        return True
    parts = cwd.replace("\\", "/").split("/")
    hidden = next(
        (number for number, part in enumerate(parts) if part.startswith(".") and part.strip(".")),
        len(parts),
    )
    return any(
        _MEMORY_WORDS & set(compared(part.replace("_", " ")).split()) for part in parts[hidden:]
    )


def distill_later(db: Database, idle_ms: int) -> None:
    """Ask for the sessions that are too fresh to be distilled when the
    first of them is not so any more.
    """
    now = now_ms()
    first = db.value(
        f"""
        select min({_TIME}) from sessions left join digests on digests.session = sessions.id
          left join traces on traces.session = sessions.id
         where {_WITH_A_PERSON} and {_TIME} > ? and (traces.state is null
           or traces.state is not digests.state)
        """,
        (now - idle_ms,),
    )
    if first is not None:
        with db.transaction():
            # A clock that ran ahead is no reason to wait for longer than usual.
            Jobs(db).mark("session settled", at=min(first, now) + idle_ms)


def save(db: Database, candidate: Candidate, trace: Trace) -> bool:
    """Keep a trace memory; False when its session has changed since the
    candidate was found, or is gone.
    """
    with db.transaction():
        if (
            db.value("select state from digests where session = ?", (candidate.session,))
            != candidate.state
        ):
            return False
        db.execute(
            "insert or replace into traces values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                candidate.session, candidate.state, trace.engine, trace.memory, trace.summary,
                trace.tokens, trace.cost_usd,
                now_ms(),
            ),
        )  # fmt: skip
    return True


def traced_state(db: Database, candidate: Candidate) -> str | None:
    """The state of a session that its trace memory is of."""
    found = db.value("select state from traces where session = ?", (candidate.session,))
    return None if found is None else str(found)


def find(db: Database, ref: str, state: str | None = None) -> Trace | None:
    """A session's trace memory, as far as there is one; only of one state if that is given."""
    row = db.row(
        """
        select coalesce(b.key, a.key), memory, summary, engine, tokens, cost_usd
          from traces join sessions on sessions.id = traces.session
          left join projects a on a.id = sessions.project left join projects b
            on b.id = a.merged_into
         where sessions.ref = ?1 and (?2 is null or traces.state = ?2)
        """,
        (ref, state),
    )
    if row is None:
        return None
    project, memory, summary, engine, tokens, cost = row
    return Trace(
        session=ref,
        project=project,
        memory=memory,
        summary=summary,
        engine=engine,
        tokens=tokens,
        cost_usd=cost,
    )


def kept(db: Database, project: int, limit: int) -> list[KeptTrace]:
    """A project's newest trace memories."""
    rows = db.rows(
        f"""
        select sessions.ref, sessions.cwd, (select path from sources
          where sources.id = sessions.source), {_TIME}, digests.title,
               traces.memory, traces.summary
          from {_PLACED} where {_PROJECT} = ? and traces.memory != ''
            order by {_TIME} desc, sessions.id desc limit ?
        """,
        (project, limit),
    )
    return [
        KeptTrace(ref, cwd, None if path is None else path_text(path), at, title, memory, summary)
        for ref, cwd, path, at, title, memory, summary in rows
    ]


def digests_of(db: Database, project: int, limit: int) -> list[Digest]:
    """What the newest sessions of a project came to that have a trace memory, the newest first."""
    rows: list[tuple[Any, ...]] = db.rows(
        f"""
        select digests.digest, sessions.ref from {_PLACED} where {_PROJECT} = ?
          and traces.memory != ''
         order by {_TIME} desc, sessions.id desc limit ?
        """,
        (project, limit),
    )
    found = [find_readable_digest(packed) for packed, _ in rows]
    return [digest for digest in found if digest is not None]


def projects(db: Database) -> list[tuple[int, str]]:
    """Every project with a trace memory or with something published, number and key."""
    return [
        (number, key)
        for number, key in db.rows(
            f"""
            select id, key from projects where merged_into is null and (
              id in (select {_PROJECT} from {_PLACED} where traces.memory != '')
              or id in (select project from publications where gone_at is null)
                or id in (select project from consolidations)
            ) order by id
            """
        )
    ]


def state_of(db: Database, project: int) -> str:
    """What a project's memory would be made of now: equal as long as that is the same."""
    rows = db.rows(
        f"""
        select sessions.ref, traces.state, traces.engine from {_PLACED}
         where {_PROJECT} = ? and traces.memory != '' order by 1
        """,
        (project,),
    )
    return sha256(msgspec.json.encode([rows, sorted(refused(db, project))])).hexdigest()


def refused(db: Database, project: int) -> set[str]:
    """The words of notes that a person rejected or that others have taken the
    place of, in a project or everywhere.
    """
    rows = db.rows(
        """
        select words from old_notes left join projects on projects.id = old_notes.project
         where status in ('rejected', 'superseded') and (old_notes.project is null
           or coalesce(merged_into, projects.id) = ?)
        """,
        (project,),
    )
    return {words for (words,) in rows}


def turns_of(db: Database, project: int) -> dict[str, set[int]]:
    """The sessions of a project that have a trace memory, with the numbers of their turns."""
    found: dict[str, set[int]] = {}
    for ref, ordinal in db.rows(
        f"""
        select sessions.ref, turns.ordinal from {_PLACED} join turns on turns.session = sessions.id
         where {_PROJECT} = ? and traces.memory != '' and turns.live
        """,
        (project,),
    ):
        found.setdefault(ref, set()).add(ordinal)
    return found


def is_due(db: Database, project: int, engine: Engine) -> bool:
    """Whether a project's memory would be made of something else by now.

    What the rules made is made again by a model.
    """
    row = db.row("select state, engine from consolidations where project = ?", (project,))
    return row is None or row[0] != state_of(db, project) or (row[1] == "rules" != engine)


def is_queued(db: Database, project: int, key: str) -> bool:
    """Whether a job is there to try again what a model failed on, and nothing has changed since."""
    return bool(
        db.value(
            f"""
            select exists (select 1 from jobs where kind = 'memory' and subject = ?2
              and created_at >= (
              select coalesce(max(traces.made_at), 0) from {_PLACED} where {_PROJECT} = ?1))
            """,
            (project, key),
        )
    )


def publish(
    db: Database,
    lease: Lease,
    project: int,
    state: str | None,
    files: Mapping[str, Published],
    *,
    engine: Engine = "rules",
) -> None:
    """Make these the current files of a project.

    Raises LeaseLost, and changes nothing, when we are not its writer any more.

    Without a state the project's memory is still to be made.
    """
    now = now_ms()
    with db.transaction():
        Leases(db).check(lease)
        current = {
            name: (number, text)
            for name, number, text in db.rows(
                "select name, id, text from publications where project = ? and gone_at is null",
                (project,),
            )
        }
        for name, (number, text) in current.items():
            if name not in files or files[name].text != text:
                db.execute("update publications set gone_at = ? where id = ?", (now, number))
        for name, made in files.items():
            sessions = msgspec.json.encode(made.sessions).decode()
            if name in current and current[name][1] == made.text:
                db.execute(
                    "update publications set sessions = ? where id = ?",
                    (sessions, current[name][0]),
                )
            else:
                db.execute(
                    "insert into publications (project, name, text, sessions, engine, made_at) "
                    "values (?, ?, ?, ?, ?, ?)",
                    (project, name, made.text, sessions, engine, now),
                )
        if state is not None:
            db.execute(
                "insert or replace into consolidations values (?, ?, ?)", (project, state, engine)
            )


def published(db: Database, project: int, *, by_model: bool = False) -> dict[str, str]:
    """The current files of a project's memory, besides those that are made of trace memories."""
    return dict(
        db.rows(
            """
            select name, text from publications where project = ?1 and gone_at is null
              and (engine != 'rules' or not ?2)
             order by name
            """,
            (project, by_model),
        )
    )


def folders(db: Database) -> set[str]:
    """The names of the folders that files were written into."""
    return {name for (name,) in db.rows("select name from memory_folders")}


def keep_folder(db: Database, name: str) -> None:
    """Remember that files are written into a folder.

    Inside the transaction in which that is done.
    """
    db.execute("insert or ignore into memory_folders values (?)", (name,))


def drop_folder(db: Database, name: str) -> None:
    """A folder has nothing of ours any more."""
    db.execute("delete from memory_folders where name = ?", (name,))


def lease_name(project: int) -> str:
    """What a consolidator of a project holds."""
    return f"consolidate:{project}"


def forget(db: Database, sessions: Mapping[int, str]) -> None:
    """Leave nothing that was made of these sessions; inside the transaction that forgets them.

    A consolidator that has read them already cannot write any more. What is
    left is put together again by a job, should whoever forgets not do it.
    """
    places = f"select {_PROJECT} from sessions join projects on projects.id = sessions.project where sessions.id = ?"
    touched = {project for number in sessions for (project,) in db.rows(places, (number,))}
    for ref in sessions.values():
        touched |= _unpublish(db, ref)
    db.many("delete from traces where session = ?", [(number,) for number in sessions])
    outdate(db, touched)


def _unpublish(db: Database, ref: str) -> set[int]:
    """Remove every version that a session is behind; returns the projects.

    Nobody can make again what a model wrote without asking it: of its current
    MEMORY.md the lines that do not cite the session stay.
    """
    rows = db.rows(
        """
        select id, project, text, sessions, name = 'MEMORY.md' and gone_at is null
          and engine != 'rules' from publications
         where exists (select 1 from json_each(sessions) where value = ?)
        """,
        (ref,),
    )
    for number, _, text, sessions, stays in rows:
        left = without_lines(text, lambda line: f"{ref}#" in line) if stays else ""
        if left:
            others = msgspec.json.encode(
                [one for one in msgspec.json.decode(sessions) if one != ref]
            ).decode()
            db.execute(
                "update publications set text = ?, sessions = ? where id = ?",
                (left, others, number),
            )
        else:
            db.execute("delete from publications where id = ?", (number,))
    return {project for _, project, *_ in rows}


def outdate(db: Database, projects: Iterable[int]) -> None:
    """Have the memory of these projects made again, and by nobody who began before."""
    for project in projects:
        Leases(db).revoke(lease_name(project))
        db.execute("delete from consolidations where project = ?", (project,))
        db.execute(
            "delete from jobs where kind = 'memory' and subject = (select key from projects where "
            "id = ?)",
            (project,),
        )
    Jobs(db).mark("memories outdated")
