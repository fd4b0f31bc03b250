import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import { contractRange, type ContractRefusal } from '../../../functions/_shared/contract/range.ts'
import { createApp } from '../../../functions/deliver/app.ts'

const now = Date.UTC(2026, 0, 1)

type Call = { status: number; body: unknown; type: string | null; runs: number; kept: number }

async function call(
  path: string,
  init: RequestInit,
  { secrets = ['secret'], refusal = null }: {
    secrets?: string[]
    refusal?: ContractRefusal | null
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
    const refusal = { update, message: 'They do not fit' }
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
