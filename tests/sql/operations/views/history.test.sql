-- Modules: api
-- Questions that a person asks of the past, with 200,000 attempts in four days: those that name an event, or a span of
-- ids or of time, read what they are about and little more, with statistics of empty tables and with fresh ones.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_usage.sql
select plan(87);
-- Noon, so that no day has a few rows only: a scan of such a partition reads all of them.
create function noon() returns timestamptz language sql stable as $$ select date_trunc('day', now(), 'UTC') + interval '12 h' $$;

create temporary table made as select endpoint(p_org_id => 'many') as a, endpoint(p_org_id => 'many') as b, endpoint(p_org_id => 'few') as c;
do $$ begin for d in 0 .. 4 loop perform time_is(noon() - (4 - d) * interval '1 d'), outbox.add_partitions(); end loop; end $$;
insert into outbox.event (id, org_id, type, body, created_at)
select outbox.uuid_v7(t), case when n % 1000 = 0 then 'few' else 'many' end, 'a.b', '{}', t
from (select n, outbox.clock() - n * interval '3 s' as t from generate_series(1, 100000) n) x;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status)
select e.id, p.id, 1, e.created_at + interval '1 s', 'attempt', 'delivered', 200
from outbox.event e cross join made m cross join unnest(case e.org_id when 'few' then array[m.c] else array[m.a, m.b] end) p (id);
select events(100, p_org_id => 'many');
select step(0);
select is((select count(*) from outbox.attempt), 199900::bigint, 'two hundred thousand attempts');
select is((select count(*) from outbox.delivery), 200::bigint, 'and two hundred open deliveries');

-- A question names @one event, or the endpoint @a of many attempts or @c of few. How many attempts and events it may read;
-- stale: whether also with the statistics of empty tables.
create temporary table question (n integer generated always as identity, stale boolean, attempts bigint, events bigint, q text, asked text);
insert into question (stale, attempts, events, q) values
  -- By event: its own attempts, once for each way in which a delivery may have ended.
  (true, 8, 2, 'select * from outbox.delivery_status where event_id = ''@one'''),
  (true, 44, 7, 'select * from outbox.webhook_outbox where id = ''@one'''),
  (true, 44, 7, 'select * from outbox.saga_outbox where event_id = ''@one'''),
  (true, 44, 7, 'select * from outbox.transaction_outbox where id = ''@one'''),
  (true, 2, 0, 'select * from outbox.attempt where event_id = ''@one'''),
  -- The last attempts of an endpoint, or of each of an org's.
  (true, 40, 0, 'select * from outbox.attempt where endpoint_id = ''@a'' order by at desc limit 20'),
  (true, 5, 0, 'select * from outbox.attempt where endpoint_id = ''@c'' and at > noon() - interval ''1 hour'' order by at desc limit 20'),
  (true, 80, 0, 'select a.* from outbox.endpoint e cross join lateral (select * from outbox.attempt a where a.endpoint_id = e.id order by a.at desc limit 20) a
    where e.org_id = ''many'' order by a.at desc limit 20'),
  -- The newest deliveries, open ones and the finished ones behind them: the attempts of each three times at most.
  -- Four by the planner, which looks up the lowest and the highest id in an index. Each of the view's six branches
  -- may begin with the event: other files of this database change the sizes that the planner sees.
  (true, 4, 120, 'select * from outbox.recent_deliveries(''many'', 20)'),
  (true, 80, 120, 'select * from outbox.recent_deliveries(''few'', 20)'),
  (true, 0, 120, 'select * from outbox.recent_deliveries(null, 20)'),
  (true, 1300, 2000, 'select * from outbox.recent_deliveries(''many'', 500)'),
  (true, 400, 400, 'select * from outbox.recent_deliveries(''few'', 500)'),
  (true, 1300, 2000, 'select * from outbox.recent_deliveries(p_limit => 500)'),
  -- The API's lists: a page and little more, however many events of others lie between.
  (true, 300, 200, 'select outbox.list_deliveries(''many'', p_limit => 20)'),
  (true, 300, 100, 'select outbox.list_deliveries(''few'', p_limit => 20)'),
  (true, 300, 100, 'select outbox.list_deliveries(''few'', p_endpoint_id => ''@c'', p_limit => 20)'),
  (true, 0, 100, 'select outbox.list_events(''many'', p_limit => 20)'),
  (true, 0, 100, 'select outbox.list_events(''few'', p_limit => 20)'),
  -- By span: of the ten minutes 400 attempts, three times each; where a view has a branch for each end, in each of them.
  (false, 1300, null, 'select * from outbox.delivery_status where org_id = ''many'' and event_id >= outbox.uuid_v7_floor(noon() - interval ''10 min'') order by created_at desc limit 20'),
  (false, 1300, null, 'select * from outbox.delivery_status where org_id = ''few'' and event_id >= outbox.uuid_v7_floor(noon() - interval ''10 min'') order by created_at desc limit 20'),
  (false, 1300, null, 'select * from outbox.delivery_status where endpoint_id = ''@a'' and event_id >= outbox.uuid_v7_floor(noon() - interval ''10 min'') order by created_at desc limit 20'),
  (false, 1300, null, 'select * from outbox.delivery_status where endpoint_id = ''@a'' and finished_at > noon() - interval ''10 min'' order by finished_at desc limit 20'),
  (false, 10, null, 'select * from outbox.delivery_status where endpoint_id = ''@c'' and finished_at > noon() - interval ''1 hour'' order by finished_at desc limit 20'),
  (false, 4000, null, 'select * from outbox.webhook_outbox where id >= outbox.uuid_v7_floor(noon() - interval ''10 min'') order by created_at desc limit 20'),
  (false, 4000, null, 'select * from outbox.saga_outbox where event_id >= outbox.uuid_v7_floor(noon() - interval ''10 min'') order by created_at desc limit 20'),
  (false, 4000, null, 'select * from outbox.transaction_outbox where id >= outbox.uuid_v7_floor(noon() - interval ''10 min'') order by created_at desc limit 20'),
  (false, 4000, null, 'select * from outbox.transaction_outbox where endpoint_id = ''@a'' and id >= outbox.uuid_v7_floor(noon() - interval ''10 min'') order by created_at desc limit 20');
update question set asked = replace(replace(replace(q, '@one', o.id::text), '@a', m.a::text), '@c', m.c::text)
from made m, (select id from outbox.event where org_id = 'many' order by id limit 1 offset 500) o where true;

create temporary table was (n integer, statistics text, attempts bigint, events bigint);
create function read_of(p_relation text) returns bigint language sql as $$ select c.rows from counters() c where c.relation = p_relation $$;
create function ask(p_statistics text) returns void language plpgsql as $$
declare
  v question;
  v_attempts bigint;
  v_events bigint;
begin
  for v in select * from question order by n loop
    continue when p_statistics = 'stale' and not v.stale;
    v_attempts := read_of('attempt');
    v_events := read_of('event');
    execute v.asked;
    insert into was values (v.n, p_statistics, read_of('attempt') - v_attempts, read_of('event') - v_events);
  end loop;
end
$$;
do $$ begin perform ask('stale'); end $$;
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.attempt, outbox.unrouted, outbox.dead_letter;
do $$ begin perform ask('fresh'); end $$;
select cmp_ok(w.attempts, '<=', q.attempts, format('%s: %s reads at most %s attempts', w.statistics, q.q, q.attempts)) from was w join question q using (n) order by w.statistics desc, n;
select cmp_ok(w.events, '<=', q.events, format('%s: %s reads at most %s events', w.statistics, q.q, q.events)) from was w join question q using (n) where q.events is not null order by w.statistics desc, n;

select * from finish();
rollback;
