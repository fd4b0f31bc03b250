-- Deliveries that the database refuses to remove keep no other one of a deleted endpoint from its removal.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

create temporary table made as select endpoint('{a}') as id;
create temporary table past as select events(6, 'a') as ids;
select step(0);
create function stays() returns trigger language plpgsql as $$
begin
  raise exception 'this one stays';
end
$$;
do $$ begin
  execute (select format('create trigger stays before delete on outbox.delivery for each row when (old.event_id = any (%L::uuid[])) execute function helper.stays()', ids[1:4]) from past);
end $$;
select outbox.delete_endpoint(id) from made;
create function purged() returns integer language sql as $$
  select time_passes('11 s');
  select outbox.purge_deleted(2);
$$;
select is(purged(), 0, 'the database refuses to remove the first two');
select set_eq('select r.event_id, r.error from outbox.refusal r join made m on m.id = r.endpoint_id', $$select unnest(ids[1:2]), 'this one stays' from past$$, 'which is recorded');
select is(purged(), 0, 'and the next two');
select is(purged(), 2, 'the two behind them are removed');
select is(purged(), 0, 'after that, those that were refused are tried again');
select is((select count(*) from outbox.upkeep_refusal r join made m on r.member = 'deleted endpoint ' || m.id), 1::bigint, 'the health of the queue names the endpoint');
drop trigger stays on outbox.delivery;
do $$ begin for n in 1 .. 6 loop perform purged(); end loop; end $$;
select is_empty('select from outbox.gate g join made m on m.id = g.endpoint_id', 'once they can be removed, so is the endpoint');
select is_empty('select * from outbox.refusal', 'and their refusals');

select * from finish();
rollback;
