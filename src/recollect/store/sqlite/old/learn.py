"""The store's side of learning: attempts at tasks, and what recurs in them."""

from __future__ import annotations

from recollect.store.sqlite.old.base import Base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from recollect.model.patterns import Heuristic, Pattern, Signal
    from recollect.store.tallies import Key, Rule, Seen, Selection, Tally


class Learn(Base):
    """Attempts and patterns."""

    # Episodes

    # Patterns

    def unlearned_sessions(self) -> list[tuple[int, str, int]]:
        """Sessions whose digest is newer than what was learned from
        them: number, reference and mark.
        """
        from recollect.store.sqlite.old.sql import signals

        return signals.unlearned_sessions(self.db)

    def unlearned_episodes(self) -> tuple[int, list[int]]:
        """The largest id of an attempt, and the live ones that nothing was learned from."""
        from recollect.store.sqlite.old.sql import signals

        return signals.unlearned_episodes(self.db)

    def save_learned_episodes(self, last: int) -> None:
        """All live attempts up to this one were learned from."""
        from recollect.store.sqlite.old.sql import signals

        signals.save_learned_episodes(self.db, last)

    def count_unlearned(self) -> int:
        """How many sessions wait to be learned from."""
        from recollect.store.sqlite.old.sql import signals

        return signals.count_unlearned(self.db)

    def save_lesson(
        self, session: int, mark: int, seen: Sequence[Signal], occasions: Mapping[str, int],
        times: Mapping[int, int | None],
        gone: Collection[int],
    ) -> bool:  # fmt: skip
        """Keep what a session has shown, inside the transaction of whoever learns.

        False when its digest has changed since.
        """
        from recollect.store.sqlite.old.sql import signals

        return signals.save_session(self.db, session, mark, seen, occasions, times, gone)

    def save_episode_lesson(
        self, episode: int, seen: Sequence[Signal], occasions: Mapping[str, int]
    ) -> None:
        """Keep what a live attempt has shown, inside the transaction of whoever learns."""
        from recollect.store.sqlite.old.sql import signals

        signals.save_episode(self.db, episode, seen, occasions)

    def units_in(self, selection: Selection) -> set[int] | None:
        """The sessions and live attempts of a selection; None when it leaves nothing out."""
        from recollect.store.sqlite.old.sql import signals

        return signals.units_in(self.db, selection)

    def often_seen(self, least: int, *, stale: bool) -> list[tuple[Key, int]]:
        """What was seen in so many sessions and attempts, and in how many.

        The `stale` are those to be counted again.
        """
        from recollect.store.sqlite.old.sql import signals

        return signals.often_seen(self.db, least, stale=stale)

    def seen(self, keys: Sequence[Key], units: set[int] | None) -> Iterator[tuple[Key, list[Seen]]]:
        """The sightings of each of these, of some units only if any are given."""
        from recollect.store.sqlite.old.sql import signals

        return signals.seen(self.db, keys, units)

    def roots(self) -> dict[int, str | int]:
        """The session that counts, for all that come from another."""
        from recollect.store.sqlite.old.sql import signals

        return signals.roots_of(self.db)

    def occasions(
        self, names: Collection[str], units: set[int] | None
    ) -> dict[str, dict[int, int]]:
        """How often there was each of these occasions, by session or live attempt."""
        from recollect.store.sqlite.old.sql import signals

        return signals.occasions(self.db, names, units)

    def occasion_counts(self, units: set[int] | None) -> dict[str, int]:
        """In how many sessions and attempts there was each occasion."""
        from recollect.store.sqlite.old.sql import signals

        return signals.occasion_counts(self.db, units)

    def count_signals(self, units: set[int] | None) -> int:
        """How many signals there are, in all or in some sessions and attempts."""
        from recollect.store.sqlite.old.sql import signals

        return signals.count_signals(self.db, units)

    def signal_counts(self, kind: str, units: set[int] | None) -> dict[str, int]:
        """How many sessions and attempts show each thing of a kind."""
        from recollect.store.sqlite.old.sql import signals

        return signals.signal_counts(self.db, kind, units)

    def ensure_learn_rules(self, looking: int, least: int) -> None:
        """Have everything counted, or looked at, again if that
        was done by other rules than these.
        """
        from recollect.store.sqlite.old.sql import tallies

        tallies.ensure_rules(self.db, looking, least)

    def name_stale_tallies(self) -> None:
        """Where all tallies are to be made again, name them."""
        from recollect.store.sqlite.old.sql import tallies

        tallies.name_stale(self.db)

    def decided_patterns(self) -> list[Key]:
        """What a person has decided about."""
        from recollect.store.sqlite.old.sql import tallies

        return tallies.decided(self.db)

    def has_stale_tallies(self) -> bool:
        """Whether any tally is to be made again."""
        from recollect.store.sqlite.old.sql import tallies

        return tallies.has_stale(self.db)

    def all_tallies(self) -> list[Tally]:
        """Every tally there is."""
        from recollect.store.sqlite.old.sql import tallies

        return tallies.all_tallies(self.db)

    def standing_tallies(self) -> list[Tally]:
        """The tallies that are patterns."""
        from recollect.store.sqlite.old.sql import tallies

        return tallies.standing(self.db)

    def save_chances(self, chances: Iterable[tuple[str, float]]) -> None:
        """Keep how likely some tallies are, by the id of the pattern."""
        from recollect.store.sqlite.old.sql import tallies

        tallies.save_chances(self.db, chances)

    def replace_stale_tallies(self, made: Iterable[Tally]) -> None:
        """Put these in the place of all tallies that were to be made again."""
        from recollect.store.sqlite.old.sql import tallies

        tallies.replace_stale(self.db, made)

    def keep_standing(self, standing: Sequence[Tally]) -> None:
        """Have these be the patterns that stand, and no others.

        What a person decided about stays.
        """
        from recollect.store.sqlite.old.sql import tallies

        tallies.keep_standing(self.db, standing)

    def kept_tallies(self) -> list[tuple[str, Tally]]:
        """Every pattern that is kept, as its status and its tally.

        The evidence of one that was decided about may be gone.
        """
        from recollect.store.sqlite.old.sql import tallies

        return tallies.kept(self.db)

    def as_patterns(
        self, counted: Sequence[Tally], *, half_life_days: int, shown: int, selection: Selection
    ) -> list[Pattern]:
        """Tallies as patterns, each with its newest sightings within a selection."""
        from recollect.store.sqlite.old.sql import tallies

        return tallies.patterns(
            self.db, counted, half_life_days=half_life_days, shown=shown, selection=selection
        )

    def keep_rules(self, rules: Sequence[Rule]) -> None:
        """Have these be the heuristics, and no others."""
        from recollect.store.sqlite.old.sql import tallies

        tallies.keep_rules(self.db, rules)

    def heuristics(self, shown: int) -> list[Heuristic]:
        """Every heuristic with its newest evidence; how sure it is, is for others to say."""
        from recollect.store.sqlite.old.sql import tallies

        return tallies.heuristics(self.db, shown)
