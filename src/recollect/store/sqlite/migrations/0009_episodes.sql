-- Attempts at a task: derived from a session's tasks, or recorded live. `steps`
-- is msgpack: one row is one write, and steps are only ever read together. Whoever
-- records live waits for the disk, and every index is a page more to write.
create table episodes (
  id           integer primary key,
  ref          text not null unique,
  session      integer references sessions (id) on delete cascade,
  task_number  integer,
  turns        text,
  agent        text,
  project      integer references projects (id),
  task         text not null,
  language     text,
  domain       text,
  tags         text,
  outcome      text check (outcome in ('success', 'partial', 'fail', 'uncertain', 'abandoned')),
  result       text,
  error        text,
  reward       real,
  reward_parts text,
  started_at   integer,
  duration_ms  integer,
  tokens       integer,
  steps        blob not null
);
create unique index episodes_by_session on episodes (session, task_number) where session is not null;

-- For those who keep attempts in memory: how often some went, how often their words
-- changed, and the largest id that went, because an id is not given again. (That is
-- what autoincrement is for, at the price of a page for every attempt.)
create trigger episodes_removed after delete on episodes begin
  insert into store_info values ('episodes_gone', 1) on conflict (name) do update set value = value + 1;
  insert into store_info values ('episodes_last', old.id) on conflict (name) do update set value = max(value, old.id);
end;
create trigger episodes_reworded after update on episodes begin
  insert into store_info values ('episodes_changed', 1) on conflict (name) do update set value = value + 1;
end;
-- A digest that is dropped quoted something that has to go; so did what was derived from it.
create trigger digests_removed after delete on digests begin
  delete from episodes where session = old.session;
end;
