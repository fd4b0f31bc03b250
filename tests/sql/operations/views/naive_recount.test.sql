-- The views equal a naive recount of the tables, after random sequences and in every night of their retention.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(17);

select time_is('2020-02-10 09:00:00+00'), outbox.add_partitions();
create temporary table made as select endpoint('{a.*,c.*}', p_breaker => true) as a, endpoint('{b.*,c.*}', p_retry => plain_retry(2)) as b, endpoint('{c.*}', p_ordering => 'endpoint') as c,
  endpoint('{a.*}', p_filter => '$.n > 0') as f;

-- Each delivery of which a row is stored, one at a time: its stage, its failed attempts and its payload.
create function naive() returns table (event_id uuid, endpoint_id uuid, stage text, failed integer, payload text) language plpgsql as $$
declare
  v record;
  v_open outbox.delivery;
  v_end outbox.attempt;
  v_letter outbox.dead_letter;
  v_event outbox.event;
begin
  for v in
    select d.event_id, d.endpoint_id from outbox.delivery d
    union select a.event_id, a.endpoint_id from outbox.attempt a where a.kind = 'close' or a.outcome = 'delivered'
    union select x.event_id, x.endpoint_id from outbox.dead_letter x
  loop
    event_id := v.event_id;
    endpoint_id := v.endpoint_id;
    select * into v_open from outbox.delivery d where d.event_id = v.event_id and d.endpoint_id = v.endpoint_id;
    select * into v_end from outbox.attempt a where a.event_id = v.event_id and a.endpoint_id is not distinct from v.endpoint_id and (a.kind = 'close' or a.outcome = 'delivered')
    order by a.attempt desc, a.at desc limit 1;
    select * into v_letter from outbox.dead_letter x where x.event_id = v.event_id and x.endpoint_id = v.endpoint_id;
    select * into v_event from outbox.event e where e.id = v.event_id;
    payload := coalesce(v_event.body, v_letter.original_message);
    failed := coalesce(v_open.failed_attempts, v_end.failed_attempts, v_letter.retry_count, 0);
    if v_open.event_id is not null then
      stage := case
        when (select e.status from outbox.endpoint e where e.id = v.endpoint_id) = 'deleted' then 'cancelled'
        when v_open.leased_until is not null then 'processing'
        when v_open.failed_attempts > 0 or v_open.lost_leases > 0 then 'failed'
        else 'pending'
      end;
    elsif v_end.event_id is not null then
      stage := case when v_end.outcome = 'expired' then 'dead_letter' else v_end.outcome end;
    else
      stage := case when v_letter.delivered_at >= coalesce(v_letter.replayed_at, '-infinity') then 'delivered' when v_letter.replayed_at is not null then 'cancelled' else 'dead_letter' end;
    end if;
    -- Of an event that nobody wanted, only the event says whose it was.
    continue when v.endpoint_id is null and v_event.id is null;
    return next;
  end loop;
end
$$;
create function views() returns table (event_id uuid, endpoint_id uuid, stage text, failed integer, payload text) language sql as $$
  select r.id, r.endpoint_id, r.stage, r.retry_count, r.payload::text from outbox.relay_status r where not exists (select from outbox.unrouted u where u.event_id = r.id)
$$;
create function differences() returns table (problem text) language plpgsql as $$
begin
  create temporary table said as select * from views();
  create temporary table counted as select * from naive();
  return query
  select 'not shown: ' || to_jsonb(x)::text from (select * from counted except all select * from said) x
  union all
  select 'not so: ' || to_jsonb(x)::text from (select * from said except all select * from counted) x
  union all
  select format('%s: %s of %s is shown as %s %s %s', s.stage, s.event_id, s.endpoint_id, w.status, g.status, t.status) from said s
  left join outbox.webhook_outbox w on w.id = s.event_id and w.endpoint_id is not distinct from s.endpoint_id
  left join outbox.saga_outbox g on g.event_id = s.event_id and g.endpoint_id is not distinct from s.endpoint_id
  left join outbox.transaction_outbox t on t.id = s.event_id and t.endpoint_id is not distinct from s.endpoint_id
  where (w.status, g.status, t.status) is distinct from (upper(s.stage),
    case s.stage when 'processing' then 'CLAIMED' when 'delivered' then 'SENT' else upper(s.stage) end,
    case s.stage when 'delivered' then 'processed' when 'dead_letter' then 'dlq' else s.stage end)
  union all
  select format('%s rows of delivery_status, %s of the recount', d.n, c.n) from (select count(*) as n from outbox.delivery_status) d, (select count(*) as n from counted) c where d.n <> c.n
  union all
  -- Dead letters wait for a person.
  select 'a dead letter is not shown: ' || x.event_id from outbox.dead_letter x where x.replayed_at is null and x.discarded_at is null
    and not exists (select from outbox.webhook_outbox w where w.id = x.event_id and w.endpoint_id = x.endpoint_id and w.status = 'DEAD_LETTER')
  union all
  -- What was delivered is stored for seven full days.
  select 'a delivered event has gone: ' || a.event_id from outbox.attempt a
  where a.outcome = 'delivered' and a.at >= outbox.stored_since() and not exists (select from outbox.event e where e.id = a.event_id)
    -- An old dead letter is replayed from its own copy.
    and not exists (select from outbox.dead_letter x where x.event_id = a.event_id and x.endpoint_id = a.endpoint_id);
  drop table said, counted;
end
$$;

-- One random act after another.
create function act() returns void language plpgsql as $$
declare
  v_n integer := floor(random() * 12);
  v_answer jsonb;
  v_results jsonb;
begin
  -- A clock that stands still would give a delivery two last ends: delivered, and cancelled after a replay.
  perform helper.time_passes('1 ms');
  case
    when v_n < 3 then
      -- A body that no filter can read.
      if random() < 0.2 then
        perform outbox.publish_raw('a.x', '{"n": 1, "s": "\u0000"}');
      end if;
      perform helper.events(1 + floor(random() * 3)::integer, (array['a.x', 'b.x', 'c.x', 'nobody.x'])[1 + floor(random() * 4)::integer], p_payload => jsonb_build_object('n', floor(random() * 1000)));
    when v_n < 7 then
      v_answer := helper.step(1 + floor(random() * 6)::integer);
      select coalesce(jsonb_agg(r || (array['{"outcome": "delivered", "status": 200}', '{"status": 500}', '{"status": 500}', '{"status": 404, "error": "no"}', '{"outcome": "released"}']::jsonb[])[1 + floor(random() * 5)::integer]), '[]')
      into v_results from jsonb_array_elements(helper.results(v_answer, 'failed')) r
      -- The others are lost.
      where random() < 0.9;
      perform helper.step(0, v_results);
    when v_n < 9 then
      perform helper.time_passes((array['1 s', '7 s', '70 s', '6 min', '20 min'])[1 + floor(random() * 5)::integer]::interval), outbox.tick();
    when v_n = 9 then
      perform outbox.replay(s.event_id, s.endpoint_id) from (
        select s.event_id, s.endpoint_id from outbox.delivery_status s where s.endpoint_id is not null and not s.open and s.status <> 'event_missing' order by random() limit 1) s;
    when v_n = 10 then
      perform outbox.cancel_delivery(d.event_id, d.endpoint_id) from (
        select d.event_id, d.endpoint_id from outbox.delivery d where d.leased_until is null order by random() limit 1) d;
    else
      perform case when random() < 0.5 then outbox.pause_endpoint(e.id) else outbox.resume_endpoint(e.id) end from outbox.endpoint e order by random() limit 1;
      perform outbox.discard_dead_letter(x.event_id, x.endpoint_id, 'seen') from (
        select x.event_id, x.endpoint_id from outbox.dead_letter x where x.replayed_at is null and x.discarded_at is null order by random() limit 1) x where random() < 0.3;
  end case;
end
$$;
select setseed(0.27);
select is_empty('select * from differences()', 'nothing is nothing');
do $$ begin for n in 1 .. 150 loop perform act(); end loop; end $$;
select is_empty('select * from differences()', 'after 150 acts');
do $$ begin for n in 1 .. 150 loop perform act(); end loop; end $$;
select is_empty('select * from differences()', 'after 300');
select cmp_ok((select count(distinct stage) from naive()), '>', 4::bigint, 'with deliveries in most stages');
select cmp_ok((select count(*) from naive() where stage = 'filter_error'), '>', 0::bigint, 'also of filters that failed');
select outbox.pause_endpoint(a), outbox.resume_endpoint(b) from made;
do $$ begin perform helper.step(0); end $$;
select is_empty('select * from differences()', 'with one endpoint paused');

create function nights(p_n integer) returns void language plpgsql as $$
begin
  for n in 1 .. p_n loop
    perform helper.time_is(date_trunc('day', outbox.clock(), 'UTC') + interval '1 d'), outbox.add_partitions(), outbox.tick();
    for i in 1 .. 6 loop perform outbox.tick(), helper.time_passes('1 s'); end loop;
    perform outbox.drop_partitions(), outbox.cleanup();
  end loop;
end
$$;
do $$ begin perform nights(1); end $$;
select is_empty('select * from differences()', 'in the first night');
do $$ begin perform nights(6), helper.send(), helper.send(); end $$;
select is_empty('select * from differences()', 'in the seventh, after more deliveries');
do $$ begin perform nights(1); end $$;
select is_empty('select * from differences()', 'in the eighth, when delivered events go');
do $$ begin perform nights(1); end $$;
select is_empty('select * from differences()', 'in the ninth, when attempts go');
do $$ begin perform nights(1); end $$;
select is_empty('select * from differences()', 'in the tenth');
select cmp_ok((select count(*) from outbox.delivery join made on a = endpoint_id), '>', 0::bigint, 'something is open still');
do $$ begin perform outbox.replay_many(), outbox.tick(), outbox.tick(), helper.send(), nights(2); end $$;
select is_empty('select * from differences()', 'after a replay of old dead letters');
do $$ begin perform nights(20); end $$;
select is_empty('select * from differences()', 'after the expiry of what was left');
select cmp_ok((select count(*) from outbox.dead_letter where why = 'expired'), '>', 0::bigint, 'something has expired');
do $$ begin perform nights(40); end $$;
select is_empty('select * from differences()', 'and forty nights later');
select is_empty($$select p.name from outbox.partitions('event') p where p.until < outbox.stored_since() and not outbox.is_open_between(p.since, p.until)
  and exists (select from outbox.event e where e.id >= outbox.uuid_v7_floor(p.since) and e.id < outbox.uuid_v7_floor(p.until))$$, 'no event is stored that nobody needs');

select * from finish();
rollback;
