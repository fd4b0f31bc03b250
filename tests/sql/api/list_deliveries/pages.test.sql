-- The list of deliveries by status, endpoint, type and time, and the attempts of one.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(54);

create function shown(p_page jsonb) returns text language sql as $$
  select string_agg(d ->> 'eventType' || ' ' || (d ->> 'status'), ', ' order by o) from jsonb_array_elements(p_page -> 'data') with ordinality x (d, o)
$$;
create function all_pages(p_limit integer, p_status text default null) returns text[] language plpgsql as $$
declare
  v_ids text[] := '{}';
  v_page jsonb;
  v_cursor text;
begin
  loop
    v_page := outbox.list_deliveries('org-1', p_status, p_cursor => v_cursor, p_limit => p_limit);
    v_ids := v_ids || array(select d ->> 'id' from jsonb_array_elements(v_page -> 'data') with ordinality x (d, o) order by o);
    v_cursor := v_page ->> 'nextCursor';
    exit when v_cursor is null;
  end loop;
  return v_ids;
end
$$;

create temporary table made as select endpoint('{a.*}', p_org_id => 'org-1', p_retry => plain_retry(1)) as one, endpoint('{a.2,a.3}', p_org_id => 'org-1') as two, endpoint(p_org_id => 'org-2') as other;
select events(1, 'a.1', p_org_id => 'org-1'), send(), time_passes('1 h');
select events(1, 'none', p_org_id => 'org-1'), events(1, 'a.1', p_org_id => 'org-2'), step(0), send(), time_passes('1 h');
select events(1, 'a.2', p_org_id => 'org-1'), step(0), fail(500), time_passes('1 h');
select step(0, results_of(a, one, 'failed', '{"status": 503, "error": "busy"}')) from made, lateral (select step() as a offset 0) s;
select events(1, 'a.3', p_org_id => 'org-1'), step(0);

select is(shown(outbox.list_deliveries('org-1')), 'a.3 pending, a.3 pending, a.2 ' || case when two > one then 'processing, a.2 dead_letter' else 'dead_letter, a.2 processing' end || ', a.1 delivered', 'all, newest event first') from made;
select is(shown(outbox.list_deliveries('org-1', 'delivered')), 'a.1 delivered', 'what was delivered');
select is(shown(outbox.list_deliveries('org-1', 'dead_letter')), 'a.2 dead_letter', 'dead letters');
select is(shown(outbox.list_deliveries('org-1', 'processing')), 'a.2 processing', 'what is being sent');
select is(shown(outbox.list_deliveries('org-1', 'pending', two)), 'a.3 pending', 'of one endpoint') from made;
select is(outbox.list_deliveries('org-1', p_endpoint_id => other) - 'rows', '{"data": [], "nextCursor": null}', 'never of another organisation''s') from made;
select is(shown(outbox.list_deliveries('org-1', p_event_type => 'a.1')), 'a.1 delivered', 'of one type');
select is(shown(outbox.list_deliveries('org-1', p_from => '2026-03-01 13:30:00+00', p_to => '2026-03-01 14:30:00+00', p_status => 'dead_letter')), 'a.2 dead_letter', 'of a time');
select is(outbox.list_deliveries('org-1', p_to => '2026-03-01 12:00:00+00'), '{"data": [], "nextCursor": null, "rows": 0}', 'none before the first');
select is(cardinality(all_pages(50)), 5, 'there are five');
select is(all_pages(1), all_pages(50), 'one by one they are the same');
select is(all_pages(3), all_pages(50), 'or by three');
select is(all_pages(1, 'pending'), all_pages(50, 'pending'), 'open ones too');
select is(shown(outbox.list_deliveries('org-2')), 'a.1 delivered', 'the other organisation has its own');
select is(shown(outbox.list_deliveries('org-1', 'open')), 'a.3 pending, a.3 pending, a.2 processing', 'what is open');
select is(all_pages(1, 'open'), all_pages(50, 'open'), 'page by page');
select is(shown(outbox.list_deliveries('org-1', 'open', p_due_from => '2026-03-01 15:00:00+00', p_due_to => '2026-03-01 15:00:01+00')), 'a.3 pending, a.3 pending', 'by the time of the next attempt');
select is(outbox.list_deliveries('org-1', 'open', p_due_to => '2026-03-01 12:00:00+00') -> 'data', '[]', 'none is due earlier');
select is(refusal($$select outbox.list_deliveries('org-1', p_due_from => now(), p_due_to => now())$$), 'OH001 dueFrom is not before dueTo', 'an empty span is refused');
select outbox.pause_endpoint(one, 'for a test') from made;
select is(shown(outbox.list_deliveries('org-1', 'open')), 'a.3 ' || case when two > one then 'pending, a.3 held' else 'held, a.3 pending' end || ', a.2 processing', 'held ones too') from made;
select is(shown(outbox.list_deliveries('org-1', 'held')), 'a.3 held', 'held ones');
select is(outbox.list_deliveries('org-1', 'held') -> 'data' -> 0 ->> 'reason', 'endpoint paused: for a test', 'and why');
select is(refusal($$select outbox.list_deliveries('org-1', 'failed')$$), $$OH001 status is 'failed'$$, 'a status that is none is refused');
select is(refusal($$select outbox.list_deliveries('org-1', p_cursor => 'abc')$$), 'OH001 cursor is not a cursor of this list', 'as is a cursor that is none');

create temporary table dead as select event_id, endpoint_id from outbox.dead_letter;
create temporary table attempts as select outbox.list_attempts('org-1', event_id, endpoint_id) as a from dead;
select is((select string_agg(r ->> 'attempt' || ' ' || (r ->> 'kind') || ' ' || (r ->> 'outcome'), ', ' order by o) from attempts, jsonb_array_elements(a -> 'data') with ordinality x (r, o)), '1 attempt failed, 2 attempt failed, 2 close dead_letter', 'its attempts in order');
select is((a -> 'data' -> 1) - 'errorClass', '{"attempt": 2, "kind": "attempt", "outcome": "failed", "at": "2026-03-01T15:00:00.000Z", "status": 503, "error": "busy", "durationMs": null, "response": null, "responseCut": false, "resent": false, "endpointVersion": null, "nextRetryAt": null}', 'each with all of it') from attempts;
select is((select string_agg(r ->> 'kind', ' ') from dead, lateral outbox.list_attempts('org-1', event_id, endpoint_id, outbox.key_to_cursor('1'), 1) a, jsonb_array_elements(a -> 'data') r), 'attempt', 'page by page');
select is(refusal(format('select outbox.list_attempts(%L, %L, %L)', 'org-2', event_id, endpoint_id)), format('OH002 delivery %s.%s does not exist', event_id, endpoint_id), 'nobody else''s') from dead;
select is(outbox.get_delivery('org-1', event_id, endpoint_id) ->> 'status', 'dead_letter', 'one delivery') from dead;
select is(refusal(format('select outbox.get_delivery(%L, %L, %L)', 'org-2', event_id, endpoint_id)), format('OH002 delivery %s.%s does not exist', event_id, endpoint_id), 'not another organisation''s') from dead;
select is(refusal(format('select outbox.get_delivery(%L, %L, %L)', 'org-1', '019ca945-0a00-7000-8000-000000000000', endpoint_id)), format('OH002 delivery 019ca945-0a00-7000-8000-000000000000.%s does not exist', endpoint_id), 'nor one that never was') from dead;
delete from outbox.event e using dead where e.id = event_id;
select is(outbox.get_delivery('org-1', event_id, endpoint_id) - '{id,eventId,endpointId}'::text[], '{"eventType": "a.2", "status": "dead_letter", "reason": "busy", "attempt": 2, "failedAttempts": 2, "nextAttemptAt": null, "createdAt": "2026-03-01T14:00:00.000Z", "finishedAt": "2026-03-01T15:00:00.000Z"}', 'a dead letter whose event is gone is still one') from dead;
select is(shown(outbox.list_deliveries('org-1', 'dead_letter')), 'a.2 dead_letter', 'and listed');

-- A small tenant's page, and its cursor, whatever others send in between.
create temporary table small as select endpoint(p_org_id => 'small') as id;
insert into outbox.event (id, org_id, type, body, created_at)
select outbox.uuid_v7(t), case when n in (1, 12000, 30000) then 'small' else 'big' end, 'n.' || n, '{}', t
from (select n, timestamptz '2026-03-01 18:00:00+00' + n * interval '10 ms' as t from generate_series(1, 30000) n) x;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status)
select e.id, s.id, 1, e.created_at, 'attempt', 'delivered', 200 from outbox.event e, small s where e.org_id = 'small';
select is(shown(outbox.list_deliveries('small')), 'n.30000 delivered, n.12000 delivered, n.1 delivered', 'a page behind 20,000 events of others is full');
select is(outbox.list_deliveries('small') -> 'nextCursor', 'null', 'and its end is the end');
analyze outbox.event;
select is(shown(outbox.list_deliveries('small', 'delivered')), 'n.30000 delivered, n.12000 delivered, n.1 delivered', 'by status too');
create temporary table page as select outbox.list_deliveries('small', p_limit => 1) as a;
select is(shown(a), 'n.30000 delivered', 'a page of one') from page;
update page set a = outbox.list_deliveries('small', p_limit => 1, p_cursor => a ->> 'nextCursor') where true;
select is(shown(a), 'n.12000 delivered', 'the next is not empty') from page;
update page set a = outbox.list_deliveries('small', p_limit => 1, p_cursor => a ->> 'nextCursor') where true;
select is(shown(a), 'n.1 delivered', 'nor the last') from page;
select is(a -> 'nextCursor', 'null', 'which says so') from page;
select is(shown(outbox.list_deliveries('small', p_cursor => outbox.key_to_cursor(id || '.00000000-0000-0000-0000-000000000000'))), 'n.12000 delivered, n.1 delivered', 'a cursor at an event of somebody else goes on below it') from outbox.event where type = 'n.20000';
select is(shown(outbox.list_deliveries('small', p_from => '2026-03-01 18:02:00+00', p_to => '2026-03-01 18:05:00+00')), 'n.12000 delivered', 'by time, its beginning included and its end not');

-- A rare type among many of its own: it is known of an event before its deliveries are looked at.
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status)
select e.id, s.id, 1, e.created_at, 'attempt', 'delivered', 200 from outbox.event e, endpoint('{}', p_org_id => 'big') s (id)
where e.org_id = 'big' order by e.id desc limit 5000;
select is(shown(outbox.list_deliveries('big', p_event_type => 'n.25500')), 'n.25500 delivered', 'one of a rare type behind 4,500 others is on the first page');
select is(jsonb_array_length(outbox.list_deliveries('big', 'dead_letter', p_event_type => 'n.25500') -> 'data'), 0, 'not with a status that it does not have');

-- A page that ends among the open deliveries of others: three of each event, so that it ends within one.
select time_passes('1 min'), events(1, 'n.0', p_org_id => 'small'), step(0);
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
select (lpad(to_hex(x'019caa10'::bigint + n), 8, '0') || '-0000-7abc-8def-0123456789ab')::uuid, gen_random_uuid(), 1000000, outbox.clock(), 2
from generate_series(1, 2000) n, generate_series(1, 3);
-- With fewer of its own it would have these read through its endpoints: see beside_a_backlog.
update outbox.gate g set depth = 3000 from outbox.endpoint e where e.id = g.endpoint_id and e.org_id = 'small';
create temporary table among as select a, string_to_array(outbox.cursor_to_key(a ->> 'nextCursor', '.'), '.')::uuid[] as place from outbox.list_deliveries('small', 'pending') a;
select is(a -> 'data', '[]', 'a page may end among open deliveries of others') from among;
select is((select count(*) from outbox.delivery d where d.event_id = place[1] or d.endpoint_id = place[2]), 0::bigint, 'its cursor has no id of them') from among;
select is(a -> 'rows', '5001', 'and the page cost 5,001 rows: the last event is read completely') from among;
select is(outbox.list_deliveries('small', 'pending', p_limit => 1, p_cursor => a ->> 'nextCursor') -> 'rows', '1020', 'the next one the rest, and 20 for what it found') from among;
select is(place, '{019cab5e-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000000}'::uuid[], 'only as much as tells two events apart') from among;
select is(shown(outbox.list_deliveries('small', 'pending', p_cursor => a ->> 'nextCursor')), 'n.0 pending', 'and the next page loses nothing') from among;

-- Nor does a page go on because one event has many deliveries of the organisation itself.
select time_passes('1 min'), events(1, 'n.wide', p_org_id => 'wide');
create temporary table wide as select endpoint(p_org_id => 'wide') as id from generate_series(1, 600);
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
select e.id, w.id, 1000000, outbox.clock(), 2 from wide w, outbox.event e where e.type = 'n.wide';
update outbox.gate g set depth = 5 from outbox.endpoint e where e.id = g.endpoint_id and e.org_id = 'wide';
create temporary table cut as select outbox.list_deliveries('wide', 'held', p_event_type => 'none', p_to => outbox.clock() + interval '1 s') as a;
select is(a -> 'rows', '5019', 'a page ends within an event of its own organisation') from cut;
select is((select count(*) from outbox.delivery d where d.event_id || '.' || d.endpoint_id = outbox.cursor_to_key(a ->> 'nextCursor', '.')), 1::bigint, 'at a delivery of it') from cut;
select is(outbox.place_between('019cab77-0000-7abc-8def-0123456789ab', '019cab77-0000-7abc-8def-0123456789aa'), '019cab77-0000-7abc-8def-0123456789ab', 'ids that differ in the last digit') ;
select is(outbox.place_between('02000000-0000-7000-8000-000000000001', '01ffffff-ffff-7fff-bfff-ffffffffffff'), '02000000-0000-0000-0000-000000000000', 'and in the first');

select * from finish();
rollback;
