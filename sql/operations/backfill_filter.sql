-- The filter of a backfill, and what a step spends on it.

create function outbox.body_work(p_body text) returns bigint
language plpgsql immutable set search_path = ''
as $$
declare
  v_bytes bigint := pg_catalog.octet_length(p_body);
begin
  -- As evaluate_filters() and sorting_work().
  return v_bytes / 4 + case
    when v_bytes <= 16384 then 0
    else (v_bytes - pg_catalog.octet_length(pg_catalog.replace(p_body, ':', ''))) ^ 2 / 300
  end;
end
$$;
comment on function outbox.body_work(text) is
  'The cost of reading a payload for a filter, in steps of at most 0.5 us.';

create function outbox.job_filter(p_job outbox.replay_job) returns outbox.filter
language plpgsql stable set search_path = ''
as $$
begin
  return case when p_job.filter is not null then outbox.read_filter(p_job.filter) end;
end
$$;
comment on function outbox.job_filter(outbox.replay_job) is
  'The filter of a backfill; null if it has none.';

create function outbox.body_problem(
  p_body text, p_filters jsonpath[], p_weights integer[]
) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_doc jsonb;
  v_steps bigint := outbox.filter_steps(p_weights, outbox.count_values(p_body));
begin
  -- A payload with too many values is not parsed, as in evaluate_filters().
  if coalesce(v_steps <= outbox.most_filter_steps(), true) then
    begin
      v_doc := p_body::jsonb;
    exception when others then
      if outbox.is_passing(sqlstate) then
        raise;
      end if;
      return 'filter: ' || sqlerrm;
    end;
  end if;
  return outbox.filter_problem(
    row(null, null, pg_catalog.octet_length(p_body), p_filters, p_weights, null)::outbox.question,
    v_doc, v_steps);
end
$$;
comment on function outbox.body_problem(text, jsonpath[], integer[]) is
  'The problem of a payload with filters, as in outbox.pair: null if it passes one of them.';
