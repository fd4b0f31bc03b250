-- The list of events: newest first, by type and time, page by page while others publish, and nobody else's.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(31);

create function types(p_page jsonb) returns text language sql as $$
  select string_agg(e ->> 'type', ' ' order by o) from jsonb_array_elements(p_page -> 'data') with ordinality d (e, o)
$$;

do $$ begin for i in 1..5 loop
  perform events(1, 'e.' || i, p_org_id => 'org-1'), events(1, 'other', p_org_id => 'org-2'), time_passes('1 h');
end loop; end $$;
select is(types(outbox.list_events('org-1')), 'e.5 e.4 e.3 e.2 e.1', 'newest first, of the organisation alone');
select is(outbox.list_events('org-1') -> 'nextCursor', 'null', 'one page is the end');
create temporary table page as select outbox.list_events('org-1', p_limit => 2) as a;
select is(types(a), 'e.5 e.4', 'the first page') from page;
select events(3, 'new', p_org_id => 'org-1');
update page set a = outbox.list_events('org-1', p_limit => 2, p_cursor => a ->> 'nextCursor') where true;
select is(types(a), 'e.3 e.2', 'what comes in moves nothing') from page;
update page set a = outbox.list_events('org-1', p_limit => 2, p_cursor => a ->> 'nextCursor') where true;
select is(types(a), 'e.1', 'to the last') from page;
select is(a -> 'nextCursor', 'null', 'which says so') from page;
select is(types(outbox.list_events('org-1', 'e.2')), 'e.2', 'by type');
select is(types(outbox.list_events('org-1', p_from => '2026-03-01 13:00:00+00', p_to => '2026-03-01 15:00:00+00')), 'e.3 e.2', 'by time, its end not included');
select is(types(outbox.list_events('org-1', p_from => '0001-01-01 00:00:00+00', p_to => 'infinity')), types(outbox.list_events('org-1')), 'whatever the time');
select is(outbox.list_events('org-3'), '{"data": [], "nextCursor": null, "rows": 0}', 'nothing of nobody');
select is(refusal($$select outbox.list_events('org-1', p_from => '2026-03-02', p_to => '2026-03-01')$$), 'OH001 from is not before to', 'a span backwards is refused');
select is(refusal($$select outbox.list_events('org-1', p_cursor => 'x')$$), 'OH001 cursor is not a cursor of this list', 'as is a cursor that is none');
select is(refusal($$select outbox.list_events('org-1', p_cursor => outbox.key_to_cursor('a.b'))$$), 'OH001 cursor is not a cursor of this list', 'or another list''s');

select events(1, 'key.' || t, k, p_org_id => 'keys') from unnest(array['a', 'b', 'b', 'a'], array['k-1', 'k-2', null, 'k-1']) x (t, k);
select is(jsonb_path_query_array(outbox.list_events('keys', p_partition_key => 'k-1'), '$.data[*].partitionKey'), '["k-1", "k-1"]', 'by partition key, neither those of another one nor those without');
select is(types(outbox.list_events('keys', 'key.b', p_partition_key => 'k-2')), 'key.b', 'by both');
select is(types(outbox.list_events('keys', 'key.a', p_partition_key => 'k-2')), null, 'of which each must match');

create temporary table one as select endpoint('{order.*}', p_org_id => 'org-1') as endpoint, outbox.publish_raw('order.paid', '{"amount":  1.10}', 'org-1') as id;
select is(outbox.get_event('org-1', id) -> 'routing', '"waiting"', 'an event says that it waits') from one;
select send();
select is(outbox.get_event('org-1', id) - 'deliveries', jsonb_build_object('id', id, 'type', 'order.paid', 'body', '{"amount":  1.10}', 'routing', 'done', 'partitionKey', null, 'correlationId', null,
  'idempotencyKey', null, 'traceparent', null, 'endpointId', null, 'deliverAt', null, 'createdAt', '2026-03-01T17:00:00.000Z'), 'then all of it') from one;
select is((outbox.get_event('org-1', id) -> 'deliveries' -> 0) - '{id,eventId}'::text[], jsonb_build_object('endpointId', endpoint, 'eventType', 'order.paid', 'status', 'delivered', 'reason', null, 'attempt', 1, 'failedAttempts', 0,
  'nextAttemptAt', null, 'createdAt', '2026-03-01T17:00:00.000Z', 'finishedAt', '2026-03-01T17:00:00.000Z'), 'with its deliveries') from one;
select is(refusal(format('select outbox.get_event(%L, %L)', 'org-2', id)), 'OH002 event ' || id || ' does not exist', 'nobody else''s') from one;
select is(refusal($$select outbox.get_event('org-1', null)$$), 'OH002 event NULL does not exist', 'nor one that is none');

-- A small tenant's page, and its cursor, whatever others publish in between. Fresh statistics, of a few organisations,
-- make everybody's events look as near.
insert into outbox.event (id, org_id, type, body, created_at)
select outbox.uuid_v7(t), case when n in (1, 12000, 30000) then 'small' else 'big' end, 'n.' || n, '{}', t
from (select n, timestamptz '2026-03-01 18:00:00+00' + n * interval '10 ms' as t from generate_series(1, 30000) n) x;
select is(types(outbox.list_events('small')), 'n.30000 n.12000 n.1', 'a page behind 20,000 events of others is full');
select is(outbox.list_events('small') -> 'nextCursor', 'null', 'and its end is the end');
analyze outbox.event;
update page set a = outbox.list_events('small', p_limit => 1) where true;
select is(types(a), 'n.30000', 'a page of one') from page;
update page set a = outbox.list_events('small', p_limit => 1, p_cursor => a ->> 'nextCursor') where true;
select is(types(a), 'n.12000', 'the next is not empty') from page;
update page set a = outbox.list_events('small', p_limit => 1, p_cursor => a ->> 'nextCursor') where true;
select is(types(a), 'n.1', 'nor the last') from page;
select is(a -> 'nextCursor', 'null', 'which says so') from page;
select is(types(outbox.list_events('small', p_cursor => outbox.key_to_cursor(id::text))), 'n.12000 n.1', 'a cursor at an event of somebody else goes on below it') from outbox.event where type = 'n.20000';
select is(outbox.list_events('small', 'n.2'), '{"data": [], "nextCursor": null, "rows": 3}', 'a type that only others have is looked for among its own');
create temporary table rare as select outbox.list_events('big', 'n.2') as a;
select is(jsonb_array_length(a -> 'data') || ' ' || jsonb_typeof(a -> 'nextCursor'), '0 string', 'a rare type among more than 20,000 of its own is not found at once') from rare;
select is(types(outbox.list_events('big', 'n.2', p_cursor => a ->> 'nextCursor')), 'n.2', 'but on the next page') from rare;

select * from finish();
rollback;
