"""What the parts of a memory share: the settings, and the store, opened at first use."""

from __future__ import annotations

import os

from recollect.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recollect.embed import Encoder
    from recollect.model.engines import HeadlessAgent
    from recollect.model.search import Query, Scope
    from recollect.redact import Redactor
    from recollect.store import Store


class Collaborators:
    """Settings, encoder, redactor and store, each made when first asked for."""

    def __init__(
        self,
        settings: Settings,
        *,
        environ: Mapping[str, str] | None = None,
        encoder: Encoder | None = None,
        resident: bool = False,
        headless: Callable[[str], HeadlessAgent | None] = lambda agent: None,
    ) -> None:
        self.headless = headless
        self.settings = settings
        self.environ = os.environ if environ is None else environ
        self._store: Store | None = None
        self._encoder = encoder
        self._resident = resident
        self._strict: Callable[[str], str] | None = None
        self._closing: list[Callable[[], None]] = []

    def when_closed(self, close: Callable[[], None]) -> None:
        """Have this called before the store is let go of."""
        self._closing.append(close)

    def close(self) -> None:
        """Let go of everything; what is asked for afterwards is made again."""
        closing, self._closing = self._closing, []
        try:
            for close in closing:
                close()
        finally:
            if self._store is not None:
                self._store.close()
            self._store = None

    def store(self) -> Store:
        """The store, which must be there already."""
        return self._open(create=False)

    def ensure_store(self) -> Store:
        """The store, made if there is none."""
        return self._open(create=True)

    def find_store(self) -> Store | None:
        """The store, if there is one."""
        return self.store() if os.path.exists(self.settings.store) else None

    def _open(self, *, create: bool) -> Store:
        if self._store is None:
            from recollect.store import open_store

            self._store = open_store(self.settings.store, create=create, resident=self._resident)
        return self._store

    def left_out(self) -> dict[str, None]:
        """The damaged turns that answers left out so far; empty while no store is open."""
        return {} if self._store is None else self._store.left_out

    def scope(self, query: Query) -> Scope:
        """A query with the domains of the settings."""
        from recollect.model.search import Scope

        return Scope(query, self.settings.domains())

    def encoder(self) -> Encoder:
        """What turns texts into vectors, as the settings choose.

        Raises EncoderUnavailable when it cannot be used.
        """
        if self._encoder is None:
            from recollect.embed import open_encoder

            self._encoder = open_encoder(self.settings)
            if self.settings.text("embed.provider") == "remote":
                from recollect.recall.meaning import RedactingEncoder

                self._encoder = RedactingEncoder(self._encoder, self.redact)
        return self._encoder

    def redactor(self, store: Store | None = None, *, cached: bool = True) -> Redactor:
        """What removes secrets, with this store's key so that equal ones stay equal.

        Without a store there is nothing to be equal to, and the key is made up.
        Not `cached`, it leaves no file behind and takes longer to start.
        """
        from pathlib import Path

        from recollect.redact import Redactor, known_values

        known = known_values(self.environ) if self.settings.flag("redact.environment") else {}
        store = store or self.find_store()
        key = store.upkeep.redaction_key() if store else os.urandom(32)
        redactor = Redactor(
            key, known=known, cache=Path(self.settings.home) / "cache" if cached else None
        )
        if store:
            redactor.know_names(store.upkeep.names())
            redactor.know_values(store.known_secrets.all())
        return redactor

    def redact(self, text: str) -> str:
        """Text without its secrets, tagged with this store's key."""
        return self.redactor().redact(text)

    def redact_strictly(self, text: str) -> str:
        """The same for what is remembered, where a doubt costs a line: see the redactor."""
        if not self.settings.flag("redact.enabled"):
            return text
        if self._strict is None:
            self._strict = self.redactor().redact_strictly
        return self._strict(text)
