import { expect } from '@std/expect'
import { createApp } from '../../../functions/api/app.ts'
import { allScopes } from '../../../functions/api/auth/scopes.ts'

/** The statuses of `count` lists, of which each reads `rows` rows, with 50 granted requests in all. */
async function list(path: string, rows: number, count: number): Promise<number[]> {
  const granted = [50]
  const results: Record<string, unknown> = { data: [], nextCursor: null, rows }
  const app = createApp({
    database: {
      call: (name, _args, schema) =>
        Promise.resolve(schema.parse(
          name === 'take_requests'
            ? {
              granted: granted.shift() ?? 0,
              retryAfterMs: 1000,
              portal: { generation: 0, revoked: [] },
            }
            : results,
        )),
    },
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
    now: () => 0,
    sleep: () => Promise.resolve(),
    log: () => {},
  })
  const statuses: number[] = []
  for (let at = 0; at < count; at++) {
    const response = await app.request(`/api/v1${path}`)
    statuses.push(response.status)
    if (response.ok) expect(await response.json()).toEqual({ data: [], nextCursor: null })
  }
  return statuses
}

for (const path of ['/events', '/deliveries', '/dead-letters']) {
  Deno.test(`GET ${path} counts one further request for each 500 rows that it reads`, async () => {
    expect(await list(path, 499, 51)).toEqual([...Array(50).fill(200), 429])
    expect(await list(path, 500, 26)).toEqual([...Array(25).fill(200), 429])
    expect(await list(path, 20_000, 3)).toEqual([200, 200, 429])
  })
}
