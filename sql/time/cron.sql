-- The jobs of pg_cron. Before version 1.5, pg_cron starts a job at most once a minute. There, the
-- job calls tick() once a second until its minute is over. It commits after each call, so it cannot
-- be a procedure with a SET clause. Each call has its own exception block, because an error would
-- end the loop.

do $$
begin
  perform cron.schedule('outhook-tick', '1 seconds', 'select outbox.tick()');
exception when invalid_parameter_value then
  perform cron.schedule('outhook-tick', '* * * * *', $job$
do $tick$
declare
  v_end constant timestamptz :=
    pg_catalog.date_trunc('minute', pg_catalog.clock_timestamp()) + interval '1 minute';
begin
  loop
    begin
      perform outbox.tick();
    exception when others then
      raise warning 'outbox.tick(): %', sqlerrm;
    end;
    commit;
    exit when pg_catalog.clock_timestamp() + interval '1 s' >= v_end;
    perform pg_catalog.pg_sleep(1);
  end loop;
end
$tick$
$job$);
end
$$;

select cron.schedule('outhook-partitions', '7 * * * *', 'select outbox.add_partitions()');
-- Repeat until nothing is left: otherwise rows would accumulate if a day brings more than the limit
-- of one call. Each round is a short transaction.
select cron.schedule('outhook-cleanup', '0 0 * * *', $job$
do $cleanup$
begin
  while (outbox.cleanup() -> 'more')::boolean loop
    commit;
  end loop;
end
$cleanup$
$job$);
-- A separate job, so that neither job holds its locks while the other one works.
select cron.schedule('outhook-drop-partitions', '0 0 * * *', 'select outbox.drop_partitions()');

-- In these tables some thousand rows a second die. Autovacuum would handle them once a minute, but
-- the application's big tables can keep all of its three workers busy for hours. index_cleanup on:
-- dead index entries make claims slow, and vacuum would leave them while they are few. truncate
-- off: truncating the file needs a lock that stops every run.
select cron.schedule('outhook-vacuum', '* * * * *',
  'vacuum (skip_locked, index_cleanup on, truncate off) '
  'outbox.gate, outbox.lane, outbox.unrouted, outbox.run, outbox.run_batch');

-- The time from which the lateness of the tick is measured.
select pg_catalog.setval('outbox.last_tick',
  (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint, false);
