-- Extension points of endpoints. The functions here do nothing. One module may replace each of them
-- by `create or replace function` in its own folder. Repeat the arguments, the result, the SET
-- clauses and the security option, because Postgres drops what a replacement does not repeat.
-- engine/extension_points and operations/extension_points have the others. Each body reads its
-- arguments, because `supabase db lint` warns of unused ones.

create function outbox.more_secrets(p_endpoint_id uuid)
returns table (vault_id uuid, what text, remedy text)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query select null::uuid, ''::text, ''::text where p_endpoint_id is null;
end
$$;
comment on function outbox.more_secrets(uuid) is
  'Extension point: the additional secrets of an endpoint, besides its signing secrets, headers '
  'and credentials. For each: its id in Vault, its name in messages (the access token), and the '
  'remedy if it cannot be read, which a message puts after "outbox." (set_channel_token() sets it '
  'again). No row here; the module messages replaces it.';

create function outbox.still_held(p_endpoint_id uuid) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return case when p_endpoint_id is null then '' end;
end
$$;
comment on function outbox.still_held(uuid) is
  'Extension point: the reason why an endpoint stays paused although its secrets can be read '
  'again; null: it is resumed. Null here; the module messages replaces it.';


create function outbox.endpoint_members(p_endpoint outbox.endpoint) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return case when p_endpoint.id is null then null::jsonb else '{}'::jsonb end;
end
$$;
comment on function outbox.endpoint_members(outbox.endpoint) is
  'Extension point of the API: members of the endpoint that replace those of endpoint_json(), '
  'which shows endpoint.config as "config". An empty object here; the module brokers replaces it.';
