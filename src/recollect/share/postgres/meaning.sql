-- What turns mean, where the server has pgvector, whose schema stands for {schema}: vectors of the
-- encoder that is built in. Each team's partition has an index of its own; a small graph, because
-- what it lets through is ranked together with what the words find.
alter table recollect.turns add column meaning {schema}.halfvec(256);
create index turns_by_meaning on recollect.turns
  using hnsw (meaning {schema}.halfvec_cosine_ops) with (m = 6, ef_construction = 16);

create or replace function recollect.nearest(here uuid, wanted text, projects text, authors text,
                                             kinds text, most int)
  returns setof recollect.candidate
  language sql stable set search_path = '' as $$
  select session, ordinal, 'turn', author from recollect.turns
   where wanted is not null and team_id = here and meaning is not null
     and (projects is null or project = projects)
     and (authors is null or author = authors) and (kinds is null or kinds = 'session')
   order by meaning operator({schema}.<=>) wanted::{schema}.halfvec limit most
$$;
