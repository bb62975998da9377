"""What engines were asked and what came of it, and how far they have read each session."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.model.engines import EngineFailures, EngineRun, EngineTotals
from recollect.store.sqlite.database import Database
from recollect.system.clock import iso, now_ms

_SELECT = """
    select engine_runs.at, coalesce(b.key, a.key), engine, model, outcome, why, prompts,
           tokens_in, tokens_out, cost_usd, lines, dropped
      from engine_runs left join projects a on a.id = engine_runs.project
      left join projects b on b.id = a.merged_into
"""


class EngineRuns:
    """Runs of engines, the newest last."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def add(self, run: EngineRun, read: Mapping[str, int] = {}) -> None:
        """Keep what came of a run, and how far it read the sessions that its memory is of."""
        with self.db.transaction():
            project = self.db.value(
                "select coalesce(merged_into, id) from projects where key = ?", (run.project,)
            )
            self.db.execute(
                """
                insert into engine_runs (at, project, engine, model, outcome, why, prompts,
                                         tokens_in, tokens_out, cost_usd, lines, dropped)
                values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (now_ms(), project, run.engine, run.model, run.outcome, run.why, run.prompts,
                 run.tokens_in, run.tokens_out, run.cost_usd, run.lines, run.dropped),
            )  # fmt: skip
            for session, turn in read.items():
                self.db.execute(
                    """
                    insert into engine_reads select id, ? from sessions where ref = ?
                    on conflict (session) do update set turn = excluded.turn
                    """,
                    (turn, session),
                )

    def leave_out(self, session: str) -> None:
        """Have no import bring in a session of ours, whether it is written already or not."""
        with self.db.transaction():
            self.db.execute(
                "insert or ignore into tombstones values ('session', ?, ?)", (session, now_ms())
            )

    def read_up_to(self, project: str) -> dict[str, int]:
        """The last turn of each session of a project that an engine has read."""
        rows = self.db.rows(
            """
            select sessions.ref, turn from engine_reads
              join sessions on sessions.id = engine_reads.session
              join projects a on a.id = sessions.project
              left join projects b on b.id = a.merged_into
             where coalesce(b.key, a.key) = ?
            """,
            (project,),
        )
        return dict(rows)

    def last(self, project: str | None = None, *, limit: int = 20) -> list[EngineRun]:
        """The newest runs, of one project or of all."""
        rows = self.db.rows(
            f"{_SELECT} where (? is null or coalesce(b.key, a.key) = ?)"
            " order by engine_runs.id desc limit ?",
            (project, project, limit),
        )
        return [
            EngineRun(at=iso(at), project=key, engine=engine, model=model, outcome=outcome,
                      why=why, prompts=prompts, tokens_in=tokens_in, tokens_out=tokens_out,
                      cost_usd=cost_usd, lines=lines, dropped=dropped)
            for at, key, engine, model, outcome, why, prompts, tokens_in, tokens_out, cost_usd,
            lines, dropped in rows
        ]  # fmt: skip

    def spent_since(self, at: int) -> EngineTotals:
        """What runs took since a time, in milliseconds of UTC."""
        row = self.db.row(
            """
            select count(*), coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(cost_usd), 0.0)
              from engine_runs where at >= ? and engine != 'jobs'
            """,
            (at,),
        )
        return EngineTotals(*(row or (0, 0, 0.0)))

    def failures(self, project: str | None = None) -> EngineFailures | None:
        """The newest runs, of one project or of all, as long as none of them kept anything."""
        rows = self.db.rows(
            """
            select engine_runs.at, outcome, why
              from engine_runs left join projects a on a.id = engine_runs.project
              left join projects b on b.id = a.merged_into
             where (?1 is null or coalesce(b.key, a.key) = ?1)
             order by engine_runs.id desc limit 20
            """,
            (project,),
        )
        times = next(
            (place for place, row in enumerate(rows) if row[1] in ("kept", "nothing")), len(rows)
        )
        return EngineFailures(times, *rows[0]) if times else None

    def waiting(self, fewest: int) -> list[tuple[str, int]]:
        """The projects with so many prompts that no engine has read, and when each was last at
        work, in milliseconds of UTC; the newest first.
        """
        return [
            (key, newest)
            for key, newest, _ in self.db.rows(
                """
                select coalesce(b.key, a.key) as project,
                       max(coalesce(turns.ended_at, turns.started_at,
                                    sessions.started_at, 0)) as at,
                       count(*)
                  from turns
                  join sessions on sessions.id = turns.session
                  join projects a on a.id = sessions.project
                  left join projects b on b.id = a.merged_into
                  left join engine_reads on engine_reads.session = sessions.id
                 where turns.live and turns.author = 'human' and not sessions.external
                   and sessions.origin != 'subagent' and sessions.parent is null
                   and turns.ordinal > coalesce(engine_reads.turn, 0)
                 group by 1 having count(*) >= ? order by 2 desc, 1
                """,
                (fewest,),
            )
        ]
