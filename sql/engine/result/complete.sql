-- Recording results. A result applies only while its attempt holds the lease. The attempt number is
-- the fencing token: a late or repeated result finds no lease of its attempt, changes nothing and
-- counts as stale.

create function outbox.complete(p_results outbox.result[], p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_judge uuid[] := outbox.endpoints_to_judge(p_results);
  v_news outbox.news;
  v_applied integer;
begin
  if pg_catalog.cardinality(v_judge) = 0 then
    v_applied := outbox.apply_delivered(p_results, p_now);
  else
    v_news := outbox.apply_results(
      array(select r from pg_catalog.unnest(p_results) r where r.endpoint = any (v_judge)), p_now);
    v_applied := v_news.applied + outbox.apply_delivered(
      array(select r from pg_catalog.unnest(p_results) r where r.endpoint <> all (v_judge)), p_now);
  end if;
  v_news := outbox.on_results(p_results, v_news, p_now);
  if v_news.gone is not null then
    perform outbox.disable_endpoints(v_news.gone, 'gone', p_now);
  end if;
  if v_news.held is not null then
    perform outbox.disable_endpoints(v_news.held, 'failure_rule', p_now);
  end if;
  if v_news.failing is not null then
    perform outbox.disable_endpoints(v_news.failing, 'failing_for_days', p_now);
  end if;
  if v_news.dead_events is not null then
    perform outbox.announce_dead(v_news.dead_events, v_news.dead_endpoints);
    perform outbox.on_dead_letters(v_news.dead_events, v_news.dead_endpoints, p_now);
  end if;
  if v_news.opened is not null then
    perform outbox.count_up('breaker_opens', array[e.kind])
    from outbox.endpoint e where e.id = any (v_news.opened);
    perform outbox.announce('outhook.breaker.opened', v_news.opened);
  end if;
  if v_news.closed is not null then
    perform outbox.announce('outhook.breaker.closed', v_news.closed);
  end if;
  if exists (select from outbox.refusal) then
    perform outbox.forget_refusals(
      array(select r.event from pg_catalog.unnest(p_results) r),
      array(select r.endpoint from pg_catalog.unnest(p_results) r));
  end if;
  return v_applied;
end
$$;
comment on function outbox.complete(outbox.result[], timestamptz) is
  'Applies results, disables endpoints that returned 410, that a failure rule holds or that have '
  'failed for days, publishes operational events, and returns how many results applied; the others '
  'are stale. locks: the caller holds the gates.';
