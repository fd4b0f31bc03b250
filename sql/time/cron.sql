-- Every job of pg_cron. Since 1.5 it knows seconds; before that a job is started once a minute and
-- works through its minute in steps of a second. It commits between the steps, so it cannot be a
-- procedure with a SET clause, and each step's exception block closes before the commit, or one
-- error would end the minute.

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
-- Until nothing is left: a night that ended at a limit would fall behind where more than that
-- comes in a day. Each round is a short transaction.
select cron.schedule('outhook-cleanup', '0 0 * * *', $job$
do $cleanup$
begin
  while (outbox.cleanup() -> 'more')::boolean loop
    commit;
  end loop;
end
$cleanup$
$job$);
-- By itself: its locks must not be held while rows are deleted, nor the other way round.
select cron.schedule('outhook-drop-partitions', '0 0 * * *', 'select outbox.drop_partitions()');

-- Autovacuum sees to these tables once a minute as well, while one of its three workers is free:
-- the application's own big tables can keep all of them for hours, and here some thousand rows a
-- second die. What costs is the dead entries of the indexes that claims read from the low end,
-- which vacuum leaves in place by itself while they are few; and cutting the file would ask for a
-- lock that stops every run.
select cron.schedule('outhook-vacuum', '* * * * *',
  'vacuum (skip_locked, index_cleanup on, truncate off) '
  'outbox.gate, outbox.lane, outbox.unrouted, outbox.run, outbox.run_batch');

-- The time from which the lateness of the tick is measured.
select pg_catalog.setval('outbox.last_tick',
  (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint, false);
