-- The preview of a backfill counts what the backfill sends.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(23);

create temporary table made as select endpoint('{order.*}', p_org_id => 'org-1') as first, endpoint(p_org_id => 'org-2') as foreign_one;
create temporary table old as select
  events(3, 'order.paid', p_org_id => 'org-1', p_payload => '{"total": 500}') as paid,
  events(2, 'order.sent', p_org_id => 'org-1', p_payload => '{"total": 5}') as sent,
  events(1, 'invoice.paid', p_org_id => 'org-1') as invoice;
select is(send(), 5, 'delivered to the endpoint of then');
select time_passes('1 h');
alter table made add late uuid;
update made set late = endpoint('{order.*}', p_org_id => 'org-1') where true;

create function seen(p_job jsonb default '{}') returns jsonb language sql as $$
  select outbox.preview_backfill('org-1', late, p_job) from made
$$;
select is(seen() - 'work' - 'readUntil', '{"total": 5, "alreadyDelivered": 0, "capped": false, "read": 6, "until": "2026-03-01T13:00:00.000Z"}', 'of its subscription');
select is((seen() ->> 'readUntil')::timestamptz, outbox.uuid_v7_time(invoice[1]), 'up to the newest event') from old;
select is(seen('{"eventTypes": ["order.paid"]}') ->> 'total', '3', 'of a type');
select is(seen('{"eventTypes": ["invoice.*"]}') ->> 'total', '0', 'not of a type that it does not get');
select is(seen('{"filter": "$.total > 100"}') ->> 'total', '3', 'with a filter');
select cmp_ok((seen('{"filter": "$.total > 100"}') ->> 'work')::bigint, '>', 0::bigint, 'whose cost is told');
select is(seen('{"until": "2026-03-01T11:00:00Z"}') - 'work', '{"total": 0, "alreadyDelivered": 0, "capped": false, "read": 0, "readUntil": null, "until": "2026-03-01T11:00:00.000Z"}', 'until a time');
select is(seen('{"from": "2026-03-01T12:30:00Z"}') ->> 'total', '0', 'from a time');
select matches(refusal('select seen(''{"from": "2026-03-01T12:30:00Z", "until": "2026-03-01T12:00:00Z"}'')'), '^OH001 from is after until', 'a span has an order');
select matches(refusal('select seen(''{"from": "1969-01-01T00:00:00Z"}'')'), '^OH001 from is no time of an event', 'from 1970 on');
select matches(refusal('select seen(''{"eventTypes": ["order."]}'')'), '^OH001 ', 'a type is a pattern');
select matches(refusal('select seen(''{"filter": "$.total >"}'')'), '^OH001 ', 'a filter is read');
select matches(refusal(format('select outbox.preview_backfill(%L, %L, %L)', 'org-1', foreign_one, '{}')), '^OH002 endpoint .* does not exist', 'an endpoint of another organisation is none') from made;
select is(outbox.preview_backfill('org-1', first, '{}') ->> 'total', '0', 'what an endpoint has had is not sent') from made;
select is((select count(*) from outbox.replay_job), 0::bigint, 'nothing is stored');
select is(outbox.preview_backfill('org-1', first, '{"includeDelivered": true}') @> '{"total": 5, "alreadyDelivered": 5}', true, 'unless it is asked for') from made;

-- The same selection as a job.
create temporary table job as select outbox.create_backfill('org-1', late, '{"filter": "$.total < 100"}' || jsonb_build_object('until', seen() -> 'until')) ->> 'id' as id from made;
create temporary table shown as select seen('{"filter": "$.total < 100"}') ->> 'total' as total;
select time_passes('2 s');
update outbox.replay_job set after_xid = '1', worked_at = worked_at - interval '1 s' where true;
create function work() returns void language plpgsql as $$
begin
  for v_n in 1 .. 3 loop
    while outbox.work_backfills(outbox.clock()) loop end loop;
    perform helper.time_passes('1 s');
    update outbox.replay_job set worked_at = worked_at - interval '1 s' where true;
  end loop;
end
$$;
select work();
select is((select j.replayed::text || j.status from outbox.replay_job j), total || 'done', 'the job sends as many') from shown;
select is(seen('{"filter": "$.total < 100"}') ->> 'total', '0', 'and then none is left');

-- With what was delivered: three are new, one was delivered, one was cancelled afterwards.
select is(send(), 2, 'the events are delivered');
select outbox.replay(sent[1], late) from made, old;
select time_passes('1 ms');
select outbox.cancel_delivery(sent[1], late) from made, old;
create temporary table again as select seen('{"includeDelivered": true}') as j;
select is(j @> '{"total": 4, "alreadyDelivered": 1}', true, 'what is cancelled is not counted') from again;
select outbox.create_backfill('org-1', late, '{"includeDelivered": true}' || jsonb_build_object('until', j -> 'until')) from made, again;
update outbox.replay_job j set after_xid = '1', worked_at = j.worked_at - interval '1 s' where j.include_delivered;
select work();
select is((select j.replayed::text || j.status from outbox.replay_job j where j.include_delivered), '4done', 'the job sends as many');
select is(seen('{"includeDelivered": true}') ->> 'total', '0', 'and then all are open');

select * from finish();
rollback;
