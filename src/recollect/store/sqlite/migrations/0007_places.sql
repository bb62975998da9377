-- Several places may tell of the same session: an editor's database, the files
-- of its command line, an export. The lowest rank is believed.
alter table sources add column rank integer not null default 0;

-- A session that only repeats one of another agent's, by that one's reference.
alter table sessions add column copy_of text;
create index sessions_by_copy on sessions (copy_of) where copy_of is not null;
