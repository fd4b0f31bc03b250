-- What define_saga() takes and refuses.
begin;
\ir ../../_helpers.sql
grant usage on schema helper, extensions to service_role, authenticated;
select plan(21);

create schema shop;
create function shop.one(p_context jsonb) returns jsonb language sql as $$ select p_context $$;
create function shop."Odd name"(p_context jsonb) returns jsonb language sql as $$ select p_context $$;
create function shop.text(p_context jsonb) returns text language sql as $$ select 'x' $$;
create function shop.many(p_context jsonb) returns setof jsonb language sql as $$ select p_context $$;
create procedure shop.proc(p_context jsonb) language sql as $$ select 1 $$;

create function pg_temp.steps(p_function text, p_type text default 'a.b') returns jsonb language sql as $$
  select jsonb_build_array(jsonb_build_object('function', p_function, 'event_type', p_type))
$$;
create function pg_temp.refused(p_steps jsonb) returns text language sql as $$
  select helper.refusal(format('select outbox.define_saga(%L, %L)', 's', p_steps))
$$;

select is(outbox.define_saga('s', pg_temp.steps('shop.one') || pg_temp.steps('shop."Odd name"', 'c')),
  '{"name": "s", "steps": 2}', 'a saga of two steps');
select results_eq('select position, function, event_type from outbox.saga_step order by 1',
  $$values (1, 'shop.one', 'a.b'), (2, 'shop."Odd name"', 'c')$$, 'its steps are kept as SQL names them');
select is(outbox.execute_saga('s', '{"n": 1}') -> 'context', '{"n": 1}', 'and can be executed');
select is(outbox.define_saga('s', pg_temp.steps('shop.one')) -> 'steps', '1', 'defined again it is replaced');
select is((select count(*) from outbox.saga_step), 1::bigint, 'with all its steps');

select is(refusal($$select outbox.define_saga('a b', '[]')$$), $$OH001 name is 'a b'$$, 'a name with a space');
select is(pg_temp.refused('[]'), 'OH001 steps is not an array of 1 to 100 steps', 'no step');
select is(pg_temp.refused('{}'), 'OH001 steps is not an array of 1 to 100 steps', 'no array');
select is(pg_temp.refused('[1]'), 'OH001 steps[0] is not an object', 'a step that is a number');
select is(pg_temp.refused('[{"function": "shop.one", "event_type": "a", "undo": "x"}]'), 'OH001 steps[0].undo is not a field of a step', 'an unknown field');
select is(pg_temp.refused(pg_temp.steps('shop.none')), 'OH001 function shop.none(jsonb) does not exist', 'a function that is not there');
select is(pg_temp.refused(pg_temp.steps(null)), 'OH001 function null(jsonb) does not exist', 'no function');
select is(pg_temp.refused(pg_temp.steps('one')), 'OH001 function one(jsonb) does not exist', 'a function without its schema');
select is(pg_temp.refused(pg_temp.steps('shop.one; drop table x')), 'OH001 function shop.one; drop table x is not a valid name', 'a name that is more than a name');
select is(pg_temp.refused(pg_temp.steps('shop.text')), 'OH001 function shop.text(jsonb) does not return jsonb', 'a function of text');
select is(pg_temp.refused(pg_temp.steps('shop.many')), 'OH001 function shop.many(jsonb) does not return jsonb', 'a function of rows');
select is(pg_temp.refused(pg_temp.steps('shop.one', 'a b')), $$OH001 type is 'a b'$$, 'a type that is none');

-- The registry knows who asks.
revoke execute on function shop.one(jsonb) from public;
set local role service_role;
select is(helper.refusal($$select outbox.define_saga('theirs', '[{"function": "shop.one", "event_type": "a.b"}]')$$),
  'OH001 steps[0].function is shop.one(jsonb), which the role service_role may not execute', 'a function that the calling role may not execute');
reset role;

select is(outbox.drop_saga('s'), '{"name": "s", "dropped": true}', 'dropped');
select is(refusal($$select outbox.drop_saga('s')$$), $$OH002 saga 's' does not exist$$, 'once');
-- A saga is of all organisations.
select is((select string_agg(x.action || ' ' || x.entity_id, ', ' order by x.id) from outbox.audit_event x where x.entity_type = 'SAGA' and x.org_id is null),
  'DEFINED s, DEFINED s, DELETED s', 'the audit trail has each change, and none that was refused');

select * from finish();
rollback;
