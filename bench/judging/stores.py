"""Labelled sets as stores: imported the way an agent's logs are,
embedded, and kept when that is wanted.

A kept store is used again when the set, the code that fills a store and the
encoder are the same; what only reads a store may change, so that weights can
be tried without waiting.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec

import recollect
from bench.judging.sets import TALK, Collection, TalkSession, digest_of
from recollect import Memory
from recollect.capture.adapters import BUILT_IN, Adapter, get_adapter
from recollect.capture.logs.lines import blocks, records
from recollect.errors import RecollectError
from recollect.model.logs import Checkpoint, Event, Item, Problem, SessionFacts, Source, TurnFacts

# Parts of the package that only read a store, and what in them does not:
# vectors, and what hooks find ready.
_READERS = ("recall", "serve", "samples")
_WRITERS = ["recall/embedding.py"]


@dataclass(frozen=True)
class Encoder:
    """What turns text into vectors: the `embed` settings by name, empty ones left out."""

    provider: str = "static"
    model: str = ""
    url: str = ""

    def config(self) -> str:
        """The settings as a config.toml."""
        # A JSON string is also a TOML string.
        chosen = {"provider": self.provider, "model": self.model, "url": self.url}
        lines = (
            f"{name} = {msgspec.json.encode(value).decode()}"
            for name, value in chosen.items()
            if value
        )
        return "\n".join(["[embed]", *lines, ""])


class Talk:
    """Reads talks, one session a line, as `sets.talk` writes them."""

    agent = TALK
    name = "Talk"
    version = 1
    endings = (".jsonl",)
    _decoder = msgspec.json.Decoder(TalkSession)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Nowhere: talks are imported by path."""
        return []

    def sources(self, root: str) -> Iterator[Source]:
        """None, for the same reason."""
        return iter(())

    def find_source(self, path: str, head: bytes) -> Source | None:
        """By the name alone: nothing else lies in its folder."""
        return Source(self.agent, path) if os.path.basename(path) == "talk.jsonl" else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """Every session with its turns."""
        position = since.position if since else 0
        for block in blocks(source.path, position):
            if isinstance(block, Problem):
                yield block
                continue
            for record in records(source.path, block, self._decoder):
                yield from [record] if isinstance(record, Problem) else _items(record)
            position = block.end
        yield Checkpoint(position)


def _items(session: TalkSession) -> Iterator[Item]:
    yield SessionFacts(session=session.id, started_at=session.at, origin="interactive")
    for ordinal, said in enumerate(session.turns, 1):
        # A key that two sessions share would mean that one copied the other's turn.
        key = f"{session.id}/{ordinal}"
        yield TurnFacts(session=session.id, turn=key, at=session.at, author="human")
        yield Event(session=session.id, turn=key, kind="prompt", at=session.at, text=said.prompt)
        if said.reply:
            yield Event(session=session.id, turn=key, kind="reply", at=session.at, text=said.reply)


class Stores:
    """Makes stores below a folder and opens them."""

    def __init__(
        self, folder: Path, *, encoder: Encoder, keep: bool, resident: bool = False
    ) -> None:
        self.folder, self.encoder, self.keep, self.resident = folder, encoder, keep, resident

    @contextmanager
    def opened(self, digest: str, collection: Collection, *, embed: bool) -> Iterator[Memory]:
        """The memory of a collection, made unless it was kept.

        With vectors when `embed` says so.
        """
        home = self.folder / _name(digest, collection, self.encoder)
        done = home / "imported"
        if not done.is_file():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True, mode=0o700)
            (home / "config.toml").write_text(self.encoder.config(), encoding="utf-8")
        # Nothing of this machine's environment: its secrets' values are none of a published set's.
        environ = {"RECOLLECT_HOME": str(home)}
        with Memory.open(adapters=_adapters(), environ=environ, resident=self.resident) as memory:
            if not done.is_file():
                _fill(memory, collection, home)
                list(memory.make_ready())
                # Written last: a run that was interrupted is made again.
                done.touch()
            if embed:
                for _ in memory.store.embed():
                    pass  # A report after each batch; the stores are small.
            yield memory
        if not self.keep:
            shutil.rmtree(home)


def _fill(memory: Memory, collection: Collection, home: Path) -> None:
    logs = home / "logs"
    logs.mkdir()
    report = memory.import_logs([collection.write_logs(logs)])
    if report.problems or report.failed:
        raise RecollectError(
            f"{collection.name}: {report.problems} problems in the import",
            hint="look at the set's logs",
        )
    for ref in {ref for question in collection.questions for ref in question.evidence}:
        # A reference that leads nowhere could never be found, and every figure would be too low.
        memory.show(ref)


def _name(digest: str, collection: Collection, encoder: Encoder) -> str:
    """A folder name that is another one as soon as the store would be."""
    known = sha256(
        f"{digest}\0{_code()}\0{collection.name}\0{encoder.config()}".encode()
    ).hexdigest()[:16]
    return f"{re.sub(r'[^A-Za-z0-9-]', '-', collection.name)[:40]}-{known}"


@cache
def _code() -> str:
    """What is in the modules that fill a store: a change of them makes other stores."""
    package = Path(recollect.__file__).parent
    writers = [path for path in sorted(package.iterdir()) if path.name not in _READERS]
    return digest_of([*writers, *(package / name for name in _WRITERS), Path(__file__).parent])


@cache
def _adapters() -> dict[str, Adapter]:
    return {TALK: Talk(), **{agent: get_adapter(agent) for agent in BUILT_IN}}
