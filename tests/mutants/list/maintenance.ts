import type { Mutant } from '../mutant.ts'

export const maintenance: readonly Mutant[] = [
  {
    file: 'sql/operations/replay_job.sql',
    find: "where j.id = v_job and j.status = 'running';",
    replace: 'where j.id = v_job;',
    tests: [
      'concurrency/replay_jobs.test.ts#a job that is cancelled while its step works stays cancelled',
    ],
    why: 'A job that was cancelled or paused meanwhile gets the status done.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'select j from pg_catalog.unnest(v_ready) j',
    replace:
      "select j from (select o.id as j from outbox.replay_job o where o.status = 'running') o (j)",
    tests: ['concurrency/replay_jobs.test.ts'],
    why: 'A job that begins while a step works is ended without a replay.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: "case j.source when 'dead_letters' then 'outbox.replay_many'",
    replace: "case when j.source <> '' then 'outbox.replay_many'",
    tests: ['sql/operations/backfill_events/delivered.test.sql'],
    why: 'A backfill that cannot send an event again is shown as a replay job.',
  },
  {
    file: 'sql/operations/purge.sql',
    find:
      `    return outbox.purge_rows(p_endpoint_id, p_gate_id, p_rows, 'the endpoint was deleted', p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then`,
    replace:
      `    return outbox.purge_rows(p_endpoint_id, p_gate_id, p_rows, 'the endpoint was deleted', p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_upkeep(sqlstate) then`,
    tests: ['sql/time/tick/one_bad_member.test.sql'],
    why: 'After the statement timeout the tick goes on, and nothing ends it.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: 'order by p.failed_at nulls first, s.is_last, s.name',
    replace: 'order by s.name',
    tests: ['sql/time/cleanup/pieces.test.sql'],
    why: 'A step that times out is the first of each start, and the steps behind it never run.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: `  v_steps jsonb := '{}'::jsonb;
begin
  set constraints all immediate;
`,
    replace: `  v_steps jsonb := '{}'::jsonb;
begin
`,
    tests: ['sql/time/cleanup/pieces.test.sql'],
    why: 'A deferred constraint that refuses one row fails the whole cleanup.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: `        v_late := v_late || v_part.name;
        exit;`,
    replace: `        v_late := v_late || v_part.name;
        continue;`,
    tests: [
      'concurrency/partitions.test.ts#drop_partitions() ends at the first lock that is not free',
    ],
    why: 'It holds rows of partition_check while it waits for each partition, and the tick waits.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: `language plpgsql
set search_path = ''
-- A replay locks the row after its gate. drop_partitions() may have locked attempt by then, for
-- which a claim waits while it holds a gate.
set lock_timeout = '100ms'`,
    replace: `language plpgsql set search_path = ''`,
    tests: [
      'concurrency/partitions.test.ts#drop_partitions() gives way to a replay that holds the check of a day',
    ],
    why: 'It waits for a replay while claims wait for it, which can be a deadlock.',
  },
  {
    file: 'sql/events/event_bytes.sql',
    find: 'and b.day = outbox.day_of(p_now))',
    replace: ')',
    tests: ['sql/limits/event_bytes.test.sql'],
    why:
      'After the clock was set back, an organisation cannot publish until the wrong day has come.',
  },
  {
    file: 'sql/api/requests.sql',
    find: "when b.filled_at > excluded.filled_at + interval '10 s' then excluded.filled_at",
    replace: "when b.filled_at > excluded.filled_at + interval '10 s' then b.filled_at",
    tests: ['sql/limits/organisation.test.sql'],
    why: 'After the clock was set back, the bucket of an organisation does not fill.',
  },
  {
    file: 'sql/foundation/upkeep_refusal.sql',
    find: "string_agg(distinct r.task || '()', ', ')",
    replace: "string_agg(distinct r.member || '()', ', ')",
    tests: ['sql/time/cleanup/one_bad_row.test.sql'],
    why: 'The health of the queue names an object of another organisation.',
  },
]
