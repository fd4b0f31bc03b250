import { expect } from '@std/expect'
import { apiAlone } from '../../_support/api_alone.ts'

const id = 'aaaaaaaa-0000-4000-8000-000000000000'

Deno.test('POST /endpoints/{id}/test counts each check for the outcome as a request', async () => {
  let now = 0
  let checks = 0
  const results: Record<string, () => unknown> = {
    test_org_endpoint: () => ({ eventId: id }),
    get_org_test: () => {
      checks++
      return {
        ...{ eventId: id, outcome: 'pending', status: null, errorClass: null, error: null },
        ...{ durationMs: null, response: null, attempt: null, nextRetryAt: null },
      }
    },
  }
  const app = apiAlone({
    result: (name) => results[name]?.(),
    grants: [50, 50, 0],
    deps: {
      now: () => now,
      sleep: (ms) => {
        now += ms
        return Promise.resolve()
      },
    },
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
