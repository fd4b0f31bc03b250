-- Hostile names and values of custom headers: each entrance refuses the same ones, and no message has a value.
begin;
\ir ../../_helpers.sql
create temporary table hostile (name text, value text, accepted boolean);
insert into hostile select n, 'v', false from unnest(array[
  '', ' ', 'a b', ' a', 'a ', 'a:', ':authority', E'a\n', E'a\r\nb', E'a\tb', E'a\x01', E'a\x7f', 'a/b', 'a(b)', 'a,b', 'a;b', 'a=b', 'a@b', 'a[b]', 'a{b}', 'a"b', 'a\b', 'a<b>', 'a?b',
  'größe', 'а', E'a\u200b', '🎉', repeat('a', 101), 'Host', 'HOST', 'host', 'Connection', 'Content-Length', 'content-type', 'Transfer-Encoding', 'TE', 'Trailer', 'Upgrade', 'Expect',
  'Keep-Alive', 'Accept-Encoding', 'Content-Encoding', 'Proxy-Authorization', 'proxy-connection', 'Sec-Fetch-Mode', 'sec-websocket-key', 'Webhook-Id', 'webhook-signature',
  'webhook-timestamp', 'webhook-anything', 'X-Signature', 'x-timestamp', 'X-Attempt', 'X-Event-Type', 'X-Correlation-Id', 'X-Outhook-Test', 'Idempotency-Key', 'traceparent', 'tracestate',
  'User-Agent', 'HTTP2-Settings'
]) n;
insert into hostile select 'x-a', v, false from unnest(array[
  '', ' ', ' v', 'v ', E'v\n', E'v\r\nx-b: w', E'\r\n\r\n{}', E'\tv', E'v\x01w', E'v\x7f', 'größe', E'v\u00a0w', '🎉', E'v\u200bw'
]) v;
insert into hostile values
  ('__proto__', 'v', true), ('constructor', 'v', true), ('toString', 'v', true), ('!#$%&''*+-.^_`|~0', 'v', true), ('0', 'v', true), (repeat('a', 100), 'v', true), ('webhook', 'v', true),
  ('x-webhook-id', 'v', true), ('hosts', 'v', true), ('Authorization', 'Bearer v', true), ('Cookie', 'a=b; c=d', true), ('x-a', 'v', true), ('x-a', E'v\tw', true), ('x-a', 'v: w, "x"; y', true),
  ('x-a', repeat('v', 8000), true);
create temporary table made as select endpoint() as id;
create temporary table entrance (name text, call text);
insert into entrance select 'create_endpoint', 'select outbox.create_endpoint(''https://example.com'', p_headers => %L)';
insert into entrance select 'set_headers', format('select outbox.set_headers(%L, %%L)', id) from made;
create function fate(p_statement text, p_name text) returns text language plpgsql as $$
declare
  v_hint text;
begin
  execute p_statement;
  raise exception sqlstate 'T0000';
exception
  when sqlstate 'T0000' then
    return 'accepted';
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return case
      when sqlstate = 'OH001' and starts_with(sqlerrm, 'headers.' || left(p_name, 80) || ' ') and length(sqlerrm) < 200 and v_hint <> '' then 'refused'
      else sqlstate || ' ' || left(sqlerrm, 200)
    end;
end
$$;
select plan((select count(*)::integer * 2 from hostile) + 3);

select is(fate(format(e.call, jsonb_build_object(h.name, h.value)), h.name), case when accepted then 'accepted' else 'refused' end,
  format('%s %s %s: %s', e.name, case when accepted then 'accepts' else 'refuses' end, left(to_json(h.name)::text, 40), left(to_json(h.value)::text, 40)))
from hostile h, entrance e;
select is(refusal(format(call, '{"X-A": "1", "x-a": "2"}')), 'OH001 headers.x-a occurs twice: header names are not case-sensitive', name || ' refuses a name in two cases of letters') from entrance;
select is(refusal(format(call, jsonb_build_object('x-a', E'secret\r\n'))) like '%secret%', false, 'no message has a value') from entrance where name = 'set_headers';

select * from finish();
rollback;
