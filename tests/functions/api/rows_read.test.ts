import { expect } from '@std/expect'
import { apiAlone } from '../../_support/api_alone.ts'

/** The statuses of `count` lists, of which each reads `rows` rows, with 50 granted requests in all. */
async function list(path: string, rows: number, count: number): Promise<number[]> {
  const results = { data: [], nextCursor: null, rows }
  const app = apiAlone({ result: () => results, grants: [50] })
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
