import type { Mutant } from '../mutant.ts'

export const publishing: readonly Mutant[] = [
  {
    file: 'sql/brokers/dead_letter_topic.sql',
    find: 'v_at constant timestamptz := outbox.event_time();',
    replace: 'v_at constant timestamptz := p_now;',
    tests: ['sql/events/event_time/doors.test.sql'],
    why:
      'After the clock is set back, a record for a dead-letter topic is older than events before.',
  },
  {
    file: 'sql/events/event_time.sql',
    find: `  if v_us >= v_seen - 60000000
    and not`,
    replace: '  if false and not',
    tests: ['sql/events/event_time/modes.test.sql', 'sql/engine/route/clock_set_back.test.sql'],
    why: 'After the clock was set back, a later event overtakes one that is not routed yet.',
  },
  {
    file: 'sql/events/event_time.sql',
    find: 'v_seen - v_first >= p_count - 1 and v_seen % v_slot > 0;',
    replace: 'v_seen - v_first >= p_count - 1;',
    tests: ['sql/events/event_time/modes.test.sql'],
    why: 'While the clock is behind, the end of a slot makes the next event as early as the clock.',
  },
  {
    file: 'sql/events/event_time.sql',
    find: 'v_seen - v_first >= p_count - 1 and',
    replace: '',
    tests: ['sql/events/event_time/modes.test.sql'],
    why: 'While the clock is behind, an event gets the time of one in the middle of an array.',
  },
  {
    file: 'sql/events/event_time.sql',
    find: `  if v_us < v_seen - 60000000
    or coalesce`,
    replace: '  if coalesce',
    tests: ['sql/events/event_time/modes.test.sql'],
    why: 'After a clock that was a day ahead, no event has the time of the clock for a day.',
  },
  {
    file: 'sql/messages/callback/callback_record.sql',
    find: 'v_at timestamptz := outbox.event_time(pg_catalog.cardinality(p_changes) + 1);',
    replace: 'v_at timestamptz := outbox.clock();',
    tests: ['sql/events/event_time/doors.test.sql'],
    why: 'After the clock was set back, a status overtakes an earlier one.',
  },
  {
    file: 'sql/endpoints/subscription.sql',
    find: 'return greatest(outbox.event_time(),',
    replace: 'return greatest(outbox.clock(),',
    tests: ['sql/engine/route/clock_set_back.test.sql'],
    why: 'After the clock was set back, a new filter applies to events from before it.',
  },
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
