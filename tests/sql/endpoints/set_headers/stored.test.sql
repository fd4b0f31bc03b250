-- Custom headers: dispatch() alone sees their values.
begin;
\ir ../../_helpers.sql
select plan(28);

create temporary table ours as
select (outbox.create_endpoint('https://example.com', '{}', p_headers => '{"X-Tenant": "tenant-seven", "Authorization": "Bearer sesame-one"}') ->> 'id')::uuid as id;
create function sent() returns jsonb language plpgsql as $$
begin
  perform outbox.publish('a', '{}', p_endpoint_id => id) from ours;
  return (select step() -> 'endpoints' -> id::text -> 'headers' from ours);
end
$$;
create function names() returns text[] language sql as $$ select e.header_names from outbox.endpoint e join ours using (id) $$;

-- Every row that a reader can see, of tables and views, as text.
create function shown(p_role name, p_text text) returns bigint language plpgsql as $$
declare
  v_relation text;
  v_found bigint;
  v_all bigint := 0;
begin
  for v_relation in
    select c.oid::regclass::text from pg_class c
    where c.relnamespace in ('outbox'::regnamespace, 'vault'::regnamespace) and c.relkind in ('r', 'p', 'v') and c.relname <> 'decrypted_secrets'
      and has_schema_privilege(p_role, c.relnamespace, 'usage') and has_table_privilege(p_role, c.oid, 'select')
  loop
    execute format('select count(*) from %s t where position($1 in t::text) > 0', v_relation) into v_found using p_text;
    v_all := v_all + v_found;
  end loop;
  return v_all;
end
$$;

select is(sent(), '{"X-Tenant": "tenant-seven", "Authorization": "Bearer sesame-one"}', 'dispatch() returns the headers');
select is(names(), '{Authorization,X-Tenant}', 'the endpoint shows their names');
select is(shown(r.role, t.text), 0::bigint, r.role || ' sees no value, ' || t.text)
from (values ('service_role'), ('postgres')) r (role), (values ('sesame-one'), ('tenant-seven')) t (text);
select cmp_ok(shown('service_role', 'X-Tenant'), '>', 0::bigint, 'the look through the tables finds what is there');

select is(outbox.set_headers(id, '{"authorization": "Bearer sesame-two", "x-more": "1"}'),
  jsonb_build_object('id', id, 'header_names', '["X-Tenant", "authorization", "x-more"]'::jsonb), 'set_headers() returns the names and no value') from ours;
select is(sent(), '{"X-Tenant": "tenant-seven", "authorization": "Bearer sesame-two", "x-more": "1"}',
  'set_headers() replaces by name in any case, adds, and leaves the rest');
select is((select version from outbox.endpoint join ours using (id)), 2, 'set_headers() makes a new version of the endpoint');
select is(outbox.set_headers(id, '{"X-TENANT": null, "x-more": "2", "x-none": null}') -> 'header_names', '["authorization", "x-more"]',
  'set_headers() removes what is null') from ours;
select is(sent(), '{"authorization": "Bearer sesame-two", "x-more": "2"}', 'and dispatch() returns what is left');
select is((select count(*)::integer from vault.secrets where name like 'outhook_endpoint_headers%'), 1, 'no old values stay in Vault');
select is(outbox.set_headers(id, '{}') -> 'header_names', '["authorization", "x-more"]', 'set_headers() of nothing changes nothing') from ours;
select is(outbox.set_headers(id, '{"authorization": null, "x-more": null}') -> 'header_names', '[]', 'set_headers() removes all') from ours;
select is(sent(), '{}', 'an endpoint without custom headers has none');
select is((select count(*)::integer from vault.secrets where name like 'outhook_endpoint_headers%'), 0, 'and nothing in Vault');

select is(refusal(format('select outbox.set_headers(%L, %s)', ours.id, r.headers)), r.expected, 'set_headers() refuses ' || left(r.headers, 60))
from ours, (values
  ('null', 'OH001 headers is not a JSON object'),
  ($$'["x"]'$$, 'OH001 headers is not a JSON object'),
  ($$'{"host": "a"}'$$, 'OH001 headers.host is reserved'),
  ($$'{"Sec-Fetch-Site": "a"}'$$, 'OH001 headers.Sec-Fetch-Site is reserved'),
  ($$'{"Accept-Encoding": "gzip"}'$$, 'OH001 headers.Accept-Encoding is reserved'),
  ($$'{"x-key": "a", "X-KEY": "b"}'$$, 'OH001 headers.x-key occurs twice: header names are not case-sensitive'),
  ($$'{"x-key": "\u0007"}'$$, 'OH001 headers.x-key has an empty value, or characters that are not visible ASCII'),
  ($$(select jsonb_object_agg('x-' || n, 'a') from generate_series(1, 21) n)$$, 'OH001 headers has more than 20 names')
) r (headers, expected);
select is(refusal('select outbox.set_headers(''00000000-0000-0000-0000-000000000000'', ''{}'')'),
  'OH002 endpoint ''00000000-0000-0000-0000-000000000000'' does not exist', 'set_headers() refuses an unknown endpoint');

-- The limit holds for what there is in all, and a deleted endpoint leaves nothing.
select outbox.set_headers(id, (select jsonb_object_agg('x-' || n, 'a') from generate_series(1, 20) n)) from ours;
select is(refusal(format('select outbox.set_headers(%L, ''{"x-21": "a"}'')', id)), 'OH001 headers has more than 20 names', 'set_headers() counts what is there already') from ours;
select outbox.delete_endpoint(id) from ours;
select time_passes('1 h');
select outbox.purge_deleted(100), outbox.purge_deleted(100);
select is((select count(*)::integer from vault.secrets where name like 'outhook_endpoint%'), 0, 'a deleted endpoint leaves nothing in Vault');

select * from finish();
rollback;
