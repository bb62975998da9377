"""Keeps the rows of `ready` up to date: what is outdated, and what it is replaced by."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.ready import Ready
from recollect.store.told import Reminder, Told
from recollect.system.clock import now_ms

# What may be told to an agent that did not ask: a person's words, or what a tool proved.
_TRUSTED = "status = 'active' and trust in ('user', 'tool-verified') and valid_to is null"
# A time before that of any log.
_OUTDATED = -1
_USUAL_FILES = 20


def outdated_projects(db: Database) -> list[tuple[int, str]]:
    """The projects whose logs were read since they were prepared,
    number and key, the newest first.
    """
    return [
        (project, key)
        for project, key in db.rows(
            """
            with read (project, at) as (
              select coalesce(projects.merged_into, projects.id),
                max(coalesce(sources.imported_at, 0))
                from turns join sessions on sessions.id = turns.session left join sources
                  on sources.id = sessions.source
                join projects on projects.id = sessions.project group by 1
              union all select coalesce(projects.merged_into, projects.id), 0
                from old_notes join projects on projects.id = old_notes.project
            )
            select projects.id, projects.key from read join projects on projects.id = read.project
              left join packs on packs.project = projects.id
             group by projects.id having packs.made_at is null
               or packs.made_at <= max(read.at) order by max(read.at) desc
            """
        )
    ]


def outdate(db: Database, project: int | None = None) -> None:
    """Have a project prepared again, or all of them.

    Inside the transaction of whoever changed something.

    What is ready is told until then.
    """
    mine = (
        ""
        if project is None
        else "where project = (select coalesce(merged_into, id) from projects where id = ?)"
    )
    db.execute(
        f"update packs set made_at = {_OUTDATED} {mine}", () if project is None else (project,)
    )
    Jobs(db).mark("hook lines outdated")


def unsay(db: Database, refs: set[str]) -> None:
    """Take out what quotes any of these memories."""
    for table, key, column in (
        ("packs", "project", "refs"),
        ("reminders", "id", "refs"),
        ("tellings", "id", "ref"),
    ):
        quoting = [
            (number,)
            for number, cited in db.rows(f"select {key}, {column} from {table}")
            if refs & set(cited.split())
        ]
        db.many(f"delete from {table} where {key} = ?", quoting)
        if quoting:
            Jobs(db).mark("hook lines outdated")


def trusted_notes(
    db: Database, project: int | None, *, own: bool = False
) -> list[tuple[str, str, str, int]]:
    """The notes that may be told in a project.

    Without a project the notes that hold everywhere.

    The project's own notes come first, and of each what helped most; what did more harm
    than good is left out. Each as reference, category, text and when it was last confirmed. With `own`, only the project's.
    """
    from recollect.model.publications import is_harmful
    from recollect.store.sqlite.old.sql import measured

    standing = measured.standing(db)
    rows = db.rows(
        f"""
        select iif(old_notes.project is null, 2, 0), 'note:' || old_notes.id, category, text, seen_at
          from old_notes left join projects on projects.id = old_notes.project
         where {_TRUSTED} and ((old_notes.project is null and not ?2)
           or coalesce(projects.merged_into, projects.id) = ?1)
         order by old_notes.project is null, seen_at desc, old_notes.id desc
        """,
        (project, own),
    )
    told = [row for row in rows if not is_harmful(*standing.get(row[1], (0, 0)))]
    told.sort(key=lambda row: (row[0], _harm_over_help(standing.get(row[1], (0, 0)))))
    return [(ref, category, text, at) for _, ref, category, text, at in told]


def _harm_over_help(counts: tuple[int, int]) -> int:
    helpful, harmful = counts
    return harmful - helpful


def begin(db: Database, project: int) -> int:
    """Begin to prepare a project, as of the moment that is returned.

    Until `save_pack` the pack counts as outdated, and carries that moment: when
    `outdate` or `tell_nothing` come in between, or somebody else begins, it is lost,
    and what was made of the older state is not saved. Nor is anything of a
    project that is gone or merged by now.
    """
    with db.transaction():
        # Taken while nobody writes: a log that is not to be seen yet will have a later time.
        begun = now_ms()
        db.execute(
            """
            insert into packs (project, text, refs, made_at)
            select id, '', '', -?2 from projects where id = ?1 and merged_into is null
            on conflict (project) do update set made_at = excluded.made_at
            """,
            (project, begun),
        )
    return begun


def _is_going_on(db: Database, project: int, begun: int) -> bool:
    return (
        db.value("select 1 from packs where project = ? and made_at = -?", (project, begun))
        is not None
    )


def save_reminders(
    db: Database, project: int, begun: int, kind: str, found: Sequence[tuple[str, Reminder]]
) -> None:
    """Replace a project's reminders of one kind by these, each with the word it is found by."""
    with db.transaction():
        if not _is_going_on(db, project, begun):
            return
        db.execute("delete from reminders where project = ? and kind = ?", (project, kind))
        db.many(
            "insert into reminders (project, kind, word, shape, line, refs, at) values (?, ?, ?, "
            "?, ?, ?, ?)",
            [(project, kind, word, one.shape, one.line, one.refs, one.at) for word, one in found],
        )


def newest_reminders(db: Database, project: int, kind: str, limit: int) -> list[Told]:
    """What failed here last, and what worked instead."""
    rows = db.rows(
        "select refs, line, at from reminders where project = ? and kind = ? order by at desc, id "
        "limit ?",
        (project, kind, limit),
    )
    return [Told(*row) for row in rows]


def save_tellings(
    db: Database, project: int, begun: int, found: Sequence[tuple[Told, str]]
) -> None:
    """Replace a project's tellings by these; each has the text whose words it is found by."""
    with db.transaction():
        if _is_going_on(db, project, begun):
            _replace_tellings(db, project, found)


def save_common_tellings(db: Database, found: Sequence[tuple[Told, str]]) -> None:
    """Replace what is told everywhere; what was taken back since it was read is left out."""
    with db.transaction():
        still = {ref for ref, *_ in trusted_notes(db, None)}
        _replace_tellings(db, None, [(told, text) for told, text in found if told.refs in still])


def _replace_tellings(db: Database, project: int | None, found: Sequence[tuple[Told, str]]) -> None:
    ready = Ready(db.connection)
    db.execute("delete from tellings where project is ?", (project,))
    # Of those that fit equally well, the one with the highest number is told.
    for told, text in sorted(found, key=lambda pair: pair[0].at or 0):
        db.execute(
            "insert into tellings (project, ref, line, at) values (?, ?, ?, ?)",
            (project, told.refs, told.line, told.at),
        )
        telling = db.connection.last_insert_rowid()
        db.many(
            "insert into telling_words values (?, ?)",
            [(stem, telling) for stem in ready.stems(text)],
        )


def save_pack(db: Database, project: int, begun: int, text: str, refs: str) -> None:
    """Keep what an agent is told at its start; with that the project is prepared."""
    with db.transaction():
        db.execute(
            """
            update packs set text = ?, refs = ?, made_at = ?, files = ?
             where project = ? and made_at = -?
            """,
            (text, refs, begun, "\n".join(_usual_files(db, project)), project, begun),
        )


def _usual_files(db: Database, project: int) -> list[str]:
    """The files that were changed most in a project, seen from its folder."""
    own = "(select id from projects where id = ?1 or merged_into = ?1)"
    folders = [
        folder.rstrip("/\\")
        for (folder,) in db.rows(
            f"""
            select alias from project_aliases where project in {own}
             union select cwd from sessions
                    where project in {own} and cwd is not null and not external
            """,
            (project,),
        )
    ]
    targets = db.rows(
        f"""
        select target from tool_calls
          join turns on turns.id = turn join sessions on sessions.id = turns.session
         where sessions.project in {own} and kind = 'edit' and target != '' and ok is not 0
           and not external
         group by target order by count(*) desc, target limit {10 * _USUAL_FILES}
        """,
        (project,),
    )
    # The outermost folder is the one at the top of the repository.
    folders.sort(key=len)
    found = dict.fromkeys(
        name for (target,) in targets if (name := _inside(target.split(", ")[0], folders))
    )
    return list(found)[:_USUAL_FILES]


def _inside(path: str, folders: Sequence[str]) -> str | None:
    """A path as it is seen from the first of these folders that it is in."""
    for folder in folders:
        if path.startswith((f"{folder}/", f"{folder}\\")):
            path = path[len(folder) + 1 :]
            break
    path = path.replace("\\", "/").removeprefix("./")
    strange = path.startswith(("/", "~")) or path[1:2] == ":" or ".." in path.split("/")
    return None if strange or "\n" in path else path
