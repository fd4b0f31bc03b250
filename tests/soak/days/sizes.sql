-- The bytes, rows, dead rows and partitions of each table of the schema, partitions summed up, and for how many
-- days its rows are stored.
with part as (
  select coalesce(i.inhparent, c.oid) as root, c.oid
  from pg_class c
  left join pg_inherits i on i.inhrelid = c.oid
  where c.relnamespace = 'outbox'::regnamespace and c.relkind = 'r'
), stored (name, days) as (
  values
    ('attempt', outbox.setting_int('attempt.retention_days')),
    ('audit_event', outbox.setting_int('audit.retention_days')),
    ('dead_letter', outbox.setting_int('dead_letter.retention_days')),
    ('event', outbox.setting_int('event.delivered_days')),
    ('idempotency_key', ceil(outbox.setting_int('idempotency.window_hours') / 24.0)::integer)
)
select r.relname as name, sum(pg_table_size(p.oid))::float8 as heap,
  sum(pg_indexes_size(p.oid))::float8 as indexes,
  coalesce(sum(s.n_dead_tup), 0)::float8 as dead,
  count(*) filter (where r.relkind = 'p')::integer as partitions,
  coalesce(sum(s.n_live_tup), 0)::float8 as rows,
  min(k.days) as stored_days
from part p
join pg_class r on r.oid = p.root
left join pg_stat_user_tables s on s.relid = p.oid
left join stored k on k.name = r.relname
group by r.relname
order by r.relname
