"""What every part of the front door stands on: the settings, and the store, opened at first use."""

from __future__ import annotations

import os

from recollect.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from recollect.capture.adapters import Adapter
    from recollect.capture.sweep import Sweep
    from recollect.embed import Encoder
    from recollect.model.reports import SourceReport
    from recollect.redact import Finding, Redactor
    from recollect.store import Store


class Door:
    """Settings, adapters, the redactor and the store, each made when it is first asked for."""

    def __init__(
        self,
        settings: Settings,
        *,
        adapters: Mapping[str, Adapter] | None = None,
        environ: Mapping[str, str] | None = None,
        encoder: Encoder | None = None,
        resident: bool = False,
    ) -> None:
        self.settings = settings
        self.environ = os.environ if environ is None else environ
        self._adapters = adapters
        self._made: dict[str, Adapter] = {}
        self._every: list[Adapter] | None = None
        self._store: Store | None = None
        self._sweep: Sweep | None = None
        self._encoder = encoder
        self._resident = resident
        self._looked_in: set[str] | None = None
        self.source_reports: list[SourceReport] = []

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        adapters: Mapping[str, Adapter] | None = None,
        environ: Mapping[str, str] | None = None,
        encoder: Encoder | None = None,
        resident: bool = False,
    ) -> Self:
        """The memory at a path, or the one that the settings and the environment choose.

        A process that stays and searches often says `resident`: vectors are
        then kept in memory, which takes a moment once and saves it each time.
        """
        settings = Settings.load(environ, store=os.fspath(path) if path is not None else None)
        return cls(settings, adapters=adapters, environ=environ, encoder=encoder, resident=resident)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store; may be called twice."""
        if self._store is not None:
            self._store.close()
        self._store = self._sweep = None

    # What others stand on

    def _existing(self) -> Store:
        """The store, which must be there already."""
        return self._opened(create=False)

    def _opened(self, *, create: bool) -> Store:
        if self._store is None:
            from recollect.store import open_store

            self._store = open_store(self.settings.store, create=create, resident=self._resident)
        return self._store

    def adapters(self, agents: Sequence[str] = ()) -> list[Adapter]:
        """The adapters of these agents; of all that the settings allow when none is named."""
        from recollect.capture import adapters as registry

        given = self._adapters or {}
        wanted = agents or self.settings.texts("sources.agents") or list(given)
        if not wanted:
            if self._every is None:
                self._every = registry.find_adapters()
            return self._every
        for agent in wanted:
            if agent not in given and agent not in self._made:
                self._made[agent] = registry.get_adapter(agent)
        return [given.get(agent) or self._made[agent] for agent in wanted]

    def redactor(self, store: Store | None = None, *, cached: bool = True) -> Redactor:
        """What removes secrets, with this store's key so that equal ones stay equal.

        Without a store there is nothing to be equal to, and the key is made up.
        Not `cached`, it leaves no file behind and takes longer to start.
        """
        from pathlib import Path

        from recollect.redact import Redactor, known_values

        known = known_values(self.environ) if self.settings.flag("redact.environment") else {}
        if store is None and os.path.exists(self.settings.store):
            store = self._existing()
        key = store.upkeep.redaction_key() if store else os.urandom(32)
        return Redactor(
            key, known=known, cache=Path(self.settings.home) / "cache" if cached else None
        )

    def redact(self, text: str) -> str:
        """Text without its secrets, tagged with this store's key."""
        return self.redactor().redact(text)

    def secrets(self, text: str) -> list[Finding]:
        """Where the secrets in a text are, and of which kind."""
        return self.redactor().findings(text)
