-- Each time limit, tested to the microsecond: at the limit the state is as before, a microsecond later it has
-- changed.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
\ir ../_messages.sql
\ir ../_callbacks.sql
set local search_path = helper, extensions;

-- Runs p_make at noon; then, at p_last and a microsecond later, runs p_act and returns p_see. Rolls everything back.
create function edge(p_make text, p_last interval, p_act text, p_see text) returns text language plpgsql as $$
declare
  v_before text;
  v_after text;
begin
  perform helper.time_is('2026-03-01 12:00:00+00');
  execute p_make;
  perform helper.time_is('2026-03-01 12:00:00+00'::timestamptz + p_last);
  execute p_act;
  execute 'select (' || p_see || ')::text' into v_before;
  perform helper.time_passes('1 microsecond');
  execute p_act;
  execute 'select (' || p_see || ')::text' into v_after;
  raise exception using errcode = 'OHEDG', message = format('%s, then %s', v_before, v_after);
exception when sqlstate 'OHEDG' then
  return sqlerrm;
end
$$;

-- Something that has ended, of each kind, without the way that it usually ends.
create function letter(p_how text) returns void language plpgsql as $$
begin
  perform helper.endpoint(), helper.events(1);
  perform helper.fail(404);
  execute format('update outbox.dead_letter set %I = outbox.clock() where true', p_how);
end
$$;
create function run_of(p_kind text) returns void language sql as $$
  select outbox.touch_run('00000000-0000-7000-8000-0000000000aa', p_kind, outbox.clock(), false)
$$;
create function another_run() returns void language sql as $$
  select outbox.touch_run(gen_random_uuid(), 'worker', outbox.clock(), false)
$$;
create function wrote() returns void language sql as $$
  select helper.channel();
  select outbox.receive_callbacks('900000000000001', null, jsonb_build_array(jsonb_build_object('key', 'hello', 'kind', 'message', 'field', 'messages',
    'waba_id', '200000000000001', 'phone_number_id', '100000000000001', 'wamid', 'wamid.hello', 'status', 'text',
    'at', extract(epoch from outbox.clock())::bigint, 'wa_id', '12025550111', 'data', jsonb_build_object('text', jsonb_build_object('body', 'Hello')))))
$$;
create function sent_one() returns void language plpgsql as $$
begin
  perform helper.channel(), helper.template();
  perform helper.message();
  perform helper.step(0);
  perform helper.take_all();
end
$$;
create function job_lane() returns void language plpgsql as $$
begin
  perform helper.endpoint(), helper.events(1);
  perform helper.fail(404);
  perform outbox.replay_many();
  perform outbox.work_replay_jobs(outbox.clock()), outbox.work_replay_jobs(outbox.clock());
  perform outbox.work_replay_jobs(outbox.clock());
  perform helper.send();
end
$$;
create function free_form() returns text language sql as $$
  select coalesce(outbox.create_message('default', '+12025550111', '{"type": "text", "text": "Hi"}', p_idempotency_key => gen_random_uuid()::text) ->> 'code', 'created')
$$;

create temporary table span (what text, make text, last interval, act text, see text, seen text);
insert into span values
  ('a consumer''s inbox', $$select outbox.accept_once('billing', 'id')$$, '40 days', 'select outbox.cleanup()', 'select count(*) from outbox.consumer_inbox', '1, then 0'),
  ('an idempotency key', $$select outbox.publish('a', '{}', p_idempotency_key => 'k')$$, '24 hours', 'select outbox.cleanup()', 'select count(*) from outbox.idempotency_key', '1, then 0'),
  ('a known idempotency key', $$select outbox.publish('a', '{}', p_idempotency_key => 'k')$$, '23:59:59.999999', 'select 1',
   $$select refusal($q$select outbox.publish('a', '{"b": 1}', p_idempotency_key => 'k')$q$) = 'accepted'$$, 'false, then true'),
  ('a request''s key', $$select outbox.begin_request('o', 'POST /x', 'k', '{}')$$, '24 hours', 'select outbox.cleanup()', 'select count(*) from outbox.request_key', '1, then 0'),
  ('a known request''s key', $$select outbox.begin_request('o', 'POST /x', 'k', '{}')$$, '23:59:59.999999', 'select 1',
   $$select refusal($q$select outbox.begin_request('o', 'POST /y', 'k', '{}')$q$) = 'accepted'$$, 'false, then true'),
  ('a saga''s key', $$insert into outbox.saga_key values ('o', 'k', 's', '', null, outbox.clock())$$, '24 hours', 'select outbox.cleanup()', 'select count(*) from outbox.saga_key', '1, then 0'),
  ('a discarded dead letter', $$select letter('discarded_at')$$, '90 days', 'select outbox.cleanup()', 'select count(*) from outbox.dead_letter', '1, then 0'),
  ('a delivered dead letter', $$select letter('delivered_at')$$, '90 days', 'select outbox.cleanup()', 'select count(*) from outbox.dead_letter', '1, then 0'),
  ('the lane of a replay job', $$select job_lane()$$, '1 day', 'select outbox.cleanup()', 'select count(*) from outbox.lane where key_hash > 0', '1, then 0'),
  ('a run', $$select run_of('worker')$$, '1 hour', 'select another_run()', $$select count(*) from outbox.run where id = '00000000-0000-7000-8000-0000000000aa'$$, '1, then 0'),
  ('the batches of a run', $$insert into outbox.run_batch (run_id, seq, at) values (gen_random_uuid(), 77, outbox.clock())$$, '1 hour', 'select another_run()',
   'select count(*) from outbox.run_batch where seq = 77', '1, then 0'),
  ('an edge run''s place', $$select outbox.set_setting('worker.max_runs', '1'), run_of('edge')$$, '9.999999 seconds', 'select 1',
   $$select outbox.is_crowded(row('00000000-0000-7000-8000-0000000000ff', 'edge', outbox.clock(), outbox.clock(), null, null, null)::outbox.run, outbox.clock())$$, 'true, then false'),
  ('a bucket of requests', $$select outbox.take_requests('o', 1)$$, '1 hour', 'select outbox.cleanup()', 'select count(*) from outbox.request_bucket', '1, then 0'),
  ('a message', $$select sent_one()$$, '365 days', 'select outbox.cleanup()', 'select count(*) from outbox.outbound_message where erased_at is null', '1, then 0'),
  ('an update', $$select wrote()$$, '30 days', 'select outbox.cleanup()', 'select count(*) from outbox.whatsapp_update', '1, then 0'),
  ('what an update said', $$select wrote(), outbox.set_setting('message.retention_days', '9')$$, '9 days', 'select outbox.cleanup()', $$select count(*) from outbox.whatsapp_update where data <> '{}'$$, '1, then 0'),
  ('an inbound message', $$select wrote()$$, '365 days', 'select outbox.cleanup()', 'select count(*) from outbox.inbound_message where erased_at is null', '1, then 0'),
  ('a person', $$select wrote()$$, '365 days', 'select outbox.cleanup()', 'select count(*) from outbox.person', '1, then 0'),
  ('a window', $$select wrote()$$, '2 days', 'select outbox.cleanup()', 'select count(*) from outbox.conversation_window', '1, then 0'),
  ('a free-form message, five minutes before the window ends', $$select wrote()$$, '23:54:59.999999', 'select 1', 'select free_form()', 'created, then outside_window'),
  ('a lifted opt-out', $$select outbox.change_opt_out('default', '+12025550111', 'ALL', true, 'phone'), outbox.change_opt_out('default', '+12025550111', 'ALL', false, 'phone')$$, '60 days',
   'select outbox.cleanup()', 'select count(*) from outbox.opt_out', '1, then 0'),
  ('a replaced secret', $$select outbox.rotate_secret(endpoint(), p_overlap => '1 hour')$$, '00:59:59.999999', 'select 1',
   'select jsonb_array_length(outbox.active_secrets(array[e.id], outbox.clock()) -> e.id::text) from outbox.endpoint e', '2, then 1'),
  ('a replaced secret in Vault', $$select outbox.rotate_secret(endpoint(), p_overlap => '1 hour')$$, '01:04:59.999999', 'select outbox.cleanup()', 'select count(*) from outbox.endpoint_secret', '2, then 1'),
  ('an app''s replaced secret', $$select outbox.put_whatsapp_app('9', 'one'), outbox.put_whatsapp_app('9', 'two', p_overlap => '1 hour')$$, '00:59:59.999999', 'select 1',
   'select cardinality(outbox.app_secrets(a, outbox.clock())) from outbox.whatsapp_app a', '2, then 1'),
  ('an app''s replaced secret in Vault', $$select outbox.put_whatsapp_app('9', 'one'), outbox.put_whatsapp_app('9', 'two', p_overlap => '1 hour')$$, '00:59:59.999999',
   'select outbox.cleanup()', 'select count(*) from outbox.whatsapp_app where old_secret_vault_id is not null', '1, then 0'),
  ('a hold that WhatsApp ends', $$select outbox.hold_channel(channel(), 'account', true, 'restricted', outbox.clock(), outbox.clock() + interval '1 hour', outbox.clock())$$, '00:59:59.999999',
   'select outbox.lift_expired_holds(outbox.clock())', 'select status from outbox.endpoint', 'paused, then enabled'),
  -- The id of an event is compared, of which the floor has milliseconds.
  ('an open delivery', $$select endpoint(), events(1), step(0)$$, '30 days 00:00:00.000999', 'select outbox.expire_deliveries(10)', 'select count(*) from outbox.delivery', '1, then 0'),
  ('a lease', $$select endpoint(p_timeout_ms => 3000), events(1), step(1)$$, '7.999999 seconds', 'select step()', $$select count(*) from outbox.attempt where error_class = 'lease_expired'$$, '0, then 1'),
  ('a person''s patience with a lease', $$select endpoint(p_timeout_ms => 3000), events(1), step(1)$$, '7.999999 seconds', 'select 1',
   $$select refusal(format('select outbox.retry_now(%L, %L)', d.event_id, d.endpoint_id)) = 'accepted' from outbox.delivery d$$, 'false, then true'),
  ('a delayed event', $$select outbox.publish('a', '{}', p_deliver_at => outbox.clock() + interval '1 hour') from endpoint()$$, '00:59:59.999999', 'select step(0)', 'select claimed(step())', '0, then 1');

select plan(30);
select is(edge(make, last, act, see), seen, format('%s: %s, and a microsecond more', what, last)) from span;

select * from finish();
rollback;
