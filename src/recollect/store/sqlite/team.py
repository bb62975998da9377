"""What a store keeps for its team: the hub it joined, what is shared, what was pulled.

All of it is local: nothing here asks a server. The hub's own rows are in `share`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recollect.model.team import Gone, ItemKind, Share, TeamHit, TeamItem
from recollect.store.sqlite.notes import Notes, compared, hashed
from recollect.system.clock import iso, now_ms

if TYPE_CHECKING:
    from recollect.model.notes import Category, Section, Status
    from recollect.store.sqlite.database import Database


class JoinedHub(NamedTuple):
    """The hub that this store has joined."""

    url: str
    team: str
    name: str
    member: str
    device: str
    team_key: bytes
    watermark: int
    token: str
    next_token: str
    synced_at: int | None
    failed: str | None
    failed_at: int | None
    failures: int


class TeamShare(NamedTuple):
    """What of a project is shared, and from when on."""

    project: str
    what: Share
    since: int | None


class SharedItem(NamedTuple):
    """What of ours is at the hub, or waits to get there."""

    id: str
    kind: ItemKind
    ref: str
    project: str
    hash: bytes
    gone: Gone | None
    pushed: bool


class ArrivedNote(NamedTuple):
    """A note of a team mate as it came, cleaned."""

    author: str
    id: str
    project: str
    text: str
    category: Category
    section: Section
    form: str
    trust: str
    at: str | None
    status: Status
    corrects: str | None


def item_id(key: bytes, kind: str, *names: str) -> str:
    """The id of a thing: the same on every device of its author, and nothing to who has no key."""
    said = "\0".join((kind, *names)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=16, key=key[:64]).hexdigest()


class SessionState(NamedTuple):
    """A session as it is shared: `state` is another one when anything of it changed."""

    number: int
    ref: str
    agent: str
    started_at: int | None
    state: str
    title: str
    outcome: str | None
    summary: str


class Team:
    """What is shared with others, and what they share."""

    def __init__(self, db: Database) -> None:
        self.db = db

    # The hub

    def hub(self) -> JoinedHub | None:
        """The hub that was joined, if one was."""
        row = self.db.row(
            """
            select url, team, name, member, device, team_key, watermark, token, next_token,
                   synced_at, failed, failed_at, failures from hub
            """
        )
        return None if row is None else JoinedHub(*row)

    def join(self, *, url: str, team: str, name: str, member: str, device: str, key: bytes) -> None:
        """This store belongs to a team from now on."""
        with self.db.transaction():
            self.db.execute(
                "insert into hub (id, url, team, name, member, device, team_key) "
                "values (1, ?, ?, ?, ?, ?, ?)",
                (url, team, name, member, device, key),
            )

    def start_over(self, device: str) -> None:
        """Be another device: pull everything again, and offer all that is shared again."""
        with self.db.transaction():
            self.db.execute(
                "update hub set device = ?, watermark = 0, token = '', next_token = ''", (device,)
            )
            self.db.execute("update shared_items set pushed = 0")

    def leave(self) -> int:
        """Belong to no team: what others shared goes, but for what a person here accepted."""
        with self.db.transaction():
            rows = self.db.rows(
                "select id from notes where author = 'member' and decided_at is null"
            )
            self._delete_notes([number for (number,) in rows])
            for table in (
                "hub", "shares", "shared_items", "team_notes", "team_items", "team_mates",
                "team_tombstones",
            ):  # fmt: skip
                self.db.execute(f"delete from {table}")
        return len(rows)

    def save_watermark(self, watermark: int) -> None:
        """Everything up to here is taken in; inside the transaction that takes it in."""
        self.db.execute("update hub set watermark = max(watermark, ?)", (watermark,))

    def propose(self, token: str) -> None:
        """Remember what the hub is about to be asked to remember."""
        with self.db.transaction():
            self.db.execute("update hub set next_token = ?", (token,))

    def save_token(self, token: str) -> None:
        """The hub remembers this token."""
        with self.db.transaction():
            self.db.execute("update hub set token = ?, next_token = ?", (token, token))

    def synced(self) -> None:
        """An exchange came to its end."""
        with self.db.transaction():
            self.db.execute(
                "update hub set synced_at = ?, failed = null, failures = 0", (now_ms(),)
            )

    def failed(self, why: str) -> None:
        """One did not."""
        with self.db.transaction():
            self.db.execute(
                "update hub set failed = ?, failed_at = ?, failures = failures + 1",
                (why, now_ms()),
            )

    # What is shared

    def shares(self) -> list[TeamShare]:
        """What a person chose to share, by project."""
        rows = self.db.rows("select project, what, since from shares order by project, what")
        return [TeamShare(*row) for row in rows]

    def share(self, project: str, what: Share, since: int | None) -> None:
        """Share this of a project from now on."""
        with self.db.transaction():
            self.db.execute(
                "insert or replace into shares values (?, ?, ?)", (project, what, since)
            )

    def unshare(self, project: str | None, what: Share | None = None) -> int:
        """Share no more of a project, or of any; how many choices that were."""
        with self.db.transaction():
            self.db.execute(
                "delete from shares where (?1 is null or project = ?1)"
                " and (?2 is null or what = ?2)",
                (project, what),
            )
            return self.db.connection.changes()

    def shared(self) -> dict[str, SharedItem]:
        """What of ours is at the hub, or waits, or was taken back; by id."""
        rows = self.db.rows("select id, kind, ref, project, hash, gone, pushed from shared_items")
        return {row[0]: SharedItem(*row)._replace(pushed=bool(row[6])) for row in rows}

    def save_shared(self, items: Iterable[SharedItem]) -> None:
        """What is to be pushed, before it is."""
        with self.db.transaction():
            self.db.many(
                "insert or replace into shared_items values (?, ?, ?, ?, ?, ?, ?)",
                [(*one[:6], int(one.pushed)) for one in items],
            )

    def mark_pushed(self, items: Iterable[SharedItem]) -> None:
        """These are at the hub, unless they changed since."""
        with self.db.transaction():
            self.db.many(
                "update shared_items set pushed = 1 where id = ? and hash = ? and gone is ?",
                [(one.id, one.hash, one.gone) for one in items],
            )

    def forgotten_names(self) -> list[tuple[ItemKind, str]]:
        """The kinds and names of what was forgotten here."""
        rows = self.db.rows("select kind, name from tombstones where kind in ('session', 'note')")
        return [(kind, name) for kind, name in rows]

    def sessions(self, name: str, since: int | None) -> list[SessionState]:
        """The sessions of a project, or the one that is named, as they are now.

        None of a log that may be anybody's, and none that only repeats another.
        """
        rows = self.db.rows(
            """
            select sessions.id, sessions.ref, sessions.agent, sessions.started_at,
                   count(distinct turns.id) || '.' || total(turns.live) || '.'
                   || coalesce(max(bodies.id), 0) || '.' || count(bodies.id) || '.'
                   || coalesce(made_at, 0),
                   coalesce(digests.title, sessions.title, ''), outcome, coalesce(summary, '')
              from sessions
              join turns on turns.session = sessions.id
              left join bodies on bodies.turn = turns.id
              left join digests on digests.session = sessions.id
              left join projects a on a.id = sessions.project
              left join projects b on b.id = a.merged_into
             where (coalesce(b.key, a.key) = ?1 or sessions.ref = ?1)
               and not external and copy_of is null
               and (?2 is null or coalesce(sessions.started_at, 0) >= ?2)
             group by sessions.id order by sessions.id
            """,
            (name, since),
        )
        return [SessionState(*row) for row in rows]

    def session_refs(self) -> list[str]:
        """Every session that is stored."""
        return [str(ref) for (ref,) in self.db.rows("select ref from sessions order by id")]

    def turns_of(self, session: int) -> list[tuple[int, int, int | None]]:
        """The turns of a session: row, number, when."""
        rows = self.db.rows(
            "select id, ordinal, started_at from turns where session = ? and live order by ordinal",
            (session,),
        )
        return [(turn, ordinal, at) for turn, ordinal, at in rows]

    def vectors_of(self, session: int) -> dict[int, bytes]:
        """The vectors of a session's turns as they are stored, by row of the turn."""
        rows = self.db.rows(
            "select turn, codes from vectors join turns on turns.id = turn where session = ?",
            (session,),
        )
        return dict(rows)

    def was_forgotten(self, project: str, text: str) -> bool:
        """Whether a person here forgot a note that says this."""
        name = f"{project}\n{hashed(compared(text))}"
        sql = "select 1 from tombstones where kind = 'note' and name = ?"
        return self.db.value(sql, (name,)) is not None

    # What others share

    def take_in(self, one: ArrivedNote) -> None:
        """Keep a team mate's note, inside a transaction; one that is here stays as it is."""
        notes = Notes(self.db)
        known = self.db.value(
            "select note from team_notes where author = ? and id = ?", (one.author, one.id)
        )
        if known is not None:
            self.db.execute(
                "update team_notes set corrects = ?, trust = ? where author = ? and id = ?",
                (one.corrects, one.trust, one.author, one.id),
            )
            return
        number = notes.take_in(
            one.text, one.project, category=one.category, section=one.section, form=one.form,
            by=one.author, at=one.at, status=one.status,
        )  # fmt: skip
        self.db.execute(
            "insert into team_notes values (?, ?, ?, ?, ?)",
            (one.author, one.id, number, one.trust, one.corrects),
        )

    def keep_item(self, item: TeamItem) -> None:
        """Keep something else that a team mate shared, inside a transaction."""
        self.db.execute(
            "insert or replace into team_items values (?, ?, ?, ?, ?, ?, ?)",
            (item.author, item.id, item.kind, item.project, None, json.dumps(item.body), now_ms()),
        )

    def episode_refs(self) -> set[str]:
        """The attempts here that team mates recorded."""
        rows = self.db.rows("select body ->> 'ref' from team_items where kind = 'episode'")
        return {str(ref) for (ref,) in rows}

    def save_tombstones(self, ids: Iterable[str]) -> None:
        """What other devices of ours forgot is not imported here, inside a transaction."""
        self.db.many("insert or ignore into team_tombstones values (?)", [(id,) for id in ids])

    def trim(self, most_bytes: int) -> int:
        """Keep what was pulled within a size, what was least used goes first; how many went."""
        size = int(self.db.value("select coalesce(sum(length(body)), 0) from team_items"))
        gone = 0
        for author, id, length in self.db.rows(
            "select author, id, length(body) from team_items where kind != 'episode' "
            "order by used_at, author, id"
        ):
            if size <= most_bytes:
                break
            with self.db.transaction():
                self.db.execute("delete from team_items where author = ? and id = ?", (author, id))
            size, gone = size - length, gone + 1
        return gone

    def drop_items(self, gone: Iterable[TeamItem]) -> int:
        """Let go of what is gone at the hub, inside a transaction; how many things that were.

        A note goes also if a person here accepted it; what they said in other words is theirs.
        """
        dropped = 0
        for one in gone:
            rows = self.db.rows(
                "delete from team_notes where author = ? and id = ? returning note",
                (one.author, one.id),
            )
            for (number,) in rows:
                dropped += self._let_go(number, is_forgotten=one.gone == "forgotten")
            rows = self.db.rows(
                "delete from team_items where author = ? and id = ? returning kind, body ->> 'ref'",
                (one.author, one.id),
            )
            for kind, ref in rows:
                if kind == "episode":
                    self.db.execute("delete from episodes where ref = ?", (ref,))
            dropped += len(rows)
        return dropped

    def settle_corrections(self) -> None:
        """Hide what was corrected by what corrects it, inside a transaction.

        A note that a person here decided about stays, and so does what they wrote. Where the
        correction is gone, what it corrected is a candidate again.
        """
        self.db.execute(
            """
            update notes set status = 'candidate', replaced_by = null
             where author = 'member' and decided_at is null and status = 'retired'
               and not exists (select 1 from team_notes old join team_notes new
                                 on new.corrects = old.author || ' ' || old.id
                                where old.note = notes.id and new.note = notes.replaced_by)
            """
        )
        self.db.execute(
            """
            update notes set status = 'retired', replaced_by = newer
              from (select old.note as older, max(new.note) as newer
                      from team_notes old join team_notes new
                        on new.corrects = old.author || ' ' || old.id and new.note != old.note
                     group by old.note)
             where notes.id = older and author = 'member' and decided_at is null
               and status in ('candidate', 'active')
            """
        )

    def corrected(self, ref: str) -> list[str]:
        """The notes here, of others or our own, that a team mate's note corrects."""
        rows = self.db.rows(
            """
            with said (wrong) as (
              select corrects from team_notes
               where note = (select id from notes where ref = ?) and corrects is not null
            )
            select ref from notes where id in (
              select note from team_notes join said on wrong = author || ' ' || id)
            union select ref from notes where ref in (
              select shared_items.ref from shared_items, hub, said
               where wrong = hub.member || ' ' || shared_items.id)
            order by ref
            """,
            (ref,),
        )
        return [str(one) for (one,) in rows]

    def item_of(self, note: str) -> str | None:
        """Whose note this is at the hub, as `author id`; None for one that nobody shared."""
        row = self.db.row(
            """
            select team_notes.author, team_notes.id from team_notes
              join notes on notes.id = note where ref = ? order by 1, 2
            """,
            (note,),
        )
        return None if row is None else f"{row[0]} {row[1]}"

    def note_of(self, author: str, id: str) -> str | None:
        """The note here that an item is, if no other item is the same note."""
        found: str | None = self.db.value(
            """
            select ref from team_notes one join notes on notes.id = note
             where one.author = ? and one.id = ? and notes.author = 'member'
               and (select count(*) from team_notes where note = notes.id) = 1
            """,
            (author, id),
        )
        return found

    def note_count(self) -> int:
        """How many notes of others are here."""
        return int(self.db.value("select count(distinct note) from team_notes"))

    def search(
        self, words: Sequence[str], *, project: str | None, author: str | None, limit: int
    ) -> list[TeamHit]:
        """What of others is here that has some of these words, those with most of them first."""
        rows = self.db.rows(
            """
            with here as (
              select team_notes.id, 'note' as kind, team_notes.author as author,
                     coalesce(b.key, a.key) as project, notes.created_at as at, notes.text as text
                from team_notes join notes on notes.id = note
                left join projects a on a.id = notes.project
                left join projects b on b.id = a.merged_into
               where notes.status in ('candidate', 'active')
              union all
              select id, kind, author, project, at,
                     coalesce(body ->> 'title', '') || ': ' || coalesce(body ->> 'summary', '')
                from team_items where kind in ('digest', 'session')
            ), scored as (
              select *, (select count(*) from json_each(:words)
                          where instr(lower(text), value)) as score
                from here
               where (:project is null or project = :project)
                 and (:author is null or author = :author)
            )
            select id, kind, author, project, at, text, score from scored
             where score > 0 order by score desc, at desc, id limit :limit
            """,
            {"words": json.dumps(list(words)), "project": project, "author": author,
             "limit": limit},
        )  # fmt: skip
        return [
            TeamHit(
                ref=id, kind=kind, author=by, project=of, at=iso(at), text=text, score=float(score)
            )
            for id, kind, by, of, at, text, score in rows
        ]

    # Team mates

    def mates(self) -> list[tuple[str, str, bool]]:
        """What a person here thinks of others: name, project, muted."""
        rows = self.db.rows("select name, project, is_muted from team_mates order by 1, 2")
        return [(name, project, bool(muted)) for name, project, muted in rows]

    def trust(self, name: str, project: str) -> None:
        """Believe what a team mate shares for a project: what waits of it counts."""
        with self.db.transaction():
            self.db.execute("insert or replace into team_mates values (?, ?, 0)", (name, project))
            self._settle_mate(name, project, trusted=True)

    def distrust(self, name: str, project: str) -> None:
        """Decide about each of their notes again."""
        with self.db.transaction():
            self.db.execute(
                "delete from team_mates where name = ? and project = ?", (name, project)
            )
            self._settle_mate(name, project, trusted=False)

    def mute(self, name: str, *, muted: bool) -> int:
        """Hear nothing of a team mate, or hear them again with the next sync."""
        with self.db.transaction():
            self.db.execute("delete from team_mates where name = ? and project = ''", (name,))
            if not muted:
                # What was passed over is pulled again.
                self.db.execute("update hub set watermark = 0")
                return 0
            self.db.execute("insert into team_mates values (?, '', 1)", (name,))
            rows = self.db.rows("select author, id from team_notes where author = ?", (name,))
            rows += self.db.rows("select author, id from team_items where author = ?", (name,))
            return self.drop_items(
                TeamItem(id, "note", "", None, {}, "withdrawn", author) for author, id in rows
            )

    def _settle_mate(self, name: str, project: str, *, trusted: bool) -> None:
        before, after = ("candidate", "active") if trusted else ("active", "candidate")
        for (number,) in self.db.rows(
            """
            select distinct note from team_notes join notes on notes.id = note
              left join projects a on a.id = notes.project
              left join projects b on b.id = a.merged_into
             where team_notes.author = ? and coalesce(b.key, a.key) = ? and notes.author = 'member'
               and status = ? and decided_at is null
               and team_notes.trust in ('user', 'tool-verified')
            """,
            (name, project, before),
        ):
            self.db.execute(
                "update notes set status = ?, is_sure = ? where id = ?", (after, trusted, number)
            )
        Notes(self.db).outdate(project)

    # Inside

    def _let_go(self, number: int, *, is_forgotten: bool) -> int:
        """Remove a note that nobody shares any more, if it was a team mate's.

        What a person rejected stays rejected; of what is forgotten only its key is left.
        """
        if self.db.value("select 1 from team_notes where note = ?", (number,)):
            return 0
        row = self.db.row("select author, status from notes where id = ?", (number,))
        author, status = row or ("", "")
        if author != "member":
            return 0
        if status != "rejected":
            self._delete_notes([number])
        elif is_forgotten:
            self.db.execute("update notes set text = '' where id = ?", (number,))
            self.db.execute("delete from note_changes where note = ?", (number,))
        return 1

    def _delete_notes(self, numbers: Sequence[int]) -> None:
        notes = Notes(self.db)
        for number in numbers:
            key = self.db.value(
                """
                select coalesce(b.key, a.key) from notes join projects a on a.id = notes.project
                  left join projects b on b.id = a.merged_into where notes.id = ?
                """,
                (number,),
            )
            notes.outdate(key)
        notes.delete(numbers)
