-- Changes many rows in one statement; if the database refuses one of them, all others are changed.
--
-- A row may also take too long, because of a trigger of the user. Then the statement timeout ends
-- the work, and there is no time to find the row. So the caller repeats it with fewer rows, or
-- records the timeout, after which the rows are changed one by one. If one row alone takes more
-- than a second, and half of the time of the whole statement, its name is the detail of the error,
-- and the caller records it (refuse_slow()). For a day, change_rows() then leaves it out. If each
-- row is slow, no row is the cause, and the pieces become smaller.

create function outbox.row_name(p_table regclass, p_row tid) returns text
language sql immutable set search_path = ''
as $$
  select pg_catalog.format('the row %s of %s', p_row, p_table)
$$;
comment on function outbox.row_name(regclass, tid) is
  'A row of a table by its ctid. A key may be a phone number, which neither the log nor the health '
  'of the queue may show.';

create function outbox.is_slow_row(
  p_task text, p_table regclass, p_row tid, p_now timestamptz
) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return exists (
    select from outbox.upkeep_refusal r
    where r.task = p_task and r.member = outbox.row_name(p_table, p_row)
      and r.sqlstate = '57014' and r.at > p_now - interval '1 day');
end
$$;
comment on function outbox.is_slow_row(text, regclass, tid, timestamptz) is
  'Whether a change of this row alone took too long within the last day.';

create function outbox.change_apart(
  p_task text, p_table regclass, p_statement text, p_rows tid[], p_now timestamptz,
  p_shown interval, p_locked boolean
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_start constant timestamptz := pg_catalog.clock_timestamp();
  v_half integer := pg_catalog.cardinality(p_rows) / 2;
  v_rows tid[] := p_rows;
  v_changed integer;
  v_sqlstate text;
  v_error text;
begin
  if pg_catalog.cardinality(v_rows) = 0 then
    return 0;
  end if;
  begin
    execute p_statement using v_rows, p_now;
    get diagnostics v_changed = row_count;
    return v_changed;
  exception when query_canceled or assert_failure or others then
    if outbox.is_timeout(sqlstate) and pg_catalog.cardinality(v_rows) = 1
      -- Where each row is slow, the timeout hits one that has taken only a part of the time.
      and pg_catalog.clock_timestamp() - v_start >= greatest(interval '1 s',
        (pg_catalog.clock_timestamp() - pg_catalog.statement_timestamp()) / 2)
    then
      raise exception using errcode = sqlstate, message = sqlerrm,
        detail = outbox.row_name(p_table, v_rows[1]);
    elsif outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then
      raise;
    end if;
    v_sqlstate := sqlstate;
    v_error := sqlerrm;
  end;
  -- A row that another transaction has locked is changed by the next call.
  if v_sqlstate = '55P03' and not p_locked then
    execute pg_catalog.format(
      'select array(select t.ctid from %s t where t.ctid = any ($1) for update skip locked)',
      p_table) into v_rows using p_rows;
    return outbox.change_apart(p_task, p_table, p_statement, v_rows, p_now, p_shown, true);
  end if;
  if v_half = 0 then
    perform outbox.refuse_upkeep(p_task, outbox.row_name(p_table, v_rows[1]), v_sqlstate, v_error,
      p_shown);
    return 0;
  end if;
  return outbox.change_apart(p_task, p_table, p_statement, v_rows[1:v_half], p_now, p_shown,
      p_locked)
    + outbox.change_apart(p_task, p_table, p_statement, v_rows[v_half + 1:], p_now, p_shown,
      p_locked);
end
$$;
comment on function outbox.change_apart(
  text, regclass, text, tid[], timestamptz, interval, boolean) is
  'change_rows() for a part of the rows; returns how many were changed. p_locked: the rows are '
  'locked already.';

create function outbox.change_rows(
  p_task text, p_table regclass, p_statement text, p_rows tid[], p_now timestamptz,
  p_shown interval default '25 hours'
) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_row tid;
  v_changed integer := 0;
begin
  if not exists (
    select from outbox.upkeep_refusal r where r.task = p_task and r.sqlstate = '57014')
  then
    v_changed := outbox.change_apart(p_task, p_table, p_statement, p_rows, p_now, p_shown, false);
  else
    -- One by one, so that a further row that takes too long is known at once.
    foreach v_row in array p_rows loop
      if not outbox.is_slow_row(p_task, p_table, v_row, p_now) then
        v_changed := v_changed + outbox.change_apart(
          p_task, p_table, p_statement, array[v_row], p_now, p_shown, false);
      end if;
    end loop;
  end if;
  return case when v_changed > 0 then pg_catalog.cardinality(p_rows) else 0 end;
end
$$;
comment on function outbox.change_rows(text, regclass, text, tid[], timestamptz, interval) is
  'Executes a statement for rows of a table, whose tids are $1 of the statement; $2 is p_now. If '
  'the database refuses a row, all others are changed, and the refusal is recorded for p_task '
  '(refuse_upkeep()). A row that took too long within a day is left out. The caller has read the '
  'tids in the same call, whose snapshot keeps them from being used for other rows. Returns the '
  'number of p_rows, also if some were refused or left out, so that the caller continues with the '
  'rows after them; 0 if none was changed.';
