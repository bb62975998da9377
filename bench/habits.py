"""Made-up work of three agents, with habits in it or without.

A *world* is some sessions in which random commands are run, random files are
read and edited, and things fail at random: noise. Into some of them habits are
planted, each of one kind of pattern, so that it is known what there is to be
found and where. The same seed makes the same world.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

AGENTS = ("claude-code", "codex", "scribe")
BEGIN_S, SESSION_S = 1_767_258_000, 3_600


@dataclass(frozen=True)
class Call:
    """One tool call: a kind, what it was about, what it printed, and how it ended."""

    kind: str
    target: str
    output: str = ""
    code: int = 0
    declined: bool = False


def run(command: str, output: str = "ok", code: int = 0) -> Call:
    return Call("shell", command, output, code)


def edit(path: str) -> Call:
    return Call("edit", path)


def read(path: str) -> Call:
    return Call("read", path, "x = 1\n")


@dataclass(frozen=True)
class Habit:
    """Calls that come together wherever somebody has it, and the pattern that they are."""

    kind: str
    signature: str
    calls: tuple[Call, ...]


@dataclass
class Turn:
    """What was asked, what was done, and what was answered."""

    prompt: str
    calls: list[Call]
    reply: str = "Done."


@dataclass
class Session:
    """One conversation; `planted` are the habits in it, each with the number of its turn.

    `parent` is a session's native id.
    """

    agent: str
    number: int
    project: str
    turns: list[Turn] = field(default_factory=list)
    planted: dict[tuple[str, str], int] = field(default_factory=dict)
    parent: str | None = None

    @property
    def native_id(self) -> str:
        return f"019ca000-0000-7000-8000-{self.number:012}"

    @property
    def ref(self) -> str:
        return f"{self.agent}:{self.native_id}"

    @property
    def begin(self) -> int:
        """When it began, in seconds; a new session every hour."""
        return BEGIN_S + self.number * SESSION_S


def _sequence(*commands: str) -> Habit:
    names = " > ".join(command.partition(" --")[0] for command in commands)
    return Habit("tool_sequence", names, tuple(run(command) for command in commands))


def _instead(tried: str, error: str, code: int, held: str) -> Habit:
    return Habit("decision_point", f"{tried} => {held}", (run(tried, error, code), run(held)))


def _recovery(step: str, error: str, name: str, fix: Call, fix_name: str) -> Habit:
    return Habit(
        "error_recovery", f"{step} ! {name} => {fix_name}", (run(step, error, 1), fix, run(step))
    )


def _failure(step: str, error: str, name: str) -> Habit:
    return Habit("failure", f"{step} ! {name}", (run(step, error, 1),))


def _context(path: str, kind: str, check: str) -> Habit:
    return Habit("context", f"{kind} => {check}", (edit(path), run(check)))


def _refused(command: str) -> Habit:
    said = "The user doesn't want to proceed with this tool use."
    return Habit(
        "friction", f"refused {command}", (Call("shell", command, said, 1, declined=True),)
    )


HABITS = (
    _sequence("alembic upgrade", "flask seed", "celery inspect"),
    _sequence("buf generate", "protolint", "bazel run"),
    _sequence("helm template", "kubeconform", "argocd sync"),
    _sequence("wasm-pack build", "wasm-opt", "vercel deploy", "lighthouse"),
    _instead("docker-compose up", "bash: docker-compose: command not found", 127,
    "docker compose up"),
    _instead("poetry run alembic check", "Command not found: alembic", 1, "uv run alembic check"),
    _instead("yarn build", "error Command \"build\" not found.", 1, "turbo build"),
    _instead("gradle assemble", "zsh: command not found: gradle", 127, "gradlew assemble"),
    _recovery(
        "phpunit", "Error: Cannot find module 'vendor/autoload'",
        "cannot find module vendor/autoload", run("composer install"),
        "composer install",
    ),
    _recovery(
        "mix test", "** (DBConnection.ConnectionError) refused", "ConnectionError",
        run("pg_ctl start"), "pg_ctl start"
    ),
    _recovery("swift test", "error: no such file or directory: Lock", "no such file",
    run("swift package"), "swift package"),
    _recovery("rspec", "Bundler::GemNotFoundError: nope", "GemNotFoundError",
    edit("/srv/app/Gemfile"), "edit Gemfile"),
    _failure("terraform plan", "Error: Error acquiring the state lock",
    "locked by another process"),
    _failure("ansible-playbook", "fatal: permission denied (publickey)", "permission denied"),
    _failure("flyway migrate", "ERROR: No space left on device", "disk full"),
    _failure("sentry-cli", "error: 401 Unauthorized", "not logged in"),
    Habit("friction", "retry xcodebuild", (run("xcodebuild", "failed", 65),) * 3),
    Habit("friction", "reread .proto", (read("/srv/app/api/shop.proto"),) * 3),
    _refused("heroku"),
    _refused("fly deploy"),
    _context("/srv/app/infra/main.tf", ".tf", "terraform validate"),
    _context("/srv/app/bin/start.sh", ".sh", "shellcheck"),
    _context("/srv/app/web/page.vue", ".vue", "vue-tsc"),
    _context("/srv/app/lib/shop.ex", ".ex", "mix credo"),
)  # fmt: skip

_GENERAL = (
    "git status", "git add -A", "git commit -m wip", "git push", "ls -la", "rg TODO", "make docs",
    "curl localhost",
    "mkdir -p out",
)  # fmt: skip
_STACKS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        (
            "pytest -q",
            "ruff check .",
            "mypy src",
            "uv sync",
            "pip install -e .",
            "python tools/report.py",
            "black .",
            "tox",
        ),
        (".py", ".toml", ".md"),
    ),
    (
        (
            "npm test",
            "npm run lint",
            "npm run build",
            "npm install",
            "node scripts/seed.js",
            "npx prettier -w .",
            "npx tsc",
        ),
        (".ts", ".tsx", ".css"),
    ),
    (
        (
            "cargo test",
            "cargo clippy",
            "cargo build",
            "cargo fmt",
            "cargo run",
            "cargo add serde",
            "cargo bench",
        ),
        (".rs", ".toml", ".md"),
    ),
    (
        (
            "go test ./...",
            "go vet ./...",
            "go build ./...",
            "gofmt -l .",
            "golangci-lint run",
            "go generate",
            "go mod tidy",
        ),
        (".go", ".yaml", ".md"),
    ),
)
_ERRORS = (
    "AssertionError: expected 3", "ModuleNotFoundError: No module named 'yaml'",
    "error: connection refused",
    "TypeError: not callable", "fatal: not a git repository", "permission denied",
    "KeyError: 'price'",
    "Error: Cannot find module 'left-pad'", "2 failed, 3 passed",
    "syntax error near unexpected token",
    "error: no such file or directory", "ValueError: bad price", "timed out",
    "error: address already in use",
)  # fmt: skip
_PROMPTS = (
    "make the prices add up", "why is the list empty?", "clean up the report",
    "add a page for orders", "go on",
    "thanks, that works", "no, that is wrong", "do the same for the invoices", "is it done?",
    "run it again please",
)  # fmt: skip
FAILS = 0.15


def make_world(
    sessions: int,
    *,
    seed: int = 1,
    turns: int = 6,
    calls: int = 4,
    habits: tuple[Habit, ...] = (),
    carriers: int = 6,
) -> list[Session]:
    """So many sessions of about so many turns, each habit planted in so many of them."""
    chance = random.Random(seed)
    world = [_session(chance, number, turns, calls) for number in range(1, sessions + 1)]
    for habit in habits:
        # At least two agents, so that it is seen in more than one.
        for session in chance.sample(world, carriers):
            place = chance.randrange(len(session.turns))
            session.turns[place].calls[0:0] = habit.calls
            session.turns.insert(place + 1, Turn("thanks, that works", []))
            session.planted[habit.kind, habit.signature] = place + 1
    return world


def _session(chance: random.Random, number: int, turns: int, calls: int) -> Session:
    agent, project = AGENTS[number % len(AGENTS)], f"/srv/app{number % 12}"
    commands, suffixes = _STACKS[number % len(_STACKS)]
    made = Session(agent, number, project)
    for _ in range(chance.randint(max(turns // 2, 1), turns + turns // 2)):
        done = [
            _noise(chance, commands, suffixes, project) for _ in range(chance.randint(1, 2 * calls))
        ]
        made.turns.append(
            Turn(
                chance.choice(_PROMPTS),
                done,
                chance.choice(("Done.", "All tests pass.", "I could not fix it.")),
            )
        )
    return made


def _noise(
    chance: random.Random, commands: tuple[str, ...], suffixes: tuple[str, ...], project: str
) -> Call:
    what = chance.random()
    path = f"{project}/src/part{chance.randrange(30)}{chance.choice(suffixes)}"
    if what < 0.2:
        return edit(path)
    if what < 0.4:
        return read(path)
    command = chance.choice(_GENERAL if what < 0.6 else commands)
    return run(command, chance.choice(_ERRORS), 1) if chance.random() < FAILS else run(command)
