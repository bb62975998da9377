"""Commands that work here: whole, with their folder, by what they are for.

A command that passed is how a thing is done here. What it is for is known from its runner
or package script, never from a word in a name. Of each form the text that passed in most
sessions is told, and the shortest of those; those of one folder that check the work stand
together in a line. Plain forms without an argument are left to the block.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.distill.finders.cleaning import is_document
from recollect.distill.finders.people import is_secret
from recollect.distill.finders.safe import Proofs
from recollect.distill.finders.steps import CommandStep, is_plain, passed, steps
from recollect.model.candidates import Candidate
from recollect.model.record import SessionRecord
from recollect.reading.programs import names

COMMAND_CHARACTERS, LINE_CHARACTERS = 180, 200
# Commands of one purpose in one folder that are told in a line.
MOST_TOGETHER = 6

PURPOSES = (
    (
        "install",
        re.compile(
            r"\b(?:npm|pnpm|yarn|bun|pip3?|uv|poetry|bundle|composer)(?: pip)? (?:install|i|ci|sync"
            r"|add)\b"
        ),
    ),
    (
        "test",
        re.compile(
            r"\b(?:pytest|vitest|jest|playwright|ctest|unittest|mocha|phpunit|rspec)\b"
            r"|\b(?:npm|pnpm|yarn|bun)(?: run)?(?: -\S+)* test\b|\b(?:cargo|go"
            r"|dotnet|mvn|make|swift|flutter|just) (?:nextest|test)\b"
        ),
    ),
    (
        "lint",
        re.compile(
            r"\b(?:eslint|ruff|clippy|biome|markdownlint|knip|prettier|golangci-lint|flake8"
            r"|black)\b"
            r"|\b(?:npm|pnpm|yarn|bun)(?: run)? (?:lint|format|fmt|check)\b"
            r"|\b(?:cargo|go|just) (?:fmt|vet)\b"
        ),
    ),
    (
        "types",
        re.compile(
            r"\b(?:tsc|pyright|mypy|ty check|vue-tsc)\b|\b(?:npm|pnpm|yarn"
            r"|bun)(?: run)? (?:typecheck|type-check|check[:-]types?)\b"
        ),
    ),
    (
        "build",
        re.compile(
            r"\b(?:npm|pnpm|yarn|bun)(?: run)? build\b|\b(?:next|vite|cargo|go|dotnet|docker|mvn"
            r"|gradle|swift) build\b"
            r"|\bcatkin_make\b|^make(?: -\S+)*(?: all| build)?$"
            r"|\bcmake --build\b|\bpython[\d.]* -m build\b"
        ),
    ),
    (
        "syntax",
        re.compile(r"\bnode --check\b|\bbash -n\b|\bpython[\d.]* -m (?:py_compile|compileall)\b"),
    ),
    ("migrate", re.compile(r"\bmigrat\w*\b|\bprisma (?:db|generate)\b|\balembic\b|\bdb:\w+")),
    (
        "deploy",
        re.compile(
            r"\bdeploy\b|\bvercel\b|\bwrangler\b|\bgh-deploy\b|\bdocker(?: |-)compose up\b"
            r"|\bkubectl apply\b|\b(?:npm|uv|cargo|poetry) publish\b"
        ),
    ),
    ("run", re.compile(r".")),
)
CHECKS = ("test", "lint", "types", "build", "syntax")
# What is part of any work, or looks only.
_PLAIN_GIT = re.compile(
    r"^git (?:commit|push|pull|fetch|stash|restore|reset|checkout|switch|merge|rebase|add|clone"
    r"|rm|mv|init|tag|worktree|ls-remote|-)"
)
_LOOKS = re.compile(
    r"^\S+ -v$|\s(?:-V|--version|--help|-h|list|show|status|info|view|logs?|search|why"
    r"|outdated)(?:\s|$)"
)
_PASSING = re.compile(
    r"/tmp/|\\Temp\\|session-|[0-9a-f]{10,}|\$\(|\s-[ce]\s|^(?:curl|ssh|scp|wget|kill|sleep|brew"
    r"|apt|apt-get|sudo apt)\b"
    r"|\b(?:mkdir|rm) |\b(?:mcp|skills?|plugins?|extensions?) (?:add|install)\b|^(?:npm|yarn"
    r"|pnpm) run$|\.(?:png|jpg|pdf)\b|/var/folders/"
)
# A name that was given to one thing, once.
_IDENTIFIER = re.compile(r"\b[0-9a-f]{7,}\b|\b[a-z]{2}(?:-\w+)*-(?:\w*\d\w*|[a-z0-9]{3})\b")
# A check of one file or one test says less than how all of it is checked.
_PART = re.compile(
    r"::|\s-k\s|\s--grep\s|\s(?!-)\S*[\w\])]\.(?:tsx?|jsx?|mjs|py|rs|go|java|rb|cpp|c|md"
    r"|css)\b(?!\S*=)"
)
# Options that choose some of the checks, by name: `-m "not slow"`.
_CHOOSES = re.compile(r"\s(?:-m|-j|--project|--workspace|-p|--config|-c)[ =]")
# A program of the project, or a script of its package: worth telling once it has passed twice.
_OWN = re.compile(
    r"^(?:[A-Z_]\w*=\S* )*(?:\.{1,2}/|(?:python[\d.]*|node|bun|deno|tsx|bash|sh) (?:-m )?[\w./-]+"
    r"|(?:npm|pnpm|yarn|bun|make|just|task|uv|poetry|volta) (?:run )?[\w:-]+|(?:cargo|go"
    r"|dotnet) run\b)"
)


# Tools of the system, that look at it.
_SYSTEM = re.compile(
    r"^(?:dmesg|ldd|pgrep|journalctl|ss|ip|dpkg|strings|lsmod|tmux|netstat|systemctl|rospack"
    r"|apt\S*|im-config|hostname"
    r"|git|xxd|perl|tar|unzip|rmdir|cmp|file|timeout|security|defaults|launchctl|sysctl|sw_vers"
    r"|npx|npm|gh)\b"
)


# Programs that are known by name wherever they are quoted.
KNOWN = names(
    "git npm npx pnpm yarn bun bunx node deno tsx python python3 pytest uv uvx poetry pip pip3 "
    "go cargo make cmake docker "
    "docker-compose kubectl helm vercel psql sqlite3 gh tsc eslint ruff mypy pyright prisma "
    "gradle mvn dotnet terraform "
    "aws gcloud az supabase just task jest vitest playwright flutter swift act wrangler brew"
)


class Use(NamedTuple):
    """A step that passed, or failed, in a session."""

    step: CommandStep
    ok: bool
    turn: str
    at: str
    session: str
    tainted: bool = False


def uses(session: SessionRecord) -> Iterator[Use]:
    """What was run in a session, as far as its end is known."""
    for turn, call in session.calls():
        if call.kind != "shell" or not call.target:
            continue
        line = steps(call.target, call.folder, session.folder)
        for place, step in enumerate(line):
            ended = passed(call, line, place)
            if step.form and ended is not None:
                yield Use(step, ended, turn.ref, turn.at, session.ref, turn.tainted)


# How a line that was pasted from a terminal begins.
_PROMPT = re.compile(
    r"^(?:\([\w.-]+\) ?)?(?:[\w.-]+@[\w.-]+[: ][^$#%\n]{0,80}[$#%] ?|\$ |❯ |➜ +\S+ "
    r"|PS [A-Z]:[^>\n]{0,120}> ?)(\S.*)$",
    re.MULTILINE,
)
# Nobody writes a setting before a program but to run it.
_PREFIXED = re.compile(
    r"(?:^|: )((?:[A-Z][A-Z0-9_]+=[\w./:-]+ )+[a-z./][\w./-]+(?: --?[\w-]+(?:=[\w./-]+)?)*)$",
    re.MULTILINE,
)
_QUOTED = re.compile(r"`([^`\n]+)`")


def typed(session: SessionRecord) -> Iterator[Candidate]:
    """Commands that the person runs: pasted from a terminal, or quoted in a prompt."""
    for turn in session.turns:
        for prompt in turn.prompts if turn.by_person else ():
            pasted = [*_PROMPT.findall(prompt), *_PREFIXED.findall(prompt)]
            quoted = [
                text
                for text in _QUOTED.findall(prompt)
                if text.split()[:1] and text.split()[0] in KNOWN
            ]
            for text in dict.fromkeys([*pasted, *quoted] if not is_document(prompt) else pasted):
                for step in steps(text.strip(), "", ""):
                    if (
                        step.form
                        and len(step.text.split()) > len(step.form.split())
                        and _is_told(step)
                    ):
                        yield Candidate(
                            kind="command",
                            section="commands",
                            category="project",
                            text=f"The person runs: `{step.text}`",
                            key=f"typed {step.text}",
                            trust="user",
                            strength=0.6,
                            at=turn.at,
                            turn=turn.ref,
                            form=step.form,
                            is_sure=text in pasted,
                        )


class _Best(NamedTuple):
    """The text that stands for a form in a folder."""

    use: Use
    purpose: str
    times: int
    sessions: int
    """Those in which this very text passed."""


def find(sessions: Sequence[SessionRecord]) -> Iterator[Candidate]:
    """How the work of a project is done, out of all its sessions."""
    found: defaultdict[tuple[str, str, str], list[Use]] = defaultdict(list)
    for session in sessions:
        for use in uses(session):
            if use.ok and use.step.folder is not None and _is_told(use.step):
                found[use.step.folder, *_kind(use.step)].append(use)
    said = "\n".join(_said(sessions))
    proofs = Proofs(sessions)
    checks: defaultdict[str, list[_Best]] = defaultdict(list)
    for (folder, _, _), some in found.items():
        best = _best(some)
        text = best.use.step.text
        if not proofs.may_tell(text):
            continue
        if best.purpose in CHECKS:
            checks[folder].append(best)
        elif _is_single(best, said):
            yield _single(best, said)
    for folder, several in checks.items():
        tests = [one for one in several if one.purpose == "test"]
        # Many ways to test stand in a line of their own.
        if len(several) > MOST_TOGETHER and len(tests) > 1:
            yield from _checks(folder, tests, "Tests")
            several = [one for one in several if one.purpose != "test"]
        yield from _checks(folder, several, "Checks")


def _said(sessions: Sequence[SessionRecord]) -> Iterator[str]:
    """Everything that people typed."""
    for session in sessions:
        for turn in session.turns:
            if turn.by_person:
                yield from turn.prompts


def _is_single(one: _Best, said: str) -> bool:
    """Whether a command that is no check is told at all: it came again, it is the project's own,
    or a person named it.
    """
    text, form = one.use.step.text, one.use.step.form
    if text == form:
        return False
    if " " in text and (text in said or f"`{form}`" in said):
        return True
    if one.purpose == "install":
        return one.sessions > 1 and re.search(r"(?:install|ci|sync)(?: -\S+)*$", text) is not None
    if one.purpose in ("deploy", "migrate"):
        return True
    if _OWN.match(text):
        return one.sessions > 1 or one.times > 1
    return one.sessions > 1 and not _SYSTEM.match(one.use.step.form)


def _kind(step: CommandStep) -> tuple[str, str]:
    """What uses share of which one stands for all: the form without `run` and `-s`, and what it
    chooses.
    """
    form = re.sub(r"^(npm|pnpm|yarn|bun) run ", r"\1 ", step.form)
    chosen = _CHOOSES.search(step.text)
    return form, step.text[chosen.start() :] if chosen and not _PART.search(step.text) else ""


def _is_told(step: CommandStep) -> bool:
    text = step.text
    return (
        len(text) <= COMMAND_CHARACTERS
        and is_plain(text)
        and not _PLAIN_GIT.match(step.form)
        and not _LOOKS.search(text)
        and not _PASSING.search(text)
        and not is_secret(text)
        and "$" not in text
        and not _IDENTIFIER.search(text)
    )


def _best(some: Sequence[Use]) -> _Best:
    sessions: defaultdict[str, set[str]] = defaultdict(set)
    for use in some:
        sessions[use.step.text].add(use.session)
    times = Counter(use.step.text for use in some)
    text = min(
        times,
        key=lambda one: (bool(_PART.search(one)), -len(sessions[one]), -times[one], len(one), one),
    )
    newest = [use for use in some if use.step.text == text][-1]
    return _Best(newest, purpose_of(text), len(some), len(sessions[text]))


def purpose_of(command: str) -> str:
    return next(name for name, pattern in PURPOSES if pattern.search(command))


def _strength(one: _Best) -> float:
    text = one.use.step.text
    strength = 0.4 + 0.25 * min(one.sessions, 4) + 0.1 * min(one.times, 5)
    strength += 0.3 * bool(re.search(r"\s-|=|\.(?:sh|py|js|mjs|ps1)\b", text))
    strength += 0.3 * bool(one.use.step.folder) + 0.2 * bool(_OWN.match(text))
    return strength - 1.2 * bool(_PART.search(text)) - 0.4 * (one.purpose == "install")


def _checks(folder: str, some: Sequence[_Best], title: str) -> Iterator[Candidate]:
    """What checks the work in a folder, in a line; checks of single files only where there are
    no others.
    """
    ranked = sorted(some, key=lambda one: (-_strength(one), one.use.step.text))
    whole = [one for one in ranked if not _PART.search(one.use.step.text)] or ranked[:1]
    room: list[_Best] = []
    for one in whole:
        length = sum(len(other.use.step.text) + 4 for other in [*room, one])
        if len(room) < MOST_TOGETHER and length < LINE_CHARACTERS - len(folder):
            room.append(one)
    order = {name: place for place, name in enumerate(CHECKS)}
    room.sort(key=lambda one: (order[one.purpose], one.use.step.text))
    names = ", ".join(f"`{one.use.step.text}`" for one in room)
    newest = max((one.use for one in room), key=lambda use: use.at)
    strength = max(map(_strength, room)) + 0.2 * (len(room) - 1) + 0.5
    yield _candidate(
        f"{title}{f' in {folder}' if folder else ''}: {names}",
        f"{title} in {folder}",
        newest,
        strength,
        is_sure=not _PART.search(room[0].use.step.text),
    )


def _single(one: _Best, said: str) -> Candidate:
    step = one.use.step
    where = f" (in {step.folder})" if step.folder else ""
    text = f"{one.purpose.capitalize()}: `{step.text}`{where}"
    is_again = one.sessions > 1 or (one.times > 1 and one.purpose in ("deploy", "migrate"))
    # Of another's program that nobody named one learns nothing but that it can be run.
    is_own = one.purpose != "run" or _OWN.match(step.text) is not None
    is_sure = (is_again and is_own) or step.text in said or f"`{step.form}`" in said
    return _candidate(
        text, f"{step.form} in {step.folder}", one.use, _strength(one), step.form, is_sure=is_sure
    )


def _candidate(
    text: str, key: str, use: Use, strength: float, form: str = "", *, is_sure: bool
) -> Candidate:
    return Candidate(
        kind="command",
        section="commands",
        category="project",
        text=text,
        key=key,
        trust="tool-verified",
        strength=strength,
        at=use.at,
        turn=use.turn,
        form=form,
        is_sure=is_sure,
    )
