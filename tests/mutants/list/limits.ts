import type { Mutant } from '../mutant.ts'

export const limits: readonly Mutant[] = [
  {
    file: 'sql/foundation/org_limit.sql',
    find: 'on conflict (org_id, name) do update set turn = t.turn + 1;',
    replace: 'on conflict (org_id, name) do nothing;',
    tests: ['concurrency/limits.test.ts'],
    why: 'Two sessions at a limit both pass.',
  },
  {
    file: 'sql/foundation/org_limit.sql',
    find: 'if p_count > v_most then',
    replace: 'if p_count >= v_most then',
    tests: ['sql/limits/organisation.test.sql'],
    why: 'An organisation gets one less than its limit.',
  },
  {
    file: 'sql/foundation/org_setting.sql',
    find: 'where o.org_id = p_org_id and o.name = p_name\n    ), outbox.setting_int(p_name));',
    replace: 'where o.name = p_name\n    ), outbox.setting_int(p_name));',
    tests: ['sql/limits/organisation.test.sql'],
    why: 'The limit of one organisation applies to all.',
  },
  {
    file: 'sql/endpoints/endpoint_limit.sql',
    find: `where e.org_id = p_org_id and e.status <> 'deleted'`,
    replace: 'where e.org_id = p_org_id',
    tests: ['sql/limits/organisation.test.sql'],
    why: 'Deleted endpoints use up the limit.',
  },
  {
    file: 'sql/endpoints/subscription.sql',
    find: 'if v_added > pg_catalog.cardinality(v_ended) then',
    replace: 'if v_added > 0 then',
    tests: ['sql/limits/organisation.test.sql'],
    why: 'An organisation above its limit cannot change a filter.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: `where j.org_id = p_org_id and j.status in ('running', 'paused')`,
    replace: `where j.org_id = p_org_id and j.status = 'running'`,
    tests: ['sql/limits/organisation.test.sql'],
    why: 'Paused jobs get around the limit.',
  },
  {
    file: 'sql/events/publish.sql',
    find: 'where p_is_own or not exists (',
    replace: 'where not exists (',
    tests: ['sql/limits/event_bytes.test.sql'],
    why: "An organisation at its limit gets none of Outhook's own events.",
  },
  {
    file: 'sql/events/publish_many.sql',
    find: 'where b.org_id in (select e.org_id from pg_catalog.unnest(v_events) e)\n        and ',
    replace: 'where false and ',
    tests: ['sql/limits/event_bytes.test.sql', 'e2e/api_limits.test.ts'],
    why: 'Batches get around the limit of bytes.',
  },
  {
    file: 'sql/events/event_bytes.sql',
    find: 'bytes = excluded.bytes + case when b.day = excluded.day then b.bytes else 0 end',
    replace: 'bytes = excluded.bytes + b.bytes',
    tests: ['sql/limits/event_bytes.test.sql'],
    why: 'The bytes of yesterday count today.',
  },
  {
    file: 'sql/api/portal_tokens.sql',
    find: 'n = 1 + case when c.day = excluded.day then c.n else 0 end',
    replace: 'n = 1 + c.n',
    tests: ['sql/limits/organisation.test.sql'],
    why: 'The portal tokens of yesterday count today.',
  },
]
