"""Projects: listed, merged and split. A merge is a pointer, so a split undoes it."""

from __future__ import annotations

from recollect.errors import NotFound, UsageError
from recollect.model.batch import ProjectIdentity
from recollect.model.reports import ProjectRow
from recollect.store.sqlite import prepared
from recollect.store.sqlite.database import Database
from recollect.system.clock import iso


def ensure_project(db: Database, identity: ProjectIdentity) -> int:
    """The project's row, made if need be.

    A folder seen with a repository before belongs to that.
    """
    if identity.kind == "directory":
        alias = db.value("select project from project_aliases where alias = ?", (identity.key,))
        if alias is not None:
            return int(alias)
    db.execute(
        "insert into projects (key, kind) values (?, ?) on conflict do nothing",
        (identity.key, identity.kind),
    )
    project = int(db.value("select id from projects where key = ?", (identity.key,)))
    if identity.kind != "directory" and identity.folder:
        db.execute(
            "insert into project_aliases values (?, ?) on conflict (alias) do update set project = "
            "excluded.project",
            (identity.folder, project),
        )
        # What was taken for a plain folder before now has a name.
        folders = db.rows(
            "update projects set merged_into = ? where key = ? and kind = 'directory' and "
            "merged_into is null returning id",
            (project, identity.folder),
        )
        if folders:
            prepared.drop(db, [folder for (folder,) in folders])
    return project


def list_projects(db: Database) -> list[ProjectRow]:
    """Every project that is not merged into another, the most recent first."""
    rows = db.rows(
        """
        select main.id, main.key, main.kind, count(distinct turns.session), count(turns.id),
               max(coalesce(turns.ended_at, turns.started_at))
          from projects main
          join projects one on coalesce(one.merged_into, one.id) = main.id
          left join turns on turns.project = one.id
         where main.merged_into is null group by main.id order by 6 desc, main.key
        """
    )
    return [
        ProjectRow(
            key=key, kind=kind, domain=None, sessions=sessions, turns=turns, last_at=iso(last),
            aliases=_texts(db, "select alias from project_aliases where project = ? order by "
                               "alias", number),
            merged=_texts(db, "select key from projects where merged_into = ? order by key",
            number),
        )
        for number, key, kind, sessions, turns, last in rows
    ]  # fmt: skip


def _texts(db: Database, sql: str, project: int) -> list[str]:
    return [text for (text,) in db.rows(sql, (project,))]


def merge(db: Database, name: str, into: str) -> None:
    """Show one project's turns under another's name from now on."""
    with db.transaction():
        one, other = _project(db, name), _project(db, into)
        if one == other:
            raise UsageError(f"{name} and {into} are the same project")
        if db.value("select merged_into from projects where id = ?", (other,)) is not None:
            raise UsageError(
                f"{into} is itself merged into another project",
                hint=f"split it first: recollect projects split {into}",
            )
        # Whatever was merged into the one follows it: pointers stay one step long.
        db.execute(
            "update projects set merged_into = ? where id = ? or merged_into = ?", (other, one, one)
        )
        prepared.drop(db, [one])


def split(db: Database, name: str) -> None:
    """Undo a merge."""
    with db.transaction():
        project = _project(db, name)
        if db.value("select merged_into from projects where id = ?", (project,)) is None:
            raise UsageError(
                f"{name} is not merged into anything", hint="`recollect projects` lists what is"
            )
        # While the other is still known: what is told there may be of this one.
        prepared.drop(db, [project])
        db.execute("update projects set merged_into = null where id = ?", (project,))


def _project(db: Database, name: str) -> int:
    found = db.value("select id from projects where key = ?", (name,))
    if found is None:
        raise NotFound(f"no project is called {name}", hint="`recollect projects` lists them")
    return int(found)
