-- The bytes, dead rows and partitions of each table of the schema, partitions summed up.
with part as (
  select coalesce(i.inhparent, c.oid) as root, c.oid
  from pg_class c
  left join pg_inherits i on i.inhrelid = c.oid
  where c.relnamespace = 'outbox'::regnamespace and c.relkind = 'r'
)
select r.relname as name, sum(pg_table_size(p.oid))::float8 as heap,
  sum(pg_indexes_size(p.oid))::float8 as indexes,
  coalesce(sum(s.n_dead_tup), 0)::float8 as dead,
  count(*) filter (where r.relkind = 'p')::integer as partitions
from part p
join pg_class r on r.oid = p.root
left join pg_stat_user_tables s on s.relid = p.oid
group by r.relname
order by r.relname
