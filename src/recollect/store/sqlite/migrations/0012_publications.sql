-- What was written into a project's own files: `path` is below `folder`, `hash` is that
-- of what stood between our markers, `refs` are the notes in it, separated by spaces, and
-- `made` says that the file was not there before. The text itself is in the file alone, so
-- that forgetting need not look for it here. A block whose hash was never written here is
-- somebody's edit.
create table publications (
  id      integer primary key autoincrement,
  folder  text not null,
  path    text not null,
  target  text not null,
  project integer references projects (id) on delete set null,
  hash    text not null,
  refs    text not null,
  made    integer not null,
  at      integer not null,
  gone_at integer
);
create unique index publications_current on publications (folder, path) where gone_at is null;
create index publications_by_hash on publications (hash);
