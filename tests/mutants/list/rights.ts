import type { Mutant } from '../mutant.ts'

export const rights: readonly Mutant[] = [
  {
    file: 'sql/foundation/rights.sql',
    find: 'grant usage on schema outbox to service_role;',
    replace: 'grant usage on schema outbox to service_role, authenticated;',
    tests: ['sql/rights/tried.test.sql', 'sql/rights/table.test.sql'],
    why: 'Whoever has logged in reaches into the schema.',
  },
  {
    file: 'sql/foundation/rights.sql',
    find: 'grant usage on schema outbox to service_role;',
    replace: `grant usage on schema outbox to service_role;
grant usage on all sequences in schema outbox to anon;`,
    tests: ['sql/rights/table.test.sql'],
    why: 'Anybody moves the sequences.',
  },
  {
    file: 'sql/operations/rights.sql',
    find: 'grant insert on outbox.webhook_outbox to service_role;',
    replace: `grant insert on outbox.webhook_outbox to service_role;
grant insert, update, delete on outbox.endpoint to service_role;`,
    tests: ['sql/rights/tried.test.sql', 'sql/rights/table.test.sql'],
    why: 'service_role writes past all checks of an endpoint.',
  },
  {
    file: 'sql/operations/rights.sql',
    find: 'grant insert on outbox.webhook_outbox to service_role;',
    replace: `grant insert on outbox.webhook_outbox to service_role;
grant execute on function outbox.tick(timestamptz) to public;`,
    tests: ['sql/rights/tried.test.sql', 'sql/rights/table.test.sql'],
    why: 'Anybody makes the tick work.',
  },
  {
    file: 'sql/operations/rights.sql',
    find: 'grant insert on outbox.webhook_outbox to service_role;',
    replace: `grant insert on outbox.webhook_outbox to service_role;
grant update (url) on outbox.endpoint to service_role;`,
    tests: ['sql/rights/table.test.sql'],
    why: 'service_role leads an endpoint to an address that nobody has checked.',
  },
  {
    file: 'sql/operations/rights.sql',
    find: 'grant insert on outbox.webhook_outbox to service_role;',
    replace: `grant insert on outbox.webhook_outbox to service_role;
grant service_role to authenticated;`,
    tests: ['sql/rights/table.test.sql'],
    why: 'Whoever has logged in is as good as the secret key.',
  },
  {
    file: 'sql/operations/rights.sql',
    find: 'grant insert on outbox.webhook_outbox to service_role;',
    replace: `grant insert on outbox.webhook_outbox to service_role;
alter default privileges in schema outbox grant execute on functions to anon;`,
    tests: ['sql/rights/table.test.sql'],
    why: 'Each later function is open to anybody.',
  },
  {
    file: 'sql/events/rights.sql',
    find: `  outbox.publish(text, jsonb, text, text, text, text, uuid, timestamptz, text),
`,
    replace: '',
    tests: ['sql/rights/tried.test.sql', 'sql/rights/table.test.sql'],
    why: 'An application with the secret key cannot publish.',
    sql:
      'revoke execute on function outbox.publish(text, jsonb, text, text, text, text, uuid, timestamptz, text) from service_role;',
  },
  {
    file: 'sql/operations/rights.sql',
    find: 'grant insert on outbox.webhook_outbox to service_role;',
    replace: `grant insert on outbox.webhook_outbox to service_role;
create function outbox.fresh() returns integer language sql set search_path = '' as 'select 1';
revoke all on function outbox.fresh() from public;`,
    tests: ['sql/rights/table.test.sql'],
    why: 'A new function is there about whose rights nobody has decided.',
  },
  {
    file: 'sql/events/rights.sql',
    find: 'grant select on outbox.event, outbox.event_default, outbox.event_bytes to service_role;',
    replace: 'grant select on outbox.event, outbox.idempotency_key to service_role;',
    tests: ['sql/rights/table.test.sql'],
    why: 'service_role reads a table that it has no use for.',
  },
  {
    file: 'sql/foundation/close_new.sql',
    find: `(p.proacl is null
        or exists (select from pg_catalog.aclexplode(p.proacl) a where a.grantee = 0))`,
    replace: `exists (select from pg_catalog.aclexplode(p.proacl) a where a.grantee = 0)`,
    tests: ['modules/rights.test.ts'],
    why: 'Each function of a new module stays open to everybody.',
  },
  {
    file: 'sql/foundation/close_new.sql',
    find: `when c.relkind in ('r', 'p') then not c.relrowsecurity`,
    replace: `when c.relkind in ('r', 'p') then true`,
    tests: ['modules/rights.test.ts'],
    why: 'A module applied later takes the rights of the modules before it away.',
  },
]
