-- What decides whether words of a log may be believed, and told.

-- Folders whose own logs (those that lie inside the project, where a cloned
-- repository could have put them) a person confirmed as theirs.
create table confirmed_folders (
  folder       text primary key,
  confirmed_at integer not null
) without rowid;

-- Strong secrets that were recognised once, as keyed hashes: they are removed
-- wherever else they stand. The value itself is nowhere.
create table known_secrets (
  hash     blob primary key,
  kind     text not null,
  found_at integer not null
) without rowid;
