-- ed25519 beside HMAC: each kind of secret is replaced by its own kind; private keys are never shown.
begin;
\ir ../../_helpers.sql
select plan(27);

create function key(p_n integer) returns text language sql as $$
  select 'whsk_' || translate(encode(decode(repeat(lpad(to_hex(p_n), 2, '0'), 32) || repeat(lpad(to_hex(p_n + 100), 2, '0'), 32), 'hex'), 'base64'), E'\n', '')
$$;
create function public_of(p_n integer) returns text language sql as $$
  select 'whpk_' || encode(decode(repeat(lpad(to_hex(p_n + 100), 2, '0'), 32), 'hex'), 'base64')
$$;

create temporary table ours as
select (e ->> 'id')::uuid as id, e ->> 'secret' as secret from outbox.create_endpoint('https://example.com') e;
create function live() returns jsonb language sql as $$ select outbox.active_secrets(array[id], outbox.clock()) -> id::text from ours $$;

select is(outbox.rotate_secret(id, key(1)) - 'secret_id',
  jsonb_build_object('id', id, 'secret', null, 'public_key', public_of(1), 'expires_at', null),
  'rotate_secret() returns the public half of a first ed25519 key, replaces nothing, and shows no private key') from ours;
select set_eq('select jsonb_array_elements_text(live())', array[(select secret from ours), key(1)], 'both kinds sign');
select is(outbox.rotate_secret(id, rtrim(key(2), '=')) ->> 'public_key', public_of(2), 'a second ed25519 key replaces the first') from ours;
select set_eq('select jsonb_array_elements_text(live())', array[(select secret from ours), key(1), key(2)], 'which signs on for its overlap');
select ok(live() ->> 2 = key(1), 'and is the last');

create temporary table seen as select outbox.read_secret(id) as answer from ours;
select is(answer - 'secrets', jsonb_build_object('id', id, 'secret', secret, 'public_key', public_of(2)), 'read_secret() returns what receivers need') from seen, ours;
select is(jsonb_array_length(answer -> 'secrets'), 3, 'read_secret() lists what signs') from seen;
select is(jsonb_path_query_array(answer, '$.secrets[*].scheme') @> '["v1", "v1a"]', true, 'with the scheme of each') from seen;
select is((answer #> '{secrets,2}') - 'secret_id', jsonb_build_object('scheme', 'v1a', 'public_key', public_of(1),
  'created_at', outbox.clock(), 'expires_at', outbox.clock() + interval '24 h'), 'and when it ends') from seen;
select ok(answer::text not like '%whsk\_%' and position(substr(key(1), 6, 40) in answer::text) = 0, 'read_secret() shows no private key') from seen;
select ok(not exists (select from outbox.endpoint_secret s where s::text like '%' || substr(key(1), 6, 40) || '%'), 'nor does the table');

-- Ending one at once.
select is(refusal(format('select outbox.expire_secret(%L)', answer #>> '{secrets,0,secret_id}')),
  case answer #>> '{secrets,0,scheme}' when 'v1' then format('OH004 secret %s is the current secret of endpoint %s', answer #>> '{secrets,0,secret_id}', id) else 'accepted' end,
  'expire_secret() ends a key, and refuses the secret that an endpoint must have') from seen, ours;
select is(refusal(format('select outbox.expire_secret(%L)', answer #>> '{secrets,1,secret_id}')),
  case answer #>> '{secrets,1,scheme}' when 'v1' then format('OH004 secret %s is the current secret of endpoint %s', answer #>> '{secrets,1,secret_id}', id) else 'accepted' end,
  'expire_secret() ends a key, and refuses the secret that an endpoint must have, whichever comes first') from seen, ours;
select is(outbox.expire_secret((answer #>> '{secrets,2,secret_id}')::uuid) ->> 'secret_id', answer #>> '{secrets,2,secret_id}', 'expire_secret() ends a replaced secret') from seen;
select is(live(), jsonb_build_array(secret), 'what was ended no longer signs') from ours;
select is(refusal(format('select outbox.expire_secret(%L)', answer #>> '{secrets,2,secret_id}')),
  format('OH002 secret ''%s'' does not exist or has expired', answer #>> '{secrets,2,secret_id}'), 'expire_secret() knows no secret twice') from seen;

select is(refusal(format('select outbox.rotate_secret(%L, %L)', ours.id, r.secret)), r.expected, 'rotate_secret() refuses a secret ' || r.what)
from ours, lateral (values
  ('that it signs with already', ours.secret, 'OH001 secret is already a secret of the endpoint'),
  ('that is a seed alone', 'whsk_' || encode(decode(repeat('07', 32), 'hex'), 'base64'), 'OH001 secret has 32 bytes after whsk_'),
  ('that is no base64', 'whsk_' || repeat('-', 86), 'OH001 secret is not base64 after whsk_'),
  ('of 23 bytes', 'whsec_' || encode(decode(repeat('07', 23), 'hex'), 'base64'), 'OH001 secret has 23 bytes')
) r (what, secret, expected);
select is(refusal(format('select outbox.rotate_secret(%L, p_overlap => %s)', ours.id, r.overlap)), r.expected, 'rotate_secret() refuses the overlap ' || r.overlap)
from ours, (values
  ('null', 'OH001 overlap is NULL'), ('''-1 s''', 'OH001 overlap is ''-00:00:01'''), ('''31 days''', 'OH001 overlap is ''31 days''')
) r (overlap, expected);
select is(refusal('select outbox.rotate_secret(''00000000-0000-0000-0000-000000000000'')'),
  'OH002 endpoint ''00000000-0000-0000-0000-000000000000'' does not exist', 'rotate_secret() refuses an unknown endpoint');

-- After a leak of one scheme.
select outbox.rotate_secret(id) from ours;
select outbox.rotate_secret(id, key(n)) from ours, generate_series(3, 4) n;
select is(jsonb_array_length(live()), 4, 'two HMAC secrets sign, and two keys');
select outbox.rotate_secret(id, key(5), '0') from ours;
select is((select array_agg(scheme || ' ' || n order by scheme) from (
    select scheme, count(*) as n from outbox.endpoint_secret join ours on ours.id = endpoint_id
    where expires_at is null or expires_at > outbox.clock() group by scheme) s),
  array['v1 2', 'v1a 1'], 'with an overlap of 0 all older keys end, and no HMAC secret');
select outbox.rotate_secret(id, p_overlap => '24 hours -1 day') from ours;
select is(jsonb_array_length(live()), 2, 'and the other way round: one HMAC secret is left beside the key');

select * from finish();
rollback;
