-- What slows what: a recipient, a number, an app; what holds a channel; and what never counts for the breaker.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(39);

create temporary table made as select channel() as a, channel(p_number_id => '100000000000002') as b,
  channel('other', '100000000000003', '900000000000002') as c, template() as code, template(p_org_id => 'other') as code_c;
create function waits(p_endpoint uuid) returns interval language sql as $$
  select case when isfinite((gate_of(p_endpoint)).not_before) then greatest((gate_of(p_endpoint)).not_before - outbox.clock(), '0') else '0' end
$$;
create function breaks(p_code text, p_status integer default 400) returns integer language sql as $$
  select fail(p_status, jsonb_build_object('code', p_code, 'error', 'refused'))
$$;

-- One a pair: the next to the same person waits for six seconds, another person does not.
create temporary table m (n serial, id bigint);
insert into m (id) select message_id(message('+12025550101'));
select time_passes('0.1 seconds');
insert into m (id) select message_id(message('+12025550101')) union all select message_id(message('+12025550102'));
select is(take_all(), 2, 'one message a person is sent');
select results_eq('select n, (row_of(id)).status from m order by n', $$values (1, 'SENT'), (2, 'QUEUED'), (3, 'SENT')$$, 'the first of each');
select time_passes('5.9 seconds');
select is(take_all(), 0, 'the second waits');
select time_passes('0.1 seconds');
select is(take_all(), 1, 'for six seconds');
select message('+12025550101');
select is(take_all(), 0, 'a message that comes later waits, too, though nothing was left open');
select time_passes('6 seconds');
select is(take_all(), 1, 'as long');
select is_empty('select * from miscounts()', 'the counters are right');
select time_passes('1 minute');
select outbox.cleanup();
select is((select count(*) from outbox.lane), 0::bigint, 'cleanup removes the lanes that have rested');

-- 131056: one recipient.
select message('+12025550101'), message('+12025550101');
select is(breaks('131056', 429), 1, 'a pair is too fast');
select is(waits(a), '0', 'which slows no number') from made;
select message('+12025550102');
select is(take_all(), 1, 'another recipient goes on');
select time_passes('59 seconds');
select is(take_all(), 0, 'that one waits');
select time_passes('1 second');
select is(take_all(), 1, 'for a minute, and in order');
select is((gate_of(a)).streak, 0, 'the breaker has counted none of it') from made;
select time_passes('6 seconds');
select is(take_all(), 1, 'then the next');

-- 130429: one number.
select time_passes('6 seconds');
select message('+12025550101'), message('+12025550103', p_channel_id => b) from made;
create temporary table claim as select step() as answer;
select step(0, results_of(answer, a, 'failed', '{"status": 400, "code": "130429"}')
  || results_of(answer, b, 'delivered', '{"status": 200, "provider_id": "wamid.N"}')) from claim, made;
select is(waits(a), '10 s', 'a number that is too fast waits for ten seconds') from made;
select is(waits(b), '0', 'another does not') from made;
select time_passes('1 minute');
select is(take_all(), 1, 'and goes on');

-- 4: all numbers of the app.
select time_passes('1 minute');
select message('+12025550101');
select is(breaks('4'), 1, 'the app''s calls are used up');
select is(waits(a), '15 min', 'the number waits') from made;
select is(waits(b), '15 min', 'so does the other of the app') from made;
select is(waits(c), '0', 'and that of another app does not') from made;
select time_passes('1 hour');
select is(take_all(), 1, 'then they go on');

-- 190: the channel is held, with its reason, until somebody lifts it.
select time_passes('1 minute');
create temporary table held as select message_id(message('+12025550101')) as id;
select is(breaks('190', 401), 1, 'the token has expired');
select results_eq('select status, status_reason from outbox.endpoint, made where id = a', $$values ('paused', 'held: 190 Access token has expired')$$, 'the channel is held');
select is((select count(*) from news('outhook.channel.held')), 1::bigint, 'which is announced');
select is((select count(*) from news('outhook.endpoint.disabled')), 0::bigint, 'as a hold, not as an endpoint disabled');
select is((row_of(id)).status, 'QUEUED', 'the message waits') from held;
select is(failed_attempts_of((row_of(id)).event_id, a), 0, 'and has spent no try') from held, made;
select is((select status from outbox.endpoint, made where id = b), 'enabled', 'the other number goes on') from made;
select time_passes('1 hour');
select is(take_all(), 0, 'nothing is sent');
select outbox.set_channel_token('default', a, 'new-token', 'tester'), outbox.resume_endpoint(a) from made;
select time_passes('5 seconds');
select is(take_all(), 1, 'lifting the hold sends what waits');
select is((row_of(id)).status, 'SENT', 'the message is SENT') from held;

-- 131031 fails its message and holds the channel.
select time_passes('1 minute');
create temporary table locked as select message_id(message('+12025550101')) as id;
select breaks('131031', 403);
select is((row_of(id)).status || ' ' || (row_of(id)).error_code, 'FAILED 131031', 'a locked account fails the message') from locked;
select is((select status from outbox.endpoint, made where id = a), 'paused', 'and holds the channel') from made;
select outbox.resume_endpoint(a) from made;

-- The provider's own word.
select time_passes('1 minute');
create temporary table said as select message_id(message('+12025550101')) as id;
select fail(400, '{"code": "100", "error": "refused", "provider": {"is_transient": true}}');
select is((row_of(id)).status, 'QUEUED', 'what the provider calls transient is retried') from said;
select time_passes('1 minute');
select fail(400, '{"code": "131047", "error": "refused", "provider": {"is_transient": true}}');
select is((row_of(id)).status, 'FAILED', 'save the codes that are firm') from said;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
