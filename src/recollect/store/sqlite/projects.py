"""Projects: known by many names, listed, merged and split.

A merge is a pointer, so a split undoes it.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.errors import NotFound, UsageError
from recollect.system import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.model.batch import ProjectIdentity, SessionPlace
    from recollect.model.reports import ProjectRow
    from recollect.store.sqlite.database import Database

_ALIASES = "select alias from project_aliases where project = ? order by alias"
_MERGED = "select key from projects where merged_into = ? order by key"


# A chain of sub-agents that is longer than this is a circle.
_DEEPEST = 50


class KnownProject:
    """A project's row, under the name that it is shown by."""

    __slots__ = ("id", "kind")

    def __init__(self, number: int, kind: str) -> None:
        self.id, self.kind = number, kind


class Projects:
    """Where sessions happened."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self._doubtful: set[int] = set()

    # Which one it is

    def known(self, place: ProjectIdentity) -> KnownProject | None:
        """The project that a place is known to be, or to be a part of."""
        if place.kind == "remote":
            found = self._named(place.key)
            if found is not None or not place.seen:
                return found
        for folder in (*place.folders, place.key):
            # A remote that changed, or came later, makes no other project of a folder.
            found = self._named(folder)
            if found is not None and (not place.seen or self._was_seen(folder)):
                return found
        for folder in () if place.seen else place.parents:
            found = self._named(folder)
            if found is not None and self._has_parts(folder, found.kind, place.kind):
                return found
        return None

    def _named(self, name: str) -> KnownProject | None:
        row = self.db.row(
            """
            select coalesce(b.id, a.id), coalesce(b.kind, a.kind)
              from projects a left join projects b on b.id = a.merged_into
             where a.key = ?1 or a.id = (select project from project_aliases where alias = ?1)
             order by a.key = ?1 desc limit 1
            """,
            (name,),
        )
        return None if row is None else KnownProject(*row)

    def _was_seen(self, folder: str) -> bool:
        seen = self.db.value("select seen from project_aliases where alias = ?", (folder,))
        return seen is None or bool(seen)

    def _has_parts(self, folder: str, kind: str, part: str) -> bool:
        """Whether what lies in the folder of a project is part of it.

        Not a repository in a folder that is none, and nothing in a folder of several.
        """
        return kind != "directory" or (
            part == "directory" and self._repositories_below(folder, 2) < 2
        )

    def _repositories_below(self, folder: str, most: int) -> int:
        low, high = _below(folder)
        return len(
            self.db.rows(
                """
                select distinct coalesce(merged_into, id) from projects
                 where kind != 'directory' and (key > ?1 and key < ?2
                   or id in (select project from project_aliases where alias > ?1 and alias < ?2))
                 limit ?3
                """,
                (low, high, most),
            )
        )

    def ensure(self, place: ProjectIdentity) -> int:
        """The project of a place, made if need be, with what it is known by brought up to date."""
        if place.kind != "directory":
            for folder in place.folders or (place.key,):
                self._part_from_above(folder)
        if place.kind != "remote":
            known = self.known(place) or self._only_one_below(place)
            if known is not None:
                # A folder that sessions began in turns out to be a repository.
                if known.kind == "directory" and place.kind == "repository":
                    self.db.execute("update projects set kind = ? where id = ? and key = ?",
                                    (place.kind, known.id, place.key))  # fmt: skip
                self._claim(place, known.id)
                return known.id
        named = self._named(place.key)
        if named is None:
            self.db.execute(
                "insert into projects (key, kind) values (?, ?)", (place.key, place.kind)
            )
            number = int(self.db.value("select id from projects where key = ?", (place.key,)))
        else:
            number = named.id
        self._claim(place, number)
        if (
            place.kind == "directory"
            and not place.gathers
            and named is None
            and self._repositories_below(place.key, 2) < 2
        ):
            self._absorb(place.key, number)
        return number

    def _only_one_below(self, place: ProjectIdentity) -> KnownProject | None:
        """The one project that logs know below a folder of which they say that it is in a
        repository.
        """
        if place.kind != "repository" or place.seen:
            return None
        low, high = _below(place.key)
        rows = self.db.rows(
            """
            select distinct coalesce(b.id, a.id), coalesce(b.kind, a.kind) from project_aliases
              join projects a on a.id = project left join projects b on b.id = a.merged_into
             where alias > ? and alias < ? and not seen
            """,
            (low, high),
        )
        return KnownProject(*rows[0]) if len(rows) == 1 else None

    def _claim(self, place: ProjectIdentity, project: int) -> None:
        """Note down the folders of a project.

        What was taken for a project of its own there is part of this one now.
        """
        folders = place.folders
        if place.kind == "repository" and not place.seen:
            folders = (place.key,)
        for folder in folders:
            before = self.db.row(
                """
                select coalesce(merged_into, id), kind, seen from project_aliases
                  join projects on id = project where alias = ?
                """,
                (folder,),
            )
            if before is not None and before[0] == project and (before[2] or not place.seen):
                continue
            if before is not None and before[2] and not place.seen:
                continue
            self.db.execute(
                """
                insert into project_aliases values (?1, ?2, ?3)
                on conflict (alias) do update set project = ?2, seen = ?3
                """,
                (folder, project, place.seen),
            )
            if before is not None and before[2] and before[0] != project:
                self._move(folder, before[0], project)
            self._absorb(folder, project)
            self._doubt_folders_above(folder)
        if not place.seen:
            self._adopt(place, project)

    def _move(self, folder: str, before: int, project: int) -> None:
        """The repository of a folder has another remote than it had: its sessions go with it, and
        its notes too unless other clones keep the project.
        """
        low, high = _below(folder)
        elsewhere = self.db.value(
            """
            select 1 from sessions where project in (select id from projects
                    where id = ?1 or merged_into = ?1)
               and not (cwd is ?2 or (cwd > ?3 and cwd < ?4)
                 or cwd in (select alias from project_aliases where project = ?5)) limit 1
            """,
            (before, folder, low, high, project),
        )
        if elsewhere is None:
            self._point([before], project)
            return
        moved = self.db.rows(
            """
            select id from sessions where project = ? and (cwd is ? or (cwd > ? and cwd < ?))
            """,
            (before, folder, low, high),
        )
        self.assign([session for (session,) in moved], project)

    def _absorb(self, folder: str, project: int) -> None:
        """Folders that were projects of their own are part of the one around them."""
        low, high = _below(folder)
        rows = self.db.rows(
            """
            select id from projects where (key = ?1 or (key > ?2 and key < ?3)) and id != ?4
               and (kind = 'directory' or (key = ?1 and kind = 'repository'))
               and merged_into is null
            """,
            (folder, low, high, project),
        )
        self._point([number for (number,) in rows], project)

    def _part_from_above(self, folder: str) -> None:
        """A repository is no part of a folder around it, though its own folder was taken for one
        before anything told that it is a repository.
        """
        low, high = _below(folder)
        for above in places.parents(folder):
            self.db.execute(
                """
                update projects set merged_into = null
                 where merged_into = (select id from projects where key = ? and kind = 'directory')
                   and kind = 'directory' and (key = ? or (key > ? and key < ?))
                """,
                (above, folder, low, high),
            )

    def _adopt(self, place: ProjectIdentity, project: int) -> None:
        """A folder above that a log said is in a repository is in this one."""
        for folder in (above for own in place.folders for above in places.parents(own)):
            row = self.db.row(
                """
                select id from projects where key = ? and kind = 'repository'
                   and merged_into is null and id != ?
                   and not exists (select 1 from project_aliases where alias = key and seen)
                """,
                (folder, project),
            )
            if row is not None:
                self._point([row[0]], project)

    def _doubt_folders_above(self, folder: str) -> None:
        """A folder with a repository in it holds what is in the repository no more, and one
        with several holds nothing that is below it.
        """
        for above in places.parents(folder):
            number = self.db.value(
                "select id from projects where key = ? and kind = 'directory'", (above,)
            )
            if number is None:
                continue
            low, high = _below(folder)
            if self._repositories_below(above, 2) == 2:
                low, high = _below(above)
                self._take_apart(number, low, high)
            rows = self.db.rows(
                """
                select id from sessions
                 where project = ?1 and (cwd = ?2 or (cwd > ?3 and cwd < ?4))
                """,
                (number, folder, low, high),
            )
            self._doubtful.update(session for (session,) in rows)

    def _take_apart(self, whole: int, low: str, high: str) -> None:
        """Let the folders below one that holds several repositories be projects again, each
        with the folders below it.
        """
        parts = self.db.rows(
            """
            select id, key from projects
             where merged_into = ? and kind = 'directory' and key > ? and key < ? order by key
            """,
            (whole, low, high),
        )
        free = "update projects set merged_into = null where id = ?"
        self.db.many(free, [(number,) for number, _ in parts])
        for number, folder in parts:
            above = "select merged_into from projects where id = ?"
            is_part = self.db.value(above, (number,)) is not None
            if not is_part and self._repositories_below(folder, 2) < 2:
                self._absorb(folder, number)

    def take_doubtful(self) -> set[int]:
        """The sessions that may belong elsewhere, now that more is known of the folders
        around theirs, each told once.
        """
        doubtful, self._doubtful = self._doubtful, set()
        return doubtful

    def _point(self, parts: list[int], project: int) -> None:
        """Show these projects' sessions under another's name from now on."""
        for part in parts:
            # Whatever was merged into the one follows it: pointers stay one step long.
            self.db.execute(
                "update projects set merged_into = ?1 where id = ?2 or merged_into = ?2",
                (project, part),
            )
        if parts:
            _tell_nothing_of(self.db, parts)

    # The sessions of a project

    def family(self, session: int) -> list[int]:
        """A session and all its sub-agents, the one that started them first.

        Given by any of them. Empty when there is no such session.
        """
        rows = self.db.rows(
            """
            with recursive above (id, parent, origin, depth) as (
              select id, parent, origin, 0 from sessions where id = ?1
              union all
              select one.id, one.parent, one.origin, depth + 1
                from above join sessions one on one.ref = above.parent
               where above.origin = 'subagent' and depth < ?2
            ),
            below (id, ref, depth) as (
              select id, ref, 0 from sessions
               where id = (select id from above order by depth desc limit 1)
              union
              select one.id, one.ref, depth + 1
                from below join sessions one on one.parent = below.ref
               where one.origin = 'subagent' and depth < ?2
            )
            select id from below group by id order by min(depth), id
            """,
            (session, _DEEPEST),
        )
        return [number for (number,) in rows]

    def start(self, family: list[int]) -> SessionPlace:
        """Where a session began; the first of its sub-agents that says so speaks for it."""
        from recollect.model.batch import SessionPlace

        told = SessionPlace(None, None, None)
        for session in family:
            row = self.db.row(
                "select cwd, git_remote, git_branch from sessions where id = ?", (session,)
            )
            told = SessionPlace(*(row or (None, None, None)))
            if told.cwd or told.git_remote:
                break
        return told

    def edited(self, sessions: list[int]) -> Iterator[tuple[str, str | None]]:
        """The targets of all edits in these sessions, with the folders they were made from."""
        for session in sessions:
            yield from self.db.rows(
                """
                select distinct target, folder from tool_calls
                 where turn in (select id from turns where session = ?)
                   and kind = 'edit' and target is not null
                """,
                (session,),
            )

    def assign(self, sessions: list[int], project: int | None) -> None:
        """Let these sessions belong to a project, or to none.

        What was made of them where they belonged before is told there no more.
        """
        left = set()
        for session in sessions:
            row = self.db.row("select project from sessions where id = ?", (session,))
            if row is None or row[0] == project or self._is_shown_as(row[0], project):
                continue
            self.db.execute("update sessions set project = ? where id = ?", (project, session))
            if row[0] is not None:
                left.add(row[0])
                _make_anew(self.db, session)
        if left:
            _tell_nothing_of(self.db, [*left, *(() if project is None else (project,))])
            for before in left:
                self._drop_empty(before)

    def _is_shown_as(self, project: int | None, other: int | None) -> bool:
        into = "select merged_into from projects where id = ?"
        return (
            project is not None and other is not None and self.db.value(into, (project,)) == other
        )

    def _drop_empty(self, project: int) -> None:
        """A folder that was taken for a project, and that nothing is about, goes."""
        self.db.execute(
            """
            delete from notes where project = ?1 and decided_at is null and author != 'agent'
               and not exists (select 1 from sessions where project = ?1)
            """,
            (project,),
        )
        self.db.execute(
            """
            delete from projects where id = ?1 and kind = 'directory'
               and not exists (select 1 from sessions where project = ?1)
               and not exists (select 1 from projects where merged_into = ?1)
               and not exists (select 1 from notes where project = ?1)
               and not exists (select 1 from episodes where project = ?1)
               and not exists (select 1 from project_aliases where project = ?1)
               and not exists (select 1 from injections where project = ?1)
               and not exists (select 1 from publications where project = ?1)
            """,
            (project,),
        )

    def all(self) -> list[ProjectRow]:
        """Every project that is not merged into another, the most recent first."""
        from recollect.model.reports import ProjectRow
        from recollect.store.sqlite.search.families import FAMILIES, IN_FAMILY, LISTED
        from recollect.system.clock import iso

        rows = self.db.rows(
            f"""
            {FAMILIES}
            select main.id, main.key, main.kind, count(distinct {LISTED}), count(turns.id),
                   max(coalesce(turns.ended_at, turns.started_at))
              from projects main
              join projects one on coalesce(one.merged_into, one.id) = main.id
              left join sessions on sessions.project = one.id
              left join turns on turns.session = sessions.id {IN_FAMILY}
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
        """Show one project's sessions under another's name from now on."""
        with self.db.transaction():
            one, other = self._number(name), self._number(into)
            if one == other:
                raise UsageError(f"{name} and {into} are the same project.")
            if self.db.value("select merged_into from projects where id = ?", (other,)) is not None:
                raise UsageError(
                    f"{into} is itself part of another project.",
                    hint=f"Split it first: recollect projects split {into}",
                )
            self._point([one], other)

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

    def is_remote(self, key: str) -> bool:
        """Whether a project is known by its git remote, and so by the same name elsewhere."""
        return bool(self.db.value("select kind = 'remote' from projects where key = ?", (key,)))

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

    def key(self, number: int) -> str:
        """The key of a project, under its merged name."""
        return str(
            self.db.value(
                """
                select coalesce(b.key, a.key) from projects a
                  left join projects b on b.id = a.merged_into where a.id = ?
                """,
                (number,),
            )
        )

    def number(self, key: str) -> int | None:
        """The number of a project, or of the one it is merged into."""
        found = self.db.value(
            "select coalesce(merged_into, id) from projects where key = ?", (key,)
        )
        return None if found is None else int(found)


def _tell_nothing_of(db: Database, projects: list[int]) -> None:
    """Leave nothing of these projects ready for hooks: it may be another's now."""
    from recollect.store.sqlite.hook_lines import HookLines

    HookLines(db).clear(projects)


def _make_anew(db: Database, session: int) -> None:
    """Have digested again what a session came to; what was learned for the place where it was
    thought to be holds there no more.
    """
    from recollect.store.sqlite.notes import Notes

    Notes(db).unlearn([session])
    db.execute("insert or replace into undigested values (?, random())", (session,))


def _below(folder: str) -> tuple[str, str]:
    """Between which texts the paths below a folder are."""
    separator = "\\" if "\\" in folder else "/"
    folder = folder.rstrip(separator)
    return folder + separator, folder + chr(ord(separator) + 1)
