import type { Mutant } from '../mutant.ts'

export const results: readonly Mutant[] = [
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'and d.leased_until is not null offset 0',
    replace: 'offset 0',
    tests: ['sql/engine/complete/stale.test.sql'],
    why: 'A result whose lease was given back is applied.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `d.failed_attempts + (r.outcome = 'failed' and v.harmless is not true)::integer`,
    replace: 'd.failed_attempts + (v.harmless is not true)::integer',
    tests: ['sql/engine/breaker/given_back.test.sql', 'sql/engine/complete/outcomes.test.sql'],
    why: 'A delivery that was given back unsent loses a try.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'else d.failed_attempts >= least(',
    replace: 'else d.failed_attempts > least(',
    tests: ['sql/engine/complete/retries.test.sql'],
    why: 'A delivery is tried once more than its policy says.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `    where u.outcome in ('delivered', 'failed', 'released')
`,
    replace: '',
    tests: ['sql/engine/complete/stale.test.sql', 'sql/engine/complete/outcomes.test.sql'],
    why: 'A result with an unknown outcome changes the delivery.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'order by u.event, u.endpoint, u.attempt, u.place',
    replace: 'order by u.event, u.endpoint, u.attempt, u.place desc',
    tests: ['sql/engine/complete/stale.test.sql', 'sql/engine/complete/outcomes.test.sql'],
    why: 'Of two results of one attempt the later counts.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `j.lossy, j.retry_at,
      case when j.outcome = 'delivered' then j.failed_attempts end, j.cut, j.resent,
      j.endpoint_version
    from applied j
    where j.outcome <> 'released'`,
    replace: `j.lossy, j.retry_at,
      case when j.outcome = 'delivered' then j.failed_attempts end, j.cut, j.resent,
      j.endpoint_version
    from applied j
    where true`,
    tests: ['sql/engine/complete/outcomes.test.sql', 'sql/engine/breaker/given_back.test.sql'],
    why: 'An attempt is recorded of a delivery that was given back unsent.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'filter (where j.ordered and j.in_lane = j.leased)',
    replace: 'filter (where j.ordered)',
    tests: ['sql/engine/complete/part_of_a_lane.test.sql'],
    why: 'An ordered lane frees its slot at its first result.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'in_flight = g.in_flight - b.requests,',
    replace: 'in_flight = greatest(0, g.in_flight - b.requests - 1),',
    tests: [
      'sql/engine/complete/part_of_a_lane.test.sql',
      'sql/engine/complete/lost_lease.test.sql',
      'sql/engine/breaker/late_results.test.sql',
    ],
    why: 'The count of what is in flight drifts, and the endpoint gets more than it may have.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'when j.retry_at is null or j.ordered then d.due_at',
    replace: 'when j.retry_at is null then d.due_at',
    tests: ['sql/engine/complete/ordered_retry.test.sql', 'sql/engine/states/order_kept.test.sql'],
    why: 'A failed delivery of an ordered key goes behind the next one.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `(f.rule).min_delay_s * interval '1 s',
          h.asked_wait)`,
    replace: 'h.asked_wait)',
    tests: ['sql/endpoints/failure_rule/min_delay.test.sql'],
    why: 'A failure that needs its time is tried again at once.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'not (e.retry_4xx and coalesce(r.status between 400 and 499, false))',
    replace: 'not e.retry_4xx',
    tests: ['sql/endpoints/failure_rule/retry_4xx.test.sql'],
    why: 'An endpoint that retries 4xx also retries what no status refused.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: 'and o.leased_until is not null offset 0',
    replace: 'offset 0',
    tests: ['sql/engine/complete/stale.test.sql'],
    why: 'A late result ends a delivery whose lease was given back.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: `        when l.halted then 'infinity'
`,
    replace: '',
    tests: ['sql/engine/complete/part_of_a_lane.test.sql'],
    why: 'A key that stopped behind a dead letter goes on by itself.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: `      last_timed_out = false,
`,
    replace: '',
    tests: ['sql/engine/complete/part_of_a_lane.test.sql'],
    why: 'An endpoint that hung once has one slot for ever.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: `      streak = 0,
`,
    replace: '',
    tests: ['sql/engine/breaker/streak.test.sql'],
    why: 'Failures that lie days apart open the breaker.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: `      first_failure_at = null
`,
    replace: `      first_failure_at = g.first_failure_at
`,
    tests: ['sql/engine/complete/part_of_a_lane.test.sql'],
    why: 'An endpoint that works is disabled days after one failure.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: 'set delivered_at = p_now, attempt = p.attempt',
    replace: 'set delivered_at = p_now',
    tests: [
      'sql/engine/regressions/replay_after_history_is_gone_goes_on_counting.test.sql',
      'sql/operations/replay/dead_letter.test.sql',
    ],
    why: 'A replay whose attempts are gone counts its attempts anew.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: `where r.failed or g.breaker <> 'closed'`,
    replace: 'where r.failed',
    tests: ['sql/engine/breaker/closes.test.sql'],
    why: 'A breaker never closes.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: 'leased_until = case when l.leased > b.n then l.leased_until end',
    replace: 'leased_until = l.leased_until',
    tests: ['sql/engine/complete/part_of_a_lane.test.sql'],
    why: 'A lane notes a lease that nobody holds any more.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `coalesce(j.error_class in ('timeout', 'connect'), false)`,
    replace: `coalesce(j.error_class = 'timeout', false)`,
    tests: ['sql/engine/ramp/timeout.test.sql'],
    why: 'A host that drops all packets takes all slots of its endpoint for the whole timeout.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `select 'resends', array[t.kind], pg_catalog.sum(t.resent), 0`,
    replace: `select 'resends', array[t.kind], 0, 0`,
    tests: ['sql/engine/complete/resent.test.sql'],
    why: 'A request that failed twice in an attempt is not counted as sent twice.',
  },
  {
    file: 'sql/engine/result/apply_delivered.sql',
    find: `('resends', case when t.resent > 0 then array[t.kind] end, t.resent, 0)`,
    replace: `('resends', null, t.resent, 0)`,
    tests: ['sql/engine/complete/resent.test.sql'],
    why: 'Nobody counts how often a receiver closes a connection over a request.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `(r.outcome = 'failed' and v.harmless is not true)::integer`,
    replace: `(r.outcome <> 'released' and v.harmless is not true)::integer`,
    tests: ['sql/operations/views/meanings.test.sql'],
    why: 'A delivered attempt counts as a failed one, if its batch has another result.',
  },
]
