-- A repeat of a creation has the secret only for a caller that may read secrets, or that has made the first request.
begin;
\ir ../../_helpers.sql
select plan(8);

create function made_by(p_caller text, p_key text default 'new') returns jsonb language sql as $$
  select outbox.create_org_endpoint('org-1', '{"url": "https://example.com/hook"}', p_key, p_caller => p_caller)
$$;
select ok(made_by(null) ->> 'secret' like 'whsec\_%', 'a caller that may read secrets creates an endpoint');
select is(made_by(null) -> 'secret', outbox.read_secret((made_by(null) ->> 'id')::uuid) -> 'secret', 'its repeat has the secret');
select is(made_by('portal:a'), made_by(null) - 'secret', 'the repeat of another one has not');
select ok(made_by('portal:a', 'own') ->> 'secret' like 'whsec\_%', 'a caller that may not gets the secret of its own endpoint');
select is(made_by('portal:a', 'own'), made_by(null, 'own'), 'and so does its repeat, as that of one that may');
select is(made_by('portal:b', 'own'), made_by(null, 'own') - 'secret', 'but not that of a third one');
select outbox.delete_org_endpoint('org-1', (made_by(null, 'own') ->> 'id')::uuid);
select is(made_by('portal:a', 'own') -> 'secret', null, 'after the deletion there is no secret');
select is(made_by('portal:a', 'own') -> 'createdBy', null, 'and nobody learns who has created it');

select * from finish();
rollback;
