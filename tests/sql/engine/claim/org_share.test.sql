-- Organisations share a claim, whatever the number of their endpoints, and claims are small while they wait for each
-- other. Work is counted in deliveries, never in time.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(25);

create temporary table ours (n integer, org_id text, id uuid);
insert into ours select n, 'wide', endpoint('{}', p_org_id => 'wide', p_quantum => 10, p_max_in_flight => 1000) from generate_series(1, 20) n;
insert into ours select 0, 'narrow', endpoint('{}', p_org_id => 'narrow', p_quantum => 10, p_max_in_flight => 1000);
do $$ begin
  perform events(case when org_id = 'wide' then 20 else 400 end, p_org_id => org_id, p_endpoint_id => id) from ours;
  perform step(0);
end $$;
select is((select count(*) from outbox.delivery), 800::bigint, 'all is routed');
create function route_all() returns void language plpgsql as $$
begin
  while exists (select from outbox.unrouted) loop
    perform step(0);
  end loop;
end
$$;
-- What one claim has of each organisation.
create function served(p_limit integer) returns text language plpgsql as $$
declare
  v_answer jsonb;
begin
  perform time_passes('1 ms');
  v_answer := step(p_limit);
  return (
    select string_agg(o.org_id || ' ' || o.n, ', ' order by o.org_id)
      || case when (v_answer -> 'more')::boolean then ', more' else '' end
    from (select org_id, sum(claimed(v_answer, id)) as n from ours group by org_id) o);
end
$$;
select is(served(100), 'narrow 50, wide 50', 'one endpoint of an organisation gets as much as twenty of another one');
select is(served(101), 'narrow 51, wide 50', 'what cannot be shared is given too');
select is(served(20), 'narrow 10, wide 10', 'a claim of two quantums has one of each');
select is_empty('select * from miscounts()', 'the counters are right');

-- While organisations wait for each other in routing, and for 5 s after that.
update outbox.router set shared_at = outbox.clock() where true;
select is(served(400), 'narrow 50, wide 50, more', 'a claim has an eighth of a batch of each, and says that more is due');
select is(served(40), 'narrow 20, wide 20', 'or less, if the run asks for less');
select time_passes('6 s');
select is(served(240), 'narrow 120, wide 120', 'then it has what the run asks for');
select is_empty('select * from miscounts()', 'the counters are right in the end');

-- Neither a large quantum nor ordered lanes exceed the share.
truncate ours;
insert into ours select n, 'large', endpoint('{}', p_org_id => 'large', p_quantum => 1000, p_max_in_flight => 1000) from generate_series(1, 2) n;
insert into ours select n, 'keys', endpoint('{}', 'partition', p_org_id => 'keys', p_quantum => 60, p_max_in_flight => 1000) from generate_series(1, 2) n;
do $$ begin
  perform events(600, p_org_id => org_id, p_endpoint_id => id) from ours where org_id = 'large';
  perform events(100, p_key => key, p_org_id => org_id, p_endpoint_id => id) from ours, unnest('{a,b,c}'::text[]) key where org_id = 'keys';
  perform route_all(), time_passes('6 s');
end $$;
update outbox.router set shared_at = outbox.clock() where true;
select is(served(400), 'keys 50, large 50, more', 'neither an endpoint with a quantum of 1,000 nor ordered lanes have more than the share');
select is_empty('select * from miscounts()', 'the counters are right with large quantums');

-- The lanes of one ordered endpoint come first, and have together more rows than the batch.
truncate ours;
insert into ours select 1, 'keys', endpoint('{}', 'partition', p_org_id => 'keys', p_quantum => 60, p_max_in_flight => 1000);
do $$ begin
  perform events(100, p_key => 'k' || key, p_org_id => org_id, p_endpoint_id => id) from ours, generate_series(1, 10) key;
  perform route_all(), time_passes('1 s');
end $$;
insert into ours select 1, 'large', endpoint('{}', p_org_id => 'large', p_quantum => 1000, p_max_in_flight => 1000);
do $$ begin
  perform events(600, p_org_id => org_id, p_endpoint_id => id) from ours where org_id = 'large';
  perform route_all(), time_passes('6 s');
end $$;
update outbox.gate set next_at = 'infinity' where endpoint_id not in (select id from ours);
update outbox.router set shared_at = outbox.clock() where true;
select is(served(400), 'keys 50, large 50, more', 'many keys of one organisation leave the part of another one');

-- If the database refuses a delivery, each endpoint is served in its own block.
truncate ours;
insert into ours select n, 'many', endpoint('{}', p_org_id => 'many', p_quantum => 25, p_max_in_flight => 1000) from generate_series(1, 6) n;
do $$ begin
  perform events(300, p_org_id => org_id, p_endpoint_id => id) from ours;
  perform route_all(), time_passes('6 s');
end $$;
insert into ours select 1, 'other', endpoint('{}', p_org_id => 'other', p_quantum => 25, p_max_in_flight => 1000);
do $$ begin
  perform events(300, p_org_id => org_id, p_endpoint_id => id) from ours where org_id = 'other';
  perform route_all(), time_passes('6 s');
end $$;
create table refused as
select distinct on (endpoint_id) event_id, endpoint_id from outbox.delivery join ours on endpoint_id = id where org_id = 'many' order by endpoint_id, due_at, event_id;
grant select on refused to public;
create function refuse() returns trigger language plpgsql as $$
begin
  if new.leased_until is not null and exists (
    select from helper.refused r where r.event_id = new.event_id and r.endpoint_id = new.endpoint_id)
  then
    raise exception 'no lease';
  end if;
  return new;
end
$$;
create trigger refuse before update on outbox.delivery for each row execute function refuse();
update outbox.gate set next_at = 'infinity' where endpoint_id not in (select id from ours);
update outbox.router set shared_at = outbox.clock() where true;
select is(served(400), 'many 50, other 50, more', 'nor does an organisation exceed its share if a delivery is refused');
select isnt_empty('select from outbox.refusal where step = ''claim''', 'a delivery was refused');

-- The run is told that more is due only while it may be.
truncate ours;
drop trigger refuse on outbox.delivery;
insert into ours select 1, 'few', endpoint('{}', p_org_id => 'few', p_quantum => 100, p_max_in_flight => 1000);
do $$ begin
  perform events(99, p_org_id => org_id, p_endpoint_id => id) from ours;
  perform route_all(), time_passes('6 s');
end $$;
update outbox.gate set next_at = 'infinity' where endpoint_id not in (select id from ours);
update outbox.router set shared_at = outbox.clock() where true;
select is(served(0), 'few 0', 'a run without free slots is not told that more is due');
select is(served(400), 'few 50, more', 'one organisation alone has its share too, and more');
select is(served(400), 'few 49', 'a claim that was not cut says nothing');
select is(served(400), 'few 0', 'nor does one without work');
do $$ begin
  perform events(99, p_org_id => org_id, p_endpoint_id => id) from ours;
  perform route_all(), time_passes('6 s');
end $$;
select is(served(50), 'few 50', 'nor one that has filled all slots of the run, which knows it');
select is(served(400), 'few 49', 'nor one after the organisations have stopped waiting');

-- Nor need the rest be a delivery: events that wait for a turn are more, too.
truncate ours;
insert into ours select 1, o, endpoint('{}', p_org_id => o) from unnest('{flood,drop}'::text[]) o;
do $$ begin
  perform events(case org_id when 'flood' then 2500 else 1 end, p_org_id => org_id, p_endpoint_id => id) from ours;
end $$;
create function more_of(p_limit integer, out routed boolean, out more boolean) language sql as $$
  select (a ->> 'routed')::integer > 0, (a -> 'more')::boolean from (select step(p_limit) as a) s
$$;
create function until_routed(out with_more integer, out others integer) language plpgsql as $$
declare
  v_call record;
begin
  with_more := 0;
  others := 0;
  while exists (select from outbox.unrouted) loop
    v_call := more_of(1);
    if v_call.routed then
      with_more := with_more + v_call.more::integer;
      others := others + (not v_call.more)::integer;
    end if;
  end loop;
end
$$;
select is((select more from more_of(0)), false, 'a run without free slots is not told of events either');
create temporary table called as select * from until_routed();
select cmp_ok(with_more, '>', 2, 'each call that leaves events to route says that there are more') from called;
select cmp_ok(others, '<=', 1, 'all but the last one') from called;
select is((select more from more_of(1)), false, 'and a call that routes nothing does not');
insert into outbox.waiting_part values ('flood', '\x0000000000');
select is(array[outbox.is_cut(null, 1, 1, outbox.clock()), outbox.is_cut(null, 1, 0, outbox.clock())], '{t,f}',
  'while another call holds the router, parts that wait are no reason');

select * from finish();
rollback;
