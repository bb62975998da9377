"""What was written into which file of a project: blocks between our markers.

The text of a block is in the file alone, so that forgetting need not look for it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.model.publications import Block
from recollect.store.sqlite.leases import Leases
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from recollect.model.leases import Lease
    from recollect.store.sqlite.database import Database

# Writing takes milliseconds. One that died with the lease keeps others waiting for this long.
LEASE_SECONDS = 10


class Publications:
    """Blocks that were written into the files of projects."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def blocks(self, folder: str) -> dict[str, Block]:
        """What we wrote into the files of a folder and did not take out again, by path."""
        rows = self.db.rows(
            """
            select path, target, hash, refs, made from publications
             where folder = ? and gone_at is null order by path
            """,
            (folder,),
        )
        return {
            path: Block(path, target, hash_, tuple(refs.split()), bool(made))
            for path, target, hash_, refs, made in rows
        }

    def folders(self) -> list[str]:
        """Every folder in which something of ours is published."""
        rows = self.db.rows(
            "select distinct folder from publications where gone_at is null order by folder"
        )
        return [folder for (folder,) in rows]

    def notes_of(self, project: int) -> set[str]:
        """The notes that stand in files of a project.

        Whoever works there reads them anyway: they need not be told once more.
        """
        rows = self.db.rows(
            """
            select refs from publications
             where project in (select id from projects where id = ?1 or merged_into = ?1)
               and gone_at is null
            """,
            (project,),
        )
        return {ref for (refs,) in rows for ref in refs.split()}

    def has_written(self, hash_: str) -> bool:
        """Whether a block was ever written by us, into whatever file: a
        checkout may bring an older one back.
        """
        return self.db.value("select 1 from publications where hash = ?", (hash_,)) is not None

    def take(self, folder: str) -> Lease | None:
        """The right to write the files of a folder, for a few seconds.

        None while somebody else has it.
        """
        return Leases(self.db).take(f"publish:{folder}", seconds=LEASE_SECONDS)

    def save(self, lease: Lease, folder: str, block: Block, project: int | None) -> None:
        """Note down what is about to be written: should we be killed
        then, it is still known to be ours.
        """
        with self.db.transaction():
            Leases(self.db).check(lease)
            if self.blocks(folder).get(block.path) == block:
                return
            self._end(folder, block.path)
            self.db.execute(
                """
                insert into publications (folder, path, target, project, hash, refs, made, at)
                values (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (
                    folder, block.path, block.target, project, block.hash,
                    " ".join(block.refs), block.made, now_ms(),
                ),
            )  # fmt: skip

    def drop(self, lease: Lease, folder: str, path: str) -> None:
        """Note down that nothing of ours is in a file any more."""
        with self.db.transaction():
            Leases(self.db).check(lease)
            self._end(folder, path)

    def _end(self, folder: str, path: str) -> None:
        self.db.execute(
            """
            update publications set gone_at = ?
             where folder = ? and path = ? and gone_at is null
            """,
            (now_ms(), folder, path),
        )
