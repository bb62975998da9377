"""What README.md, SECURITY.md and docs/privacy.md claim, where no other test shows it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.serve.cli import main
from tests.docs.conftest import ROOT, SAMPLES

PRIVACY = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")


def transcript(page: str) -> list[tuple[str, list[str]]]:
    """The commands in a page, each with the lines it shows."""
    blocks = re.findall(
        r"^```console\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S
    )
    commands = re.split(r"^\$ recollect ", "".join(blocks), flags=re.M)[1:]
    return [
        (command.splitlines()[0], [line for line in command.splitlines()[1:] if line])
        for command in commands
    ]


def without_measures(text: str) -> str:
    """Sizes, seconds and ages differ from run to run, and each store has a mark of its own."""
    return re.sub(
        r"\d+\.\d+ (?=MB|s\b)|(?<=mark=\")\w{8}|\s+\S+ · \w+ · \d+(?:d|w|mo|y)(?= · )", "", text
    )


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("README.md", "memory search fix"),
        ("docs/recall.md", "import recall recall blame fix how friction resume handoff"),
    ],
)
def test_a_transcript_is_real(
    page: str,
    names: str,
    samples: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """It is shortened, but every line of it is what somebody would see."""
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "fresh"))
    if page == "README.md":
        main(["demo", "--sample"])
        capsys.readouterr()
    made_up = []
    for typed, shown in transcript(page):
        # The first page shows what a person sees, and with `| cat` what an agent does.
        command, pipe, _ = typed.partition(" | cat")
        on_a_screen = page == "README.md" and not pipe
        for name, value in (("FORCE_COLOR", "1"), ("NO_COLOR", "1"), ("COLUMNS", "100")):
            monkeypatch.setenv(name, value if on_a_screen else "")
        words = shlex.split(command, comments=False)
        # Whoever reads the summary first, searches when the work in the background is done.
        main([*words, "--wait"] if words == ["import"] else words)
        printed = without_measures("".join(capsys.readouterr())).splitlines()
        for line in map(without_measures, shown):
            # A cut line ends in an ellipsis of ours, after a space.
            cut = line.removesuffix(" …") if line.endswith(" …") else None
            if not any(other.startswith(cut) if cut else other == line for other in printed):
                made_up.append(f"{command}: {line}")

    assert made_up == []
    typed_names = [command.removeprefix("--demo ").split()[0] for command, _ in transcript(page)]
    assert typed_names == names.split()


# Runs commands in a process in which whoever opens a connection is stopped.
FORBIDDING = """
import sys
from recollect.serve.cli import main

def refuse(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"):
        raise SystemExit(f"{event} {arguments}")

sys.addaudithook(refuse)
for command in sys.argv[1:]:
    main(command.split(","))
"""


def test_nothing_leaves_the_machine(home: Path, tmp_path: Path) -> None:
    """The prices come from a table, and there is no one to call home to."""
    commands = [
        f"import,{SAMPLES},--wait", "search,deadlock,--explain",
        "recall,the migration deadlocks,--everywhere",
        "fix,database is locked", "sessions", "stats,--by,model", "doctor", "redact,--rescan",
        "jobs,run,embed,--again", "jobs,run",
    ]  # fmt: skip

    done = subprocess.run(
        [sys.executable, "-c", FORBIDDING, *commands],
        env={"HOME": str(home), "RECOLLECT_HOME": str(tmp_path / "recollect")}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, "socket." in done.stderr) == (0, False)
    assert "both" in done.stdout
    assert "25 logs read." in done.stdout
    assert "$" in done.stdout


@pytest.mark.usefixtures("samples")
def test_what_the_privacy_page_says_about_secrets_is_so() -> None:
    """A page that promises too much is dangerous; one that promises too little is out of date."""
    before, after = re.findall(r"^(\S+) +→ +(\S+)$", PRIVACY, re.M)[0]
    kept = [
        text
        for row in re.findall(r"^\| (`.*`) \| [^|`]+ \|$", PRIVACY, re.M)
        for text in re.findall(r"`([^`]+)`", row)
    ]

    with Memory.open() as memory:
        tagged = memory.redact(before)
        unchanged = [memory.redact(text) for text in kept]

    assert re.sub(r"[0-9a-f]{8}\]$", "]", tagged) == re.sub(r"[0-9a-f]{8}\]$", "]", after)
    assert len(kept) == 5
    assert unchanged == kept


def test_what_is_stored_is_for_its_owner_alone(prepared: Path) -> None:
    """Logs hold what was never meant for the other users of a machine."""
    if sys.platform == "win32":
        pytest.skip("profiles are private already")

    modes = {
        path.relative_to(prepared).as_posix(): path.stat().st_mode & 0o777
        for path in prepared.rglob("*")
    }

    assert modes["recollect.db"] == 0o600
    assert {mode & 0o077 for mode in modes.values()} == {0}


def test_the_readme_shows_what_the_sample_project_is_told() -> None:
    """Without its standing rules (uv, ruff, port 5050) the promise of the page would not hold."""
    shown = next(lines for command, lines in transcript("README.md") if "memory" in command)
    told = "\n".join(shown)

    assert [word for word in ("uv here, never pip", "ruff", "5050") if word not in told] == []
