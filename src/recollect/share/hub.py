"""The hub of a team: what we ask of a database that a team shares.

The data flows like this. Each store stays complete by itself; the hub holds what its members
chose to share, one row for each thing, and every row belongs to one author.

    store of ana                     hub                        store of bo
    notes, sessions  ── push ──►  items (team, author, id)  ── pull ──►  notes of trust `team`,
    shares (policy)               turns, members, devices                 candidates, and a cache

- **An id** is a keyed hash of what a thing is where it comes from (`share.names`). Every device
  of an author makes the same one, so a push that is repeated, by a device that crashed, by a
  restored backup, by a second machine with the same logs, changes nothing. The key is not at
  the hub.
- **A row is a state**: the thing, or that it is gone. Whoever has pulled the newest row of an id
  has all there is to know about it, in whatever order rows come. `forgotten` is final: the hub
  takes no such thing any more, from whichever device and however late. `withdrawn` is not.
- **The watermark** is a row's `seq`. It is given under a lock of the team that is held until the
  commit, so a row that can be seen has none before it that cannot be seen yet: a transaction
  that commits late is not passed over, it makes those after it wait.
- **Notes only grow.** A correction is a note that names the one that it corrects; two corrections
  of one note are two notes, until a person decides.
- **The token** is agreed on at the end of each exchange that changed something. Where a device
  and the hub remember different ones, one of them was restored from an old copy, or two
  devices are one that was copied: the device takes a new name, pulls from the start and offers
  all of its own again, which costs time and changes nothing that was right.

Two servers do this: PostgreSQL (`share.postgres`), which itself sees to it that nobody writes as
somebody else or reads another team, and libSQL (`share.libsql`), which cannot.
One suite of tests holds both to what is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from recollect.model.team import (
    HubIdentity,
    ItemKind,
    Pulled,
    Role,
    TeamHit,
    TeamItem,
    TeamMember,
    TeamTurn,
)

# What this recollect speaks. A hub that needs a newer one says so, and nothing is half read.
PROTOCOL = 1
# Rows in one answer to a pull, and in one push.
PULLED_AT_ONCE, PUSHED_AT_ONCE = 500, 200


class TeamQuery(NamedTuple):
    """What is looked for at the hub: words as we prepare them, and, where it can, a vector."""

    words: Sequence[str]
    vector: Sequence[float] | None = None
    project: str | None = None
    author: str | None = None
    kind: ItemKind | None = None
    limit: int = 10


class Hub(Protocol):
    """A team's database, as one member on one device has it.

    Nothing is asked of a server before it is needed. Every method raises HubUnavailable when the
    server cannot be reached, does not answer in time or ends the connection, and HubRefused
    when it does not allow what was asked; what was done then is done whole or not at all.
    """

    kinds: Sequence[ItemKind]
    """What this kind of hub takes."""

    @property
    def round_trips(self) -> int:
        """How often the server was asked for something, for those who count."""

    def migrate(self) -> None:
        """Make the tables, or bring them up to date, with the rights of who runs the server."""

    def identity(self) -> HubIdentity:
        """Who we are there. Raises HubRefused for who is not a member, or not any more."""

    def register(self, device: str, name: str) -> None:
        """Make a device known as ours. What it pushes from now on has its name."""

    def pull(self, since: int, *, limit: int = PULLED_AT_ONCE) -> Pulled:
        """What changed after a watermark, but by this device: all that is gone, and the first
        of the rest.
        """

    def push(self, items: Sequence[TeamItem]) -> int:
        """Share these, or take them back, as ourselves; how many of them changed something.

        What was forgotten before is passed over.
        """

    def push_turns(self, sessions: Mapping[str, Sequence[TeamTurn]]) -> None:
        """Have the turns of sessions found, by id, in the place of those that are there."""

    def agree(self, watermark: int, token: str) -> None:
        """This device has taken in everything up to a watermark, and remembers this token."""

    def search(self, query: TeamQuery) -> list[TeamHit]:
        """What the team shared that has these words or this meaning, best first."""

    def get(self, author: str, id: str) -> TeamItem | None:
        """One thing whole; None where there is none."""

    def members(self) -> list[TeamMember]:
        """Everybody, with those that were revoked."""

    def confirmations(self, ids: Sequence[str]) -> tuple[int, int]:
        """How many devices there are, and how many of them know that these are gone."""

    def aggregates(self) -> dict[str, int]:
        """How many things of each kind there are."""

    def invite(self, name: str, role: Role) -> tuple[str, str]:
        """Let somebody in: the address and the password, or token, that they come with."""

    def revoke(self, name: str) -> None:
        """From now on a member sees nothing and writes nothing."""

    def withdraw_all(self) -> int:
        """Take back everything of ours, whichever device shared it."""

    def health(self) -> list[str]:
        """What is wrong with the server, or cannot be done with it; nothing where all is well."""

    def close(self) -> None:
        """Let go of the connection; may be called twice."""
