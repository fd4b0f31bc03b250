-- What an organisation finds by a correlation id or an idempotency key: all of it, newest first, and nothing of others.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(17);

create temporary table ours as select endpoint(p_org_id => 'org-1', p_retry => plain_retry(0)) as id, endpoint(p_org_id => 'org-2') as other;
create temporary table made (name text, id uuid);
insert into made values ('first', outbox.publish('a.b', '{}', 'org-1', p_correlation_id => 'cart-7', p_idempotency_key => 'key-1'));
select time_passes('1 ms');
insert into made values
  ('second', outbox.publish('a.c', '{}', 'org-1', p_correlation_id => 'cart-7')),
  ('plain', outbox.publish('a.d', '{}', 'org-1')),
  ('theirs', outbox.publish('a.b', '{}', 'org-2', p_correlation_id => 'cart-7', p_idempotency_key => 'key-1'));
create function ids(p_found jsonb, p_list text, p_member text default 'id') returns text[] language sql as $$
  select array(select m.name from jsonb_array_elements(p_found -> p_list) with ordinality x (v, n) join made m on m.id::text = v ->> p_member order by n)
$$;
create function found(p_org text, p_correlation_id text default null, p_key text default null, p_limit integer default 50) returns jsonb language sql as $$
  select outbox.search_org(p_org, p_correlation_id, p_key, p_limit)
$$;

select fail(500);
select is(ids(found('org-1', 'cart-7'), 'events'), '{second,first}', 'the events of a correlation id, newest first');
select is(ids(found('org-1', 'cart-7'), 'deliveries', 'eventId'), '{second,first}', 'their deliveries');
select is(found('org-1', 'cart-7') -> 'deliveries' -> 0 ->> 'status', 'dead_letter', 'with their status');
select set_eq('select unnest(ids(found(''org-1'', ''cart-7''), ''deadLetters'', ''eventId''))', '{first,second}'::text[], 'and their dead letters');
select is(ids(found('org-2', 'cart-7'), 'events'), '{theirs}', 'each organisation finds its own');
select is(ids(found('org-1', null, 'key-1'), 'events'), '{first}', 'the event of an idempotency key');
select is(ids(found('org-1', null, 'key-1'), 'deadLetters', 'eventId'), '{first}', 'and its dead letter');
select is(ids(found('org-1', id::text), 'events'), '{plain}', 'an event without a correlation id is found by its own id') from made where name = 'plain';
select is(ids(found('org-1', id::text), 'events'), '{}', 'but not one that has a correlation id') from made where name = 'first';
select is(ids(found('org-1', id::text), 'events'), '{}', 'nor that of another organisation') from made where name = 'theirs';
select is(found('org-1', 'cart-8') - 'moreOf', '{"events": [], "deliveries": [], "deadLetters": [], "messages": [], "auditEvents": []}', 'nothing is found by another id');
select is(found('org-1', 'cart-7') -> 'moreOf', '[]', 'that is all');
select is(ids(found('org-1', 'cart-7', p_limit => 1), 'events'), '{second}', 'a limit takes the newest');
select is(found('org-1', 'cart-7', p_limit => 1) -> 'moreOf', '["events", "deadLetters"]', 'and says of which there are more');
select is(refusal($$select outbox.search_org('org-1')$$), 'OH001 correlation_id is missing, and so is idempotencyKey', 'one of the two is needed');
select is(refusal($$select outbox.search_org('org-1', 'a', 'b')$$), 'OH001 correlation_id and idempotencyKey are both given', 'and not both');

-- The dead letter is found after the day of its event is gone.
delete from outbox.event where true;
select set_eq('select unnest(ids(found(''org-1'', ''cart-7''), ''deadLetters'', ''eventId''))', '{first,second}'::text[], 'a dead letter outlives its event');

select * from finish();
rollback;
