-- What is worth remembering beyond the session it was said in: one line a note, with who
-- found it and how far it is believed. A project's memory is its active notes in order.

-- `ref` is "note:" and eight characters, and means the same note in every store of the same
-- logs. `key` and `words` are hashes of what the same fact is known by: that of the stage that
-- found it, and its words without case and signs. No project means that it holds everywhere.
-- `decided_at` says when a person last wrote, accepted or rejected it: stages leave such a note
-- as it is, and what a person rejected or said better (`replaced_by`) never comes back. `stale`
-- is why it is not told although it is active. `at` is when it was last said, `value` what
-- ranking made of it, `form` the command it is about.
create table notes (
  id          integer primary key,
  ref         text not null unique,
  project     integer references projects (id),
  key         text not null,
  words       text not null,
  text        text not null,
  category    text not null check (category in ('preference', 'project', 'pattern', 'decision', 'constraint')),
  section     text not null check (section in ('preferences', 'commands', 'traps', 'decisions', 'files', 'left_off')),
  status      text not null check (status in ('candidate', 'active', 'rejected', 'retired')),
  trust       text not null check (trust in ('user', 'tool-verified', 'team', 'assistant', 'external')),
  author      text not null check (author in ('person', 'rules', 'pattern', 'engine', 'agent', 'member')),
  found_by    text,
  form        text not null default '',
  times       integer not null default 1,
  sessions    integer not null default 1,
  value       real not null default 0,
  is_sure     integer not null default 0,
  tainted     integer not null default 0,
  at          integer,
  created_at  integer not null,
  decided_at  integer,
  pinned      integer not null default 0,
  replaced_by integer references notes (id) on delete set null,
  stale       text
);
create index notes_by_key on notes (key);
create index notes_by_words on notes (words);
create index notes_by_project on notes (project, status);
create index notes_by_successor on notes (replaced_by) where replaced_by is not null;

-- The turns that a note rests on: the newest of them, and at least one of each session.
create table note_evidence (
  note    integer not null references notes (id) on delete cascade,
  session integer not null references sessions (id) on delete cascade,
  turn    integer not null,
  primary key (note, session, turn)
) without rowid;
create index note_evidence_by_session on note_evidence (session, turn);

-- What happened to a note, for its history and to take it back. `before` is the row as it was,
-- as JSON; null where there was none. What stages find anew each time is no change.
create table note_changes (
  id     integer primary key,
  note   integer not null references notes (id) on delete cascade,
  at     integer not null,
  author text not null,
  action text not null,
  text   text not null,
  status text not null,
  why    text not null default '',
  undone integer not null default 0,
  before text
);
create index note_changes_by_note on note_changes (note);

-- When agents gave notes, until their call is found in its log: an agent that remembers
-- something does so through a server that knows nothing of its session.
create table note_calls (
  note integer not null references notes (id) on delete cascade,
  at   integer not null,
  primary key (note, at)
) without rowid;

-- What a project's memory tells, in order: its own notes and those that hold everywhere. The
-- first of them are the pack's.
create table memory_lines (
  project integer not null references projects (id) on delete cascade,
  place   integer not null,
  note    integer not null references notes (id) on delete cascade,
  in_pack integer not null,
  primary key (project, place)
) without rowid;
create index memory_lines_by_note on memory_lines (note);

-- The block beside a project's notes: names of what is run and edited most, for the pack and
-- for the long form, a line each. `made_at` is when its memory was last made, `took_ms` how
-- long that took.
create table memory_blocks (
  project integer primary key references projects (id) on delete cascade,
  pack    text not null,
  long    text not null,
  made_at integer not null,
  took_ms integer not null default 0
);

-- Projects whose sessions or notes changed since their memory was made. The mark is another
-- one for every change, as in unembedded. Whoever writes a turn need not know of memories.
create table outdated_memories (
  project integer primary key references projects (id) on delete cascade,
  mark    integer not null
);
create trigger undigested_added after insert on undigested begin
  insert or replace into outdated_memories
    select project, random() from sessions where id = new.session and project is not null;
end;
create trigger sessions_moved after update of project, external on sessions
  when new.project is not old.project or new.external != old.external begin
  insert or replace into outdated_memories select old.project, random() where old.project is not null;
  insert or replace into outdated_memories select new.project, random() where new.project is not null;
end;
create trigger sessions_gone after delete on sessions when old.project is not null begin
  insert or replace into outdated_memories select id, random() from projects where id = old.project;
end;
create trigger projects_merged after update of merged_into on projects begin
  insert or replace into outdated_memories
    select id, random() from projects where id in (new.id, old.merged_into, new.merged_into);
end;
