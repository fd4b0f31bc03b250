import { expect } from '@std/expect'
import { type Finding } from '../../../package/command/check/finding.ts'
import { judgeAccess } from '../../../package/command/check/judge_access.ts'
import { judgeClocks } from '../../../package/command/check/judge_clock.ts'
import { judgeDatabase } from '../../../package/command/check/judge_database.ts'
import { judgeKicks, judgeTest } from '../../../package/command/check/judge_delivery.ts'
import { judgeFiles } from '../../../package/command/check/judge_files.ts'
import { judgeFunctions } from '../../../package/command/check/judge_functions.ts'
import { showReport, withoutSecrets } from '../../../package/command/check/report.ts'
import type { Project } from '../../../package/command/init/plan.ts'
import { problemOf } from '../../../package/command/remote/data_api.ts'
import type { Facts, KickResponses } from '../../../package/command/remote/facts.ts'
import { functionAddresses, type FunctionState } from '../../../package/command/remote/functions.ts'

const jobs = ['cleanup', 'drop-partitions', 'partitions', 'tick', 'vacuum'].map((name) => ({
  name: `outhook-${name}`,
  active: true,
  status: 'succeeded',
  started_at: '2026-01-01T00:00:00.000Z',
  message: '1 row',
}))

const healthy: Facts = {
  at: '2026-01-01T00:00:00.000Z',
  postgres: '17.2',
  version: '1.0.0',
  modules: ['core', 'api'],
  contracts: { oldest: 1, newest: 2 },
  configured: {
    functions_url: 'https://shop.test/functions/v1/outhook-deliver',
    stored: 2,
    readable: 2,
  },
  jobs,
  last_tick_at: '2026-01-01T00:00:00.000Z',
  responses: [],
  runs: {},
  queue: { open: 3, dead_letters: 0 },
  problems: [],
  test: null,
}

/** The findings that are not ok, as `status id: finding`. */
function faults(findings: readonly Finding[]): string[] {
  return findings.filter(({ status }) => status !== 'ok')
    .map(({ status, id, finding }) => `${status} ${id}: ${finding}`)
}

Deno.test('judgeDatabase() finds nothing in a healthy database', () => {
  const findings = judgeDatabase(healthy, '1.0.0')
  expect(faults(findings)).toEqual([])
  expect(findings.map(({ id }) => id)).toEqual(['schema', 'configured', 'cron', 'queue'])
})

const broken: [what: string, facts: Partial<Facts>, faults: string[]][] = [
  ['another version', { version: '0.9.0' }, [
    'error schema: The database has Outhook 0.9.0, and this command is of version 1.0.0',
  ]],
  ['no configuration', { configured: { functions_url: null, stored: 0, readable: 0 } }, [
    'error configured: The database does not know the URL of the function and the worker secret',
  ]],
  ['an unreadable secret', { configured: { functions_url: null, stored: 2, readable: 1 } }, [
    'error configured: Vault cannot decrypt the URL or the secret of the function',
  ]],
  ['no pg_cron', { jobs: null }, ['error cron: pg_cron is not installed in this database']],
  ['a missing job', { jobs: jobs.slice(1) }, ['error cron: pg_cron has no job outhook-cleanup']],
  ['a job that is switched off', {
    jobs: jobs.map((job) => ({ ...job, active: job.name !== 'outhook-tick' })),
  }, ['error cron: The job outhook-tick is switched off']],
  ['a job that failed', {
    jobs: jobs.map((job) => job.name === 'outhook-vacuum' ? { ...job, status: 'failed' } : job),
  }, ['warning cron: The last run of the job outhook-vacuum failed: 1 row']],
  ['a problem of the queue', { problems: ['the tick does not run: why (runbook: No tick)'] }, [
    'error queue-problem: The tick does not run: why',
  ]],
  ['a limit that is near', { warnings: ['95 of 97 connections are open (runbook: Connections)'] }, [
    'warning queue-problem: 95 of 97 connections are open',
  ]],
  ['an upgrade that is not finished', { problems: ['an upgrade to 1.1.0 is not finished: why'] }, [
    'error queue-problem: An upgrade to 1.1.0 is not finished: why',
  ]],
  ['dead letters', { queue: { dead_letters: 2 } }, [
    'warning queue: Dead letters that nobody replayed or discarded: 2',
  ]],
  ['events that are set aside', { queue: { unroutable: 1 } }, [
    'error queue: Events that cannot be routed: 1',
  ]],
]
for (const [what, facts, expected] of broken) {
  Deno.test(`judgeDatabase() finds ${what}, with a remedy`, () => {
    const findings = judgeDatabase({ ...healthy, ...facts }, '1.0.0')
    expect(faults(findings)).toEqual(expected)
    const [first] = findings.filter(({ status }) => status !== 'ok')
    expect(first?.remedy).toMatch(/\S/)
    expect(first?.page).toMatch(/^(docs|sql\/ops)\/[\w-]+\.md/)
  })
}

Deno.test('judgeDatabase() accepts a new installation whose jobs did not run yet', () => {
  const findings = judgeDatabase({ ...healthy, last_tick_at: null }, '1.0.0')
  expect(faults(findings)).toEqual([])
  expect(findings.find(({ id }) => id === 'cron')?.finding)
    .toBe('The 5 jobs of pg_cron are active; there was no tick yet')
})

Deno.test('judgeDatabase() accepts a worker without a function', () => {
  const configured = { functions_url: null, stored: 0, readable: 0 }
  expect(faults(judgeDatabase({ ...healthy, configured, runs: { worker: 1 } }, '1.0.0'))).toEqual(
    [],
  )
})

Deno.test('judgeAccess() tells the problems of the Data API apart', () => {
  const rows: [status: number, body: unknown, id: string, says: RegExp][] = [
    [406, { code: 'PGRST106', message: 'x' }, 'schema-exposed', /is not exposed/],
    [503, { code: 'PGRST002', message: 'x' }, 'schema-exposed', /cannot read its schemas/],
    [404, { code: 'PGRST202', message: 'x' }, 'schema', /not installed, or older/],
    [401, { message: 'Invalid API key' }, 'key', /refused: Invalid API key/],
    [403, { code: '42501', message: 'permission denied' }, 'key', /permission denied/],
    [404, undefined, 'data-api', /has no Data API/],
    [200, undefined, 'data-api', /has no Data API/],
    [500, { code: 'XX000', message: 'broken' }, 'database', /status 500, XX000, broken/],
  ]
  for (const [status, body, id, says] of rows) {
    const found = judgeAccess(problemOf(status, body)).filter((one) => one.status === 'error')
    expect(found.map((one) => one.id)).toEqual([id])
    expect(found[0]?.finding).toMatch(says)
  }
  expect(faults(judgeAccess(null))).toEqual([])
})

const deliver: FunctionState = {
  name: 'deliver',
  url: 'https://shop.test/functions/v1/outhook-deliver/deliver',
  status: 200,
  version: '1.0.0',
  contracts: { oldest: 1, newest: 2 },
  aheadMs: 0,
  problem: null,
}

Deno.test('judgeFunctions() finds a function that is missing, closed, old or of somebody else', () => {
  const rows: [state: Partial<FunctionState>, finding: string][] = [
    [{}, 'The function outhook-deliver is deployed with version 1.0.0'],
    [
      { status: null, version: null, problem: 'refused' },
      'The function outhook-deliver does not respond: refused',
    ],
    [{ status: 404, version: null }, 'There is no function outhook-deliver'],
    [
      { status: 401, version: null },
      'The gateway refuses requests to the function outhook-deliver (401)',
    ],
    [{ version: null }, 'The function outhook-deliver responded 200: not as Outhook does'],
    [{ version: '0.9.0' }, 'The function outhook-deliver is of Outhook 0.9.0, not of 1.0.0'],
    [
      { contracts: { oldest: 3, newest: 4 } },
      'The function outhook-deliver and the database have no common contract',
    ],
  ]
  for (const [state, finding] of rows) {
    const [found] = judgeFunctions([{ ...deliver, ...state }], '1.0.0', healthy)
    expect(found?.finding).toBe(finding)
    expect(found?.remedy === undefined).toBe(Object.keys(state).length === 0)
  }
})

Deno.test('functionAddresses() asks deliver where the database calls it', () => {
  const own = [{ folder: 'events-deliver', name: 'deliver', version: '1.0.0' }, {
    folder: 'events-api',
    name: 'api',
    version: '1.0.0',
  }, { folder: 'events-ops-alerts', name: 'ops-alerts', version: '1.0.0' }]
  const urls = (functionsUrl: string | null): string[] =>
    functionAddresses({ url: 'https://shop.test' }, functionsUrl, own).map(({ url }) => url)
  expect(urls(null)).toEqual([
    'https://shop.test/functions/v1/events-deliver',
    'https://shop.test/functions/v1/events-api',
  ])
  expect(urls('http://kong:8000/functions/v1/other')[0])
    .toBe('https://shop.test/functions/v1/other/deliver')
  expect(functionAddresses({ url: 'https://shop.test' }, null, [])[0]?.url)
    .toBe('https://shop.test/functions/v1/deliver')
})

function response(more: Partial<KickResponses>): KickResponses {
  return {
    status: 202,
    code: null,
    error: null,
    responses: 1,
    last_at: '2026-01-01T00:00:05.000Z',
    ...more,
  }
}

Deno.test('judgeKicks() judges the newest response since the test began', () => {
  const since = '2026-01-01T00:00:01.000Z'
  const old = response({ last_at: '2026-01-01T00:00:00.000Z' })
  const rows: [responses: KickResponses[] | null, delivered: boolean, finding: string][] = [
    [[response({})], true, 'ok'],
    [[response({}), response({ status: 401, code: 'invalid_kick' })], true, 'ok'],
    [[response({ status: 401, code: 'invalid_kick' }), old], false, 'error'],
    [[response({ status: 503, code: 'not_configured' })], false, 'error'],
    [[response({ status: 409, code: 'foreign_kick' })], false, 'error'],
    [[response({ status: 503, code: 'contract_mismatch' })], false, 'error'],
    [[response({ status: 404, code: null })], false, 'warning'],
    [[response({ status: null, error: 'timed out' })], false, 'warning'],
    [[old], false, 'skipped'],
    [[old], true, 'ok'],
    [null, false, 'error'],
  ]
  for (const [responses, delivered, status] of rows) {
    const finding = judgeKicks({ ...healthy, responses }, since, delivered)
    expect([responses, finding.status]).toEqual([responses, status])
  }
  const configured = { functions_url: null, stored: 0, readable: 0 }
  const { finding } = judgeKicks(
    { ...healthy, responses: [response({ region: 'eu-central-1' })] },
    since,
    true,
  )
  expect(finding).toMatch(/\. It ran in eu-central-1$/)
  expect(judgeKicks({ configured, responses: [] }, null, false).status).toBe('skipped')
})

Deno.test('judgeTest() says how long the event took, or why it did not arrive', () => {
  const sent = (at: string, outcome: string, status: number | null): Finding =>
    judgeTest({
      step: 'sent',
      timeoutMs: 30_000,
      event: {
        published_at: '2026-01-01T00:00:00.000Z',
        attempts: [{ at, outcome, status, error: null, duration_ms: 4 }],
      },
    }, '')
  expect(sent('2026-01-01T00:00:00.120Z', 'delivered', 204).finding)
    .toBe('A test event was delivered 120 ms after it was published')
  expect(sent('2026-01-01T00:00:05.000Z', 'delivered', 204).status).toBe('ok')
  expect(sent('2026-01-01T00:00:05.001Z', 'delivered', 204).status).toBe('warning')
  expect(sent('2026-01-01T00:00:00.120Z', 'failed', 404).finding)
    .toBe('The test event was not delivered: failed (404)')
  expect(judgeTest({ step: 'sent', timeoutMs: 30_000, event: null }, '').finding)
    .toBe('The test event was not sent within 30 s')
  const problem = problemOf(400, { code: 'OH001', message: 'url is not allowed' })
  expect(judgeTest({ step: 'refused', problem }, '').finding)
    .toBe('No test event was sent: url is not allowed (OH001)')
  expect(judgeTest(null, 'why')).toEqual({ id: 'test-event', status: 'skipped', finding: 'why' })
})

Deno.test('judgeClocks() warns after 30 s, and reports an error after 240 s', () => {
  const rows: [databaseMs: number, functionMs: number | null, status: string][] = [
    [0, null, 'ok'],
    [30_000, null, 'ok'],
    [-30_001, null, 'warning'],
    [40_000, 40_000, 'warning'],
    [0, 30_001, 'warning'],
    [0, 240_000, 'warning'],
    [100_000, -140_001, 'error'],
  ]
  for (const [databaseMs, functionMs, status] of rows) {
    expect([databaseMs, functionMs, judgeClocks({ databaseMs, functionMs }).status])
      .toEqual([databaseMs, functionMs, status])
  }
})

Deno.test('judgeFiles() finds files of another version, twice, or changed', () => {
  const assets = {
    version: '1.0.0',
    migrations: [
      { module: 'core', needs: [], text: 'create schema outbox;\n' },
      { module: 'jobs', needs: [], text: 'reload\n' },
    ],
  }
  const own = [{ folder: 'outhook-deliver', name: 'deliver', version: '1.0.0' }]
  const core = '20260101000000_outhook_core_1.0.0.sql'
  const reload = '20260101000001_outhook_jobs_after_core_1.0.0.sql'
  function judge(migrations: string[], more: Partial<Project> = {}, text?: string): string[] {
    const project: Project = {
      config: '',
      migrations,
      functions: [],
      own,
      env: null,
      ignore: null,
      isInGit: true,
      isEnvIgnored: true,
      ...more,
    }
    const read = (file: string): string =>
      text ?? (file.includes('jobs') ? 'reload\r\n' : 'create schema outbox;\n')
    return faults(judgeFiles(assets, project, read))
  }
  expect(judge([core, reload])).toEqual([])
  expect(judge([core, reload, '20270101000000_outhook_core_1.0.0.sql'])).toEqual([
    'error files: The module core has two migrations: ' +
    'supabase/migrations/20270101000000_outhook_core_1.0.0.sql is the second',
  ])
  expect(judge([core.replace('1.0.0', '0.9.0')])).toEqual([
    'error files: supabase/migrations/20260101000000_outhook_core_0.9.0.sql is of Outhook 0.9.0, ' +
    'and this command is of 1.0.0',
  ])
  expect(judge([core], {}, 'drop schema public;\n')).toEqual([
    `warning files: supabase/migrations/${core} was changed, so another database would get ` +
    'another schema',
  ])
  expect(judge([core], { own: [] }))
    .toEqual(['warning files: The project has no folder of the function deliver'])
  expect(judge([], { own: [] }))
    .toEqual(['skipped files: This folder has no project with Outhook: its files were not checked'])
})

Deno.test('withoutSecrets() removes the key and everything that looks like a secret', () => {
  const text = 'k-e-y sb_secret_abc whsec_AbC+/= eyJhbGciOi.eyJy.sig_1 ' +
    `postgres://postgres:pw@db:5432/x ${'0'.repeat(64)} sbp_1`
  expect(withoutSecrets(text, 'k-e-y'))
    .toBe('… sb_secret_… whsec_… eyJ… postgres://…@db:5432/x … sbp_…')
  expect(withoutSecrets('nothing', '')).toBe('nothing')
})

Deno.test('showReport() prints the remedy and the page below a finding', () => {
  const findings = judgeDatabase({ ...healthy, jobs: null }, '1.0.0')
  const text = showReport({
    command: '1.0.0',
    project: 'https://shop.test',
    checkedAt: '',
    findings,
  })
  expect(text.split('\n').slice(3)).toEqual([
    'ERROR   cron: pg_cron is not installed in this database',
    '        Enable pg_cron under Database, Extensions, and push the migrations again',
    '        See sql/ops/RUNBOOK.md#no-tick',
    'ok      queue: Open deliveries: 3. None is stuck',
    'Errors: 1, warnings: 0',
  ])
})
