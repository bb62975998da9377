-- What is learned from sessions: attempts, what recurs in them, and what people
-- made of that. Everything derived from a session goes with it.

-- Attempts at a task: derived from a session's tasks, or recorded live. `steps`
-- is msgpack: one row is one write, and steps are only ever read together.
create table episodes (
  id           integer primary key,
  ref          text not null unique,
  session      integer references sessions (id) on delete cascade,
  task_number  integer,
  agent        text,
  project      integer references projects (id),
  task         text not null,
  language     text,
  domain       text,
  tags         text not null default '[]',
  outcome      text check (outcome in ('success', 'partial', 'fail', 'uncertain', 'abandoned')),
  result       text,
  error        text,
  reward       real,
  reward_parts text,
  started_at   integer not null,
  duration_ms  integer,
  steps        blob not null,
  unique (session, task_number)
);
create index episodes_by_project on episodes (project, started_at);

-- One thing seen in one session: `turn` is the number of the turn in it. What has
-- the same kind and signature is the same thing, seen again; this is the evidence
-- of every pattern.
create table signals (
  id        integer primary key,
  session   integer not null references sessions (id) on delete cascade,
  turn      integer not null,
  kind      text not null,
  signature text not null,
  went_well integer,
  trust     text not null,
  at        integer,
  fields    text not null
);
create index signals_by_signature on signals (kind, signature);
create index signals_by_session on signals (session);

-- Sessions whose digest is newer than what was learned from it. The mark is
-- another one for every change, as in undigested.
create table unlearned (
  session integer primary key references sessions (id) on delete cascade,
  mark    integer not null
);
insert into unlearned select session, random() from digests;
create trigger digests_added after insert on digests begin
  insert or replace into unlearned values (new.session, random());
end;
create trigger digests_changed after update of digest on digests begin
  insert or replace into unlearned values (new.session, random());
end;

-- What recurs, once enough sessions say so; counted from signals. `id` is made of
-- kind and signature. What was said and decided about it is in its versions.
create table patterns (
  id        text primary key,
  kind      text not null,
  signature text not null,
  status    text not null check (status in ('candidate', 'accepted', 'published', 'rejected', 'retired')),
  version   integer not null,
  made_at   integer not null,
  unique (kind, signature)
) without rowid;

-- Every state a pattern was in, with who made it so and why. `sessions` is how
-- many stood behind it then: a rejected one stays rejected until they double.
create table pattern_versions (
  pattern  text not null references patterns (id) on delete cascade,
  version  integer not null,
  status   text not null,
  sentence text not null,
  sessions integer not null,
  author   text not null check (author in ('rules', 'person')),
  at       integer not null,
  why      text not null default '',
  primary key (pattern, version)
) without rowid;

-- When this, do that. Counted up by every later outcome.
create table heuristics (
  id        text primary key,
  pattern   text not null references patterns (id) on delete cascade,
  condition text not null,
  action    text not null,
  held      integer not null,
  failed    integer not null,
  status    text not null check (status in ('active', 'retired')),
  made_at   integer not null
) without rowid;

-- What was written into a person's files: which file, what stood between our
-- markers, and which patterns and notes that was made of. Hand edits show as a
-- block that is not the last one written.
create table published_blocks (
  id      integer primary key autoincrement,
  path    text not null,
  target  text not null,
  project integer not null references projects (id) on delete cascade,
  block   text not null,
  refs    text not null,
  at      integer not null,
  gone_at integer
);
create unique index published_blocks_current on published_blocks (path, target) where gone_at is null;

insert or ignore into jobs (kind, subject, created_at)
select 'learn', 'sessions', unixepoch() * 1000 where exists (select 1 from digests);
