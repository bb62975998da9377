"""The team of a memory: what is shared with it, what it shares, and who is in it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import get_args

from recollect.model.team import Share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.memory.collaborators import Collaborators
    from recollect.memory.projects import MemoryProjects
    from recollect.model.notes import Note
    from recollect.model.team import (
        HubIdentity,
        Role,
        SharePlan,
        SyncReport,
        TeamMember,
        TeamResult,
        TeamStatus,
    )
    from recollect.share.hub import Hub
    from recollect.share.link import JoinLink
    from recollect.share.names import OutgoingText
    from recollect.store.sqlite.team import JoinedHub

# What is shared with each choice; who shares more shares what comes before, too.
CHOICES: tuple[Share, ...] = get_args(Share)


class MemoryTeam:
    """Found or join a team, choose what is shared, and exchange it."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    # Joining

    def found(self, url: str, *, name: str, member: str) -> JoinLink:
        """Make a team on a server that one runs; this store is its first device.

        The link is for further devices of the same person, and is shown nowhere else.
        """
        from recollect.share.joining import found

        self._refuse_second()
        link = found(url, name=name, member=member, environ=self.shared.environ)
        self._join(link)
        return link

    def join(self, link: str) -> HubIdentity:
        """Join a team with a link."""
        from recollect.share.link import parse_link

        self._refuse_second()
        return self._join(parse_link(link))

    def _join(self, link: JoinLink) -> HubIdentity:
        from recollect.share.joining import open_hub
        from recollect.share.link import keep_secret

        hub = open_hub(link.url, link.team, link.member, "", link.secret)
        try:
            identity = hub.identity()
        finally:
            hub.close()
        keep_secret(link.url, link.team, link.secret)
        self.shared.ensure_store().team.join(
            url=link.url, team=link.team, name=identity.name, member=identity.member, device="",
            key=link.key,
        )  # fmt: skip
        return identity

    def _refuse_second(self) -> None:
        from recollect.errors import UsageError

        joined = self.shared.ensure_store().team.hub()
        if joined is not None:
            raise UsageError(
                f"This store belongs to {joined.name} already.",
                hint="Leave it first: recollect team leave",
            )

    def name(self) -> str | None:
        """What the team of this store is called; None where it belongs to none."""
        store = self.shared.find_store()
        joined = store.team.hub() if store is not None else None
        return None if joined is None else joined.name

    def has_secret(self) -> bool:
        """Whether the password is in the environment, or in the keyring of the system."""
        return self._secret(self._joined()) is not None

    def leave(self) -> int:
        """Belong to the team no more; how many notes of others went.

        What was shared stays at the hub until it is taken back.
        """
        from recollect.share.link import drop_secret

        joined = self._joined()
        drop_secret(joined.url, joined.team)
        return self.shared.store().team.leave()

    def invite(self, name: str, role: Role = "member") -> JoinLink:
        """Let somebody in: the link that they join with, which is shown nowhere else.

        One's own name is answered with the link of one's own login, for another device.
        """
        from recollect.share.joining import invited

        joined = self._joined()
        with self._hub() as hub:
            return invited(hub, joined, self._secret(joined), name, role)

    # Sharing

    def use(self, link: str) -> None:
        """Belong to a team for as long as this memory is open, and from then on: join if need be,
        share the attempts that programs record here, and have those of others.

        What is recorded is sent when the memory is closed, or with `sync`.
        """
        from recollect.share.link import PASSWORD_VARIABLE, parse_link

        parsed = parse_link(link)
        self.shared.environ = {**self.shared.environ, PASSWORD_VARIABLE: parsed.secret}
        if self.shared.ensure_store().team.hub() is None:
            self._join(parsed)
        self.shared.ensure_store().team.share("", "episodes", None)
        self._sync_if_there()

    def sync_at_the_end(self) -> None:
        """Send what was recorded; a hub that is away gets it another time."""
        if self.shared.store().team.hub() is not None:
            self._sync_if_there()

    def _sync_if_there(self) -> None:
        from contextlib import suppress

        from recollect.errors import HubUnavailable

        with suppress(HubUnavailable):
            self.sync()

    def share(
        self, what: str, *, project: str | None = None, since: str | None = None
    ) -> list[SharePlan]:
        """Share notes, digests, sessions or episodes of a project from the next sync on. Without a
        project: every episode that a program recorded here.

        The answer is what would leave then, exactly as it would.
        """
        plans = self.plan(what, project=project, since=since)
        self.shared.store().team.share(
            self._named(what, project), self._choice(what), _milliseconds(since)
        )
        return plans

    def plan(
        self, what: str, *, project: str | None = None, since: str | None = None
    ) -> list[SharePlan]:
        """What would leave if this was shared, exactly as it would."""
        from recollect.share.joining import kinds_of
        from recollect.share.policy import outgoing_items
        from recollect.store.sqlite.team import TeamShare

        joined, store = self._joined(), self.shared.store()
        share = TeamShare(self._named(what, project), self._choice(what), _milliseconds(since))
        return [
            one.plan()
            for one in outgoing_items(
                store, [share], key=joined.team_key, clean=self._leaving(),
                kinds=kinds_of(joined.url),
            )
        ]  # fmt: skip

    def stop(self, *, project: str | None = None) -> int:
        """Share no more of a project, or of any; what is out there is taken back everywhere.

        How many things that were. It is done with the next sync, which is tried at once.
        """
        from recollect.errors import HubUnavailable

        self._joined()
        store = self.shared.store()
        before = sum(one.gone is None for one in store.team.shared().values())
        store.team.unshare(self._remote(project) if project is not None else None)
        if project is None:
            with self._hub() as hub:
                hub.withdraw_all()
        try:
            self.sync()
        except HubUnavailable:
            store.team.failed("what was taken back waits for the hub")
        return before - sum(one.gone is None for one in store.team.shared().values())

    def sync(self) -> SyncReport:
        """Exchange with the hub what is new on either side."""
        from recollect.errors import HubRefused, HubUnavailable
        from recollect.share.sync import synchronise

        store = self.shared.store()
        try:
            with self._hub() as hub:
                return synchronise(
                    store, hub, leaving=self._leaving(), arriving=self._arriving(),
                    name=_device_name(),
                    cache_bytes=self.shared.settings.number("team.cache_mb") << 20,
                )  # fmt: skip
        except (HubUnavailable, HubRefused) as error:
            store.team.failed(str(error))
            raise

    # What is known of the team

    def status(self, *, ask: bool = True) -> TeamStatus:
        """How this store stands with its team; unless it may `ask`, from what is known here."""
        from recollect.errors import HubRefused, HubUnavailable
        from recollect.share.joining import status

        joined, store = self._joined(), self.shared.store()
        if not ask:
            return status(store, joined, None)
        try:
            with self._hub() as hub:
                return status(store, joined, hub)
        except (HubUnavailable, HubRefused) as error:
            found = status(store, joined, None)
            found.failed = str(error)
            return found

    def members(self) -> list[TeamMember]:
        """Everybody in the team, with what this store thinks of them."""
        mates = self.shared.store().team.mates()
        with self._hub() as hub:
            members = hub.members()
        for member in members:
            member.is_muted = (member.name, "", True) in mates
            member.trusted_in = [
                project for name, project, muted in mates
                if name == member.name and project and not muted
            ]  # fmt: skip
        return members

    def search(
        self, text: str, *, project: str | None = None, author: str | None = None, limit: int = 10
    ) -> TeamResult:
        """What the team shared that has these words, best first. This asks the hub.

        Should the hub be away, what came with the last sync answers, and a remark says so.
        """
        from recollect.errors import HubUnavailable
        from recollect.model.team import TeamResult
        from recollect.share.hub import TeamQuery
        from recollect.share.names import prepared_words

        own = None if project is None else self._remote(project)
        muted = {name for name, _, is_muted in self.shared.store().team.mates() if is_muted}
        clean, said = self._arriving(), self.shared.redact(text)
        asked = TeamQuery(
            sorted(set(prepared_words(said))), self._vector(said), own, author,
            limit=limit + (limit if muted else 0),
        )  # fmt: skip
        result = TeamResult()
        try:
            with self._hub() as hub:
                result.hits = hub.search(asked)
        except HubUnavailable as error:
            result.hits = self.shared.store().team.search(
                asked.words, project=own, author=author, limit=limit
            )
            result.remarks.append(f"{error} These came with the last sync.")
        result.hits = [hit for hit in result.hits if hit.author not in muted][:limit]
        for hit in result.hits:
            hit.text = clean(hit.text)
        return result

    def _vector(self, text: str) -> list[float] | None:
        """What a question means, if by the encoder that the hub's vectors are of."""
        from recollect.share.turns import ENCODER

        encoder = self.shared.encoder()
        return list(encoder.encode_query(text)) if encoder.name == ENCODER else None

    def corrected(self, ref: str) -> list[Note]:
        """The notes here that a team mate's note corrects."""
        store = self.shared.store()
        return [store.notes.get(one) for one in store.team.corrected(ref)]

    def trust(self, name: str, *, project: str) -> None:
        """Believe what a team mate shares of a project as if each note had been accepted."""
        self._joined()
        self.shared.store().team.trust(name, self._remote(project))
        self._arrange(self._remote(project))

    def distrust(self, name: str, *, project: str) -> None:
        """Decide about each of their notes again."""
        self._joined()
        self.shared.store().team.distrust(name, self._remote(project))
        self._arrange(self._remote(project))

    def mute(self, name: str, *, muted: bool = True) -> int:
        """Hear nothing of a team mate any more; how many of their things went."""
        self._joined()
        return self.shared.store().team.mute(name, muted=muted)

    def revoke(self, name: str) -> None:
        """Have a member see and write nothing from now on."""
        with self._hub() as hub:
            hub.revoke(name)

    # Inside

    @contextmanager
    def _hub(self) -> Iterator[Hub]:
        from recollect.share.joining import open_hub

        joined = self._joined()
        hub = open_hub(joined.url, joined.team, joined.member, joined.device, self._secret(joined))
        try:
            yield hub
        finally:
            hub.close()

    def _joined(self) -> JoinedHub:
        from recollect.errors import UsageError

        joined = self.shared.ensure_store().team.hub()
        if joined is None:
            raise UsageError(
                "This store belongs to no team.",
                hint="Found one: recollect team init URL. Join one: recollect team join",
            )
        return joined

    def _secret(self, joined: JoinedHub) -> str | None:
        from recollect.share.link import find_secret

        return find_secret(joined.url, joined.team, self.shared.environ)

    def _leaving(self) -> OutgoingText:
        """Whatever the settings say about redaction: this leaves the machine."""
        from recollect.share.names import OutgoingText

        return OutgoingText(self._joined().team_key, self.shared.redactor(self.shared.store()))

    def _arriving(self) -> Callable[[str], str]:
        from recollect.share.names import arriving

        return arriving(self.shared.redactor(self.shared.store()).redact_strictly)

    def _arrange(self, project: str) -> None:
        from recollect.memory.notes import MemoryNotes

        MemoryNotes(self.shared).arrange([project])

    def _remote(self, project: str) -> str:
        """The key of a project that others know by the same name: that of its git remote."""
        from recollect.errors import UsageError
        from recollect.memory.projects import MemoryProjects

        projects: MemoryProjects = MemoryProjects(self.shared)
        if os.path.isdir(project):
            # Nothing of it need be stored yet: it may be new on this machine.
            from recollect.memory.notes import MemoryNotes

            key = MemoryNotes(self.shared).place(None, project)
        else:
            key = projects.get(project)
        if not self.shared.store().projects.is_remote(key):
            raise UsageError(
                f"{key} has no git remote, so others could not tell that it is the same project.",
                hint="Give its repository a remote: git remote add origin URL",
            )
        return key

    def _named(self, what: str, project: str | None) -> str:
        """The project, or session, that is meant; nothing means every attempt."""
        from recollect.errors import UsageError

        if project is None:
            if what == "episodes":
                return ""
            raise UsageError("Which project?", hint="Name it: --project NAME")
        if what == "sessions" and ":" in project and not os.path.exists(project):
            return self.shared.store().sessions.resolve(project)[0]
        return self._remote(project)

    def _choice(self, what: str) -> Share:
        from recollect.errors import UsageError

        for choice in CHOICES:
            if choice == what:
                return choice
        raise UsageError(f'"{what[:50]}" cannot be shared.', hint=f"Choose {', '.join(CHOICES)}.")


def _device_name() -> str:
    """Devices are told apart by a number; what a machine is called is nobody's business."""
    import sys

    return sys.platform


def _milliseconds(since: str | None) -> int | None:
    if since is None:
        return None
    from recollect.errors import UsageError
    from recollect.system.clock import MOMENTS, find_moment

    found = find_moment(since)
    if found is None:
        raise UsageError(f'"{since[:50]}" is not a date.', hint=f"Use {MOMENTS}.")
    return found
