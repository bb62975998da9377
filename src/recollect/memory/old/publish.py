"""What people make of patterns, what stands in a
project's files, and whether it helped.
"""

from __future__ import annotations

import os

from recollect.memory.old.learn import Learn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.model.patterns import Pattern, PatternVersion
    from recollect.model.publications import Decide, Measured, Publication, Target


class Publish(Learn):
    """Review patterns, publish them, and measure what became of that."""

    # Review

    def pattern(self, ref: str, *, evidence: int = 100) -> Pattern:
        """One pattern with its newest evidence, by its id or as much of that as is enough."""
        from recollect.store.tallies import EVERYTHING

        store = self.shared.store()
        name = store.old.pattern_id(ref)
        found = [tally for _, tally in store.old.kept_tallies() if tally.pattern == name]
        return store.old.as_patterns(
            found, half_life_days=self._half_life(), shown=evidence, selection=EVERYTHING
        )[0]

    def accept_pattern(self, ref: str, *, why: str = "") -> Pattern:
        """A person says that a pattern is right, in the words
        that are proposed if there are any.
        """
        store = self.shared.store()
        store.old.accept_pattern(store.old.pattern_id(ref), self._why(why))
        return self.pattern(ref)

    def reject_pattern(self, ref: str, *, why: str = "") -> Pattern:
        """A person says that a candidate is wrong, or that new words for something accepted are.

        It stays rejected until twice as many sessions speak for it.
        """
        store = self.shared.store()
        store.old.reject_pattern(store.old.pattern_id(ref), self._why(why))
        return self.pattern(ref)

    def edit_pattern(self, ref: str, sentence: str, *, why: str = "") -> Pattern:
        """A person says it better, and with that accepts it."""
        from recollect.publish.catalogue import sentence_of

        store = self.shared.store()
        store.old.edit_pattern(
            store.old.pattern_id(ref), sentence_of(sentence, self._without_secrets), self._why(why)
        )
        return self.pattern(ref)

    def retire_pattern(self, ref: str, *, why: str = "") -> Pattern:
        """A person says that something accepted is of no use any more.

        The next `publish` takes it out of every file.
        """
        store = self.shared.store()
        store.old.retire_pattern(store.old.pattern_id(ref), self._why(why))
        return self.pattern(ref)

    def pattern_history(self, ref: str) -> list[PatternVersion]:
        """Every version of a pattern, with who made it so, when and why, the first one first."""
        store = self.shared.store()
        return store.old.pattern_history(store.old.pattern_id(ref))

    def proposed_words(self) -> dict[str, str]:
        """The words that newer sessions propose for accepted patterns, by id.

        `accept_pattern` takes them.
        """
        return self.shared.store().old.proposed_words()

    # Publish

    def publish(
        self,
        targets: Sequence[str] = (),
        *,
        folder: str | None = None,
        apply: bool = False,
        undo: bool = False,
        decide: Decide | None = None,
        agent_targets: Sequence[Target] = (),
    ) -> list[Publication]:
        """What is, or with `apply` was, done to the files of a project that agents read.

        The folder is the one given, or the top of the work tree that the
        current one is in. Without targets: those that are published to already,
        or AGENTS.md. `undo` takes out everything of ours. `decide` is asked about each
        file that was changed by hand between our markers; without it such a
        file is refused, and nothing is written. `agent_targets` are files that only single
        agents read: a file that is not among them is not published to.
        """
        from recollect.publish import files
        from recollect.publish.publishing import publish, refuse

        store = self.shared.store()
        place = os.path.abspath(folder) if folder is not None else files.top(os.getcwd())
        # Whatever the settings say: these files are shared.
        redact = self.shared.redactor(store).redact_strictly
        return publish(
            store,
            place,
            self.projects.of(place),
            targets,
            redact,
            apply=apply,
            undo=undo,
            decide=decide or refuse,
            agent_targets=agent_targets,
        )

    def published_folders(self) -> list[str]:
        """Every folder in which something is published."""
        return self.shared.store().old.published_folders()

    # Measure

    def record_opened(self, ref: str) -> None:
        """Note down that somebody looked at a note or a pattern.

        A store that cannot be written is no reason not to show it.
        """
        from contextlib import suppress

        from recollect.errors import StoreError

        with suppress(StoreError):
            self.shared.store().old.save_recall(
                "cli", "show", [ref], agent=None, session=None, project=None
            )

    def measure(self, ref: str | None = None) -> list[Measured]:
        """What became of a pattern or a note since it was
        published or accepted, or of all of them.
        """
        from recollect.publish.measure import measure

        store = self.shared.store()
        store.old.drain_spool()
        return measure(store, ref)

    def measure_report(self, path: str, ref: str | None = None) -> list[Measured]:
        """The same, and written to a file as one page for a person."""
        from recollect.publish.report import write

        rows = self.measure(ref)
        write(os.path.abspath(path), rows)
        return rows

    def _why(self, text: str) -> str:
        from recollect.publish.catalogue import why_of

        return why_of(text, self._without_secrets)

    def _without_secrets(self, text: str) -> str:
        return self.shared.redact(text) if self.shared.settings.flag("redact.enabled") else text
