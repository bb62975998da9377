-- What is worth remembering beyond the session it was said in: one fact a note,
-- with who says so and how far it is believed. Numbers are never given twice,
-- because packs, feedback and people cite them.

-- `words` is the text as it is compared with others: case, punctuation and
-- spaces left out. No project means that it holds everywhere. `accepted_at` is
-- when a person wrote or accepted it. An edit leaves the old note behind,
-- superseded by the new one.
create table notes (
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
  superseded_by integer references notes (id)
);
create index notes_by_words on notes (words);
create index notes_by_project on notes (project, status);
create index notes_by_successor on notes (superseded_by) where superseded_by is not null;

-- Where a note comes from: a row for each time that an agent gave it. Session
-- and turn are those of the call in the agent's log, and null until that log is
-- imported and the call found in it. `at` is null when the log tells no time.
create table note_origins (
  id      integer primary key,
  note    integer not null references notes (id) on delete cascade,
  at      integer,
  session text,
  turn    integer
);
create index note_origins_by_note on note_origins (note);
create index note_origins_by_session on note_origins (session, turn) where session is not null;
create index note_origins_sought on note_origins (at) where session is null;

-- What a memory was worth to somebody it was offered to; `ref` names a session,
-- a turn or a note.
create table feedback (
  id      integer primary key,
  at      integer not null,
  ref     text not null,
  helpful integer not null check (helpful in (0, 1)),
  author  text not null check (author in ('person', 'agent')),
  reason  text
);
create index feedback_by_ref on feedback (ref);
