-- Which of the newest events of an organisation have no idempotency key, so that two databases cannot be compared by it.
begin;
\ir ../../_helpers.sql
set local search_path = helper, extensions;
select plan(8);

select is(outbox.keyless_events('org-1', 200), 0, 'none without events');
select outbox.publish('a', '{}', 'org-1', p_idempotency_key => 'first');
select is(outbox.keyless_events('org-1', 200), 0, 'none with a key');
select time_passes('1 ms');
select outbox.publish('a', '{}', 'org-1');
select is(outbox.keyless_events('org-1', 200), 1, 'one without a key');
select is(outbox.keyless_events('org-2', 200), 0, 'not that of another organisation');
select is(outbox.keyless_events('org-0', 200), 0, 'nor for one before it');
select time_passes('1 ms');
select outbox.send_test_event(endpoint('{a}', p_org_id => 'org-1'));
insert into outbox.event (id, org_id, type, body, created_at, endpoint_id)
values (outbox.uuid_v7(outbox.clock()), 'org-1', 'outhook.endpoint.disabled', '{}', outbox.clock(), null),
  (outbox.uuid_v7(outbox.clock()), 'org-1', 'a', '{}', outbox.clock(), gen_random_uuid());
select is(outbox.keyless_events('org-1', 200), 1, 'neither one of Outhook itself nor those for one endpoint');
select is(outbox.keyless_events('org-1', 4), 1, 'the oldest one that is asked for');
select is(outbox.keyless_events('org-1', 3), 0, 'older ones are not counted');

select * from finish();
rollback;
