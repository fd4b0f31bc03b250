import type { Mutant } from '../mutant.ts'

export const breaker: readonly Mutant[] = [
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'r.status in (408, 429) or r.status >= 500',
    replace: 'r.status >= 500',
    tests: ['sql/engine/breaker/streak.test.sql', 'sql/engine/breaker/opens.test.sql'],
    why: 'An endpoint that answers 408 for ever has a closed breaker.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: '(r.status between 400 and 499 and r.status not in (408, 429))',
    replace: 'r.status between 400 and 499',
    tests: ['sql/engine/breaker/streak.test.sql', 'sql/engine/breaker/fails_again.test.sql'],
    why: 'A 429 ends the streak of failures.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 's.streak >= e.breaker_threshold',
    replace: 's.streak > e.breaker_threshold',
    tests: ['sql/engine/breaker/opens.test.sql'],
    why: 'The breaker opens one failure late.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `else p_now + e.breaker_open_ms * interval '1 ms'`,
    replace: 'else p_now',
    tests: ['sql/engine/breaker/stays_open.test.sql', 'sql/engine/breaker/opens.test.sql'],
    why: 'An open breaker lets its probe through at once.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `when n.breaker = 'closed' and g.breaker <> 'closed' then p_now`,
    replace: `when n.breaker = 'closed' then p_now`,
    tests: [
      'sql/engine/breaker/closes.test.sql',
      'sql/engine/ramp/slow_receiver.test.sql',
      'sql/engine/ramp/timeout.test.sql',
    ],
    why: 'Every failure of an endpoint throttles it to one request.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `when b.probe = 'succeeded' then 'closed'`,
    replace: `when b.probe in ('succeeded', 'void') then 'closed'`,
    tests: ['sql/engine/breaker/given_back.test.sql'],
    why: 'A probe that was never sent closes the breaker.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `when b.probe is not null then 'open'`,
    replace: `when b.probe = 'failed' then 'open'`,
    tests: ['sql/engine/breaker/given_back.test.sql'],
    why: 'A probe that was given back leaves the breaker half open for ever.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'when j.event_id = g.probe_event and j.attempt = g.probe_attempt then',
    replace: 'when j.event_id = g.probe_event then',
    tests: ['sql/engine/breaker/late_results.test.sql'],
    why: 'A late result of an earlier attempt counts as the probe.',
    equivalent:
      `A result is applied only when its attempt is the delivery's own, and the delivery of a probe has no other attempt than the probe's.`,
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `o.breaker = 'closed' and e.breaker_enabled
`,
    replace: `o.breaker = 'closed'
`,
    tests: ['sql/engine/breaker/off.test.sql'],
    why: 'A breaker that is switched off opens.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `and j.error_class is distinct from 'lease_expired'
      ) as failed`,
    replace: `
      ) as failed`,
    tests: ['sql/engine/complete/blameless.test.sql'],
    why: 'Runs that die make an endpoint count as failing, which disables it.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'first_failure_at < p_now - v_patience and e.ramp_from < p_now - v_patience',
    replace: 'first_failure_at < p_now - v_patience',
    tests: ['sql/endpoints/disable_endpoint/failing_for_days.test.sql'],
    why: 'An endpoint that a person has just resumed is disabled again at its first failure.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'not_before = greatest(g.not_before, p_now + b.asked_wait, case',
    replace: 'not_before = greatest(coalesce(p_now + b.asked_wait, g.not_before), case',
    tests: [
      'sql/engine/retry_after/whole_endpoint.test.sql',
      'sql/engine/retry_after/next_try.test.sql',
    ],
    why: 'A short Retry-After takes back a longer one.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'when v.waits then p_now + outbox.delay_after(p.policy, 1)',
    replace: 'when v.waits then p_now',
    tests: ['sql/engine/complete/blameless.test.sql'],
    why: 'A delivery whose broker is away is tried again without a pause.',
  },
]
