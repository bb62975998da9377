-- Whoever changes something sets a mark in the same transaction; which jobs
-- follow from it is written in `recollect/jobs.py` and nowhere in the store. A
-- mark that is set stays as it is until these jobs are asked for. One with a
-- time to come says that something will be worth doing then.
create table marks (
  name       text primary key,
  not_before integer not null,
  set_at     integer not null
) without rowid;
