-- For the check of a channel. The function api asks the Graph API with the token of the channel,
-- and compares the result with what is stored here. Only service_role may read the token, as in a
-- claim.

create function outbox.get_channel_access(p_org_id text, p_channel_id uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);
begin
  return (
    select pg_catalog.jsonb_build_object('channelId', c.endpoint_id,
      'graphUrl', outbox.setting_value('whatsapp.graph_url'),
      'graphVersion',
        coalesce(c.graph_version, outbox.setting_value('whatsapp.graph_version') #>> '{}'),
      'phoneNumberId', c.phone_number_id, 'wabaId', c.waba_id, 'appId', c.app_id,
      'appKey', a.app_key, 'accessToken', outbox.try_read(c.token_vault_id),
      'templates', coalesce((
        select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('code', t.code,
          'name', t.name, 'language', t.language, 'category', t.category,
          'parameterFormat', t.parameter_format) order by t.code)
        from outbox.template t where t.org_id = p_org_id), '[]'),
      'egress', outbox.run_settings())
    from outbox.whatsapp_channel c
    join outbox.whatsapp_app a on a.app_id = c.app_id
    where c.endpoint_id = v_id);
end
$$;
comment on function outbox.get_channel_access(text, uuid) is
  'What the check of a channel needs: {"channelId", "graphUrl", "graphVersion", "phoneNumberId", '
  '"wabaId", "appId", "appKey", "accessToken": null if Vault cannot read it, "templates": '
  '[{"code", "name", "language", "category", "parameterFormat"}], "egress": as run_settings()}. '
  'OH002.';
