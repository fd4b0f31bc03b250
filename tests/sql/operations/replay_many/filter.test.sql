-- Which dead letters a job takes: each part of the filter alone and together.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(15);

create temporary table made as select endpoint() as a, endpoint('{b.*}') as b, endpoint(p_org_id => 'org-2') as c;
create temporary table letter (name text, event uuid);
-- a gets all three of its organisation's events, b the second alone; each at its own minute.
insert into letter select 'one', (events(1, 'a.paid'))[1];
select send('failed', '{"status": 404}'), time_passes('1 min');
insert into letter select 'two', (events(1, 'b.paid'))[1];
select send('failed', '{"status": 404}'), time_passes('1 min');
insert into letter select 'three', (events(1, 'a.paid', p_org_id => 'org-2'))[1];
select send('failed', '{"status": 404}'), time_passes('1 min');
insert into letter select 'four', (events(1, 'b.due'))[1];
select send('failed', '{"status": 404}'), time_passes('1 min');

-- What a job of these arguments puts back; then everything is as before.
create function replayed_by(p_arguments text) returns text language plpgsql as $$
declare
  v_names text;
begin
  begin
    execute 'select outbox.replay_many(' || p_arguments || ')';
    perform outbox.tick();
    select string_agg(l.name || '/' || case d.endpoint_id when m.a then 'a' when m.b then 'b' else 'c' end, ' ' order by d.event_id, d.endpoint_id = m.b) into v_names
    from outbox.delivery d join letter l on l.event = d.event_id, made m;
    raise exception using errcode = 'OHTST';
  exception when sqlstate 'OHTST' then
    return v_names;
  end;
end
$$;
select is(replayed_by(c.arguments), c.names, format('replay_many(%s)', regexp_replace(c.arguments, '[0-9a-f]{8}-[0-9a-f-]*', 'id')))
from made m, lateral (values
  ('', 'one/a two/a two/b three/c four/a four/b'),
  ('p_org_id => ''default''', 'one/a two/a two/b four/a four/b'),
  ('p_org_id => ''org-2''', 'three/c'),
  ('p_org_id => ''nobody''', null),
  (format('p_endpoint_id => %L', m.b), 'two/b four/b'),
  ('p_event_type => ''a.paid''', 'one/a three/c'),
  ('p_event_type => ''b.*''', null),
  ('p_failed_from => ''2026-03-01 12:01:00+00''', 'two/a two/b three/c four/a four/b'),
  ('p_failed_to => ''2026-03-01 12:01:00+00''', 'one/a two/a two/b'),
  ('p_failed_from => ''2026-03-01 12:01:00+00'', p_failed_to => ''2026-03-01 12:02:59+00''', 'two/a two/b three/c'),
  (format('''default'', %L, ''b.due''', m.a), 'four/a'),
  (format('''org-2'', %L', m.a), null)
) c (arguments, names);

-- What is reviewed is left alone.
select outbox.discard_dead_letter(l.event, m.a, 'a test') from letter l, made m where l.name = 'one';
select outbox.replay(l.event, m.b) from letter l, made m where l.name = 'two';
create temporary table held as select step() as a;
select is(replayed_by(''), 'two/a two/b three/c four/a four/b', 'what was discarded is left alone');
select is((select (a -> 'deliveries' -> 0 ->> 'endpoint')::uuid from held), b, 'what was replayed by hand is under way by itself') from made;
-- What fails after the job began is not its own.
select outbox.replay_many(p_rate_per_second => 1);
select time_passes('1 s');
select step(0, results(a, 'failed', '{"status": 404}')) from held;
do $$ begin for n in 1 .. 9 loop perform outbox.tick(), helper.time_passes('1 s'); end loop; end $$;
select is((select status || ' ' || replayed || ' ' || skipped from outbox.replay_job), 'done 4 0', 'what fails after the job began is not its own');

select * from finish();
rollback;
