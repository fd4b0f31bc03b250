-- What the tests of people share: who is whom, what each wants, and messages to them.
set local search_path = helper, extensions;

-- What the person with an identifier does not want: 'ALL', 'MARKETING' or both; 'nothing known' or 'everything'.
create function wants(p_recipient text, p_org_id text default 'default') returns text language sql as $$
  select case when outbox.find_person(p_org_id, outbox.identifier_of(p_recipient)) is null then 'nothing known' else
    coalesce((select string_agg(o.purpose, ' ' order by o.purpose) from outbox.opt_out o
      where o.person_id = outbox.find_person(p_org_id, outbox.identifier_of(p_recipient)) and o.org_id = p_org_id and not o.lifted), 'everything') end
$$;
-- The identifiers of one person, as one text.
create function known_as(p_recipient text, p_org_id text default 'default') returns text language sql as $$
  select string_agg(i.value, ' ' order by i.value) from outbox.person_identifier i
  where i.person_id = outbox.find_person(p_org_id, outbox.identifier_of(p_recipient))
$$;
create function are_one(variadic p_recipients text[]) returns boolean language sql as $$
  select count(distinct coalesce(outbox.find_person('default', outbox.identifier_of(r))::text, 'nobody ' || n)) = 1 from unnest(p_recipients) with ordinality u (r, n)
$$;
create function link(variadic p_recipients text[]) returns bigint language sql as $$
  select outbox.save_person('default', array(select outbox.identifier_of(r) from unnest(p_recipients) r), outbox.clock())
$$;
create function outcome(p_to text, p_template text default 'reminder') returns text language sql as $$
  select coalesce(m ->> 'code', m ->> 'outcome') from helper.message(p_to, p_template => p_template,
    p_payload => case when p_template is null then '{"type": "text", "text": "Hello"}' else '{"parameters": ["Anna"]}' end::jsonb) m
$$;
create function says(p_text text, p_ids jsonb, p_after integer default 0, p_data jsonb default '{}') returns jsonb language sql as $$
  select helper.update_of('message', jsonb_build_object('wamid', 'wamid.' || md5(p_text || p_after || p_ids::text || p_data::text), 'status', 'text',
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', jsonb_build_object('text', jsonb_build_object('body', p_text)) || p_data) || p_ids)
$$;
create function prefers(p_value text, p_ids jsonb, p_after integer default 0) returns jsonb language sql as $$
  select helper.update_of('preference', jsonb_build_object('field', 'user_preferences', 'status', p_value,
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', '{"category": "marketing_messages", "detail": "User requested to stop"}'::jsonb) || p_ids)
$$;
-- Sends a message; its answer names p_wa_id.
create function answered(p_to text, p_wamid text, p_wa_id text default null) returns bigint language plpgsql as $$
declare
  v_id bigint := helper.message_id(helper.message(p_to));
begin
  perform helper.time_passes('10 seconds');
  perform helper.send('delivered', jsonb_strip_nulls(jsonb_build_object('status', 200, 'provider_id', p_wamid,
    'provider', case when p_wa_id is not null then jsonb_build_object('wa_id', p_wa_id) end)));
  return v_id;
end
$$;
