-- Rows of the timeline are only added, so the cursor is the last id.

create index activity_org on outbox.activity (org_id, id);
create index activity_type on outbox.activity (org_id, type, id);

create function outbox.list_activity(
  p_org_id text, p_dossier_id text default null, p_cursor text default null,
  p_limit integer default 50, p_activity_type text default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_below text := outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$');
  v_result jsonb;
begin
  perform outbox.check_page(p_limit);
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'id', p.id::text, 'dossierId', p.dossier_id, 'type', p.type, 'metadata', p.metadata,
          'at', outbox.iso_time(p.created_at))
        order by p.n) filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor(p.id::text)) filter (where p.n = p_limit) end)
  into v_result
  from (
    select x.*, pg_catalog.row_number() over (order by x.id desc) as n
    from outbox.activity x
    where x.org_id = p_org_id
      and (p_dossier_id is null or x.dossier_id = p_dossier_id)
      and (p_activity_type is null or x.type = p_activity_type)
      and (p_cursor is null or x.id < v_below::bigint)
    order by x.id desc
    limit p_limit + 1
  ) p;
  return v_result;
end
$$;
comment on function outbox.list_activity(text, text, text, integer, text) is
  'The timeline of a dossier or of all, of one type or of all, newest first: {"data": [{"id", '
  '"dossierId", "type", "metadata", "at"}], "nextCursor"}. OH001.';
