-- Time to id and back. The first case of each kind is the example of RFC 9562, appendix A.6.
begin;
\ir ../../_helpers.sql
select plan(26);

select is(left(outbox.uuid_v7(c.at::timestamptz)::text, 18), c.head, 'uuid_v7() of ' || c.at)
from (values
  ('2022-02-22 19:22:22+00', '017f22e2-79b0-7000'),
  ('2022-02-22 19:22:22.000001+00', '017f22e2-79b0-7004'),
  ('2022-02-22 19:22:22.000123+00', '017f22e2-79b0-71f7'),
  ('2022-02-22 19:22:22.0005+00', '017f22e2-79b0-7800'),
  ('2022-02-22 19:22:22.000999+00', '017f22e2-79b0-7ffb'),
  ('2022-02-22 19:22:22.001+00', '017f22e2-79b1-7000'),
  ('1970-01-01 00:00:00+00', '00000000-0000-7000'),
  ('9999-12-31 23:59:59.999+00', 'e677d21f-dbff-7000')
) c (at, head);

select is(outbox.uuid_v7_floor(c.at::timestamptz), c.id::uuid, 'uuid_v7_floor() of ' || c.at)
from (values
  ('2022-02-22 19:22:22+00', '017f22e2-79b0-0000-0000-000000000000'),
  ('2022-02-22 19:22:22.000999+00', '017f22e2-79b0-0000-0000-000000000000'),
  ('2022-02-22 19:22:22.001+00', '017f22e2-79b1-0000-0000-000000000000'),
  ('1970-01-01 00:00:00+00', '00000000-0000-0000-0000-000000000000')
) c (at, id);

select is(outbox.uuid_v7_time(c.id::uuid), c.at::timestamptz, 'uuid_v7_time() of ' || c.id)
from (values
  ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '2022-02-22 19:22:22+00'),
  ('017f22e2-79b1-7fff-bfff-ffffffffffff', '2022-02-22 19:22:22.001+00'),
  ('00000000-0000-7000-8000-000000000000', '1970-01-01 00:00:00+00'),
  ('03bb2cc3-d800-7000-8000-000000000000', '2100-01-01 00:00:00+00')
) c (id, at);

create temporary table sample as
select n, at, outbox.uuid_v7(at) as id
from generate_series(0, 4999) n,
  lateral (select '2026-03-01 12:00:00+00'::timestamptz + n * interval '1 microsecond') t (at);

select is_empty('select from sample where id::text !~ ''^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]''',
  'uuid_v7() sets version and variant');
select is_empty('select from (select id, lag(id) over (order by n) as before from sample) s where id <= before',
  'uuid_v7() is strictly greater a microsecond later');
select is((select count(distinct outbox.uuid_v7(s.at)) from sample s, generate_series(1, 2) where s.n < 500), 1000::bigint,
  'uuid_v7() is another one each time');
select is_empty('select from sample where outbox.uuid_v7_floor(at) > id', 'uuid_v7_floor() lies below the ids of its time');
select is_empty(
  $$select from sample where n % 1000 = 0 and n > 0
    and outbox.uuid_v7_floor(at) <= (select s.id from sample s where s.n = sample.n - 1)$$,
  'uuid_v7_floor() lies above every earlier id');
select is_empty('select from sample where outbox.uuid_v7_time(id) <> date_trunc(''milliseconds'', at)',
  'uuid_v7_time() gives the millisecond back');

-- The days for which every new database has partitions.
create temporary table day as
select d::date as day, d::date::timestamp at time zone 'UTC' as from_at
from generate_series((now() at time zone 'UTC')::date + 2, (now() at time zone 'UTC')::date + 3, interval '1 day') d;

create function stored_in(p_at timestamptz) returns text language sql volatile as $$
  select time_is(p_at);
  select outbox.publish('a', '{}');
  select e.tableoid::regclass::text from outbox.event e order by e.id desc limit 1;
$$;

select is(stored_in(from_at), format('outbox.event_p%s', to_char(day, 'YYYYMMDD')),
  'an event of midnight UTC lies in the partition of the day that begins')
from (select * from day order by day limit 1) d;
select is(stored_in(from_at + interval '1 day' - interval '1 microsecond'), format('outbox.event_p%s', to_char(day, 'YYYYMMDD')),
  'an event of the last microsecond of a day lies in the partition of that day')
from (select * from day order by day limit 1) d;
select is(stored_in(from_at), format('outbox.event_p%s', to_char(day, 'YYYYMMDD')),
  'an event of the next midnight lies in the next partition')
from (select * from day order by day desc limit 1) d;
select is(stored_in('2099-01-01 00:00:00+00'), 'outbox.event_default',
  'an event of a day without a partition is stored all the same');

select * from finish();
rollback;
