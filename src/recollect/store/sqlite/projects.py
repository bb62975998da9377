"""Projects: listed, merged and split. A merge is a pointer, so a split undoes it.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.errors import NotFound, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.batch import ProjectIdentity
    from recollect.model.reports import ProjectRow
    from recollect.store.sqlite.database import Database

_ALIASES = "select alias from project_aliases where project = ? order by alias"
_MERGED = "select key from projects where merged_into = ? order by key"


class Projects:
    """Where sessions happened."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def ensure(self, identity: ProjectIdentity) -> int:
        """The project's row, made if need be.

        A folder seen with a repository before belongs to that.
        """
        if identity.kind == "directory":
            alias = self.db.value(
                "select project from project_aliases where alias = ?", (identity.key,)
            )
            if alias is not None:
                return int(alias)
        self.db.execute(
            "insert into projects (key, kind) values (?, ?) on conflict do nothing",
            (identity.key, identity.kind),
        )
        project = int(self.db.value("select id from projects where key = ?", (identity.key,)))
        if identity.kind != "directory" and identity.folder:
            self.db.execute(
                """
                insert into project_aliases values (?, ?)
                on conflict (alias) do update set project = excluded.project
                """,
                (identity.folder, project),
            )
            # What was taken for a plain folder before now has a name.
            folders = self.db.rows(
                """
                update projects set merged_into = ?
                 where key = ? and kind = 'directory' and merged_into is null
                returning id
                """,
                (project, identity.folder),
            )
            if folders:
                _tell_nothing_of(self.db, [folder for (folder,) in folders])
        return project

    def all(self) -> list[ProjectRow]:
        """Every project that is not merged into another, the most recent first."""
        from recollect.model.reports import ProjectRow
        from recollect.system.clock import iso

        rows = self.db.rows(
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
                aliases=self._texts(_ALIASES, number), merged=self._texts(_MERGED, number),
            )
            for number, key, kind, sessions, turns, last in rows
        ]  # fmt: skip

    def _texts(self, sql: str, project: int) -> list[str]:
        return [text for (text,) in self.db.rows(sql, (project,))]

    def merge(self, name: str, into: str) -> None:
        """Show one project's turns under another's name from now on."""
        with self.db.transaction():
            one, other = self._number(name), self._number(into)
            if one == other:
                raise UsageError(f"{name} and {into} are the same project.")
            if self.db.value("select merged_into from projects where id = ?", (other,)) is not None:
                raise UsageError(
                    f"{into} is itself part of another project.",
                    hint=f"Split it first: recollect projects split {into}",
                )
            # Whatever was merged into the one follows it: pointers stay one step long.
            self.db.execute(
                "update projects set merged_into = ? where id = ? or merged_into = ?",
                (other, one, one),
            )
            _tell_nothing_of(self.db, [one])

    def split(self, name: str) -> None:
        """Undo a merge."""
        with self.db.transaction():
            project = self._number(name)
            if self.db.value("select merged_into from projects where id = ?", (project,)) is None:
                raise UsageError(
                    f"{name} is not part of another project.",
                    hint="See which are: recollect projects",
                )
            # While the other is still known: what is told there may be of this one.
            _tell_nothing_of(self.db, [project])
            self.db.execute("update projects set merged_into = null where id = ?", (project,))

    def _number(self, name: str) -> int:
        found = self.db.value("select id from projects where key = ?", (name,))
        if found is None:
            raise NotFound(f'There is no project "{name}".', hint="See them: recollect projects")
        return int(found)

    def find(self, names: list[str]) -> str | None:
        """The project that one of these names, or folders, is known to be; the first that is."""
        for name in names:
            found = self.db.value(
                """
                select coalesce(b.key, a.key) from projects a left join projects b
                  on b.id = a.merged_into
                 where a.key = ?1 or a.id = (select project from project_aliases
                   where alias = ?1) order by a.key = ?1 desc
                """,
                # Half a character cannot be bound, and is in no name.
                (name.encode("utf-8", "replace").decode(),),
            )
            if found is not None:
                return str(found)
        return None

    def every_key(self) -> list[str]:
        """The keys of all projects but those that are merged into another one."""
        rows = self.db.rows("select key from projects where merged_into is null order by key")
        return [str(key) for (key,) in rows]

    def folders(self, project: str) -> list[str]:
        """The folders that belong to a project, without those below another of them."""
        rows = self.db.rows(
            """
            select alias from project_aliases where project in (
              select a.id from projects a left join projects b on b.id = a.merged_into
                where a.key = ?1 or b.key = ?1)
             union select key from projects where key = ?1 and kind != 'remote' order by 1
            """,
            (project,),
        )
        folders: list[str] = []
        for (folder,) in rows:
            if not any(folder.startswith(outer.rstrip("/") + "/") for outer in folders):
                folders.append(folder)
        return folders

    def numbers(self, name: str) -> list[int]:
        """The rows that a project has under all its names."""
        rows = self.db.rows(
            """
            with named (id) as (
              select coalesce(merged_into, id) from projects
               where key = ?1 or id = (select project from project_aliases where alias = ?1)
            )
            select id from projects where id in named or merged_into in named
            """,
            (name,),
        )
        return [number for (number,) in rows]

    def number(self, key: str) -> int | None:
        """The number of a project, or of the one it is merged into."""
        found = self.db.value(
            "select coalesce(merged_into, id) from projects where key = ?", (key,)
        )
        return None if found is None else int(found)


def _tell_nothing_of(db: Database, projects: list[int]) -> None:
    """Leave nothing of these projects ready for hooks: it may be another's now."""
    from recollect.store.sqlite.old.sql.unready import tell_nothing

    tell_nothing(db, projects)
