-- What was let go to keep the store small.

-- Turns whose events were let go to keep the store small: how many bytes that
-- gave back, and how many stayed. A turn that has more than that by now has grown
-- since. What it came to is in the digest; `distilled` says whether there was one.
create table evictions (
  turn      integer primary key references turns (id) on delete cascade,
  at        integer not null,
  bytes     integer not null,
  kept      integer not null,
  distilled integer not null
);
