-- Where a call ends, the organisation that got nothing in it is the first of the next call.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

-- One endpoint for each pair: the pairs of three events of three organisations, cut after some of them.
create function cut(p_events integer[], p_most integer, p_turn_orgs text[] default '{a,b,c}') returns text language plpgsql as $$
declare
  v_ids uuid[] := array(select ('00000000-0000-7000-8000-00000000000' || n)::uuid from generate_series(1, 3) n);
  v_batch outbox.routing;
begin
  v_batch.events := v_ids;
  v_batch.orgs := '{a,b,c}';
  v_batch.rows_at := '{"(0,1)","(0,2)","(0,3)"}';
  v_batch.behind := v_ids;
  v_batch.turn_orgs := p_turn_orgs;
  v_batch.turn_of := 'c';
  v_batch.pairs := array(
    select row(v_ids[e], ('00000000-0000-7000-9000-00000000000' || place)::uuid, null, null, 0, 2, false)::outbox.pair
    from unnest(p_events) with ordinality as p (e, place) order by place);
  v_batch := outbox.cut_batch(v_batch, p_most);
  return v_batch.turn_of || ' ' || v_batch.orgs::text || ' ' || coalesce(right(v_batch.cut_event::text, 1), '-');
end
$$;
select is(cut('{1,2,3}', 2), 'b {a,b} -', 'an organisation that got nothing is the next one');
select is(cut('{1,2,3,3}', 3), 'c {a,b} 3', 'one that got a part of its event has had its turn');
select is(cut('{1,2,3}', 2, null), 'b {a,b} -', 'also in a call that has only new events');
select is(cut('{1,2,3,3}', 3, null), 'c {a,b} 3', 'in which the last one is the organisation at the cut');

-- A call has 250 deliveries while organisations wait for each other: the whole events of two of these, and a part of one.
insert into outbox.endpoint (org_id, url, created_at, updated_at)
select o, 'https://example.com/' || n, outbox.clock(), outbox.clock() from unnest('{a,b,c,d}'::text[]) o, generate_series(1, 100) n;
insert into outbox.subscription (org_id, pattern, endpoint_id, created_at) select e.org_id, '*', e.id, e.created_at from outbox.endpoint e;
do $$ begin perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e; end $$;
create function routed_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.delivery d join outbox.event e on e.id = d.event_id where e.org_id = p_org_id
$$;
-- Those of the calls above.
delete from outbox.waiting_part where true;
update outbox.router set shared_at = outbox.clock() where true;
do $$
declare
  v_org text;
begin
  foreach v_org in array '{a,b,c,d}'::text[] loop
    perform events(4, p_org_id => v_org);
    perform time_passes('1 ms');
  end loop;
end
$$;
do $$ begin perform step(0); end $$;
create temporary table unserved as select o from unnest('{a,b,c,d}'::text[]) o where routed_of(o) = 0;
select is((select count(*) from unserved) || ' ' || (select count(*) from outbox.delivery), '1 250', 'the first call has nothing of one organisation');
do $$ begin perform step(0); end $$;
select is(routed_of(o), 100::bigint, 'the second one begins with that one') from unserved;
do $$ begin
  for n in 1 .. 20 loop
    perform step(0);
  end loop;
end $$;
select is((select count(*) from outbox.delivery), 1600::bigint, 'all is routed in the end');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
