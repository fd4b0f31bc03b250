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
select cron.schedule('outhook-cleanup', '0 0 * * *', 'select outbox.cleanup()');
-- By itself: its locks must not be held while rows are deleted, nor the other way round.
select cron.schedule('outhook-drop-partitions', '0 0 * * *', 'select outbox.drop_partitions()');
