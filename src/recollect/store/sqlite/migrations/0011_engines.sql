-- Each time an engine was asked to write a project's memory, and what came of it. Caps and
-- waiting after failures are read from here.
create table engine_runs (
  id         integer primary key,
  at         integer not null,
  project    integer references projects (id) on delete cascade,
  engine     text not null,
  model      text not null,
  outcome    text not null check (outcome in ('kept', 'nothing', 'later', 'gave_up')),
  why        text not null,
  prompts    integer not null,
  tokens_in  integer not null,
  tokens_out integer not null,
  cost_usd   real,
  lines      integer not null,
  dropped    integer not null
);
create index engine_runs_by_project on engine_runs (project, id);
create index engine_runs_by_time on engine_runs (at);

-- How far an engine has read each session: what it wrote rests on everything up to this turn.
create table engine_reads (
  session integer primary key references sessions (id) on delete cascade,
  turn    integer not null
);
