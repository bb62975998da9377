"""The SQLite store: its parts, each a class with its SQL in a module of its own.

A part is imported when it is first asked for: a cold search may not pay for
what writing needs.
"""

from __future__ import annotations

from functools import cached_property

from recollect.store.sqlite.database import Database, Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.calls import Calls
    from recollect.store.sqlite.capture.writer import Writer
    from recollect.store.sqlite.confirmed_folders import ConfirmedFolders
    from recollect.store.sqlite.digests import Digests
    from recollect.store.sqlite.doctor import Doctor
    from recollect.store.sqlite.engine_runs import EngineRuns
    from recollect.store.sqlite.episodes import Episodes
    from recollect.store.sqlite.evictions import Evictions
    from recollect.store.sqlite.forget import Forgetting
    from recollect.store.sqlite.hook_lines import HookLines
    from recollect.store.sqlite.injections import Injections
    from recollect.store.sqlite.jobs import Jobs
    from recollect.store.sqlite.known_secrets import KnownSecrets
    from recollect.store.sqlite.leases import Leases
    from recollect.store.sqlite.names import Names
    from recollect.store.sqlite.notes import Notes
    from recollect.store.sqlite.problems import Problems
    from recollect.store.sqlite.projects import Projects
    from recollect.store.sqlite.publications import Publications
    from recollect.store.sqlite.rescan import Rescan
    from recollect.store.sqlite.saved_searches import SavedSearches
    from recollect.store.sqlite.scrub import Scrub
    from recollect.store.sqlite.search.text import Text
    from recollect.store.sqlite.search.text_index import TextIndex
    from recollect.store.sqlite.sessions import Sessions
    from recollect.store.sqlite.sources import Sources
    from recollect.store.sqlite.team import Team
    from recollect.store.sqlite.turns import Turns
    from recollect.store.sqlite.upkeep import Upkeep
    from recollect.store.sqlite.usage import UsageSums
    from recollect.store.sqlite.vectors.nearest import Nearest
    from recollect.store.sqlite.vectors.resident import Resident
    from recollect.store.sqlite.vectors.stored import Vectors


class Store:
    """One SQLite file and everything we ask of it, by subject: `store.turns.get(...)`."""

    def __init__(
        self, path: str, *, create: bool = True, read_only: bool = False, resident: bool = False
    ) -> None:
        self.path = path
        self.db = Database(path, create=create, read_only=read_only)
        self._stays = resident
        self._resident: Resident | None = None
        if resident:
            # Bodies are read a hundred times as fast once this is loaded.
            import msgspec  # noqa: F401

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        if self._resident is not None:
            self._resident.close()
        self.db.close()

    def transaction(self) -> Transaction:
        """`with store.transaction(): ...`: all of it or nothing,
        and nobody else writes meanwhile.
        """
        return self.db.transaction()

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written here, not even what is only noted down."""
        return self.db.read_only

    @property
    def left_out(self) -> dict[str, None]:
        """The turns that answers had to leave out because they are damaged, in that order."""
        return self.db.left_out

    def writing(self) -> Writer:
        """One transaction of capture: `with store.writing() as writer: ...`."""
        from recollect.store.sqlite.capture.writer import Writer

        return Writer(self.db)

    @cached_property
    def nearest(self) -> Nearest:
        from recollect.store.sqlite.vectors.nearest import Nearest

        if self._stays:
            from recollect.store.sqlite.vectors.resident import Resident

            self._resident = Resident(self.path)
        return Nearest(self.db, self._resident)

    @cached_property
    def sources(self) -> Sources:
        from recollect.store.sqlite.sources import Sources

        return Sources(self.db)

    @cached_property
    def problems(self) -> Problems:
        from recollect.store.sqlite.problems import Problems

        return Problems(self.db)

    @cached_property
    def sessions(self) -> Sessions:
        from recollect.store.sqlite.sessions import Sessions

        return Sessions(self.db)

    @cached_property
    def saved_searches(self) -> SavedSearches:
        from recollect.store.sqlite.saved_searches import SavedSearches

        return SavedSearches(self.db)

    @cached_property
    def names(self) -> Names:
        from recollect.store.sqlite.names import Names

        return Names(self.db)

    @cached_property
    def turns(self) -> Turns:
        from recollect.store.sqlite.turns import Turns

        return Turns(self.db)

    @cached_property
    def calls(self) -> Calls:
        from recollect.store.sqlite.calls import Calls

        return Calls(self.db)

    @cached_property
    def text(self) -> Text:
        from recollect.store.sqlite.search.text import Text

        return Text(self.db)

    @cached_property
    def text_index(self) -> TextIndex:
        from recollect.store.sqlite.search.text_index import TextIndex

        return TextIndex(self.db)

    @cached_property
    def vectors(self) -> Vectors:
        from recollect.store.sqlite.vectors.stored import Vectors

        return Vectors(self.db)

    @cached_property
    def usage(self) -> UsageSums:
        from recollect.store.sqlite.usage import UsageSums

        return UsageSums(self.db)

    @cached_property
    def jobs(self) -> Jobs:
        from recollect.store.sqlite.jobs import Jobs

        return Jobs(self.db)

    @cached_property
    def hook_lines(self) -> HookLines:
        from recollect.store.sqlite.hook_lines import HookLines

        return HookLines(self.db)

    @cached_property
    def injections(self) -> Injections:
        from recollect.store.sqlite.injections import Injections

        return Injections(self.db)

    @cached_property
    def leases(self) -> Leases:
        from recollect.store.sqlite.leases import Leases

        return Leases(self.db)

    @cached_property
    def projects(self) -> Projects:
        from recollect.store.sqlite.projects import Projects

        return Projects(self.db)

    @cached_property
    def notes(self) -> Notes:
        from recollect.store.sqlite.notes import Notes

        return Notes(self.db)

    @cached_property
    def confirmed_folders(self) -> ConfirmedFolders:
        from recollect.store.sqlite.confirmed_folders import ConfirmedFolders

        return ConfirmedFolders(self.db)

    @cached_property
    def known_secrets(self) -> KnownSecrets:
        from recollect.store.sqlite.known_secrets import KnownSecrets

        return KnownSecrets(self.db)

    @cached_property
    def episodes(self) -> Episodes:
        from recollect.store.sqlite.episodes import Episodes

        return Episodes(self.db)

    @cached_property
    def engine_runs(self) -> EngineRuns:
        from recollect.store.sqlite.engine_runs import EngineRuns

        return EngineRuns(self.db)

    @cached_property
    def digests(self) -> Digests:
        from recollect.store.sqlite.digests import Digests

        return Digests(self.db)

    @cached_property
    def publications(self) -> Publications:
        from recollect.store.sqlite.publications import Publications

        return Publications(self.db)

    @cached_property
    def doctor(self) -> Doctor:
        from recollect.store.sqlite.doctor import Doctor

        return Doctor(self.db)

    @cached_property
    def forgetting(self) -> Forgetting:
        from recollect.store.sqlite.forget import Forgetting

        return Forgetting(self.db)

    @cached_property
    def rescan(self) -> Rescan:
        from recollect.store.sqlite.rescan import Rescan

        return Rescan(self.db)

    @cached_property
    def evictions(self) -> Evictions:
        from recollect.store.sqlite.evictions import Evictions

        return Evictions(self.db)

    @cached_property
    def scrub(self) -> Scrub:
        from recollect.store.sqlite.scrub import Scrub

        return Scrub(self.db)

    @cached_property
    def team(self) -> Team:
        from recollect.store.sqlite.team import Team

        return Team(self.db)

    @cached_property
    def upkeep(self) -> Upkeep:
        from recollect.store.sqlite.upkeep import Upkeep

        return Upkeep(self.db)
