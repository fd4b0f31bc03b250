-- Jitter in real failures: spread over 0.5 to 1.5 times the delay, and the cap holds after it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6);

do $$ begin perform setseed(0.25); end $$;
create temporary table made (what text, policy jsonb, id uuid);
insert into made (what, policy) values
  ('free', '{"strategy": "fixed", "base_delay": 10, "max_retries": 50, "jitter": true}'),
  ('capped', '{"strategy": "exponential", "base_delay": 10, "max_delay": 10, "max_retries": 50, "jitter": true}');
update made set id = endpoint(p_retry => policy, p_max_in_flight => 1000, p_quantum => 1000) where true;
select count(events(200, p_endpoint_id => id)) from made;
create temporary table answer as select outbox.dispatch('00000000-0000-7000-8000-000000000009', 1, p_limit => 400)::jsonb as a;
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
create temporary table waited as select m.what, extract(epoch from a.next_retry_at - a.at)::float8 as s from outbox.attempt a join made m on m.id = a.endpoint_id;
select ok((select min(s) >= 5 and max(s) <= 15 from waited where what = 'free'), 'every delay lies between half and one and a half');
select ok((select min(s) < 5.5 and max(s) > 14.5 and avg(s) between 9 and 11 from waited where what = 'free'), 'and they are spread');
select ok((select count(distinct s) > 100 from waited where what = 'free'), 'each failure draws its own');
select is((select max(s) from waited where what = 'capped'), 10::float8, 'none is longer than the cap');
select ok((select count(*) filter (where s = 10) between 70 and 130 from waited where what = 'capped'), 'which about half of them reach');
select is_empty('select d.event_id from outbox.delivery d join outbox.attempt a using (event_id, endpoint_id) where d.due_at <> a.next_retry_at',
  'the attempt says when the delivery is due');

select * from finish();
rollback;
