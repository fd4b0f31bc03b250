-- Modules: api
-- The outbox belongs to a project and a database: who binds, who continues and who gets nothing.
begin;
\ir ../../_helpers.sql
select plan(70);

create sequence numbers;
create function called(p_project text, p_kind text default 'worker', p_run integer default 1, p_results jsonb default '[]', p_kick text default null) returns jsonb language sql as $$
  select outbox.dispatch(('00000000-0000-7000-8000-00000000000' || p_run)::uuid, nextval('numbers'), p_results, 1, p_kind,
    p_contract => jsonb_strip_nulls(jsonb_build_object('oldest', 1, 'newest', 1, 'project', p_project, 'kick', p_kick)))::jsonb
$$;
-- As in another database or on another server.
create function move_to(p_database text) returns text language sql as $$
  select set_config('outbox.database_id', p_database, true)
$$;
create function changes() returns setof text language sql as $$
  select concat_ws(' ', action, project, database, 'was ' || was_project, was_database, 'by ' || by, nullif(result, '{}')) from outbox.binding_change order by id
$$;
do $$ begin perform endpoint(p_max_in_flight => 50), events(40); end $$;
select is(outbox.database_id(), (select system_identifier from pg_control_system()) || '/' || (select oid from pg_database where datname = current_database()),
  'a database is named by its server and its oid');
select is(current_setting('outbox.database_id'), outbox.database_id(), 'which the session remembers');
select matches(outbox.server_id(), '^[0-9a-f]{32}$', 'a server by a hash');
select move_to('1/5');

-- Nobody has bound it.
select is_empty('select from outbox.binding', 'the migration does not bind');
select is(claimed(called(null)), 1, 'functions that name no project deliver');
select is_empty('select from outbox.binding', 'and do not bind');
select is(outbox.binding_problem(outbox.clock()), null, 'which is no problem');

-- The first run binds.
select is(claimed(called('https://shop.example.com')), 1, 'the first run that names a project delivers');
select results_eq('select project, database, named_by, at from outbox.binding', $$values ('shop.example.com', '1/5', 'run', outbox.clock())$$, 'and binds');
select set_eq('select changes()', array['bound shop.example.com 1/5 by run'], 'which is recorded');
select is(claimed(called(p)), 1, p || ' is the same project')
from unnest('{https://shop.example.com,http://SHOP.example.com/,shop.example.com:443}'::text[]) p;
select is((select names from outbox.binding), '{https://shop.example.com,http://SHOP.example.com/,shop.example.com:443}', 'each of these texts is kept, so that it is compared only once');
select is(claimed(called(null)), 1, 'older functions in the same database deliver');
select is((select count(*)::integer from outbox.binding_change), 1, 'nothing changed');

-- Another project.
create temporary table refused as select called('https://staging.example.com', p_run => 2) as a;
select is(a ->> 'stop', 'another_project', 'a run of another project must stop') from refused;
select is(claimed(a), 0, 'gets nothing') from refused;
select is(a ->> 'problem', 'this database belongs to the project shop.example.com, and this run names the project staging.example.com: '
  || 'the database is a copy, or the name is wrong. Nothing is delivered until somebody calls decide_copy() (runbook: A copy)', 'and is told why') from refused;
select is(a - '{settings,problem,now_ms}'::text[],
  '{"contracts": {"oldest": 1, "newest": 1}, "applied": 0, "stale": 0, "routed": 0, "repeat": false, "stop": "another_project", "more": false, "error": null, "retries": null, "renewed": null, "deliveries": [], "events": {}, "endpoints": {}}',
  'in the form of every response') from refused;
select is_empty($$select from outbox.run where id::text like '%2'$$, 'it is not alive');
select is_empty($$select from outbox.run_batch where run_id::text like '%2'$$, 'and its call is not stored');
select is((select sum(n) from outbox.counter_change where metric = 'runs' and labels = '{worker,another_project}'), 1::numeric, 'it is counted');
select is((select problems[1] from outbox.queue_health), 'a run of kind worker names the project staging.example.com, but this database belongs to the project shop.example.com: '
  || 'it is a copy, or the name is wrong. Call decide_copy() (runbook: A copy)', 'queue_health shows it');
select is(outbox.get_health() ->> 'status', 'degraded', 'the health of the API does');
select is(outbox.get_metrics() -> 'engine' -> 'copy', 'true', 'the metrics do');
select is(claimed(called('shop.example.com')), 1, 'runs of the project itself continue');
do $$ begin perform called(p) from pg_catalog.unnest(array(select 'shop.example.com/' || n from pg_catalog.generate_series(1, 8) n)) p; end $$;
select is((select cardinality(names) from outbox.binding), 10, 'at most ten texts are kept');
select is(called('staging.example.com', p_run => 2) ->> 'stop', 'another_project', 'the other one stays refused');
create temporary table noted as select ctid as place from outbox.binding_refusal;
do $$ begin perform called('staging.example.com', p_run => 2); end $$;
select is((select r.ctid = place from outbox.binding_refusal r, noted), true, 'a second refusal within a second writes no row');
do $$ begin perform time_passes('2 s'), called('staging.example.com', p_run => 2); end $$;
select results_eq('select kind, reason, project, at from outbox.binding_refusal', $$values ('worker', 'another_project', 'staging.example.com', outbox.clock())$$, 'a later one does');
select time_passes('301 s');
select is((select problems::text from outbox.queue_health), '{"events or deliveries have been due for more than a minute"}', 'after five minutes without such a run it is over');
select is(outbox.get_metrics() -> 'engine' -> 'copy', 'false', 'also in the metrics');

-- The same project with another database.
select move_to('2/5');
select is(outbox.binding_problem(outbox.clock()), 'this database is another one than that of the last run: it was upgraded or restored, or it is a copy. '
  || 'A run of the project shop.example.com delivers from it, a run of another project does not (runbook: A copy)', 'another database is shown until a run comes');
select is(called(null) ->> 'stop', 'no_project', 'functions that name no project cannot be placed');
select alike((select problems[1] from outbox.queue_health), 'a run of kind worker names no project: set OUTHOOK_PROJECT%', 'and health says what to do');
select is(called('staging.example.com', p_run => 2) ->> 'stop', 'another_project', 'another project gets nothing here either');
select is(claimed(called('shop.example.com')), 1, 'the same project delivers at once');
select results_eq('select project, database, named_by, at from outbox.binding', $$values ('shop.example.com', '2/5', 'run', outbox.clock())$$, 'and binds the outbox to its new database');
select is((select array_agg(c) from changes() c), '{bound shop.example.com 1/5 by run,database_changed shop.example.com 2/5 was shop.example.com 1/5 by run}', 'which is recorded once');
select is((select body::jsonb from outbox.event where type = 'outhook.database.changed'),
  '{"project": "shop.example.com", "database": "2/5", "wasDatabase": "1/5"}', 'and published');
select is(claimed(called(null)), 1, 'older functions work again');
do $$ begin perform called('shop.example.com'); end $$;
select is((select count(*)::integer from outbox.event where type = 'outhook.database.changed'), 1, 'once');

-- A run in its middle: its results are stored.
create temporary table held as select called('shop.example.com', p_run => 3) as a;
update outbox.binding set project = 'other.example.com', names = '{}' where only_row;
select results_eq($$select r ->> 'stop', r -> 'applied', claimed(r) from (select called('shop.example.com', p_run => 3,
  p_results => results(a, 'delivered', '{"status": 200, "duration_ms": 1}')) as r from held) x$$,
  $$values ('another_project', '1'::jsonb, 0)$$, 'a run that is refused in its middle reports its results and gets nothing more');
select is((select ended_at from outbox.run where id::text like '%3'), outbox.clock(), 'and it has ended');
update outbox.binding set project = 'shop.example.com', names = '{}' where only_row;

-- A kick of a physical copy.
select is(claimed(called('shop.example.com', 'edge', 4, p_kick => outbox.server_id())), 1, 'a run that this database kicked delivers');
create temporary table before as select (select count(*) from outbox.binding_refusal) as refusals, (select count(*) from outbox.counter_change) as counters, (select count(*) from outbox.run_batch) as batches;
create temporary table kicked as select called('shop.example.com', 'edge', 5, p_kick => repeat('0', 32)) as a;
select is(a ->> 'stop', 'foreign_kick', 'a run that another database kicked must stop') from kicked;
select is(a ->> 'problem', 'the kick comes from another database, a copy of the one that this function works on', 'and is told why') from kicked;
select is((select (count(*), (select count(*) from outbox.counter_change), (select count(*) from outbox.run_batch))::text from outbox.binding_refusal), (b.refusals, b.counters, b.batches)::text,
  'the call writes nothing') from before b;
select is(outbox.binding_problem(outbox.clock()), (select r from outbox.binding_problem(outbox.clock()) r where r not like '%kick%'), 'this database has no problem with it');

-- configure() binds before the first run, and the run decides about the name.
select move_to('3/5');
delete from outbox.binding where true;
delete from outbox.binding_change where true;
delete from outbox.binding_refusal where true;
create function configured(p_url text) returns jsonb language sql as $$
  select outbox.configure(p_url, repeat('s', 40)) -> 'problems'
$$;
select is(configured('https://abcdefghijklmnopqrst.supabase.co/functions/v1'), '[]', 'configure() binds');
select results_eq('select project, named_by from outbox.binding', $$values ('abcdefghijklmnopqrst', 'configure')$$, 'to the project of the URL');
select is(configured('https://api.example.com/functions/v1'), '[]', 'another URL corrects the first');
select is(claimed(called('https://bbcdefghijklmnopqrst.supabase.co')), 1, 'a run that names another project in the same database delivers');
select results_eq('select project, named_by from outbox.binding', $$values ('bbcdefghijklmnopqrst', 'run')$$, 'since the URL may have been a second name');
select is(called('https://api.example.com') ->> 'stop', 'another_project', 'after that the name is final');
select is((select array_agg(c) from changes() c), '{bound abcdefghijklmnopqrst 3/5 by configure,bound api.example.com 3/5 was abcdefghijklmnopqrst 3/5 by configure,bound bbcdefghijklmnopqrst 3/5 was api.example.com 3/5 by run}', 'all of it is recorded');
delete from outbox.binding_refusal where true;
select is(configured('https://api.example.com/functions/v1'), '[]', 'a custom domain is no problem');
select alike(configured('https://cbcdefghijklmnopqrst.supabase.co/functions/v1') ->> 0, 'this database belongs to the project bbcdefghijklmnopqrst, and the functions are those of the project cbcdefghijklmnopqrst: the database is a copy%', 'the functions of another project are');
select is((select project from outbox.binding), 'bbcdefghijklmnopqrst', 'and configure() takes nothing over');
delete from outbox.binding where true;
do $$ begin perform configured('https://abcdefghijklmnopqrst.supabase.co/functions/v1'), move_to('4/5'); end $$;
select is(called('https://bbcdefghijklmnopqrst.supabase.co') ->> 'stop', 'another_project', 'in another database than that of configure(), another project is one');

-- Kicks. pg_net sends each at once.
delete from outbox.binding where true;
do $$ begin perform configured('https://shop.example.com/functions/v1'), called('shop.example.com'); end $$;
create function kicks() returns boolean language plpgsql as $$
begin
  delete from net.http_request_queue where true;
  return outbox.kick('tick');
end
$$;
select is((select named_by from outbox.binding), 'run', 'a run that names the same project confirms it');
select is(kicks(), true, 'a kick is sent');
select is((select headers ->> 'x-outhook-database' from net.http_request_queue order by id desc limit 1), outbox.server_id(), 'with the identity of the database');
do $$ begin perform called('staging.example.com', 'worker', 6); end $$;
select is(kicks(), true, 'a worker that is refused changes nothing');
do $$ begin perform called('staging.example.com', 'edge', 6); end $$;
select is(kicks(), false, 'after the function was refused there is no kick');
do $$ begin perform time_passes('29 s'); end $$;
select is(kicks(), false, 'for 30 s');
do $$ begin perform time_passes('1 s'); end $$;
select is(kicks(), true, 'then one asks again');
do $$ begin perform called('staging.example.com', 'edge', 6); end $$;
do $$ begin perform configured('https://shop.example.com/functions/v1'); end $$;
-- pg_net has sent the earlier ones.
delete from net.http_request_queue where true;
select is(kicks(), true, 'configure() asks at once');

-- What the function responds to a copy's kick.
create function responds(p_status integer, p_content text, p_ago interval) returns void language sql as $$
  insert into net._http_response (id, status_code, content, created) values (nextval('numbers') + 1000000, p_status, p_content, clock_timestamp() - p_ago)
$$;
create function learns() returns boolean language plpgsql as $$
begin
  delete from outbox.binding_refusal where true;
  perform outbox.note_foreign_kick('2026-03-01 12:00:00+00', 100);
  return exists (select from outbox.binding_refusal where reason = 'foreign_kick');
end
$$;
delete from net._http_response where true;
select results_eq($$select responds(s, c, a) is null, learns() from (values
  (503, '{"code": "contract_mismatch"}', interval '1 s'), (409, '{"code":"foreign_kick","database":"' || repeat('0', 32) || '"}', '1 s'),
  (409, '{"code":"foreign_kick","database":"' || outbox.server_id() || '"}', '11 s'), (409, '{"code":"foreign_kick","database":"' || outbox.server_id() || '"}', '1 s')
  ) v (s, c, a)$$ , $$values (true, false), (true, false), (true, false), (true, true)$$, 'only a fresh response about a kick of this server shows that it is a copy');

select * from finish();
rollback;
