-- What a person decided about whole logs, and what may never be kept.

-- Folders whose own logs (those that lie inside the project, where a cloned
-- repository could have put them) a person confirmed as theirs.
create table confirmed_folders (
  folder       text primary key,
  confirmed_at integer not null
) without rowid;

-- What a person asked to forget: it is not imported again. A turn is named by
-- agent and native key, so that its copies in forks stay away too; a title that
-- quoted a forgotten turn is named by its session. A note is named by its project and a hash of
-- its words, for those it was shared with.
create table tombstones (
  kind         text not null check (kind in ('session', 'turn', 'title', 'note')),
  name         text not null,
  forgotten_at integer not null,
  primary key (kind, name)
) without rowid;

-- Strong secrets that were recognised once, as keyed hashes: they are removed
-- wherever else they stand. The value itself is nowhere.
create table known_secrets (
  hash     blob primary key,
  kind     text not null,
  found_at integer not null
) without rowid;
