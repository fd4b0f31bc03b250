-- Deliveries that cannot expire do not keep later ones from expiring.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

create temporary table made as select endpoint('{a}') as bad, endpoint('{a}') as worse, endpoint('{b}') as deleted, endpoint('{d}') as good;
create function stuck() returns trigger language plpgsql as $$
begin
  raise exception 'this one stays';
end
$$;
do $$ begin execute (select format('create trigger stuck before delete on outbox.delivery for each row when (old.endpoint_id in (%L, %L)) execute function helper.stuck()', bad, worse) from made); end $$;
do $$ begin perform events(1, 'a'), time_passes('1 s'), events(2, 'b'), time_passes('1 s'), step(0); end $$;
select outbox.delete_endpoint(deleted) from made;
do $$ begin perform events(2, 'd'), time_passes('1 s'), events(2, 'd'), time_passes('1 s'); end $$;
create temporary table good as select events(2, 'd') as ids;
select step(0);
select time_passes('31 d');
update outbox.delivery d set replayed_at = outbox.clock() from made where d.endpoint_id in (bad, worse);
select is(outbox.expire_deliveries(2), 2, 'behind two that were replayed lately');
update outbox.delivery d set replayed_at = null, leased_until = outbox.clock() + interval '1 s' from made where d.endpoint_id in (bad, worse);
select is(outbox.expire_deliveries(2), 2, 'and behind two that are in flight');
update outbox.delivery d set leased_until = null from made where d.endpoint_id in (bad, worse);
select is(outbox.expire_deliveries(2), 0, 'the oldest two are refused');
select is((select count(*)::integer from outbox.refusal where step = 'expiry'), 2, 'which is recorded');
select is(outbox.expire_deliveries(2), 2, 'the next call takes the ones behind them');
select set_eq('select x.event_id from outbox.dead_letter x order by x.event_id desc limit 2', 'select unnest(ids) from good', 'those of the good endpoint');
select is(outbox.expire_deliveries(2), 0, 'the refused ones are left out');
select time_passes('59 min');
select is(outbox.expire_deliveries(2), 0, 'for an hour');
drop trigger stuck on outbox.delivery;
select time_passes('1 min');
select is(outbox.expire_deliveries(2), 2, 'then they expire, once the cause is removed');
select is_empty($$select * from outbox.refusal$$, 'and the refusals are gone');

select * from finish();
rollback;
