"""What the sessions of a project say together, as short statements that
each name the turns they rest on.

Only what has support becomes a statement: the person's own words, and commands
with how they ended. What a tool printed and what an agent wrote is not quoted.
Sessions come newest first: of two wishes that cannot both hold the newer one
wins, unless the older was expressed in more sessions; then both are told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from shlex import join

from recollect.distill.memories.trace import told_steps
from recollect.model.calls import exited_well
from recollect.model.digests import Digest, Run, Trouble
from recollect.reading.checks import is_check
from recollect.reading.programs import base, main_pieces
from recollect.reading.quoting import quoted, quoted_command
from recollect.reading.shell import grammar, pieces, told
from recollect.store.notes import compared

# What one session did may be chance.
SEVERAL = 2
MOST_LINES, MOST_REFS = 15, 3
RECENT_SESSIONS, MOST_CORRECTIONS, MOST_TASKS = 5, 5, 10

_WORDS, _COMMAND = 300, 160
_NEGATIONS = frozenset(
    ("not", "never", "don", "dont", "no", "avoid", "without", "stop", "nor", "neither", "cannot")
)
_SMALL = frozenset((
    "t", "a", "an", "the", "to", "of", "in", "on", "for", "we", "i", "you", "it", "is", "be", "do",
    "does", "always", "please",
    "should", "must", "just", "only", "from", "now",
))  # fmt: skip
# What every agent knows how to do, in every project.
_EVERYDAY = frozenset((
    "git", "rm", "mv", "cp", "mkdir", "touch", "echo", "printf", "sed", "perl", "cat", "tee",
    "kill", "chmod", "ln", "curl",
))  # fmt: skip
# Verbs that choose one thing and thereby not another.
_CHOOSING = frozenset(("use", "prefer", "uses", "using"))


class Statement:
    """Something worth knowing, and the turns that it rests on, newest first."""

    __slots__ = ("refs", "text")

    def __init__(self, text: str, refs: Iterable[str]) -> None:
        self.text, self.refs = text, list(dict.fromkeys(refs))

    @property
    def sessions(self) -> list[str]:
        """The sessions of those turns."""
        return list(dict.fromkeys(ref.rpartition("#")[0] for ref in self.refs))

    def line(self, most_refs: int = MOST_REFS) -> str:
        """The statement as a line of Markdown; a few of its turns are enough to look it up."""
        more = f" and {len(self.refs) - most_refs} more" if len(self.refs) > most_refs else ""
        return f"- {self.text} [{', '.join(self.refs[:most_refs])}{more}]"


def sections(digests: Sequence[Digest], refused: Collection[str]) -> dict[str, list[Statement]]:
    """Everything that can be said, by the heading it goes under.

    Headings without statements are left out.
    """
    found = {
        "User preferences": preferences(digests, refused),
        "Corrections": corrections(digests, refused),
        "First steps that proved right": first_steps(digests),
        "Commands that work here": [one for one, _ in commands(digests)],
        "Failure modes and what got past them": pivots(digests),
        "Stop rules": stops(digests),
        "Follow-ups": follow_ups(digests),
        "Recent tasks": recent_tasks(digests, refused),
    }
    return {heading: statements[:MOST_LINES] for heading, statements in found.items() if statements}


def preferences(digests: Sequence[Digest], refused: Collection[str]) -> list[Statement]:
    """What the person wants, in their words, the newest wording of each wish.

    Without what was taken back.
    """
    wishes: dict[tuple[frozenset[str], bool], Statement] = {}
    for one in _sayings(digests, "preference", refused):
        kept = wishes.setdefault(_meaning(one.text), one)
        if kept is not one:
            kept.refs.extend(one.refs)
    told: list[tuple[tuple[frozenset[str], bool], Statement]] = []
    for meaning, wish in wishes.items():
        newer = next((other for known, other in told if _contradict(meaning, known)), None)
        if newer is None:
            told.append((meaning, wish))
        elif len(wish.sessions) > len(newer.sessions):
            told.append(
                (
                    meaning,
                    Statement(f"{wish.text} (verify: said more often, but not last)", wish.refs),
                )
            )
            newer.text += " (verify: said last, but less often)"
    return [wish for _, wish in told]


def corrections(digests: Sequence[Digest], refused: Collection[str]) -> list[Statement]:
    """What the person had to put right; what they asked at the same time is about the moment."""
    said = (one for one in _sayings(digests, "correction", refused) if "?" not in one.text)
    return list(_merged((compared(one.text), one.text, one.refs) for one in said).values())[
        :MOST_CORRECTIONS
    ]


def first_steps(digests: Sequence[Digest]) -> list[Statement]:
    """Commands that tasks began with which succeeded."""
    begun = (
        (task.runs[0].command, f"begin with `{_command(task.runs[0].command)}`", [task.runs[0].ref])
        for digest in digests
        for task in digest.tasks
        if task.outcome == "success" and task.runs and task.runs[0].ok
    )
    return _widespread(_merged(begun).values())


def commands(digests: Sequence[Digest]) -> list[tuple[Statement, bool]]:
    """Commands that passed in several sessions, or are checks that passed, and mostly do.

    And whether each is a check.
    """
    found = []
    for command, passed, failed in _by_ending(digests):
        check, good, bad = is_check(command), _sessions(passed), _sessions(failed)
        known = check or (len(good) >= SEVERAL and base(command.split()[0]) not in _EVERYDAY)
        if good and len(good) >= len(bad) and known:
            bads = f", failed in {len(bad)}" if bad else ""
            text = f"`{_command(command)}` {'is a check: ' if check else ''}passed in {_counted(len(good))}{bads}"
            found.append((Statement(text, [*passed, *failed]), check))
    return sorted(found, key=lambda pair: (not pair[1], -len(pair[0].sessions)))


def pivots(digests: Sequence[Digest]) -> list[Statement]:
    """Commands that failed and passed after something else was done, with what that was."""
    overcome = (
        (f"{one.command} {one.steps}", _pivot(one), [one.worked or one.ref, one.ref])
        for one in _troubles(digests)
        if one.worked and one.command and one.steps
    )
    return sorted(_merged(overcome).values(), key=lambda statement: -len(statement.sessions))


def stops(digests: Sequence[Digest]) -> list[Statement]:
    """What failed in several sessions and never passed: not to be tried once more as it is."""
    found = [
        Statement(
            f"do not run `{_command(command)}` once more as it is: it failed in "
            f"{_counted(len(_sessions(failed)))}"
            " and never passed",
            failed,
        )
        for command, passed, failed in _by_ending(digests)
        if not passed and len(_sessions(failed)) >= SEVERAL
    ]
    loops = (
        (
            "loop",
            "stop when the same call comes back with the same result; tasks went round in circles "
            "here",
            [one.ref],
        )
        for digest in digests
        for task in digest.tasks
        for one in task.evidence
        if one.kind == "loop"
    )
    return [*found, *_widespread(_merged(loops).values())]


def follow_ups(digests: Sequence[Digest]) -> list[Statement]:
    """What the newest sessions left open."""
    left = (
        (compared(text), quoted(text, _WORDS), [_last_turn(digest)])
        for digest in digests[:RECENT_SESSIONS]
        for text in digest.open_ends
    )
    return list(_merged(left).values())


def recent_tasks(digests: Sequence[Digest], refused: Collection[str]) -> list[Statement]:
    """What was asked last, and how that went.

    A wish that was taken back may have been all that was asked.
    """
    return [
        Statement(
            f'"{quoted(task.title, _WORDS)}": {task.outcome}', [f"{digest.session}#{task.turns[0]}"]
        )
        for digest in digests[:RECENT_SESSIONS]
        for task in reversed(digest.tasks)
        if task.title and task.turns and compared(task.title) not in refused
    ][:MOST_TASKS]


def _sayings(digests: Sequence[Digest], kind: str, refused: Collection[str]) -> Iterator[Statement]:
    for digest in digests:
        for one in reversed(digest.sayings):
            if one.kind == kind and compared(one.text) not in refused:
                yield Statement(f'"{quoted(one.text, _WORDS)}"', [one.ref])


def _meaning(text: str) -> tuple[frozenset[str], bool]:
    """The words that a wish is about, and whether it says no."""
    words = set(compared(text).split())
    return frozenset(words - _NEGATIONS - _SMALL), bool(words & _NEGATIONS)


def _contradict(one: tuple[frozenset[str], bool], other: tuple[frozenset[str], bool]) -> bool:
    """Whether two wishes cannot both hold: the same with and without a no, or
    another choice for the same purpose.
    """
    if one[0] == other[0]:
        return one[1] != other[1]
    shared = one[0] & other[0]
    differ_in_one = len(one[0] - shared) == len(other[0] - shared) == 1
    return (
        one[1] == other[1]
        and differ_in_one
        and bool(shared & _CHOOSING)
        and len(shared - _CHOOSING) >= 1
    )


def _merged(found: Iterable[tuple[str, str, list[str]]]) -> dict[str, Statement]:
    """Statements by what makes two of them the same; the newest wording stays, the turns add up."""
    merged: dict[str, Statement] = {}
    for key, text, refs in found:
        known = merged.get(key)
        merged[key] = Statement(
            known.text if known else text, [*(known.refs if known else []), *refs]
        )
    return merged


def _widespread(statements: Iterable[Statement]) -> list[Statement]:
    wide = [statement for statement in statements if len(statement.sessions) >= SEVERAL]
    return sorted(wide, key=lambda statement: -len(statement.sessions))


def _by_ending(digests: Sequence[Digest]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each simple command with the turns in which it passed and those in
    which it failed, newest session first.
    """
    passed: dict[str, list[str]] = {}
    failed: dict[str, list[str]] = {}
    for run in (run for digest in digests for task in digest.tasks for run in task.runs):
        for command, ok in _ends(run):
            passed.setdefault(command, []).extend([run.ref] if ok else [])
            failed.setdefault(command, []).extend([] if ok else [run.ref])
    for command in passed:
        yield command, passed[command], failed[command]


def _ends(run: Run) -> Iterator[tuple[str, bool]]:
    """The simple commands of a line, as far as its end tells how each of them ended."""
    main = main_pieces(run.command)
    for index, words in [] if grammar(run.command) else main:
        ok = (
            run.ok
            if len(main) == 1
            else told(exited_well(run.ok, run.exit_code), pieces(run.command), index)
        )
        if ok is not None:
            yield join(words), ok


def _sessions(refs: Iterable[str]) -> set[str]:
    return {ref.rpartition("#")[0] for ref in refs}


def _troubles(digests: Sequence[Digest]) -> Iterator[Trouble]:
    for digest in digests:
        for task in digest.tasks:
            yield from task.errors


def _pivot(one: Trouble) -> str:
    return f"`{_command(one.command or '')}` failed; {told_steps(one.steps)}, and it passed"


def _last_turn(digest: Digest) -> str:
    turns = [turn for task in digest.tasks for turn in task.turns]
    return f"{digest.session}#{max(turns, default=1)}"


def _command(command: str) -> str:
    return quoted_command(command, _COMMAND)


def _counted(sessions: int) -> str:
    return "1 session" if sessions == 1 else f"{sessions} sessions"
