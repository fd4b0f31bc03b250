-- Shows transactions and slots that keep dead rows from being removed, the oldest first, and the
-- dead rows in the outbox's tables. Use it when the system slowly gets slower. Good: nothing older
-- than a minute, and fewer dead rows than live ones in gate, lane and unrouted. Ending a session
-- rolls its transaction back.

with held as (
  select
    'transaction' as what,
    pg_catalog.format('pid %s, %s, %s, %s', a.pid, a.usename, a.application_name, a.state) as who,
    a.xact_start as since,
    pg_catalog.age(coalesce(a.backend_xmin, a.backend_xid)) as transactions_behind,
    pg_catalog.left(a.query, 200) as detail,
    pg_catalog.format('select pg_terminate_backend(%s);', a.pid) as command
  from pg_catalog.pg_stat_activity a
  where coalesce(a.backend_xmin, a.backend_xid) is not null and a.pid <> pg_catalog.pg_backend_pid()
    and a.xact_start < now() - interval '3 s' and a.backend_type = 'client backend'
  union all
  select 'prepared transaction', p.gid, p.prepared, pg_catalog.age(p.transaction), p.owner::text,
    pg_catalog.format('rollback prepared %L;', p.gid)
  from pg_catalog.pg_prepared_xacts p
  union all
  select 'replication slot', s.slot_name::text, null,
    pg_catalog.age(coalesce(s.xmin, s.catalog_xmin)),
    case when s.active then 'in use' else 'nobody reads it' end,
    case
      when not s.active then pg_catalog.format('select pg_drop_replication_slot(%L);', s.slot_name)
    end
  from pg_catalog.pg_replication_slots s
  where s.xmin is not null or s.catalog_xmin is not null
),
grown as (
  select
    'table' as what,
    t.relname::text as who,
    greatest(t.last_autovacuum, t.last_vacuum) as since,
    null::integer as transactions_behind,
    pg_catalog.format('%s live rows, %s dead, %s', t.n_live_tup, t.n_dead_tup,
      pg_catalog.pg_size_pretty(pg_catalog.pg_total_relation_size(t.relid))) as detail,
    case
      when t.n_dead_tup > t.n_live_tup + 10000
      then pg_catalog.format('vacuum outbox.%I;', t.relname)
    end as command,
    t.n_dead_tup
  from pg_catalog.pg_stat_user_tables t
  where t.schemaname = 'outbox'
  order by t.n_dead_tup desc
  limit 8
)
(
  select h.what, h.who, h.since, greatest(now() - h.since, '0') as age, h.transactions_behind,
    h.detail, h.command
  from held h
  order by h.transactions_behind desc nulls last
  limit 20
)
union all
select g.what, g.who, g.since, greatest(now() - g.since, '0'), null, g.detail, g.command
from grown g;
