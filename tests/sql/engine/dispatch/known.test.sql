-- A run is not told again of an endpoint that it knows. Reading its secrets is most of the cost.
begin;
\ir ../../_helpers.sql
select plan(8);

create function told(p_known jsonb) returns jsonb language sql as $$
  select outbox.dispatch(gen_random_uuid(), 1, '[]', 100, p_known => p_known)::jsonb -> 'endpoints'
$$;
create function again() returns void language sql as $$
  select time_passes('1 minute');
  select outbox.publish('order.paid', '{}');
$$;

create temporary table made as
select (outbox.create_endpoint('https://example.com/a', '{*}', p_max_in_flight => 100) ->> 'id')::uuid as id;
do $$ begin perform again(); end $$;
create temporary table first as
select told('{}') as endpoints;
create temporary table knows as
select jsonb_build_object(id, endpoints -> id::text ->> 'revision') as known from first, made;
select ok(endpoints -> id::text ->> 'revision' <> '', 'an endpoint comes with its revision') from first, made;

do $$ begin perform again(); end $$;
select is(told(known), '{}', 'who knows it is not told again') from knows;
do $$ begin perform again(); end $$;
select is(told(jsonb_build_object(id, 'other')) -> id::text, endpoints -> id::text, 'who knows another revision is') from made, first;
do $$ begin perform again(); end $$;
select is(told('null') -> id::text, endpoints -> id::text, 'and so is who knows nothing') from made, first;

-- A secret that runs out changes no row when it does.
do $$ begin perform outbox.rotate_secret(id, p_overlap => '1 hour') from made; end $$;
do $$ begin perform again(); end $$;
select is(jsonb_array_length(told(known) -> id::text -> 'secrets'), 2, 'while a secret runs out its endpoint is told each time') from knows, made;
do $$ begin perform time_passes('59 minutes 30 seconds'), outbox.publish('order.paid', '{}'); end $$;
select is(jsonb_array_length(told(known) -> id::text -> 'secrets'), 1, 'and when it has, to all who may still hold it') from knows, made;
do $$ begin perform outbox.drop_expired_secrets(outbox.clock(), 100), outbox.publish('order.paid', '{}'); end $$;
select is(jsonb_array_length(told(known) -> id::text -> 'secrets'), 1, 'whether or not a cleanup has passed') from knows, made;
do $$ begin perform again(); end $$;
select is(told(known), '{}', 'later no more') from knows;

select * from finish();
rollback;
