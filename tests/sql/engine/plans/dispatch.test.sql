-- A call scans no table that grows, and touches rows in proportion to what it was asked for: 1,000 events,
-- 2,000 deliveries, with the statistics of empty tables and with fresh ones.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(50);

-- What each call is asked for and what came of it, under the name of the statistics.
create temporary table done (n integer generated always as identity, what text, came text, should text, most bigint);
create function note(p_what text, p_came text, p_should text, p_most bigint) returns void language sql as $$
  insert into done (what, came, should, most) values (p_what, p_came, p_should, p_most)
$$;

create function refresh(p_statistics text) returns void language plpgsql as $$
begin
  if p_statistics = 'fresh' then
    analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.subscription, outbox.unrouted, outbox.attempt, outbox.dead_letter;
  end if;
end
$$;

create function calls(p_statistics text) returns void language plpgsql as $$
declare
  v_endpoints uuid[] := array(select endpoint(array[p_statistics || n % 25 || '.*'], p_max_in_flight => 1000, p_quantum => 10) from generate_series(1, 50) n);
  v_ordered uuid := endpoint('{}', p_ordering => 'partition', p_quantum => 100);
  v_claimed jsonb;
  v_next jsonb;
  v_answer jsonb;
begin
  perform events(40, p_statistics || n || '.x') from generate_series(0, 24) n;
  perform refresh(p_statistics);
  v_answer := measure(p_statistics || ': routing', 0);
  perform note(p_statistics || ': routing', v_answer ->> 'routed', '2000', 12 * 2000);
  perform refresh(p_statistics);
  v_claimed := measure(p_statistics || ': claiming', 400);
  perform note(p_statistics || ': claiming', claimed(v_claimed)::text, '400', 10 * 400);
  perform time_passes('1 s');
  v_next := measure(p_statistics || ': completing and claiming', 400, results(v_claimed, 'delivered'));
  perform note(p_statistics || ': completing and claiming', (v_next ->> 'applied') || ' ' || claimed(v_next), '400 400', 20 * 400);
  perform refresh(p_statistics);
  v_answer := measure(p_statistics || ': dead letters', 0, results(v_next, 'failed', '{"status": 404}'));
  perform note(p_statistics || ': dead letters', v_answer ->> 'applied', '400', 12 * 400);
  perform step(0), time_passes('1 s');
  v_answer := measure(p_statistics || ': one of many', 1);
  perform note(p_statistics || ': one of many', claimed(v_answer)::text, '1', 200);
  -- What remains is taken away as if it had been sent.
  delete from outbox.delivery where true;
  update outbox.lane set depth = 0, leased = 0, leased_until = null, next_at = 'infinity' where true;
  update outbox.gate set depth = 0, in_flight = 0, next_at = 'infinity' where true;
  v_answer := measure(p_statistics || ': without work', 400);
  perform note(p_statistics || ': without work', claimed(v_answer)::text, '0', 10);
  perform events(200, p_key => 'a', p_endpoint_id => v_ordered), step(0);
  v_claimed := measure(p_statistics || ': an ordered lane', 400);
  perform note(p_statistics || ': an ordered lane', claimed(v_claimed)::text, '100', 10 * 100);
  perform time_passes('1 s');
  v_answer := measure(p_statistics || ': renewing', 0, jsonb_build_array(results(v_claimed, 'renew') -> -1));
  perform note(p_statistics || ': renewing', (select count(*)::text from outbox.delivery d where d.endpoint_id = v_ordered and d.leased_until = outbox.clock() + interval '20 s'), '100', 10 * 100);
end
$$;

select is((select reltuples from pg_class where oid = 'outbox.delivery'::regclass) > 0, false, 'the first time the statistics know of no delivery');
do $$ begin perform calls('stale'), calls('fresh'); end $$;
select is((select reltuples from pg_class where oid = 'outbox.delivery'::regclass) > 0, true, 'the second time they do');
select is(came, should, what || ': does what it was asked for') from done order by n;
select is_empty(format('select seq_scans(%L)', what), what || ': scans nothing') from done order by n;
select cmp_ok(rows_touched(what), '<=', most, format('%s: touches at most %s rows', what, most)) from done order by n;

select * from finish();
rollback;
