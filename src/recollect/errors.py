"""All our errors: what happened, and what to do next.

An error stops a command. The command line prints its sentence and its hint,
and exits with its code. A fault in someone's log is not an error: it is a
`Problem` value that travels with the results.
"""

from __future__ import annotations

EXIT_NOTHING_FOUND = 1
EXIT_USAGE = 2
EXIT_BAD_DATA = 65
EXIT_UNAVAILABLE = 69
EXIT_IO = 74


def choice_of(names: list[str], wanted: str) -> str:
    """A hint for whoever asked for something that is not among these."""
    begins = [name for name in names if wanted and name.startswith(f"{wanted.lower()}-")]
    short = {name.partition("-")[0]: name for name in reversed(names)}
    meant = begins[0] if begins else find_meant(wanted, [*short, *names])
    return f"Did you mean {short.get(meant, meant)}?" if meant else f"Choose {', '.join(names)}."


def find_meant(wanted: str, names: list[str]) -> str | None:
    """The name that was probably meant by another: at most every second character is wrong."""
    wanted = wanted.lower()[:50]
    if not names or not wanted:
        return None
    near = min(names, key=lambda name: _edits(wanted, name) / max(len(name), len(wanted)))
    return near if _edits(wanted, near) * 2 <= max(len(near), len(wanted)) else None


def _edits(one: str, other: str) -> int:
    """How many characters must be changed, added or left out to make one of the other."""
    row = list(range(len(other) + 1))
    for place, char in enumerate(one[:50], 1):
        before, row[0] = row[0], place
        for column, also in enumerate(other, 1):
            before, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, before + (char != also)),
            )
    return row[-1]


class RecollectError(Exception):
    """Something a person can act on: one sentence, and a `hint` that says how."""

    exit_code = EXIT_BAD_DATA

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(RecollectError):
    """The request itself is wrong, such as an unknown agent or a malformed reference."""

    exit_code = EXIT_USAGE


class NotFound(RecollectError):
    """The store has nothing of that name."""

    exit_code = EXIT_NOTHING_FOUND


class SettingsError(RecollectError):
    """config.toml has a mistake. We do not guess what was meant."""


class StoreError(RecollectError):
    """The store cannot be used as it is."""


class StoreTooNew(StoreError):
    """The database was written by a newer recollect, so we leave it alone."""

    def __init__(self, path: str, *, found: int, known: int) -> None:
        super().__init__(
            f"{path} was written by a newer recollect (schema {found}, this one knows {known}).",
            hint="Upgrade recollect, or choose another file with --store.",
        )
        self.path, self.found, self.known = path, found, known


class StoreTooOld(StoreError):
    """The database has another schema than those that were released."""

    def __init__(self, path: str) -> None:
        from recollect.system.platforms import as_argument

        move = f"mv {as_argument(path)} {as_argument(path + '.old')}"
        super().__init__(
            f"{path} was made by an earlier development version.",
            hint=f"Move it away (`{move}`), then run `recollect import` to read the logs again.",
        )
        self.path = path


class StoreDamaged(StoreError):
    """SQLite cannot read the file as a database, or no longer."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(
            f"{path} is damaged: {detail}.",
            hint="Run `recollect doctor --repair`: it saves what it can, and keeps the old file.",
        )


class TurnDamaged(StoreDamaged):
    """What is stored of one turn cannot be read; the others can."""

    def __init__(self, path: str, turn: str) -> None:
        super().__init__(path, f"the stored text of {turn} cannot be read")
        self.turn = turn


class StoreBusy(StoreError):
    """Another process kept the store locked for longer than we wait."""

    exit_code = EXIT_UNAVAILABLE

    def __init__(self, path: str, waited_seconds: float) -> None:
        super().__init__(
            f"{path} is busy: it was locked for {waited_seconds:.0f} seconds.",
            hint="Another recollect is writing. Try again when it is done.",
        )


class StoreUnwritable(StoreError):
    """The disk is full, read-only or failing. What was committed is safe."""

    exit_code = EXIT_IO

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(
            f"Cannot write {path}: {detail}.",
            hint="Nothing is lost. Free some disk space or fix the permissions, then run the same "
            "command again.",
        )


class EncoderUnavailable(RecollectError):
    """The model that turns text into vectors cannot be used now; search by word still works."""

    exit_code = EXIT_UNAVAILABLE


class EngineUnavailable(RecollectError):
    """The language model cannot be used now, or not with these settings.

    The rules still work without it. `passing` says that the same request may
    work later.
    """

    exit_code = EXIT_UNAVAILABLE

    def __init__(self, message: str, *, hint: str = "", passing: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.passing = passing


class SpendingLimit(RecollectError):
    """A run would use more tokens or money than the settings allow; what it did so far is kept."""

    exit_code = EXIT_UNAVAILABLE


class BadReply(RecollectError):
    """A model, or the user's agent, answered in a form that we cannot use. Nothing was kept."""


class HubUnavailable(RecollectError):
    """The hub of the team cannot be reached now. Nothing here waits for it."""

    exit_code = EXIT_UNAVAILABLE

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(
            message, hint=hint or "Nothing is lost: what waits is shared with the next sync."
        )


class HubRefused(RecollectError):
    """The hub does not let this member do that."""


class FileRefused(RecollectError):
    """A file of another program that we cannot change safely. Nothing was written."""


class FileUnwritable(RecollectError):
    """The system does not let us write a file or folder outside the store."""

    exit_code = EXIT_IO

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(
            f"Cannot write {path}: {detail}.",
            hint="Free some disk space or fix the permissions, then run the same command again.",
        )


class EpisodeRefused(UsageError):
    """An attempt cannot be recorded like this. Nothing was added; earlier records stay."""


class WrongKind(EpisodeRefused):
    """A value has the wrong type for its field."""


class WrongLength(EpisodeRefused):
    """A text is too long for its field, or missing where one is needed."""


class NulCharacter(EpisodeRefused):
    """A text contains a NUL character."""


class ControlCharacter(EpisodeRefused):
    """A text has a control character, half a character, or a line break where it may not."""


class NumberOutOfRange(EpisodeRefused):
    """A number is negative, or larger than anything that can be measured."""


class UnknownOutcome(EpisodeRefused):
    """There is no such outcome of an attempt."""


class TooMany(EpisodeRefused):
    """Too many tags, steps or open attempts."""


class UnknownEpisode(NotFound):
    """This process started no attempt with this id."""


class EpisodeCompleted(EpisodeRefused):
    """The attempt has ended; nothing can be added to it."""
