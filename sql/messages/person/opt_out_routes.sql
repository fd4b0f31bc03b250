create function outbox.opt_out_json(p_opt_out outbox.opt_out) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_recipients jsonb := outbox.recipients_json(p_opt_out.person_id);
begin
  return pg_catalog.jsonb_build_object('personId', p_opt_out.person_id::text,
    'recipient', v_recipients -> 0, 'recipients', v_recipients,
    'channel', p_opt_out.channel, 'purpose', p_opt_out.purpose, 'source', p_opt_out.source,
    'evidence', p_opt_out.evidence, 'wamid', p_opt_out.wamid, 'words', p_opt_out.words,
    'at', outbox.iso_time(p_opt_out.said_at));
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
  v_after text := outbox.cursor_to_key(p_cursor, '^-?[0-9]{1,18} [A-Z]+$');
  v_person bigint;
  v_result jsonb;
begin
  perform outbox.check_page(p_limit);
  if p_recipient is not null then
    v_person := coalesce(outbox.find_person(p_org_id, outbox.check_identifier(p_recipient)), 0);
  end if;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.opt_out_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor((p.found).person_id || ' ' || (p.found).purpose))
        filter (where p.n = p_limit) end)
  into v_result
  from (
    select o as found, pg_catalog.row_number() over (order by o.person_id, o.purpose) as n
    from outbox.opt_out o
    where o.org_id = p_org_id and o.channel = 'WHATSAPP' and not o.lifted
      and (p_recipient is null or o.person_id = v_person)
      and (v_after is null or (o.person_id, o.purpose) > (
        pg_catalog.split_part(v_after, ' ', 1)::bigint, pg_catalog.split_part(v_after, ' ', 2)))
    order by o.person_id, o.purpose
    limit p_limit + 1
  ) p;
  return v_result;
end
$$;
comment on function outbox.list_opt_outs(text, text, text, integer) is
  'The opt-outs of an organisation, ordered by person, or those of the person with one number, '
  'wa_id or user id: {"data": [{"personId", "recipient": the first identifier, null if erased, '
  '"recipients": all of them, "channel", "purpose", "source", "evidence": as it was noted by hand, '
  '"wamid", "words": what the person or WhatsApp said, "at"}], "nextCursor"}. OH001.';

create function outbox.change_opt_out(
  p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text,
  p_evidence text default null, p_actor text default null, p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_identifier text := outbox.check_identifier(p_recipient);
  v_source text := coalesce(p_source, 'by hand');
  v_person bigint;
  v_changed boolean;
begin
  perform outbox.check_user_org(p_org_id);
  perform outbox.check_choice('purpose', p_purpose, array['MARKETING', 'ALL']);
  perform outbox.check_choice('channel', p_channel, outbox.channel_names());
  if pg_catalog.length(v_source) not between 1 and 200 then
    perform outbox.invalid('source', 'is not 1 to 200 characters',
      'Give the way it was requested, such as phone call');
  end if;
  if pg_catalog.length(p_evidence) > 2000 then
    perform outbox.invalid('evidence', 'is longer than 2000 characters',
      'Give the place of the evidence, such as a document id');
  end if;
  if p_opted_out or outbox.find_person(p_org_id, v_identifier) is not null then
    v_person := outbox.save_person(p_org_id, array[v_identifier], v_now);
  end if;
  if p_opted_out then
    insert into outbox.opt_out as o (org_id, channel, person_id, purpose, source, evidence, said_at,
      decided_at, created_at)
    values (p_org_id, p_channel, v_person, p_purpose, v_source, p_evidence, v_now, v_now, v_now)
    on conflict (org_id, channel, person_id, purpose) do update set
      source = excluded.source, evidence = excluded.evidence, wamid = null, words = null,
      lifted = false, said_at = excluded.said_at, decided_at = excluded.decided_at, said_by = null
    where o.lifted;
  else
    -- The row stays, so that a late callback does not restore the opt-out.
    update outbox.opt_out o set lifted = true, decided_at = v_now, said_by = null, wamid = null,
      words = null
    where o.org_id = p_org_id and o.channel = p_channel and o.person_id = v_person
      and o.purpose = p_purpose and not o.lifted;
  end if;
  v_changed := found;
  if p_opted_out and not v_changed then
    -- A decision that was made before this one and comes later must not lift it.
    update outbox.opt_out o set decided_at = greatest(o.decided_at, v_now)
    where o.org_id = p_org_id and o.channel = p_channel and o.person_id = v_person
      and o.purpose = p_purpose;
  end if;
  if v_changed then
    perform outbox.audit(p_org_id, 'PERSON', v_person::text,
      case when p_opted_out then 'OPTED_OUT' else 'OPTED_IN' end,
      pg_catalog.format('%s %s: %s', p_channel, p_purpose, v_source), p_actor, v_now);
  end if;
  return pg_catalog.jsonb_build_object('optedOut', p_opted_out, 'purpose', p_purpose,
    'isNew', v_changed);
end
$$;
comment on function outbox.change_opt_out(text, text, text, boolean, text, text, text, text) is
  'Opts a person out (p_purpose: ALL or MARKETING) or in again, and audits it: {"optedOut", '
  '"purpose", "isNew": this changed it}. p_recipient: a number, a wa_id or a user id of WhatsApp. '
  'OH001. locks: the person.';
