-- A restore loads the data of each table, sets the sequences, and only then adds the primary keys
-- (https://www.postgresql.org/docs/current/app-pgrestore.html, --section). A transaction that
-- writes earlier takes ids that the sequences give again, and sees deliveries without their events.
-- A worker does not notice a restore: it connects to the same name as before.

create function outbox.unrestored_table() returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_name text;
begin
  -- No query, and plpgsql: each call of a SQL function would be planned.
  foreach v_name in array array['binding', 'dead_letter', 'delivery', 'endpoint', 'event', 'gate',
    'lane', 'subscription', 'unrouted']
  loop
    if pg_catalog.to_regclass('outbox.' || v_name || '_pkey') is null then
      return v_name;
    end if;
  end loop;
  return null;
end
$$;
comment on function outbox.unrestored_table() is
  'The name of one of the tables that a run works on whose primary key is missing; null if there '
  'is none.';

create function outbox.is_restoring() returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.to_regclass('outbox.delivery_pkey') is null
    or pg_catalog.to_regclass('outbox.event_pkey') is null
    or pg_catalog.to_regclass('outbox.binding_pkey') is null;
end
$$;
comment on function outbox.is_restoring() is
  'Whether the database is being restored: the data may be incomplete. It looks at three primary '
  'keys (3 us), because pg_restore with several jobs may add one before it has loaded all tables.';

create function outbox.refuse_restoring(p_table text) returns void
language plpgsql stable set search_path = ''
as $$
begin
  if p_table is not null then
    raise exception using errcode = '57P03',
      message = pg_catalog.format(
        'the database is being restored: table outbox.%s has no primary key yet', p_table),
      hint = 'If no restore is running, it ended with an error: restore again, or create the key';
  end if;
end
$$;
comment on function outbox.refuse_restoring(text) is
  '57P03 that names a table without a primary key, so that a run waits and asks again; nothing for '
  'null.';

create function outbox.check_not_restoring() returns void
language plpgsql stable set search_path = ''
as $$
begin
  if outbox.is_restoring() then
    perform outbox.refuse_restoring(outbox.unrestored_table());
  end if;
end
$$;
comment on function outbox.check_not_restoring() is
  '57P03 while is_restoring().';
