-- Contacts and opt-outs from callbacks. WhatsApp writes some numbers differently from the caller (a
-- ninth digit, a 1 after the country code), so an opt-out applies to each number that messages to
-- this recipient used.

create function outbox.wa_id_to_e164(p_wa_id text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case when p_wa_id ~ '^[1-9][0-9]{6,14}$' then '+' || p_wa_id end;
end
$$;
comment on function outbox.wa_id_to_e164(text) is
  'A wa_id in E.164 form with +; null if it is not a number.';

create function outbox.recipients_of(
  p_org_id text, p_wa_id text, p_user_id text
) returns text[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_wa_id text := coalesce(p_wa_id, (
    select c.wa_id from outbox.whatsapp_contact c
    where c.org_id = p_org_id and c.user_id = p_user_id));
begin
  return array(
    select distinct r.recipient
    from (
      select outbox.wa_id_to_e164(v_wa_id) as recipient
      union all
      select p_user_id
      union all
      select m.to_recipient
      from (
        select x.to_recipient from outbox.outbound_message x
        where x.org_id = p_org_id and x.wa_id = v_wa_id and x.erased_at is null
        order by x.id desc limit 100
      ) m
    ) r
    where r.recipient is not null
    order by r.recipient);
end
$$;
comment on function outbox.recipients_of(text, text, text) is
  'All addresses of a recipient in an organisation: the number, WhatsApp''s user id, and the '
  'numbers of earlier messages.';

create function outbox.save_contact(
  p_org_id text, p_wa_id text, p_user_id text, p_contact jsonb, p_now timestamptz
) returns uuid
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_wa_id text := case when outbox.wa_id_to_e164(p_wa_id) is not null then p_wa_id end;
  v_of_user outbox.whatsapp_contact;
  v_of_number outbox.whatsapp_contact;
  v_id uuid;
begin
  if v_wa_id is null and p_user_id is null then
    return null;
  end if;
  -- A known number with another user id has a new owner.
  update outbox.whatsapp_contact c set wa_id = null
  where c.org_id = p_org_id and c.wa_id = v_wa_id and c.user_id <> p_user_id;
  -- A concurrent transaction may have deleted or merged the contact: repeat.
  while v_id is null loop
    insert into outbox.whatsapp_contact (org_id, wa_id, user_id, first_seen_at, last_seen_at)
    select p_org_id, v_wa_id, p_user_id, p_now, p_now
    where not exists (
      select from outbox.whatsapp_contact c
      where c.org_id = p_org_id and (c.wa_id = v_wa_id or c.user_id = p_user_id))
    on conflict do nothing;
    select * into v_of_user from outbox.whatsapp_contact c
    where c.org_id = p_org_id and c.user_id = p_user_id for update;
    select * into v_of_number from outbox.whatsapp_contact c
    where c.org_id = p_org_id and c.wa_id = v_wa_id for update;
    v_id := coalesce(v_of_user.id, v_of_number.id);
  end loop;
  -- Merge two contacts of the same user.
  if v_of_user.id <> v_of_number.id then
    update outbox.inbound_message m set contact_id = v_id where m.contact_id = v_of_number.id;
    delete from outbox.whatsapp_contact c where c.id = v_of_number.id;
  end if;
  update outbox.whatsapp_contact c set
    wa_id = coalesce(v_wa_id, c.wa_id),
    user_id = coalesce(p_user_id, c.user_id),
    parent_user_id = coalesce(pg_catalog.left(p_contact ->> 'parent_user_id', 256),
      c.parent_user_id),
    name = coalesce(pg_catalog.left(p_contact #>> '{profile,name}', 256), c.name),
    username = coalesce(pg_catalog.left(p_contact #>> '{profile,username}', 256), c.username),
    last_seen_at = greatest(c.last_seen_at, p_now)
  where c.id = v_id;
  return v_id;
end
$$;
comment on function outbox.save_contact(text, text, text, jsonb, timestamptz) is
  'Creates or updates the contact of an organisation with this number or user id and returns its '
  'id; null without either. locks: the contact.';

create function outbox.save_opt_outs(
  p_changes outbox.opt_out_change[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  with latest as (
    -- The later request counts; at the same time, the opt-out.
    select distinct on (w.org_id, w.recipient, w.purpose) w.*
    from pg_catalog.unnest(p_changes) w
    order by w.org_id, w.recipient, w.purpose, w.at desc, w.lifted
  ), changed as (
    insert into outbox.opt_out as o (org_id, channel, recipient, purpose, source, evidence, lifted,
      decided_at, created_at)
    select w.org_id, 'WHATSAPP', w.recipient, w.purpose, w.source, w.evidence, w.lifted, w.at, p_now
    from latest w
    order by w.org_id, w.recipient, w.purpose
    on conflict (org_id, channel, recipient, purpose) do update set
      source = excluded.source, evidence = excluded.evidence, lifted = excluded.lifted,
      decided_at = excluded.decided_at
    where excluded.decided_at > o.decided_at
      or (excluded.decided_at = o.decided_at and o.lifted and not excluded.lifted)
    returning o.org_id, o.recipient, o.purpose
  )
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at)
  select distinct w.org_id, w.entity_type, w.entity_id,
    case when w.lifted then 'OPTED_IN' else 'OPTED_OUT' end,
    pg_catalog.format('WHATSAPP %s: %s (%s)', w.purpose, w.source, w.evidence), null::text, p_now
  from changed c
  join latest w on w.org_id = c.org_id and w.recipient = c.recipient and w.purpose = c.purpose
  -- The ids of the trail follow the order of the rows, whatever the plan.
  order by 1, 2, 3, 5;
end
$$;
comment on function outbox.save_opt_outs(outbox.opt_out_change[], timestamptz) is
  'Saves opt-out changes that are later than the stored ones, and audits them. locks: opt-outs in '
  'the order of their keys.';
