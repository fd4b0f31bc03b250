-- Counts of the responses to callbacks. The verdicts of updates are in callback_count; a refused
-- callback has no updates. A function reports its counts together, because anybody can send
-- requests without a signature.

create function outbox.count_callbacks(p_responses jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  insert into outbox.counter_change (metric, labels, n, total)
  select 'callback_responses', array[r.status::text], pg_catalog.sum(r.n), 0
  from pg_catalog.jsonb_to_recordset(p_responses) as r (status integer, n bigint)
  where r.n > 0 and r.status between 100 and 599
  group by r.status;
  return pg_catalog.jsonb_build_object('noted', true);
end
$$;
comment on function outbox.count_callbacks(jsonb) is
  'Counts the responses to callbacks: [{"status", "n": how many}]. Returns {"noted": true}.';
