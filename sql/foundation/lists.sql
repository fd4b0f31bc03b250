-- Cursors of the lists of the HTTP API that walk history: events and deliveries. They go by a key
-- that never changes, newest first, and a cursor is the key of the last row that was looked at, so
-- that new rows move nothing. A list walks the organisation's own events, by their index event_org,
-- and looks at its filters row by row: an index for them would cost every delivery. The open
-- deliveries and the dead letters of all are walked where a status asks for them, since by event
-- neither has an index of an organisation. A page walks a bounded number of rows. So it may be
-- short, even empty, where most of them are not what was asked for; only a cursor of null says the
-- end.

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
    perform outbox.invalid('cursor', 'is not one that this list gave',
      'Send nextCursor of the page before, unchanged, or leave it out for the first page');
  end if;
  return v_key;
exception when invalid_parameter_value or character_not_in_repertoire then
  perform outbox.invalid('cursor', 'is not one that this list gave',
    'Send nextCursor of the page before, unchanged, or leave it out for the first page');
  return null;
end
$$;
comment on function outbox.cursor_to_key(text, text) is
  'The key in a cursor, which must match the form (a regular expression); null for null. OH001.';
