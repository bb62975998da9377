-- What hooks tell agents, ready-made, and what came of it. A hook has milliseconds,
-- so it reads a few rows and composes nothing. Projects here are those that no other
-- has been merged over: readers follow merged_into first.

-- What an agent is told when it starts in a project, within its frame; `refs` are the
-- notes in it, in their order, separated by spaces. `compact` is what it is told of it
-- after its context was compacted, a line each, with the notes in that; and `long` the long form of the same
-- memory. `made_at` also says up to when the project's logs have been looked at, and is
-- below 0 while that is out of date; a project about which nothing is worth telling has
-- an empty text. `files` are the files that were changed most in it, one a line, seen
-- from its folder: a folder that has none of them only claims to be this project.
create table packs (
  project integer primary key references projects (id) on delete cascade,
  text    text not null,
  refs    text not null,
  made_at integer not null,
  files   text not null default '',
  compact text not null default '',
  compact_refs text not null default '',
  long    text not null default ''
);

-- What fails here, and what works instead. `shape` is the form of the command, or of the
-- line that names the error, with what differs from run to run left open; only texts that
-- hold `word` can have it. Where a command works in another folder only, `folder` is the
-- one in which it fails.
create table reminders (
  id      integer primary key,
  project integer not null references projects (id) on delete cascade,
  kind    text not null check (kind in ('command', 'error')),
  word    text not null,
  shape   text not null,
  folder  text not null default '',
  line    text not null,
  refs    text not null,
  at      integer
);
create index reminders_by_project on reminders (project, kind);

-- One line for each note or turn that a prompt may call up. Without a project it is
-- told everywhere. `place` counts the lines of a project from the oldest, `facts` is what
-- is known of a turn, packed (`recall.hooks.facts`), `session` whose turn it is.
create table prompt_lines (
  id      integer primary key,
  project integer references projects (id) on delete cascade,
  place   integer not null,
  facts   integer not null,
  session integer,
  ref     text not null,
  line    text not null,
  at      integer
);
-- All that is read of a line before it is told.
create index prompt_lines_by_project on prompt_lines (project, place, facts, session);

-- The words that the lines of a project are found by; project 0 has those without one. For
-- each line, by its place, four bytes: the place, and below it where the word stands in it.
create table prompt_words (
  project integer not null,
  word    text not null,
  lines   blob not null,
  primary key (project, word)
) without rowid;

-- In how many lines each word is, of all projects.
create table prompt_word_counts (
  word  text primary key,
  lines integer not null
) without rowid;
create trigger prompt_words_added after insert on prompt_words begin
  insert into prompt_word_counts values (new.word, length(new.lines) / 4)
    on conflict (word) do update set lines = lines + excluded.lines;
end;
create trigger prompt_words_gone after delete on prompt_words begin
  update prompt_word_counts set lines = lines - length(old.lines) / 4 where word = old.word;
  delete from prompt_word_counts where word = old.word and lines <= 0;
end;
-- Words of a line that is gone would tell what was in it; the others are made again.
create trigger prompt_lines_gone after delete on prompt_lines begin
  delete from prompt_words where project = coalesce(old.project, 0);
end;

-- What agents were told unasked, and what tools of ours answered: when, where and by
-- which event of which face. `refs` are the notes and turns in it, `used` those of them
-- that the session acted on afterwards and `unused` those that it could have acted on
-- and did not, as far as it was looked at by `looked_at`; of the others nobody can say.
-- The id is given by whoever told it, so that a spool that is read twice counts once.
create table injections (
  id        text primary key,
  at        integer not null,
  face      text not null,
  event     text not null,
  agent     text,
  session   text,
  folder    text,
  project   integer references projects (id) on delete set null,
  refs      text not null,
  tokens    integer not null default 0,
  used      text not null default '',
  unused    text not null default '',
  looked_at integer
) without rowid;
create index injections_by_session on injections (session);
create index injections_by_time on injections (at);

-- When each hook last ran, whether or not it had something to say; `fault` is the
-- kind of its last failure, if that was the last thing it did.
create table hook_runs (
  agent   text not null,
  event   text not null,
  last_at integer not null,
  fault   text,
  primary key (agent, event)
) without rowid;

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
