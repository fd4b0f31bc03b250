-- Dead letters of one org: page by page while others come, by what they are, and nobody else's.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(27);

create function types(p_page jsonb) returns text language sql as $$
  select string_agg(e ->> 'eventType', ' ' order by o) from jsonb_array_elements(p_page -> 'data') with ordinality d (e, o)
$$;
create temporary table mine as select endpoint(p_org_id => 'org-1') as a, endpoint('{e.2}', p_org_id => 'org-1') as b, endpoint(p_org_id => 'org-2') as other;
do $$ begin for i in 1..4 loop
  perform events(1, 'e.' || i, p_org_id => 'org-1'), events(1, 'other', p_org_id => 'org-2'), fail(404), time_passes('1 h');
end loop; end $$;

select is(types(outbox.list_dead_letters('org-1')), 'e.4 e.3 e.2 e.2 e.1', 'newest first, of the org alone');
select is(types(outbox.list_dead_letters('org-1', b)), 'e.2', 'by endpoint') from mine;
select is(outbox.list_dead_letters('org-1', other), '{"data": [], "nextCursor": null, "rows": 0}', 'another org''s endpoint has none') from mine;
select is(types(outbox.list_dead_letters('org-1', p_event_type => 'e.3')), 'e.3', 'by type');
select is(types(outbox.list_dead_letters('org-1', p_from => '2026-03-01 13:00+00', p_to => '2026-03-01 14:00+00')), 'e.2 e.2', 'by time, its end not included');
do $$ begin
  update outbox.dead_letter set error = repeat('x', 199) || 'y' || original_topic where original_topic in ('e.2', 'other');
end $$;
select is(types(outbox.list_dead_letters('org-1', p_error => repeat('x', 199) || 'y')), 'e.2 e.2', 'by error, of which a group has 200 characters');
select is(types(outbox.list_dead_letters('org-1', p_error => repeat('x', 199) || 'y and more')), 'e.2 e.2', 'and more do not count');
select is(types(outbox.list_dead_letters('org-1', p_error => repeat('x', 199))), null, 'but all of these do');
create temporary table page as select outbox.list_dead_letters('org-1', p_limit => 2) as a;
select is(types(a), 'e.4 e.3', 'a page') from page;
do $$ begin perform events(1, 'new', p_org_id => 'org-1'), fail(404); end $$;
update page set a = outbox.list_dead_letters('org-1', p_limit => 2, p_cursor => a ->> 'nextCursor') where true;
select is(types(a), 'e.2 e.2', 'what comes in moves nothing, and of one moment none is lost') from page;
update page set a = outbox.list_dead_letters('org-1', p_limit => 2, p_cursor => a ->> 'nextCursor') where true;
select is(types(a), 'e.1', 'to the last') from page;
select is(a -> 'nextCursor', 'null', 'which says so') from page;
select is(refusal($$select outbox.list_dead_letters('org-1', p_cursor => 'x!')$$), 'OH001 cursor is not a cursor of this list', 'a cursor that is none is refused');
select is(refusal($$select outbox.list_dead_letters('org-1', p_status => 'lost')$$) like 'OH001 status %', true, 'as is an unknown status');
select is(refusal($$select outbox.list_dead_letters('org-1', p_from => '2026-03-02', p_to => '2026-03-01')$$), 'OH001 from is not before to', 'and a span backwards');

create temporary table one as select (outbox.list_dead_letters('org-1', p_event_type => 'e.1') -> 'data' -> 0 ->> 'id')::uuid as id;
select is(outbox.get_dead_letter('org-1', id) - '{id,eventId,endpointId,correlationId,error}'::text[], '{"eventType": "e.1", "partitionKey": null, "idempotencyKey": null,
  "eventCreatedAt": "2026-03-01T12:00:00.000Z", "why": "not_retryable", "retryCount": 1, "attempt": 1, "failedAt": "2026-03-01T12:00:00.000Z", "status": "open",
  "replayedAt": null, "deliveredAt": null, "discardedAt": null, "note": null, "body": "{}"}', 'one, with all of it') from one;
select is(refusal(format('select outbox.get_dead_letter(%L, %L)', 'org-2', id)), format('OH002 dead letter %L does not exist', id), 'nobody else''s') from one;
select is(refusal(format('select outbox.replay_dead_letter(%L, %L)', 'org-2', id)), format('OH002 dead letter %L does not exist', id), 'to replay') from one;
select is(refusal(format('select outbox.discard_org_dead_letter(%L, %L, %L)', 'org-2', id, 'x')), format('OH002 dead letter %L does not exist', id), 'or to discard') from one;
select is((outbox.discard_org_dead_letter('org-1', id, 'wrong address')) @> '{"status": "discarded", "note": "wrong address"}', true, 'one is discarded') from one;
select is(refusal(format('select outbox.discard_org_dead_letter(%L, %L, %L)', 'org-1', id, ' ')), 'OH001 reason is empty', 'with a reason') from one;
select is(types(outbox.list_dead_letters('org-1', p_status => 'discarded')), 'e.1', 'and found by it');
update one set id = (outbox.list_dead_letters('org-1', p_event_type => 'e.3') -> 'data' -> 0 ->> 'id')::uuid where true;
select is(outbox.replay_dead_letter('org-1', id) -> 'status', '"replayed"', 'one is replayed') from one;
select is(types(outbox.list_dead_letters('org-1', p_status => 'replayed')), 'e.3', 'and found by it');
select send();
select is(types(outbox.list_dead_letters('org-1', p_status => 'delivered')), 'e.3', 'until it is delivered');

-- 20,000 letters of another org lie before the page, and the org's own index steps over them.
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why)
select gen_random_uuid(), gen_random_uuid(), m.other, 'org-2', 'other', '{}', 'x', 1, outbox.clock(), 'x', 1, outbox.clock(), 'dead' from mine m, generate_series(1, 20000);
create temporary table before as select pg_stat_get_xact_tuples_fetched('outbox.dead_letter'::regclass) as fetched, pg_stat_get_xact_numscans('outbox.dead_letter'::regclass) as scans;
select is(types(outbox.list_dead_letters('org-1')), 'new e.4 e.3 e.2 e.2 e.1', 'a page behind 20,000 of another org');
select cmp_ok(pg_stat_get_xact_tuples_fetched('outbox.dead_letter'::regclass) - fetched, '<=', 10::bigint, 'reads what it returns') from before;

select * from finish();
rollback;
