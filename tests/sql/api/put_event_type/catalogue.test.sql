-- The catalogue of event types: added, replaced, listed by name, taken out; another organisation sees nothing of it.
begin;
\ir ../../_helpers.sql
select plan(23);

select is(outbox.put_event_type('org-1', 'order.paid', 'Paid', '{"type":  "object"}', true),
  '{"type": "order.paid", "description": "Paid", "schema": {"type": "object"}, "createdAt": "2026-03-01T12:00:00.000Z", "updatedAt": "2026-03-01T12:00:00.000Z"}', 'made');
select time_passes('1 h');
select is(outbox.put_event_type('org-1', 'order.paid', 'Paid', '{"type": "object"}', true) ->> 'updatedAt', '2026-03-01T12:00:00.000Z', 'made again the same: nothing changes');
select is(refusal($$select outbox.put_event_type('org-1', 'order.paid', 'Other', null, true)$$), 'OH004 event type order.paid already exists', 'made again otherwise: refused');
select is(outbox.put_event_type('org-1', 'order.paid', 'Other') - 'createdAt', '{"type": "order.paid", "description": "Other", "schema": null, "updatedAt": "2026-03-01T13:00:00.000Z"}', 'replaced');
select is(outbox.get_event_type('org-1', 'order.paid') ->> 'description', 'Other', 'read');
select is(refusal($$select outbox.get_event_type('org-2', 'order.paid')$$), $$OH002 event type 'order.paid' does not exist$$, 'another organisation has its own');
select is(refusal($$select outbox.delete_event_type('org-2', 'order.paid')$$), $$OH002 event type 'order.paid' does not exist$$, 'and deletes its own');
select is(refusal($$select outbox.put_event_type('org-1', 'order.*')$$), $$OH001 type is 'order.*'$$, 'a pattern is no type');
select outbox.put_event_type('org-1', t) from unnest('{b,a,c.d}'::text[]) t;
create temporary table page as select outbox.list_event_types('org-1', p_limit => 2) as a;
select is((select array(select t ->> 'type' from jsonb_array_elements(a -> 'data') t) from page), '{a,b}', 'listed by name');
select outbox.put_event_type('org-1', 'aa');
update page set a = outbox.list_event_types('org-1', a ->> 'nextCursor', 2) where true;
select is((select array(select t ->> 'type' from jsonb_array_elements(a -> 'data') t) from page), '{c.d,order.paid}', 'page by page, whatever comes in before');
select is((select a -> 'nextCursor' from page), 'null', 'to the end');
select is(outbox.list_event_types('org-2'), '{"data": [], "nextCursor": null}', 'another organisation''s list is empty');
select is(refusal($$select outbox.list_event_types('org-1', 'AAAA')$$), 'OH001 cursor is not a cursor of this list', 'a cursor of one''s own making is refused');
select is(refusal($$select outbox.list_event_types('org-1', null, 101)$$), 'OH001 limit is 101', 'as is a page of 101');
select is(outbox.delete_event_type('org-1', 'aa') ->> 'type', 'aa', 'deleted');
insert into outbox.event_type (org_id, type, created_at, updated_at) select 'org-3', 't' || i, now(), now() from generate_series(1, 1000) i;
select is(refusal($$select outbox.put_event_type('org-3', 'one.more')$$), 'OH010 organisation org-3 may have at most 1000 event types (limit.event_types)', 'a catalogue has its bound');

-- A key of its own, as every request that makes something has.
create temporary table keyed as select outbox.put_event_type('org-4', 'keyed', p_create => true, p_key => 'key-1') as a;
select outbox.put_event_type('org-4', 'keyed', 'Changed since');
select is(outbox.put_event_type('org-4', 'keyed', p_create => true, p_key => 'key-1'), a, 'the same key again: what was answered the first time') from keyed;
select is(refusal($$select outbox.put_event_type('org-4', 'other', p_create => true, p_key => 'key-1')$$), 'OH003 Idempotency-Key was used within 24 hours for another request', 'the same key for another type');
select is((select description from outbox.event_type where org_id = 'org-4'), 'Changed since', 'and nothing is changed');

-- Each function that checks payloads reads the whole catalogue of the organisation.
create function pg_temp.schema_of(p_characters integer) returns json language sql as $$
  select format('{"a":"%s"}', repeat('x', p_characters - 8))::json
$$;
select is(refusal($$select outbox.put_event_type('org-5', 'large', 'Large', pg_temp.schema_of(65537))$$), 'OH001 schema has 65537 characters, more than 65536', 'a schema has its bound');
select outbox.put_event_type('org-5', 't' || i, '', pg_temp.schema_of(65536)) from generate_series(1, 32) i;
select is(refusal($$select outbox.put_event_type('org-5', 'more', '', '{}')$$), 'OH001 schema would make the schemas of the organisation larger than 2097152 characters', 'and so have all together');
select is(outbox.put_event_type('org-5', 't1', 'Changed', pg_temp.schema_of(65536)) ->> 'description', 'Changed', 'a schema that takes the place of its former one counts once');
select is(outbox.put_event_type('org-5', 'more') ->> 'type', 'more', 'a type without a schema is still taken');

select * from finish();
rollback;
