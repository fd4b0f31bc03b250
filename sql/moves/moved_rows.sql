-- The smaller parts that move: own values of settings, ordered lanes that wait for a retry or were
-- halted by a dead letter, dead letters, and idempotency keys, so that a publisher that repeats an
-- event in the target gets the id of the first one.

create function outbox.read_moved_settings(
  p_org_id text, p_after text, p_upto text, p_limit integer
) returns table (key text, item jsonb)
language plpgsql stable set search_path = ''
as $$
begin
  return query
  select o.name, pg_catalog.jsonb_build_object('value', o.value, 'updated_at', o.updated_at)
  from outbox.org_setting o
  where o.org_id = p_org_id and o.name collate "C" > p_after
    and (p_upto is null or o.name collate "C" <= p_upto)
  order by o.name collate "C"
  limit p_limit;
end
$$;
comment on function outbox.read_moved_settings(text, text, text, integer) is
  'The settings that have another value for the organisation.';

create function outbox.write_moved_settings(
  p_org_id text, p_after text, p_upto text, p_items jsonb
) returns void
language plpgsql set search_path = ''
as $$
begin
  delete from outbox.org_setting o
  where o.org_id = p_org_id and o.name collate "C" > p_after
    and (p_upto is null or o.name collate "C" <= p_upto);
  insert into outbox.org_setting (org_id, name, value, updated_at)
  select p_org_id, i ->> 'key', i #> '{item,value}', (i #>> '{item,updated_at}')::timestamptz
  from pg_catalog.jsonb_array_elements(p_items) i;
end
$$;
comment on function outbox.write_moved_settings(text, text, text, jsonb) is
  'The write_function of settings (see move_part).';

create function outbox.read_moved_lanes(
  p_org_id text, p_after text, p_upto text, p_limit integer
) returns table (key text, item jsonb)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select x.lane_key, x.lane_item
  from (
    select e.id || '/' || l.key_hash as lane_key, pg_catalog.jsonb_build_object(
      'endpoint_id', e.id, 'key_hash', l.key_hash, 'halted', l.halted,
      'not_before', l.not_before) as lane_item
    from outbox.endpoint e
    join outbox.gate g on g.endpoint_id = e.id
    join outbox.lane l on l.gate_id = g.id and l.ordered
    where e.org_id = p_org_id and e.status <> 'deleted'
      and (l.halted or l.not_before > '-infinity')
    offset 0
  ) x
  where x.lane_key collate "C" > p_after and (p_upto is null or x.lane_key collate "C" <= p_upto)
  order by x.lane_key collate "C"
  limit p_limit;
end
$$;
comment on function outbox.read_moved_lanes(text, text, text, integer) is
  'Ordered lanes that are halted, or that wait for a retry or for the end of lane_spacing_ms.';

create function outbox.write_moved_lanes(
  p_org_id text, p_after text, p_upto text, p_items jsonb
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);
begin
  update outbox.lane l set halted = false, not_before = '-infinity',
    next_at = case when l.depth > 0 then v_now else 'infinity' end
  from outbox.gate g
  where g.endpoint_id = any (v_endpoints) and l.gate_id = g.id and l.ordered
    and (g.endpoint_id || '/' || l.key_hash) in (
      select r.key from outbox.read_moved_lanes(p_org_id, p_after, p_upto, null) r);
  insert into outbox.lane (gate_id, ordered, key_hash)
  select g.id, true, i.key_hash
  from pg_catalog.jsonb_array_elements(p_items) m
  cross join lateral pg_catalog.jsonb_to_record(m -> 'item') as i (
    endpoint_id uuid, key_hash bigint)
  join outbox.gate g on g.endpoint_id = i.endpoint_id and g.endpoint_id = any (v_endpoints)
  where not exists (
    select from outbox.lane l where l.gate_id = g.id and l.ordered and l.key_hash = i.key_hash);
  update outbox.lane l set halted = i.halted, not_before = i.not_before,
    next_at = case
      when i.halted or l.depth = 0 then 'infinity'
      else greatest(v_now, i.not_before)
    end
  from pg_catalog.jsonb_array_elements(p_items) m
  cross join lateral pg_catalog.jsonb_to_record(m -> 'item') as i (
    endpoint_id uuid, key_hash bigint, halted boolean, not_before timestamptz)
  join outbox.gate g on g.endpoint_id = i.endpoint_id and g.endpoint_id = any (v_endpoints)
  where l.gate_id = g.id and l.ordered and l.key_hash = i.key_hash;
  perform outbox.park(v_endpoints, v_now);
end
$$;
comment on function outbox.write_moved_lanes(text, text, text, jsonb) is
  'The write_function of lanes (see move_part). locks: the gates of the organisation.';

create function outbox.letter_key(p_letter outbox.dead_letter) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.to_char(p_letter.failed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')
    || '/' || p_letter.id;
end
$$;
comment on function outbox.letter_key(outbox.dead_letter) is
  'The key of a dead letter in the pages of a move: failed_at in UTC and its id.';

create function outbox.read_moved_letters(
  p_org_id text, p_after text, p_upto text, p_limit integer
) returns table (key text, item jsonb)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select outbox.letter_key(x), pg_catalog.to_jsonb(x) - 'org_id'
  from outbox.dead_letter x
  where x.org_id = p_org_id
    and (p_after = '' or (x.failed_at, x.id) > (
      (pg_catalog.split_part(p_after, '/', 1) || 'Z')::timestamptz,
      pg_catalog.split_part(p_after, '/', 2)::uuid))
    and (p_upto is null or (x.failed_at, x.id) <= (
      (pg_catalog.split_part(p_upto, '/', 1) || 'Z')::timestamptz,
      pg_catalog.split_part(p_upto, '/', 2)::uuid))
  order by x.failed_at, x.id
  limit p_limit;
end
$$;
comment on function outbox.read_moved_letters(text, text, text, integer) is
  'Dead letters, also those that were replayed or discarded and are still stored.';

create function outbox.write_moved_letters(
  p_org_id text, p_after text, p_upto text, p_items jsonb
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  perform outbox.lock_org_gates(p_org_id);
  delete from outbox.dead_letter x
  where x.org_id = p_org_id and outbox.letter_key(x) collate "C" in (
    select r.key from outbox.read_moved_letters(p_org_id, p_after, p_upto, null) r);
  insert into outbox.dead_letter
  select x.* from pg_catalog.jsonb_array_elements(p_items) i
  cross join lateral pg_catalog.jsonb_populate_record(null::outbox.dead_letter,
    i -> 'item' || pg_catalog.jsonb_build_object('org_id', p_org_id)) x;
end
$$;
comment on function outbox.write_moved_letters(text, text, text, jsonb) is
  'The write_function of dead letters (see move_part). locks: the gates of the organisation.';

create function outbox.read_moved_keys(
  p_org_id text, p_after text, p_upto text, p_limit integer
) returns table (key text, item jsonb)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select k.event_id::text, pg_catalog.jsonb_build_object('key', k.key,
    'content', pg_catalog.encode(k.content, 'hex'), 'created_at', k.created_at)
  from outbox.idempotency_key k
  where k.org_id = p_org_id
    and (p_after = '' or k.event_id > p_after::uuid)
    and (p_upto is null or k.event_id <= p_upto::uuid)
  order by k.event_id
  limit p_limit;
end
$$;
comment on function outbox.read_moved_keys(text, text, text, integer) is
  'Idempotency keys that are stored, in the order of their events.';

create function outbox.write_moved_keys(
  p_org_id text, p_after text, p_upto text, p_items jsonb
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  delete from outbox.idempotency_key k
  where k.org_id = p_org_id and (p_after = '' or k.event_id > p_after::uuid)
    and (p_upto is null or k.event_id <= p_upto::uuid);
  insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
  select p_org_id, i #>> '{item,key}', (i ->> 'key')::uuid,
    pg_catalog.decode(i #>> '{item,content}', 'hex'), (i #>> '{item,created_at}')::timestamptz
  from pg_catalog.jsonb_array_elements(p_items) i
  on conflict (org_id, key) do update set event_id = excluded.event_id,
    content = excluded.content, created_at = excluded.created_at;
end
$$;
comment on function outbox.write_moved_keys(text, text, text, jsonb) is
  'The write_function of idempotency keys (see move_part).';
