"""How the redactor works as a part: batches, known values, the kept database, its speed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.redact import Redactor, hyper, known_values, table_version
from recollect.redact.contexts import CONTEXTS
from recollect.redact.shapes import INFIXES, SHAPES, Shape

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
NEEDS_WHEELS = pytest.mark.skipif(
    not hyper.available, reason="hyperscan or google-re2 is not installed"
)
LABELS = Path(__file__).parents[3] / "shared" / "redaction"


def test_a_string_without_a_finding_is_the_same_object(redactors: dict[str, Redactor]) -> None:
    texts = ["", "short", "nothing to see " * 100, "naïve café ☕"]

    assert all(a is b for a, b in zip(redactors["auto"].redact_all(texts), texts, strict=True))


def test_order_survives_batches_of_every_size(redactors: dict[str, Redactor]) -> None:
    texts = [
        f"{number} {TOKEN if number % 7 == 0 else 'x' * (number % 5 * 40_000)} é"[
            : -1 if number % 2 else None
        ]
        for number in range(60)
    ]

    redacted = redactors["auto"].redact_all(texts)

    assert [int(text.split()[0]) for text in redacted] == list(range(60))
    assert [TOKEN in text for text in redacted] == [False] * 60
    assert ["[REDACTED:" in text for text in redacted] == [number % 7 == 0 for number in range(60)]


def test_offsets_are_those_of_the_string_whatever_comes_before(
    redactors: dict[str, Redactor],
) -> None:
    text = f"é☕\U0001f980\ud800 {TOKEN} ☕"

    (finding,) = redactors["auto"].findings(text)

    assert text[finding.start : finding.end] == TOKEN


def test_a_token_does_not_reach_into_the_next_string(redactors: dict[str, Redactor]) -> None:
    halves = [TOKEN[:20], TOKEN[20:], "export API_TOKEN=", TOKEN[4:]]

    assert redactors["auto"].redact_all(halves) == halves


def test_the_values_of_the_environment_are_known() -> None:
    environ = {
        "SERVICE_TOKEN": "plain words as a token",
        "DEPLOY_KEY": "/home/me/.ssh/deploy_key",
        "GPG_PUBLIC_KEY": "some public key material",
        "API_KEY": "short",
        "HOME": "/home/somebody/else",
        "DB_PASSWORD": "correct horse battery",
    }

    assert known_values(environ) == {
        "SERVICE_TOKEN": "plain words as a token",
        "DB_PASSWORD": "correct horse battery",
    }


@pytest.mark.parametrize("engine", ["auto", "python"])
def test_known_values_are_found_wherever_they_stand(engine: str) -> None:
    """A secret need not look like one if the environment says that it is."""
    redactor = Redactor(b"key", known={"DB_PASSWORD": 'correct "horse" battery'}, engine=engine)

    texts = redactor.redact_all(
        [
            'it is correct "horse" battery.',
            json.dumps({"x": 'correct "horse" battery'}),
            "?q=correct%20%22horse%22%20battery",
            "correct",
        ]
    )

    assert all("horse" not in text for text in texts)
    assert texts[0].startswith("it is [REDACTED:env-db-password:")
    assert texts[3] == "correct"


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="engine must be"):
        Redactor(b"key", engine="perl")


def test_without_the_wheels_the_python_engine_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hyper, "available", False)

    assert Redactor(b"key").engine == "python"
    with pytest.raises(ImportError, match="google-re2"):
        Redactor(b"key", engine="hyperscan")


@NEEDS_WHEELS
def test_the_compiled_database_is_kept(tmp_path: Path) -> None:
    Redactor(b"key", cache=tmp_path / "cache").redact(TOKEN)

    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    before = kept.stat().st_mtime_ns
    assert TOKEN not in Redactor(b"key", cache=tmp_path / "cache").redact(TOKEN)
    assert kept.stat().st_mtime_ns == before


@NEEDS_WHEELS
@pytest.mark.parametrize("damage", [b"", b"garbage", b"\0" * 200_000])
def test_a_damaged_database_is_made_again(tmp_path: Path, damage: bytes) -> None:
    Redactor(b"key", cache=tmp_path / "cache").redact(TOKEN)
    (kept,) = (tmp_path / "cache").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage)

    assert TOKEN not in Redactor(b"key", cache=tmp_path / "cache").redact(TOKEN)
    assert kept.read_bytes()[32:] == whole[32:]


@NEEDS_WHEELS
def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    assert TOKEN not in Redactor(b"key", cache=tmp_path / "file" / "cache").redact(TOKEN)


def test_the_version_of_the_table_is_stable() -> None:
    assert table_version() == table_version()
    assert len(table_version()) == 16


def test_the_table_covers_two_hundred_kinds_and_each_once() -> None:
    kinds = [shape.kind for shape in SHAPES] + [infix.kind for infix in INFIXES]

    assert len(kinds) >= 200
    assert len(set(kinds)) == len(kinds)
    assert all(re.fullmatch(r"[a-z0-9-]+", kind) for kind in kinds + [row.kind for row in CONTEXTS])


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_every_shape_is_long_enough_for_the_python_engine(shape: Shape) -> None:
    """It skips short words, and words of other characters, before it looks for prefixes."""
    others = re.sub(
        r"[A-Za-z0-9_.~+/=%:$|@-]",
        "",
        "".join(re.findall(f"[{shape.alphabet}]", "".join(map(chr, range(128))))),
    )

    assert len(shape.prefix) + shape.low >= 14 or shape.tail
    assert not others


HOSTILE = [
    "token",
    "token=",
    "token=a1",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "glpat-",
    "glpat-a1B2c3D4e5F6g7H8i9J0-",
    "://",
    "://a:",
    "://a:b",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n",
    "kind: Secret\n",
    "kind: Secret\ndata:\n  a: YWRtaW5pc3RyYXRvcg==\n",
    "password password ",
    "login a password ",
    "Cookie: a=b; ",
    "Cookie: sessionid=a1B2c3D4e5F6g7H8; ",
    "Authorization: Bearer ",
    "secret" + '\\\\\\"',
    "sk-",
    "a",
    "A1b2",
    "a=",
    '"key" ',
    " -u a:",
    "mysql -",
    "Private-Lines: 9\n",
    "[REDACTED:jwt:0a1b2c3d]",
    "key=[REDACTED:",
    "é",
]


def seconds(work: Callable[[], object]) -> float:
    """CPU time of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


@pytest.mark.store
@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_takes_more_than_linear_time(
    piece: str, engine: str, redactors: dict[str, Redactor]
) -> None:
    """Four times the text may take four times as long, or eight on a busy machine.

    A square would take sixteen.
    """
    redactor = redactors[engine]
    small = piece * (40_000 // len(piece))
    large = piece * (160_000 // len(piece))

    redactor.redact(small)
    for _ in range(3):
        once = seconds(lambda: redactor.redact(small))
        four_times = seconds(lambda: redactor.redact(large))
        if four_times < 8 * once + 0.02:
            return

    pytest.fail(f"{once:.3f} s became {four_times:.3f} s, three times in a row")


@pytest.mark.skipif(not LABELS.is_dir(), reason="the labelled cases are not beside the project")
@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize(("name", "share"), [("gitleaks", 0.99), ("agentlog", 0.97)])
def test_labelled_secrets_are_gone(
    name: str, share: float, engine: str, redactors: dict[str, Redactor]
) -> None:
    rows = [
        json.loads(line) for line in (LABELS / f"{name}-visible.jsonl").read_text().splitlines()
    ]

    redacted = redactors[engine].redact_all([row["text"] for row in rows])

    gone = [
        not any(secret in text for secret in row["secrets"])
        for row, text in zip(rows, redacted, strict=True)
        if row["expect_secret"]
    ]
    changed = sum(
        text != row["text"]
        for row, text in zip(rows, redacted, strict=True)
        if not row["expect_secret"]
    )
    assert sum(gone) / len(gone) >= share
    assert changed == 0 or name == "gitleaks"


@pytest.mark.skipif(not LABELS.is_dir(), reason="the labelled cases are not beside the project")
def test_both_engines_agree_on_the_labelled_cases(redactors: dict[str, Redactor]) -> None:
    texts = [
        json.loads(line)["text"]
        for file in sorted(LABELS.glob("*.jsonl"))
        for line in file.read_text().splitlines()
    ]

    same = redactors["hyperscan"].redact_all(texts) == redactors["python"].redact_all(texts)

    assert same
