-- What is learned from sessions: attempts, what recurs in them, and what people
-- made of that. Everything derived from a session goes with it.

-- Attempts at a task: derived from a session's tasks, or recorded live. `steps`
-- is msgpack: one row is one write, and steps are only ever read together. Whoever
-- records live waits for the disk, and every index is a page more to write.
create table episodes (
  id           integer primary key,
  ref          text not null unique,
  session      integer references sessions (id) on delete cascade,
  task_number  integer,
  turns        text,
  agent        text,
  project      integer references projects (id),
  task         text not null,
  language     text,
  domain       text,
  tags         text,
  outcome      text check (outcome in ('success', 'partial', 'fail', 'uncertain', 'abandoned')),
  result       text,
  error        text,
  reward       real,
  reward_parts text,
  started_at   integer,
  duration_ms  integer,
  tokens       integer,
  steps        blob not null
);
create unique index episodes_by_session on episodes (session, task_number) where session is not null;

-- For those who keep attempts in memory: how often some went, how often their words
-- changed, and the largest id that went, because an id is not given again. (That is
-- what autoincrement is for, at the price of a page for every attempt.)
create trigger episodes_removed after delete on episodes begin
  insert into store_info values ('episodes_gone', 1) on conflict (name) do update set value = value + 1;
  insert into store_info values ('episodes_last', old.id) on conflict (name) do update set value = max(value, old.id);
end;
create trigger episodes_reworded after update on episodes begin
  insert into store_info values ('episodes_changed', 1) on conflict (name) do update set value = value + 1;
end;
-- A digest that is dropped quoted something that has to go; so did what was derived from it.
create trigger digests_removed after delete on digests begin
  delete from episodes where session = old.session;
end;

-- One thing seen in one session, or in one attempt that was recorded live: `turn` is
-- the number of the turn, or of the step. What has the same kind and signature is
-- the same thing, seen again; this is the evidence of every pattern.
create table signals (
  id        integer primary key,
  session   integer references sessions (id) on delete cascade,
  episode   integer references episodes (id) on delete cascade,
  turn      integer not null,
  kind      text not null,
  signature text not null,
  went_well integer,
  trust     text not null,
  at        integer,
  check ((session is null) != (episode is null))
);
create index signals_by_signature on signals (kind, signature);
create index signals_by_session on signals (session);
create index signals_by_episode on signals (episode) where episode is not null;

-- How often something was done in a session or an attempt that a signal is compared
-- with: three failures of three tries are another thing than three of a thousand.
-- The one without a name counts all steps, and is there for whatever was learned from.
create table occasions (
  session integer references sessions (id) on delete cascade,
  episode integer references episodes (id) on delete cascade,
  name    text not null,
  times   integer not null,
  check ((session is null) != (episode is null))
);
create index occasions_by_name on occasions (name, session, episode, times);
create index occasions_by_session on occasions (session);
create index occasions_by_episode on occasions (episode) where episode is not null;

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
create trigger digests_dropped after delete on digests begin
  delete from signals where session = old.session;
  delete from occasions where session = old.session;
  insert or ignore into stale_tallies values ('', 'all');
end;

-- What the signals of one kind and signature come to, where that could be a habit at
-- all: most are seen in too few of the sessions that had the `occasion`. `chance` is how
-- likely so many would be if all was done in any order; `stands` says that it is a pattern.
create table tallies (
  kind       text not null,
  signature  text not null,
  pattern    text not null unique,
  occasion   text not null,
  sentence   text not null,
  sessions   integer not null,
  went_well  integer not null,
  went_wrong integer not null,
  chance     real,
  confidence real not null,
  agents     text not null,
  trust      text not null,
  first_at   integer,
  last_at    integer,
  stands     integer not null,
  primary key (kind, signature)
) without rowid;
create index tallies_by_occasion on tallies (occasion) where chance is not null;
create index tallies_standing on tallies (pattern) where stands;

-- Tallies to be made again. Whoever adds or removes signals need not know of them. Without a
-- kind it says that there is something to settle, or that all of them are meant.
create table stale_tallies (
  kind      text not null,
  signature text not null,
  primary key (kind, signature)
) without rowid;
create trigger signals_added after insert on signals begin
  insert or ignore into stale_tallies values (new.kind, new.signature);
end;
create trigger signals_removed after delete on signals begin
  insert or ignore into stale_tallies values (old.kind, old.signature);
end;
-- With another occasion the sightings are what they were, but how likely they are is not.
create trigger occasions_added after insert on occasions begin
  update tallies set chance = null where occasion = new.name and chance is not null;
end;
-- Where there were fewer occasions, a thing may be a habit that was none before. And forks and
-- sub-agents count with the session they come from; without it they come from another.
create trigger occasions_gone after delete on sessions begin
  insert or ignore into stale_tallies values ('', 'all');
end;
create trigger attempts_gone after delete on episodes when old.session is null begin
  insert or ignore into stale_tallies values ('', 'all');
end;

-- What recurs, once enough sessions say so; counted in tallies. `id` is made of
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

-- What was written into a project's own files: `path` is below `folder`, `hash` is that
-- of what stood between our markers, `refs` are the patterns and notes in it,
-- separated by spaces, and `made` says that the file was not there before. The text itself
-- is in the file alone, so that forgetting need not look for it here. A block whose
-- hash was never written here is somebody's edit.
create table published_blocks (
  id      integer primary key autoincrement,
  folder  text not null,
  path    text not null,
  target  text not null,
  project integer references projects (id) on delete set null,
  hash    text not null,
  refs    text not null,
  made    integer not null,
  at      integer not null,
  gone_at integer
);
create unique index published_blocks_current on published_blocks (folder, path) where gone_at is null;
create index published_blocks_by_hash on published_blocks (hash);
