-- What a late or a passing word changes: nothing of what was decided since.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(17);

create temporary table made as select channel() as a, channel(p_number_id => '100000000000002') as b, template() as code;
create temporary table far as select (outbox.create_channel('default', '100000000000009', '200000000000009', '900000000000001', 'token') ->> 'id')::uuid as id;
create function state_of(p_endpoint uuid) returns text language sql as $$ select status from outbox.endpoint where id = p_endpoint $$;

-- A person paused and resumed the channel: what failed before holds nothing, though nothing else ever did.
create temporary table m as select sent('A', '+12025550101') as id, sent('B', '+12025550102') as other;
select time_passes('1 minute');
select outbox.pause_endpoint(a), outbox.resume_endpoint(a) from made;
select receive(failure('wamid.A', '131042', -30));
select is(state_of(a), 'enabled', 'what failed before a resume does not hold the channel') from made;
select time_passes('1 minute');
select receive(failure('wamid.B', '131042', -1));
select is(state_of(a), 'paused', 'what failed after it does') from made;
select is((trail('CHANNEL', a::text))[array_length(trail('CHANNEL', a::text), 1)], 'HELD held: 131042 Business eligibility payment issue', 'which is audited') from made;

-- A hold and its end, in whatever order the words come.
select outbox.hold_channel(b, 'account', true, 'Account is disabled', at, null, at) from made, outbox.test_clock;
select outbox.hold_channel(b, 'account', false, 'Account is reinstated', at - interval '1 minute', null, at) from made, outbox.test_clock;
select is(state_of(b), 'paused', 'an older word lifts no newer hold') from made;
select outbox.hold_channel(b, 'account', false, 'Account is reinstated', at + interval '1 minute', null, at) from made, outbox.test_clock;
select is(state_of(b), 'enabled', 'a newer one does') from made;
select is((trail('CHANNEL', b::text))[array_length(trail('CHANNEL', b::text), 1)], 'RESUMED Account is reinstated', 'which is audited') from made;
select outbox.resume_endpoint(a) from made;

-- A throttle of an account slows its numbers, and none of another account of the app.
create temporary table fast as select sent('C', '+12025550103') as id;
select is((select scope || ' ' || action from outbox.failure_rule where kind = 'whatsapp' and code = '80007'), 'account throttle', 'an account is too fast');
select receive(failure('wamid.C', '80007', 0));
select cmp_ok((gate_of(a)).not_before, '>', outbox.clock(), 'its number rests') from made;
select cmp_ok((gate_of(b)).not_before, '>', outbox.clock(), 'and the other one that it has') from made;
select is((gate_of(id)).not_before, '-infinity', 'one of another account does not') from far;

-- Somebody's lock, a deadlock, or the time: nothing is wrong with the update, however often.
select receive(status('wamid.none', 'sent', 0));
create function postpone_updates(p_status text, p_looks integer) returns text language plpgsql as $$
begin
  update outbox.whatsapp_update u set update_status = 'stored', reason = null, checks = p_looks where u.wamid = 'wamid.none';
  perform outbox.postpone_updates(array(select id from outbox.whatsapp_update where wamid = 'wamid.none'), 'held up', p_status, outbox.clock());
  return (select update_status from outbox.whatsapp_update where wamid = 'wamid.none');
end
$$;
select is(postpone_updates(s, 8), case when s = '22000' then 'skipped' else 'stored' end, format('behind eight looks an error %s', s)) from unnest('{55P03,40P01,57014,22000}'::text[]) s;
select is(postpone_updates('22000', 7), 'stored', 'no update is given up before');

-- The time runs out while one is applied: it is stored all the same.
select time_passes('1 hour');
create temporary table slow as select sent('D', '+12025550104') as id;
create function out_of_time() returns trigger language plpgsql as $$ begin raise exception using errcode = '57014', message = 'canceling statement due to statement timeout'; end $$;
create trigger slow before update on outbox.outbound_message for each row execute function helper.out_of_time();
select is(receive(status('wamid.D', 'delivered', 0)) ->> 'stored', '1', 'a callback is stored though there was no time to apply it');
drop trigger slow on outbox.outbound_message;
select time_passes('1 minute'), outbox.apply_callbacks();
select is((row_of(id)).status, 'DELIVERED', 'and applied later') from slow;

select * from finish();
rollback;
