"""The store's side of recall: search, vectors and the verbs."""

from __future__ import annotations

from recollect.store.sqlite.sides.opened import Opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from recollect.model.calls import Call, Scene
    from recollect.model.reports import StatsRow, StoreSummary
    from recollect.model.search import Clue, Findings, Place, Query, Scope
    from recollect.model.sessions import Session, SessionDetail, Turn
    from recollect.settings import Settings


class Recall(Opened):
    """What looking something up reads."""

    # Recall

    def find_clues(self, clues: list[Clue], scope: Scope) -> Findings:
        """The turns that hold each of these words."""
        from recollect.store.sqlite import chosen, search

        return search.find(self.db, clues, chosen.turns_in(scope), scope.upto)

    def places(self, turns: Iterable[int]) -> dict[int, Place]:
        """Where these turns happened."""
        from recollect.store.sqlite import places

        return places.places(self.db, turns)

    def neighbours(self, around: list[Place], reach: int, scope: Scope) -> dict[int, Place]:
        """The turns just before and after these."""
        from recollect.store.sqlite import chosen, places

        return places.neighbours(self.db, around, reach, chosen.turns_in(scope))

    def newest_turns(self, scope: Scope, *, limit: int, offset: int = 0) -> list[Place]:
        """The newest turns that pass the filters."""
        from recollect.store.sqlite import chosen, places

        return places.newest(self.db, chosen.turns_in(scope), limit, offset)

    def last_turn(self) -> int:
        """The number of the turn that was stored last."""
        return int(self.db.value("select max(id) from turns") or 0)

    def words(self, texts: list[str]) -> list[str]:
        """The words of some texts as the index has them."""
        from recollect.store.text import words

        return [word for text in texts for word in words(text)]

    def turn_rows(self, turn: int) -> list[list[object]]:
        """The events of a turn as stored rows."""
        from recollect.store import bodies
        from recollect.store.sqlite.parts import stored_parts

        return bodies.joined(stored_parts(self.db, turn))

    def rows_of_turns(self, turns: list[int]) -> dict[int, list[list[object]]]:
        """The events of several turns as stored rows."""
        from recollect.store import bodies
        from recollect.store.sqlite.parts import parts_of

        return {turn: bodies.joined(parts) for turn, parts in parts_of(self.db, turns).items()}

    def list_sessions(
        self, query: Query, domains: dict[str, list[str]], *, limit: int | None, offset: int = 0
    ) -> Iterator[Session]:
        """Sessions with a turn that has all the words and passes the filters, newest first."""
        from recollect.store.sqlite import sessions

        return sessions.list_sessions(self.db, query, domains, limit=limit, offset=offset)

    def remarks(self, query: Query, domains: dict[str, list[str]]) -> list[str]:
        """What a person should know about a query besides what it finds."""
        from recollect.store.sqlite import filters

        undigested = int(self.db.value("select count(*) from undigested"))
        return query.remarks + filters.remarks(query.filters, domains, undigested)

    def resolve(self, text: str) -> tuple[str, int | None]:
        """The session reference and the turn number that a person's reference means."""
        from recollect.store.sqlite import sessions

        return sessions.resolve(self.db, text)

    def get_session(self, ref: str, turns: list[int] | None = None) -> SessionDetail:
        """One session with its turns, or with some of them."""
        from recollect.store.sqlite import sessions

        return sessions.get_session(self.db, ref, turns)

    def get_turn(self, ref: str, ordinal: int) -> Turn:
        """One turn of a session."""
        from recollect.store.sqlite import sessions

        return sessions.get_turn(self.db, ref, ordinal)

    def get_turns(self, ref: str, *, after: int, limit: int) -> list[Turn]:
        """So many turns of a session, from the one after this number on."""
        from recollect.store.sqlite import sessions

        return sessions.get_turns(self.db, ref, after=after, limit=limit)

    def stats(self, by: str, query: Query, settings: Settings) -> list[StatsRow]:
        """Sums by one dimension."""
        from recollect.store.sqlite import stats

        if by == "domain":
            return stats.by_domain(
                stats.stats(self.db, "project", query, settings.domains()), settings.domain_of
            )
        return stats.stats(self.db, by, query, settings.domains())

    def summary(self) -> StoreSummary:
        """What is stored, in a few numbers."""
        from recollect.store.sqlite import stats

        return stats.summary(self.db)

    def agent_counts(self) -> dict[str, tuple[int, str | None, str | None]]:
        """Sessions, newest version and newest time of each agent."""
        from recollect.store.sqlite import stats

        return stats.agent_counts(self.db)

    # Vectors

    def vector_encoder(self) -> str | None:
        """The name of the encoder that the stored vectors come from.

        None when nothing is embedded.
        """
        from recollect.store.sqlite import vectors

        state = vectors.find_state(self.db)
        return state.encoder if state else None

    def search_vector(
        self, vector: Sequence[float], scope: Scope, *, limit: int
    ) -> list[tuple[int, float]]:
        """The turns in scope that are nearest to a vector, each with its cosine."""
        from recollect.store.sqlite import chosen, nearest

        return nearest.search(
            self.db, vector, chosen.turns_in(scope), limit=limit, resident=self._resident
        )

    def compare(
        self, vector: Sequence[float], turns: Iterable[int]
    ) -> dict[int, tuple[float, bytes]]:
        """For each of these turns that has vectors the cosine of its best piece, and its words.

        Words are rows of the static model's table, sixteen bits each.
        """
        from recollect.store.sqlite import nearest

        return nearest.compare(self.db, vector, turns)

    def mean_vector(self) -> array[float] | None:
        """The direction that all vectors have in common, of length one.

        None when it is not known.
        """
        from recollect.store.sqlite import vectors

        return vectors.mean(self.db)

    def save_mean(self) -> None:
        """Work out what the vectors have in common."""
        from recollect.store.sqlite import vectors

        vectors.save_mean(self.db)

    def unembedded(self) -> int:
        """How many turns are not embedded yet, or have changed since."""
        from recollect.store.sqlite import vectors

        return vectors.unembedded(self.db)

    def next_unembedded(self, limit: int) -> list[tuple[int, int, list[list[Any]]]]:
        """Turns that wait for their vectors, newest first: number, mark and events of each."""
        from recollect.store.sqlite import vectors

        return vectors.next_unembedded(self.db, limit)

    def use_encoder(self, name: str, dimensions: int, *, again: bool = False) -> None:
        """Make sure that all vectors are this encoder's.

        With `again` they are all to be made anew.
        """
        from recollect.store.sqlite import vectors

        (vectors.queue_all if again else vectors.use_encoder)(self.db, name, dimensions)

    def save_vectors(self, encoder: str, made: list[tuple[int, int, list[bytes], bytes]]) -> int:
        """Keep the int8 codes and the words of turns, unless they changed since their
        mark was read; says how many were kept.
        """
        from recollect.store.sqlite import vectors

        return vectors.save(self.db, encoder, made)

    # Verbs

    def scenes(self, turns: list[int]) -> dict[int, Scene]:
        """Where these turns happened and what was asked in them, by their number."""
        from recollect.store.sqlite import calls

        return calls.scenes(self.db, turns)

    def find_waiting_call(self, session: str, turn_key: str, call: str) -> Call | None:
        """A call of a session that has no result yet, by the
        native names of its turn and its own.
        """
        from recollect.store.sqlite import calls

        return calls.find_waiting_call(self.db, session, turn_key, call)

    def calls_naming(self, name: str, query: Query, domains: dict[str, list[str]]) -> list[Call]:
        """Edits and shell commands that may have to do with a file of this name."""
        from recollect.store.sqlite import calls

        return calls.calls_naming(self.db, name, query, domains)

    def calls_of_program(
        self, word: str, query: Query, domains: dict[str, list[str]]
    ) -> list[Call]:
        """Shell commands that hold a word, and calls of a tool of that name; the newest first."""
        from recollect.store.sqlite import calls

        return calls.calls_of_program(self.db, word, query, domains)

    def calls_after(self, turn: int, turns: int) -> list[tuple[str, Call]]:
        """The calls of a turn and of the next few of its session,
        each with its turn's reference.
        """
        from recollect.store.sqlite import calls

        return calls.calls_after(self.db, turn, turns)

    def word_counts(self, words: list[str], column: str, most: int) -> dict[str, int]:
        """How many bodies have each word in a column of the text index, counted up to `most`."""
        from recollect.store.sqlite import calls

        return calls.word_counts(self.db, words, column, most)

    def turns_with_words(
        self, words: list[str], column: str, query: Query, domains: dict[str, list[str]], limit: int
    ) -> list[int]:
        """The newest turns that hold all these words in one column of the text index."""
        from recollect.store.sqlite import calls

        return calls.turns_with_words(self.db, words, column, query, domains, limit)

    def turns_with_errors(
        self, query: Query, domains: dict[str, list[str]], limit: int
    ) -> Iterator[tuple[int, list[list[Any]]]]:
        """The newest turns in which something failed, with their events."""
        from recollect.store.sqlite import calls

        return calls.turns_with_errors(self.db, query, domains, limit)

    def count_turns_with_errors(self, query: Query, domains: dict[str, list[str]]) -> int:
        """How many turns there are in which something failed."""
        from recollect.store.sqlite import calls

        return calls.count_turns_with_errors(self.db, query, domains)
