-- The jobs of pg_cron. statement_timeout of their role cancels a job that takes longer: so each of
-- them works in pieces and ends in time (time/job_deadline).

-- The tick runs every second, and each start of a job costs a new connection: 50 to 300 ms of CPU
-- with cold caches. So a start ticks for up to a minute. From version 1.5, pg_cron starts the job
-- again at once when it has ended, and before, once a minute.
do $do$
declare
  v_loop constant text := $job$
do $tick$
declare
  v_until constant timestamptz := outbox.begin_ticks();
  v_backfills_until timestamptz;
begin
  loop
    perform outbox.try_tick(v_until);
    commit;
    -- Each step commits, because it locks rows of the application and the gate of an endpoint. They
    -- have half a second, so that the next tick comes in time.
    v_backfills_until := least(v_until, pg_catalog.clock_timestamp() + interval '0.5 s');
    while outbox.try_backfill(v_backfills_until) loop
      commit;
    end loop;
    commit;
    exit when pg_catalog.clock_timestamp() + interval '1 s' >= v_until;
    perform outbox.await_tick();
  end loop;
end
$tick$
$job$;
begin
  perform cron.schedule('outhook-tick', '1 seconds', v_loop);
exception when invalid_parameter_value then
  perform cron.schedule('outhook-tick', '* * * * *', v_loop);
end
$do$;

select cron.schedule('outhook-partitions', '7 * * * *', 'select outbox.add_partitions()');

-- It does the work of a day (UTC) once, from midnight. The other starts continue what is left, or
-- have nothing to do.
select cron.schedule('outhook-cleanup', '*/5 * * * *', $job$
do $cleanup$
declare
  v_until constant timestamptz := outbox.job_deadline();
begin
  while outbox.cleanup_next() loop
    commit;
    exit when pg_catalog.clock_timestamp() >= v_until;
  end loop;
end
$cleanup$
$job$);

-- One partition in each transaction, because publishers wait for its lock. Twelve starts, so that
-- all are dropped in one night.
select cron.schedule('outhook-drop-partitions', '*/5 0 * * *', $job$
do $drop$
declare
  v_until constant timestamptz := outbox.job_deadline();
begin
  while (outbox.drop_partitions(1) -> 'more')::boolean loop
    commit;
    exit when pg_catalog.clock_timestamp() >= v_until;
  end loop;
end
$drop$
$job$);

-- In these tables some thousand rows a second die. Autovacuum would handle them once a minute, but
-- the application's big tables can keep all of its three workers busy for hours. index_cleanup on:
-- dead index entries make claims slow, and vacuum would leave them while they are few. truncate
-- off: truncating the file needs a lock that stops every run. Each table commits, and the largest
-- is the last: a timeout takes away no other.
select cron.schedule('outhook-vacuum', '* * * * *',
  'vacuum (skip_locked, index_cleanup on, truncate off) '
  'outbox.gate, outbox.unrouted, outbox.run, outbox.run_batch, outbox.lane');

-- The time from which the lateness of the tick is measured.
select pg_catalog.setval('outbox.last_tick',
  (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint, false);
