"""What may be published in a project, and what was written into which file."""

from __future__ import annotations

from recollect.model.leases import Lease
from recollect.store.published import Block, Lesson
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.leases import Leases
from recollect.store.sqlite.old.sql import catalogue
from recollect.system.clock import now_ms

# Writing takes milliseconds. One that died with the lease keeps others waiting for this long.
LEASE_SECONDS = 10
# Where each signal of a pattern was seen: in a session or in a live attempt, and in which project.
_SEEN = """
    join signals on signals.kind = patterns.kind and signals.signature = patterns.signature
    left join sessions on sessions.id = signals.session left join episodes on episodes.id = signals.episode
    left join projects place on place.id = coalesce(sessions.project, episodes.project)
"""
# What a person answers for: whatever rules or agents say, a row of theirs is no acceptance.
_ACCEPTED = """
    patterns.status in ('accepted', 'published')
    and exists (select 1 from pattern_versions where pattern = patterns.id
      and status = 'accepted' and author = 'person')
"""


def patterns_in(db: Database, project: int) -> list[Lesson]:
    """The accepted patterns that were seen in a project and still have
    a session there to show for it.
    """
    rows = db.rows(
        f"""
        select patterns.id, patterns.kind, words.sentence,
               (select min(at) from pattern_versions where pattern = patterns.id
                 and status = 'accepted'),
               count(distinct coalesce(signals.session, -signals.episode)),
               count(distinct coalesce(sessions.agent, episodes.agent))
          from patterns join pattern_versions words on words.pattern = patterns.id
            and words.version = patterns.version
          {_SEEN}
         where {_ACCEPTED}
         group by patterns.id having max(coalesce(place.merged_into,
           place.id) is ?) order by patterns.id
        """,
        (project,),
    )
    return [Lesson(catalogue.PREFIX + pattern, *rest) for pattern, *rest in rows]


def notes_in(db: Database, project: int) -> list[Lesson]:
    """The notes about a project that a person wrote or accepted.

    Those that hold everywhere are the person's own business.
    """
    rows = db.rows(
        """
        select 'note:' || old_notes.id, category, text, accepted_at, seen from old_notes
          join projects on projects.id = old_notes.project
         where status = 'active' and trust = 'user' and accepted_at is not null and valid_to is null
           and coalesce(projects.merged_into, projects.id) = ?
         order by old_notes.id
        """,
        (project,),
    )
    return [Lesson(*row) for row in rows]


def blocks(db: Database, folder: str) -> dict[str, Block]:
    """What we wrote into the files of a folder and did not take out again, by path."""
    rows = db.rows(
        "select path, target, hash, refs, made from published_blocks where folder = ? and gone_at "
        "is null order by path",
        (folder,),
    )
    return {
        path: Block(path, target, hash_, tuple(refs.split()), bool(made))
        for path, target, hash_, refs, made in rows
    }


def folders(db: Database) -> list[str]:
    """Every folder in which something of ours is published."""
    return [
        folder
        for (folder,) in db.rows(
            "select distinct folder from published_blocks where gone_at is null order by folder"
        )
    ]


def was_written(db: Database, hash_: str) -> bool:
    """Whether a block was ever written by us, into whatever file: a
    checkout may bring an older one back.
    """
    return db.value("select 1 from published_blocks where hash = ?", (hash_,)) is not None


def save_block(db: Database, lease: Lease, folder: str, block: Block, project: int | None) -> None:
    """Note down what is about to be written: should we be killed
    then, it is still known to be ours.

    A block that stands there already changes nothing but the status of what
    was decided about since.
    """
    now = now_ms()
    with db.transaction():
        Leases(db).check(lease)
        if blocks(db, folder).get(block.path) != block:
            _end(db, folder, block.path, now)
            db.execute(
                """
                insert into published_blocks (folder, path, target, project, hash, refs, made, at)
                values (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (
                    folder,
                    block.path,
                    block.target,
                    project,
                    block.hash,
                    " ".join(block.refs),
                    block.made,
                    now,
                ),
            )
        _mark(db, block.path)


def drop_block(db: Database, lease: Lease, folder: str, path: str) -> None:
    """Note down that nothing of ours is in a file any more."""
    with db.transaction():
        Leases(db).check(lease)
        _end(db, folder, path, now_ms())
        _mark(db, path)


def _end(db: Database, folder: str, path: str, now: int) -> None:
    db.execute(
        "update published_blocks set gone_at = ? where folder = ? and path = ? and gone_at is null",
        (now, folder, path),
    )


def _mark(db: Database, path: str) -> None:
    """Bring the status of patterns in line with whether they stand in a file."""
    rows = db.rows("select refs from published_blocks where gone_at is null")
    standing = {
        ref.removeprefix(catalogue.PREFIX)
        for (refs,) in rows
        for ref in refs.split()
        if ref.startswith(catalogue.PREFIX)
    }
    published = {
        pattern for (pattern,) in db.rows("select id from patterns where status = 'published'")
    }
    catalogue.mark_published(db, sorted(standing - published), sorted(published - standing), path)
