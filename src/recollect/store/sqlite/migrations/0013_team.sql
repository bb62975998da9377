-- What is shared with a team, and what a team shares. The hub is a database elsewhere; nothing
-- that is told, searched or hooked here ever waits for it.

-- The hub that this store has joined, if it has: never more than one, and never its password.
-- `team_key` names things to the hub without saying what they are, and makes equal secrets equal
-- for the team; the hub does not have it. `watermark` is how far the team's items were pulled.
-- `token` is what the hub and we last agreed on and `next_token` what we last proposed: when
-- the hub has neither, one of us is an old copy, and everything is compared anew.
create table hub (
  id         integer primary key check (id = 1),
  url        text not null,
  team       text not null,
  name       text not null,
  member     text not null,
  device     text not null,
  team_key   blob not null,
  watermark  integer not null default 0,
  token      text not null default '',
  next_token text not null default '',
  synced_at  integer,
  failed     text,
  failed_at  integer,
  failures   integer not null default 0
);

-- What a person here chose to share, by project: nothing unless it stands here. Of attempts that
-- programs recorded the project may be empty: all of them. `since` leaves older things out.
create table shares (
  project text not null,
  what    text not null check (what in ('notes', 'digests', 'sessions', 'episodes')),
  since   integer,
  primary key (project, what)
) without rowid;

-- What of ours is at the hub, or on its way there. `gone` says that it was taken back or
-- forgotten, which is kept: a hub that was restored to yesterday is told again.
create table shared_items (
  id      text primary key,
  kind    text not null,
  ref     text not null,
  project text not null,
  hash    blob not null,
  gone    text check (gone in ('withdrawn', 'forgotten')),
  pushed  integer not null default 0
) without rowid;
create index shared_items_waiting on shared_items (pushed) where not pushed;

-- The notes that team mates shared, each with the note that it is here. Several may say the
-- same. `corrects` is the item that one takes the place of.
create table team_notes (
  author   text not null,
  id       text not null,
  note     integer not null references notes (id) on delete cascade,
  trust    text not null,
  corrects text,
  primary key (author, id)
) without rowid;
create index team_notes_by_note on team_notes (note);

-- What else they shared: a cache of the hub, within team.cache_mb, least used first out.
create table team_items (
  author  text not null,
  id      text not null,
  kind    text not null,
  project text not null,
  at      integer,
  body    text not null,
  used_at integer not null,
  primary key (author, id)
) without rowid;
create index team_items_by_use on team_items (used_at);

-- What a person here thinks of a team mate: believed for a project, or not heard at all.
create table team_mates (
  name    text not null,
  project text not null default '',
  is_muted integer not null default 0,
  primary key (name, project)
) without rowid;

-- What other devices of ours forgot, as the hub names it: it is not imported here either.
create table team_tombstones (
  id text primary key
) without rowid;
