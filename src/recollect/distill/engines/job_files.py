"""Memories for any agent to write by hand: a file for each project, and the answers back.

    <project>.md          header, what to do, the instructions, OLD and RECORD
    <project>.answer.md   what the agent wrote

A file is all that is needed for its project, so any agent can work through the folder. Of a
job only the header is read back, and it is believed as little as the answer is: a project that
has changed since, or that we do not know, keeps the memory it has.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from recollect.distill.engines.answer import MOST_CHARACTERS
from recollect.distill.engines.material import Material, instructions
from recollect.errors import BadReply, FileUnwritable, UsageError
from recollect.model.engines import EngineAnswer
from recollect.system import platforms

JOB, ANSWER = ".md", ".answer.md"
HEADER_BYTES = 4_000
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_HEADER = re.compile(r"\Aproject: (?P<project>[^\n]+)\nstate: (?P<state>\S+)\nanswer: \S+\n")


class WaitingAnswer(NamedTuple):
    """A job of a folder, with its answer if there is one."""

    project: str
    state: str
    path: str

    @property
    def answer(self) -> str | None:
        """What was answered; None while nothing was."""
        text = _read(self.path.removesuffix(JOB) + ANSWER, MOST_CHARACTERS * 4)
        return text if text and text.strip() else None


def write_jobs(folder: str, materials: Iterable[Material]) -> Iterator[EngineAnswer]:
    """Write a job for each project.

    One that is there already in the same state stays as it is, with its answer.
    """
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for material in materials:
            yield _write(folder, material)
    except OSError as error:
        raise FileUnwritable(folder, error.strerror or str(error)) from error


def _write(folder: str, material: Material) -> EngineAnswer:
    name = _name(material.project)
    path = os.path.join(folder, name + JOB)
    job = EngineAnswer(project=material.project, path=path, outcome="written")
    if (known := _header(path)) and known.state == material.state:
        job.outcome = "unchanged"
        return job
    with suppress(FileNotFoundError):
        # It answers an earlier state.
        os.remove(os.path.join(folder, name + ANSWER))
    header = f"project: {material.project}\nstate: {material.state}\nanswer: {name}{ANSWER}\n\n"
    text = "\n".join([header + instructions("job"), instructions("memory"), material.question])
    platforms.replace_text(path, text)
    return job


def read_jobs(folder: str) -> Iterator[WaitingAnswer]:
    """The jobs of a folder; files of somebody else are passed over."""
    if not os.path.isdir(folder):
        raise UsageError(
            f"{folder} is not a folder.",
            hint="Name the one that `recollect memory update --jobs` wrote to.",
        )
    for name in sorted(os.listdir(folder)):
        if name.endswith(JOB) and not name.endswith(ANSWER):
            job = _header(os.path.join(folder, name))
            if job is not None and name == _name(job.project) + JOB:
                yield job


def _name(project: str) -> str:
    short = _OTHER.sub("-", project)[-80:].strip("-.")
    return f"{short}-{sha256(project.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _header(path: str) -> WaitingAnswer | None:
    with suppress(BadReply):
        if found := _HEADER.match(_read(path, HEADER_BYTES) or ""):
            return WaitingAnswer(found["project"], found["state"], path)
    return None


def _read(path: str, most_bytes: int) -> str | None:
    """The beginning of a file's text; None when there is none. A link is not followed."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise BadReply(f"{os.path.basename(path)} is not a file.")
        with open(path, "rb") as file:
            return file.read(most_bytes).decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadReply(f"Cannot read {os.path.basename(path)}: {error.strerror}.") from error
