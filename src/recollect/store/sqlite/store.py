"""The SQLite store: a list of what it can do, each done in a module of its own.

A method imports its module when it is called: a cold search may not pay for
what writing needs.
"""

from __future__ import annotations

from recollect.store.sqlite.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from recollect.digests import Digest, Engine, Trace
    from recollect.lookup import Clue, Findings, Place, Query, Scope
    from recollect.model import (
        Category,
        JobRow,
        Note,
        NoteAuthor,
        ProjectRow,
        Session,
        SessionDetail,
        StatsRow,
        StoreSummary,
        Turn,
    )
    from recollect.redact import Redactor
    from recollect.reports import Forgotten, Health, Optimized, Rescanned
    from recollect.settings import Settings
    from recollect.store.calls import Call, Scene
    from recollect.store.history import Passage
    from recollect.store.leases import Lease
    from recollect.store.notes import Extraction, Learned, Sought
    from recollect.store.raw import Evicted, WholeTurn
    from recollect.store.sqlite.capture import Writing
    from recollect.store.sqlite.database import Transaction
    from recollect.store.sqlite.ready import Ready
    from recollect.store.sqlite.resident import Resident
    from recollect.store.stretch import KnownSource, ProjectIdentity
    from recollect.store.told import Reminder, Told
    from recollect.store.traces import Candidate, KeptTrace, Published


class SqliteStore:
    """One SQLite file and everything we ask of it."""

    def __init__(self, path: str, *, create: bool = True, read_only: bool = False, resident: bool = False) -> None:
        self.path = path
        self.db = Database(path, create=create, read_only=read_only)
        self._resident: Resident | None = None
        if resident:
            # Bodies are read a hundred times as fast once this is loaded.
            import msgspec  # noqa: F401

            from recollect.store.sqlite.resident import Resident

            self._resident = Resident(path)
        self._known: tuple[tuple[int, int], dict[str, tuple[int, int, int, int]]] | None = None

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        if self._resident is not None:
            self._resident.close()
        self.db.close()

    # Capture

    def writing(self) -> Writing:
        """One transaction of capture: `with store.writing() as keeper: ...` keeps all of it, or nothing."""
        from recollect.store.sqlite.capture import Writing

        return Writing(self.db)

    def known_sources(self, paths: list[str] | None = None) -> dict[str, tuple[int, int, int, int]]:
        """What a sweep compares with, for some paths or for all; the latter is kept at hand while nobody writes."""
        from recollect.store.sqlite import sources

        if paths is not None:
            return sources.known_sources(self.db, paths)
        stamp = (int(self.db.value("pragma data_version")), self.db.connection.total_changes())
        if self._known is None or self._known[0] != stamp:
            self._known = (stamp, sources.known_sources(self.db))
        return self._known[1]

    def find_source(self, path: str) -> KnownSource | None:
        """What is remembered about one source."""
        from recollect.store.sqlite import sources

        return sources.find_source(self.db, path)

    def find_rates(self, model: str, day: str, version: str) -> tuple[bool, str | None]:
        """Whether the prices of a model on a day are known, and what they are."""
        row = self.db.row("select prices from rates where model = ? and day = ? and version = ?", (model, day, version))
        return (True, row[0]) if row else (False, None)

    def save_rates(self, model: str, day: str, version: str, prices: str | None) -> None:
        """Remember the prices of a model on a day."""
        self.db.execute(
            "insert or replace into rates (model, day, version, prices) values (?, ?, ?, ?)", (model, day, version, prices)
        )

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
            return stats.by_domain(stats.stats(self.db, "project", query, settings.domains()), settings.domain_of)
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
        """The name of the encoder that the stored vectors come from; None when nothing is embedded."""
        from recollect.store.sqlite import vectors

        state = vectors.find_state(self.db)
        return state.encoder if state else None

    def search_vector(self, vector: Sequence[float], scope: Scope, *, limit: int) -> list[tuple[int, float]]:
        """The turns in scope that are nearest to a vector, each with its cosine."""
        from recollect.store.sqlite import chosen, nearest

        return nearest.search(self.db, vector, chosen.turns_in(scope), limit=limit, resident=self._resident)

    def compare(self, vector: Sequence[float], turns: Iterable[int]) -> dict[int, tuple[float, bytes]]:
        """For each of these turns that has vectors the cosine of its best piece, and its words.

        Words are rows of the static model's table, sixteen bits each.
        """
        from recollect.store.sqlite import nearest

        return nearest.compare(self.db, vector, turns)

    def mean_vector(self) -> array[float] | None:
        """The direction that all vectors have in common, of length one; None when it is not known."""
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
        """Make sure that all vectors are this encoder's; with `again` they are all to be made anew."""
        from recollect.store.sqlite import vectors

        (vectors.queue_all if again else vectors.use_encoder)(self.db, name, dimensions)

    def save_vectors(self, encoder: str, made: list[tuple[int, int, list[bytes], bytes]]) -> int:
        """Keep the int8 codes and the words of turns, unless they changed since their mark was read; says how many were kept."""
        from recollect.store.sqlite import vectors

        return vectors.save(self.db, encoder, made)

    # Verbs

    def scenes(self, turns: list[int]) -> dict[int, Scene]:
        """Where these turns happened and what was asked in them, by their number."""
        from recollect.store.sqlite import calls

        return calls.scenes(self.db, turns)

    def find_waiting_call(self, session: str, turn_key: str, call: str) -> Call | None:
        """A call of a session that has no result yet, by the native names of its turn and its own."""
        from recollect.store.sqlite import calls

        return calls.find_waiting_call(self.db, session, turn_key, call)

    def calls_naming(self, name: str, query: Query, domains: dict[str, list[str]]) -> list[Call]:
        """Edits and shell commands that may have to do with a file of this name."""
        from recollect.store.sqlite import calls

        return calls.calls_naming(self.db, name, query, domains)

    def calls_of_program(self, word: str, query: Query, domains: dict[str, list[str]]) -> list[Call]:
        """Shell commands that hold a word, and calls of a tool of that name; the newest first."""
        from recollect.store.sqlite import calls

        return calls.calls_of_program(self.db, word, query, domains)

    def calls_after(self, turn: int, turns: int) -> list[tuple[str, Call]]:
        """The calls of a turn and of the next few of its session, each with its turn's reference."""
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

    def turns_with_errors(self, query: Query, domains: dict[str, list[str]], limit: int) -> Iterator[tuple[int, list[list[Any]]]]:
        """The newest turns in which something failed, with their events."""
        from recollect.store.sqlite import calls

        return calls.turns_with_errors(self.db, query, domains, limit)

    def count_turns_with_errors(self, query: Query, domains: dict[str, list[str]]) -> int:
        """How many turns there are in which something failed."""
        from recollect.store.sqlite import calls

        return calls.count_turns_with_errors(self.db, query, domains)

    # Notes

    def keep_note(
        self, text: str, *, category: Category, project: ProjectIdentity | None, author: NoteAuthor, confidence: float
    ) -> Note:
        """Keep a note, or confirm the one that says the same; without a project it holds everywhere."""
        from recollect.store.sqlite import notes

        return notes.keep(self.db, text, category=category, project=project, author=author, confidence=confidence)

    def list_notes(
        self,
        *,
        project: str | None = None,
        everywhere: bool = False,
        statuses: Sequence[str] = (),
        category: str | None = None,
        limit: int | None = None,
    ) -> list[Note]:
        """Notes that hold in a project, that hold everywhere, or all of them; the last one seen first."""
        from recollect.store.sqlite import notes

        return notes.list_notes(
            self.db, project=project, everywhere=everywhere, statuses=statuses, category=category, limit=limit
        )

    def get_note(self, ref: str) -> Note:
        """One note."""
        from recollect.store.sqlite import notes

        return notes.get_note(self.db, notes.number_of(ref))

    def accept_note(self, ref: str) -> Note:
        """A person says that a note is right."""
        from recollect.store.sqlite import notes

        return notes.accept(self.db, notes.number_of(ref))

    def reject_note(self, ref: str) -> Note:
        """A person says that a note is wrong."""
        from recollect.store.sqlite import notes

        return notes.reject(self.db, notes.number_of(ref))

    def edit_note(self, ref: str, text: str) -> Note:
        """The note that takes the place of another one."""
        from recollect.store.sqlite import notes

        return notes.edit(self.db, notes.number_of(ref), text)

    def forget_note(self, ref: str) -> Note:
        """Remove a note and its earlier versions for good."""
        from recollect.store.sqlite import forget, notes

        return forget.forget_note(self.db, notes.number_of(ref))

    def sought_origins(self) -> list[Sought]:
        """Each time that an agent gave a note, where the call has not been found in its log yet."""
        from recollect.store.sqlite import origins

        return origins.sought(self.db)

    def turns_remembering(self, at: int) -> list[int]:
        """The turns that ran at a time and called a tool to remember something."""
        from recollect.store.sqlite import origins

        return origins.turns_remembering(self.db, at)

    def typed_turns(self, turn: int) -> list[int]:
        """The turns of a session up to this one in which a person spoke, the newest first."""
        from recollect.store.sqlite import origins

        return origins.typed_turns(self.db, turn)

    def save_origin(self, sought: Sought, turn: int, *, said: bool) -> bool:
        """Keep where a note was given and whether a person `said` the same; True when that makes it count."""
        from recollect.store.sqlite import origins

        return origins.save(self.db, sought, turn, said=said)

    def find_extraction(self, session: int) -> Extraction | None:
        """How far notes have been taken from a session."""
        from recollect.store.sqlite import extractions

        return extractions.find(self.db, session)

    def save_extraction(self, session: int, state: Extraction, *, waits_until: int | None = None) -> None:
        """Keep how far notes have been taken; with a time, it is to be tried again then."""
        from recollect.store.sqlite import extractions

        extractions.save(self.db, session, state, waits_until=waits_until)

    def waiting_extractions(self) -> list[tuple[int, str]]:
        """Sessions from which notes are to be taken once they are quiet: number and reference."""
        from recollect.store.sqlite import extractions

        return extractions.waiting(self.db)

    def is_with_a_person(self, session: int) -> bool:
        """Whether a person talked to the agent in a session, and wants it remembered."""
        from recollect.store.sqlite import extractions

        return extractions.is_with_a_person(self.db, session)

    def learn_note(self, project: str, fact: Learned) -> Note:
        """Keep what was found in a session of a project, or confirm the note that says so."""
        from recollect.store.sqlite import extractions

        return extractions.learn(self.db, project, fact)

    def give_feedback(self, ref: str, *, helpful: bool, author: str, reason: str | None) -> None:
        """Keep a judgement of a session, a turn or a note."""
        from recollect.store.sqlite import feedback

        feedback.give(self.db, ref, helpful=helpful, author=author, reason=reason)

    def feedback_of(self, ref: str) -> tuple[int, int]:
        """How often a session, a turn or a note was called helpful, and how often not."""
        from recollect.store.sqlite import feedback

        return feedback.counts(self.db, ref)

    # What hooks tell

    def ready(self) -> Ready:
        """What is ready to be told."""
        from recollect.store.sqlite.ready import Ready

        return Ready(self.db.connection)

    def outdated_projects(self) -> list[tuple[int, str]]:
        """The projects whose logs were read since they were prepared, number and key."""
        from recollect.store.sqlite import prepared

        return prepared.outdated_projects(self.db)

    def project_number(self, project: str) -> int | None:
        """The number of a project by its key."""
        found = self.db.value("select coalesce(merged_into, id) from projects where key = ?", (project,))
        return None if found is None else int(found)

    def trusted_notes(self, project: int | None, *, own: bool = False) -> list[tuple[str, str, str, int]]:
        """The notes that may be told unasked: reference, category, text, and when each was last confirmed."""
        from recollect.store.sqlite import prepared

        return prepared.trusted_notes(self.db, project, own=own)

    def newest_reminders(self, project: int, kind: str, limit: int) -> list[Told]:
        """What failed here last, and what worked instead."""
        from recollect.store.sqlite import prepared

        return prepared.newest_reminders(self.db, project, kind, limit)

    def begin_preparing(self, project: int) -> int:
        """Begin to make a project's memories ready, as of the moment that is returned and that saving asks for."""
        from recollect.store.sqlite import prepared

        return prepared.begin(self.db, project)

    def save_reminders(self, project: int, begun: int, kind: str, found: Sequence[tuple[str, Reminder]]) -> None:
        """Replace a project's reminders of one kind, each with the word that it is found by."""
        from recollect.store.sqlite import prepared

        prepared.save_reminders(self.db, project, begun, kind, found)

    def save_tellings(self, project: int, begun: int, found: Sequence[tuple[Told, str]]) -> None:
        """Replace a project's tellings; each has the text whose words it is found by."""
        from recollect.store.sqlite import prepared

        prepared.save_tellings(self.db, project, begun, found)

    def save_common_tellings(self, found: Sequence[tuple[Told, str]]) -> None:
        """Replace what is told everywhere."""
        from recollect.store.sqlite import prepared

        prepared.save_common_tellings(self.db, found)

    def save_pack(self, project: int, begun: int, text: str, refs: str) -> None:
        """Keep what an agent is told at its start; with that the project is prepared."""
        from recollect.store.sqlite import prepared

        prepared.save_pack(self.db, project, begun, text, refs)

    def save_recall(
        self, face: str, event: str, refs: Sequence[str], *, agent: str | None, session: str | None, project: str | None
    ) -> None:
        """Note down what was offered to whom."""
        from recollect.store.sqlite import recalls

        recalls.save(self.db, face, event, refs, agent=agent, session=session, project=project)

    def drain_spool(self) -> int:
        """Take in what hooks left to be noted down; returns how many lines that were."""
        from recollect.store.sqlite import recalls

        return recalls.drain(self.db)

    def firings(self) -> dict[tuple[str, str], tuple[int, str | None]]:
        """When each hook last ran, by agent and event, and the fault it ended with, if any."""
        from recollect.store.sqlite import recalls

        return recalls.firings(self.db)

    # Digests

    def outdated_sessions(self, ref: str | None = None) -> list[tuple[int, str, int]]:
        """Sessions that have changed since their digest, or one of them if it has: number, reference and mark."""
        from recollect.store.sqlite import digests

        return digests.outdated_sessions(self.db, ref)

    def passages(self, session: int) -> list[Passage]:
        """The turns of a session, by its number, with everything that happened in them."""
        from recollect.store.sqlite import digests

        return digests.passages(self.db, session)

    def save_digest(self, session: int, mark: int, passages: Sequence[Passage], digest: Digest) -> bool:
        """Keep what a session's passages came to; False when it has changed since its mark was read."""
        from recollect.store.sqlite import digests

        return digests.save(self.db, session, mark, digests.state_of(passages), digest)

    def find_digest(self, ref: str) -> Digest | None:
        """What a session came to, as far as it was looked at."""
        from recollect.store.sqlite import digests

        return digests.find(self.db, ref)

    def session_facts(self, session: int) -> tuple[str | None, str | None, str | None]:
        """What a session's own log gives as its title, the folder it began in, and its project."""
        from recollect.store.sqlite import digests

        return digests.session_facts(self.db, session)

    def newest_digests(self, project: int, limit: int) -> list[tuple[int | None, Digest]]:
        """What the newest sessions of a project came to, each with when it ended."""
        from recollect.store.sqlite import digests

        return digests.newest(self.db, project, limit)

    # Retention

    def raw_bytes(self) -> int:
        """How many bytes all events take, as they are stored."""
        from recollect.store.sqlite import evictions

        return evictions.raw_bytes(self.db)

    def distilled_bytes(self) -> int:
        """How many bytes digests, notes, traces and publications take."""
        from recollect.store.sqlite import evictions

        return evictions.distilled_bytes(self.db)

    def whole_turns(self, quiet_before: int) -> list[WholeTurn]:
        """The turns with events to let go of, the oldest first; quiet are sessions that ended before this moment."""
        from recollect.store.sqlite import evictions

        return evictions.whole_turns(self.db, quiet_before)

    def evict(self, turns: Sequence[int], *, undistilled: bool = False, dry_run: bool = False) -> list[Evicted]:
        """Let go of the events of these turns, of those without a digest only when that is asked for."""
        from recollect.store.sqlite import evictions

        return evictions.evict(self.db, turns, undistilled=undistilled, dry_run=dry_run)

    def give_back(self, freed: int) -> int:
        """Make the file smaller when enough of it is empty; says by how many bytes."""
        from recollect.store.sqlite import evictions

        return evictions.give_back(self.db, freed)

    def last_retained(self) -> int:
        """When retention last came to its end; 0 when it never did."""
        from recollect.store.sqlite import evictions

        return evictions.last_run(self.db)

    def save_retained(self) -> None:
        """Retention came to its end."""
        from recollect.store.sqlite import evictions

        evictions.save_run(self.db)

    # Trace memories and what a project's memory is made of

    def trace_candidates(
        self, *, engine: Engine, idle_before: int | None, project: str | None, home: str
    ) -> tuple[int, list[Candidate]]:
        """How many sessions there are, and those that should get a trace memory, newest first."""
        from recollect.store.sqlite import traces

        return traces.candidates(self.db, engine=engine, idle_before=idle_before, project=project, home=home)

    def find_candidate(self, ref: str) -> Candidate | None:
        """A session as it is to be distilled now."""
        from recollect.store.sqlite import traces

        return traces.find_candidate(self.db, ref)

    def distill_later(self, *, idle_ms: int) -> None:
        """Have the sessions that are still too fresh distilled when they have been quiet for so long."""
        from recollect.store.sqlite import traces

        traces.distill_later(self.db, idle_ms)

    def save_trace(self, candidate: Candidate, trace: Trace) -> bool:
        """Keep a trace memory; False when its session has changed since, or is gone."""
        from recollect.store.sqlite import traces

        return traces.save(self.db, candidate, trace)

    def traced_state(self, candidate: Candidate) -> str | None:
        """The state of a session that its trace memory is of."""
        from recollect.store.sqlite import traces

        return traces.traced_state(self.db, candidate)

    def find_trace(self, ref: str, state: str | None = None) -> Trace | None:
        """A session's trace memory, as far as there is one; only of one state if that is given."""
        from recollect.store.sqlite import traces

        return traces.find(self.db, ref, state)

    def kept_traces(self, project: int, limit: int) -> list[KeptTrace]:
        """A project's newest trace memories."""
        from recollect.store.sqlite import traces

        return traces.kept(self.db, project, limit)

    def traced_digests(self, project: int, limit: int) -> list[Digest]:
        """What the newest sessions of a project came to that have a trace memory."""
        from recollect.store.sqlite import traces

        return traces.digests_of(self.db, project, limit)

    def memory_projects(self) -> list[tuple[int, str]]:
        """The projects that have a memory, number and key."""
        from recollect.store.sqlite import traces

        return traces.projects(self.db)

    def memory_state(self, project: int) -> str:
        """What a project's memory would be made of now."""
        from recollect.store.sqlite import traces

        return traces.state_of(self.db, project)

    def consolidated_state(self, project: int) -> str | None:
        """What it was made of last."""
        from recollect.store.sqlite import traces

        return traces.consolidated_state(self.db, project)

    def refused_notes(self, project: int) -> set[str]:
        """The words of notes that do not hold any more."""
        from recollect.store.sqlite import traces

        return traces.refused(self.db, project)

    def publish(
        self, lease: Lease, project: int, state: str, files: Mapping[str, Published], *, engine: Engine = "rules"
    ) -> None:
        """Make these the current files of a project, if the lease is still ours."""
        from recollect.store.sqlite import traces

        traces.publish(self.db, lease, project, state, files, engine=engine)

    def published(self, project: int) -> dict[str, str]:
        """The current files of a project's memory, besides those that are made of trace memories."""
        from recollect.store.sqlite import traces

        return traces.published(self.db, project)

    def memory_folders(self) -> set[str]:
        """The names of the folders that files were written into."""
        from recollect.store.sqlite import traces

        return traces.folders(self.db)

    def keep_memory_folder(self, name: str) -> None:
        """Remember that files are written into a folder."""
        from recollect.store.sqlite import traces

        traces.keep_folder(self.db, name)

    def drop_memory_folder(self, name: str) -> None:
        """A folder has nothing of ours any more."""
        from recollect.store.sqlite import traces

        traces.drop_folder(self.db, name)

    def memory_lease(self, project: int) -> str:
        """What whoever consolidates a project holds."""
        from recollect.store.sqlite import traces

        return traces.lease_name(project)

    def alone(self) -> Transaction:
        """`with store.alone(): ...`: nobody else writes the store meanwhile."""
        return self.db.transaction()

    def take_lease(self, name: str) -> Lease | None:
        """A lease for ten minutes; None while somebody else holds it."""
        from recollect.store.sqlite import leases

        return leases.take(self.db, name)

    def renew_lease(self, lease: Lease) -> bool:
        """Keep a lease for longer; False when it is not ours any more."""
        from recollect.store.sqlite import leases

        return leases.renew(self.db, lease)

    def release_lease(self, lease: Lease) -> bool:
        """Let go of a lease; False when it was not ours any more."""
        from recollect.store.sqlite import leases

        return leases.release(self.db, lease)

    # Projects

    def find_project(self, names: list[str]) -> str | None:
        """The project that one of these names, or folders, is known to be."""
        from recollect.store.sqlite import places

        return places.find_project(self.db, names)

    def project_folders(self, project: str) -> list[str]:
        """The folders that belong to a project, without those below another of them."""
        from recollect.store.sqlite import calls

        return calls.project_folders(self.db, project)

    def list_projects(self) -> list[ProjectRow]:
        """Every project that is not merged into another."""
        from recollect.store.sqlite import projects

        return projects.list_projects(self.db)

    def merge_projects(self, name: str, into: str) -> None:
        """Show one project's turns under another's name."""
        from recollect.store.sqlite import projects

        projects.merge(self.db, name, into)

    def split_project(self, name: str) -> None:
        """Undo a merge."""
        from recollect.store.sqlite import projects

        projects.split(self.db, name)

    # The store itself

    def redaction_key(self) -> bytes:
        """The key that redaction tags of this store are derived with, made at first use."""
        import os

        find = "select value from store_info where name = 'redaction_key'"
        if self.db.value(find) is None:
            with self.db.transaction():
                self.db.execute("insert into store_info values ('redaction_key', ?) on conflict do nothing", (os.urandom(32),))
        return bytes(self.db.value(find))

    def after_import(self, turns: int) -> None:
        """Leave the work that an import makes worth doing to the queue."""
        from recollect.store.sqlite import jobs

        kinds = ["optimize text"] if turns >= 500 else []
        # Most sweeps find nothing new, and may not pay for a transaction that changes nothing.
        waiting = {kind for (kind,) in self.db.rows("select kind from jobs where state = 'waiting'")}
        if turns and "digest" not in waiting:
            kinds.append("digest sessions")
        if turns and "prepare" not in waiting:
            kinds.append("prepare projects")
        if turns:
            # One may wait for the time when a session is not fresh any more.
            kinds.append("distill sessions")
        if "embed" not in waiting and self.db.value("select 1 from unembedded limit 1"):
            kinds.append("embed turns")
        if kinds:
            with self.db.transaction():
                for kind in kinds:
                    jobs.enqueue(self.db, *kind.split())

    def examine(self, *, verify: bool, home: str | None = None) -> Health:
        """What is wrong with the store, if anything; `home` is a folder that must be ours alone."""
        from recollect.store.sqlite import doctor

        return doctor.examine(self.db, verify=verify, home=home)

    def backup(self, path: str, *, force: bool) -> int:
        """An online copy; returns its size in bytes."""
        from recollect.store.sqlite import migrate

        return migrate.back_up(self.db, path, force=force)

    def export(self, query: Query, domains: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
        """Sessions with everything in them, as plain values."""
        from recollect.store.sqlite import export

        return export.export(self.db, query, domains)

    def forget(self, session: str, ordinal: int | None, *, dry_run: bool) -> Forgotten:
        """Remove a session or a turn for good."""
        from recollect.store.sqlite import forget

        return forget.forget(self.db, session, ordinal, dry_run=dry_run)

    def rescan(self, redactor: Redactor, progress: Callable[[int, int, str], None] | None) -> Rescanned:
        """Scan everything stored for secrets again."""
        from recollect.store.sqlite import rescan

        return rescan.rescan(self.db, redactor, progress=progress)

    def optimize(self) -> Optimized:
        """Merge the text index into fewer segments."""
        from recollect.store.sqlite import optimize

        return optimize.optimize(self.db)

    def enqueue(self, kind: str, subject: str) -> None:
        """Ask for a job to be done; one that waits already is asked for once."""
        from recollect.store.sqlite import jobs

        if not self.db.value("select 1 from jobs where kind = ? and subject = ? and state = 'waiting'", (kind, subject)):
            with self.db.transaction():
                jobs.enqueue(self.db, kind, subject)

    def list_jobs(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed."""
        from recollect.store.sqlite import jobs

        return jobs.list_jobs(self.db, limit)

    def work(self, handlers: Mapping[str, Callable[[str], object]], limit: int | None = None) -> int:
        """Do the jobs that are due and that there is a handler for."""
        from recollect.store.sqlite import jobs

        return jobs.work(self.db, handlers, limit)

    def fail_job(self, kind: str, subject: str, error: str) -> None:
        """Leave to the queue what failed outside of it."""
        from recollect.store.sqlite import jobs

        jobs.leave(self.db, kind, subject, error)

    def drop_job(self, kind: str, subject: str) -> None:
        """What was asked for is done."""
        from recollect.store.sqlite import jobs

        jobs.drop(self.db, kind, subject)

    def example_query(self) -> str:
        """Two words of a recent human prompt."""
        from recollect.store.sqlite import search

        return search.example_query(self.db)
