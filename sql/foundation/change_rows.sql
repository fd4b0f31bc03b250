-- Changes many rows in one statement; if the database refuses one of them, all others are changed.

create function outbox.row_name(p_table regclass, p_row tid) returns text
language sql immutable set search_path = ''
as $$
  select pg_catalog.format('the row %s of %s', p_row, p_table)
$$;
comment on function outbox.row_name(regclass, tid) is
  'A row of a table by its ctid. A key may be a phone number, which neither the log nor the health '
  'of the queue may show.';

create function outbox.change_apart(
  p_task text, p_table regclass, p_statement text, p_rows tid[], p_now timestamptz,
  p_shown interval, p_locked boolean
) returns integer
language plpgsql set search_path = ''
as $$
declare
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
  exception when query_canceled or others then
    if outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then
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
language plpgsql set search_path = ''
as $$
begin
  return case
    when outbox.change_apart(p_task, p_table, p_statement, p_rows, p_now, p_shown, false) > 0
    then pg_catalog.cardinality(p_rows) else 0
  end;
end
$$;
comment on function outbox.change_rows(text, regclass, text, tid[], timestamptz, interval) is
  'Executes a statement for rows of a table, whose tids are $1 of the statement; $2 is p_now. If '
  'the database refuses a row, all others are changed, and the refusal is recorded for p_task '
  '(refuse_upkeep()). The caller has read the tids in the same call, whose snapshot keeps them '
  'from being used for other rows. Returns the number of p_rows, also if some were refused, so '
  'that the caller continues with the rows after them; 0 if none was changed.';
