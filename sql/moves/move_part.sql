-- The parts of an organisation that move: rows of some tables, in pages. Both databases read a page
-- with the same function, so the pages are equal if their digests are. Only a page that differs is
-- sent, and the target then replaces what it has in the range of this page. So copying again after
-- an error or a change costs little, and the last comparison proves that the copy is complete.
--
-- A key is a text that sorts by "C" in both databases, whatever their collations. An item contains
-- nothing that is different for each database, such as the id of a lane or of a secret in Vault.

create table outbox.move_part (
  name text primary key,
  position integer unique,
  read_function text constraint move_part_read_is_a_name check (
    read_function ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
  ),
  write_function text constraint move_part_write_is_a_name check (
    write_function ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
  ),
  page_rows integer,
  constraint move_part_is_whole check (
    pg_catalog.num_nulls(position, read_function, write_function, page_rows) in (0, 4)
  )
);
comment on table outbox.move_part is
  'What becomes of the tables with rows of organisations if one moves. With a position: they move, '
  'in this order. Without: their rows move together with another part, or stay, such as history. '
  'An organisation with rows in any other table cannot move. read_function: the organisation, the '
  'key before the page, its last key (null: none), the most rows; returns (key, item). '
  'write_function: the organisation, both keys, [{"key", "item"}]; makes this range equal to them.';

insert into outbox.move_part (name, position, read_function, write_function, page_rows) values
  ('org_setting', 1, 'outbox.read_moved_settings', 'outbox.write_moved_settings', 500),
  ('endpoint', 4, 'outbox.read_moved_endpoints', 'outbox.write_moved_endpoints', 100),
  ('event', 5, 'outbox.read_moved_events', 'outbox.write_moved_events', 500),
  ('lane', 6, 'outbox.read_moved_lanes', 'outbox.write_moved_lanes', 2000),
  ('dead_letter', 7, 'outbox.read_moved_letters', 'outbox.write_moved_letters', 500),
  ('idempotency_key', 8, 'outbox.read_moved_keys', 'outbox.write_moved_keys', 20000);
insert into outbox.move_part (name) values
  ('subscription'), ('ended_subscription'), ('gate'), ('unrouted'), ('waiting_part'),
  ('unroutable'), ('limit_turn'), ('event_bytes'), ('replay_job'),
  ('delivered_mark'), ('org_move'), ('audit_event'), ('audit_count');

create function outbox.read_move_page(
  p_org_id text,
  p_part text,
  p_after text default '',
  p_upto text default null,
  p_whole boolean default false,
  p_with_items boolean default false
) returns jsonb
language plpgsql stable
set search_path = ''
-- Instants and numbers are part of the digest.
set timezone = 'UTC'
set extra_float_digits = 1
as $$
declare
  v_part outbox.move_part;
  v_most_bytes constant integer := 4194304;
  v_page jsonb;
begin
  select * into v_part from outbox.move_part p where p.name = p_part and p.position is not null;
  if not found then
    perform outbox.invalid('part', pg_catalog.format('is %s', pg_catalog.quote_nullable(p_part)),
      'outbox.move_part has the parts that move');
  end if;
  execute pg_catalog.format($query$
    select pg_catalog.jsonb_build_object(
      'n', pg_catalog.count(*),
      'upto', pg_catalog.max(r.key collate "C"),
      'more', coalesce(
        pg_catalog.max(r.total) >= $4 or pg_catalog.max(r.total) > pg_catalog.count(*), false),
      'digest', pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(coalesce(
        pg_catalog.string_agg(r.key || ' ' || r.item::text, E'\n' order by r.key collate "C"),
        ''), 'UTF8')), 'hex'),
      'keys', coalesce(pg_catalog.jsonb_agg(r.key order by r.key collate "C"), '[]'),
      -- As text: a client may lose digits of a number.
      'items', case when $6 then coalesce(pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('key', r.key, 'item', r.item)
        order by r.key collate "C"), '[]')::text end)
    from (
      select x.key, x.item,
        pg_catalog.row_number() over (order by x.key collate "C") as n,
        pg_catalog.count(*) over () as total,
        pg_catalog.sum(pg_catalog.octet_length(x.item::text))
          over (order by x.key collate "C") as bytes
      from %s($1, $2, $3, $4) x
    ) r
    where $4 is null or r.n = 1 or r.bytes <= $5
  $query$, v_part.read_function)
  into v_page
  using p_org_id, p_after, p_upto, case when not p_whole then v_part.page_rows end, v_most_bytes,
    p_with_items;
  return v_page;
end
$$;
comment on function outbox.read_move_page(text, text, text, text, boolean, boolean) is
  'A page of a part of an organisation: {"n": rows, "upto": its last key or null, "more": whether '
  'others may follow, "digest": SHA-256, "keys", "items": the text of [{"key", "item"}], or null}. '
  'p_after: the last key of the page before; p_upto: the last key of this page; p_whole: all of '
  'this range, otherwise up to 4 MiB and move_part.page_rows. The items of endpoints have their '
  'secrets in the clear. OH001.';

create function outbox.write_move_page(
  p_org_id text, p_part text, p_after text, p_upto text, p_items text
) returns jsonb
language plpgsql set search_path = '' set timezone = 'UTC'
as $$
declare
  v_write text := (select p.write_function from outbox.move_part p where p.name = p_part);
begin
  perform outbox.check_move(p_org_id, array['receiving']);
  execute pg_catalog.format('select %s($1, $2, $3, $4)', v_write)
  using p_org_id, p_after, p_upto, p_items::jsonb;
  return outbox.read_move_page(p_org_id, p_part, p_after, p_upto, true);
end
$$;
comment on function outbox.write_move_page(text, text, text, text, text) is
  'Makes a range of a part equal to these items, and returns it as read_move_page() does. OH004 '
  'unless the organisation is being moved to this database.';

create function outbox.check_move(p_org_id text, p_statuses text[]) returns outbox.org_move
language plpgsql set search_path = ''
as $$
declare
  v_move outbox.org_move;
begin
  select * into v_move from outbox.org_move m where m.org_id = p_org_id for update;
  if not found or v_move.status <> all (p_statuses) then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('the move of organisation %s is %s', p_org_id,
        coalesce(v_move.status, 'not begun')),
      hint = pg_catalog.format('This step is for: %s',
        pg_catalog.array_to_string(p_statuses, ', '));
  end if;
  -- This transaction may change what refuse_change() keeps.
  perform pg_catalog.set_config('outbox.moving', p_org_id, true);
  return v_move;
end
$$;
comment on function outbox.check_move(text, text[]) is
  'The move of an organisation, if it has one of these statuses; OH004. locks: its row, so that '
  'two commands do not change it at once.';

create function outbox.take_move(p_org_id text, p_run uuid) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.org_move m set run_id = p_run where m.org_id = p_org_id;
end
$$;
comment on function outbox.take_move(text, uuid) is
  'From now on only this run of the command takes the steps of the move. Waits for a step of '
  'another run that has not ended, such as one whose command was killed. Nothing without a move.';

create function outbox.hold_move(p_org_id text, p_run uuid) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_move outbox.org_move;
begin
  select * into v_move from outbox.org_move m where m.org_id = p_org_id for update;
  -- Without a move, the step itself says so.
  if found and v_move.run_id is distinct from p_run then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('another run of outhook move-org continues the move of '
        'organisation %s', p_org_id),
      hint = 'Wait for its end. If it does not run any more, run the command again';
  end if;
  return true;
end
$$;
comment on function outbox.hold_move(text, uuid) is
  'Called in the statement of each step, before it: OH004 if another run has taken the move since. '
  'locks: the row of the move until the step has ended.';

create function outbox.clear_moved_part(p_org_id text, p_part text) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_page jsonb := outbox.read_move_page(p_org_id, p_part);
begin
  if (v_page ->> 'n')::integer = 0 then
    return false;
  end if;
  execute pg_catalog.format('select %s($1, $2, $3, $4)', (
    select p.write_function from outbox.move_part p where p.name = p_part))
  using p_org_id, '', v_page ->> 'upto', '[]'::jsonb;
  return true;
end
$$;
comment on function outbox.clear_moved_part(text, text) is
  'Removes the first page of a part here; false if there was none.';

create function outbox.move_reason(p_move outbox.org_move) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case p_move.role
    when 'source' then 'the organisation moves to ' || p_move.other
    else 'the organisation moves here from ' || p_move.other
  end;
end
$$;
comment on function outbox.move_reason(outbox.org_move) is
  'The status_reason of the endpoints that a move has paused.';
