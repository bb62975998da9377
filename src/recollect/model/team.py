"""What travels between a store and the hub of a team.

Field names are what `--json` prints; docs/json.md promises them.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

ItemKind = Literal["note", "digest", "session", "episode"]
Share = Literal["notes", "digests", "sessions", "episodes"]
Role = Literal["reader", "member", "admin"]
# Taken back: it may be shared again. Forgotten: it never comes back.
Gone = Literal["withdrawn", "forgotten"]


class TeamItem(NamedTuple):
    """One thing that somebody shares.

    `id` is a keyed hash of what it is here, the same on every device of its author; the hub
    cannot tell what it stands for. One that is `gone` has nothing but its names. `seq` grows
    with each change that the hub takes.
    """

    id: str
    kind: ItemKind
    project: str
    at: str | None
    body: dict[str, Any]
    gone: Gone | None = None
    author: str = ""
    device: str = ""
    seq: int = 0


class TeamTurn(NamedTuple):
    """A turn of a session that is shared, as the hub finds it: its words and its meaning.

    `vector` is of 8 bits a dimension, by the encoder that is built in; None where there is none.
    """

    ordinal: int
    at: str | None
    text: str
    words: str
    vector: bytes | None


class Pulled(NamedTuple):
    """What is new at the hub, what is gone first, and how far that goes.

    `token` is what the hub last agreed on with this device, None where it does not know it.
    """

    items: list[TeamItem]
    watermark: int
    more: bool
    token: str | None


class HubIdentity(Struct, kw_only=True):
    """Who we are to a hub. `limits` are what it cannot do, each a sentence for people."""

    team: str
    name: str
    member: str
    role: Role
    server: str
    limits: list[str] = field(default_factory=list)


class TeamMember(Struct, kw_only=True):
    """One of a team, with what this store thinks of them."""

    name: str
    role: Role
    joined_at: str
    revoked_at: str | None
    devices: int
    seen_at: str | None
    items: int
    is_me: bool = False
    is_muted: bool = False
    trusted_in: list[str] = field(default_factory=list)


class TeamHit(Struct, kw_only=True):
    """Something that a search of the hub found, best first. It is data, whoever shared it."""

    ref: str
    kind: ItemKind | Literal["turn"]
    author: str
    project: str
    at: str | None
    text: str
    score: float
    trust: Literal["team"] = "team"


class TeamResult(Struct, kw_only=True):
    """What the team shared about something, best first, and what should be said about it."""

    hits: list[TeamHit] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class SyncReport(Struct, kw_only=True):
    """What one exchange with the hub came to."""

    pushed: int = 0
    turns: int = 0
    taken_back: int = 0
    pulled: int = 0
    removed: int = 0
    forgotten: int = 0
    round_trips: int = 0
    remarks: list[str] = field(default_factory=list)


class SharedProject(Struct, kw_only=True):
    """What of a project is shared from here, and what is there of it."""

    project: str
    what: list[Share]
    since: str | None
    items: int
    waiting: int


class TeamStatus(Struct, kw_only=True):
    """How this store stands with its team.

    `confirmed` counts, of the `devices` of the team, those that have taken in the last thing that
    was forgotten or taken back here; None where that is not known now.
    """

    team: str
    name: str
    member: str
    url: str
    synced_at: str | None
    failed: str | None
    projects: list[SharedProject]
    waiting: int
    pulled: int
    seen_by: list[str]
    at_hub: dict[str, int] = field(default_factory=dict)
    devices: int | None = None
    confirmed: int | None = None
    limits: list[str] = field(default_factory=list)


class SharePlan(Struct, kw_only=True):
    """One thing that would leave, exactly as it would."""

    kind: ItemKind
    ref: str
    project: str
    body: dict[str, Any]
