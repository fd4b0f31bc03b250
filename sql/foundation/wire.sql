-- Helpers of the functions that the HTTP API calls. Those functions take the caller's organisation
-- as their first argument and return the jsonb of the response: camelCase names, ids as text, times
-- in UTC with milliseconds. Objects of another organisation are not found (OH002).

create function outbox.iso_time(p_at timestamptz) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return case
    when pg_catalog.isfinite(p_at)
    then pg_catalog.to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end;
end
$$;
comment on function outbox.iso_time(timestamptz) is
  'A time as the API writes it, such as 2026-11-28T03:25:45.123Z; null for null and infinity.';

-- Whole microseconds, so that a page starts exactly after the last row of the page before.
create function outbox.to_cursor(p_at timestamptz, p_id text) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.translate(
    pg_catalog.encode(
      pg_catalog.convert_to(
        pg_catalog.format('%s %s', (extract(epoch from p_at) * 1000000)::bigint, p_id), 'UTF8'),
      'base64'),
    E'+/=\n', '-_');
end
$$;
comment on function outbox.to_cursor(timestamptz, text) is
  'The position after one row of a list that is ordered by (time, id), as opaque text.';

create function outbox.read_cursor(p_cursor text, out p_at timestamptz, out p_id text)
language plpgsql stable set search_path = ''
as $$
declare
  v_base64 text := pg_catalog.translate(p_cursor, '-_', '+/');
  v_parts text[];
begin
  if p_cursor is null then
    p_at := 'infinity';
    p_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    return;
  end if;
  if p_cursor ~ '^[A-Za-z0-9_-]{1,200}$' and pg_catalog.length(p_cursor) % 4 <> 1 then
    v_parts := pg_catalog.regexp_match(
      pg_catalog.encode(
        pg_catalog.decode(
          v_base64 || pg_catalog.repeat('=', (4 - pg_catalog.length(v_base64) % 4) % 4), 'base64'),
        'escape'),
      '^(-?[0-9]{1,17}) ([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$');
  end if;
  if v_parts is null then
    perform outbox.invalid('cursor', 'is not a cursor of this list',
      'Expected nextCursor of the previous page; omit it for the first page');
  end if;
  p_at := timestamptz 'epoch' + v_parts[1]::bigint * interval '1 microsecond';
  p_id := v_parts[2];
end
$$;
comment on function outbox.read_cursor(text) is
  'The (time, uuid) in a cursor. Null: the position before the newest row of a list that starts '
  'with the newest. OH001.';

create function outbox.check_page(p_limit integer) returns void
language plpgsql stable set search_path = ''
as $$
begin
  perform outbox.check_range('limit', p_limit, 1, 100);
end
$$;
comment on function outbox.check_page(integer) is
  'Raises OH001 for a page size that is not between 1 and 100.';

create function outbox.refuse_members(
  p_endpoint jsonb, p_kind text, p_members text[], p_remedy text
) returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_stray text;
begin
  select k into v_stray from pg_catalog.jsonb_object_keys(p_endpoint) k
  where k = any (p_members) order by k limit 1;
  if found then
    perform outbox.invalid(v_stray, 'does not go with kind ' || p_kind, p_remedy);
  end if;
end
$$;
comment on function outbox.refuse_members(jsonb, text, text[], text) is
  'Raises OH001 if a new endpoint has one of p_members, which its kind does not have.';
