"""The front door, capture: logs come in."""

from __future__ import annotations

import os

from recollect.memory.projects import Projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from threading import Event

    from recollect.capture.discover import Found
    from recollect.capture.sweep import Progress, Sweep
    from recollect.model.reports import AgentRow, ImportReport
    from recollect.store import Store


class Capture(Projects):
    """Import, watch, and the agents that logs are read from."""

    def import_logs(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        agents: Sequence[str] = (),
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Bring the store up to date with every agent's logs, or with those at these paths.

        What each source came to is in `source_reports` afterwards. A dry run
        discovers and reads, and writes nothing.
        """
        sweep = self._dry_sweep() if dry_run else self._sweeper()
        self._looked_in = None
        report, self.source_reports = sweep.run(
            self.sources(paths, agents), dry_run=dry_run, progress=progress
        )
        if report.imported and self._looked_in is not None and not dry_run:
            # What was just read tells where else agents may have left something.
            more, reports = sweep.run(
                self._in_new_projects(agents, self._looked_in), progress=progress
            )
            report, self.source_reports = report + more, self.source_reports + reports
        if not dry_run:
            store = self._opened(create=True)
            store.old.drain_spool()
            store.jobs.after_import(report.turns)
            self._leave_retaining(store, report.turns)
        return report

    def sources(
        self, paths: Sequence[str | os.PathLike[str]] = (), agents: Sequence[str] = ()
    ) -> Iterator[Found]:
        """The logs an import would look at."""
        from recollect.capture import discover
        from recollect.system import platforms

        adapters = self.adapters(agents)
        found: Iterator[Found]
        if paths:
            found = (
                item
                for path in paths
                for item in discover.below(adapters, os.fspath(path), self._known_agent)
            )
        else:
            extra = self.settings.texts("sources.extra")
            found = discover.everywhere(
                adapters, platforms.user_home(), self.environ, extra, self._worked_in
            )
        return self._allowed(found)

    def _in_new_projects(self, agents: Sequence[str], looked_in: set[str]) -> Iterator[Found]:
        """The logs in folders that agents worked in, and that were not
        known when the others were looked at.
        """
        from recollect.capture import discover

        new = [folder for folder in self._worked_in() if folder not in looked_in]
        return self._allowed(discover.in_projects(self.adapters(agents), lambda: new))

    def _allowed(self, found: Iterator[Found]) -> Iterator[Found]:
        from recollect.capture import discover

        patterns = [
            os.path.expanduser(pattern) for pattern in self.settings.texts("sources.excluded")
        ]
        return discover.excluded(found, patterns) if patterns else found

    def _worked_in(self) -> list[str]:
        """The folders of this machine that agents are known to have worked in,
        and the one that we are called from.
        """
        from recollect.system import git

        store = self._existing() if os.path.exists(self.settings.store) else None
        known = store.sources.folders() if store else []
        folders = [
            folder for folder in dict.fromkeys([*git.around(), *known]) if os.path.isdir(folder)
        ]
        self._looked_in = set(folders)
        return folders

    def _known_agent(self, path: str) -> str | None:
        """Whose log a file was when it was last imported."""
        known = self._store.sources.find(path) if self._store is not None else None
        return known.agent if known else None

    def watch(
        self, *, agents: Sequence[str] = (), stop: Event | None = None
    ) -> Iterator[ImportReport]:
        """Import what agents write as they write it, a report for each time something was new."""
        from recollect.capture.watch import follow
        from recollect.system import platforms

        def roots() -> list[str]:
            home = platforms.user_home()
            own = [
                root
                for adapter in self.adapters(agents)
                for root in adapter.roots(home, self.environ)
            ]
            return own + [os.path.expanduser(path) for path in self.settings.texts("sources.extra")]

        for _ in follow(roots, debounce_ms=self.settings.number("watch.debounce_ms"), stop=stop):
            report = self.import_logs(agents=agents)
            if report.imported or report.updated or report.problems:
                yield report

    def _sweeper(self) -> Sweep:
        from recollect.capture.sweep import Sweep

        if self._sweep is None:
            store = self._opened(create=True)
            redactor = self.redactor(store) if self.settings.flag("redact.enabled") else None
            self._sweep = Sweep(store, redactor=redactor)
        return self._sweep

    def _dry_sweep(self) -> Sweep:
        from recollect.capture.sweep import Sweep
        from recollect.store import open_store

        there = os.path.exists(self.settings.store)
        store = self._existing() if there else open_store(":memory:")
        return Sweep(
            store,
            redactor=self.redactor(store, cached=False)
            if self.settings.flag("redact.enabled")
            else None,
        )

    def agents(self) -> list[AgentRow]:
        """Every supported agent: where it looks, what is there and what is stored."""
        from recollect.capture.overview import agent_rows
        from recollect.system import platforms

        store = self._existing() if os.path.exists(self.settings.store) else None
        return agent_rows(
            self.adapters(), store, platforms.user_home(), self.environ, self._worked_in()
        )

    def log_variables(self) -> list[str]:
        """The environment variables that can say where an agent's logs are."""
        from recollect.capture.overview import variables

        return variables(self.adapters())

    def _leave_retaining(self, store: Store, turns: int) -> None:
        """Leave what an import makes too much to the queue."""
        from recollect.retain.budgets import Budget, is_due

        if is_due(store, Budget.of(self.settings), turns):
            store.jobs.request("retain", "events")
