import { expect } from '@std/expect'
import { createApp } from '../../../functions/api/app.ts'
import { allScopes } from '../../../functions/api/auth/scopes.ts'

const id = 'aaaaaaaa-0000-4000-8000-000000000000'

Deno.test('POST /endpoints/{id}/test counts each check for the outcome as a request', async () => {
  let now = 0
  let checks = 0
  const granted = [50, 50, 0]
  const results: Record<string, () => unknown> = {
    take_requests: () => ({
      granted: granted.shift() ?? 0,
      retryAfterMs: 1000,
      portal: { generation: 0, revoked: [] },
    }),
    test_org_endpoint: () => ({ eventId: id }),
    get_org_test: () => {
      checks++
      return {
        ...{ eventId: id, outcome: 'pending', status: null, errorClass: null, error: null },
        ...{ durationMs: null, response: null, attempt: null, nextRetryAt: null },
      }
    },
  }
  const app = createApp({
    database: { call: (name, _args, schema) => Promise.resolve(schema.parse(results[name]?.())) },
    callbacks: {
      findApp: () => Promise.reject(new Error('unused')),
      store: () => Promise.reject(new Error('unused')),
    },
    authenticate: () =>
      Promise.resolve({
        ...{ orgId: 'org-1', scopes: new Set(allScopes), actor: 'key:default' },
        ...{ kind: 'key', portal: null },
      }),
    portalSecrets: [],
    verifySecrets: [],
    checkChannel: () => Promise.resolve([]),
    corsOrigins: [],
    wallNow: Date.now,
    now: () => now,
    sleep: (ms) => {
      now += ms
      return Promise.resolve()
    },
    log: () => {},
  })
  const test = async (): Promise<number> => {
    const path = `/api/v1/endpoints/${id}/test?waitSeconds=20`
    return (await app.request(path, { method: 'POST' })).status
  }
  expect(await test()).toBe(200)
  expect(checks).toBe(201)
  // 1 + 200 requests of the 50 that were granted: the next 50 do not pay the rest.
  expect(await test()).toBe(429)
})
