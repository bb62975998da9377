"""One exchange with the hub: what is gone first, then what is new, then what is ours.

Everything taken in is committed together with how far that goes, and everything pushed is written
down as waiting before it is, so an exchange that ends anywhere is gone on with by the next.
"""

from __future__ import annotations

import logging
import os
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from recollect.errors import HubRefused, HubUnavailable, NotFound
from recollect.model.batch import ProjectIdentity
from recollect.model.episodes import Episode
from recollect.model.notes import Category, Section
from recollect.model.team import Gone, ItemKind, SyncReport, TeamItem
from recollect.share.hub import PUSHED_AT_ONCE, Hub
from recollect.share.names import OutgoingText
from recollect.share.policy import NOTE_CHARACTERS, Outgoing, note_id, outgoing_items
from recollect.share.turns import turns_of
from recollect.store.sqlite.team import ArrivedNote, JoinedHub, SharedItem, item_id
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from recollect.model.leases import Lease
    from recollect.store import Store

    Clean = Callable[[str], str]

CATEGORIES: tuple[Category, ...] = get_args(Category)
SECTIONS: tuple[Section, ...] = get_args(Section)
_PROJECT = re.compile(r"[\w.-]+(?:[:/][\w.~-]+)+")
_EPISODE = re.compile(r"episode:[\w-]{1,64}")
_CORRECTS = re.compile(r"(?:[^\n]{1,40} )?[0-9a-f]{32}")
# Longer than the hub takes for one answer, after each of which it is renewed; who died in an
# exchange holds others up for no longer.
LEASE_SECONDS = 60
# How often others' news is looked for; how long a hub that was out of reach is left alone.
EVERY_MS, FIRST_WAIT_MS, LONGEST_WAIT_MS = 15 * 60_000, 60_000, 6 * 3_600_000

log = logging.getLogger(__name__)


def synchronise(
    store: Store,
    hub: Hub,
    *,
    leaving: OutgoingText,
    arriving: Clean,
    name: str,
    cache_bytes: int = 50 << 20,
) -> SyncReport:
    """Reconcile a store with its hub. `name` is what this device is called there.

    `leaving` and `arriving` clean texts of secrets. Another sync of the same store that runs
    already is left alone.
    """
    joined = store.team.hub()
    assert joined is not None
    with _only_one(store) as lease:
        report = SyncReport()
        if lease is None:
            report.remarks.append("Another sync runs already.")
            return report
        before = hub.round_trips
        renew = partial(store.leases.renew, lease, seconds=LEASE_SECONDS)
        _take_in(store, hub, joined, report, arriving, name, renew)
        _push(store, hub, work_out(store, hub, leaving), leaving, report, renew)
        if report.pulled:
            store.team.trim(cache_bytes)
        now = store.team.hub()
        assert now is not None
        if report.pulled or report.removed or report.pushed or report.taken_back or not now.token:
            token = os.urandom(8).hex()
            store.team.propose(token)
            hub.agree(now.watermark, token)
            store.team.save_token(token)
        store.team.synced()
        report.round_trips = hub.round_trips - before
        return report


@contextmanager
def _only_one(store: Store) -> Iterator[Lease | None]:
    lease = store.leases.take("team sync", seconds=LEASE_SECONDS)
    try:
        yield lease
    finally:
        if lease is not None:
            store.leases.release(lease)


def sync_due(store: Store, exchange: Callable[[], object]) -> None:
    """The job: exchange with the hub that was joined, if one was.

    Being offline is normal: it is tried again later, and later each time.
    """
    joined = store.team.hub()
    if joined is None:
        return
    now = now_ms()
    if joined.failures and joined.failed_at is not None:
        again = joined.failed_at + _wait_ms(joined.failures)
        if joined.failed_at <= now < again:
            store.jobs.mark("hub is due", at=again)
            return
    try:
        exchange()
    except (HubUnavailable, HubRefused) as error:
        after = store.team.hub()
        wait_ms = _wait_ms(after.failures if after else 1)
        log.info("the hub is out of reach", extra={"fault": type(error).__name__})
    else:
        wait_ms = EVERY_MS
    store.jobs.mark("hub is due", at=now_ms() + wait_ms)


def _wait_ms(failures: int) -> int:
    return min(LONGEST_WAIT_MS, FIRST_WAIT_MS * int(2 ** min(failures - 1, 20)))


# In


def _take_in(
    store: Store,
    hub: Hub,
    joined: JoinedHub,
    report: SyncReport,
    clean: Clean,
    name: str,
    renew: Callable[[], object],
) -> None:
    since = joined.watermark
    while True:
        pulled = hub.pull(since)
        if pulled.token is None or pulled.token not in (joined.token, joined.next_token):
            # Not known there, or known with another past: one of us is an old copy.
            device = str(uuid.uuid4())
            hub.register(device, name)
            store.team.start_over(device)
            if joined.token:
                report.remarks.append(
                    "The hub and this device remember different things: one of them was "
                    "restored from a copy. Everything was compared anew."
                )
            joined, since = joined._replace(device=device, token="", next_token=""), 0
            continue
        _apply(store, joined, pulled.items, pulled.watermark, report, clean)
        renew()
        since = pulled.watermark
        if not pulled.more:
            break


def _apply(
    store: Store,
    joined: JoinedHub,
    items: Sequence[TeamItem],
    watermark: int,
    report: SyncReport,
    clean: Clean,
) -> None:
    """Take in one answer of the hub, all of it or nothing."""
    gone = [one for one in items if one.gone is not None]
    muted = {name for name, project, is_muted in store.team.mates() if is_muted and not project}
    trusted = {(name, project) for name, project, is_muted in store.team.mates() if not is_muted}
    own = {one.id for one in gone if one.author == joined.member and one.gone == "forgotten"}
    if own:
        report.forgotten += _forget_here(store, joined, own)
    if forgotten := [one for one in gone if one.gone == "forgotten"]:
        report.removed += store.forgetting.team_items(forgotten)
    with store.transaction():
        report.removed += store.team.drop_items(gone)
        for one in items:
            if one.gone is not None or one.author in muted:
                continue
            if one.kind == "episode":
                report.pulled += _keep_episode(store, one, clean)
                continue
            if one.kind != "note":
                store.team.keep_item(one._replace(body=_cleaned(one.body, clean)))
                report.pulled += 1
                continue
            note = _note(one, clean, trusted)
            if note is not None and not store.team.was_forgotten(note.project, note.text):
                _ensure_project(store, note.project)
                store.team.take_in(note)
                report.pulled += 1
        store.team.settle_corrections()
        store.team.save_watermark(watermark)


def _keep_episode(store: Store, item: TeamItem, clean: Clean) -> bool:
    """Keep an attempt of a team mate's program, to be found with one's own; not if it is none."""
    try:
        episode = msgspec.convert(_all_cleaned(item.body, clean), Episode)
    except msgspec.ValidationError:
        return False
    if not _EPISODE.fullmatch(episode.ref) or episode.session is not None:
        return False
    episode.source, episode.trust = "live", "assistant"
    store.episodes.keep([episode])
    store.team.keep_item(item._replace(body={"ref": episode.ref}))
    return True


def _all_cleaned(value: Any, clean: Clean) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _all_cleaned(one, clean) for name, one in value.items()}
    return [_all_cleaned(one, clean) for one in value] if isinstance(value, list) else value


def _cleaned(body: dict[str, Any], clean: Clean) -> dict[str, Any]:
    return {
        clean(name): clean(value) if isinstance(value, str) else value
        for name, value in body.items()
        if isinstance(value, str | int | float | bool)
    }


def _note(item: TeamItem, clean: Clean, trusted: set[tuple[str, str]]) -> ArrivedNote | None:
    """A note as it came, with nothing believed of it: None where it is no note."""
    said: dict[str, Any] = item.body
    text = clean(str(said.get("text") or ""))[:NOTE_CHARACTERS]
    category, section = _category(said.get("category")), _section(said.get("section"))
    trust = said.get("trust")
    if not text or category is None or section is None or not _PROJECT.fullmatch(item.project):
        return None
    corrects = said.get("corrects")
    if not isinstance(corrects, str) or not _CORRECTS.fullmatch(corrects):
        corrects = None
    elif " " not in corrects:
        corrects = f"{item.author} {corrects}"
    # What an agent said there is told to nobody here before a person says so.
    is_believed = trust in ("user", "tool-verified") and (item.author, item.project) in trusted
    return ArrivedNote(
        item.author, item.id, item.project, text, category, section,
        clean(str(said.get("form") or ""))[:NOTE_CHARACTERS], str(trust), item.at,
        "active" if is_believed else "candidate", corrects,
    )  # fmt: skip


def _category(name: object) -> Category | None:
    return next((one for one in CATEGORIES if one == name), None)


def _section(name: object) -> Section | None:
    return next((one for one in SECTIONS if one == name), None)


def _ensure_project(store: Store, key: str) -> None:
    if store.projects.number(key) is None:
        store.projects.ensure(ProjectIdentity(key, "remote"))


def _forget_here(store: Store, joined: JoinedHub, ids: set[str]) -> int:
    """Forget here what another device of ours forgot."""
    done = 0
    with store.transaction():
        store.team.save_tombstones(ids)
    for ref in store.team.session_refs():
        if item_id(joined.team_key, "session", ref) in ids:
            store.forgetting.session_or_turn(ref)
            done += 1
    for project in store.projects.every_key():
        for note in store.notes.search(project=project):
            if note.author == "member" or note.project != project:
                continue
            if note_id(joined.team_key, store, note) in ids:
                try:
                    store.forgetting.note(note.ref)
                except NotFound:
                    continue
                done += 1
    return done


# Out


def work_out(store: Store, hub: Hub, clean: OutgoingText) -> dict[str, Outgoing]:
    """Write down what has to be pushed: what is new or changed, and what is shared no more.

    The answer is everything that is shared now, by id.
    """
    joined = store.team.hub()
    assert joined is not None
    key, there = joined.team_key, store.team.shared()
    forgotten: dict[str, ItemKind] = {
        item_id(key, kind, name): kind for kind, name in store.team.forgotten_names()
    }
    found = outgoing_items(store, store.team.shares(), key=key, clean=clean, kinds=hub.kinds)
    wanted = {one.id: one for one in found if one.id not in forgotten}
    changed = [
        SharedItem(one.id, one.kind, one.ref, one.project, one.hash, None, False)
        for one in wanted.values()
        if one.id not in there or there[one.id].hash != one.hash or there[one.id].gone
    ]
    if there or wanted:
        # Also what was never shared from here: another device of ours may have it.
        changed += [
            SharedItem(id, kind, "", "", b"", "forgotten", False)
            for id, kind in forgotten.items()
            if id not in there and kind in hub.kinds
        ]
    for id, known in there.items():
        gone: Gone = "forgotten" if id in forgotten else "withdrawn"
        if id not in wanted and known.gone not in (gone, "forgotten"):
            changed.append(known._replace(hash=b"", gone=gone, pushed=False))
    store.team.save_shared(changed)
    return wanted


def _push(
    store: Store,
    hub: Hub,
    wanted: dict[str, Outgoing],
    clean: OutgoingText,
    report: SyncReport,
    renew: Callable[[], object],
) -> None:
    """Push what waits, what is gone first; a session's turns before it counts as pushed."""
    waiting = [one for one in store.team.shared().values() if not one.pushed]
    waiting.sort(key=lambda one: (one.gone is None, one.id))
    for start in range(0, len(waiting), PUSHED_AT_ONCE):
        some = [one for one in waiting[start : start + PUSHED_AT_ONCE]
                if one.gone is not None or one.id in wanted]  # fmt: skip
        hub.push([_as_item(one, wanted) for one in some])
        renew()
        sessions = [wanted[one.id] for one in some if one.kind == "session" and not one.gone]
        for batch in turns_of(store, sessions, clean):
            hub.push_turns(batch)
            renew()
            report.turns += sum(len(turns) for turns in batch.values())
        store.team.mark_pushed(some)
        report.pushed += sum(one.gone is None for one in some)
        report.taken_back += sum(one.gone is not None for one in some)


def _as_item(one: SharedItem, wanted: dict[str, Outgoing]) -> TeamItem:
    if one.gone is not None:
        return TeamItem(one.id, one.kind, one.project, None, {}, one.gone)
    now = wanted[one.id]
    return TeamItem(one.id, one.kind, one.project, now.at, now.body)
