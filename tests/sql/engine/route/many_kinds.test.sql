-- Who wants an event is looked up once for all events of its kind. However many kinds and endpoints there are, and
-- wherever a call stops, each event goes to each endpoint that wants it once.
begin;
\ir ../../_helpers.sql
select plan(18);

create function crowd(p_org text, p_count integer, p_patterns text[], p_filter jsonpath default null) returns void language sql as $$
  insert into outbox.endpoint (org_id, url, created_at, updated_at)
  select p_org, 'https://example.com/' || n, outbox.clock(), outbox.clock() from generate_series(1, p_count) n;
  insert into outbox.subscription (org_id, pattern, endpoint_id, filter, created_at)
  select p_org, p, e.id, p_filter, e.created_at from outbox.endpoint e, unnest(p_patterns) p where e.org_id = p_org;
  select outbox.add_gate(e.id, 'none') from outbox.endpoint e where e.org_id = p_org;
$$;
create function steps() returns integer[] language plpgsql as $$
declare
  v_made integer[] := '{}';
begin
  while outbox.has_unrouted() loop
    v_made := v_made || (step(0) ->> 'routed')::integer;
    -- So that the organisations do not share the next call.
    perform time_passes('6 s');
  end loop;
  return v_made;
end
$$;

-- 40 types, 300 endpoints that want each of them twice, one that is addressed in between, and an organisation besides.
do $$ begin perform crowd('kinds', 300, '{*,a.*}'); end $$;
do $$ begin perform crowd('other', 2, '{a.*}'); end $$;
create temporary table one as select (select e.id from outbox.endpoint e where e.org_id = 'kinds' order by e.id limit 1) as id;
create temporary table given as
select array(select jsonb_array_elements_text(outbox.publish_many((
  select jsonb_agg(jsonb_build_object('type', 'a.t' || n % 40, 'payload', n, 'org_id', case when n % 10 = 9 then 'other' else 'kinds' end,
    'endpoint_id', case when n % 10 = 5 then (select id from one) end)) from generate_series(1, 40) n)))::uuid) as ids;
select is(steps(), '{2000,2000,2000,2000,1612}', 'calls of 2,000 until all is routed');
select results_eq(
  $$select e.org_id, e.endpoint_id is not null as addressed, count(*), count(distinct (d.event_id, d.endpoint_id))
    from outbox.delivery d join outbox.event e on e.id = d.event_id group by 1, 2 order by 1, 2$$,
  $$values ('kinds', false, 9600::bigint, 9600::bigint), ('kinds', true, 4, 4), ('other', false, 8, 8)$$, 'each event goes to those who want it, once');
select is_empty('select from outbox.attempt', 'none lacks a subscriber');
select is_empty('select * from miscounts()', 'the counters are right');

-- An endpoint without a filter is not asked, whatever filters it has besides, as long as the event is not older.
create temporary table both_ways as select endpoint('{b.*}', p_org_id => 'both', p_filter => '$.n == 1') as id;
create temporary table before as select outbox.publish('b.one', '{"n": 1}', 'both') as passes, outbox.publish('b.one', '{"n": 2}', 'both') as fails;
do $$ begin perform time_passes('1 second'); end $$;
do $$ begin perform outbox.subscribe(id, '{b.one}') from both_ways; end $$;
create temporary table after as select outbox.publish('b.one', '{"n": 2}', 'both') as id;
select is(steps(), '{2}', 'of one kind each event is judged by its own time and payload');
select set_eq('select event_id from outbox.delivery join both_ways on endpoint_id = id', 'select passes from before union select id from after',
  'an older event by the filter, a younger one without');
select is((select outcome from outbox.attempt join before on event_id = fails), 'no_subscriber', 'and one that fails it is wanted by nobody');

-- A call asks 2,000 filters at most: it stops at the last endpoint that it asked.
do $$ begin perform crowd('picky', 2500, '{*}', '$.n > 0'); end $$;
create temporary table picky as select outbox.publish('a', '{"n": 0}', 'picky') as unwanted, null::uuid as wanted;
do $$ begin perform time_passes('1 microsecond'); end $$;
update picky set wanted = outbox.publish('a', '{"n": 1}', 'picky') where true;
select is(step(0) -> 'routed', '0', 'a call may find none that wants an event');
select is((select routed_to from outbox.unrouted join picky on unwanted = event_id),
  (select e.id from outbox.endpoint e where e.org_id = 'picky' order by e.id offset 1999 limit 1), 'and remembers how far it has asked');
select is_empty('select from outbox.attempt join picky on event_id = unwanted', 'which is no verdict yet');
select is(steps(), '{1500,1000}', 'the next calls go on behind it');
select is((select outcome from outbox.attempt join picky on event_id = unwanted), 'no_subscriber', 'an event that none of all wants gets its closing row');
select is((select count(*) from outbox.delivery join picky on event_id = wanted), 2500::bigint, 'the other goes to all');
update outbox.subscription s set filter = '$.n > 1'
where s.endpoint_id in (select e.id from outbox.endpoint e where e.org_id = 'picky' order by e.id offset 100);
create temporary table few as select outbox.publish('a', '{"n": 1}', 'picky') as id;
select is(steps(), '{100,0}', 'when the last that are asked do not want it');
select is_empty('select from outbox.attempt join few on id = event_id', 'it had its subscribers all the same');

-- What is half done may be late as well.
update outbox.router r set watermark = outbox.uuid_v7_floor('2027-01-01'), seen_below = pg_snapshot_xmax(pg_current_snapshot()) where true;
do $$ begin perform crowd('late', 2100, '{*}'); end $$;
create temporary table late as select outbox.publish('a', '{}', 'late') as id;
select is(steps(), '{2000,100}', 'a wide event below the watermark goes on where it stopped');
select is((select count(*) from outbox.delivery join late on id = event_id), 2100::bigint, 'and reaches every endpoint');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
