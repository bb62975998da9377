"""The one error tree: what happened, and what to do next.

Faults in someone's log are not errors: they are `Problem` values that travel
with the results. What is raised here stops a command; the command line turns
it into one sentence, a hint and an exit code.
"""

from __future__ import annotations

EXIT_NOTHING_FOUND = 1
EXIT_USAGE = 2
EXIT_BAD_DATA = 65
EXIT_UNAVAILABLE = 69
EXIT_IO = 74


class RecollectError(Exception):
    """Something a person can act on; `hint` says how."""

    exit_code = EXIT_BAD_DATA

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(RecollectError):
    """The request itself is wrong: an unknown agent, a reference that cannot be read."""

    exit_code = EXIT_USAGE


class NotFound(RecollectError):
    """What was asked for by name is not in the store."""

    exit_code = EXIT_NOTHING_FOUND


class SettingsError(RecollectError):
    """config.toml cannot be understood; nothing was guessed."""


class StoreError(RecollectError):
    """The store cannot be used as it is."""


class StoreTooNew(StoreError):
    """The database was written by a later recollect, so we leave it alone."""

    def __init__(self, path: str, *, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}, but this recollect stops at {known}",
            hint="upgrade recollect, or choose another file with --store",
        )
        self.path, self.found, self.known = path, found, known


class StoreTooOld(StoreError):
    """The database was made before the first release, by a
    version whose schema is no longer read.
    """

    def __init__(self, path: str, *, found: int, oldest: int) -> None:
        super().__init__(
            f"{path} has schema {found} of an early version; this recollect reads {oldest} and "
            "later",
            hint=f"move it away (`mv {path} {path}.old`), then run `recollect import`: it reads "
            "the logs again",
        )
        self.path, self.found, self.oldest = path, found, oldest


class StoreDamaged(StoreError):
    """SQLite says that the file is not, or no longer, a sound database."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(
            f"{path} is damaged: {detail}",
            hint="run `recollect repair`; it salvages what it can and keeps the damaged file",
        )


class StoreBusy(StoreError):
    """Others kept the store locked for longer than we are willing to wait."""

    exit_code = EXIT_UNAVAILABLE

    def __init__(self, path: str, waited_seconds: float) -> None:
        super().__init__(
            f"{path} stayed locked for {waited_seconds:.0f} seconds",
            hint="another recollect is writing; try again when it is done",
        )


class StoreUnwritable(StoreError):
    """The disk is full, read-only or failing. What was committed is safe."""

    exit_code = EXIT_IO

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(
            f"cannot write {path}: {detail}",
            hint="nothing is lost; make room or fix the permissions, then run the same command "
            "again",
        )


class EncoderUnavailable(RecollectError):
    """The model that turns text into vectors cannot be used now; words still find everything."""

    exit_code = EXIT_UNAVAILABLE


class EngineUnavailable(RecollectError):
    """The language model cannot be used now, or not as it is set up.

    Rules still distill everything.

    `passing` says that the same request may work later.
    """

    exit_code = EXIT_UNAVAILABLE

    def __init__(self, message: str, *, hint: str = "", passing: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.passing = passing


class SpendingLimit(RecollectError):
    """A run would take more tokens or money than the settings allow; what it did before is kept."""

    exit_code = EXIT_UNAVAILABLE


class BadReply(RecollectError):
    """What a model, or the user's agent, answered is not what it was asked for.

    Nothing of it was kept.
    """


class SecretsLeft(RecollectError):
    """A session holds secrets that should have been taken out when it was
    stored, so it is given to nobody.
    """

    def __init__(self, session: str) -> None:
        super().__init__(
            f"secrets are stored in {session}, so it is given to no model and no agent",
            hint="`recollect redact --rescan` takes them out",
        )


class FileRefused(RecollectError):
    """Somebody else's file that we may not or cannot change safely. Nothing was written."""


class FileUnwritable(RecollectError):
    """A file or folder outside the store that the system does not let us write."""

    exit_code = EXIT_IO

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(
            f"cannot write {path}: {detail}",
            hint="make room or fix the permissions, then run the same command again",
        )


class EpisodeRefused(UsageError):
    """What was to be recorded of an attempt cannot be.

    Nothing of it was kept, and what was recorded before stays.
    """


class WrongKind(EpisodeRefused):
    """A value is not of the kind that its field wants."""


class WrongLength(EpisodeRefused):
    """A text is longer than its field takes, or there is none where one is needed."""


class NulCharacter(EpisodeRefused):
    """A text has a NUL character in it."""


class ControlCharacter(EpisodeRefused):
    """A text has a control character, a line break where one line is
    wanted, or half a character in it.
    """


class NumberOutOfRange(EpisodeRefused):
    """A number is below nothing, or larger than anything that was ever measured."""


class UnknownOutcome(EpisodeRefused):
    """An attempt cannot end in this word."""


class TooMany(EpisodeRefused):
    """More tags, steps or attempts under way than are taken."""


class UnknownEpisode(NotFound):
    """No attempt of this id was begun in this process."""


class EpisodeCompleted(EpisodeRefused):
    """An attempt ends once; nothing can be added to it any more."""
