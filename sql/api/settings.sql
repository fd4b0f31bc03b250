create function outbox.list_org_settings(
  p_org_id text, p_all boolean default false
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'name', s.name, 'value', coalesce(o.value, s.value), 'own', o.value is not null,
        'type', s.type, 'lowest', s.lowest, 'highest', s.highest, 'byOrganisation', s.by_org,
        'description', s.description,
        'updatedAt', outbox.iso_time(coalesce(o.updated_at, s.updated_at))) order by s.name)
    from outbox.setting s
    left join outbox.org_setting o on o.name = s.name and o.org_id = p_org_id and s.by_org
    where s.by_org or p_all), '[]'));
end
$$;
comment on function outbox.list_org_settings(text, boolean) is
  'The settings that an organisation may have for itself, or all (p_all), with the value that '
  'applies to it: {"data": [{"name", "value", "own": whether the value is its own, "type", '
  '"lowest", "highest", "byOrganisation", "description", "updatedAt"}]}.';
