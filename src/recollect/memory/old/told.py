"""What agents are told unasked: made ready for hooks, offered by a face, noted down."""

from __future__ import annotations

from recollect.memory.old.notes import Notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Told(Notes):
    """Make ready what hooks tell, and note down what was told."""

    def prepare(self) -> Iterator[str]:
        """Make ready what hooks tell, for the projects whose logs or notes changed.

        Each project's key once it is done.
        """
        from recollect.recall.prepare import prepare

        self.corroborate_notes()
        yield from prepare(self.shared.store(), self.shared.settings.domains())

    def framed(self, lines: list[str]) -> str:
        """Lines from logs as an agent should get them: marked as data, and
        recognised should they come back in a log.
        """
        from recollect.recall.telling import framed

        return framed(lines)

    def record_recall(
        self,
        face: str,
        event: str,
        refs: Sequence[str],
        *,
        agent: str | None = None,
        session: str | None = None,
        folder: str | None = None,
    ) -> None:
        """Note down what a face offered, so that its use can be measured."""
        if self.shared.store().read_only:
            return
        project = self.projects.of(folder) if folder else None
        self.shared.store().old.save_recall(
            face, event, refs, agent=agent, session=session, project=project
        )

    def firings(self) -> dict[tuple[str, str], tuple[int, str | None]]:
        """When each hook last ran, by agent and event, in milliseconds, and
        the fault it ended with, if any.
        """
        store = self.shared.store()
        store.old.drain_spool()
        return store.old.firings()
