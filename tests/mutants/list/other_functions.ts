import type { Mutant } from '../mutant.ts'

export const otherFunctions: readonly Mutant[] = [
  {
    file: 'functions/_shared/http/json_depth.ts',
    find: `if (byte === backslash) at++
`,
    replace: `if (false) at++
`,
    tests: ['functions/_shared/http/json_depth.test.ts'],
    why: 'A text with an escaped quote hides brackets, or makes some of them count.',
  },
  {
    file: 'functions/_shared/http/json_depth.ts',
    find: 'if (++level > depth) return true',
    replace: 'if (++level >= depth) return true',
    tests: ['functions/api/limits.test.ts'],
    why: 'JSON that is as deep as allowed is refused.',
  },
  {
    file: 'functions/_shared/base/log.ts',
    find: `if (level === 'debug' && !debug) return
`,
    replace: '',
    tests: ['functions/_shared/base/log.test.ts'],
    why: 'Each delivery writes a line.',
  },
  {
    file: 'functions/_shared/base/safe_text.ts',
    find: `.replaceAll('\\0', '').replace(/\\p{Surrogate}/gu`,
    replace: '.replace(/\\p{Surrogate}/gu',
    tests: ['functions/_shared/base/safe_text.test.ts'],
    why: 'An answer with a NUL costs the results of a whole call.',
  },
  {
    file: 'functions/metrics/app.ts',
    find: 'if (!bearsToken(c',
    replace: 'if (bearsToken(c',
    tests: ['functions/metrics/app.test.ts'],
    why: 'Metrics are shown to whoever has no token.',
  },
  {
    file: 'functions/ops-alerts/from_event.ts',
    find: `  if (rule === null) return null
`,
    replace: `  if (rule === null) throw new Error('unknown')
`,
    tests: ['functions/ops_alerts/app.test.ts'],
    why: 'An event that is no alert is redelivered until it is a dead letter.',
  },
  {
    file: 'functions/example-consumer/app.ts',
    find: `      webhook.verify(body, c.req.header())
`,
    replace: '',
    tests: ['e2e/example_consumer.test.ts'],
    why: 'Anybody sends the example events.',
  },
  {
    file: 'sql/foundation/fixed_settings.sql',
    find: `('timezone', 'UTC'), `,
    replace: '',
    sql: 'alter function outbox.publish_many(jsonb) reset timezone',
    tests: ['sql/schema/session_settings.test.sql'],
    why: 'The time zone of a session changes a deliver_at.',
  },
]
