"""What agents were told unasked: noted down, and looked at again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    from recollect.memory.collaborators import Collaborators
    from recollect.model.injections import Effect, Injection

    Injections: TypeAlias = list[Injection]
    Effects: TypeAlias = list[Effect]
    Refs: TypeAlias = list[str]


class MemoryInjections:
    """What agents were told, whether they used it, and what people say of it."""

    def __init__(self, shared: Collaborators) -> None:
        from recollect.memory.projects import MemoryProjects

        self.shared = shared
        self._projects = MemoryProjects(shared)

    def framed(self, lines: Sequence[str]) -> str:
        """Lines from logs as an agent should get them: marked as data, and
        recognised should they come back in a log.
        """
        from recollect.recall.hooks.frame import framed

        return framed(lines, self.shared.store().hook_lines.mark())

    def record(
        self,
        face: str,
        event: str,
        refs: Sequence[str],
        *,
        agent: str | None = None,
        session: str | None = None,
        folder: str | None = None,
    ) -> None:
        """Note down what a face gave to an agent."""
        store = self.shared.store()
        if not store.read_only:
            project = self._projects.of(folder) if folder else None
            store.injections.save(
                face, event, refs, agent=agent, session=session, folder=folder, project=project
            )

    def list(
        self,
        *,
        project: str | None = None,
        session: str | None = None,
        since: str | None = None,
        limit: int | None = 20,
    ) -> Injections:
        """What was told, the newest first, with whether it was used as far as that is known."""
        from recollect.recall.hooks.use import look_at_use

        store = self.shared.store()
        store.injections.drain()
        if not store.read_only:
            for _ in look_at_use(store):
                pass
        return store.injections.search(
            project=None if project is None else self._projects.get(project),
            session=None if session is None else store.sessions.resolve(session)[0],
            since_ms=None if since is None else _moment(since),
            limit=limit,
        )

    def get(self, id: str) -> Injection:
        """One of them with what it told, by its id or the beginning of it."""
        store = self.shared.store()
        store.injections.drain()
        found = store.injections.get(id)
        for line in found.lines:
            line.text = self._text(line.ref)
        return found

    def _text(self, ref: str) -> str | None:
        """What a told note or turn says; None when it is forgotten by now."""
        from recollect.errors import NotFound, UsageError

        store = self.shared.store()
        try:
            if ref.startswith("note:"):
                return store.notes.get(ref).text
            session, ordinal = store.sessions.resolve(ref)
            return store.turns.get(session, ordinal).prompt if ordinal is not None else session
        except (NotFound, UsageError):
            return None

    def effect(self, *, project: str | None = None, ref: str | None = None) -> Effects:
        """What telling each note came to: told, used, and whether the failure came back."""
        from recollect.recall.hooks.effect import effects
        from recollect.recall.hooks.use import look_at_use

        store = self.shared.store()
        store.injections.drain()
        if not store.read_only:
            for _ in look_at_use(store):
                pass
        own = None if project is None else self._projects.get(project)
        return list(effects(store, project=own, ref=ref))

    def give_feedback(
        self,
        ref: str,
        helpful: bool,
        *,
        by: Literal["person", "agent"] = "agent",
        reason: str | None = None,
    ) -> Refs:
        """Say whether a session, a turn or a note was of use, or each that was told at a time.

        The references that this was noted down of.
        """
        from contextlib import suppress

        from recollect.errors import NotFound

        store = self.shared.store()
        said = self.shared.redact(" ".join(reason.split())) if reason else None
        refs = [ref]
        if ":" not in ref and "#" not in ref:
            with suppress(NotFound):
                refs = [line.ref for line in store.injections.get(ref).lines]
        for one in refs:
            store.injections.give_feedback(one, helpful=helpful, author=by, reason=said)
        store.hook_lines.outdate()
        return refs

    def feedback(self, ref: str) -> tuple[int, int]:
        """How often a session, a turn or a note was called helpful, and how often not."""
        return self.shared.store().injections.feedback(ref)

    def hook_runs(self) -> dict[tuple[str, str], tuple[int, str | None]]:
        """When each hook last ran, by agent and event, in milliseconds, and
        the fault it ended with, if any.
        """
        store = self.shared.store()
        store.injections.drain()
        return store.injections.hook_runs()


def _moment(text: str) -> int:
    from recollect.errors import UsageError
    from recollect.system.clock import find_moment

    found = find_moment(text)
    if found is None:
        raise UsageError(f"`{text}` is not a date.", hint="Use 2026-11-18, yesterday or 3d.")
    return found
