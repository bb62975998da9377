-- The hub on PostgreSQL: what a team shares, and who may see it. Run as the role recollect_owner,
-- which nobody can log in as.
--
-- Every table has FORCE ROW LEVEL SECURITY, and every policy asks once a statement which team and
-- which member the session is: by its login, for the team it named when it connected, as long as
-- nobody revoked it. Without a team that is null, and no row equals null. The owner has policies
-- of its own, for the functions below alone. Every primary key begins with team_id, so tables
-- may be partitioned by it, or distributed.

create table recollect.teams (
  team_id uuid primary key,
  name    text not null,
  made_at timestamptz not null default now()
);

-- One login for each person. Who was revoked keeps the row, so that their notes keep their name.
create table recollect.members (
  team_id    uuid not null references recollect.teams,
  name       text not null check (name ~ '^[[:alnum:]][[:alnum:]._ -]{0,39}$'),
  role       text not null check (role in ('reader', 'member', 'admin')),
  login      name not null,
  joined_at  timestamptz not null default now(),
  revoked_at timestamptz,
  primary key (team_id, name)
);
create index members_by_login on recollect.members (login);

-- `seen` is how far a device has taken in what changed, `token` what it and the hub last agreed
-- on: where they remember different ones, one of them was restored from an old copy.
create table recollect.devices (
  team_id uuid not null,
  device  uuid not null,
  member  text not null,
  name    text not null,
  seen    bigint not null default 0,
  token   text not null default '',
  made_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  primary key (team_id, device),
  foreign key (team_id, member) references recollect.members
);

-- One thing that somebody shares, or that it is gone. `seq` is given in the order of commits.
create table recollect.items (
  team_id uuid not null,
  author  text not null,
  id      text not null check (id ~ '^[0-9a-f]{32}$'),
  kind    text not null check (kind in ('note', 'digest', 'session', 'episode')),
  project text not null,
  device  uuid not null,
  seq     bigint not null,
  at      timestamptz,
  gone    text check (gone in ('withdrawn', 'forgotten')),
  body    jsonb not null check (pg_column_size(body) < 4000000),
  words   tsvector not null default '',
  primary key (team_id, author, id)
);
create index items_by_seq on recollect.items (team_id, seq);
create index items_by_words on recollect.items using gin (words);
create sequence recollect.item_seq;

-- The turns of sessions that are shared: found here, and never pulled. Each team has a partition,
-- with indexes of its own.
create table recollect.turns (
  team_id uuid not null,
  author  text not null,
  session text not null,
  ordinal int not null,
  at      timestamptz,
  project text not null,
  text    text not null,
  words   tsvector not null,
  primary key (team_id, author, session, ordinal)
) partition by list (team_id);
create index turns_by_words on recollect.turns using gin (words);

create type recollect.candidate as (ref text, ordinal int, kind text, author text);

-- Who is asking. By the login of the session, which SET ROLE does not change.
create function recollect.caller() returns recollect.members
  language sql stable security definer set search_path = ''
  return (select members from recollect.members members
           where members.login = session_user and members.revoked_at is null
             and members.team_id::text = current_setting('recollect.team', true));
create function recollect.team() returns uuid
  language sql stable security definer set search_path = '' return (recollect.caller()).team_id;
create function recollect.member() returns text
  language sql stable security definer set search_path = '' return (recollect.caller()).name;
create function recollect.writer() returns text
  language sql stable security definer set search_path = ''
  return (select me.name from recollect.caller() me where me.role in ('member', 'admin'));
create function recollect.device() returns uuid
  language sql stable security definer set search_path = ''
  return (select devices.device from recollect.devices, recollect.caller() me
           where devices.team_id = me.team_id and devices.member = me.name
             and devices.device::text = current_setting('recollect.device', true));

-- The server says whose a row is and where it stands, whatever was sent.
create function recollect.stamp() returns trigger
  language plpgsql security definer set search_path = '' as $$
declare
  me recollect.members := recollect.caller();
begin
  new.team_id := me.team_id;
  new.author := me.name;
  new.device := recollect.device();
  -- Held until the commit: what has a smaller number is there before what has a larger one.
  perform 1 from recollect.teams where teams.team_id = me.team_id for update;
  new.seq := nextval('recollect.item_seq');
  if new.gone is not null then
    new.body := '{}';
    new.words := '';
    delete from recollect.turns where turns.team_id = new.team_id
       and turns.author = new.author and turns.session = new.id;
  end if;
  return new;
end $$;
create trigger stamp before insert or update on recollect.items
  for each row execute function recollect.stamp();

alter table recollect.teams enable row level security;
alter table recollect.teams force row level security;
alter table recollect.members enable row level security;
alter table recollect.members force row level security;
alter table recollect.devices enable row level security;
alter table recollect.devices force row level security;
alter table recollect.items enable row level security;
alter table recollect.items force row level security;
alter table recollect.turns enable row level security;
alter table recollect.turns force row level security;

create policy owner on recollect.teams to recollect_owner using (true) with check (true);
create policy owner on recollect.members to recollect_owner using (true) with check (true);
create policy owner on recollect.devices to recollect_owner using (true) with check (true);
create policy owner on recollect.items to recollect_owner using (true) with check (true);
create policy owner on recollect.turns to recollect_owner using (true) with check (true);

create policy own_team on recollect.teams for select to recollect_member
  using (team_id = (select recollect.team()));
create policy own_team on recollect.members for select to recollect_member
  using (team_id = (select recollect.team()));
create policy own_team on recollect.devices for select to recollect_member
  using (team_id = (select recollect.team()));
create policy own_team on recollect.items for select to recollect_member
  using (team_id = (select recollect.team()));
create policy own_team on recollect.turns for select to recollect_member
  using (team_id = (select recollect.team()));
create policy add_own on recollect.items for insert to recollect_member
  with check (team_id = (select recollect.team()) and author = (select recollect.writer()));
create policy change_own on recollect.items for update to recollect_member
  using (team_id = (select recollect.team()) and author = (select recollect.writer())
         and gone is distinct from 'forgotten')
  with check (team_id = (select recollect.team()) and author = (select recollect.writer()));
create policy add_own on recollect.turns for insert to recollect_member
  with check (team_id = (select recollect.team()) and author = (select recollect.writer()));
create policy change_own on recollect.turns for update to recollect_member
  using (team_id = (select recollect.team()) and author = (select recollect.writer()))
  with check (team_id = (select recollect.team()) and author = (select recollect.writer()));
create policy remove_own on recollect.turns for delete to recollect_member
  using (team_id = (select recollect.team()) and author = (select recollect.writer()));

-- What members may do besides: each function asks first who is asking.

create function recollect.register(device uuid, name text) returns void
  language plpgsql security definer set search_path = '' as $$
declare
  me recollect.members := recollect.caller();
begin
  if me.team_id is null then
    raise insufficient_privilege using message = 'not a member';
  end if;
  insert into recollect.devices (team_id, device, member, name)
    values (me.team_id, register.device, me.name, left(register.name, 60));
end $$;

create function recollect.agree(watermark bigint, token text) returns void
  language sql security definer set search_path = '' as $$
  update recollect.devices set seen = greatest(seen, agree.watermark), token = left(agree.token, 60),
         seen_at = now()
   where devices.team_id = recollect.team() and devices.device = recollect.device()
$$;

-- The password comes as the server keeps passwords, so it is in no log.
create function recollect.invite(name text, role text, login text, password text) returns void
  language plpgsql security definer set search_path = '' as $$
declare
  me recollect.members := recollect.caller();
begin
  if me.role is distinct from 'admin' then
    raise insufficient_privilege using message = 'only an admin invites';
  end if;
  perform recollect.let_in(me.team_id, invite.name, invite.role, invite.login, invite.password);
end $$;

create function recollect.let_in(team uuid, name text, role text, login text, password text)
  returns void language plpgsql security definer set search_path = '' as $$
begin
  if login !~ '^rc_[a-z0-9_]{1,50}$' or password not like 'SCRAM-SHA-256$%' then
    raise invalid_parameter_value using message = 'not a login of ours';
  end if;
  insert into recollect.members (team_id, name, role, login) values (team, name, role, login);
  execute format('create role %I login password %L', login, password);
  execute format('grant recollect_member to %I', login);
  execute format('alter role %I set idle_in_transaction_session_timeout = ''30s''', login);
  execute format('alter role %I set statement_timeout = ''120s''', login);
end $$;

create function recollect.revoke(name text) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  me recollect.members := recollect.caller();
  theirs text;
begin
  if me.role is distinct from 'admin' then
    raise insufficient_privilege using message = 'only an admin revokes';
  end if;
  update recollect.members set revoked_at = now()
   where members.team_id = me.team_id and members.name = revoke.name
     and members.revoked_at is null returning members.login into theirs;
  if theirs is null then
    return false;
  end if;
  execute format('alter role %I nologin', theirs);
  return true;
end $$;

-- Words first all of them, and any of them only where that finds too little; then what is near in
-- meaning. Row security would keep the indexes from being used, so this looks as the owner,
-- in one team. What is high in both lists is best.
create function recollect.find(words text[], meaning text, projects text, authors text, kinds text,
                               most int)
  returns table (ref text, ordinal int, kind text, author text, project text, at timestamptz,
                 text text, score double precision)
  language plpgsql stable security definer set search_path = '' as $$
declare
  here uuid := recollect.team();
  every tsquery;
  found recollect.candidate[];
begin
  if here is null then
    return;
  end if;
  every := plainto_tsquery('simple', array_to_string(words, ' '));
  found := array(select one from recollect.worded(
                   here, every, projects, authors, kinds, most) one);
  if cardinality(found) < most then
    found := found || array(
      select one
        from recollect.worded(here, replace(every::text, ' & ', ' | ')::tsquery, projects, authors,
                              kinds, most) one
       where not exists (select 1 from unnest(found) other where other.author = one.author
                and other.ref = one.ref and other.ordinal is not distinct from one.ordinal));
  end if;
  return query
    with listed as (
      select one.ref, one.ordinal, one.kind, one.author, 1.0 / (20 + one.place) as worth
        from unnest(found) with ordinality as one(ref, ordinal, kind, author, place)
      union all
      select near.*, 1.0 / (20 + row_number() over ()) from recollect.nearest(
               here, meaning, projects, authors, kinds, most) near
    ), best as (
      select listed.ref, listed.ordinal, listed.kind, listed.author, sum(listed.worth) as worth
        from listed group by 1, 2, 3, 4 order by 5 desc, 1, 2 limit most
    )
    select best.ref, best.ordinal, best.kind, best.author,
           coalesce(items.project, turns.project), coalesce(items.at, turns.at),
           coalesce(turns.text, items.body->>'text', nullif(items.body->>'summary', ''),
                    items.body->>'title', items.body->>'task', ''),
           best.worth::double precision
      from best
      left join recollect.turns on best.ordinal is not null and turns.team_id = here
       and turns.author = best.author and turns.session = best.ref
       and turns.ordinal = best.ordinal
      left join recollect.items on best.ordinal is null and items.team_id = here
       and items.author = best.author and items.id = best.ref
     order by best.worth desc, best.ref, best.ordinal;
end $$;

-- Only so many candidates are ranked: whoever has more of them asked for something else.
create function recollect.worded(here uuid, wanted tsquery, projects text, authors text, kinds text,
                                 most int)
  returns setof recollect.candidate
  language sql stable set search_path = '' as $$
  select ref, ordinal, kind, author from (
    select id as ref, null::int as ordinal, kind, author,
           ts_rank(words, wanted, 1) + case kind when 'note' then 0.2 else 0 end as rank
      from (select * from recollect.items
             where team_id = here and items.words @@ wanted and gone is null
               and (projects is null or project = projects)
               and (authors is null or author = authors) and (kinds is null or kind = kinds)
             limit 1000) part
    union all
    select session, ordinal, 'turn', author, ts_rank(words, wanted, 1)
      from (select * from recollect.turns
             where team_id = here and turns.words @@ wanted
               and (projects is null or project = projects)
               and (authors is null or author = authors) and (kinds is null or kinds = 'session')
             limit 1000) part) as found
   order by rank desc, ref, ordinal limit most
$$;

-- Replaced where the server knows vectors (meaning.sql).
create function recollect.nearest(here uuid, wanted text, projects text, authors text, kinds text,
                                  most int)
  returns setof recollect.candidate
  language sql stable set search_path = '' as $$
  select null::text, null::int, null::text, null::text where false
$$;

revoke all on all functions in schema recollect from public;
revoke all on schema recollect from public;
grant usage on schema recollect to recollect_member;
grant select on recollect.teams, recollect.members, recollect.devices to recollect_member;
grant select, insert, update on recollect.items to recollect_member;
grant select, insert, update, delete on recollect.turns to recollect_member;
grant execute on function recollect.caller(), recollect.team(), recollect.member(), recollect.writer(),
  recollect.device(), recollect.register(uuid, text), recollect.agree(bigint, text),
  recollect.invite(text, text, text, text), recollect.revoke(text),
  recollect.find(text[], text, text, text, text, int) to recollect_member;

-- What this schema is, and the oldest way of speaking that it still understands.
create function recollect.schema_version() returns int language sql immutable return 1;
create function recollect.oldest_protocol() returns int language sql immutable return 1;
grant execute on function recollect.schema_version(), recollect.oldest_protocol() to public;
grant usage on schema recollect to public;
