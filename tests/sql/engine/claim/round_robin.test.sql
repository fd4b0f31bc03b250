-- Endpoints are served in turn, a quantum each, however much one of them has waiting.
begin;
\ir ../../_helpers.sql
select plan(10);

create temporary table ours (n integer, id uuid);
insert into ours select n, endpoint('{}', p_quantum => 10, p_max_in_flight => 1000) from generate_series(1, 4) n;
do $$ begin perform events(o.waiting, p_endpoint_id => u.id) from (values (1, 1000), (2, 100), (3, 5), (4, 100)) o (n, waiting) join ours u using (n); end $$;
do $$ begin perform step(0); end $$;

-- One call: how many each endpoint gets.
create function served(p_limit integer) returns integer[] language plpgsql as $$
declare
  v_answer jsonb;
begin
  perform time_passes('1 ms');
  v_answer := step(p_limit);
  return array(select claimed(v_answer, o.id) from ours o order by o.n);
end
$$;
select is((select sum(s) from unnest(served(10)) s), 10::bigint, 'a call that has room for one quantum serves one endpoint');
create temporary table round as select n, served(10) as got from generate_series(1, 3) n;
select is((select array_agg(s order by n) from (
    select n, sum(g) as s from round r, unnest(r.got) g group by n) x)::integer[], '{10,10,10}', 'the next calls have their fill');
select ok((select bool_and(exists (select from outbox.delivery d where d.endpoint_id = o.id and d.leased_until is not null)) from ours o),
  'after four calls each endpoint has been served');

select is((select max(served) - min(served) from (
    select o.n, sum(c.got[o.n]) as served from ours o, (select served(10) as got from generate_series(1, 6)) c where o.n <> 3 group by o.n) x) <= 10, true,
  'over more calls they stay within one quantum of each other');

-- A batch with room for all: a quantum each, and more only where there are too few to fill it.
select is(served(30), '{10,10,0,10}', 'a call with room for three serves three');
select is(served(60), '{20,20,0,20}', 'where the batch has room for more, it is shared out evenly');

-- A small endpoint beside a huge one.
create temporary table small as select endpoint('{}', p_quantum => 10) as id;
select is((served(40))[1] <= 20, true, 'a huge endpoint takes its share and no more');
do $$ begin perform events(3, p_endpoint_id => (select id from small)); end $$;
create temporary table call as select n, served(20) as got from generate_series(1, 3) n;
select is((select count(*)::integer from outbox.delivery d join small s on s.id = d.endpoint_id where d.leased_until is not null), 3,
  'a newcomer is served in its first round');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
