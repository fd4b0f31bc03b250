-- New events pass over the organisations that wait for a turn, which have one after four such calls at the latest.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(13);

select endpoint('{*}', p_org_id => o) from unnest('{busy,quiet}'::text[]) o;
create function routed_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.delivery d join outbox.event e on e.id = d.event_id where e.org_id = p_org_id
$$;
create function claimed_orgs(p_answer jsonb) returns text language sql as $$
  select string_agg(distinct e.org_id, ',' order by e.org_id)
  from jsonb_array_elements(p_answer -> 'deliveries') d join outbox.event e on e.id = (d ->> 'event')::uuid
$$;
do $$ begin perform events(1000, p_org_id => 'busy'), events(1, p_org_id => 'quiet'), step(0); end $$;
select ok(outbox.is_shared(r, outbox.clock()), 'organisations wait for each other') from outbox.router r;

-- As if another transaction had published them, which has ended.
update outbox.unrouted set xid = '3' where true;
-- What each of ten calls with a new event has routed of the busy organisation.
create temporary table calls (n integer, busy bigint, answer jsonb);
do $$
declare
  v_before bigint := routed_of('busy');
  v_answer jsonb;
begin
  for v_n in 1 .. 10 loop
    perform events(1, p_org_id => 'quiet');
    v_answer := step(100);
    insert into calls values (v_n, routed_of('busy') - v_before, v_answer);
    v_before := routed_of('busy');
  end loop;
end $$;
select is(routed_of('quiet'), 11::bigint, 'each call has the new event');
select is(array(select busy > 0 from calls order by n), '{f,f,f,f,t,f,f,f,f,t}'::boolean[], 'at most four calls pass over those that wait');
select is((select max(busy) from calls), 62::bigint, 'a turn has a part of a batch');
select is(claimed_orgs(answer), 'quiet', 'a call that passes over them claims only others') from calls where n = 2;
select is(claimed_orgs(answer), 'busy,quiet', 'a turn claims of all') from calls where n = 5;
select is(array(select distinct answer -> 'waits' from calls), '{true}'::jsonb[], 'the response says that events still wait');

do $$ begin perform step(0); end $$;
select cmp_ok(routed_of('busy'), '>', (select sum(busy)::bigint from calls), 'a call without new events is a turn');
-- Results alone.
select is((outbox.dispatch(gen_random_uuid(), 1, '[]', p_contract => '{"oldest": 1, "newest": 1, "routes": false}')::jsonb) -> 'waits', 'null'::jsonb,
  'a call that only reports routes nothing');
do $$ begin for v_n in 1 .. 40 loop perform step(0); end loop; end $$;
select is(routed_of('busy'), 1000::bigint, 'all is routed in the end');
select is(step(0) -> 'waits', 'false'::jsonb, 'and nothing waits');
select is((select passed from outbox.router), 0, 'a turn begins the count again');
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
