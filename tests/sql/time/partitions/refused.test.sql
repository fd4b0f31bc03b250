-- A delivery that the database refused to create is open: its event stays, however many nights pass.
begin;
\ir ../../_helpers.sql
select plan(3);

select time_is('2020-02-10 12:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
create temporary table made as select endpoint() as id;
create temporary table event as select (events(1))[1] as id;
delete from outbox.unrouted where true;
insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
select e.id, m.id, 'routing', 3, '23514', 'a test', outbox.clock(), 'infinity' from event e, made m;
do $$ begin
  for n in 11 .. 25 loop
    perform helper.time_is(date '2020-02-01'::timestamp at time zone 'UTC' + n * interval '1 d'), outbox.drop_partitions();
  end loop;
end $$;
select is((select count(*) from outbox.event join event using (id)), 1::bigint, 'the event is there');
select is((select status from outbox.webhook_outbox), 'PENDING', 'and is shown');
delete from outbox.refusal where true;
do $$ begin
  for n in 26 .. 34 loop
    perform helper.time_is(date '2020-02-01'::timestamp at time zone 'UTC' + n * interval '1 d'), outbox.drop_partitions();
  end loop;
end $$;
select is((select count(*) from outbox.event join event using (id)), 0::bigint, 'until nothing of it is open');

select * from finish();
rollback;
