"""The promises, one test each."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from recollect.capture.adapters import Adapter
from recollect.model.logs import Checkpoint, Event, Problem, TurnFacts
from recollect.model.sessions import Tokens
from recollect.testing.damage import (
    add_marks,
    damaged,
    earlier_states,
    read_with_wal,
    replace_word,
    touch,
    write_with_wal,
)
from recollect.testing.imports import all_sessions, everything, imported, live_turns, sources
from recollect.testing.samples import Sample, a_few, copy_sample, opened_files, put_back, some_files

STATE_BYTES = 64 << 10
# A made-up token in the shape of a real one: what must never reach a store.
SECRET = "ghp_" + "".join(
    random.Random(7).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=36)
)


class AdapterContract:
    """Tests of one adapter over its samples. A subclass says `make` and `samples`."""

    make: Callable[[], Adapter]
    samples: Sequence[Sample] = ()

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """One test for each sample."""
        if "sample" in metafunc.fixturenames:
            metafunc.parametrize(
                "sample",
                self.samples,
                ids=[sample.name or sample.path.name for sample in self.samples],
            )

    def test_a_sample_is_read(self, sample: Sample, tmp_path: Path) -> None:
        """A sample that gives nothing would make all the other tests true."""
        folder = copy_sample(sample, tmp_path)

        sessions = everything(self.make(), folder).values()
        assert any(session.turn_list for session in sessions) or not sample.has_turns

    def test_every_reading_ends_with_a_checkpoint(self, sample: Sample, tmp_path: Path) -> None:
        """What comes after the last checkpoint is not kept, nor a state that is too large."""
        adapter = self.make()
        for source in sources(adapter, copy_sample(sample, tmp_path)):
            items = list(adapter.read(source, None))
            points = [item for item in items if isinstance(item, Checkpoint)]

            assert points
            assert items[-1] is points[-1]
            assert all(len(point.state) <= STATE_BYTES for point in points)

    def test_a_turn_shares_its_key_with_copies_of_it_alone(
        self, sample: Sample, tmp_path: Path
    ) -> None:
        """A turn is forgotten by its key, and its copies in forks with it.

        A key such as `1` would take others along.
        """
        adapter = self.make()
        said: dict[str, dict[str, list[str]]] = {}
        for source in sources(adapter, copy_sample(sample, tmp_path)):
            for item in adapter.read(source, None):
                if isinstance(item, TurnFacts | Event):
                    prompts = said.setdefault(item.turn, {}).setdefault(item.session, [])
                    prompts += (
                        [item.text] if isinstance(item, Event) and item.kind == "prompt" else []
                    )

        shared = {
            key: told
            for key, told in said.items()
            if len({tuple(prompts[:1]) for prompts in told.values()}) > 1
        }
        opened = {key for key, told in said.items() if len(told) > 1 and not any(told.values())}
        assert (shared, opened) == ({}, set()) or not sample.distinct_ids

    def test_importing_twice_changes_nothing(self, sample: Sample, tmp_path: Path) -> None:
        """Nor does importing logs that were touched but not changed."""
        folder = copy_sample(sample, tmp_path)
        with imported(self.make(), folder) as mind:
            first = all_sessions(mind)
            report = mind.import_logs([folder])
            assert (report.imported, report.updated, report.turns) == (0, 0, 0)
            assert all_sessions(mind) == first

            touch(folder)
            mind.import_logs([folder])
            assert all_sessions(mind) == first

    def test_a_reading_goes_on_where_it_stopped(self, sample: Sample, tmp_path: Path) -> None:
        """Whatever part of a log was there at first, the rest follows, once."""
        folder = copy_sample(sample, tmp_path)
        whole = everything(self.make(), folder)
        for file in some_files(folder, read_by=sources(self.make(), folder)):
            for state in earlier_states(file):
                now = read_with_wal(file)
                write_with_wal(file, state.data)
                with imported(self.make(), folder) as mind:
                    write_with_wal(file, now)
                    mind.import_logs([folder])
                    told = all_sessions(mind)

                assert live_turns(told) == live_turns(whole), (
                    f"{file.name} was {state.name} at first"
                )

    def test_a_damaged_file_costs_no_more_than_itself(self, sample: Sample, tmp_path: Path) -> None:
        """Torn, empty, binary and hostile files are told as problems, or have nothing to tell.

        None stops an import.
        """
        adapter = self.make()
        folder = copy_sample(sample, tmp_path)
        for file in some_files(folder):
            for name, data in damaged(file):
                whole = file.read_bytes()
                file.write_bytes(data)
                problems = []
                for source in sources(adapter, folder):
                    items = list(adapter.read(source, None))
                    assert isinstance(items[-1], Checkpoint), f"{file.name}, {name}"
                    problems += [item for item in items if isinstance(item, Problem)]
                paths = [source.path for source in sources(adapter, folder)]
                if name == "binary" and str(file) in paths:
                    assert problems, f"{file.name}, {name}"
                file.write_bytes(whole)

    def test_a_byte_order_mark_costs_nothing(self, sample: Sample, tmp_path: Path) -> None:
        """Editors and programs of Windows put one before the first line."""
        folder = copy_sample(sample, tmp_path)
        before = everything(self.make(), folder)

        add_marks(folder)

        assert live_turns(everything(self.make(), folder)) == live_turns(before)

    def test_what_nobody_knows_is_counted_and_the_rest_is_read(
        self, sample: Sample, tmp_path: Path
    ) -> None:
        """Agents add new kinds of records every month."""
        folder = copy_sample(sample, tmp_path)
        before = everything(self.make(), folder)
        for file in some_files(folder, ".jsonl"):
            with file.open("ab") as log:
                ended = file.read_bytes()[-1:] in (b"\n", b"")
                log.write(b"" if ended else b"\n")
                log.write(
                    b'{"type":"never_heard_of","kind":"never_heard_of","role":"never_heard_of"}\n'
                )

        with imported(self.make(), folder) as mind:
            told = all_sessions(mind)
            failed = [report for report in mind.source_reports if report.outcome == "failed"]

        assert failed == []
        assert {ref: len(session.turn_list) for ref, session in told.items()} == {
            ref: len(session.turn_list) for ref, session in before.items()
        }

    def test_tokens_are_counted_as_somebody_else_counted_them(
        self, sample: Sample, tmp_path: Path
    ) -> None:
        """Each format has its own idea of what input is, and repeats its figures in its own way."""
        folder = copy_sample(sample, tmp_path)
        told = everything(self.make(), folder)

        total = Tokens()
        for session in told.values():
            for name in Tokens.__struct_fields__:
                setattr(total, name, getattr(total, name) + getattr(session.tokens, name))

        assert sample.count is None or total == sample.count(folder)

    def test_nothing_but_the_source_and_its_companions_is_read(
        self, sample: Sample, tmp_path: Path
    ) -> None:
        """Beside logs there are credentials: a source with its companions gives all it gives."""
        adapter = self.make()
        folder = copy_sample(sample, tmp_path)
        away = tmp_path / "away"
        for source in a_few(sources(adapter, folder)):
            expected = list(adapter.read(source, None))
            os.rename(folder, away)
            folder.mkdir()
            for path in (source.path, *source.companions):
                put_back(path, str(folder), str(away))
            found = list(adapter.read(source, None))
            shutil.rmtree(folder)
            os.rename(away, folder)

            assert found == expected

    def test_listing_the_sources_opens_nothing(self, sample: Sample, tmp_path: Path) -> None:
        """It is done on every import, over thousands of files."""
        adapter = self.make()
        folder = copy_sample(sample, tmp_path)

        with opened_files() as opened:
            found = list(adapter.sources(str(folder)))

        assert not found or [path for path in opened if path.startswith(str(folder))] == []

    def test_secrets_are_removed(self, sample: Sample, tmp_path: Path) -> None:
        """Wherever a word of a prompt stands, a secret might stand."""
        folder = copy_sample(sample, tmp_path)
        told = everything(self.make(), folder)
        words: set[str] = set()
        for session in told.values():
            for turn in session.turn_list:
                words.update(turn.prompt.split())
        if not replace_word(folder, words, SECRET):
            return

        with imported(self.make(), folder, redact=True) as mind:
            told = all_sessions(mind)
            store = Path(mind.settings.store)
            stored = b"".join(path.read_bytes() for path in store.parent.glob(f"{store.name}*"))

        assert told
        assert SECRET not in msgspec.json.encode(told).decode()
        assert SECRET.encode() not in stored
