import type { Mutant } from '../mutant.ts'

export const publishing: readonly Mutant[] = [
  {
    file: 'sql/events/idempotency_key.sql',
    find: 'where k.created_at <= excluded.created_at - outbox.key_window();',
    replace: 'where k.created_at < excluded.created_at - outbox.key_window();',
    tests: ['sql/events/publish/idempotency.test.sql'],
    why: 'A key is known for a moment longer than said.',
  },
  {
    file: 'sql/events/idempotency_key.sql',
    find: `p_event.partition_key,
      p_event.endpoint_id,`,
    replace: 'p_event.partition_key,',
    tests: ['sql/events/publish/idempotency.test.sql'],
    why: 'An event for another endpoint counts as a repeat and is lost.',
  },
  {
    file: 'sql/events/idempotency_key.sql',
    find: 'where k.org_id = p_event.org_id and k.key = p_event.idempotency_key;',
    replace: 'where k.key = p_event.idempotency_key;',
    tests: ['sql/events/publish/idempotency.test.sql'],
    why: 'A key of one organisation gives the event of another.',
  },
  {
    file: 'sql/events/event_check.sql',
    find: 'if v_bytes > v_most then',
    replace: 'if v_bytes >= v_most then',
    tests: [
      'sql/events/publish/refused.test.sql',
      'sql/foundation/settings_bounds/in_force.test.sql',
    ],
    why: 'A payload of just the allowed size is refused.',
  },
  {
    file: 'sql/events/event_check.sql',
    find: 'if not p_is_own then',
    replace: `if not p_is_own and p_event.org_id <> 'outhook' then`,
    tests: ['sql/events/publish/refused.test.sql'],
    why: 'Anybody publishes operational events of the system.',
  },
  {
    file: 'sql/events/event_check.sql',
    find: `pg_catalog.lower(pg_catalog.left(p_type, 8)) = 'outhook.'`,
    replace: `pg_catalog.left(p_type, 8) = 'outhook.'`,
    tests: ['sql/events/publish/reserved.test.sql'],
    why: 'An event of Outhook is forged in capital letters.',
  },
  {
    file: 'sql/events/event_check.sql',
    find:
      `where e.id = p_event.endpoint_id and e.org_id = p_event.org_id and e.status <> 'deleted';`,
    replace: `where e.id = p_event.endpoint_id and e.status <> 'deleted';`,
    tests: ['sql/events/publish/refused.test.sql'],
    why: 'An event is addressed to an endpoint of another organisation.',
  },
  {
    file: 'sql/events/event_check.sql',
    find: `e.status <> 'deleted' and e.ordering <> 'none'`,
    replace: `e.ordering <> 'none'`,
    tests: ['sql/engine/delayed/due.test.sql', 'sql/events/publish/refused.test.sql'],
    why: 'A delayed event is refused for the sake of a deleted endpoint.',
  },
  {
    file: 'sql/events/event_check.sql',
    find: 'pg_catalog.length(p_event.partition_key) > 256',
    replace: 'pg_catalog.length(p_event.partition_key) > 2560',
    tests: ['sql/events/publish/refused.test.sql'],
    why: 'A partition key of 2 kB is stored.',
  },
  {
    file: 'sql/events/event_check.sql',
    find: 'p_event.deliver_at > p_event.created_at + pg_catalog.make_interval(days => v_days)',
    replace:
      'p_event.deliver_at > p_event.created_at + pg_catalog.make_interval(days => v_days + 1)',
    tests: ['sql/events/publish/refused.test.sql', 'sql/engine/delayed/due.test.sql'],
    why: 'An event is put off beyond its own retention.',
  },
  {
    file: 'sql/events/publish_many.sql',
    find: `p_now + (o.ordinality - 1) * interval '1 microsecond' as at`,
    replace: 'p_now as at',
    tests: ['sql/events/publish_many/stored.test.sql'],
    why: 'Events of one call have ids in no order.',
  },
  {
    file: 'sql/events/publish_many.sql',
    find: `pg_catalog.lower(pg_catalog.left(o.value ->> 'type', 8)) <> 'outhook.'`,
    replace: `o.value ->> 'type' <> 'outhook.dead_letter'`,
    tests: ['sql/events/publish/reserved.test.sql'],
    why: 'An event of Outhook is forged in bulk.',
  },
  {
    file: 'sql/events/publish_many.sql',
    find: `e.org_id <> 'outhook'`,
    replace: 'true',
    tests: [
      'sql/events/publish_many/refused.test.sql',
      'sql/api/publish_events/catalogue.test.sql',
    ],
    why: 'Anybody publishes operational events in bulk.',
  },
  {
    file: 'sql/events/publish_many.sql',
    find: `coalesce(p_org_id, o.value ->> 'org_id', 'default')`,
    replace: `coalesce(o.value ->> 'org_id', p_org_id, 'default')`,
    tests: [
      'sql/api/publish_events/catalogue.test.sql',
      'sql/events/publish_many/stored.test.sql',
      'e2e/api_events.test.ts',
    ],
    why: 'A caller of the API publishes for another organisation.',
  },
  {
    file: 'sql/events/publish_many.sql',
    find: `'duplicate', v_id <> v_event.id)`,
    replace: `'duplicate', false)`,
    tests: ['sql/events/publish_once/duplicates.test.sql'],
    why: 'A duplicate looks like a new event.',
  },
  {
    file: 'sql/events/publish_many.sql',
    find: 'where e.id <> v_ids[e.ordinality];',
    replace: 'where e.id = v_ids[e.ordinality];',
    tests: ['sql/events/publish_once/duplicates.test.sql'],
    why: 'The API names the new events as duplicates.',
  },
  {
    file: 'sql/events/event_check.sql',
    find: "if p_event.deliver_at = '-infinity' then",
    replace: 'if false then',
    tests: ['sql/events/publish/refused.test.sql'],
    why:
      'A result of an event whose deliver_at is -infinity cannot be stored, so it is sent three times.',
  },
]
