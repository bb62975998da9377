"""What an adapter met in a source and could not read, counted: a flood of it costs one row."""

from __future__ import annotations

from recollect.model.logs import Problem, ProblemKind

# A hostile log may invent a new name in every line.
_MOST_REASONS = 20
_NAME_CHARACTERS = 100


class ProblemCounter:
    """The problems of one source, told when the pass over it ends."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._whole: list[Problem] = []
        self._counts: dict[tuple[ProblemKind, str], int] = {}

    def unknown(self, what: str, name: object) -> None:
        """A record, part or event of a type that we do not know."""
        self.add("unknown", f"{what} {str(name)[:_NAME_CHARACTERS]}")

    def bad(self, reason: str) -> None:
        """A record that is not what its type promises."""
        self.add("bad_record", reason[: 2 * _NAME_CHARACTERS])

    def add(self, kind: ProblemKind, reason: str) -> None:
        """One more of a sort."""
        key = (kind, reason)
        if key not in self._counts and len(self._counts) >= _MOST_REASONS:
            key = (kind, "more that is not known")
        self._counts[key] = self._counts.get(key, 0) + 1

    def keep(self, problem: Problem) -> None:
        """A problem of another file that belongs to the source, told before those counted here."""
        self._whole.append(problem)

    def drain(self) -> list[Problem]:
        """Everything that was met, each sort once, and nothing twice."""
        whole, self._whole = self._whole, []
        counts, self._counts = self._counts, {}
        counted = [
            Problem(path=self.path, kind=kind, reason=reason, count=count)
            for (kind, reason), count in counts.items()
        ]
        return whole + counted
