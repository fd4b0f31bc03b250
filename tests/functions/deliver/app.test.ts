import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import { contractRange } from '../../../functions/_shared/contract/range.ts'
import { type AppDeps, createApp } from '../../../functions/deliver/app.ts'
import { databaseOfKick } from '../../../functions/deliver/kick.ts'
import {
  contractRefused,
  projectRefused,
  type RunRefusal,
} from '../../../functions/deliver/refusal.ts'

const now = Date.UTC(2026, 0, 1)

type Call = { status: number; body: unknown; type: string | null; runs: number; kept: number }

async function call(
  path: string,
  init: RequestInit,
  { secrets = ['secret'], refusal = null }: {
    secrets?: string[]
    refusal?: RunRefusal | null
  } = {},
): Promise<Call> {
  let runs = 0
  const kept: Promise<void>[] = []
  const app = createApp({
    kickSecrets: secrets,
    startRun: () => {
      runs++
      return { first: Promise.resolve(refusal), end: Promise.resolve() }
    },
    waitUntil: (promise) => void kept.push(promise),
    wallNow: () => now,
  })
  const response = await app.request(path, init)
  const type = response.headers.get('content-type')
  return { status: response.status, body: await response.json(), type, runs, kept: kept.length }
}

function kicked(secret: string, time = now / 1000): RequestInit {
  const v1 = createHmac('sha256', secret).update(String(time)).digest('hex')
  return { method: 'POST', headers: { 'x-outhook-kick': `t=${time},v1=${v1}` } }
}

Deno.test('POST /deliver/run starts a run and responds 202', async () => {
  expect(await call('/deliver/run', kicked('secret')))
    .toMatchObject({ status: 202, body: {}, runs: 1, kept: 1 })
  expect(await call('/deliver/run', kicked('old'), { secrets: ['new', 'old'] })).toMatchObject({
    status: 202,
  })
})

Deno.test('POST /deliver/run responds 401 to a wrong, missing or old kick and starts nothing', async () => {
  const refused = [kicked('other'), { method: 'POST' }, kicked('secret', now / 1000 - 301)]
  for (const init of refused) {
    expect(await call('/deliver/run', init)).toMatchObject({
      status: 401,
      type: 'application/problem+json',
      body: { code: 'invalid_kick', status: 401 },
      runs: 0,
    })
  }
})

Deno.test('POST /deliver/run responds 503 while no secret is configured', async () => {
  expect(await call('/deliver/run', kicked(''), { secrets: [] })).toMatchObject({
    status: 503,
    body: { code: 'not_configured' },
    runs: 0,
  })
})

Deno.test('POST /deliver/run responds 503 with the side to update when the run was refused', async () => {
  for (const update of ['functions', 'database'] as const) {
    const refusal = contractRefused({ update, message: 'They do not fit' })
    expect(await call('/deliver/run', kicked('secret'), { refusal })).toMatchObject({
      status: 503,
      type: 'application/problem+json',
      body: {
        code: 'contract_mismatch',
        title: `Update the ${update}`,
        detail: 'They do not fit',
      },
      runs: 1,
      kept: 1,
    })
  }
})

Deno.test('GET /deliver/health responds 200 with the contracts, and an unknown path 404', async () => {
  expect(await call('/deliver/health', {})).toMatchObject({
    status: 200,
    body: { status: 'ok', contracts: contractRange },
  })
  expect(await call('/deliver/nothing', {})).toMatchObject({
    status: 404,
    type: 'application/problem+json',
    body: { code: 'not_found' },
  })
})

/** The function with runs that get the refusals of `refusals`, one after the other. */
function refusing(refusals: (RunRefusal | null)[], kicks: (string | null)[] = []): AppDeps {
  return {
    kickSecrets: ['secret'],
    startRun: (kick) => {
      kicks.push(kick)
      return { first: Promise.resolve(refusals.shift() ?? null), end: Promise.resolve() }
    },
    waitUntil: () => {},
    wallNow: () => now,
  }
}

const database = '0123456789abcdef0123456789abcdef'

function kickedBy(from: string): RequestInit {
  const { headers, ...init } = kicked('secret')
  return { ...init, headers: { ...headers, 'x-outhook-database': from } }
}

Deno.test('POST /deliver/run responds with the reason if the run gets nothing because of its project', async () => {
  const rows = [
    ['another_project', 503, 'The database belongs to another project'],
    ['no_project', 503, 'The run names no project'],
    ['foreign_kick', 409, 'The kick comes from another database'],
    ['deciding', 503, 'The project of the database is being decided'],
  ] as const
  for (const [stop, status, title] of rows) {
    const refusal = projectRefused({ stop, problem: 'Why' })
    const app = createApp(refusing([refusal]))
    const response = await app.request('/deliver/run', kickedBy(database))
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({
      type: 'about:blank',
      status,
      code: stop,
      title,
      detail: 'Why',
      database,
    })
  }
  for (const stop of [null, 'too_many_runs', 'disabled', 'toString']) {
    expect(projectRefused({ stop, problem: 'the tick does not run' })).toBe(null)
  }
})

Deno.test('POST /deliver/run passes the database of the kick to the run, unless it is malformed', async () => {
  const kicks: (string | null)[] = []
  const app = createApp(refusing([], kicks))
  for (const init of [kickedBy(database), kickedBy('<script>'), kicked('secret')]) {
    expect((await app.request('/deliver/run', init)).status).toBe(202)
  }
  expect(kicks).toEqual([database, null, null])
  expect(databaseOfKick(database.toUpperCase())).toBe(null)
})

Deno.test('GET /deliver/health responds with the last refusal of a run, but not with that of a copy', async () => {
  const app = createApp(refusing([
    projectRefused({ stop: 'foreign_kick', problem: 'Why' }),
    projectRefused({ stop: 'another_project', problem: 'Why' }),
    projectRefused({ stop: 'foreign_kick', problem: 'Why' }),
    null,
  ]))
  const statuses: string[] = []
  for (let n = 0; n < 4; n++) {
    await app.request('/deliver/run', kickedBy(database))
    statuses.push((await (await app.request('/deliver/health')).json()).status)
  }
  expect(statuses).toEqual(['ok', 'another_project', 'another_project', 'ok'])
})

Deno.test('POST /deliver/test accepts a test event without a kick, and starts no run', async () => {
  const app = createApp(refusing([]))
  const response = await app.request('/deliver/test', { method: 'POST', body: '{"test": true}' })
  expect([response.status, await response.text()]).toEqual([204, ''])
  expect((await app.request('/deliver/test')).status).toBe(405)
})
