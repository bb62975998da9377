-- The hub on libSQL: the same rows as on PostgreSQL, and nobody who checks who writes them.
-- Whoever has a token of the database can read and change all of it.
create table if not exists recollect_teams (
  team_id text primary key,
  name    text not null,
  made_at text not null
) without rowid;
create table if not exists recollect_members (
  team_id    text not null,
  name       text not null,
  role       text not null check (role in ('reader', 'member', 'admin')),
  joined_at  text not null,
  revoked_at text,
  primary key (team_id, name)
) without rowid;
create table if not exists recollect_devices (
  team_id text not null,
  device  text not null,
  member  text not null,
  name    text not null,
  seen    integer not null default 0,
  token   text not null default '',
  seen_at text not null,
  primary key (team_id, device)
) without rowid;
-- `seq` is given in a transaction that writes alone, so in the order of commits.
create table if not exists recollect_items (
  team_id text not null,
  author  text not null,
  id      text not null,
  kind    text not null check (kind in ('note', 'episode')),
  project text not null,
  device  text not null,
  seq     integer not null,
  at      text,
  gone    text check (gone in ('withdrawn', 'forgotten')),
  body    text not null,
  primary key (team_id, author, id)
);
create unique index if not exists recollect_items_by_seq on recollect_items (team_id, seq);
create virtual table if not exists recollect_words using fts5 (words);
