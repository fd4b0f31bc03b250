-- What cannot be applied at once stays stored, costs nobody else, and is looked at again; what waits too long is given up.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(22);

create temporary table made as select channel() as channel_id, template() as code;
create temporary table m as select sent('A', '+12025550101') as a, sent('B', '+12025550102') as b, sent('C', '+12025550103') as c;
-- An error that one message brings, whatever it is.
create function refuse_one() returns trigger language plpgsql as $$ begin raise exception 'this message cannot be changed'; end $$;
create function break_it() returns void language plpgsql as $$
begin
  execute format('create trigger refuse before update on outbox.outbound_message for each row when (old.id = %s and pg_trigger_depth() = 0) execute function helper.refuse_one()', (select b from m));
end
$$;
select break_it();
create temporary table first as select receive(status('wamid.A', 'delivered', 1), status('wamid.B', 'delivered', 1), status('wamid.C', 'delivered', 1)) as answer;
select is(answer, '{"stored": 3, "duplicates": 0, "applied": 0, "skipped": 0, "kept": 0, "warnings": []}', 'an error while applying leaves all of it stored') from first;
select results_eq('select update_status, reason, next_check_at - received_at from outbox.whatsapp_update', $$select 'stored', 'error: this message cannot be changed', interval '1 second' from generate_series(1, 3)$$, 'with the error, to be looked at in a second');
select results_eq('select (row_of(a)).status, (row_of(b)).status, (row_of(c)).status from m', $$values ('SENT', 'SENT', 'SENT')$$, 'and nothing half-done');
select is((select count(*) from outbox.event where type = 'whatsapp.message.status'), 0::bigint, 'nor told');
select is(outbox.apply_callbacks(), 0, 'it is not looked at before');
select is(receive(status('wamid.A', 'delivered', 1)) ->> 'duplicates', '1', 'what Meta repeats is known');
select time_passes('1 second');
select is(outbox.apply_callbacks(), 3, 'then all are looked at');
select results_eq('select (row_of(a)).status, (row_of(b)).status, (row_of(c)).status from m', $$values ('DELIVERED', 'SENT', 'DELIVERED')$$, 'each by itself: one bad element costs only itself');
select is((select count(*) from outbox.whatsapp_update where update_status = 'stored'), 1::bigint, 'which stays stored');
select is((select sum(n) from outbox.callback_count where update_status = 'applied'), 2::numeric, 'what was applied is counted');
select time_passes('1 minute');
drop trigger refuse on outbox.outbound_message;
select is(outbox.apply_callbacks(), 1, 'it is looked at again');
select is((row_of(b)).status, 'DELIVERED', 'and applied once that is possible') from m;
select is(outbox.apply_callbacks(), 0, 'then nothing is left');
select is_empty('select from outbox.whatsapp_update where next_check_at is not null or update_status <> ''applied''', 'at all');

-- One that never can be.
select break_it();
select receive(status('wamid.B', 'read', 5));
do $$ begin
  for i in 1 .. 12 loop
    perform time_passes('1 hour'), outbox.apply_callbacks();
  end loop;
end $$;
select results_eq('select update_status, reason, next_check_at from outbox.whatsapp_update where status = ''read''', $$values ('skipped', 'error', null::timestamptz)$$, 'after eight looks it is given up');
select is((select n from outbox.callback_count where reason = 'error'), 1::bigint, 'and counted');
drop trigger refuse on outbox.outbound_message;

-- What is only held up is never given up.
select time_passes('1 minute');
select receive(status('wamid.B', 'played', 5));
do $$ begin
  for i in 1 .. 12 loop
    perform outbox.postpone_updates(array(select id from outbox.whatsapp_update where status = 'played'), 'held', '55P03', outbox.clock()), time_passes('1 hour');
  end loop;
end $$;
select is((select count(*) from outbox.whatsapp_update where status = 'played' and update_status = 'applied'), 1::bigint, 'what has its verdict is put off no more');
select receive(status('wamid.none', 'played', 6));
do $$ begin
  for i in 1 .. 12 loop
    perform outbox.postpone_updates(array(select id from outbox.whatsapp_update where wamid = 'wamid.none'), 'held', '55P03', outbox.clock()), time_passes('1 hour');
  end loop;
end $$;
select results_eq('select update_status, reason, next_check_at < outbox.clock() from outbox.whatsapp_update where wamid = ''wamid.none''', $$values ('kept', 'error: held', true)$$, 'what somebody''s lock holds up is looked at for ever');
update outbox.whatsapp_update set next_check_at = 'infinity' where wamid = 'wamid.none';

-- A batch of the sweep is bounded, and the tick survives it.
select receive(status('wamid.X1', 'sent'), status('wamid.X2', 'sent'), status('wamid.X3', 'sent'));
select time_passes('5 seconds');
select is(outbox.apply_callbacks(2), 2, 'a look takes so many');
select is(outbox.apply_callbacks(2), 1, 'and the next the rest');
select is(outbox.tick() ? 'kicked', true, 'the tick sweeps as well');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
