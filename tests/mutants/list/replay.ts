import type { Mutant } from '../mutant.ts'

export const replay: readonly Mutant[] = [
  {
    file: 'sql/operations/replay.sql',
    find: 'failed_attempts = 0, lost_leases = 0, lost_before = 0, replayed_at = v_now',
    replace: 'lost_leases = 0, lost_before = 0, replayed_at = v_now',
    tests: ['sql/operations/replay/cases.test.sql'],
    why: 'A replayed delivery has what is left of its old budget.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: 'coalesce(outbox.last_attempt(p_event_id, p_endpoint_id), 0), v_bytes',
    replace: '0, v_bytes',
    tests: ['sql/operations/replay/cases.test.sql'],
    why:
      'A replay counts its attempts anew, so that a late result of the old life is taken for its own.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: `where g.endpoint_id = p_endpoint_id and e.status <> 'deleted';`,
    replace: 'where g.endpoint_id = p_endpoint_id;',
    tests: [
      'concurrency/deleted.test.ts',
      'sql/engine/states/replay_job.test.sql',
      'sql/operations/replay_many/stopped.test.sql',
    ],
    why: 'A replay job puts deliveries back at a deleted endpoint.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: `    perform outbox.record_lost_lease(v_delivery, v_now);
`,
    replace: '',
    tests: [
      'sql/engine/regressions/retry_of_a_lost_last_try.test.sql',
      'sql/operations/replay/cases.test.sql',
      'sql/engine/states/transitions.test.sql',
    ],
    why: 'A replay takes the place of a lost attempt, which is not recorded then.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: `  perform outbox.restart_open_checks(array[p_event_id]);
  perform outbox.park(array[p_endpoint_id], v_now);`,
    replace: '  perform outbox.park(array[p_endpoint_id], v_now);',
    tests: ['sql/time/partitions/drop_event.test.sql', 'concurrency/partitions.test.ts'],
    why: 'The day of a replayed event is dropped as if nothing of it had been open.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: 'update outbox.dead_letter x set replayed_at = p_now',
    replace: 'update outbox.dead_letter x set replayed_at = x.replayed_at',
    tests: ['sql/operations/replay/dead_letter.test.sql'],
    why: 'A replayed dead letter stays on the list of what nobody has looked at.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'v_to timestamptz := least(p_failed_to, v_now);',
    replace: 'v_to timestamptz := coalesce(p_failed_to, v_now);',
    tests: ['sql/operations/replay_many/until_now.test.sql'],
    why: 'A replay job replays what dies while it is at work, for ever.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'and x.discarded_at is null and x.replayed_at is null',
    replace: 'and x.replayed_at is null',
    tests: ['sql/operations/replay_many/filter.test.sql', 'sql/engine/states/replay_job.test.sql'],
    why: 'A replay job sends what a person has discarded.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: `        and x.org_id = coalesce(j.org_id, x.org_id)
`,
    replace: '',
    tests: ['sql/operations/replay_many/filter.test.sql'],
    why: `A replay job of one organisation replays another's dead letters.`,
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: `        and x.failed_at >= coalesce(j.failed_from, '-infinity')
`,
    replace: '',
    tests: ['sql/operations/replay_many/filter.test.sql'],
    why: 'A replay job replays what is older than it was told.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'coalesce(p_rate_per_second, 0) not between 1 and 1000',
    replace: 'p_rate_per_second not between 1 and 1000',
    tests: [
      'sql/operations/replay_many/filter.test.sql',
      'sql/operations/replay_many/job.test.sql',
    ],
    why: 'A replay job without a rate is not refused with a word of its own.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: `      limit j.rate_per_second
`,
    replace: `      limit 1000
`,
    tests: ['sql/operations/replay_many/job.test.sql', 'sql/operations/replay_many/share.test.sql'],
    why: 'A replay job puts back all at once.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: `and j.status in ('running', 'paused')
  returning`,
    replace: `and true
  returning`,
    tests: ['sql/operations/replay_many/stopped.test.sql', 'sql/engine/states/replay_job.test.sql'],
    why: 'A cancelled replay job runs again.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: '(x.failed_at, x.id) > (j.at_failed, j.at_id)',
    replace: '(x.failed_at, x.id) >= (j.at_failed, j.at_id)',
    tests: [
      'sql/operations/replay_many/stopped.test.sql',
      'sql/engine/states/replay_job.test.sql',
      'sql/operations/replay_many/job.test.sql',
    ],
    why: 'A replay job comes to a dead letter that it skipped again and again.',
  },
]
