-- Check constraints on numbers, which also apply to an UPDATE at the console: both bounds are accepted, and values
-- beyond them are refused. The test covers each such constraint.
begin;
\ir ../_helpers.sql
select plan(4 * 11 + 1);

select endpoint();
select outbox.replay_many();
create temporary table bound (of_table text, of_column text, least numeric, most numeric, step numeric);
insert into bound values
  ('endpoint', 'timeout_ms', 500, 60000, 1), ('endpoint', 'max_in_flight', 1, 1000, 1), ('endpoint', 'quantum', 1, 1000, 1),
  ('endpoint', 'rate_per_second', 0.001, 100000, 0.0001), ('endpoint', 'rate_burst', 1, 100000, 1), ('endpoint', 'lane_spacing_ms', 0, 3600000, 1),
  ('endpoint', 'breaker_threshold', 1, 1000, 1), ('endpoint', 'breaker_open_ms', 1000, 3600000, 1),
  ('failure_rule', 'min_delay_s', 0, 604800, 1), ('failure_rule', 'max_retries', 0, 50, 1),
  ('replay_job', 'rate_per_second', 1, 1000, 1);

create function put(p_table text, p_column text, p_value numeric) returns text language plpgsql as $$
begin
  execute format('update outbox.%I set %I = %s where true', p_table, p_column, p_value);
  return 'accepted';
exception when check_violation then
  return 'refused';
end
$$;
select is(put(of_table, of_column, least), 'accepted', format('%s.%s takes its least, %s', of_table, of_column, least)) from bound;
select is(put(of_table, of_column, most), 'accepted', format('%s.%s takes its most, %s', of_table, of_column, most)) from bound;
select is(put(of_table, of_column, least - step), 'refused', format('%s.%s refuses less', of_table, of_column)) from bound;
select is(put(of_table, of_column, most + step), 'refused', format('%s.%s refuses more', of_table, of_column)) from bound;
select set_eq($$
    select distinct c.conrelid::regclass::text, a.attname::text from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
    where c.contype = 'c' and c.connamespace = 'outbox'::regnamespace and pg_get_constraintdef(c.oid) ~ '>= .*<= '$$,
  'select ''outbox.'' || of_table, of_column from bound', 'and these are all that have two ends');

select * from finish();
rollback;
