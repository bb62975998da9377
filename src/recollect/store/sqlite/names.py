"""What sessions are called where there is little room: a short id that means only one, and a title.

On the path of a search at a terminal: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.search import SessionName
from recollect.model.titles import title_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from recollect.store.sqlite.database import Database

# The ids of some agents begin with the time: of many sessions some share their first eight.
SHORT = 8
# A title is sought in so many prompts.
MOST_PROMPTS = 12


class Names:
    """The short names of sessions."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def get(self, refs: Sequence[str]) -> dict[str, SessionName]:
        """Those of some sessions, by their references; what is not stored has none."""
        marks = ", ".join("?" * len(refs))
        rows = self.db.rows(
            f"select id, ref, agent, native_id, title from sessions where ref in ({marks})",
            list(refs),
        )
        starts = sorted({native[:SHORT] for _, _, _, native, _ in rows})
        marks = ", ".join("?" * len(starts))
        near = [
            native
            for (native,) in self.db.rows(
                f"select native_id from sessions where substr(native_id, 1, {SHORT}) in ({marks})",
                starts,
            )
        ]
        return {
            ref: SessionName(_shortest(ref, native, near), title_of(title, self._asked(number)))
            for number, ref, _, native, title in rows
        }

    def _asked(self, session: int) -> Iterator[str]:
        """What was asked in a session, looked up when its own title does not do."""
        rows = self.db.rows(
            """
            select prompt from turns where session = ? and prompt != ''
             order by author != 'human', ordinal limit ?
            """,
            (session, MOST_PROMPTS),
        )
        for (prompt,) in rows:
            yield prompt


def _shortest(ref: str, native: str, near: Collection[str]) -> str:
    """The start of an id that means this session; a sub-agent's stands behind its parent's."""
    if sum(one == native for one in near) > 1:
        return ref
    parent, slash, own = native.partition("/")
    wholes = {one for one in near if "/" not in one}
    if slash and parent in wholes:
        siblings = [one.partition("/")[2] for one in near if one.startswith(parent + "/")]
        return f"{_start(parent, wholes)}/{_start(own, siblings)}"
    if slash:
        # What started it is not stored: some agents call that after a folder.
        starts = {one.partition("/")[0] for one in near} - {parent}
        siblings = [one.partition("/")[2] for one in near if one.startswith(parent + "/")]
        return f"{_start(parent, starts)}/{_start(own, siblings)}"
    others = [one for one in near if "/" not in one or one.partition("/")[0] not in wholes]
    found = _start(native, others)
    # Up to three digits are the row of a list.
    return ref if found.isdecimal() and len(found) <= 3 else found


def _start(name: str, others: Collection[str]) -> str:
    length = SHORT
    while length < len(name) and any(
        one != name and one.startswith(name[:length]) for one in others
    ):
        length += 1
    return name[:length]
