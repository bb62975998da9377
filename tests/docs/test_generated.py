"""What can drift is tested: generated pages, commands, settings, paths, links."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from recollect import settings
from recollect.serve import cli
from recollect.store.sqlite.migrate import migrations
from tests.docs.conftest import ROOT

PACKAGE = ROOT / "src" / "recollect"

GENERATOR = runpy.run_path(str(ROOT / "docs" / "generate.py"))
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "changelog.d").glob("*.md")]
)


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", GENERATOR["pages"](), ids=named)
def test_a_generated_page_is_up_to_date(page: Path) -> None:
    """`make docs` writes them; forgetting to run it is easy."""
    text = page.read_text(encoding="utf-8")

    assert GENERATOR["fill"](text) == text, "run `make docs`"


def test_the_expected_pages_are_generated() -> None:
    """A page that lost its marks would never be out of date."""
    assert {page.name for page in GENERATOR["pages"]()} == {
        "README.md", "cli.md", "config.md", "episodes.md", "jobs.md", "json.md", "privacy.md",
        "schema.md",
    }  # fmt: skip


@pytest.mark.parametrize("page", ["docs/json.md", "docs/episodes.md"])
def test_every_field_has_a_meaning(page: str) -> None:
    """The generator knows a new field's name and type, but not what it is for."""
    assert re.findall(r"^\| `(\w+)` \| [^|]* \| (?:\?|-)? *\|$", text_of(page), re.M) == []


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_a_command_has_help_and_is_in_the_page(name: str) -> None:
    """A command nobody can read about does not exist."""
    parser = cli.parser(name, cli.load(name))

    assert parser.description
    assert [action.dest for action in parser._actions if not action.help] == []
    assert f"\n## {name}\n" in text_of("docs/cli.md")
    assert cli.COMMANDS[name][1]


@pytest.mark.parametrize("key", settings.KEYS)
def test_a_setting_is_in_the_sample(key: str) -> None:
    """People look for a setting in the sample, not in the code."""
    _, meaning = settings.KEYS[key]

    assert f"# {meaning}\n" in settings.sample()
    assert f"# {meaning}\n" in text_of("docs/config.md")


def test_the_sample_is_a_config(tmp_path: Path) -> None:
    """Whoever takes the hashes away gets the defaults, and no error."""
    config = tmp_path / "config.toml"
    config.write_text(re.sub(r"^# (?=\w+ = )", "", settings.sample(), flags=re.M))

    found = settings.parse(str(config))

    assert {key: value for key, value in found.items() if key != "domains"} == {
        key: default for key, (default, _) in settings.KEYS.items() if key != "domains"
    }


def test_every_variable_of_ours_is_in_the_page() -> None:
    """A variable that is only in the code is a secret handshake."""
    used = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"\bRECOLLECT_[A-Z_]+\b", path.read_text(encoding="utf-8"))
    }

    assert used == set(re.findall(r"^\| `(RECOLLECT_\w+)` \|", text_of("docs/config.md"), re.M))


def test_every_table_is_in_the_page() -> None:
    """The schema page is made from the migrations."""
    made = {
        table
        for _, _, sql in migrations()
        for table in re.findall(r"create (?:virtual )?table (\w+)", sql)
    }

    assert made == set(re.findall(r"^### (\w+)$", text_of("docs/schema.md"), re.M))


def test_every_path_in_architecture_exists() -> None:
    """A map with wrong paths is worse than none."""
    paths = paths_in_architecture()

    lost = [path for path in paths if not any((root / path).exists() for root in (ROOT, PACKAGE))]

    assert lost == []


def test_architecture_names_every_package_and_every_module_at_the_top() -> None:
    """A newcomer finds each room on the map."""
    rooms = {
        f"{path.relative_to(PACKAGE)}{'/' if path.is_dir() else ''}"
        for path in PACKAGE.iterdir()
        if not path.name.startswith(("_", ".")) and (path.is_file() or has_source(path))
    }

    assert sorted(rooms - set(paths_in_architecture()) - {"py.typed"}) == []


def has_source(folder: Path) -> bool:
    """Whether anything but what Python leaves behind is in a folder."""
    return any(path.is_file() and path.suffix != ".pyc" for path in folder.rglob("*"))


def paths_in_architecture() -> list[str]:
    """Seen from the package, or from the root of the repository."""
    quoted = re.findall(r"`([^`\s]+)`", text_of("ARCHITECTURE.md"))
    return sorted({path for path in quoted if re.fullmatch(r"[\w./-]+(/|\.(py|sql|md))", path)})


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Pages are moved and headings renamed; links are forgotten."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" not in link and (
            not target.exists() or (anchor and anchor not in anchors(target))
        ):
            dead.append(link)

    assert dead == []


def anchors(page: Path) -> set[str]:
    """The names that a page's headings can be linked by."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("target", ["make run", "make test"])
def test_the_readme_names_the_two_commands(target: str) -> None:
    """They are all that a newcomer has to know."""
    assert target in text_of("README.md")
    assert f"\n{target.removeprefix('make ')}:" in text_of("Makefile")


def test_make_run_is_a_command_with_options_it_has() -> None:
    """It is the first thing a newcomer types."""
    name, *options = re.findall(r"^\t@\$\(BIN\)/recollect (.+)$", text_of("Makefile"), re.M)[
        0
    ].split()

    cli.parser(name, cli.load(name)).parse_args(options)


def test_the_source_distribution_has_every_page() -> None:
    """Whoever packages it for a distribution reads the same pages."""
    packed = tomllib.loads(text_of("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["sdist"][
        "include"
    ]

    assert {page.name for page in ROOT.glob("*.md")} | {
        "LICENSE",
        "Makefile",
        "changelog.d",
        "docs",
        "tests",
        "tools",
    } <= set(packed)
    assert [name for name in packed if not (ROOT / name).exists()] == []


def test_fragments_have_numbers_of_their_own() -> None:
    """Two changes with one number would be one release note."""
    names = [path.name for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md"]

    assert all(re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", name) for name in names)
    assert len({name[:4] for name in names}) == len(names)
