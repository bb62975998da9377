-- What is derived from sessions. Each row says from what state of its session it
-- was made, so that one that grew is distilled again; all of it goes with the
-- session when that is forgotten.

-- What a session came to. `state` is another one whenever a turn of it or what
-- happened in it is; `digest` is all of it as msgpack, the other columns are what
-- is listed and asked for.
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

-- Sessions whose turns are newer than their digest, or that have none. The mark
-- is another one for every change, as in unembedded. Whoever writes a turn need
-- not know of digests; letting go of events does not make a digest outdated.
create table undigested (
  session integer primary key references sessions (id) on delete cascade,
  mark    integer not null
);
insert into undigested select id, random() from sessions;
create trigger bodies_added_to_session after insert on bodies begin
  insert or replace into undigested select session, random() from turns where id = new.turn;
end;
create trigger bodies_changed_in_session after update of events on bodies begin
  insert or replace into undigested select session, random() from turns where id = new.turn;
end;
create trigger turns_undone after update of live on turns when new.live != old.live begin
  insert or replace into undigested values (new.session, random());
end;
create trigger sessions_titled after update of title on sessions when new.title is not old.title begin
  insert or replace into undigested values (new.id, random());
end;

-- How far notes have been taken from a session, by rules and by a model: up to
-- which message, how many tool calls came since, and how often it was done. `waits`
-- says that it is to be done once a tool call has returned or the session is over.
create table extractions (
  session integer not null references sessions (id) on delete cascade,
  author  text not null check (author in ('rules', 'model')),
  message integer not null,
  calls   integer not null,
  count   integer not null,
  waits   integer not null,
  at      integer not null,
  primary key (session, author)
) without rowid;

-- A session's trace memory, and from what state of its digest it was made. A
-- session without memory has an empty one, so that it is not looked at again in
-- the same state.
create table traces (
  session  integer primary key references sessions (id) on delete cascade,
  state    text not null,
  engine   text not null check (engine in ('rules', 'llm', 'agent')),
  memory   text not null,
  summary  text not null,
  tokens   integer not null default 0,
  cost_usd real,
  made_at  integer not null
);

-- Who works on something that only one may work on. The token grows with each
-- owner: whoever held it before, and was presumed dead, cannot write any more.
create table leases (
  name       text primary key,
  owner      text not null,
  token      integer not null,
  held_until integer not null
) without rowid;

-- Every version of what was written for a project, with the sessions behind it as
-- a JSON list. Of one name, the version without gone_at is the one that counts.
create table publications (
  id       integer primary key autoincrement,
  project  integer not null references projects (id) on delete cascade,
  name     text not null,
  text     text not null,
  sessions text not null,
  engine   text not null check (engine in ('rules', 'llm', 'agent')),
  made_at  integer not null,
  gone_at  integer
);
create unique index publications_current on publications (project, name) where gone_at is null;

-- From what a project's memory was made, and by whom; it is made again when that
-- is another.
create table consolidations (
  project integer primary key references projects (id) on delete cascade,
  state   text not null,
  engine  text not null check (engine in ('rules', 'llm', 'agent'))
);

-- The folders of memories that we wrote files into, by a hash: they are cleared
-- when their project is gone, and nobody else's are.
create table memory_folders (
  name text primary key
) without rowid;

-- Turns whose events were let go to keep the store small: how many bytes that
-- gave back, and how many stayed. A turn that has more than that by now has grown
-- since. What it came to is in the digest; `distilled` says whether there was one.
create table evictions (
  turn      integer primary key references turns (id) on delete cascade,
  at        integer not null,
  bytes     integer not null,
  kept      integer not null,
  distilled integer not null
);
