-- What the tests of callbacks share besides _messages.sql: an update in one word, as the function whatsapp
-- gives it, and messages in whatever status.
set local search_path = helper, extensions;

-- The fields of an update; what p_more names stands above them.
create function update_of(p_kind text, p_more jsonb) returns jsonb language sql as $$
  select x || jsonb_build_object('key', coalesce(x ->> 'key', encode(sha256(convert_to(x::text, 'UTF8')), 'hex')))
  from (select jsonb_build_object('kind', p_kind, 'field', 'messages', 'waba_id', '200000000000001', 'phone_number_id', '100000000000001',
    'at', extract(epoch from outbox.clock())::bigint, 'data', '{}'::jsonb) || p_more) y (x)
$$;

-- A status of a wamid, some seconds from now.
create function status(p_wamid text, p_status text, p_after integer default 0, p_more jsonb default '{}') returns jsonb language sql as $$
  select helper.update_of('status', jsonb_build_object('wamid', p_wamid, 'status', p_status,
    'at', extract(epoch from outbox.clock())::bigint + p_after) || p_more)
$$;

create function failure(p_wamid text, p_code text, p_after integer default 0, p_more jsonb default '{}') returns jsonb language sql as $$
  select helper.status(p_wamid, 'failed', p_after, jsonb_build_object('data', jsonb_build_object('errors', jsonb_build_array(
    jsonb_build_object('code', p_code::bigint, 'title', 'Title of ' || p_code, 'error_data', jsonb_build_object('details', 'Details of ' || p_code))))) || p_more)
$$;

create function receive(variadic p_updates jsonb[]) returns jsonb language sql as $$
  select outbox.receive_callbacks('900000000000001', null, to_jsonb(p_updates))
$$;

-- A message that WhatsApp took under the id 'wamid.<name>'.
create function sent(p_name text, p_to text default '+12025550111', p_dossier text default null, p_org_id text default 'default') returns bigint
language plpgsql as $$
declare
  v_id bigint := helper.message_id(helper.message(p_to, p_dossier => p_dossier, p_org_id => p_org_id));
begin
  perform helper.time_passes('10 seconds');
  perform helper.send('delivered', jsonb_build_object('status', 200, 'provider_id', 'wamid.' || p_name));
  return v_id;
end
$$;

-- What became of an update of the last call that had it: 'applied', or 'skipped: reason'.
create function verdicts() returns table (status text, verdict text) language sql stable as $$
  select u.status, concat_ws(': ', u.update_status, u.reason) from outbox.whatsapp_update u order by u.id
$$;

create function verdict_of(p_update jsonb) returns text language sql stable as $$
  select concat_ws(': ', u.update_status, u.reason) from outbox.whatsapp_update u where u.key = p_update ->> 'key'
$$;
