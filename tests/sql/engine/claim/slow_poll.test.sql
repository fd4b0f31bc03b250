-- A worker that polls rarely, because of worker.poll_interval_ms, counts as live between two polls: its kinds are not
-- treated as unsendable by a run that cannot send them.
begin;
\ir ../../_helpers.sql
select plan(5);

create function poll(p_run text, p_kinds jsonb) returns void language sql as $$
  select outbox.dispatch(md5(p_run)::uuid, nextval('helper.seq'), '[]', 10, 'worker',
    p_contract => jsonb_build_object('oldest', 1, 'newest', 1, 'kinds', p_kinds))
$$;
do $$ begin perform outbox.set_setting('worker.poll_interval_ms', '60000'), poll('able', '["webhook"]'), time_passes('25 s'); end $$;
select ok(outbox.is_sent('webhook', outbox.clock()), 'between two polls the worker counts as live');
select is(outbox.get_metrics() #>> '{engine,runs,worker}', '1', 'the metrics count it too');
update outbox.run r set polled_at = now() - interval '25 s' where true;
select is((select runs::integer from outbox.queue_health), 1, 'and so does queue_health');
update outbox.run r set polled_at = outbox.clock() - interval '25 s' where true;
do $$ begin perform time_passes('36 s'); end $$;
select ok(not outbox.is_sent('webhook', outbox.clock()), 'after the whole interval it does not');
do $$ begin perform outbox.set_setting('worker.poll_interval_ms', '1000'), poll('able', '["webhook"]'), time_passes('10 s'); end $$;
select ok(not outbox.is_sent('webhook', outbox.clock()), 'with a short interval it does not after 10 s');

select * from finish();
rollback;
