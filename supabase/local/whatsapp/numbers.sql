select c.phone_number_id as number, c.waba_id as account, c.app_id as app, a.app_key,
  outbox.try_read(c.token_vault_id) as token, outbox.try_read(a.secret_vault_id) as secret,
  coalesce((
    select jsonb_agg(jsonb_build_object('name', t.name, 'language', t.language,
      'status', 'APPROVED', 'category', t.category, 'parameter_format', t.parameter_format))
    from outbox.template t where t.org_id = c.org_id), '[]') as templates
from outbox.whatsapp_channel c
join outbox.whatsapp_app a on a.app_id = c.app_id
join outbox.endpoint e on e.id = c.endpoint_id and e.status <> 'deleted'
