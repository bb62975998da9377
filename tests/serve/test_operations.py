"""What recollect does, seen from outside: log lines and spans, and nothing unless asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.builders.homes import claude_log, small_talk

SECRET_WORD = "xylophone"


@pytest.fixture(autouse=True)
def talk(home: Path) -> None:
    claude_log(home, small_talk(1, words=SECRET_WORD))


def ran(*words: str, code: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """A command of ours in a process of its own."""
    program = (
        f"{code}\nfrom recollect.serve.cli import main\nraise SystemExit(main({list(words)!r}))"
    )
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, **environ},
    )  # fmt: skip


def operations(logged: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    return [line for line in lines if line["logger"] == "recollect.operations"]


def spans(printed: str) -> list[dict[str, Any]]:
    """What the exporter for consoles has printed, one JSON object after the other."""
    found, decoder = [], json.JSONDecoder()
    rest = printed[printed.find("{") :]
    while rest.startswith("{"):
        one, end = decoder.raw_decode(rest)
        found.append(one)
        rest = rest[end:].lstrip()
    return found


def test_an_import_and_each_step_of_a_job_leave_a_line() -> None:
    """Whoever wonders where the time goes sees it, with counts and memory."""
    logged = operations(ran("import", "--wait", "--log-json", RECOLLECT_LOG="info").stderr)

    imported, *steps = logged
    assert imported["message"] == "import"
    assert {"logs": 1, "read": 1, "turns": 2, "failed": 0, "problems": 0}.items() <= (
        imported.items()
    )
    assert {"digest_new", "remember_due", "embed"} <= {step["step"] for step in steps}
    assert all(line["seconds"] >= 0 and line["peak_mb"] > 0 for line in logged)


def test_a_search_leaves_a_line_without_its_words() -> None:
    """What somebody looked for is nobody's business."""
    ran("import", "--wait")

    logged = ran("search", SECRET_WORD, "--log-json", RECOLLECT_LOG="info").stderr

    (line,) = operations(logged)
    assert (line["message"], line["mode"], line["hits"]) == ("search", "hybrid", 2)
    assert SECRET_WORD not in logged


@pytest.mark.skipif(find_spec("opentelemetry.sdk") is None, reason="needs opentelemetry-sdk")
def test_spans_are_sent_when_the_usual_variables_ask_for_them() -> None:
    """An operator has one place for all programs. No text of a log goes there."""
    asked = {"OTEL_TRACES_EXPORTER": "console", "OTEL_SERVICE_NAME": "memory of ada"}

    printed = ran("import", "--wait", **asked).stderr
    searched = ran("search", SECRET_WORD, **asked).stderr

    first = spans(printed)[0]
    assert first["resource"]["attributes"]["service.name"] == "memory of ada"
    assert (first["name"], first["attributes"]["recollect.turns"]) == ("import", 2)
    assert {"import", "job"} == {span["name"] for span in spans(printed)}
    assert [span["name"] for span in spans(searched)] == ["search"]
    assert SECRET_WORD not in printed + searched


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        {"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "console"},
    ],
    ids=["unset", "none", "disabled"],
)
def test_nothing_is_loaded_unless_somebody_asks(environ: dict[str, str]) -> None:
    """A search starts thousands of times a day."""
    ran("import", "--wait")
    code = (
        "import atexit, sys\natexit.register(lambda: print('opentelemetry' in sys.modules, "
        "'logging' in sys.modules, file=sys.stderr))"
    )

    said = ran("search", SECRET_WORD, "--mode", "text", code=code, **environ).stderr

    assert said.splitlines()[-1] == "False False"


def test_without_the_extra_it_says_what_to_install() -> None:
    """And does what it was asked to do."""
    code = "import sys\nsys.modules['opentelemetry.sdk.trace'] = None"

    done = ran("import", code=code, OTEL_TRACES_EXPORTER="console")

    assert "pip install 'recollect[otel]'" in done.stderr
    assert "1 log read." in done.stdout
