-- What decides whether words of a log may be believed, and told.

-- Folders whose own logs (those that lie inside the project, where a cloned
-- repository could have put them) a person confirmed as theirs.
create table confirmed_folders (
  folder       text primary key,
  confirmed_at integer not null
) without rowid;

-- The folder of the project that a log lies in; null where only its agent could have put it.
alter table sources add column in_project text;
create index sources_by_folder on sources (in_project) where in_project is not null;

-- Whether a session may be anybody's: its log came with a project, and no person confirmed
-- that project's logs, or git tracks it. It is found and shown, and never told unasked.
alter table sessions add column external integer not null default 0;

-- Strong secrets that were recognised once, as keyed hashes: they are removed
-- wherever else they stand. The value itself is nowhere.
create table known_secrets (
  hash     blob primary key,
  kind     text not null,
  found_at integer not null
) without rowid;
