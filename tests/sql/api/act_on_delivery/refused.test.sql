-- A delivery that the database refused to create is open: it can be hurried and cancelled, as others can.
begin;
\ir ../../_helpers.sql
select plan(3);

create temporary table made as select endpoint(p_org_id => 'org-1') as good, endpoint(p_org_id => 'org-1') as bad;
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
create temporary table event as select (events(1, p_org_id => 'org-1'))[1] as id;
do $$ begin perform step(0), step(0), step(0); end $$;
drop trigger no_delivery on outbox.delivery;
select results_eq('select step from outbox.refusal', $$values ('routing')$$, 'the delivery was refused');
select is(outbox.act_on_delivery('org-1', id, bad, 'cancel', 'not wanted') ->> 'status', 'cancelled', 'it is cancelled') from event, made;
select is_empty('select from outbox.refusal', 'and nothing stays of the refusal');

select * from finish();
rollback;
