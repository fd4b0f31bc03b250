import type { Mutant } from '../mutant.ts'

export const api: readonly Mutant[] = [
  {
    file: 'functions/api/json_schema/cost.ts',
    find: '  for (const part of node.inPlace) cost += costOf(part, costs)',
    replace: '  for (const part of node.inPlace) costOf(part, costs)',
    tests: ['functions/api/schema_steps.test.ts'],
    why: 'A schema is saved that no payload can be checked against.',
  },
  {
    file: 'functions/api/publisher.ts',
    find: '  charge?.(Math.floor((steps.taken + steps.compiled) / stepsOfRequest))',
    replace: '  charge?.(0)',
    tests: ['functions/api/publisher.test.ts'],
    why: 'One organisation uses up the process that all share.',
  },
  {
    file: 'functions/api/publisher.ts',
    find: '        if (newest.version === catalogue?.version) throw refusal\n',
    replace: '',
    tests: ['functions/api/publisher.test.ts'],
    why: 'Each refused publish compiles all schemas of its organisation again.',
  },
  {
    file: 'functions/api/pattern/syntax.ts',
    find: `  if (rest.kind === 'choice') throw misplaced()`,
    replace: '',
    tests: ['functions/api/pattern.test.ts'],
    why: 'A condition at the start of one alternative decides about the others.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: 'if (bytes > limits.headerBytes) {',
    replace: 'if (bytes > limits.headerBytes * 8) {',
    tests: ['functions/api/limits.test.ts'],
    why: 'Headers of 128 kB are taken.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: `        checkJsonText(bytes, limits.depth, !isEvents)
`,
    replace: '',
    tests: ['functions/api/limits.test.ts'],
    why: 'A body that is nested a million times is parsed.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: String.raw`/^\/api\/v1\/events(?:\/batch)?$/`,
    replace: String.raw`/\/events(\/|$)/`,
    tests: ['functions/api/request_limits.test.ts'],
    why: 'A saga with the name events takes a context of 4 MiB, and numbers of any length.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: `        checkMediaType(raw.headers.get('content-type'))
`,
    replace: '',
    tests: ['functions/api/limits.test.ts'],
    why: 'A form of another site is taken for a call.',
  },
  {
    file: 'functions/_shared/http/read_bytes.ts',
    find: `if (length > max) return await giveUp({ kind: 'too_large' })
`,
    replace: '',
    tests: ['functions/api/limits.test.ts', 'functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'A body without a length fills the memory.',
  },
  {
    file: 'functions/api/middleware/rate_limit.ts',
    find: 'reservation.left <= 0 || reservation.until <= now()',
    replace: 'reservation.left <= 0',
    tests: ['functions/api/rate_limit.test.ts'],
    why: 'What an isolate took for an organisation is good for ever.',
  },
  {
    file: 'functions/api/middleware/rate_limit.ts',
    find: `    reservation.left--
`,
    replace: '',
    tests: ['functions/api/rate_limit.test.ts'],
    why: 'The rate limit never holds.',
  },
  {
    file: 'functions/api/middleware/rate_limit.ts',
    find: 'reservation.refusedUntil = granted === 0 ? now() + Math.max(retryAfterMs, 1) : 0',
    replace: 'reservation.refusedUntil = 0',
    tests: ['functions/api/rate_limit.test.ts'],
    why: 'An organisation over its limit makes the database answer each request.',
  },
  {
    file: 'functions/api/sql_error.ts',
    find: `OH008: 'version_mismatch',`,
    replace: '',
    tests: ['functions/api/problem.test.ts', 'e2e/api_endpoints.test.ts'],
    why: 'An editor with an old version is told of an internal error.',
  },
  {
    file: 'functions/_shared/http/bearer.ts',
    find: '.includes(true)',
    replace: '.every((one) => one)',
    tests: ['functions/metrics/app.test.ts', 'functions/ops_alerts/app.test.ts'],
    why: 'During a rotation of two tokens neither is taken.',
  },
  {
    file: 'functions/_shared/http/bearer.ts',
    find: `if (given === undefined) return false
`,
    replace: `if (given === undefined) return true
`,
    tests: ['functions/metrics/app.test.ts'],
    why: 'Metrics are shown to whoever sends no token.',
  },
  {
    file: 'functions/api/routes/route.ts',
    find: 'middleware: [requireScope(scope), messageRule, tokenRules],',
    replace: 'middleware: [requireScope(scope), tokenRules],',
    tests: ['functions/api/message_rule.test.ts'],
    why: 'A portal token of a customer page sends a failed message again.',
  },
  {
    file: 'functions/api/routes/replay_jobs.ts',
    find: `...maySendMessages(c.get('principal')) ? {} : { exceptType: messageType },`,
    replace: '',
    tests: ['functions/api/message_rule.test.ts'],
    why: 'A portal token of a customer page sends failed messages again by a replay job.',
  },
  {
    file: 'functions/api/routes/endpoint_actions.ts',
    find: `c.get('charge')?.(1)
`,
    replace: '',
    tests: ['functions/api/endpoint_test.test.ts'],
    why:
      'A test event that waits 20 s makes 200 calls to the database for the price of one request.',
  },
  {
    file: 'functions/api/app.ts',
    find: `  root.use(responseHeaders)
  const app = root.basePath('/api/v1')
`,
    replace: `  const app = root.basePath('/api/v1')
  app.use(responseHeaders)
`,
    tests: ['functions/unknown_caller.test.ts'],
    why:
      'The response for a path outside of /api/v1 may be cached, and a browser guesses its type.',
  },
  {
    file: 'functions/api/rows_read.ts',
    find: `c.get('charge')?.(Math.floor(rows / rowsOfRequest))`,
    replace: `c.get('charge')?.(Math.floor(rows / 1_000_000))`,
    tests: ['functions/api/rows_read.test.ts'],
    why: 'A list that reads 20,000 rows costs as much as one that reads none.',
  },
  {
    file: 'sql/api/endpoint_create.sql',
    find: `
        and not outbox.was_rotated(v_id)
`,
    replace: `
`,
    tests: ['sql/api/api_endpoints/changes.test.sql'],
    why: 'Whoever has repeated a creation gets the secret that replaced a leaked one.',
  },
]
