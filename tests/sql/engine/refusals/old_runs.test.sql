-- A row of a run that ended long ago, and that the database refuses to delete, stops no new run.
begin;
\ir ../../_helpers.sql
select plan(7);

create function refuse() returns trigger language plpgsql as $$
begin
  raise exception 'this row stays';
end
$$;
create function old_id(p_n integer) returns uuid language sql as $$
  select ('00000000-0000-7000-8000-00000000000' || p_n)::uuid
$$;
insert into outbox.run (id, kind, started_at, polled_at) select old_id(n), 'edge', '2020-01-01', '2020-01-01' from generate_series(1, 3) n;
insert into outbox.run_batch (run_id, seq, at) select old_id(n), 1, '2020-01-01' from generate_series(1, 3) n;
insert into outbox.isolation (run_id, claimed_at) select old_id(n), '2020-01-01' from generate_series(1, 3) n;
create trigger refuse before delete on outbox.run for each row when (old.id::text ~ '2$') execute function helper.refuse();
create trigger refuse before delete on outbox.run_batch for each row when (old.run_id::text ~ '2$') execute function helper.refuse();
create trigger refuse before delete on outbox.isolation for each row when (old.run_id::text ~ '2$') execute function helper.refuse();

do $$ begin perform endpoint(), events(2); end $$;
select is(claimed(outbox.dispatch('00000000-0000-7000-8000-00000000000a', 1, '[]', 10)::jsonb), 2, 'a new run gets the deliveries');
select results_eq('select id from outbox.run where polled_at < ''2021-01-01''', 'select old_id(2)', 'only the run that cannot be deleted is left');
select results_eq('select run_id from outbox.run_batch where at < ''2021-01-01''', 'select old_id(2)', 'only its batch');
select results_eq('select run_id from outbox.isolation', 'select old_id(2)', 'and its isolated delivery');
select is((select count(*) from outbox.upkeep_refusal where task = 'outbox.forget_runs' and error = 'this row stays'), 3::bigint, 'each refusal is recorded');
select alike((select array_to_string(problems, ';') from outbox.queue_health), '%(3) in outbox.forget_runs(): select%', 'and shown');
drop function refuse() cascade;
select outbox.dispatch('00000000-0000-7000-8000-00000000000b', 1, '[]', 10) is not null;
select is_empty('select from outbox.run where polled_at < ''2021-01-01''', 'once it is possible, the row is deleted');

select * from finish();
rollback;
