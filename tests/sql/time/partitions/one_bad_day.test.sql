-- Modules: api
-- A day whose partition cannot be created or dropped keeps no other day, and is shown by name.
begin;
\ir ../../_helpers.sql
select plan(11);

create function refuse() returns trigger language plpgsql as $$
begin
  raise exception using errcode = '40001', message = 'this row stays';
end
$$;
create function parts() returns setof name language sql stable as $$
  select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('outbox.event'::regclass, 'outbox.attempt'::regclass) and c.relname ~ '_p2020021' order by 1
$$;

select time_is('2020-02-10 12:00:00+00');
insert into outbox.event_default (id, type, org_id, body, created_at)
select outbox.uuid_v7(d), 't', 'o', '{}', d from unnest(array['2020-02-11 01:00:00+00', '2020-02-12 01:00:00+00']::timestamptz[]) d;
create trigger refuse before delete on outbox.event_default for each row when (old.created_at < '2020-02-12') execute function helper.refuse();
select is(outbox.add_partitions(), '{"late": [], "made": 15, "failed": ["event of 2020-02-11"]}', 'one of sixteen partitions cannot be created, and is named');
select is((select member || ': ' || sqlstate || ' ' || error from outbox.upkeep_refusal), 'event of 2020-02-11: 40001 this row stays', 'with its error');
select alike((select array_to_string(problems, ';') from outbox.queue_health), '%(1) in outbox.add_partitions(): select%', 'queue_health tells it');
select is((select count(*) from outbox.event_p20200212), 1::bigint, 'the rows of the next day have moved');
drop trigger refuse on outbox.event_default;
select is(outbox.add_partitions(), '{"late": [], "made": 1}', 'once it is possible, it is created');
select is_empty('select * from outbox.upkeep_refusal', 'and the refusal is gone');

create view helper.used as select * from outbox.attempt_p20200210;
select time_is('2021-02-10 12:00:00+00');
create temporary table dropped as select outbox.drop_partitions() as r;
select is(r -> 'failed', '["attempt_p20200210"]', 'of the old partitions, the one that a view reads cannot be dropped') from dropped;
select is(r -> 'dropped', '15', 'the other fifteen are') from dropped;
select set_eq($$select p from parts() p where p ~ '^attempt'$$, $$values ('attempt_p20200210'::name)$$, 'only this one is left');
select alike((select error from outbox.upkeep_refusal), 'cannot drop table outbox.attempt_p20200210 because other objects depend on it', 'with the reason');
drop view helper.used;
do $$ begin perform outbox.drop_partitions(); end $$;
select is_empty($$select p from parts() p where p ~ '^attempt' union all select u.member::name from outbox.upkeep_refusal u$$, 'without the view it goes too');

select * from finish();
rollback;
