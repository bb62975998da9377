-- What is derived from sessions. Each row says from what state of its session it
-- was made, so that one that grew is distilled again; all of it goes with the
-- session when that is forgotten.

-- What a session came to. `state` tells when its turns or their text have
-- changed since; `digest` is all of it as msgpack, the other columns are what is
-- listed and asked for.
create table digests (
  session integer primary key references sessions (id) on delete cascade,
  state   text not null,
  title   text not null,
  outcome text not null check (outcome in ('success', 'partial', 'fail', 'uncertain', 'abandoned')),
  summary text not null,
  digest  blob not null,
  made_at integer not null
);
create index digests_by_outcome on digests (outcome);

-- How far notes have been taken from a session: up to which message, how many
-- tool calls came since, and how often it was done.
create table extractions (
  session integer primary key references sessions (id) on delete cascade,
  message integer not null,
  calls   integer not null,
  count   integer not null,
  at      integer not null
);

-- A session's trace memory, and how it was made. A session without memory has an
-- empty one, so that it is not looked at again in the same state.
create table traces (
  session  integer primary key references sessions (id) on delete cascade,
  project  integer references projects (id) on delete cascade,
  state    text not null,
  engine   text not null check (engine in ('rules', 'llm', 'agent')),
  memory   text not null,
  summary  text not null,
  tokens   integer not null default 0,
  cost_usd real,
  made_at  integer not null
);
create index traces_by_project on traces (project, made_at);

-- Who works on something that only one may work on. The token grows with each
-- owner: whoever held it before, and was presumed dead, cannot write any more.
create table leases (
  name       text primary key,
  owner      text not null,
  token      integer not null,
  held_until integer not null
) without rowid;

-- Every version of what was written for a project, with the sessions behind it.
create table publications (
  id       integer primary key autoincrement,
  project  integer references projects (id) on delete cascade,
  name     text not null,
  text     text not null,
  sessions text not null,
  engine   text not null check (engine in ('rules', 'llm', 'agent')),
  made_at  integer not null,
  gone_at  integer
);
create index publications_by_name on publications (project, name, id);

-- Turns whose events were let go to keep the store small. What they came to is in
-- the digest; `distilled` says whether there was one.
create table evictions (
  turn      integer primary key references turns (id) on delete cascade,
  at        integer not null,
  bytes     integer not null,
  distilled integer not null
);

-- A store that has sessions already gets its digests by the next work.
insert or ignore into jobs (kind, subject, created_at)
select 'digest', 'sessions', unixepoch() * 1000 where exists (select 1 from turns);
