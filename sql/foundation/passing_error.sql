-- Which errors are temporary. A handler that finds the refused row of a batch raises a temporary
-- error again, because its cause is usually not the row being processed, and the run repeats its
-- call. A row may cause such an error each time. So after a few failures the run asks dispatch() to
-- refuse such rows (set_refusing()), and for this call the handlers treat it as any other error.

create function outbox.lacks_transaction_ids() returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  -- Returns the one that this transaction has, or else gets a new one.
  perform pg_catalog.pg_current_xact_id();
  return false;
exception when program_limit_exceeded then
  return true;
end
$$;
comment on function outbox.lacks_transaction_ids() is
  'Whether the server assigns no transaction ids, because too few are left: nothing can be written '
  'until a vacuum has freed some. Its error 54000 is also that of a value which is too long, so of '
  'a row. Such a transaction has a transaction id, or gets one here. False in a transaction that '
  'had its id before, and if only multixact ids are missing: then one row of the call may be set '
  'aside.';

create function outbox.is_passing(p_sqlstate text) returns boolean
language sql stable set search_path = ''
as $$
  select p_sqlstate ~ '^(40|53|57)' or p_sqlstate in ('25006', '55006', '55P03')
    or p_sqlstate = '54000' and outbox.lacks_transaction_ids()
$$;
comment on function outbox.is_passing(text) is
  'Whether an error is usually temporary, so that its cause is not the row being processed: '
  'deadlocks and snapshots (40), exhausted resources (53), cancelled statements and shutdowns '
  '(57), a read-only database (25006), objects in use (55006), lock timeouts (55P03), and 54000 '
  'while the server lacks_transaction_ids(). A lost connection (08) is not in the list: inside '
  'the database it is a connection that a trigger of the user opened. '
  'functions/_shared/database/fault.ts has the whole table.';

create function outbox.may_stay(p_sqlstate text) returns boolean
language sql immutable set search_path = ''
as $$
  select p_sqlstate ~ '^40' or p_sqlstate in ('55006', '55P03', '57014')
$$;
comment on function outbox.may_stay(text) is
  'Whether one row may cause a usually temporary error each time, because a trigger raises it, '
  'waits for a lock or runs too long. All other temporary errors come from the server.';

create function outbox.is_timeout(p_sqlstate text) returns boolean
language sql volatile set search_path = ''
as $$
  select p_sqlstate = '57014'
    and pg_catalog.clock_timestamp() - pg_catalog.statement_timestamp() >= interval '1 s'
$$;
comment on function outbox.is_timeout(text) is
  'Whether an error is the statement timeout. It fires only once, so a call has no time left after '
  'it. A statement that is cancelled within 1 s of its start is not timed out: a trigger raises '
  'the error, or a person cancels the statement. A run has a timeout of 5 s.';

create function outbox.set_refusing(p_refuses boolean) returns void
language plpgsql set search_path = ''
as $$
begin
  perform pg_catalog.set_config('outbox.refuses_rows',
    case when p_refuses then 'on' else 'off' end, true);
end
$$;
comment on function outbox.set_refusing(boolean) is
  'Sets whether the rest of this transaction refuses rows that cause temporary errors: see '
  'fails_call().';

create function outbox.fails_call(p_sqlstate text) returns boolean
language sql volatile set search_path = ''
as $$
  select outbox.is_passing(p_sqlstate) and not (
    outbox.may_stay(p_sqlstate) and not outbox.is_timeout(p_sqlstate)
    and coalesce(pg_catalog.current_setting('outbox.refuses_rows', true), '') = 'on')
$$;
comment on function outbox.fails_call(text) is
  'Whether an error fails the whole call of a run: it is temporary, and either it is an error of '
  'the server, or set_refusing() is off.';
