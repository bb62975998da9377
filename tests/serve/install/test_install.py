"""Setting up the agents: what goes into their files, and that it comes out again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import FileRefused, UsageError
from recollect.model.reports import Installed, Integration
from recollect.serve.agents.claude_code import HOOKS
from recollect.serve.cli import main
from recollect.serve.install import install, installable, installed, uninstall
from recollect.serve.install.files import BACKUP

GOLDEN = Path(__file__).parent / "golden"
CALL = ["/opt/my tools/recollect"]
SCOPES = ["user", "project"]

# What a person's files held before, with what is easily lost: comments,
# commas, line ends, other tools' entries.
BEFORE = {
    "claude-code": {
        "~/.claude/settings.json": (
            '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type": '
            '"command", "command": "say done"}]}\n'
            '    ]\n  },\n  "permissions": {"allow": ["Bash(ls:*)"]}\n}'
        ),
        "~/.claude.json": '{"numStartups": 3, "mcpServers": {"other": {"command": "other"}}, '
                          '"projects": {}}',
    },
    "codex": {
        "~/.codex/config.toml": (
            'model = "gpt" # the good one\n\n[mcp_servers.other]\ncommand = '
            '"other"\n\n[projects."/home/ada/shop"]\n'
            'trust_level = "trusted"'
        ),
        "~/.codex/hooks.json": '{\r\n\t"description": "mine",\r\n\t"hooks": {}\r\n}\r\n',
    },
    "gemini-cli": {"~/.gemini/settings.json": '// mine\n{\n    "theme": "dark", // at night\n    '
                                              '"mcpServers": {},\n}\n'},
    "cursor": {
        "~/.cursor/mcp.json": "",
        "~/.cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "say done"}]}}\n',
    },
    "opencode": {"~/.config/opencode/opencode.jsonc": '{\n  // nothing yet\n}\n'},
    "copilot-cli": {"~/.copilot/mcp-config.json": '\ufeff{\n  "mcpServers": {\n    "other": '
                                                  '{"command": "other"}\n  }\n}\n'},
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository to work in."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def lay(home: Path, files: Mapping[str, str]) -> None:
    """Write files, given by their paths below the home."""
    for name, text in files.items():
        path = home / name.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def tree(*folders: Path) -> dict[str, bytes]:
    """Every file below these folders, our store's apart."""
    return {
        str(path): path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
    }


def put(agent: str, project: Path, scope: str = "user", **more: Any) -> list[Installed]:
    return install(agent, scope, folder=str(project), environ={}, call=CALL, **more)  # type: ignore[arg-type]


def take(agent: str, project: Path, scope: str = "user", **more: Any) -> list[Installed]:
    return uninstall(agent, scope, folder=str(project), environ={}, **more)  # type: ignore[arg-type]


def states(rows: list[Installed]) -> dict[str, str]:
    return {row.part: row.state for row in rows}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("agent", installable())
def test_the_files_are_as_recorded(
    agent: str, scope: str, home: Path, project: Path, request: pytest.FixtureRequest
) -> None:
    """Each agent reads a shape of its own; a change of one shows in the review."""
    lay(home, BEFORE[agent] if scope == "user" else {})

    put(agent, project, scope)

    shown = []
    for path, data in sorted(tree(home, project).items()):
        name = path.replace(str(home), "~").replace(str(project), "shop")
        # The skill's text is its own business; that its mark is there is ours.
        text = data.decode() if not name.endswith("SKILL.md") else "[...]\n"
        if not text.isascii() or "\r" in text:
            text = json.dumps(text)[1:-1]
        shown.append(f"=== {name}\n{text}\n")
    golden = GOLDEN / f"{agent}-{scope}.txt"
    if request.config.getoption("--update-golden"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text("".join(shown))
    assert "".join(shown) == golden.read_text()


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("agent", installable())
def test_uninstalling_leaves_everything_as_it_was(
    agent: str, scope: str, home: Path, project: Path
) -> None:
    """Byte for byte, with no copy and no empty folder left behind."""
    files = BEFORE[agent]
    lay(home if scope == "user" else project, files)
    before, folders = tree(home, project), sorted(map(str, [*home.rglob("*"), *project.rglob("*")]))

    assert set(states(put(agent, project, scope)).values()) <= {"added"}
    assert set(states(take(agent, project, scope)).values()) == {"removed"}

    assert tree(home, project) == before
    assert sorted(map(str, [*home.rglob("*"), *project.rglob("*")])) == folders


@pytest.mark.parametrize(
    "text",
    [
        "{}", "{ }", "{\n}\n", "", "\n\n", "// c", "{/* c */}", '{"hooks": {}}',
        '{"hooks": {"Stop": [ ]}}\n',
    ],
)  # fmt: skip
def test_an_empty_file_comes_back_as_empty_as_it_was(text: str, home: Path, project: Path) -> None:
    """There are many ways to write nothing."""
    lay(home, {"~/.claude/settings.json": text})

    put("claude-code", project)
    take("claude-code", project)

    assert tree(home) == {str(home / ".claude" / "settings.json"): text.encode()}


@pytest.mark.parametrize("agent", installable())
def test_installing_twice_changes_nothing(agent: str, home: Path, project: Path) -> None:
    """People run it without thinking about it, and so do their set-up scripts."""
    lay(home, BEFORE[agent])
    put(agent, project)
    once = tree(home, project)

    rows = put(agent, project)

    assert set(states(rows).values()) == {"unchanged"}
    assert tree(home, project) == once


@pytest.mark.parametrize("agent", installable())
def test_a_dry_run_tells_and_writes_nothing(agent: str, home: Path, project: Path) -> None:
    """A plan that is carried out while it is shown is none."""
    lay(home, BEFORE[agent])
    before = tree(home, project)

    planned = put(agent, project, dry_run=True)
    untouched = tree(home, project)
    done = put(agent, project)
    there = tree(home, project)
    would_go = take(agent, project, dry_run=True)

    assert untouched == before
    would = {"added": "would add", "changed": "would change"}
    assert [row.state for row in planned] == [would[row.state] for row in done]
    assert [(row.part, row.path) for row in planned] == [(row.part, row.path) for row in done]
    assert set(states(would_go).values()) == {"would remove"}
    assert tree(home, project) == there


@pytest.mark.parametrize("agent", installable())
def test_an_older_path_is_brought_up_to_date_in_place(
    agent: str, home: Path, project: Path
) -> None:
    """recollect was moved, or came through another installer.

    Two entries would be told everything twice.
    """
    install(agent, folder=str(project), environ={}, call=["/old/bin/recollect"])
    older = tree(home)

    rows = put(agent, project)

    newer = tree(home)
    assert {row.state for row in rows if row.part != "skill"} == {"changed"}
    assert {path for path in newer if not path.endswith(BACKUP)} == set(older)
    assert not [
        path for path, data in newer.items() if b"/old/bin" in data and not path.endswith(BACKUP)
    ]
    assert installed({}, str(project)) == [
        Integration(
            agent=agent,
            scope="user",
            hooks=True,
            mcp=True,
            skill=True,
            command=CALL[0],
            command_exists=False,
        )
    ]


def test_what_somebody_set_on_our_entry_stays(home: Path, project: Path) -> None:
    """A timeout, a switched-off server: only how we are called is ours."""
    put("gemini-cli", project)
    path = home / ".gemini" / "settings.json"
    held = json.loads(path.read_text())
    held["mcpServers"]["recollect"]["timeout"] = 99
    held["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] = 1
    path.write_text(json.dumps(held))

    install("gemini-cli", folder=str(project), environ={}, call=["/new/recollect"])

    held["mcpServers"]["recollect"]["command"] = "/new/recollect"
    for event, [group] in held["hooks"].items():
        group["hooks"][0]["command"] = f"/new/recollect hook gemini-cli {event}"
    assert json.loads(path.read_text()) == held


@pytest.mark.parametrize("agent", installable())
def test_entries_that_others_added_later_survive(agent: str, home: Path, project: Path) -> None:
    """Between install and uninstall lie months."""
    put(agent, project)
    for path in [home / name for name in tree(home) if name.endswith(".json")]:
        held = json.loads(path.read_text())
        for table in ("hooks", "mcpServers", "mcp"):
            if table in held:
                held[table]["later"] = [] if table == "hooks" else {"command": "later"}
        path.write_text(json.dumps({"first": 1, **held, "last": 2}, indent=4))

    take(agent, project)

    left = {path: json.loads(data) for path, data in tree(home).items() if path.endswith(".json")}
    assert left
    assert "recollect" not in json.dumps(list(left.values()))
    assert all(held["first"] == 1 and held["last"] == 2 for held in left.values())
    assert "later" in json.dumps(list(left.values()))


def test_hooks_of_others_in_a_group_with_ours_stay(home: Path, project: Path) -> None:
    """Somebody put theirs into our group, or ours into theirs."""
    put("claude-code", project)
    path = home / ".claude" / "settings.json"
    held = json.loads(path.read_text())
    held["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "say done"})
    path.write_text(json.dumps(held))

    assert set(states(put("claude-code", project)).values()) == {"unchanged"}
    take("claude-code", project)

    assert json.loads(path.read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
    }


def test_hooks_for_events_that_we_no_longer_use_go(home: Path, project: Path) -> None:
    """An older recollect listened to more."""
    command = {"type": "command", "command": "/old/recollect hook claude-code Notification"}
    lay(
        home,
        {
            "~/.claude/settings.json": json.dumps(
                {"hooks": {"Notification": [{"hooks": [command]}]}}
            )
        },
    )

    put("claude-code", project)

    written = json.loads((home / ".claude" / "settings.json").read_text())
    assert list(written["hooks"]) == list(HOOKS.events)


@pytest.mark.parametrize(
    ("agent", "name", "text", "line"),
    [
        ("claude-code", ".claude/settings.json", '{\n  "model": "opus"\n  "hooks": {}\n}', 3),
        ("claude-code", ".claude.json", "{", 1),
        ("codex", ".codex/config.toml", "a = 1\nb =\n", 2),
        ("gemini-cli", ".gemini/settings.json", "{\n\n", 3),
        ("opencode", ".config/opencode/opencode.json", "{\n{", 2),
    ],
)
def test_a_damaged_file_is_refused_and_none_is_touched(
    agent: str,
    name: str,
    text: str,
    line: int,
    home: Path,
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """We might cut off what the person can still mend."""
    lay(home, {name: text})

    assert main(["install", agent]) == 65

    assert f"{home / name}, line {line}: " in capsys.readouterr().err
    assert tree(home) == {str(home / name): text.encode()}


@pytest.mark.parametrize("hooks", ["null", "[]", '{"SessionStart": {}}'])
def test_hooks_in_a_shape_nobody_knows_are_refused(hooks: str, home: Path, project: Path) -> None:
    """It is not for us to say what was meant."""
    lay(home, {"~/.claude/settings.json": f'{{"hooks": {hooks}}}'})

    with pytest.raises(FileRefused, match="not what the agent expects"):
        put("claude-code", project)

    assert list(tree(home)) == [str(home / ".claude" / "settings.json")]


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        (
            "claude-code",
            ".claude.json",
            '{"mcpServers": {"recollect": {"command": "another", "args": ["serve"]}}}',
        ),
        ("codex", ".codex/config.toml", '[mcp_servers.recollect]\ncommand = "another"\n'),
    ],
)
def test_another_server_of_our_name_is_left_alone(
    agent: str, name: str, text: str, home: Path, project: Path
) -> None:
    """Names are free for anybody to take."""
    lay(home, {name: text})

    assert states(put(agent, project)) == {"hooks": "added", "mcp": "skipped", "skill": "added"}
    assert states(take(agent, project)) == {
        "hooks": "removed",
        "mcp": "unchanged",
        "skill": "removed",
    }

    assert tree(home) == {str(home / name): text.encode()}


@pytest.mark.parametrize("part", ["skill", "hooks"])
def test_a_file_of_ours_that_was_changed_by_hand_is_the_users(
    part: str, home: Path, project: Path
) -> None:
    """Their words are in it now."""
    path = next(Path(row.path) for row in put("opencode", project) if row.part == part)
    path.write_text(path.read_text().replace("recollect", "my recollect", 1))
    theirs = path.read_text()

    assert states(put("opencode", project))[part] == "skipped"
    assert states(take("opencode", project))[part] == "skipped"

    assert path.read_text() == theirs


def test_a_checkout_with_other_line_ends_is_still_ours(home: Path, project: Path) -> None:
    """Git changes them on Windows."""
    put("codex", project, "project")
    path = project / ".agents" / "skills" / "recollect" / "SKILL.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert states(take("codex", project, "project"))["skill"] == "removed"


def test_a_skill_that_another_agent_reads_stays_until_the_last_one_goes(
    home: Path, project: Path
) -> None:
    """Four agents share one folder of skills."""
    put("codex", project)
    put("gemini-cli", project)

    first, second = take("codex", project), take("gemini-cli", project)

    assert (first[-1].state, first[-1].note) == ("skipped", "gemini-cli also read it")
    assert second[-1].state == "removed"
    assert tree(home) == {}


@pytest.mark.parametrize(
    ("agent", "files", "plugin"),
    [
        (
            "claude-code",
            {"~/.claude/settings.json": '{"enabledPlugins": {"recollect@market": true}}'},
            "recollect@market",
        ),
        (
            "gemini-cli",
            {"~/.gemini/extensions/recollect/gemini-extension.json": '{"name": "recollect"}'},
            "extension recollect",
        ),
    ],
)
def test_where_the_plugin_is_nothing_is_added_twice(
    agent: str, files: dict[str, str], plugin: str, home: Path, project: Path
) -> None:
    """Everything would be told to the model two times."""
    lay(home, files)

    rows = put(agent, project)

    assert [(row.state, row.note) for row in rows] == [("skipped", f"{plugin} provides it")] * 3
    assert tree(home) == {
        str(home / name.removeprefix("~/")): text.encode() for name, text in files.items()
    }
    assert installed({}, str(project)) == [Integration(agent=agent, scope="user", plugin=plugin)]


def test_what_the_plugin_brings_replaces_what_we_put_there_before(
    home: Path, project: Path
) -> None:
    """First the command, months later the plugin."""
    put("gemini-cli", project)
    extension = home / ".gemini" / "extensions" / "recollect" / "gemini-extension.json"
    lay(home, {str(extension.relative_to(home)): '{"name": "recollect"}'})

    rows = put("gemini-cli", project)

    assert set(states(rows).values()) == {"removed"}
    assert list(tree(home)) == [str(extension)]


def test_a_plugin_that_is_switched_off_brings_nothing(home: Path, project: Path) -> None:
    """It is installed, but it does not run."""
    lay(
        home,
        {
            "~/.claude/settings.json": '{"enabledPlugins": {"recollect@market": false, '
            '"other@market": true}}'
        },
    )

    assert set(states(put("claude-code", project)).values()) == {"added"}


def test_hooks_are_not_added_to_a_project_when_the_user_has_them(home: Path, project: Path) -> None:
    """Agents run the hooks of both."""
    put("claude-code", project)

    rows = put("claude-code", project, "project")

    assert states(rows) == {"hooks": "skipped", "mcp": "added", "skill": "added"}
    assert "would run twice" in rows[0].note


def test_hooks_that_a_project_has_already_are_spoken_of(home: Path, project: Path) -> None:
    """The user wants them everywhere; only here they would run twice."""
    put("claude-code", project, "project")

    hooks, *_ = put("claude-code", project)

    assert hooks.state == "added"
    assert "recollect uninstall claude-code --scope project" in hooks.note


@pytest.mark.parametrize(
    ("agent", "variable", "expected"),
    [
        (
            "claude-code",
            "CLAUDE_CONFIG_DIR",
            {"settings.json", ".claude.json", "skills/recollect/SKILL.md"},
        ),
        ("codex", "CODEX_HOME", {"hooks.json", "config.toml"}),
        (
            "opencode",
            "XDG_CONFIG_HOME",
            {"opencode/opencode.json", "opencode/plugins/recollect.js"},
        ),
        ("copilot-cli", "COPILOT_HOME", {"hooks/recollect.json", "mcp-config.json"}),
    ],
)
def test_a_moved_home_of_an_agent_is_found(
    agent: str, variable: str, expected: set[str], home: Path, project: Path, tmp_path: Path
) -> None:
    """The agent would read no other place."""
    moved = tmp_path / "moved"

    install(agent, folder=str(project), environ={variable: str(moved)}, call=CALL)

    assert {str(path.relative_to(moved)) for path in moved.rglob("*") if path.is_file()} == expected
    assert [one.agent for one in installed({variable: str(moved)}, str(project))] == [agent]
    assert installed({}, str(project)) == []


@pytest.mark.parametrize("agent", installable())
def test_a_project_cannot_send_our_writes_elsewhere(agent: str, home: Path, project: Path) -> None:
    """A repository from a stranger may hold links in place of its settings."""
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    for path in {Path(row.path) for row in put(agent, project, "project", dry_run=True)}:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(elsewhere / path.name)

    with pytest.raises(FileRefused, match="leads out of the project"):
        put(agent, project, "project")

    assert tree(home) == {}


def test_a_home_is_no_project(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some people keep their whole home in a repository."""
    (home / ".git").mkdir()
    (home / "code").mkdir()

    with pytest.raises(UsageError, match="your home"):
        put("codex", home, "project")
    put("codex", home)
    put("gemini-cli", home / "code", "project")

    assert (home / "code" / ".gemini" / "settings.json").exists()
    assert [(one.agent, one.scope) for one in installed({}, str(home))] == [("codex", "user")]


def test_a_plugin_is_found_once_wherever_somebody_looks_from(home: Path, project: Path) -> None:
    """In the home there is no project, and a project may switch the plugin
    off: neither has something of ours.
    """
    lay(home, {"~/.claude/settings.json": '{"enabledPlugins": {"recollect@market": true}}'})
    expected = [Integration(agent="claude-code", scope="user", plugin="recollect@market")]

    assert installed({}, str(home)) == installed({}, str(project)) == expected
    lay(
        project,
        {"~/.claude/settings.local.json": '{"enabledPlugins": {"recollect@market": false}}'},
    )
    assert installed({}, str(project)) == expected


def test_a_command_that_somebody_wrote_without_its_path_is_looked_for(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent finds it on the PATH, so nothing is wrong with it."""
    lay(
        home,
        {
            "~/.cursor/mcp.json": '{"mcpServers": {"recollect": {"command": "recollect", "args": '
            '["mcp"]}}}'
        },
    )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    (before,) = installed({}, str(project))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "recollect").touch(mode=0o755)
    (after,) = installed({}, str(project))

    assert (before.command_exists, after.command_exists) == (False, True)


def test_the_command_line_says_what_it_did_and_what_is_left_to_do(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex runs no hook that was not looked at, and does not say so."""
    monkeypatch.chdir(project)

    assert main(["install", "codex"]) == 0
    first = capsys.readouterr()
    assert main(["install", "codex"]) == 0
    second = capsys.readouterr()
    assert main(["install", "codex", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert f"added     hooks  {home / '.codex' / 'hooks.json'}" in first.out
    assert "run /hooks and trust the hooks" in first.err
    assert second.err == "It is connected already.\n"
    assert [list(row) for row in rows] == [["agent", "scope", "part", "path", "state", "note"]] * 3


def test_a_store_that_hooks_would_not_use_is_refused(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks find their store by the settings.

    A person who names another would wait for sessions that never come.
    """
    monkeypatch.chdir(project)

    refused = main(["install", "codex", "--store", "other.db"]), capsys.readouterr().err
    monkeypatch.setenv("RECOLLECT_HOME", str(home / "elsewhere"))
    warned = main(["install", "codex"]), capsys.readouterr().err

    assert refused[0] == 2
    assert "Leave --store out, and set `store` in" in refused[1]
    assert warned[0] == 0
    assert "RECOLLECT_HOME is set in this shell only. Start Codex from here" in warned[1]


def test_an_agent_that_cannot_be_set_up_is_named_with_those_that_can(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typo is the usual reason."""
    assert main(["install", "emacs"]) == 2
    assert "Choose claude-code, codex" in capsys.readouterr().err

    assert main(["install", "clod"]) == 2
    assert "Did you mean claude-code?" in capsys.readouterr().err


def test_without_a_name_every_agent_is_disconnected_after_a_question(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what stands in this project; a script says --yes."""
    monkeypatch.chdir(project)
    # That of whoever runs the tests may be set.
    monkeypatch.setattr("recollect.serve.timer.uninstall", lambda machine, dry_run=False: [])
    before = sorted(path for path in project.rglob("*") if path.is_file())
    main(["install", "codex"])
    main(["install", "claude-code", "--scope", "project"])
    capsys.readouterr()

    assert main(["install"]) == 0
    listed = capsys.readouterr().out
    assert main(["uninstall"]) == 2
    asked = capsys.readouterr().err
    still = installed({}, str(project))
    assert main(["uninstall", "--yes"]) == 0
    assert main(["uninstall"]) == 0

    assert "codex        connected\n" in listed
    assert "claude-code  connected in this project\n" in listed
    assert "cursor       -\n" in listed
    assert "This would disconnect" in asked
    assert {one.agent for one in still} == {"codex", "claude-code"}
    assert installed({}, str(project)) == []
    assert sorted(path for path in project.rglob("*") if path.is_file()) == before
    assert "No agent is connected. Nothing to do." in capsys.readouterr().err


def test_what_is_installed_starts_this_recollect(home: Path, project: Path) -> None:
    """By its absolute path: an agent that a desktop started has another PATH."""
    install("claude-code", folder=str(project), environ={})

    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["recollect"]
    assert os.path.isabs(entry["command"])
    assert os.access(entry["command"], os.X_OK)
    assert entry["args"][-1] == "mcp"
