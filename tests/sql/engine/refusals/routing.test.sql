-- A delivery that the database refuses to make: the third time the others of its event are made without it.
begin;
\ir ../../_helpers.sql
select plan(10);

create temporary table made as select endpoint() as good, endpoint() as bad;
create function no_delivery() returns trigger language plpgsql as $$
begin
  raise exception 'no delivery to it';
end
$$;
create function refuse_deliveries() returns void language plpgsql as $$
begin
  execute format('create trigger no_delivery before insert on outbox.delivery for each row when (new.endpoint_id = %L) execute function helper.no_delivery()',
    (select bad from made));
end
$$;
select refuse_deliveries();
create temporary table event as select (events(1))[1] as id;
do $$ begin perform step(0), step(0); end $$;
select results_eq('select failures from outbox.unrouted', 'values (2::smallint)', 'twice the event has failed as a whole');
select is_empty('select from outbox.refusal', 'and nothing is set aside');
create temporary table answer as select step() as a;
select is(claimed(a, good), 1, 'the third time the others have it') from answer, made;
select results_eq('select event_id, endpoint_id, step, sqlstate, error, again_at from outbox.refusal',
  $$select id, bad, 'routing', 'P0001', 'no delivery to it', 'infinity'::timestamptz from event, made$$, 'and the one that cannot be made is set aside');
select is_empty('select from outbox.unrouted', 'the event is routed');
select is_empty('select from outbox.unroutable', 'and is not set aside');

drop trigger no_delivery on outbox.delivery;
select is(outbox.retry_now(id, bad) ->> 'event_id', id::text, 'retry_now() makes it') from event, made;
select is_empty('select from outbox.refusal', 'and nothing stays of the refusal');
update answer set a = step() where true;
select is(claimed(a, bad), 1, 'it is sent') from answer, made;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
