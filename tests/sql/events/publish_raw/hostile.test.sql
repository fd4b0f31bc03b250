-- Modules: api
-- Hostile types, names, keys and headers of an event: each entrance refuses the same ones, and what is accepted
-- reaches the run as it is.
begin;
\ir ../../_helpers.sql
create temporary table hostile (field text, value text, accepted boolean);
-- Types. Receivers compare them, brokers make topics of them, and objects of JavaScript have members of that name.
insert into hostile select 'type', v, false from unnest(array[
  '', ' ', '.', '..', 'a.', '.a', 'a..b', 'a b', ' a', 'a ', E'a\n', E'\na', E'a\r\nx-admin: 1', E'a\tb', E'a\x7f', E'a\x01b', 'a/b', '../a', 'a\b', 'a%00', 'a,b', 'a;b',
  'a''b', 'a"b', '''; drop table outbox.event; --', '*', 'a.*', '{type}', '${a}', '<script>', 'a@b', 'a:b', 'größe', 'а', 'ａ', E'a\u200bb', E'a\u202eb', E'\ufeffa', E'a\u0301', '🎉',
  repeat('a', 129), repeat('a.', 64) || 'a', repeat('a', 100000), 'outhook.a', 'OUTHOOK.a', 'outHook.delivery.dead_lettered', E'outhoo\u212a.a', 'outhook.'
]) v;
insert into hostile select 'type', v, true from unnest(array[
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'true', '0', '-', '_', '-.-', 'outhook', 'outhook-a.b', 'a.outhook.b', 'select', 'A', repeat('a', 128),
  repeat('a.', 63) || 'aa'
]) v;
insert into hostile select 'org_id', v, false from unnest(array[
  '', ' ', '__proto__', 'outhook', E'outhook\n', 'a b', E'a\r\nb', 'a/b', '../a', '-a', '_a', '.a', ':a', '*', '%', 'a''b', 'größe', 'а', E'a\u200b', '{org}', repeat('a', 65)
]) v;
insert into hostile select 'org_id', v, true from unnest(array['constructor', 'OUTHOOK', 'outhook2', 'a..', 'a::-_.', '0', repeat('a', 64)]) v;
-- Partition keys may have any text: they are no headers. Whole keys are compared, so these are all different.
insert into hostile select 'partition_key', v, true from unnest(array[
  ' ', 'a', 'A', 'a ', E'a\n', E'a\r\nx-admin: 1', E'\x01', '{key}', '{type}', '__proto__', 'constructor', '''; drop table outbox.event; --', '%', '*', 'größe', 'а', E'a\u0301', 'á',
  E'a\u202eb', '🎉', repeat('🎉', 256), repeat('a', 256)
]) v;
insert into hostile select 'partition_key', v, false from unnest(array[repeat('a', 257), repeat('🎉', 257)]) v;
-- Both travel in headers.
insert into hostile select f, v, false from unnest('{correlation_id,idempotency_key}'::text[]) f, unnest(array[
  '', ' ', 'a b', ' a', 'a ', E'a\n', E'a\r\nx-admin: 1', E'\r\n\r\n{}', E'a\tb', E'a\x7f', E'a\x01', 'größe', 'а', E'a\u200b', '🎉', E'a\u00a0', repeat('a', 256)
]) v;
insert into hostile select f, v, true from unnest('{correlation_id,idempotency_key}'::text[]) f, unnest(array[
  '!', '~', '"', '''', 'a,b', 'a;b=c', '%0d%0a', '\r\n', '__proto__', '{}', '<script>', repeat('a', 128)
]) v;
insert into hostile select 'traceparent', v, false from unnest(array[
  '', '00', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7', E'00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n', '00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01',
  '00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01', ' 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', E'00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nx: y',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-a', repeat('0', 100000)
]) v;

-- A call of each entrance with one field of the table; null: the entrance does not have the field.
create function call_of(p_entrance text, p_field text, p_value text) returns text language sql as $$
  select case p_entrance
    when 'publish_raw' then format('select outbox.publish_raw(%s p_body => ''{}'', p_%s => %L)', case when p_field <> 'type' then 'p_type => ''a'',' end, p_field, p_value)
    when 'publish' then format('select outbox.publish(%s p_payload => ''{}'', p_%s => %L)', case when p_field <> 'type' then 'p_type => ''a'',' end, p_field, p_value)
    when 'publish_once' then format('select outbox.publish_once(%L)', jsonb_build_object('type', 'a', 'payload', '{}') || jsonb_build_object(p_field, p_value))
    when 'publish_many' then format('select outbox.publish_many(%L)', jsonb_build_array(jsonb_build_object('type', 'a', 'payload', '{}') || jsonb_build_object(p_field, p_value)))
    -- A time makes it check the events one by one.
    when 'publish_many, one by one' then format('select outbox.publish_many(%L)',
      jsonb_build_array(jsonb_build_object('type', 'a', 'payload', '{}', 'deliver_at', '2020-01-01T00:00:00Z') || jsonb_build_object(p_field, p_value)))
    when 'publish_events' then case when p_field <> 'org_id' then format('select outbox.publish_events(''default'', %L)',
      jsonb_build_array(jsonb_build_object('type', 'a', 'payload', '{}') || jsonb_build_object(p_field, p_value))) end
    when 'webhook_outbox' then case when p_field = 'type' then format('insert into outbox.webhook_outbox (event_type, payload) values (%L, ''{}'')', p_value) end
  end
$$;
create temporary table entrance (name text);
insert into entrance values ('publish_raw'), ('publish'), ('publish_once'), ('publish_many'), ('publish_many, one by one'), ('publish_events'), ('webhook_outbox');
-- What a call makes of a value, without a trace of it.
create function fate(p_statement text, p_field text) returns text language plpgsql as $$
declare
  v_message text;
  v_hint text;
begin
  execute p_statement;
  raise exception sqlstate 'T0000';
exception
  when sqlstate 'T0000' then
    return 'accepted';
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    v_message := regexp_replace(sqlerrm, '^events\[0\]: ', '');
    return case
      when sqlstate = 'OH001' and v_message ~ ('^' || p_field || ' ') and length(v_message) < 220 and v_hint <> '' then 'refused'
      else sqlstate || ' ' || left(sqlerrm, 200)
    end;
end
$$;
select plan((select count(*)::integer from hostile, entrance where call_of(name, field, value) is not null)
  + 3 + 2 * (select count(*)::integer from hostile where accepted and field <> 'org_id') + 10);

select is(fate(call_of(name, field, value), case when name = 'webhook_outbox' then 'event_type' else field end), case when accepted then 'accepted' else 'refused' end,
  format('%s %s the %s %s', name, case when accepted then 'accepts' else 'refuses' end, field, left(to_json(value)::text, 60)))
from hostile, entrance where call_of(name, field, value) is not null;
select is_empty('select id from outbox.event union all select event_id from outbox.unrouted', 'nothing is left of what is refused');
select is_empty('select from outbox.idempotency_key', 'no key of it either');

-- What is accepted reaches the run as it is, under its own key of an object.
select endpoint(p_max_in_flight => 1000, p_quantum => 1000);
create temporary table sent as
select h.*, outbox.publish_raw(case when field = 'type' then value else 'a' end, '{}', p_partition_key => case when field = 'partition_key' then value end,
  p_correlation_id => case when field = 'correlation_id' then value end, p_idempotency_key => case when field = 'idempotency_key' then value end) as id
from hostile h where accepted and field <> 'org_id';
create temporary table answer as select step(400) as a;
select is(claimed(a), (select count(*)::integer from sent), 'all that is accepted is claimed') from answer;
select is(case s.field when 'type' then e.type when 'partition_key' then e.partition_key when 'correlation_id' then e.correlation_id else e.idempotency_key end, s.value,
  format('the event keeps the %s %s', s.field, left(to_json(s.value)::text, 60)))
from sent s join outbox.event e on e.id = s.id;
select is(a -> 'events' -> s.id::text ->> s.field, s.value, format('the run gets the %s %s', s.field, left(to_json(s.value)::text, 60)))
from sent s, answer;

-- Names within the payload are nobody's business: it is text.
create temporary table body (what text, body text, id uuid);
insert into body (what, body) values
  ('members of every object', '{"__proto__": {"a": 1}, "constructor": {"prototype": {"a": 1}}, "toString": null}'),
  ('half of a character', '{"a": "\ud800"}'), ('an empty name', '{"": 1}'), ('a name with a null character', '{"\u0000": 1}'),
  ('a number beyond a double', '{"a": 1e400, "b": -1e-400, "c": 1e999999999}'), ('a thousand levels', repeat('[', 1000) || repeat(']', 1000)),
  ('a long name', format('{"%s": 1}', repeat('a', 100000))), ('the end of a script', '{"a": "</script>\u2028\u2029"}'),
  ('names that are equal but for their form', E'{"a\u0301": 1, "\u00e1": 2}');
update body set id = outbox.publish_raw('a', body) where true;
update answer set a = step(400) where true;
select is(a -> 'events' -> b.id::text ->> 'body', b.body, 'the run gets a payload with ' || b.what || ' as it is') from body b, answer;
select is(claimed(a), 9, 'all of them are claimed') from answer;

select * from finish();
rollback;
