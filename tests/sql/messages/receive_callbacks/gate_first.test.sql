-- A status of a message that waits for a retry, or has failed, is decided only while its gate is held.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(5);

create temporary table made as select channel() as channel_id, template() as code;
create function stored(variadic p_updates jsonb[]) returns bigint[] language sql as $$
  select outbox.store_callbacks('900000000000001', null, to_jsonb(p_updates), outbox.clock())
$$;
create function classified(p_ids bigint[], p_gates uuid[]) returns text language sql as $$
  select string_agg(concat_ws(' ', c.status, c.update_status, c.reason, c.is_new, c.arrives), ', ' order by c.status)
  from unnest(outbox.classify_statuses(p_ids, p_gates)) c
$$;

create temporary table a as select sent('A') as id;
select receive(failure('wamid.A', '131026', 1));
create temporary table late as select stored(status('wamid.A', 'delivered', 2)) as ids;
select is(classified(ids, '{}'), 'delivered stored retry_pending f f', 'what contradicts a failure waits for the gate') from late;
select is(classified(ids, array[channel_id]), 'delivered skipped after_failed f t', 'and is decided then') from late, made;

-- Two contradictory reports in one call, of a message that waits for its retry.
select time_passes('10 seconds');
create temporary table b as select message_id(message('+12025550112')) as id;
select send('failed', '{"error_class": "timeout", "error": "No answer"}');
create temporary table both_ as select stored(failure('wamid.B', '131026', 1, m), status('wamid.B', 'delivered', 2, m)) as ids
from b, lateral (select jsonb_build_object('callback_data', format('ob1:%s:1', id)) as m) x;
select is(classified(ids, '{}'), 'delivered stored retry_pending f f, failed stored retry_pending f f', 'of two reports none is decided before the other') from both_;
select is(classified(ids, array[channel_id]), 'delivered skipped after_failed f t, failed applied t f', 'with the gate, the first one counts') from both_, made;
select outbox.apply_statuses(ids, outbox.clock()) from both_;
select is((row_of(id)).status, 'FAILED', 'as apply_statuses() decides, which locks it') from b;

select * from finish();
rollback;
