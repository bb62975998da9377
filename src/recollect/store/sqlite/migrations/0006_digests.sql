-- What sessions came to; a row goes with its session.

-- `digest` is all of it as msgpack, the other columns are what is listed and asked for. `derived` says that attempts were made of its tasks; a new
-- digest has none yet.
create table digests (
  session integer primary key references sessions (id) on delete cascade,
  title   text not null,
  outcome text not null check (outcome in ('success', 'partial', 'fail', 'uncertain', 'abandoned')),
  summary text not null,
  digest  blob not null,
  made_at integer not null,
  derived integer not null default 0
);
create index digests_by_outcome on digests (outcome);
create index digests_underived on digests (session) where not derived;

-- Sessions whose turns are newer than their digest, or that have none. The mark
-- is another one for every change, as in unembedded. Whoever writes a turn need
-- not know of digests; letting go of events does not make a digest outdated.
create table undigested (
  session integer primary key references sessions (id) on delete cascade,
  mark    integer not null
);
create trigger bodies_added_to_session after insert on bodies begin
  insert or replace into undigested select session, random() from turns where id = new.turn;
end;
create trigger bodies_changed_in_session after update of events on bodies begin
  insert or replace into undigested select session, random() from turns where id = new.turn;
end;
create trigger turns_undone after update of live on turns when new.live != old.live begin
  insert or replace into undigested values (new.session, random());
end;
create trigger sessions_titled after update of title on sessions when new.title is not old.title begin
  insert or replace into undigested values (new.id, random());
end;
