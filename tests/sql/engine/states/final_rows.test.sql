-- Exactly one final row for each life of a delivery, and attempt numbers that only grow, of which nothing
-- is missing but what was given back.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

create temporary table made as select endpoint(p_retry => plain_retry(2)) as plain, endpoint(p_ordering => 'partition', p_retry => plain_retry(2)) as keyed;
select events(10, p_key => 'key ' || n) from generate_series(1, 3) n;
create temporary table given_back (event_id uuid, endpoint_id uuid, attempt integer);
-- Twenty rounds of every outcome in turn, a run that dies now and then, replays, cancels.
do $$
declare
  v_answer jsonb;
  v_results jsonb;
begin
  for n in 1 .. 20 loop
    v_answer := step(40);
    v_results := (select coalesce(jsonb_agg(r || case (x.k + n) % 6 when 0 then '{"outcome": "delivered"}' when 1 then '{"status": 500}' when 2 then '{"outcome": "released"}'
        when 3 then '{"error_class": "timeout"}' when 4 then '{"status": 404}' else '{"outcome": "delivered"}' end::jsonb), '[]')
      from jsonb_array_elements(results(v_answer, 'failed')) with ordinality x (r, k) where n % 7 <> 0);
    insert into given_back select (r ->> 'event')::uuid, (r ->> 'endpoint')::uuid, (r ->> 'attempt')::integer from jsonb_array_elements(v_results) r where r ->> 'outcome' = 'released';
    perform step(0, v_results);
    perform time_passes(n * interval '2 s');
    if n % 5 = 0 then
      perform outbox.replay(x.event_id, x.endpoint_id) from (select event_id, endpoint_id from outbox.dead_letter where replayed_at is null order by 1, 2 limit 4) x;
      perform outbox.replay(a.event_id, a.endpoint_id) from (
        select distinct on (event_id, endpoint_id) event_id, endpoint_id from outbox.attempt a where outcome = 'delivered'
          and not exists (select from outbox.delivery d where d.event_id = a.event_id and d.endpoint_id = a.endpoint_id) order by 1, 2 limit 3) a;
      perform outbox.cancel_delivery(d.event_id, d.endpoint_id) from (select event_id, endpoint_id from outbox.delivery where leased_until is null order by 1, 2 limit 2) d;
    end if;
  end loop;
end
$$;
create temporary view life as
select a.event_id, a.endpoint_id, count(*) filter (where a.kind = 'close' or a.outcome = 'delivered') as ends,
  exists (select from outbox.delivery d where d.event_id = a.event_id and d.endpoint_id = a.endpoint_id) as open
from outbox.attempt a where a.endpoint_id is not null group by 1, 2;
select cmp_ok((select count(*) from outbox.attempt), '>', 150::bigint, 'much has happened');
select cmp_ok((select count(*) from life where ends > 1), '>', 5::bigint, 'several have had more than one life');
select cmp_ok((select count(distinct outcome) from outbox.attempt), '>=', 4::bigint, 'and ended in many ways');
select is_empty('select a.event_id, a.endpoint_id, a.attempt from outbox.attempt a where a.kind = ''attempt'' group by 1, 2, 3 having count(*) > 1', 'an attempt has one attempt');
select is_empty($$select a.event_id, n from (select event_id, endpoint_id, max(attempt) as last from outbox.attempt where endpoint_id is not null group by 1, 2) a, generate_series(1, a.last) n
  where not exists (select from outbox.attempt b where b.event_id = a.event_id and b.endpoint_id = a.endpoint_id and b.attempt = n and b.kind = 'attempt')
    and not exists (select from given_back g where g.event_id = a.event_id and g.endpoint_id = a.endpoint_id and g.attempt = n)$$, 'a missing number is one that was given back, and nothing else');
-- Between two ends of a delivery lies a replay: the first attempt after an end begins the next life.
select is_empty('select l.event_id from life l where l.ends = 0 and not l.open', 'what is not open has ended');
select is_empty($$select a.event_id from outbox.attempt a where a.kind = 'close' and a.outcome = 'dead_letter' and not exists (
  select from outbox.attempt b where b.event_id = a.event_id and b.endpoint_id = a.endpoint_id and b.attempt = a.attempt and b.kind = 'attempt' and b.outcome = 'failed')$$,
  'a dead letter closes behind its last failure');
select is_empty($$select x.event_id from outbox.dead_letter x where x.attempt < (
  select max(a.attempt) from outbox.attempt a where a.event_id = x.event_id and a.endpoint_id = x.endpoint_id and a.kind = 'close' and a.outcome = 'dead_letter')$$, 'and its letter has that number, or that of a later life');
select is((select count(*) || ' ' || count(distinct (event_id, endpoint_id)) from outbox.delivery_status where endpoint_id is not null), '60 60', 'each delivery is shown, and once');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
