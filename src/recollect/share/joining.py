"""Founding a team, letting somebody in, and the hub behind an address."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.errors import UsageError
from recollect.model.team import ItemKind, Role, SharedProject, TeamStatus
from recollect.share.link import TOKEN_VARIABLE, JoinLink, check_address, is_postgres
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.share.hub import Hub
    from recollect.share.libsql import LibsqlHub
    from recollect.share.postgres import PostgresHub
    from recollect.store import Store
    from recollect.store.sqlite.team import JoinedHub


def open_hub(url: str, team: str, member: str, device: str, secret: str | None) -> Hub:
    """The hub behind an address; nothing is asked of it yet."""
    check_address(url)
    if is_postgres(url):
        from recollect.share.postgres import PostgresHub

        return PostgresHub(url, secret, team=team, device=device)
    from recollect.share.libsql import LibsqlHub

    return LibsqlHub(url, secret, team=team, member=member, device=device)


def kinds_of(url: str) -> Sequence[ItemKind]:
    """What the hub behind an address takes; known without asking it."""
    if is_postgres(url):
        return ("note", "digest", "session", "episode")
    return ("note", "episode")


def found(url: str, *, name: str, member: str, environ: Mapping[str, str]) -> JoinLink:
    """Make a team with its first member, an admin, on a server that one runs.

    The password of whoever runs the server comes from where its own tools take it.
    """
    check_address(url)
    key = os.urandom(32)
    hub = _unfounded(url, environ)
    try:
        hub.migrate()
        team, own, secret = hub.found(name, member)
    finally:
        hub.close()
    return JoinLink(own, secret, team, key, name, member)


def _unfounded(url: str, environ: Mapping[str, str]) -> PostgresHub | LibsqlHub:
    """A server as the one who runs it has it."""
    if is_postgres(url):
        from recollect.share.postgres import PostgresHub

        return PostgresHub(url, environ.get("PGPASSWORD"))
    from recollect.share.libsql import LibsqlHub

    return LibsqlHub(url, environ.get(TOKEN_VARIABLE))


def invited(hub: Hub, joined: JoinedHub, secret: str | None, name: str, role: Role) -> JoinLink:
    """A link for somebody new, or for another device of our own."""
    if name == joined.member:
        if secret is None and is_postgres(joined.url):
            raise UsageError(
                "Your own password is not known here.",
                hint="Set RECOLLECT_TEAM_PASSWORD, then ask for the link again.",
            )
        return JoinLink(
            joined.url, secret or "", joined.team, joined.team_key, joined.name, joined.member
        )
    url, theirs = hub.invite(name, role)
    return JoinLink(url, theirs, joined.team, joined.team_key, joined.name, name)


def status(store: Store, joined: JoinedHub, hub: Hub | None) -> TeamStatus:
    """How a store stands with its team; with a hub, also who has what."""
    there = store.team.shared().values()
    shares = store.team.shares()
    projects = [
        SharedProject(
            project=project,
            what=[share.what for share in shares if share.project == project],
            since=next((iso(one.since) for one in shares if one.project == project), None),
            items=sum(one.project == project and one.pushed and not one.gone for one in there),
            waiting=sum(one.project == project and not one.pushed for one in there),
        )
        for project in sorted({one.project for one in shares} | {one.project for one in there})
    ]
    found = TeamStatus(
        team=joined.team, name=joined.name, member=joined.member, url=joined.url,
        synced_at=iso(joined.synced_at), failed=joined.failed, projects=projects,
        waiting=sum(not one.pushed for one in there), pulled=store.team.note_count(), seen_by=[],
    )  # fmt: skip
    if hub is not None:
        members = hub.members()
        found.seen_by = [
            one.name for one in members if one.revoked_at is None and one.name != joined.member
        ]
        found.devices, found.confirmed = hub.confirmations([one.id for one in there if one.gone])
        found.at_hub = hub.aggregates()
        found.limits = hub.health()
    return found
