"""The agents of a memory: where their logs are, and which adapter reads them."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recollect.capture.adapters import Adapter
    from recollect.capture.discover import Found
    from recollect.memory.collaborators import Collaborators
    from recollect.model.answers import Listing
    from recollect.model.reports import AgentRow, Leaving, SourceProblems, SourceReport


class MemoryAgents:
    """Find the logs of every agent, or of those that are named."""

    def __init__(self, shared: Collaborators, adapters: Mapping[str, Adapter] | None) -> None:
        self.shared = shared
        self._given = adapters or {}
        self._made: dict[str, Adapter] = {}
        self._every: list[Adapter] | None = None
        self._looked_in: set[str] | None = None

    def all(self) -> list[AgentRow]:
        """Every supported agent: where it looks, what is there and what is stored."""
        from recollect.capture.overview import agent_rows
        from recollect.system import platforms

        store, environ = self.shared.find_store(), self.shared.environ
        return agent_rows(
            self.adapters(), store, platforms.user_home(), environ, self._folders_worked_in()
        )

    def adapters(self, agents: Sequence[str] = ()) -> list[Adapter]:
        """The adapters of these agents; of all that the settings allow when none is named."""
        from recollect.capture import adapters as registry

        given = self._given
        wanted = agents or self.shared.settings.texts("sources.agents") or list(given)
        if not wanted:
            if self._every is None:
                self._every = registry.find_adapters()
            return self._every
        for agent in wanted:
            if agent not in given and agent not in self._made:
                self._made[agent] = registry.get_adapter(agent)
        return [given.get(agent) or self._made[agent] for agent in wanted]

    def leaving(self) -> list[Leaving]:
        """What agents delete of their own logs within a week, and whether it is stored."""
        from recollect.capture.overview import leaving
        from recollect.system import platforms

        store, environ = self.shared.store(), self.shared.environ
        return leaving(self.adapters(), store, platforms.user_home(), environ)

    def problems(
        self, agent: str | None = None, *, limit: int = 20, cursor: str | None = None
    ) -> Listing[SourceProblems]:
        """The logs in which something was wrong, the last imported first, with all that was."""
        return self.shared.store().problems.page(limit=limit, cursor=cursor, agent=agent)

    def log_variables(self) -> list[str]:
        """The environment variables that can say where an agent's logs are."""
        from recollect.capture.overview import variables

        return variables(self.adapters())

    def sources(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        agents: Sequence[str] = (),
    ) -> Iterator[Found]:
        """The logs an import would look at."""
        from recollect.capture import discover
        from recollect.system import platforms

        self._looked_in = None
        adapters, home, environ = self.adapters(agents), platforms.user_home(), self.shared.environ
        found: Iterator[Found]
        if paths:
            found = (
                item
                for path in paths
                for item in discover.named(
                    adapters,
                    os.fspath(path),
                    home,
                    environ,
                    self._known_agent,
                    ours=[self.sample_logs()],
                )
            )
        else:
            found = discover.everywhere(
                adapters,
                home,
                environ,
                self.shared.settings.texts("sources.extra"),
                self._look_in_projects,
            )
        return self._allowed(found)

    def skipped(
        self,
        paths: Sequence[str | os.PathLike[str]],
        agents: Sequence[str] = (),
    ) -> Iterator[SourceReport]:
        """What an import of these folders does not read, each file with the reason."""
        from recollect.capture import discover
        from recollect.model.reports import SourceReport
        from recollect.system import platforms

        adapters, home, environ = self.adapters(agents), platforms.user_home(), self.shared.environ
        for path in paths:
            top = os.path.abspath(os.fspath(path))
            if not os.path.isdir(top):
                continue
            found = list(discover.named(adapters, top, home, environ, self._known_agent))
            allowed = {item.source.path for item in self._allowed(iter(found))}
            for item in found:
                if item.source.path not in allowed:
                    yield SourceReport(
                        path=item.source.path,
                        agent=item.source.agent,
                        outcome="skipped",
                        reason="the settings leave it out",
                    )
            for file in discover.passed_over(adapters, top, (item.source for item in found)):
                yield SourceReport(
                    path=file, agent="", outcome="skipped", reason="no log of a supported agent"
                )

    def new_sources(self, agents: Sequence[str] = ()) -> Iterator[Found]:
        """The logs in folders that agents worked in, and that were not known
        when `sources` looked at the others.
        """
        from recollect.capture import discover

        if self._looked_in is None:
            return iter(())
        new = [folder for folder in self._folders_worked_in() if folder not in self._looked_in]
        return self._allowed(discover.in_projects(self.adapters(agents), lambda: new))

    def roots(self, agents: Sequence[str] = ()) -> list[str]:
        """The folders that logs are looked for in."""
        from recollect.system import platforms

        home = platforms.user_home()
        own = [
            root
            for adapter in self.adapters(agents)
            for root in adapter.roots(home, self.shared.environ)
        ]
        extra = self.shared.settings.texts("sources.extra")
        return own + [os.path.expanduser(path) for path in extra]

    def sample_logs(self) -> str:
        """The folder of sample sessions that comes with recollect."""
        return os.path.join(os.path.dirname(os.path.dirname(__file__)), "samples")

    def _folders_worked_in(self) -> list[str]:
        """The folders of this machine that agents are known to have worked in,
        and the one that we are called from.
        """
        from recollect.system import git

        store = self.shared.find_store()
        known = store.sources.folders() if store else []
        return [
            folder for folder in dict.fromkeys([*git.around(), *known]) if os.path.isdir(folder)
        ]

    def _look_in_projects(self) -> list[str]:
        folders = self._folders_worked_in()
        self._looked_in = set(folders)
        return folders

    def _allowed(self, found: Iterator[Found]) -> Iterator[Found]:
        from recollect.capture import discover

        patterns = [
            os.path.expanduser(pattern)
            for pattern in self.shared.settings.texts("sources.excluded")
        ]
        return discover.excluded(found, patterns) if patterns else found

    def _known_agent(self, path: str) -> str | None:
        """Whose log a file was when it was last imported."""
        store = self.shared.find_store()
        known = store.sources.find(path) if store else None
        return known.agent if known else None
