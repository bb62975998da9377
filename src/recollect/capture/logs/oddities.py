"""What an adapter met and did not know, counted: a flood of it costs one row."""

from __future__ import annotations

from recollect.model.logs import Problem, ProblemKind

# A hostile log may invent a new name in every line.
_KEPT = 20
_NAME_CHARACTERS = 100


class Oddities:
    """Things that are odd in one source, told when the pass over it ends."""

    def __init__(self) -> None:
        self._met: dict[tuple[ProblemKind, str], int] = {}

    def unknown(self, what: str, name: object) -> None:
        """A record, part or event of a type that we do not know."""
        self.add("unknown", f"{what} {str(name)[:_NAME_CHARACTERS]}")

    def bad(self, reason: str) -> None:
        """A record that is not what its type promises."""
        self.add("bad_record", reason[: 2 * _NAME_CHARACTERS])

    def add(self, kind: ProblemKind, reason: str) -> None:
        """One more of a sort."""
        key = (kind, reason)
        if key not in self._met and len(self._met) >= _KEPT:
            key = (kind, "more that is not known")
        self._met[key] = self._met.get(key, 0) + 1

    def problems(self, path: str) -> list[Problem]:
        """Everything that was met, each sort once, and nothing twice."""
        met, self._met = self._met, {}
        return [
            Problem(path=path, kind=kind, reason=reason, count=count)
            for (kind, reason), count in met.items()
        ]
