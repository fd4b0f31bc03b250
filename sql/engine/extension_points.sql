-- Extension points of the engine. Each function here does nothing. One module may replace it by
-- `create or replace function` in its own folder. The replacement has the same arguments, result,
-- SET clauses and security option, because Postgres drops the clauses that it does not repeat. The
-- caller holds the gates of the endpoints. An error fails the call, so the results and their
-- effects in a module are one transaction.
--
-- They are functions and not rows of a table, because a static call has a cached plan: 4 to 8 us,
-- where an EXECUTE takes 45 to 92 us. endpoints/extension_points and operations/extension_points
-- have the others. Each body reads its arguments, because `supabase db lint` warns of those that
-- are not used.

create function outbox.on_results(
  p_results outbox.result[], p_news outbox.news, p_now timestamptz
) returns outbox.news
language plpgsql set search_path = ''
as $$
begin
  return case when p_results is null or p_now is null then p_news else p_news end;
end
$$;
comment on function outbox.on_results(outbox.result[], outbox.news, timestamptz) is
  'Extension point of complete(): results were applied. p_results: all results, including stale '
  'ones; p_news: their effects beyond their deliveries, null if apply_results() was not called. '
  'Returns the news that complete() acts on: an endpoint that is removed from "gone" or '
  '"held" is not disabled. Returns p_news here; the module messages replaces it.';

create function outbox.on_dead_letters(
  p_events uuid[], p_endpoints uuid[], p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  if p_events is null or p_endpoints is null or p_now is null then
    return;
  end if;
end
$$;
comment on function outbox.on_dead_letters(uuid[], uuid[], timestamptz) is
  'Extension point: deliveries became dead letters, by a result or because they expired. p_events '
  'and p_endpoints: the ids of each delivery, by position. The caller parks the gates afterwards. '
  'Does nothing here; the module brokers replaces it.';

create function outbox.on_claimed(
  p_claimed outbox.claimed, p_now timestamptz
) returns outbox.claimed
language plpgsql set search_path = ''
as $$
begin
  return case when p_now is null then p_claimed else p_claimed end;
end
$$;
comment on function outbox.on_claimed(outbox.claimed, timestamptz) is
  'Extension point of serve(): deliveries were leased, at least one. Returns those that the run '
  'gets; for each of the others the replacement has ended the lease. It parks the gates that it '
  'changes. Returns p_claimed here; the module messages replaces it.';

create function outbox.on_parcel(
  p_parcel outbox.parcel, p_claimed outbox.claimed
) returns outbox.parcel
language plpgsql set search_path = ''
as $$
begin
  return case when p_claimed is null then p_parcel else p_parcel end;
end
$$;
comment on function outbox.on_parcel(outbox.parcel, outbox.claimed) is
  'Extension point of build_parcel(): the parcel of a claim is complete. Returns the parcel that '
  'the run gets, with the additional data of a module''s senders. An error means that a secret '
  'cannot be read: the endpoint is held. Returns p_parcel here; the module messages replaces it.';
