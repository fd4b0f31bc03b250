/** Endpoints through the API, as a backend manages them. */

import { expect } from '@std/expect'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'

let outhook: TestOuthook
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

Deno.test.beforeAll(async () => {
  outhook = await startOuthook()
  call = apiCaller(outhook)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

async function create(more: Record<string, unknown> = {}): Promise<ApiAnswer> {
  return await call('POST /endpoints', {
    body: { url: `${outhook.receiver.url}/hooks/api`, eventTypes: ['api.never'], ...more },
  })
}

Deno.test('POST /endpoints creates an endpoint that GET gives without its secret', async () => {
  const created = await create({ description: 'One', headers: { 'x-tenant': 'seven' } })
  expect(created).toMatchObject({
    status: 201,
    body: { description: 'One', headerNames: ['x-tenant'], state: 'enabled', version: 1 },
  })
  expect(created.body.secret).toMatch(/^whsec_/)
  expect(created.headers.get('etag')).toBe('"1"')
  const { secret: _, ...shown } = created.body
  const got = await call(`GET /endpoints/${created.body.id}`)
  expect(got).toMatchObject({ status: 200, body: shown })
  expect(JSON.stringify(got.body)).not.toContain('whsec_')
})

Deno.test('GET /endpoints gives each endpoint once, page by page, newest first', async () => {
  const headers = { 'x-org-id': 'org-pages' }
  const made: string[] = []
  for (let n = 0; n < 5; n++) {
    const { body } = await call('POST /endpoints', {
      headers,
      body: { url: `${outhook.receiver.url}/hooks/${n}` },
    })
    made.unshift(body.id)
  }
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await call(`GET /endpoints?limit=2${query}`, { headers })
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor
  }
  expect(seen).toEqual(made)
})

Deno.test('POST /endpoints names the member that is wrong, in camelCase', async () => {
  expect(await create({ timeoutMs: 1 })).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', field: 'timeoutMs' },
  })
  expect(await create({ timeout: 1 })).toMatchObject({
    status: 400,
    body: { field: 'timeout', detail: 'timeout is not a member of this request' },
  })
  expect(await create({ url: 'https://10.0.0.1/x' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', field: 'url' },
  })
  expect(await call('POST /endpoints', { body: '{' })).toMatchObject({
    status: 400,
    body: { detail: 'The body is not JSON' },
  })
})
