-- What service_role may call works for it: a function that runs with its caller's rights must not need a
-- helper or a table that service_role may not use.
begin;
\ir ../_helpers.sql
create function sqlstate_of(p_function oid) returns text language plpgsql as $$
declare
  v_arguments text := (
    select coalesce(string_agg('null::' || t::regtype::text, ', ' order by place), '')
    from pg_proc p cross join unnest(p.proargtypes::oid[]) with ordinality as a (t, place) where p.oid = p_function);
begin
  execute format('select %s(%s)', p_function::regproc, v_arguments);
  return '00000';
exception when others then
  return sqlstate;
end
$$;
create temporary table door as
  select p.oid, p.oid::regprocedure::text as name from pg_proc p
  where p.pronamespace = 'outbox'::regnamespace and p.prorettype <> 'trigger'::regtype
    and has_function_privilege('service_role', p.oid, 'execute');
grant select on door to service_role;
grant usage on schema helper, extensions to service_role;
select plan((select count(*)::integer from door) + 3);
select cmp_ok((select count(*) from door), '>', 25::bigint, 'service_role may call more than 25 functions');
set local role service_role;
select isnt(sqlstate_of(d.oid), '42501', d.name || ' has the rights that it needs') from door d;
-- Nulls stop some of them early: these go all the way.
select is(outbox.is_retryable('webhook', 503, null), true, 'is_retryable() reads its rules');
select is(jsonb_array_length(outbox.preview_schedule('{"strategy": "fixed", "base_delay": 1}')), 5, 'preview_schedule() checks its policy');
reset role;
select * from finish();
rollback;
