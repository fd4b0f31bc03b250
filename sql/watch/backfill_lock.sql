-- The locks of a step of a backfill on the rows of the application. An update that moves a row to
-- another partition deletes it in its own partition, and Postgres raises an error of class 40 for
-- a lock that finds this deletion.

create function outbox.lock_source(
  p_source outbox.backfill_source, p_watch jsonb, p_limit integer, p_keys text[]
) returns outbox.source_row[]
language plpgsql volatile set search_path = ''
as $$
begin
  return outbox.read_source(p_source, p_watch, p_limit, p_keys, ' for share of n skip locked');
exception when transaction_rollback then
  -- An update has moved one of them to another partition meanwhile. The next step reads them again.
  return array[]::outbox.source_row[];
end
$$;
comment on function outbox.lock_source(outbox.backfill_source, jsonb, integer, text[]) is
  'Locks those rows of these keys that no other transaction has changed or locked, and reads them '
  'again. locks: rows of the table with SKIP LOCKED.';

create function outbox.wait_for_row(
  p_source outbox.backfill_source, p_watch jsonb
) returns void
language plpgsql
set search_path = ''
set lock_timeout = '100ms'
as $$
begin
  -- The end, or the read would go through the whole table if the row was deleted.
  p_source.until_key := p_source.busy_key;
  perform outbox.read_source(p_source, p_watch, 1, array[p_source.busy_key], ' for share of n');
exception
  when lock_not_available then
    -- The step stops before this row once more.
    return;
  when transaction_rollback then
    -- Its transaction has moved it to another partition, where it has another key.
    return;
end
$$;
comment on function outbox.wait_for_row(outbox.backfill_source, jsonb) is
  'Waits for the row busy_key for 0.1 s at most, and locks it: one that many transactions change '
  'one after the other may be locked whenever a step looks. locks: the row.';
