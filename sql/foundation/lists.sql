-- Cursors of the HTTP API's lists of events and deliveries. These lists are ordered by a key that
-- never changes, newest first. A cursor is the key of the last row that was read, so new rows do
-- not move a page. A list scans the events of its organisation by the index event_org and
-- evaluates its filters row by row, because an index for them would slow down each delivery. Lists
-- with a status filter scan the open deliveries or dead letters of all organisations: these have
-- no index by organisation and event. A page scans a bounded number of rows, so it may be short or
-- even empty. The list ends only if nextCursor is null.

create function outbox.key_to_cursor(p_key text) returns text
language plpgsql immutable strict set search_path = ''
as $$
begin
  return pg_catalog.translate(
    pg_catalog.encode(pg_catalog.convert_to(p_key, 'UTF8'), 'base64'), E'+/=\n', '-_');
end
$$;
comment on function outbox.key_to_cursor(text) is
  'The key of a row as an opaque cursor, base64url.';

create function outbox.cursor_to_key(p_cursor text, p_form text) returns text
language plpgsql stable strict set search_path = ''
as $$
declare
  v_key text;
begin
  if p_cursor ~ '^[A-Za-z0-9_-]+$' and pg_catalog.length(p_cursor) <= 400 then
    v_key := pg_catalog.convert_from(pg_catalog.decode(
      pg_catalog.rpad(pg_catalog.translate(p_cursor, '-_', '+/'),
        (pg_catalog.length(p_cursor) + 3) / 4 * 4, '='),
      'base64'), 'UTF8');
  end if;
  if v_key is null or v_key !~ p_form then
    perform outbox.invalid('cursor', 'is not a cursor of this list',
      'Expected nextCursor of the previous page; omit it for the first page');
  end if;
  return v_key;
exception when invalid_parameter_value or character_not_in_repertoire then
  perform outbox.invalid('cursor', 'is not a cursor of this list',
    'Expected nextCursor of the previous page; omit it for the first page');
  return null;
end
$$;
comment on function outbox.cursor_to_key(text, text) is
  'The key in a cursor, which must match the form (a regular expression); null for null. OH001.';
