"""The store's side of upkeep: projects, health, forgetting, jobs."""

from __future__ import annotations

from recollect.store.sqlite.sides.opened import Opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from recollect.model.reports import Forgotten, Health, JobRow, Optimized, ProjectRow, Rescanned
    from recollect.model.search import Query
    from recollect.redact import Redactor


class Upkeep(Opened):
    """Looking after what is stored."""

    # Projects

    def find_project(self, names: list[str]) -> str | None:
        """The project that one of these names, or folders, is known to be."""
        from recollect.store.sqlite import places

        return places.find_project(self.db, names)

    def project_folders(self, project: str) -> list[str]:
        """The folders that belong to a project, without those below another of them."""
        from recollect.store.sqlite import calls

        return calls.project_folders(self.db, project)

    def list_projects(self) -> list[ProjectRow]:
        """Every project that is not merged into another."""
        from recollect.store.sqlite import projects

        return projects.list_projects(self.db)

    def merge_projects(self, name: str, into: str) -> None:
        """Show one project's turns under another's name."""
        from recollect.store.sqlite import projects

        projects.merge(self.db, name, into)

    def split_project(self, name: str) -> None:
        """Undo a merge."""
        from recollect.store.sqlite import projects

        projects.split(self.db, name)

    # The store itself

    def redaction_key(self) -> bytes:
        """The key that redaction tags of this store are derived with, made at first use."""
        import os

        find = "select value from store_info where name = 'redaction_key'"
        if self.db.value(find) is None:
            with self.db.transaction():
                self.db.execute(
                    "insert into store_info values ('redaction_key', ?) on conflict do nothing",
                    (os.urandom(32),),
                )
        return bytes(self.db.value(find))

    def after_import(self, turns: int) -> None:
        """Leave the work that an import makes worth doing to the queue."""
        from recollect.store.sqlite import jobs

        kinds = ["optimize text"] if turns >= 500 else []
        # Most sweeps find nothing new, and may not pay for a transaction that changes nothing.
        waiting = {
            kind for (kind,) in self.db.rows("select kind from jobs where state = 'waiting'")
        }
        if turns and "digest" not in waiting:
            kinds.append("digest sessions")
        if turns and "prepare" not in waiting:
            kinds.append("prepare projects")
        if turns:
            # One may wait for the time when a session is not fresh any more.
            kinds.append("distill sessions")
        if "embed" not in waiting and self.db.value("select 1 from unembedded limit 1"):
            kinds.append("embed turns")
        if kinds:
            with self.db.transaction():
                for kind in kinds:
                    jobs.enqueue(self.db, *kind.split())

    def examine(self, *, verify: bool, home: str | None = None) -> Health:
        """What is wrong with the store, if anything; `home` is a folder that must be ours alone."""
        from recollect.store.sqlite import doctor

        return doctor.examine(self.db, verify=verify, home=home)

    def backup(self, path: str, *, force: bool) -> int:
        """An online copy; returns its size in bytes."""
        from recollect.store.sqlite import migrate

        return migrate.back_up(self.db, path, force=force)

    def export(self, query: Query, domains: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
        """Sessions with everything in them, as plain values."""
        from recollect.store.sqlite import export

        return export.export(self.db, query, domains)

    def forget(self, session: str, ordinal: int | None, *, dry_run: bool) -> Forgotten:
        """Remove a session or a turn for good."""
        from recollect.store.sqlite import forget

        return forget.forget(self.db, session, ordinal, dry_run=dry_run)

    def rescan(
        self, redactor: Redactor, progress: Callable[[int, int, str], None] | None
    ) -> Rescanned:
        """Scan everything stored for secrets again."""
        from recollect.store.sqlite import rescan

        return rescan.rescan(self.db, redactor, progress=progress)

    def optimize(self) -> Optimized:
        """Merge the text index into fewer segments."""
        from recollect.store.sqlite import optimize

        return optimize.optimize(self.db)

    def enqueue(self, kind: str, subject: str) -> None:
        """Ask for a job to be done; one that waits already is asked for once."""
        from recollect.store.sqlite import jobs

        if not self.db.value(
            "select 1 from jobs where kind = ? and subject = ? and state = 'waiting'",
            (kind, subject),
        ):
            with self.db.transaction():
                jobs.enqueue(self.db, kind, subject)

    def list_jobs(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed."""
        from recollect.store.sqlite import jobs

        return jobs.list_jobs(self.db, limit)

    def count_due_jobs(self) -> int:
        """How many jobs somebody could begin now."""
        from recollect.store.sqlite import jobs

        return jobs.count_due(self.db)

    def work(
        self, handlers: Mapping[str, Callable[[str], object]], limit: int | None = None
    ) -> int:
        """Do the jobs that are due and that there is a handler for."""
        from recollect.store.sqlite import jobs

        return jobs.work(self.db, handlers, limit)

    def fail_job(self, kind: str, subject: str, error: str) -> None:
        """Leave to the queue what failed outside of it."""
        from recollect.store.sqlite import jobs

        jobs.leave(self.db, kind, subject, error)

    def drop_job(self, kind: str, subject: str) -> None:
        """What was asked for is done."""
        from recollect.store.sqlite import jobs

        jobs.drop(self.db, kind, subject)

    def example_query(self) -> str:
        """Two words of a recent human prompt."""
        from recollect.store.sqlite import search

        return search.example_query(self.db)
