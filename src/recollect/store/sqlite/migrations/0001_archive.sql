-- The archive: what agents logged, as sessions and turns, and
-- the place in each log up to which it was read. Times are milliseconds UTC.

-- "reco": tells a store of ours from any other database.
pragma application_id = 0x7265636F;

-- Facts about this store itself: the key that redaction tags are derived with,
-- which table of secrets the text was last scanned by and how far an unfinished
-- scan came, whether deleted text may still be in the files, and the last turn
-- number of each session that had it forgotten.
create table store_info (
  name  text primary key,
  value blob not null
) without rowid;

-- One place a log lives. The fingerprint (inode, size, time, and hashes of the
-- first bytes and of those before the checkpoint) tells unchanged, grown and
-- replaced apart; a source that vanished keeps its row and its sessions. Several
-- may tell of the same session (an editor's database, the files of its command
-- line, an export): the lowest rank is believed. `in_project` is the folder of the
-- project that a log lies in; null where only its agent could have put it.
create table sources (
  id          integer primary key,
  agent       text not null,
  path        text not null unique,
  version     integer not null,
  inode       integer not null,
  size_bytes  integer not null,
  mtime_ns    integer not null,
  head        integer not null,
  tail        integer not null,
  position    integer not null,
  state       blob not null,
  imported_at integer not null,
  failure     text,
  rank        integer not null default 0,
  in_project  text
);
create index sources_by_folder on sources (in_project) where in_project is not null;

-- Where sessions happened. A merge is a pointer and therefore reversible:
-- readers follow merged_into, rows never move.
create table projects (
  id          integer primary key,
  key         text not null unique,
  kind        text not null check (kind in ('remote', 'repository', 'directory')),
  merged_into integer references projects (id)
);

-- Folders known to belong to a project, so that a session whose folder is gone,
-- or whose log names no remote, still finds home. `seen` says that git's own files
-- on this machine said so; otherwise a log did.
create table project_aliases (
  alias   text primary key,
  project integer not null references projects (id),
  seen    integer not null default 0
) without rowid;

-- One conversation with one agent, as its log names it. Its turns, and its sub-agents,
-- have its project. `copy_of` is another agent's session that this one only repeats.
-- `external` says that it may be anybody's: its log came with a project, and no person
-- confirmed that project's logs, or git tracks it. It is found and never told unasked.
create table sessions (
  id            integer primary key,
  ref           text not null unique,
  agent         text not null,
  native_id     text not null,
  parent        text,
  origin        text not null default 'interactive' check (origin in ('interactive', 'headless', 'subagent')),
  project       integer references projects (id),
  cwd           text,
  title         text,
  started_at    integer,
  ended_at      integer,
  agent_version text,
  git_branch    text,
  git_sha       text,
  git_remote    text,
  source        integer references sources (id),
  meta          text not null default '{}',
  copy_of       text,
  external      integer not null default 0
);
create index sessions_by_time on sessions (started_at);
create index sessions_by_project on sessions (project, started_at);
create index sessions_by_copy on sessions (copy_of) where copy_of is not null;
create index sessions_by_parent on sessions (parent) where parent is not null;

-- prompt and reply hold the lead only; the whole text is in the body. The
-- ordinal is given once and never reused: notes and evidence cite it.
create table turns (
  id         integer primary key,
  session    integer not null references sessions (id),
  ordinal    integer not null,
  key        text not null,
  live       integer not null default 1,
  author     text not null default 'human' check (author in ('human', 'agent', 'system')),
  started_at integer,
  ended_at   integer,
  errors     integer not null default 0,
  prompt     text not null default '',
  reply      text not null default '',
  unique (session, ordinal)
);
-- Also finds the copies of a turn in forks, which share its key.
create unique index turns_by_key on turns (key, session);

-- A turn's events, as zstd-compressed msgpack. Parts are only ever added, so a
-- long turn that is still growing costs what it grew; they are merged into one
-- when the turn closes. The id is also the rowid in turns_text. `lengths` says how long each
-- column of that row is, nine bits a column, the first one lowest (`store.text`).
create table bodies (
  id       integer primary key,
  turn     integer not null references turns (id),
  part     integer not null,
  lengths  integer not null default 0,
  events   blob not null,
  checksum integer not null,
  unique (turn, part)
);

-- `folder` is where a shell call ran; `pending` is the native call id while the result is still to come.
create table tool_calls (
  turn        integer not null references turns (id),
  ordinal     integer not null,
  name        text not null,
  kind        text not null,
  target      text,
  ok          integer,
  exit_code   integer,
  duration_ms integer,
  folder      text,
  pending     text,
  primary key (turn, ordinal)
) without rowid;
create index tool_calls_pending on tool_calls (turn, pending) where pending is not null;

-- One model call, counted once however many files repeat it. An unknown price
-- is null, never 0. What was written to a cache for an hour is part of cache_write.
create table usage (
  id          integer primary key,
  key         text not null unique,
  turn        integer not null references turns (id),
  model       text,
  at          integer,
  input       integer not null,
  cache_read  integer not null,
  cache_write integer not null,
  cache_write_1h integer not null,
  output      integer not null,
  reasoning   integer not null,
  cost_usd    real
);
create index usage_by_turn on usage (turn);

-- The prices behind cost_usd, by model and day, so that an import need not
-- load the whole price table again. Null prices: not in that table.
create table rates (
  model   text not null,
  day     text not null,
  version text not null,
  prices  text,
  primary key (model, day)
) without rowid;

-- What was wrong in a source since it was last read from its start: the first few.
create table problems (
  source integer not null references sources (id),
  kind   text not null,
  line   integer,
  reason text not null,
  count  integer not null,
  at     integer not null
);
create index problems_by_source on problems (source);
