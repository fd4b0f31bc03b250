-- Rotation: the new secret signs at once, the old one signs on for its own overlap, and a retry is signed
-- with what is live then.
begin;
\ir ../../_helpers.sql
select plan(31);

create function given(p_n integer) returns text language sql as $$
  select 'whsec_' || translate(encode(decode(repeat(lpad(to_hex(p_n), 2, '0'), 32), 'hex'), 'base64'), E'\n', '')
$$;

select time_is('2026-03-01 11:00:00+00');
create temporary table ours as
select (outbox.create_endpoint('https://example.com', p_secret => given(1)) ->> 'id')::uuid as id;
select time_is('2026-03-01 12:00:00+00');
create function live() returns jsonb language sql as $$ select outbox.active_secrets(array[id], outbox.clock()) -> id::text from ours $$;
create function signing(p_answer jsonb) returns jsonb language sql as $$
  select p_answer -> 'endpoints' -> id::text -> 'secrets' from ours
$$;

select outbox.publish('a', '{}', p_endpoint_id => id) from ours;
create temporary table first_try as select step() as answer;
select is(signing(answer), jsonb_build_array(given(1)), 'dispatch() returns the one secret there is') from first_try;

create temporary table rotated as select outbox.rotate_secret(id, given(2)) as answer from ours;
select is(answer - 'secret_id', jsonb_build_object('id', id, 'secret', given(2), 'public_key', null, 'expires_at', '2026-03-02T12:00:00+00:00'::timestamptz),
  'rotate_secret() returns the new secret, and when the old one ends: 24 hours later') from rotated, ours;
select is((select s.id::text from outbox.endpoint_secret s join ours on ours.id = s.endpoint_id where s.expires_at is null), answer ->> 'secret_id',
  'rotate_secret() returns the id of the new secret') from rotated;
select is(live(), jsonb_build_array(given(1), given(2)), 'both sign, and X-Signature is of the first one, the old');
select is((select version from outbox.endpoint join ours using (id)), 2, 'rotate_secret() makes a new version of the endpoint');

select step(0, results(answer, 'failed', '{"error_class": "timeout"}')) from first_try;
select time_passes('1 h');
select is(signing(step()), jsonb_build_array(given(1), given(2)), 'a retry is signed with the secrets that are live then');

-- A second rotation leaves the first one's old secret its own end.
select is(outbox.rotate_secret(id, given(3), '10 minutes') ->> 'expires_at', '2026-03-01T13:10:00+00:00', 'a second rotation has its own overlap') from ours;
select is(live(), jsonb_build_array(given(1), given(3), given(2)), 'all three sign: the oldest first, then the newest');
select time_passes('10 minutes');
select is(live(), jsonb_build_array(given(1), given(3)), 'the second old secret ends at its own time, though the first lasts longer');
select time_passes('22 h 50 minutes');
select is(live(), jsonb_build_array(given(3)), 'the first old secret ends 24 hours after its rotation');

-- At once, and made by us.
create temporary table made as select outbox.rotate_secret(id, p_overlap => '0') ->> 'secret' as secret from ours;
select matches(secret, '^whsec_[A-Za-z0-9+/]{43}=$', 'rotate_secret() makes a secret when none is given') from made;
select is(live(), jsonb_build_array(secret), 'with an overlap of 0 the old one ends at once') from made;


-- After a leak, nothing that may be known to others signs on.
select outbox.rotate_secret(id, given(4)) from ours;
select outbox.rotate_secret(id, given(5), '30 days') from ours;
create temporary table leaked as select outbox.rotate_secret(id, given(6), '0') as answer from ours;
select is(live(), jsonb_build_array(given(6)), 'with an overlap of 0 the old ones of earlier rotations end too');
select is((answer ->> 'expires_at')::timestamptz, outbox.clock(), 'and the result says when') from leaked;
select is((select count(*)::integer from outbox.endpoint_secret s join ours on ours.id = s.endpoint_id where s.expires_at > outbox.clock()), 0, 'none has an end ahead');

-- How many old ones at most.
select is(refusal(format('select outbox.rotate_secret(%L)', id)), 'accepted', 'old secret ' || n) from ours, generate_series(1, 5) n;
select is(refusal(format('select outbox.rotate_secret(%L)', id)), format('OH004 endpoint %s has 5 old secrets that still sign', id), 'a sixth is refused')
from ours;
select is(jsonb_array_length(live()), 6, 'and nothing of the refused rotation stays');

-- Cleanup.
select is(outbox.cleanup() ->> 'secrets', '1', 'cleanup() leaves what has expired just now, by which a dispatch knows who holds it');
select time_passes('5 minutes');
select is(outbox.cleanup() ->> 'secrets', '5', 'cleanup() removes the secrets that have expired');
select is((select count(*)::integer from vault.secrets where name like 'outhook_endpoint_secret%'), 6, 'from Vault too');
select time_passes('24 h 5 minutes');
select is(outbox.cleanup() ->> 'secrets', '5', 'cleanup() removes the old ones once their overlap is over');
select is(jsonb_array_length(live()), 1, 'and never the current one');
select is(outbox.cleanup() ->> 'secrets', '0', 'cleanup() twice is cleanup() once');
select is((select count(*)::integer from outbox.endpoint_secret join ours on endpoint_id = ours.id), 1, 'no row is left of what was removed');

-- Rotations of one moment have no newest: the order is that of their ids, whichever row was written last.
create temporary table twins as select (outbox.create_endpoint('https://example.com/twins') ->> 'id')::uuid as id;
select outbox.rotate_secret(id) from twins, generate_series(1, 4);
create temporary table told as select outbox.read_secret(id) as answer, outbox.active_secrets(array[id], outbox.clock()) -> id::text as signing from twins;
create temporary table kept as
select s.ctid as place, s as secret from outbox.endpoint_secret s join twins on twins.id = s.endpoint_id;
delete from outbox.endpoint_secret s using twins where s.endpoint_id = twins.id;
insert into outbox.endpoint_secret select (k.secret).* from (select * from kept order by place desc) k;
select is(outbox.read_secret(id) -> 'secrets', answer -> 'secrets', 'read_secret() lists secrets of one moment in the same order each time') from told, twins;
select is(outbox.active_secrets(array[id], outbox.clock()) -> id::text, signing, 'and a delivery is signed with them in the same order each time') from told, twins;

select * from finish();
rollback;
