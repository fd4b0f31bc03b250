import type { Mutant } from '../mutant.ts'

export const retry: readonly Mutant[] = [
  {
    file: 'sql/endpoints/retry.sql',
    find: `if (p_policy ->> 'max_delay')::float8 < v_shortest then`,
    replace: `if (p_policy ->> 'max_delay')::float8 <= v_shortest then`,
    tests: ['sql/endpoints/check_retry/cases.test.sql'],
    why: 'A policy whose delays are all the same is refused.',
  },
  {
    file: 'sql/endpoints/retry.sql',
    find: `jsonb_array_length(p_policy -> 'delays')) - 1`,
    replace: `jsonb_array_length(p_policy -> 'delays')) - 2`,
    tests: ['sql/endpoints/calculate_delay/cases.test.sql'],
    why: 'Each failure waits for the delay before its own.',
  },
  {
    file: 'sql/endpoints/retry.sql',
    find: 'least(v_failure - 1, 64)',
    replace: 'least(v_failure, 64)',
    tests: ['sql/endpoints/calculate_delay/cases.test.sql'],
    why: 'An exponential delay is one step too long.',
  },
  {
    file: 'sql/endpoints/retry.sql',
    find: '0.5 + pg_catalog.random()',
    replace: '1 + pg_catalog.random()',
    tests: [
      'sql/operations/schedule_retry/jitter.test.sql',
      'sql/endpoints/calculate_delay/cases.test.sql',
    ],
    why: 'Jitter only ever makes a delay longer.',
  },
  {
    file: 'sql/endpoints/retry.sql',
    find: '@ >= 0 && @ <= 50)',
    replace: '@ >= 0 && @ <= 500)',
    tests: ['sql/endpoints/check_retry/cases.test.sql'],
    why: 'A policy may have 500 retries.',
  },
  {
    file: 'sql/endpoints/retry.sql',
    find: `not between 1 and 50
`,
    replace: `not between 0 and 50
`,
    tests: ['sql/endpoints/check_retry/cases.test.sql'],
    why: 'A schedule without a delay is stored, and a run cannot read it.',
  },
  {
    file: 'sql/endpoints/retry.sql',
    find: 'greatest(p_failure, 1)',
    replace: 'p_failure',
    tests: ['sql/endpoints/calculate_delay/cases.test.sql'],
    why: 'Failure 0 has no delay.',
  },
  {
    file: 'sql/endpoints/retry.sql',
    find: `    coalesce((p_policy ->> 'max_delay')::float8, 604800)));`,
    replace: '    604800));',
    tests: ['sql/endpoints/calculate_delay/cases.test.sql'],
    why: `A policy's longest delay does not hold.`,
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: `('*', '410', 'hold',`,
    replace: `('*', '410', 'fail',`,
    tests: ['sql/endpoints/disable_endpoint/gone.test.sql'],
    why: 'An endpoint that is gone gets every further delivery.',
    sql: `update outbox.failure_rule set action = 'fail' where kind = '*' and code = '410';`,
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: `('*', '503', 'throttle',`,
    replace: `('*', '503', 'retry',`,
    tests: ['sql/engine/retry_after/whole_endpoint.test.sql'],
    why: 'An endpoint that is out of service is not left alone.',
    sql: `update outbox.failure_rule set action = 'retry' where kind = '*' and code = '503';`,
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: `('*', '425', 'retry',`,
    replace: `('*', '425', 'fail',`,
    tests: ['sql/endpoints/is_retryable/cases.test.sql'],
    why: 'A request that came too early is a dead letter.',
    sql: `update outbox.failure_rule set action = 'fail' where kind = '*' and code = '425';`,
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: `order by c.place, f.kind = '*'`,
    replace: `order by c.place, f.kind <> '*'`,
    tests: ['sql/endpoints/failure_rule/precedence.test.sql'],
    why: 'A rule of a kind has no say beside the rule for all.',
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: `join outbox.failure_rule f on f.code = c.code and f.kind in (p_kind, '*')`,
    replace: 'join outbox.failure_rule f on f.code = c.code',
    tests: [
      'sql/endpoints/failure_rule/precedence.test.sql',
      'sql/endpoints/failure_rule/one_update.test.sql',
    ],
    why: 'The rule of one provider counts for another.',
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: `and not p_rule.firm
`,
    replace: `
`,
    tests: [
      'sql/messages/failure_rule/whatsapp.test.sql',
      'sql/messages/message/lifecycle.test.sql',
    ],
    why: 'A message that must not be sent again is, when its provider calls the failure transient.',
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: `in ('retry', 'wait', 'throttle')`,
    replace: `in ('retry', 'wait')`,
    tests: ['sql/endpoints/is_retryable/cases.test.sql'],
    why: 'is_retryable() says that a 429 is final.',
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: `least(v_wait, p_most_s * interval '1 s') end`,
    replace: 'v_wait end',
    tests: ['sql/engine/retry_after/forms.test.sql'],
    why: 'A receiver makes us wait for a year by a date in Retry-After.',
  },
  {
    file: 'sql/endpoints/failure.sql',
    find: 'least(pg_catalog.btrim(p_header)::float8, p_most_s)',
    replace: 'pg_catalog.btrim(p_header)::float8',
    tests: ['sql/engine/retry_after/forms.test.sql'],
    why: 'A receiver makes a run fail by a huge number in Retry-After.',
  },
]
