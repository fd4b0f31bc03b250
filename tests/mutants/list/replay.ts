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
    find: 'and v_letter.discarded_at is null and v_letter.replayed_at is null',
    replace: 'and v_letter.replayed_at is null',
    tests: ['sql/operations/replay_many/filter.test.sql', 'sql/engine/states/replay_job.test.sql'],
    why: 'A replay job sends what a person has discarded.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: '      and x.org_id <= p_job.org_id\n',
    replace: '',
    tests: ['sql/operations/replay_many/filter.test.sql'],
    why: `A replay job of one organisation replays another's dead letters.`,
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'v_from timestamptz := greatest(p_job.at_failed, p_job.failed_from);',
    replace: 'v_from timestamptz := p_job.at_failed;',
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
    file: 'sql/api/replay_jobs.sql',
    find: `    if v_letter.discarded_at is null and v_letter.replayed_at is null
`,
    replace: `    if v_letter.replayed_at is null
`,
    tests: ['sql/api/preview_replay_job/same.test.sql'],
    why: 'The preview counts dead letters that the job does not replay.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: '= coalesce(p_job.error, pg_catalog.left(v_letter.error, 200))',
    replace: 'is not null',
    tests: ['sql/api/preview_replay_job/of_a_group.test.sql'],
    why: 'The replay of a group replays the other errors of its endpoint too.',
  },
  {
    file: 'sql/api/replay_jobs.sql',
    find: `v_error text := pg_catalog.left(p_job ->> 'error', 200);`,
    replace: `v_error text := pg_catalog.left(p_job ->> 'error', 100);`,
    tests: ['sql/api/preview_replay_job/of_a_group.test.sql'],
    why: 'The preview of a group counts something else than the group.',
  },
  {
    file: 'sql/api/replay_jobs.sql',
    find: `outbox.clock() + interval '1 ms'));`,
    replace: 'outbox.clock()));',
    tests: ['sql/api/preview_replay_job/same.test.sql'],
    why: 'A job with the bound of the preview leaves out the newest dead letters.',
  },
  {
    file: 'functions/api/middleware/token_rules.ts',
    find: `room === 'replay-jobs' && word === 'preview' ? undefined : word`,
    replace: 'word',
    tests: ['e2e/api_portal.test.ts'],
    why: 'A limited token counts the dead letters of other endpoints.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'v_most integer := least(p_job.rate_per_second, p_most);',
    replace: 'v_most integer := p_most;',
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
    find: `    where (x.failed_at, x.id) > (v_from, v_from_id)`,
    replace: `    where (x.failed_at, x.id) >= (v_from, v_from_id)`,
    tests: [
      'sql/operations/replay_many/progress.test.sql',
      'sql/operations/replay_many/stopped.test.sql',
      'sql/engine/states/replay_job.test.sql',
      'sql/operations/replay_many/job.test.sql',
    ],
    why: 'A replay job comes to a dead letter that it skipped again and again.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'least(5000, greatest(1, v_rows / s.parts))::integer)) with ordinality',
    replace: '1000000)) with ordinality',
    tests: ['sql/operations/replay_many/bounded.test.sql'],
    why: 'A job whose type does not occur reads all dead letters within one tick.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: `      and v_letter.original_topic is distinct from p_job.except_type
`,
    replace: '',
    tests: ['sql/api/create_replay_job/jobs.test.sql'],
    why: 'A token without messages:send sends messages again by a replay job.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'v_most integer := least(p_job.rate_per_second, p_most);',
    replace: 'v_most integer := p_job.rate_per_second;',
    tests: ['sql/operations/replay_many/turns.test.sql'],
    why: 'The jobs of one organisation may take a whole tick.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'pg_catalog.count(*) over (partition by r.org_id)',
    replace: '1',
    tests: ['sql/operations/replay_many/turns.test.sql'],
    why: 'An organisation with ten jobs has ten shares.',
  },
  {
    file: 'functions/api/routes/replay_jobs.ts',
    find: '  if (maySendMessages(caller)) return\n',
    replace: '  if (caller !== null) return\n',
    tests: ['functions/api/message_rule.test.ts'],
    why: 'A token without messages:send resumes a job that sends messages again.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: 'order by j.replayed + j.skipped, j.id',
    replace: 'order by j.id',
    tests: ['sql/operations/replay_many/progress.test.sql'],
    why: 'The newest replay job gets nothing while the steps of the others take all the time.',
  },
]
