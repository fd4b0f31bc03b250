-- Order where it was promised: through failures, releases, lost runs, open breakers and dead letters, the last
-- attempts of a key follow each other as its events were published, and never two keys' in each other's way.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(9);

create temporary table made as select endpoint(p_ordering => 'partition', p_quantum => 4, p_breaker => true, p_retry => plain_retry(2)) as keyed,
  endpoint(p_ordering => 'endpoint', p_quantum => 7, p_breaker => true, p_retry => plain_retry(2)) as whole;
create temporary table sent (nth integer generated always as identity, event_id uuid, endpoint_id uuid, lane text, outcome text);
do $$ begin perform setseed(0.7); end $$;

-- A run's round: each lane is sent one by one; after a failure the rest of it is given back; now and then
-- the run dies with all that it holds, or routing brings more.
create function go(p_round integer) returns integer language plpgsql as $$
declare
  v_answer jsonb := step(30);
  v_results jsonb := '[]';
  v_broken text[] := '{}';
  v_delivery jsonb;
  v_outcome text;
begin
  if p_round % 9 = 0 then
    perform time_passes('3 min');
    return claimed(v_answer);
  end if;
  for v_delivery in select * from jsonb_array_elements(v_answer -> 'deliveries') loop
    v_outcome := case when v_delivery ->> 'lane' = any (v_broken) then 'released' when random() < 0.25 then 'failed' else 'delivered' end;
    if v_outcome <> 'delivered' then
      v_broken := v_broken || (v_delivery ->> 'lane');
    end if;
    if v_outcome <> 'released' then
      insert into sent (event_id, endpoint_id, lane, outcome) values ((v_delivery ->> 'event')::uuid, (v_delivery ->> 'endpoint')::uuid, v_delivery ->> 'lane', v_outcome);
    end if;
    v_results := v_results || jsonb_build_object('event', v_delivery -> 'event', 'endpoint', v_delivery -> 'endpoint', 'attempt', v_delivery -> 'attempt',
      'outcome', v_outcome, 'status', case v_outcome when 'failed' then 500 else 200 end);
  end loop;
  perform step(0, v_results);
  return claimed(v_answer);
end
$$;
create temporary table event (k integer, id uuid);
do $$
begin
  for n in 1 .. 120 loop
    if n <= 24 then
      insert into event select n % 4, e from unnest(events(3, p_key => 'key ' || n % 4)) e;
    end if;
    perform go(n), time_passes('5 s');
    exit when n > 24 and not exists (select from outbox.delivery);
  end loop;
end
$$;
select is((select count(*) from outbox.delivery), 0::bigint, 'in the end nothing is open');
select is((select count(distinct (a.event_id, a.endpoint_id)) from outbox.attempt a join event e on e.id = a.event_id where a.kind = 'close' or a.outcome = 'delivered'), 144::bigint, 'each event has come to its end at both endpoints');
select cmp_ok((select count(*) from sent where outcome = 'failed'), '>', 30::bigint, 'many failed on the way');
select cmp_ok((select count(*) from news('outhook.delivery.dead_lettered')), '>', 0::bigint, 'some are dead letters');
select cmp_ok((select count(*) from outbox.attempt where error_class = 'lease_expired'), '>', 0::bigint, 'some were lost');
-- Each event's last try, in the order in which they were made.
create temporary view last_try as select s.event_id, s.endpoint_id, max(s.nth) as nth, e.k from sent s join event e on e.id = s.event_id group by 1, 2, 4;
select is_empty($$select a.event_id, b.event_id from last_try a join last_try b on a.endpoint_id = b.endpoint_id and a.k = b.k and a.event_id < b.event_id and a.nth > b.nth
  join made m on m.keyed = a.endpoint_id$$, 'for each key the last attempts follow the order of publishing');
select is_empty($$select a.event_id, b.event_id from last_try a join last_try b on a.endpoint_id = b.endpoint_id and a.event_id < b.event_id and a.nth > b.nth
  join made m on m.whole = a.endpoint_id$$, 'over the whole endpoint too');
-- Not even a first try overtakes: before the event ahead has ended, what is behind it is not sent.
select is_empty($$select a.event_id from sent a join sent b on a.endpoint_id = b.endpoint_id and a.event_id < b.event_id and b.nth < a.nth join made m on m.whole = a.endpoint_id$$,
  'nothing is sent before what is ahead of it has ended');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
