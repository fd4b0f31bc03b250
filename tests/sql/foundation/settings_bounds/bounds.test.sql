-- Modules: api, inbox, messages
-- Every number has its bounds: both ends are taken, what lies beyond is refused, with what the setting is for
-- and what it is now.
begin;
\ir ../../_helpers.sql
create temporary table number as select name, lowest, highest, value from outbox.setting where type = 'integer';
select plan((4 * (select count(*) from number) + 4 * (select count(*) from outbox.setting where type = 'boolean') + 6)::integer);

select is(outbox.set_setting(name, to_jsonb(lowest)) -> 'value', to_jsonb(lowest), format('%s takes its least, %s', name, lowest)) from number order by name;
-- What others must not exceed comes first.
select is(outbox.set_setting(name, to_jsonb(highest)) -> 'value', to_jsonb(highest), format('%s takes its most, %s', name, highest)) from number
order by array_position('{inbox.retention_days,event.retention_days,attempt.retention_days}', name), name desc;
select is(refusal(format('select outbox.set_setting(%L, %L)', name, lowest - 1)), format('OH005 setting %s must be between %s and %s', name, lowest, highest), name || ' refuses less') from number;
select is(refusal(format('select outbox.set_setting(%L, %L)', name, highest + 1)), format('OH005 setting %s must be between %s and %s', name, lowest, highest), name || ' refuses more') from number;
select outbox.set_setting('whatsapp.graph_url', '"https://graph.facebook.com"');
select is(outbox.set_setting(name, v::jsonb) -> 'value', v::jsonb, format('%s takes %s', name, v)) from outbox.setting, unnest('{true,false}'::text[]) v where type = 'boolean';
select is(refusal(format('select outbox.set_setting(%L, %L)', name, v)), format('OH005 setting %s must be true or false', name), format('%s refuses %s', name, v))
from outbox.setting, unnest(array['0', '"on"']) v where type = 'boolean';

-- The reason says what the setting is for, and what it is.
create function hint(p_statement text) returns text language plpgsql as $$
declare
  v_hint text;
begin
  execute p_statement;
  return null;
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end
$$;
select is(hint($$select outbox.set_setting('worker.batch_size', '0')$$), 'The largest number of deliveries that one dispatch claims. It is 1000 now', 'a refusal says what a setting is for and what it is');
-- What the design promises of the numbers themselves.
select cmp_ok((select highest * interval '1 hour' from number where name = 'idempotency.window_hours'), '<=', (select lowest * interval '1 day' from number where name = 'event.delivered_days'), 'no idempotency key outlives an event that was delivered at once');
select cmp_ok((select (value #>> '{}')::integer * interval '1 hour' from number where name = 'idempotency.window_hours'), '<=', (select lowest * interval '1 day' from number where name = 'event.retention_days'), 'the window of idempotency keys as it comes goes with every retention of events');
select cmp_ok((select highest from number where name = 'publish.max_body_bytes'), '<=', 1048576::bigint, 'a body fits into one batch of four MiB');
select is_empty('select name from number where lowest > highest or lowest is null or highest is null', 'every number has bounds');
select is_empty($$select name from outbox.setting where name !~ '^[a-z_]+\.[a-z_0-9]+$' or length(description) < 10$$, 'every setting has a name of two parts, and a meaning');

select * from finish();
rollback;
