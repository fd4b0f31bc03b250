-- Modules: messages, api
-- What one object of the tick's work cannot do costs it alone, whatever the SQLSTATE.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(37);

-- A table refuses the rows that match, with the error of that class, until allow(). All triggers are created at once, in
-- the order in which the tick locks the tables: pg_cron ticks beside this test.
create function refuse() returns trigger language plpgsql as $$
declare
  v_row jsonb := case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
begin
  if current_setting('helper.refuses', true) in (tg_op || ' ' || tg_table_name, 'WRITE ' || tg_table_name)
    and v_row @> current_setting('helper.match', true)::jsonb
  then
    if current_setting('helper.code') = 'slow' then
      perform nextval('helper.slow_rows'), pg_sleep(30);
    end if;
    raise exception using errcode = current_setting('helper.code'), message = 'this one stays';
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;
do $$
declare
  v_table text;
begin
  foreach v_table in array '{replay_job,gate,whatsapp_update,delivery,ended_subscription,counter}'::text[] loop
    execute format('create trigger refuse before insert or update or delete on outbox.%I for each row execute function helper.refuse()', v_table);
  end loop;
end
$$;
create function refuse(p_what text, p_match jsonb, p_code text) returns void language sql as $$
  select set_config('helper.refuses', p_what, true), set_config('helper.match', p_match::text, true), set_config('helper.code', p_code, true)
$$;
create function allow() returns void language sql as $$ select set_config('helper.refuses', '', true) $$;
create function forget() returns void language sql as $$ delete from outbox.upkeep_refusal where true $$;
create function noted(p_task text) returns text language sql as $$
  select string_agg(u.member || ': ' || u.sqlstate || ' ' || u.error, '; ' order by u.member) from outbox.upkeep_refusal u where u.task = p_task
$$;
create temporary table code as select unnest(array['P0001', '40P01', '55P03']) as code;

-- Counters.
create function folded(p_code text) returns text language plpgsql as $$
begin
  delete from outbox.counter_change where true;
  delete from outbox.counter where true;
  perform forget();
  perform outbox.count_up('bad', '{x}', 1), outbox.count_up('good', '{x}', 2), outbox.count_up('bad', '{x}', 3), outbox.count_up('also_good', '{}', 1);
  perform refuse('WRITE counter', '{"metric": "bad"}', p_code);
  perform outbox.fold_counters();
  return concat_ws('; ', (select string_agg(metric || ' ' || n, ', ' order by metric) from outbox.counter),
    (select string_agg(metric || ' ' || n || ' waits', ', ' order by metric) from outbox.counter_change), noted('outbox.fold_counters'));
end
$$;
select is(folded(code), 'also_good 1, good 2; bad 4 waits; the counter bad {x}: ' || code || ' this one stays', 'all other counters are added up (' || code || ')') from code where code = 'P0001';
select allow();
select is(folded('40P01'), 'also_good 1, good 2; bad 4 waits; the counter bad {x}: 40P01 this one stays', 'also where the error is usually temporary');
select outbox.count_up('bad', '{x}', 5);
select outbox.fold_counters();
select is((select n from outbox.counter_change), 9::bigint, 'the rows of the refused counter do not become many');
select allow();
select outbox.fold_counters();
select is((select n from outbox.counter where metric = 'bad'), 9::bigint, 'and nothing of it is lost');

-- Gates that are to be woken.
create temporary table made as select endpoint('{bad}') as bad, endpoint('{good}') as good;
do $$ begin perform events(2, 'bad'), events(2, 'good'), step(0); end $$;
create function woken(p_code text) returns boolean language plpgsql as $$
begin
  perform forget();
  perform time_passes('1 h');
  update outbox.gate set next_at = outbox.clock() + interval '1 h' where true;
  update outbox.endpoint set updated_at = outbox.clock() where true;
  perform refuse('UPDATE gate', (select jsonb_build_object('endpoint_id', bad) from made), p_code);
  perform outbox.wake_changed(outbox.clock());
  perform allow();
  return (select next_at = outbox.clock() from outbox.gate g, made where g.endpoint_id = good);
end
$$;
select ok(woken(code), 'wake_changed() wakes the other gate (' || code || ')') from code;
select is(noted('outbox.wake'), (select 'gate ' || g.id || ': 55P03 this one stays' from outbox.gate g, made where g.endpoint_id = bad), 'and names the refused one');

-- Deliveries that expire.
create function expired(p_code text) returns bigint language plpgsql as $$
begin
  perform refuse('DELETE delivery', (select jsonb_build_object('endpoint_id', bad) from made), p_code);
  perform time_passes('31 d');
  perform outbox.expire_deliveries(100);
  perform allow();
  return (select count(*) from outbox.delivery d, made where d.endpoint_id = good);
end
$$;
select is(expired(code), 0::bigint, 'the others expire (' || code || ')') from code where code = '40P01';
select is((select count(*) from outbox.refusal where step = 'expiry' and sqlstate = '40P01'), 2::bigint, 'and the refused ones are recorded');

-- Deleted endpoints.
create function purged(p_code text) returns text language plpgsql as $$
declare
  v_id uuid := endpoint('{gone}');
  v_other uuid := endpoint('{gone}');
  v_events uuid[];
begin
  perform forget();
  v_events := events(5, 'gone');
  perform step(0), time_passes('1 s'), outbox.delete_endpoint(v_id), outbox.delete_endpoint(v_other);
  perform refuse('DELETE delivery', jsonb_build_object('endpoint_id', v_id, 'event_id', v_events[2]), p_code);
  perform outbox.purge_deleted(1000), outbox.purge_deleted(1000);
  perform outbox.purge_deleted(1000);
  perform allow();
  return format('%s left, %s gates, %s', (select count(*) from outbox.delivery d where d.endpoint_id in (v_id, v_other)),
    (select count(*) from outbox.gate g where g.endpoint_id in (v_id, v_other)),
    replace(replace(noted('outbox.purge_deleted'), v_id::text, '<endpoint>'), v_events[2]::text, '<event>'));
end
$$;
select is(purged(code), '1 left, 1 gates, deleted endpoint <endpoint>: ' || code || ' event <event>: this one stays',
  'one delivery that cannot be deleted keeps no other (' || code || ')') from code;
do $$ begin perform time_passes('11 s'), outbox.purge_deleted(1000), outbox.purge_deleted(1000); end $$;
select is_empty($$select g.* from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id where e.status = 'deleted'$$, 'it goes once that is possible');

-- A row that takes longer than the statement timeout, after which nothing would end another try.
create sequence slow_rows;
create temporary table slow as select endpoint('{slow}') as id;
do $$ begin perform forget(), events(4, 'slow'), step(0), time_passes('1 s'), outbox.delete_endpoint(id) from slow; end $$;
select refuse('DELETE delivery', jsonb_build_object('endpoint_id', id), 'slow') from slow;
set local statement_timeout = '1200ms';
do $$ begin perform outbox.purge_deleted(1000); end $$;
set local statement_timeout = 0;
select allow();
select is((select last_value from slow_rows), 1::bigint, 'no other row is tried after the statement timeout');
select is(noted('outbox.purge_deleted'), (select 'deleted endpoint ' || id || ': 57014 canceling statement due to statement timeout' from slow), 'and the endpoint is named');

-- Subscriptions that have ended.
create function dropped(p_code text) returns text language plpgsql as $$
begin
  delete from outbox.ended_subscription where true;
  perform forget();
  insert into outbox.ended_subscription (org_id, pattern, endpoint_id, filter_weight, began_at, ended_at, open_below)
  select 'o', p, '00000000-0000-7000-8000-000000000001', 0, '2020-01-01', '2020-01-02', '1' from unnest('{bad,good.1,good.2}'::text[]) p;
  perform refuse('DELETE ended_subscription', '{"pattern": "bad"}', p_code);
  perform outbox.drop_ended_subscriptions(outbox.clock(), 1000);
  perform allow();
  return format('%s %s', (select string_agg(pattern, ',') from outbox.ended_subscription), (select count(*) from outbox.upkeep_refusal where member = (select 'the row ' || s.ctid || ' of outbox.ended_subscription' from outbox.ended_subscription s)));
end
$$;
select is(dropped(code), 'bad 1', 'the other ended subscriptions are removed (' || code || ')') from code;

-- Deliveries that a temporary error kept from being created: the other endpoint is served at once.
create function created(p_code text) returns text language plpgsql as $$
declare
  v_bad uuid := endpoint('{late}');
  v_good uuid := endpoint('{late}');
  v_event uuid;
begin
  perform outbox.pause_endpoint(v_bad);
  v_event := (events(1, 'late'))[1];
  perform step(0);
  delete from outbox.delivery where event_id = v_event;
  update outbox.lane set depth = 0 where gate_id in (select id from outbox.gate where endpoint_id in (v_bad, v_good));
  update outbox.gate set depth = 0 where endpoint_id in (v_bad, v_good);
  perform outbox.note_refusal(v_event, e, 'routing', p_code, 'early', outbox.clock(), outbox.clock()) from unnest(array[v_bad, v_good]) e;
  perform refuse('INSERT delivery', jsonb_build_object('endpoint_id', v_bad), p_code);
  perform outbox.create_waiting(outbox.clock(), 100);
  perform allow();
  return format('%s %s', (select count(*) from outbox.delivery where event_id = v_event and endpoint_id = v_good),
    (select r.sqlstate || ' ' || r.error from outbox.refusal r where r.event_id = v_event));
end
$$;
select is(created(code), '1 ' || code || ' this one stays', 'create_waiting() creates the other delivery (' || code || ')') from code;

-- Steps of modules.
create function bad_step(p_now timestamptz, p_most integer) returns void language plpgsql as $$
begin
  raise exception using errcode = current_setting('helper.code'), message = 'the step fails';
end
$$;
create table stepped (at timestamptz);
create function good_step(p_now timestamptz, p_most integer) returns void language sql as $$ insert into helper.stepped values (p_now) $$;
insert into outbox.tick_step values ('aaa', 'helper.bad_step', 1), ('bbb', 'helper.good_step', 1);
select forget();
select set_config('helper.code', '40001', true);
select outbox.upkeep(outbox.clock(), 'infinity');
select is((select count(*) from stepped), 1::bigint, 'a step that fails keeps no other step');
select is(noted('helper.bad_step'), 'the whole step: 40001 the step fails', 'and is named');

-- Replay jobs.
create temporary table endpoints as select endpoint('{j.bad}', p_org_id => 'bad') as bad, endpoint('{j.good}', p_org_id => 'good') as good;
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why)
select gen_random_uuid(), gen_random_uuid(), e.id, e.org, 'j.' || e.org, '{}', 'e', 1, outbox.clock() - interval '1 s', 'c', 1, outbox.clock(), 'retries'
from (select bad as id, 'bad' as org from endpoints union all select good, 'good' from endpoints) e, generate_series(1, 3);
select forget();
create temporary table jobs as select (outbox.replay_many('bad') ->> 'id')::bigint as bad, (outbox.replay_many('good') ->> 'id')::bigint as good;
select refuse('UPDATE replay_job', jsonb_build_object('id', bad), '40001') from jobs;
do $$ begin perform outbox.work_replay_jobs(outbox.clock()), outbox.work_replay_jobs(outbox.clock() + interval '1 s'); end $$;
select is((select string_agg(j.status || ' ' || j.replayed, ', ' order by j.org_id) from outbox.replay_job j), 'running 0, done 3', 'a job that cannot go on keeps no other job');
select is(noted('outbox.work_replay_jobs'), (select 'replay job ' || bad || ': 40001 this one stays' from jobs), 'and is named');
select is((select count(*) from outbox.delivery d, endpoints where d.endpoint_id = bad), 0::bigint, 'it has replayed nothing');
select alike((select array_to_string(problems, ';') from outbox.queue_health), '%(1) in outbox.work_replay_jobs(): select%', 'queue_health tells it');
select allow();

-- One dead letter of a job, with an error that stays.
select refuse('INSERT delivery', jsonb_build_object('event_id', (select event_id from outbox.dead_letter where org_id = 'bad' order by failed_at, id limit 1)), 'P0001');
do $$ begin perform time_passes('11 s'), outbox.work_replay_jobs(outbox.clock()); end $$;
select is((select j.replayed || ' ' || j.skipped from outbox.replay_job j, jobs where j.id = bad), '2 1', 'a job skips a dead letter that cannot be replayed');
select allow();

-- With one that is usually temporary, the job tries again before it skips it.
select forget();
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why)
select gen_random_uuid(), gen_random_uuid(), e.bad, 'third', 'j.bad', '{}', 'e', 1, outbox.clock() - interval '1 s', 'c', 1, outbox.clock(), 'retries' from endpoints e, generate_series(1, 2);
create temporary table third as select (outbox.replay_many('third') ->> 'id')::bigint as id;
select refuse('INSERT delivery', jsonb_build_object('event_id', (select event_id from outbox.dead_letter where org_id = 'third' order by failed_at, id limit 1)), '40P01');
do $$ begin for i in 1 .. 4 loop perform time_passes('1 s'), outbox.work_replay_jobs(outbox.clock()); end loop; end $$;
select is((select j.replayed || ' ' || j.skipped from outbox.replay_job j, third where j.id = third.id), '0 0', 'a deadlock is tried again');
do $$ begin perform time_passes('1 s'), outbox.work_replay_jobs(outbox.clock()); end $$;
select is((select j.replayed || ' ' || j.skipped from outbox.replay_job j, third where j.id = third.id), '1 1', 'the fifth time it is skipped');
select allow();

-- Updates of WhatsApp.
select refuse('UPDATE whatsapp_update', '{"key": "bad"}', '55P03');
insert into outbox.whatsapp_update (app_id, key, kind, happened_at, data, received_at, update_status, next_check_at)
select 'a', k, 'message', outbox.clock(), '{}', outbox.clock(), 'stored', outbox.clock() from unnest('{bad,good}'::text[]) k;
select is(outbox.apply_callbacks(), 2, 'two updates are checked');
select set_eq($$select key, next_check_at > outbox.clock() or next_check_at is null from outbox.whatsapp_update$$, $$values ('bad', false), ('good', true)$$,
  'one that cannot be changed keeps no other');
select alike(noted('outbox.apply_callbacks'), 'WhatsApp update %: 55P03 this one stays', 'and is named');

-- What gave way to a lock is a problem only if it does so again: an action of a person holds a row for a moment, too.
create function problem(p_code text) returns text language sql as $$
  select outbox.refuse_upkeep('outbox.purge_deleted', 'deleted endpoint x', p_code, 'it waits', '5 min');
  select substring(outbox.upkeep_problem(outbox.clock()) from '\(\d+\) in [a-z._]+')
$$;
do $$ begin perform forget(); end $$;
select is(problem('55P03'), null, 'queue_health does not show an object that gave way to a lock once');
select is(problem('55P03'), '(1) in outbox.purge_deleted', 'it shows one that gave way twice in a row');
do $$ begin perform forget(); end $$;
select is(problem('23514'), '(1) in outbox.purge_deleted', 'and it shows any other refusal at once');

select * from finish();
rollback;
