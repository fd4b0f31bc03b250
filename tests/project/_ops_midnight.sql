-- Lays the rows of the last two days anew into partitions as they are at another time of day: today
-- has lasted for :since. Where :since is empty, nobody has made partitions and all are in DEFAULT.
-- Takes about 15 s.
set statement_timeout = 0;
set synchronous_commit = off;
select set_config('ops.since', :'since', false) \g /dev/null

do $$
declare
  v_midnight timestamptz := now() - nullif(current_setting('ops.since'), '')::interval;
  v_table text;
  v_part text;
  v_from text;
  v_to text;
  v_ago integer;
begin
  foreach v_table in array array['event', 'attempt'] loop
    execute format('create temporary table rows as select * from outbox.%I', v_table);
    execute format('delete from outbox.%I where true', v_table || '_default');
    for v_ago in 0..1 loop
      v_part := outbox.partition_name(v_table, (now() at time zone 'UTC')::date - v_ago);
      execute format('drop table if exists outbox.%I', v_part);
      continue when v_midnight is null;
      v_from := v_midnight - v_ago * interval '1 day';
      -- Where tomorrow's begins, which is there already.
      v_to := case v_ago when 1 then v_midnight else date_trunc('day', now(), 'UTC') + interval '1 day' end;
      if v_table = 'event' then
        v_from := outbox.uuid_v7_floor(v_from::timestamptz);
        v_to := outbox.uuid_v7_floor(v_to::timestamptz);
      end if;
      execute format('create table outbox.%I partition of outbox.%I for values from (%L) to (%L)',
        v_part, v_table, v_from, v_to);
    end loop;
    execute format('insert into outbox.%I select * from rows', v_table);
    drop table rows;
  end loop;
end $$;
vacuum analyze outbox.event, outbox.attempt;
