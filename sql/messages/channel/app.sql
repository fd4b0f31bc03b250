-- Meta apps. Channels of any organisation may share an app. An app's secret signs the callbacks of
-- its channels only. app_key is the last part of the URL that Meta calls. So a callback is checked
-- against one app and at most two secrets, and the URL of an app cannot be guessed.

create table outbox.whatsapp_app (
  app_id text primary key
    constraint whatsapp_app_id_is_a_number check (app_id ~ '^[0-9]{1,32}$'),
  app_key text not null
    constraint whatsapp_app_key_is_plain check (app_key ~ '^[A-Za-z0-9_-]{16,64}$'),
  secret_vault_id uuid,
  old_secret_vault_id uuid,
  old_secret_until timestamptz,
  allow_unsigned boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint whatsapp_app_of_key unique (app_key)
);
comment on table outbox.whatsapp_app is
  'Meta apps by Meta''s id. The app secret is in Vault, and for a limited time the previous one. '
  'allow_unsigned accepts callbacks without a signature.';

create function outbox.put_whatsapp_app(
  p_app_id text,
  p_secret text default null,
  p_allow_unsigned boolean default false,
  p_overlap interval default '24 hours'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_app outbox.whatsapp_app;
begin
  if p_app_id is null or p_app_id !~ '^[0-9]{1,32}$' then
    perform outbox.invalid('app_id', 'is not the id of a Meta app', 'Expected digits');
  end if;
  if p_overlap is null or p_overlap not between interval '0' and interval '30 days' then
    perform outbox.invalid('overlap', 'is not between 0 and 30 days',
      'Give the time for which the previous secret stays valid');
  end if;
  -- Insert the row first, so that a concurrent call for a new app waits here.
  insert into outbox.whatsapp_app (app_id, app_key, created_at, updated_at)
  values (p_app_id, pg_catalog.replace(pg_catalog.gen_random_uuid()::text, '-', ''), v_now, v_now)
  on conflict (app_id) do nothing;
  select * into v_app from outbox.whatsapp_app a where a.app_id = p_app_id for update;
  if p_secret is not null then
    delete from vault.secrets v where v.id = v_app.old_secret_vault_id;
    v_app.old_secret_vault_id := v_app.secret_vault_id;
    v_app.old_secret_until := v_now + p_overlap;
    v_app.secret_vault_id := outbox.store_in_vault('secret', p_secret);
  end if;
  update outbox.whatsapp_app a set
    secret_vault_id = v_app.secret_vault_id,
    old_secret_vault_id = v_app.old_secret_vault_id,
    old_secret_until = v_app.old_secret_until,
    allow_unsigned = coalesce(p_allow_unsigned, false),
    updated_at = v_now
  where a.app_id = p_app_id;
  perform outbox.note_action(null, 'WHATSAPP_APP', p_app_id, 'CHANGED',
    case when p_secret is null then 'Meta app changed' else 'Secret of a Meta app set' end);
  return outbox.get_whatsapp_app(p_app_id);
end
$$;
comment on function outbox.put_whatsapp_app(text, text, boolean, interval) is
  'Adds a Meta app, or replaces its secret. The previous secret stays valid for p_overlap. '
  'Without p_secret the secret does not change. Returns the result of get_whatsapp_app(). OH001.';

create function outbox.get_whatsapp_app(p_app_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_app outbox.whatsapp_app;
begin
  select * into v_app from outbox.whatsapp_app a where a.app_id = p_app_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('Meta app %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_app_id, 40))),
      hint = 'Add it with put_whatsapp_app()';
  end if;
  return pg_catalog.jsonb_build_object('appId', v_app.app_id, 'appKey', v_app.app_key,
    'allowUnsigned', v_app.allow_unsigned,
    'secrets', pg_catalog.cardinality(outbox.app_secrets(v_app, outbox.clock())));
end
$$;
comment on function outbox.get_whatsapp_app(text) is
  'A Meta app: {"appId", "appKey": the last part of its callback URL, "allowUnsigned", "secrets": '
  'the number of valid secrets}. OH002.';

create function outbox.app_secrets(
  p_app outbox.whatsapp_app, p_now timestamptz
) returns text[]
language plpgsql stable set search_path = ''
as $$
begin
  return array(
    select s.secret
    from pg_catalog.unnest(array[
      p_app.secret_vault_id,
      case when p_app.old_secret_until > p_now then p_app.old_secret_vault_id end
    ]) with ordinality as k (id, place)
    -- Skip an unreadable secret, so that the other one still works.
    cross join lateral outbox.try_read(k.id) s (secret)
    where s.secret is not null
    order by k.place);
end
$$;
comment on function outbox.app_secrets(outbox.whatsapp_app, timestamptz) is
  'The valid secrets of a Meta app that can be read from Vault, newest first.';

create function outbox.callback_app(p_app_key text default null) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_shared text := outbox.setting_value('whatsapp.shared_app') #>> '{}';
begin
  return pg_catalog.jsonb_build_object('app', (
    select pg_catalog.jsonb_build_object('id', a.app_id,
      'secrets', pg_catalog.to_jsonb(outbox.app_secrets(a, outbox.clock())),
      'allow_unsigned', a.allow_unsigned)
    from outbox.whatsapp_app a
    where case
      when p_app_key is not null then a.app_key = p_app_key
      else a.app_id = v_shared
    end));
end
$$;
comment on function outbox.callback_app(text) is
  'The Meta app of a callback URL and the secrets that verify its callbacks: {"app": {"id", '
  '"secrets": newest first, at most two, "allow_unsigned"}}, or {"app": null}. p_app_key: the key '
  'in the URL; null: the app in the setting whatsapp.shared_app.';

create function outbox.forget_app_secrets(p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.forget_updates', 'outbox.whatsapp_app', $forget$
      with old as (
        select a.app_id, a.old_secret_vault_id as id from outbox.whatsapp_app a
        where a.ctid = any ($1)
      ), deleted_secrets as (
        delete from vault.secrets v using old o where v.id = o.id
      )
      update outbox.whatsapp_app a set old_secret_vault_id = null, old_secret_until = null
      from old o where a.app_id = o.app_id
    $forget$,
    array(
      select a.ctid from outbox.whatsapp_app a
      where a.old_secret_until <= p_now and a.old_secret_vault_id is not null
      for update skip locked),
    p_now);
end
$$;
comment on function outbox.forget_app_secrets(timestamptz) is
  'Deletes the previous secrets of Meta apps that are no longer valid; returns how many.';
