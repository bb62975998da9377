-- What turns mean, as vectors, so that a turn is found without any of its
-- words. All of it is made from the bodies by one encoder, whose name, number
-- of dimensions and state are in store_info ("vectors"), and can be made again.

-- A turn's vectors, one for each piece of it, one after the other: eight bits
-- a dimension, scaled by the largest, which cosine does not mind. `words` are
-- the words of the same texts as 16-bit row numbers of the static model's table,
-- each once, low byte first: with them single words can be compared. `version`
-- counts the writes, so that a process that stays can ask for what is new.
create table vectors (
  turn    integer primary key references turns (id) on delete cascade,
  version integer not null,
  codes   blob not null,
  words   blob not null
);
create index vectors_by_version on vectors (version);

-- The same vectors with one bit a dimension, those of 512 turns in a row:
-- 45,000 codes are read and compared in milliseconds, and only the nearest are
-- looked up above. Block n holds the turns from 512 n on; `turns` says for each
-- code which of them, as 16-bit numbers, low byte first.
create table vector_blocks (
  number integer primary key,
  turns  blob not null,
  codes  blob not null
);

-- Turns whose body is newer than their vectors, or that have none. The mark is
-- another one for every change, so that an encoder that took its time can tell
-- whether what it read is still what is there.
create table unembedded (
  turn integer primary key,
  mark integer not null
);

-- Whoever writes a body need not know of vectors.
create trigger bodies_added after insert on bodies begin
  insert or replace into unembedded values (new.turn, random());
end;
create trigger bodies_changed after update of events on bodies begin
  insert or replace into unembedded values (new.turn, random());
end;
