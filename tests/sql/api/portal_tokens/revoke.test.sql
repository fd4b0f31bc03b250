-- Portal tokens are revoked by their id or all together, and revocations do not stay for ever.
begin;
select plan(17);

create function at(p_at timestamptz) returns void language plpgsql as $$
begin
  execute format('create or replace function outbox.clock() returns timestamptz language sql
    set search_path = '''' as %L', format('select to_timestamp(%s)', extract(epoch from p_at)));
end
$$;
select at('2026-11-28 10:00+00');

select is(outbox.portal_revocations('org-1'), '{"generation": 0, "revoked": []}'::jsonb,
  'at first no token is revoked');
select is(
  outbox.record_portal_token('org-1', '{"id": "a", "issuedAt": 1, "scopes": []}'),
  '{"id": "a", "issuedAt": 1, "scopes": [], "generation": 0}'::jsonb,
  'a new token has the generation of its organisation');
select is(
  outbox.record_portal_token('org-1', '{"id": "a", "issuedAt": 1}', 'key'),
  outbox.record_portal_token('org-1', '{"id": "b", "issuedAt": 2}', 'key'),
  'a repeat with the same key returns the claims of the first token');

select is(outbox.revoke_portal_token('org-1', '00000000-0000-4000-8000-000000000001'),
  '{"id": "00000000-0000-4000-8000-000000000001", "revokedAt": "2026-11-28T10:00:00.000Z"}'::jsonb,
  'a token is revoked by its id');
select at('2026-11-28 10:00:01+00');
select is(
  outbox.revoke_portal_token('org-1', '00000000-0000-4000-8000-000000000001') ->> 'revokedAt',
  '2026-11-28T10:00:00.000Z', 'a repeat changes nothing');
select outbox.revoke_portal_token('org-1', '00000000-0000-4000-8000-000000000002');
select outbox.revoke_portal_token('org-2', '00000000-0000-4000-8000-000000000003');
select is(outbox.take_requests('org-2', 1) -> 'portal',
  '{"generation": 0, "revoked": ["00000000-0000-4000-8000-000000000003"]}'::jsonb,
  'the rate limit of an organisation brings its own revocations');

select is(p -> 'data' -> 0 ->> 'id', '00000000-0000-4000-8000-000000000002', 'the newest is first')
from outbox.list_revoked_portal_tokens('org-1', null, 1) p;
select is(q, '{"data": [{"id": "00000000-0000-4000-8000-000000000001",
  "revokedAt": "2026-11-28T10:00:00.000Z"}], "nextCursor": null}'::jsonb,
  'the next page has the rest')
from outbox.list_revoked_portal_tokens('org-1', null, 1) p,
  outbox.list_revoked_portal_tokens('org-1', p ->> 'nextCursor', 1) q;

select is(outbox.revoke_portal_tokens('org-1'), '{"revokedAt": "2026-11-28T10:00:01.000Z"}'::jsonb,
  'all tokens of an organisation are revoked');
select is(outbox.portal_revocations('org-1'), '{"generation": 1, "revoked": []}'::jsonb,
  'the generation rises, and the single ids are no longer needed');
select is(outbox.portal_revocations('org-2') -> 'generation', '0'::jsonb,
  'the tokens of another organisation stay valid');
select is(outbox.record_portal_token('org-1', '{"id": "c", "issuedAt": 3}') -> 'generation',
  '1'::jsonb, 'a later token has the new generation');
select outbox.revoke_portal_tokens('org-1');
select is(outbox.portal_generation('org-1'), 2, 'each call raises the generation');

-- 1,000 are allowed, because each isolate of the API holds them.
insert into outbox.revoked_portal_token (org_id, id, revoked_at)
select 'org-1', gen_random_uuid(), outbox.clock() from generate_series(1, 999);
select lives_ok($$ select outbox.revoke_portal_token('org-1', gen_random_uuid()) $$,
  '1,000 tokens of an organisation are revoked by their ids');
select throws_ok($$ select outbox.revoke_portal_token('org-1', gen_random_uuid()) $$, 'OH004',
  '1000 portal tokens are revoked, which is the maximum', 'the 1,001st is refused');

select is(outbox.remove_revoked_tokens('2026-11-30 10:00:00+00', 5000), 0,
  'a revocation is kept for two days');
select is(outbox.remove_revoked_tokens('2026-11-30 10:00:01.1+00', 5000), 1001,
  'older ones are deleted');

select * from finish();
rollback;
