-- What the views say of a delivery is so: while it is held, after attempts that do not count, without a subscriber,
-- without its event, and after its attempts and its event have been deleted.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(21);

-- Of each event of a type: delivery_status, and the words of the three views.
create function said(p_type text) returns setof text language sql as $$
  select format('%s %s %s %s, %s of %s', s.status, w.status, g.status, t.status, t.retry_count, t.max_retries)
  from outbox.transaction_outbox t
  join outbox.webhook_outbox w on w.id = t.id and w.endpoint_id is not distinct from t.endpoint_id
  join outbox.saga_outbox g on g.event_id = t.id and g.endpoint_id is not distinct from t.endpoint_id
  left join outbox.delivery_status s on s.event_id = t.id and s.endpoint_id is not distinct from t.endpoint_id
  where t.event_type = p_type
  group by 1
$$;

-- Held: what has failed is failed, what has not is pending.
create temporary table made as select endpoint('{b.*}', p_breaker => true) as b, endpoint('{p.*}') as p, endpoint('{w.*}', p_retry => plain_retry(2)) as w,
  endpoint('{l.*}') as l, endpoint('{d.*}') as d, endpoint('{m.*}') as m, endpoint('{f.*}', p_filter => '$.total') as f, endpoint('{x.*}') as x;
select events(5, 'b.failed');
select fail(500);
select events(1, 'b.new'), step(0);
select is(breaker_of(b), 'open', 'a breaker is open') from made;
select set_eq($$select said('b.failed')$$, $$values ('held FAILED FAILED failed, 1 of 6')$$, 'behind an open breaker, what has failed is failed');
select set_eq($$select said('b.new')$$, $$values ('held PENDING PENDING pending, 0 of 6')$$, 'and what has not is pending');
select events(1, 'p.failed');
select fail(500);
select outbox.pause_endpoint(p), events(1, 'p.new') from made;
select step(0);
select set_eq($$select said('p.failed')$$, $$values ('held FAILED FAILED failed, 1 of 6')$$, 'so it is at a paused endpoint');
select set_eq($$select said('p.new')$$, $$values ('held PENDING PENDING pending, 0 of 6')$$, 'of both');

-- Attempts that do not count, as those of a broker that is away.
insert into outbox.failure_rule (kind, code, action, title) values ('webhook', 'away', 'wait', 'A test');
select events(1, 'w.waits');
do $$ begin for n in 1 .. 8 loop perform helper.send('failed', '{"error_class": "away", "error": "no broker"}'), helper.time_passes('5 min'); end loop; end $$;
select is((select count(*) from outbox.attempt a join made m on m.w = a.endpoint_id), 8::bigint, 'eight attempts found nobody');
select set_eq($$select said('w.waits')$$, $$values ('pending PENDING PENDING pending, 0 of 3')$$, 'no try is spent, and none is shown as spent');
select is((select last_error from outbox.webhook_outbox where event_type = 'w.waits'), 'no broker', 'the last error is shown');

-- A lost lease counts as a failure without a try.
select events(1, 'l.lost');
select step(), time_passes('30 s'), step(), time_passes('30 s');
create temporary table again as select step() as a;
select is(claimed(a, l), 1, 'a lease was lost, and the delivery is claimed again') from again, made;
select step(0, results_of(a, l, 'released')) from again, made;
select set_eq($$select said('l.lost')$$, $$values ('retrying FAILED FAILED failed, 0 of 6')$$, 'it has failed, and no try is spent');

-- Nobody wanted it, or it is not there any more.
select events(1, 'nobody.wants'), step(0);
select set_eq($$select said('nobody.wants')$$, $$values ('no_subscriber NO_SUBSCRIBER NO_SUBSCRIBER no_subscriber, 0 of 6')$$, 'an event that nobody wanted is not delivered');
select events(1, 'm.missing'), step(0);
delete from outbox.event where type = 'm.missing';
select step();
select set_eq('select status, retry_count from outbox.webhook_outbox join made on m = endpoint_id', $$values ('EVENT_MISSING', 0)$$, 'what has no event any more is no dead letter');
select is((select count(*) from outbox.dead_letter join made on m = endpoint_id), 0::bigint, 'there is none');

-- A dead letter is shown as long as it is stored, whatever has been deleted before it.
select events(1, 'd.dead', p_payload => '{"n": 1}');
select fail(404, '{"error": "no such page"}');
create function letter() returns text language sql as $$
  select format('%s %s %s %s %s', w.status, w.retry_count, w.last_error, w.payload, t.status) from outbox.webhook_outbox w
  join outbox.transaction_outbox t using (id, endpoint_id) join made on d = endpoint_id
$$;
select is(letter(), 'DEAD_LETTER 1 no such page {"n": 1} dlq', 'a dead letter');
delete from outbox.attempt a using made where a.endpoint_id = made.d;
select is(letter(), 'DEAD_LETTER 1 no such page {"n": 1} dlq', 'the same without its attempts');
delete from outbox.event where type = 'd.dead';
select is(letter(), 'DEAD_LETTER 1 no such page {"n": 1} dlq', 'and without its event');
select is((select status from outbox.delivery_status join made on d = endpoint_id), 'dead_letter', 'in delivery_status, too');
select outbox.replay(x.event_id, x.endpoint_id) from outbox.dead_letter x join made on d = x.endpoint_id;
select is((select status from outbox.webhook_outbox join made on d = endpoint_id), 'PENDING', 'after a replay it is open, once');
select outbox.cancel_delivery(x.event_id, x.endpoint_id) from outbox.dead_letter x join made on d = x.endpoint_id;
delete from outbox.attempt a using made where a.endpoint_id = made.d;
select is((select status from outbox.webhook_outbox join made on d = endpoint_id), 'CANCELLED', 'a cancelled replay is cancelled');
select outbox.replay(x.event_id, x.endpoint_id) from outbox.dead_letter x join made on d = x.endpoint_id;
select send();
select is((select status from outbox.webhook_outbox join made on d = endpoint_id), 'DELIVERED', 'a replay that arrived is delivered');
delete from outbox.attempt a using made where a.endpoint_id = made.d;
select is((select status from outbox.webhook_outbox join made on d = endpoint_id), 'DELIVERED', 'also without its attempts');

select * from finish();
rollback;
