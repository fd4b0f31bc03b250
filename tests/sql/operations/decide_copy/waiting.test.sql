-- A copy that takes over without what was pending delivers no event that waited after an error of routing.
begin;
\ir ../../_helpers.sql
select plan(7);

create function called(p_project text, p_limit integer default 100) returns jsonb language sql as $$
  select outbox.dispatch(gen_random_uuid(), 1, '[]', p_limit, 'worker', p_contract => jsonb_build_object('oldest', 1, 'newest', 1, 'project', p_project))::jsonb
$$;
do $$ begin perform set_config('outbox.database_id', '1/5', true); end $$;
create function refuse() returns trigger language plpgsql as $$
begin
  raise exception using errcode = '40P01', message = 'a deadlock';
end
$$;
create temporary table made as select endpoint('{alone}') as alone, endpoint('{wide}') as good, endpoint('{wide}') as bad;
do $$
begin
  execute format('create trigger refuse before insert on outbox.delivery for each row when (new.endpoint_id in (%L, %L)) execute function helper.refuse()', alone, bad) from made;
  perform events(1, 'alone'), events(1, 'wide');
  for n in 1 .. 4 loop
    perform called('shop', 0);
  end loop;
end
$$;
drop trigger refuse on outbox.delivery;
select is((select count(*) from outbox.unroutable where again_at < 'infinity'), 1::bigint, 'an event waits to be routed again');
select is((select count(*) from outbox.refusal where step = 'routing' and again_at < 'infinity'), 1::bigint, 'and a delivery of another one to be created');

do $$ begin perform set_config('outbox.database_id', '2/7', true); end $$;
select is(called('staging') ->> 'stop', 'another_project', 'the database is a copy');
select is(outbox.decide_copy('cancel_pending') -> 'more', 'false', 'what is pending is cancelled');
do $$ begin perform time_passes('20 minutes'), outbox.tick(); end $$;
select is(claimed(called('staging')), 0, 'later the copy delivers neither of them');
select is((select count(*) from outbox.unroutable where again_at = 'infinity'), 1::bigint, 'the event stays set aside until a person routes it');
do $$ begin perform events(1, 'alone'); end $$;
select is(claimed(called('staging')), 1, 'new events are delivered');

select * from finish();
rollback;
