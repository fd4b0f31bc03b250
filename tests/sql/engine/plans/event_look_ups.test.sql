-- Modules: api
-- Events are looked up by id through their primary key, also where statistics call the table empty: the index of an
-- organisation's events has ids as well, and would be walked from end to end for each.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(7);

do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
do $$ declare v regclass; begin
  for v in select relid from pg_partition_tree('outbox.event') loop execute format('analyze %s', v); end loop;
end $$;
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.attempt, outbox.unrouted, outbox.dead_letter;

create function org_scans() returns bigint language sql as $$
  select sum(pg_stat_get_xact_numscans(i.relid))::bigint from pg_partition_tree('outbox.event_org') i where i.isleaf
$$;

create temporary table made as select endpoint(p_retry => plain_retry(0), p_org_id => 'org-1') as id;
create temporary table event as select unnest(events(20, p_org_id => 'org-1')) as id;
select is(send(p_limit => 10), 10, 'ten are sent');
select is(fail(500), 10, 'ten fail');
select is((select count(*) from outbox.delivery_status s join event e on e.id = s.event_id), 20::bigint, 'all are seen');
select is((select count(*) from event e, made m, lateral outbox.get_delivery('org-1', e.id, m.id) d where d ->> 'eventType' = 'test.event'), 20::bigint, 'one by one too');
select is((select count(*) from event e, made m, lateral outbox.find_event(e.id, m.id) v), 20::bigint, 'and the events alone');
select is(org_scans(), 0::bigint, 'none of it asks the index of the organisation');
do $$ begin perform outbox.list_events('org-1'); end $$;
select cmp_ok(org_scans(), '>', 0::bigint, 'which its lists ask');

select * from finish();
rollback;
