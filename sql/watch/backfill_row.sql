-- One row of a backfill: its event, whether it is wanted, and its storage.

create function outbox.row_event(
  p_job outbox.replay_job, p_watch jsonb, p_name text[], p_row outbox.source_row,
  p_at timestamptz
) returns outbox.event
language plpgsql volatile set search_path = ''
as $$
begin
  -- As publish_change().
  return row(outbox.uuid_v7(p_at),
    case
      when p_watch -> 'columns' ? 'org_column' then p_row.org_id
      else coalesce(p_watch ->> 'org_id', p_job.org_id)
    end,
    pg_catalog.replace(p_watch ->> 'type', '{op}', 'inserted'),
    pg_catalog.json_build_object('type', 'INSERT', 'table', p_name[2], 'schema', p_name[1],
      'record', p_row.record, 'old_record', null)::text,
    case
      when pg_catalog.length(p_row.partition_key) > 256 then
        pg_catalog.encode(
          pg_catalog.sha256(pg_catalog.convert_to(p_row.partition_key, 'UTF8')), 'hex')
      else p_row.partition_key
    end,
    'backfill-' || p_job.id, null, null, p_job.endpoint_id, null, p_at)::outbox.event;
end
$$;
comment on function
  outbox.row_event(outbox.replay_job, jsonb, text[], outbox.source_row, timestamptz) is
  'The event of a row, addressed to the endpoint of the backfill. p_name: the schema and the name '
  'of the table. The correlation id names the job.';

create function outbox.row_problem(
  p_job outbox.replay_job, p_filter outbox.filter, p_row outbox.source_row, p_event outbox.event
) returns text
language plpgsql volatile set search_path = ''
as $$
begin
  -- Of a row without an organisation, no change is published either.
  if p_event.org_id is distinct from p_job.org_id then
    return '';
  elsif p_row.record is null then
    return pg_catalog.format('the row has more than %s bytes', outbox.most_row_bytes());
  elsif p_filter.path is null then
    return null;
  end if;
  return outbox.body_problem(p_event.body, array[p_filter.path], array[p_filter.weight]);
end
$$;
comment on function
  outbox.row_problem(outbox.replay_job, outbox.filter, outbox.source_row, outbox.event) is
  'Why a row is not sent: null if it is; empty if it is of another organisation than the backfill, '
  'or does not pass its filter; else the error for which it is skipped.';

create function outbox.put_row(
  p_job outbox.replay_job, p_event outbox.event, p_is_ordered boolean, p_place bigint
) returns text
language plpgsql set search_path = ''
as $$
begin
  perform outbox.check_event(p_event);
  insert into outbox.event select p_event.*;
  if p_is_ordered then
    insert into outbox.unrouted (event_id, org_id, is_backfill)
    values (p_event.id, p_event.org_id, true);
  end if;
  return null;
exception when query_canceled or assert_failure or others then
  if outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then
    raise;
  elsif sqlstate = '55P03' then
    perform outbox.rest_job(p_job.id, pg_catalog.format('row %s: %s', p_place, sqlerrm));
    return '';
  elsif outbox.may_stay(sqlstate)
    and outbox.refuse_upkeep('outbox.backfill',
      pg_catalog.format('row %s of replay job %s', p_place, p_job.id), sqlstate, sqlerrm,
      '1 hour') < 5
  then
    return '';
  end if;
  return pg_catalog.format('%s %s', sqlstate, sqlerrm);
end
$$;
comment on function outbox.put_row(outbox.replay_job, outbox.event, boolean, bigint) is
  'Stores the event of a row: null. Else the error for which the job skips the row, because its '
  'event is invalid or refused; empty: the job has to try again, after an error that is usually '
  'temporary, at most 4 times, or after a wait for a lock. p_place: the number of the '
  'row in the order of the job.';

create function outbox.wanted_keys(
  p_job outbox.replay_job, p_filter outbox.filter, p_watch jsonb, p_name text[],
  p_rows outbox.source_row[], p_most integer
) returns text[]
language plpgsql volatile set search_path = ''
as $$
declare
  v_most_work constant bigint := 200000;
  v_work bigint := 0;
  v_event outbox.event;
  v_row outbox.source_row;
  v_keys text[] := array[]::text[];
begin
  foreach v_row in array p_rows loop
    exit when p_most = 0 or v_work > v_most_work;
    v_event := outbox.row_event(p_job, p_watch, p_name, v_row, p_job.created_at);
    if p_filter.path is not null and v_event.org_id = p_job.org_id then
      v_work := v_work + outbox.body_work(v_event.body)
        + outbox.filter_steps(array[p_filter.weight], outbox.count_values(v_event.body));
    end if;
    if outbox.row_problem(p_job, p_filter, v_row, v_event) = '' then
      v_keys := v_keys || null::text;
    else
      p_most := p_most - 1;
      v_keys := v_keys || v_row.key;
    end if;
  end loop;
  return v_keys;
end
$$;
comment on function
  outbox.wanted_keys(
    outbox.replay_job, outbox.filter, jsonb, text[], outbox.source_row[], integer) is
  'The keys of the first rows, up to p_most that are sent or skipped: null in the place of one '
  'that is not wanted.';

create function outbox.note_skipped(p_job_id bigint, p_rows integer, p_last text) returns void
language plpgsql set search_path = ''
as $$
begin
  -- One object for all rows of a job: a table may have a million.
  if p_rows > 0 then
    perform outbox.refuse_upkeep('outbox.backfill',
      pg_catalog.format('rows of replay job %s', p_job_id), 'OH001',
      pg_catalog.format('%s rows of one step, the last: %s', p_rows, p_last), '1 hour');
  end if;
end
$$;
comment on function outbox.note_skipped(bigint, integer, text) is
  'Records that a step of a backfill has skipped rows. p_last: the last one and its error.';
