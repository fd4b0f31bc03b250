-- Portal tokens: short-lived tokens for the browsers of an organisation's customers. The function
-- api signs them, and no row is stored for a token. It is revoked by its id, or with all tokens of
-- its organisation: each token has the organisation's generation, and revoking all raises it.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.portal_tokens_per_day', '10000', 'integer', 1, 1000000, true,
    'How many portal tokens may be created for an organisation in a day (UTC)');

create table outbox.portal_token_count (
  org_id text primary key,
  day date not null,
  n integer not null
) with (fillfactor = 50);
comment on table outbox.portal_token_count is
  'How many portal tokens were created for an organisation on that day (UTC).';

create table outbox.portal_generation (
  org_id text primary key,
  generation integer not null,
  revoked_at timestamptz not null
);
comment on table outbox.portal_generation is
  'How often all portal tokens of an organisation were revoked, and when last. Tokens of a '
  'lower generation are invalid. No row: they were never revoked.';

create table outbox.revoked_portal_token (
  org_id text not null,
  id uuid not null,
  revoked_at timestamptz not null,
  primary key (org_id, id)
);
comment on table outbox.revoked_portal_token is
  'Portal tokens that were revoked by their id. A token is valid for a day at most, so rows are '
  'deleted after two days.';
create index revoked_portal_token_age on outbox.revoked_portal_token (revoked_at);

create function outbox.portal_generation(p_org_id text) returns integer
language sql stable set search_path = ''
as $$
  select coalesce(
    (select g.generation from outbox.portal_generation g where g.org_id = p_org_id), 0)
$$;
comment on function outbox.portal_generation(text) is
  'How often all portal tokens of an organisation were revoked.';

create function outbox.portal_revocations(p_org_id text) returns jsonb
language sql stable set search_path = ''
as $$
  select pg_catalog.jsonb_build_object(
    'generation', outbox.portal_generation(p_org_id),
    'revoked', coalesce((
      select pg_catalog.jsonb_agg(t.id) from outbox.revoked_portal_token t
      where t.org_id = p_org_id), '[]'))
$$;
comment on function outbox.portal_revocations(text) is
  'Which portal tokens of an organisation are invalid: {"generation": those of a lower generation, '
  '"revoked": those with one of these ids}.';

create function outbox.count_portal_token(p_org_id text) returns void
language plpgsql set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_n integer;
  v_most integer := outbox.org_setting_int(p_org_id, 'limit.portal_tokens_per_day');
begin
  insert into outbox.portal_token_count as c (org_id, day, n)
  values (p_org_id, outbox.day_of(v_now), 1)
  on conflict (org_id) do update set
    day = excluded.day,
    n = 1 + case when c.day = excluded.day then c.n else 0 end
  returning c.n into v_n;
  if v_n > v_most then
    perform outbox.refuse_for_today('limit.portal_tokens_per_day',
      pg_catalog.format('organisation %s may have at most %s new portal tokens a day', p_org_id,
        v_most), v_now);
  end if;
end
$$;
comment on function outbox.count_portal_token(text) is
  'Counts a new portal token of an organisation. OH011: it has too many of this day. locks: its '
  'row of portal_token_count, so that two tokens at the limit do not both pass.';

create function outbox.record_portal_token(
  p_org_id text, p_token jsonb, p_key text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  -- These members differ for each token, so they are not part of the request.
  v_result jsonb := outbox.begin_request(p_org_id, 'POST /portal-tokens', p_key,
    p_token - '{id,issuedAt}'::text[]);
begin
  perform outbox.check_user_org(p_org_id);
  if v_result is null then
    perform outbox.count_portal_token(p_org_id);
    v_result := p_token || pg_catalog.jsonb_build_object(
      'generation', outbox.portal_generation(p_org_id));
    perform outbox.end_request(p_org_id, p_key, v_result);
    perform outbox.note_action(p_org_id, 'PORTAL_TOKEN', p_token ->> 'id', 'CREATED',
      'Portal token created', pg_catalog.jsonb_build_object('subject', p_token -> 'subject',
        'scopes', p_token -> 'scopes', 'expiresInSeconds', p_token -> 'expiresInSeconds'));
  end if;
  return v_result;
end
$$;
comment on function outbox.record_portal_token(text, jsonb, text) is
  'The claims of a new portal token ({"id", "issuedAt" and the requested members}) with '
  '"generation", the organisation''s. With an Idempotency-Key that was used before: the claims of '
  'the first token. Signing these again gives the same token. OH001, also for the '
  'organisation outhook, which has no customers; OH003; OH011: see limit.portal_tokens_per_day.';

create function outbox.revoke_portal_token(p_org_id text, p_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_most constant integer := 1000;
  v_at timestamptz;
begin
  perform outbox.check_org(p_org_id);
  insert into outbox.revoked_portal_token (org_id, id, revoked_at)
  values (p_org_id, p_id, outbox.clock())
  on conflict (org_id, id) do nothing;
  if found then
    perform outbox.note_action(p_org_id, 'PORTAL_TOKEN', p_id::text, 'REVOKED',
      'Portal token revoked');
  end if;
  if (
    select pg_catalog.count(*) from outbox.revoked_portal_token t where t.org_id = p_org_id
  ) > v_most then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('%s portal tokens are revoked, which is the maximum', v_most),
      hint = 'Revoke all tokens of the organisation: DELETE /portal-tokens';
  end if;
  select t.revoked_at into strict v_at from outbox.revoked_portal_token t
  where t.org_id = p_org_id and t.id = p_id;
  return pg_catalog.jsonb_build_object('id', p_id, 'revokedAt', outbox.iso_time(v_at));
end
$$;
comment on function outbox.revoke_portal_token(text, uuid) is
  'Revokes a portal token of an organisation by its id: {"id", "revokedAt"}. A repeat changes '
  'nothing. OH001; OH004: more than 1,000 were revoked within two days.';

create function outbox.revoke_portal_tokens(p_org_id text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_at timestamptz;
begin
  perform outbox.check_org(p_org_id);
  insert into outbox.portal_generation as g (org_id, generation, revoked_at)
  values (p_org_id, 1, outbox.clock())
  on conflict (org_id) do update
    set generation = g.generation + 1, revoked_at = excluded.revoked_at
  returning g.revoked_at into v_at;
  delete from outbox.revoked_portal_token t where t.org_id = p_org_id;
  perform outbox.note_action(p_org_id, 'PORTAL_TOKEN', '*', 'REVOKED',
    'All portal tokens revoked');
  return pg_catalog.jsonb_build_object('revokedAt', outbox.iso_time(v_at));
end
$$;
comment on function outbox.revoke_portal_tokens(text) is
  'Revokes all portal tokens of an organisation that exist now: {"revokedAt"}. OH001.';

create function outbox.list_revoked_portal_tokens(
  p_org_id text, p_cursor text default null, p_limit integer default 50
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_before timestamptz;
  v_before_id text;
  v_result jsonb;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_page(p_limit);
  select c.p_at, c.p_id into v_before, v_before_id from outbox.read_cursor(p_cursor) c;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'id', p.id, 'revokedAt', outbox.iso_time(p.revoked_at)) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.to_cursor(p.revoked_at, p.id::text)) filter (where p.n = p_limit) end)
  into v_result
  from (
    select t.id, t.revoked_at,
      pg_catalog.row_number() over (order by t.revoked_at desc, t.id desc) as n
    from outbox.revoked_portal_token t
    where t.org_id = p_org_id
      and (t.revoked_at, t.id) < (v_before, v_before_id::uuid)
    order by t.revoked_at desc, t.id desc
    limit p_limit + 1
  ) p;
  return v_result;
end
$$;
comment on function outbox.list_revoked_portal_tokens(text, text, integer) is
  'The portal tokens of an organisation that were revoked by their id, newest first: {"data": '
  '[{"id", "revokedAt"}], "nextCursor"}. OH001.';

create function outbox.remove_revoked_tokens(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.remove_revoked_tokens', 'outbox.revoked_portal_token',
    'delete from outbox.revoked_portal_token t where t.ctid = any ($1)',
    array(
      select o.ctid from outbox.revoked_portal_token o
      where o.revoked_at < p_now - interval '2 days' order by o.revoked_at limit p_limit),
    p_now);
end
$$;
comment on function outbox.remove_revoked_tokens(timestamptz, integer) is
  'Deletes up to p_limit revocations of tokens that have expired; returns their number.';

insert into outbox.cleanup_step (name, calls) values
  ('revoked_portal_tokens', 'outbox.remove_revoked_tokens');
