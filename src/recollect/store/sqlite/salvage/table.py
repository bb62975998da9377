"""A table of the new store, as rows that were found are fitted into it."""

from __future__ import annotations

from recollect.store.sqlite.database import Database
from recollect.store.sqlite.salvage.pages import Cell, PartialText, Value

_PROSE = ("text", "prompt", "reply", "title", "target", "task", "result", "error", "reason")


class NewTable:
    """A table of the new store, and what its rows look like on a page."""

    def __init__(self, db: Database, name: str) -> None:
        self.name = name
        columns = db.rows(f"pragma table_info({quoted(name)})")
        self.without_rowid = bool(
            db.value("select wr from pragma_table_list where name = ?", (name,))
        )
        keys = sorted((row for row in columns if row[5]), key=lambda row: row[5])
        if self.without_rowid:
            columns = keys + [row for row in columns if not row[5]]
        self.columns = [str(row[1]) for row in columns]
        self.types = [str(row[2]).lower() for row in columns]
        self.required = [bool(row[3]) for row in columns]
        # An `integer primary key` is the rowid and is left out of the row itself.
        single = len(keys) == 1 and not self.without_rowid and str(keys[0][2]).lower() == "integer"
        self.rowid_column = self.columns.index(str(keys[0][1])) if single else None

    def row(self, cell: Cell) -> list[Value] | None:
        """The values of a cell as a row of this table, or None when it cannot be one."""
        values = list(cell.values)
        if (cell.rowid is None) != self.without_rowid or len(values) > len(self.columns):
            return None
        if self.rowid_column is not None:
            if values[self.rowid_column] is not None:
                return None
            values[self.rowid_column] = cell.rowid
        for value, kind, required in zip(values, self.types, self.required, strict=False):
            if (value is None and required) or not _suits(value, kind):
                return None
        for place, value in enumerate(values):
            if isinstance(value, PartialText):
                # What people wrote is kept with a gap; a name with a gap is another name.
                if self.columns[place] not in _PROSE:
                    return None
                values[place] = str(value)
        return values

    def insert(self, width: int) -> str:
        names = ", ".join(quoted(name) for name in self.columns[:width])
        return (
            f"insert or ignore into {quoted(self.name)} ({names}) values ({', '.join('?' * width)})"
        )


def _suits(value: Value, kind: str) -> bool:
    if value is None or kind in ("blob", ""):
        return True
    if kind == "integer":
        return isinstance(value, int)
    if kind == "real":
        return isinstance(value, (int, float))
    # A path that is no text is kept as bytes.
    return kind != "text" or isinstance(value, (str, bytes))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
