-- The attempts of all endpoints of an organisation: no page leaves one out or shows one twice, also if many have the
-- same time or an endpoint has more than a page reads.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(24);

select time_is(now());
create function walk_pages(p_limit integer, p_outcome text default null, p_endpoint_id uuid default null, out ids text[], out pages integer, out most bigint)
language plpgsql as $$
declare
  v_page jsonb;
  v_cursor text;
begin
  ids := '{}';
  pages := 0;
  loop
    v_page := outbox.list_org_attempts('org-1', p_outcome, p_endpoint_id, p_cursor => v_cursor, p_limit => p_limit);
    ids := ids || array(select r ->> 'deliveryId' from jsonb_array_elements(v_page -> 'data') with ordinality x (r, o) order by o);
    pages := pages + 1;
    most := greatest(most, (v_page ->> 'rows')::bigint);
    v_cursor := v_page ->> 'nextCursor';
    exit when v_cursor is null or pages > 1000;
  end loop;
end
$$;
select is(outbox.list_org_attempts('org-1'), '{"data": [], "nextCursor": null, "rows": 0}', 'without an endpoint there is none');

create temporary table made as select n, endpoint('{a.*}', p_org_id => case n when 4 then 'org-2' else 'org-1' end) as id from generate_series(1, 4) n;
-- One with 30 attempts of the same time, one with 40 of their own times, of which every tenth failed, one without any; and one of another organisation.
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status, duration_ms)
select outbox.uuid_v7(outbox.clock() - interval '1 min' + k * interval '1 ms'), m.id, 1,
  case m.n when 1 then outbox.clock() - interval '20 s' else outbox.clock() - k * interval '1 s' end,
  'attempt', case when m.n = 2 and k % 10 = 0 then 'failed' else 'delivered' end, case when m.n = 2 and k % 10 = 0 then 503 else 200 end, k
from made m, generate_series(1, 40) k where m.n = 2 or m.n = 4 or m.n = 1 and k <= 30;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select gen_random_uuid(), id, 2, outbox.clock(), 'close', 'cancelled' from made where n = 1;

create temporary table expected as
select array_agg(a.event_id || '.' || a.endpoint_id order by a.at desc, a.event_id desc, a.endpoint_id desc) as ids,
  array_agg(a.event_id || '.' || a.endpoint_id order by a.at desc, a.event_id desc, a.endpoint_id desc) filter (where a.outcome = 'failed') as failed
from outbox.attempt a join made m on m.id = a.endpoint_id and m.n < 4 where a.kind = 'attempt';
select is(cardinality(ids), 70, 'there are 70') from expected;
select is((walk_pages(p)).ids, ids, 'pages of ' || p || ' have all of them in order') from expected, unnest(array[1, 7, 30, 100]) p;
select is((walk_pages(p, 'failed')).ids, failed, 'pages of ' || p || ' have the failed ones') from expected, unnest(array[1, 3, 100]) p;
select is(cardinality((walk_pages(100, 'delivered')).ids), 66, 'and the others');
select is(cardinality((walk_pages(100, null, id)).ids), 30, 'those of one endpoint') from made where n = 1;
select is(cardinality((walk_pages(100, null, id)).ids), 0, 'never of another organisation''s') from made where n = 4;
select is(jsonb_array_length(outbox.list_org_attempts('org-1', p_from => outbox.clock() - interval '5 s', p_to => outbox.clock() - interval '1 s') -> 'data'), 4, 'of a span of time, without its end');
select is(outbox.list_org_attempts('org-1', 'failed', p_limit => 1) -> 'data' -> 0,
  (select jsonb_build_object('deliveryId', a.event_id || '.' || a.endpoint_id, 'eventId', a.event_id, 'endpointId', a.endpoint_id, 'eventType', null, 'attempt', 1,
    'at', outbox.iso_time(a.at), 'outcome', 'failed', 'status', 503, 'errorClass', null, 'error', null, 'durationMs', 10, 'sinceEventMs', 49990)
   from outbox.attempt a where a.duration_ms = 10 and a.outcome = 'failed'), 'each with what is known of it');
do $$ begin perform events(1, 'a.b', p_org_id => 'org-1'), step(0, results(step(), 'delivered')); end $$;
select is(outbox.list_org_attempts('org-1') -> 'data' -> 0 ->> 'eventType', 'a.b', 'and the type of its event');

select is(refusal($$select outbox.list_org_attempts('org-1', 'cancelled')$$) like 'OH001 outcome is%', true, 'an outcome that is none is refused');
select is(refusal($$select outbox.list_org_attempts('org-1', p_cursor => 'abc')$$), 'OH001 cursor is not a cursor of this list', 'as is a cursor that is none');
select is(refusal($$select outbox.list_org_attempts('org-1', p_from => now(), p_to => now())$$), 'OH001 from is not before to', 'and an empty span');
select is(refusal($$select outbox.list_org_attempts('org-1', p_limit => 101)$$) like 'OH001 limit%', true, 'and a page that is too large');

-- An endpoint with 25,000 attempts, one of which failed, the oldest.
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select outbox.uuid_v7(outbox.clock()), m.id, 1, outbox.clock() - interval '1 h' - k * interval '1 ms', 'attempt', case k when 25000 then 'failed' else 'delivered' end
from made m, generate_series(1, 25000) k where m.n = 3;
analyze outbox.attempt;
create temporary table walked as select w.* from walk_pages(50, 'failed') w;
select is(cardinality(ids), 5, 'a rare one is found') from walked;
select cmp_ok(most, '<=', 10100::bigint, 'by pages that read 10,000 attempts at most') from walked;
-- Of three endpoints, each page reads at least a third of that.
select cmp_ok(pages, '<=', 9, 'so it takes few pages') from walked;
select is((select w.pages from walk_pages(50, null, id) w), 501, 'all of them take as many pages as they fill') from made where n = 3;
select is(cardinality((walk_pages(100)).ids), 25073, 'and none is left out');

select * from finish();
rollback;
