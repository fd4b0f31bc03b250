-- Organisations take turns in claiming: one with many endpoints takes no turn of another one.
begin;
\ir ../../_helpers.sql
select plan(6);

insert into outbox.endpoint (org_id, url, created_at, updated_at, quantum)
select 'crowd', 'https://example.com/' || n, outbox.clock(), outbox.clock(), 10 from generate_series(1, 1000) n;
do $$ begin perform outbox.add_gate(e.id, 'none') from outbox.endpoint e where e.org_id = 'crowd'; end $$;
create temporary table ours as select n, endpoint('{}', p_org_id => 'small-' || n, p_quantum => 10) as id from generate_series(1, 2) n;
do $$ begin perform events(3, p_org_id => 'crowd', p_endpoint_id => e.id) from outbox.endpoint e where e.org_id = 'crowd'; end $$;
do $$ begin while outbox.has_unrouted() loop perform step(0); end loop; end $$;
do $$ begin perform time_passes('1 s'), events(3, p_org_id => 'small-' || n, p_endpoint_id => id) from ours; end $$;
do $$ begin perform step(0), time_passes('1 ms'); end $$;
select is((select count(*) from outbox.gate g where g.next_at <= outbox.clock()), 1002::bigint, 'all endpoints are due, those of the small organisations last');

create temporary table call as select step(20) as answer;
select is(array(select claimed(c.answer, o.id) from call c, ours o order by o.n), '{3,3}', 'the next call serves both small organisations');
select cmp_ok((select jsonb_array_length(answer -> 'deliveries') from call), '>=', 12, 'and the crowd with the rest of its batch');

-- The endpoints of the crowd take turns among themselves.
create temporary table served as
select d ->> 'endpoint' as endpoint from generate_series(1, 3) n, lateral (select step(20 + 0 * n) as answer) s, jsonb_array_elements(s.answer -> 'deliveries') d;
select cmp_ok((select count(distinct endpoint) from served), '>=', 12::bigint, 'one endpoint of the crowd after the other');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
