-- What hooks tell agents, ready-made: a hook has milliseconds, so it reads a few
-- rows and composes nothing. All of this is made from turns and notes by the
-- job `prepare`, project by project, and can be made again. Projects here are
-- those that no other has been merged over: readers follow merged_into first.

-- What an agent is told when it starts in a project. `refs` are the memories in
-- it, separated by spaces. `made_at` also says up to when the project's logs
-- have been looked at, and is below 0 while that is out of date; a project about
-- which nothing is worth telling has an empty text. `files` are the files that were
-- changed most in it, one a line, seen from its folder: a folder that has none of them
-- only claims to be this project.
create table packs (
  project integer primary key references projects (id) on delete cascade,
  text    text not null,
  refs    text not null,
  made_at integer not null,
  files   text not null default ''
);

-- What failed here before, and what worked instead. `shape` is the form of the
-- command, or of the line that named the error, with what differs from run to
-- run left open; only texts that hold `word` can have it.
create table reminders (
  id      integer primary key,
  project integer not null references projects (id) on delete cascade,
  kind    text not null check (kind in ('command', 'error')),
  word    text not null,
  shape   text not null,
  line    text not null,
  refs    text not null,
  at      integer,
  unique (project, kind, shape)
);

-- One line for each memory that a prompt may call up. Without a project it is
-- told everywhere.
create table tellings (
  id      integer primary key,
  project integer references projects (id) on delete cascade,
  ref     text not null,
  line    text not null,
  at      integer
);
create index tellings_by_project on tellings (project);

-- The stems of the words that a telling is found by.
create table telling_words (
  word    text not null,
  telling integer not null references tellings (id) on delete cascade,
  primary key (word, telling)
) without rowid;
create index telling_words_by_telling on telling_words (telling);

-- What was offered to whom, by which face and at which of its events or tools:
-- measured later against what happened next. The id
-- is given by whoever offered it, so that a spool that is read twice counts once.
create table recalls (
  id      text primary key,
  at      integer not null,
  face    text not null,
  event   text not null,
  agent   text,
  session text,
  project integer references projects (id) on delete set null,
  refs    text not null
) without rowid;
create index recalls_by_session on recalls (session);

-- When each hook last ran, whether or not it had something to say; `fault` is
-- the kind of its last failure, if that was the last thing it did.
create table firings (
  agent   text not null,
  event   text not null,
  last_at integer not null,
  fault   text,
  primary key (agent, event)
) without rowid;
