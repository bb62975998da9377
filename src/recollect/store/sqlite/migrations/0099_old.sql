-- What is replaced next, in its old form; nothing new is added here. Each owner deletes
-- their tables when nothing uses them any more, and the last one deletes this file
-- (with its line in `MIGRATIONS` of database.py and in `ready.py`):
--
-- - old_notes, note_origins, extractions: 0007_notes.sql has taken their place

-- `words` is the text as it is compared with others: case, punctuation and
-- spaces left out. No project means that it holds everywhere. `accepted_at` is
-- when a person wrote or accepted it. An edit leaves the old note behind,
-- superseded by the new one.
create table old_notes (
  id            integer primary key autoincrement,
  category      text not null check (category in ('preference', 'project', 'pattern', 'decision', 'constraint')),
  text          text not null,
  words         text not null,
  project       integer references projects (id),
  status        text not null check (status in ('candidate', 'active', 'superseded', 'rejected')),
  trust         text not null check (trust in ('user', 'tool-verified', 'assistant', 'external')),
  author        text not null check (author in ('person', 'agent', 'rules', 'model')),
  confidence    real not null,
  seen          integer not null default 1,
  created_at    integer,
  seen_at       integer,
  accepted_at   integer,
  valid_from    integer,
  valid_to      integer,
  superseded_by integer references old_notes (id)
);
create index old_notes_by_words on old_notes (words);
create index old_notes_by_project on old_notes (project, status);
create index old_notes_by_successor on old_notes (superseded_by) where superseded_by is not null;

-- Where a note comes from: a row for each time that an agent gave it. Session
-- and turn are those of the call in the agent's log, and null until that log is
-- imported and the call found in it. `at` is null when the log tells no time.
create table note_origins (
  id      integer primary key,
  note    integer not null references old_notes (id) on delete cascade,
  at      integer,
  session text,
  turn    integer
);
create index note_origins_by_note on note_origins (note);
create index note_origins_by_session on note_origins (session, turn) where session is not null;
create index note_origins_sought on note_origins (at) where session is null;

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
