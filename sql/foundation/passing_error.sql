-- Which errors are temporary. A handler that isolates the refused row of a batch raises a temporary
-- error again, because its cause is not the row being processed.

create function outbox.is_passing(p_sqlstate text) returns boolean
language sql immutable set search_path = ''
as $$
  select p_sqlstate ~ '^(40|53|57)' or p_sqlstate in ('25006', '55006', '55P03')
$$;
comment on function outbox.is_passing(text) is
  'Whether an error is usually temporary, so that its cause is not the row being processed: '
  'deadlocks and snapshots (40), exhausted resources (53), cancelled statements and shutdowns '
  '(57), a read-only database (25006), objects in use (55006) and lock timeouts (55P03). A lost '
  'connection (08) is not in the list: inside the database it is a connection that a trigger of '
  'the user opened. functions/_shared/database/fault.ts has the whole table.';

create function outbox.may_stay(p_sqlstate text) returns boolean
language sql immutable set search_path = ''
as $$
  select p_sqlstate ~ '^40' or p_sqlstate in ('55006', '55P03', '57014')
$$;
comment on function outbox.may_stay(text) is
  'Whether one row may cause a usually temporary error each time, because a trigger raises it, '
  'waits for a lock or runs too long. All other temporary errors come from the server.';
