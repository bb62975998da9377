-- Work that can wait, and what it follows from.

-- Whoever changes something sets a mark in the same transaction; which jobs
-- follow from it is written in `recollect/jobs.py` and nowhere in the store. A
-- mark that is set stays as it is until these jobs are asked for. One with a
-- time to come says that something will be worth doing then.
create table marks (
  name       text primary key,
  not_before integer not null,
  set_at     integer not null
) without rowid;

-- Work that can wait. A lease with its fencing token makes sure that a worker
-- that was presumed dead cannot finish what another one has taken over.
create table jobs (
  id          integer primary key,
  kind        text not null,
  subject     text not null,
  state       text not null default 'waiting' check (state in ('waiting', 'running', 'failed')),
  tries       integer not null default 0,
  not_before  integer not null default 0,
  lease_until integer,
  token       integer not null default 0,
  error       text,
  created_at  integer not null,
  unique (kind, subject)
);
create index jobs_due on jobs (state, not_before);

-- Who works on something that only one may work on. The token grows with each
-- owner: whoever held it before, and was presumed dead, cannot write any more.
create table leases (
  name       text primary key,
  owner      text not null,
  token      integer not null,
  held_until integer not null
) without rowid;
