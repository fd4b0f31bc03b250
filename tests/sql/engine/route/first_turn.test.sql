-- The first organisation of a turn has something in each call, whatever comes before it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

create function routed_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.delivery d join outbox.event e on e.id = d.event_id where e.org_id = p_org_id
$$;
-- How many deliveries an organisation gets in three calls that begin behind p_last.
create function three_calls(p_org_id text, p_last text) returns bigint language plpgsql as $$
declare
  v_before bigint := routed_of(p_org_id);
begin
  update outbox.router set last_org = p_last where true;
  for n in 1 .. 3 loop
    perform step(0);
  end loop;
  return routed_of(p_org_id) - v_before;
end
$$;
create temporary table large as select jsonb_build_object('n', 1, 'text', repeat('x', 2000)) as body;

-- One endpoint with a filter beside ten without: the filters' work ends each call.
select endpoint('{*}', p_org_id => 'filters', p_filter => '$.n >= 0');
select endpoint('{*}', p_org_id => 'wide') from generate_series(1, 10);
select events(1200, p_org_id => 'filters', p_payload => body) from large;
select events(200, p_org_id => 'wide');
select step(0);
select cmp_ok((select count(*) from outbox.waiting_part where org_id in ('filters', 'wide')), '>', 1::bigint, 'both wait for a turn');
select cmp_ok(three_calls('wide', 'filters'), '>=', 10::bigint, 'the first organisation has deliveries, although a narrow one needs much work');
select cmp_ok(three_calls('wide', 'wide'), '>=', 10::bigint, 'and when it is the last');
select cmp_ok(three_calls('filters', 'wide'), '>=', 10::bigint, 'so has the other one');

-- Three that need nearly half of the work each.
select endpoint('{*}', p_org_id => o, p_filter => '$[*] in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)') from unnest('{n1,n2,n3}'::text[]) o;
do $$ begin
  for v_n in 1 .. 100 loop
    perform outbox.publish_raw('a', '[' || repeat('1234567,', 900) || '16]', o) from unnest('{n1,n2,n3}'::text[]) o;
  end loop;
end $$;
select events(200, p_org_id => 'wide');
select step(0);
select cmp_ok(three_calls('wide', 'n3'), '>=', 10::bigint, 'also beside three that together need more than a call has');

-- Events of endpoints that are gone have more deliveries than their organisation has subscriptions.
create temporary table gone as select endpoint('{*}', p_org_id => 'gone') as id from generate_series(1, 300);
select events(50, p_org_id => 'gone');
select outbox.delete_endpoint(id) from gone;
select endpoint('{*}', p_org_id => 'gone');
select cmp_ok(three_calls('wide', 'n3'), '>=', 10::bigint, 'also beside one that has deleted its endpoints');

-- Nothing is lost, and nothing is routed twice.
do $$ begin
  while exists (select from outbox.unrouted) loop perform step(0); end loop;
end $$;
select is(routed_of('wide'), 4000::bigint, 'each event of it has its deliveries in the end');
select is(routed_of('filters'), 1200::bigint, 'and each one of the other');

select * from finish();
rollback;
