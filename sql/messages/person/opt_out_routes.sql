create function outbox.opt_out_json(p_opt_out outbox.opt_out) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('recipient', p_opt_out.recipient,
    'channel', p_opt_out.channel, 'purpose', p_opt_out.purpose, 'source', p_opt_out.source,
    'evidence', p_opt_out.evidence, 'at', outbox.iso_time(p_opt_out.decided_at));
end
$$;
comment on function outbox.opt_out_json(outbox.opt_out) is
  'An opt-out as the API returns it.';

create function outbox.list_opt_outs(
  p_org_id text, p_recipient text default null, p_cursor text default null,
  p_limit integer default 50
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_after text := outbox.cursor_to_key(p_cursor, '^[^ ]+ [A-Z]+$');
  v_result jsonb;
begin
  perform outbox.check_page(p_limit);
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.opt_out_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor((p.found).recipient || ' ' || (p.found).purpose))
        filter (where p.n = p_limit) end)
  into v_result
  from (
    select o as found, pg_catalog.row_number() over (order by o.recipient, o.purpose) as n
    from outbox.opt_out o
    where o.org_id = p_org_id and o.channel = 'WHATSAPP' and not o.lifted
      and (p_recipient is null or o.recipient = any (outbox.number_variants(p_recipient)))
      and (v_after is null or (o.recipient, o.purpose) > (
        pg_catalog.split_part(v_after, ' ', 1), pg_catalog.split_part(v_after, ' ', 2)))
    order by o.recipient, o.purpose
    limit p_limit + 1
  ) p;
  return v_result;
end
$$;
comment on function outbox.list_opt_outs(text, text, text, integer) is
  'The opt-outs of an organisation, ordered by number, or those of one number: {"data": '
  '[{"recipient", "channel", "purpose", "source", "evidence", "at"}], "nextCursor"}. OH001.';

create function outbox.change_opt_out(
  p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text,
  p_evidence text default null, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb;
begin
  perform outbox.check_recipient(p_recipient);
  if pg_catalog.length(p_source) not between 1 and 200 then
    perform outbox.invalid('source', 'is not 1 to 200 characters',
      'Give the way it was requested, such as phone call');
  end if;
  if pg_catalog.length(p_evidence) > 2000 then
    perform outbox.invalid('evidence', 'is longer than 2000 characters',
      'Give the place of the evidence, such as a document id');
  end if;
  if p_opted_out then
    v_result := outbox.opt_out_recipient(p_org_id, p_recipient, p_source, p_purpose);
    update outbox.opt_out o set evidence = p_evidence
    where o.org_id = p_org_id and o.channel = 'WHATSAPP' and o.recipient = p_recipient
      and o.purpose = p_purpose and (v_result -> 'isNew')::boolean;
  else
    v_result := outbox.opt_in_recipient(p_org_id, p_recipient, p_purpose);
  end if;
  if (v_result -> 'isNew')::boolean then
    perform outbox.audit(p_org_id, 'RECIPIENT', outbox.person_key(p_recipient),
      case when p_opted_out then 'OPTED_OUT' else 'OPTED_IN' end,
      pg_catalog.format('WHATSAPP %s: %s', p_purpose, coalesce(p_source, 'by hand')), p_actor,
      outbox.clock());
  end if;
  return v_result;
end
$$;
comment on function outbox.change_opt_out(text, text, text, boolean, text, text, text) is
  'Opts a number out (p_purpose: ALL or MARKETING) or in again, and audits it with a hash of the '
  'number: {"optedOut", "purpose", "isNew": this changed it}. OH001.';
