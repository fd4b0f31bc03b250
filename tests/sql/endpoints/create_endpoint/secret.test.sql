-- Signing secrets: what Standard Webhooks allows, and where they are kept.
begin;
\ir ../../_helpers.sql
select plan(36);

create function secret_of(p_bytes integer) returns text language sql as $$
  select 'whsec_' || translate(encode(decode(repeat('a7', p_bytes), 'hex'), 'base64'), E'\n', '')
$$;

create function made(p_secret text) returns text language sql as $$
  select outbox.create_endpoint('https://example.com', p_secret => p_secret) ->> 'secret'
$$;

select is(made(c.secret), c.kept, 'create_endpoint() accepts a secret ' || c.what)
from (values
  ('of 24 bytes', secret_of(24), secret_of(24)),
  ('of 25 bytes, padded', secret_of(25), secret_of(25)),
  ('of 25 bytes without padding', rtrim(secret_of(25), '='), secret_of(25)),
  ('of 32 bytes, padded', secret_of(32), secret_of(32)),
  ('of 32 bytes without padding', rtrim(secret_of(32), '='), secret_of(32)),
  ('of 64 bytes', secret_of(64), secret_of(64)),
  ('with + and /', 'whsec_' || repeat('+/', 16), 'whsec_' || repeat('+/', 16)),
  ('of the design''s known vector', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
) c (what, secret, kept);

create temporary table refused (what text, secret text, expected text);
insert into refused values
  ('that is empty', '', 'OH001 secret is empty'),
  ('behind v1,', 'v1,' || secret_of(32), 'OH001 secret starts with v1,'),
  ('without whsec_', substr(secret_of(32), 7), 'OH001 secret does not start with whsec_'),
  ('with WHSEC_', 'WHSEC_' || substr(secret_of(32), 7), 'OH001 secret does not start with whsec_'),
  ('for another scheme', 'whpk_' || substr(secret_of(32), 7), 'OH001 secret does not start with whsec_'),
  ('of whsec_ alone', 'whsec_', 'OH001 secret is not base64 after whsec_'),
  ('in the URL''s alphabet', 'whsec_' || repeat('-_', 16), 'OH001 secret is not base64 after whsec_'),
  ('with a space', secret_of(24) || ' ', 'OH001 secret is not base64 after whsec_'),
  ('with a line feed', secret_of(24) || E'\n', 'OH001 secret is not base64 after whsec_'),
  ('with padding in the middle', 'whsec_' || repeat('A', 16) || '=' || repeat('A', 16), 'OH001 secret is not base64 after whsec_'),
  ('of an impossible length', 'whsec_' || repeat('A', 33), 'OH001 secret is not base64 after whsec_'),
  ('of 23 bytes', secret_of(23), 'OH001 secret has 23 bytes'),
  ('of 65 bytes', secret_of(65), 'OH001 secret has 65 bytes');
select is(refusal(format('select made(%L)', r.secret)), r.expected, 'create_endpoint() refuses a secret ' || r.what)
from refused r;

create temporary table ours as
select (e ->> 'id')::uuid as id, e ->> 'secret' as secret
from outbox.create_endpoint('https://example.com') e;

select matches(secret, '^whsec_[A-Za-z0-9+/]{43}=$', 'create_endpoint() makes a secret of 32 bytes when none is given') from ours;
select isnt(made(null), secret, 'create_endpoint() makes another one each time') from ours;
select isnt(made(null), made(null), 'create_endpoint() makes another one each time, within a statement too');

-- Every row of every table of the schema as text, and of Vault's table.
create function rows_with(p_text text, p_schema text) returns bigint language plpgsql as $$
declare
  v_table text;
  v_found bigint;
  v_all bigint := 0;
begin
  for v_table in
    select c.oid::regclass::text from pg_class c
    where c.relnamespace = p_schema::regnamespace and c.relkind in ('r', 'p')
  loop
    execute format('select count(*) from %s t where position($1 in t::text) > 0', v_table) into v_found using p_text;
    v_all := v_all + v_found;
  end loop;
  return v_all;
end
$$;
select is(rows_with(substr(secret, 7), 'outbox'), 0::bigint, 'create_endpoint() keeps no secret in a table of the outbox') from ours;
select is(rows_with(substr(secret, 7), 'vault'), 0::bigint, 'create_endpoint() keeps the secret encrypted') from ours;
select cmp_ok(rows_with(id::text, 'outbox'), '>', 1::bigint, 'the look through the tables finds what is there') from ours;
select is((select v.decrypted_secret from outbox.endpoint_secret s join vault.decrypted_secrets v on v.id = s.vault_id
           where s.endpoint_id = ours.id), secret, 'create_endpoint() keeps the secret in Vault')
from ours;
select is((select v.name from outbox.endpoint_secret s join vault.secrets v on v.id = s.vault_id where s.endpoint_id = ours.id),
  (select 'outhook_endpoint_secret_' || s.id from outbox.endpoint_secret s where s.endpoint_id = ours.id),
  'create_endpoint() names the secret in Vault after its row')
from ours;

-- Several live secrets, the oldest first, which X-Signature is of.
select is(outbox.active_secrets(array[id], outbox.clock()) -> id::text, jsonb_build_array(secret), 'active_secrets() returns the one there is') from ours;
select time_passes('1 h');
select outbox.add_secret(id, secret_of(24), outbox.clock()) from ours;
select is(outbox.active_secrets(array[id], outbox.clock()) -> id::text, jsonb_build_array(secret, secret_of(24)), 'active_secrets() returns the oldest first') from ours;
update outbox.endpoint_secret s set expires_at = outbox.clock() + interval '1 h'
from ours where s.endpoint_id = ours.id and s.created_at < outbox.clock();
select is(jsonb_array_length(outbox.active_secrets(array[id], outbox.clock()) -> id::text), 2, 'active_secrets() returns a secret until it expires') from ours;
select time_passes('1 h');
select is(outbox.active_secrets(array[id], outbox.clock()) -> id::text, jsonb_build_array(secret_of(24)), 'active_secrets() leaves out a secret that has expired') from ours;
select outbox.publish('a', '{}', p_endpoint_id => id) from ours;
select is(step() -> 'endpoints' -> id::text -> 'secrets', jsonb_build_array(secret_of(24)), 'dispatch() returns the secrets that are live') from ours;
select is(outbox.active_secrets(array['00000000-0000-0000-0000-000000000000'::uuid], outbox.clock()), '{}'::jsonb, 'active_secrets() of no endpoint is empty');
select is((select count(*)::integer from outbox.endpoint e where not exists (select from outbox.endpoint_secret s where s.endpoint_id = e.id)),
  0, 'create_endpoint() leaves no endpoint without a secret');

select * from finish();
rollback;
