-- The repeat of a request gives its answer also after the endpoint was deleted.
begin;
\ir ../../_helpers.sql
select plan(9);

create function made_of(p_key text default 'new') returns jsonb language sql as $$
  select outbox.create_org_endpoint('org-1', '{"url": "https://example.com/hook", "description": "mine"}', p_key)
$$;
create temporary table made as select made_of() as a;
create function rotated(p_id uuid, p_org_id text default 'org-1', p_overlap integer default 60) returns jsonb language sql as $$
  select outbox.rotate_org_secret(p_org_id, p_id, null, p_overlap, 'turn')
$$;
select is(made_of(), a, 'a repeat gives the endpoint with its secret') from made;
create temporary table turned as select rotated((a ->> 'id')::uuid) as r from made;
select is(rotated((a ->> 'id')::uuid), r, 'a repeat of a rotation gives the new secret') from made, turned;
select outbox.delete_org_endpoint('org-1', (a ->> 'id')::uuid) from made;
select is(made_of(), a - 'secret', 'after the deletion, a repeat gives the first answer without the secret') from made;
select is(rotated((a ->> 'id')::uuid), r - 'secret', 'as does that of a rotation') from made, turned;
select is((select count(*) from outbox.endpoint where org_id = 'org-1' and status <> 'deleted'), 0::bigint, 'and nothing is created');
select is(refusal(format('select outbox.rotate_org_secret(''org-1'', %L, null, 60, ''other'')', a ->> 'id')), format('OH002 endpoint ''%s'' does not exist', a ->> 'id'), 'another key finds no endpoint') from made;
select is((select count(*) from outbox.request_key where key = 'other'), 0::bigint, 'and is not used up');
select is(refusal(format('select rotated(%L, ''org-2'')', a ->> 'id')), format('OH002 endpoint ''%s'' does not exist', a ->> 'id'), 'the key of another organisation is another one') from made;
select is_empty('select from outbox.request_key where response::text ~ ''whsec_''', 'no secret is stored with a key');

select * from finish();
rollback;
