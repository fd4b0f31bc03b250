import { expect } from '@std/expect'
import { ApiError } from '../../../functions/api/errors.ts'
import { createPublisher } from '../../../functions/api/publisher.ts'
import { apiAlone } from '../../_support/api_alone.ts'

const endpoint = '01900000-0000-7000-8000-00000000000e'
const granted = 50

/** How many requests a request counts as: how many of `granted` the repeats of it use up. */
async function chargeOf(
  request: string,
  result: Record<string, unknown> | ApiError,
  body?: Record<string, unknown>,
): Promise<number> {
  const app = apiAlone({
    result: () => {
      if (result instanceof ApiError) throw result
      return result
    },
    grants: [granted],
    checked: false,
  })
  const [method = '', path = ''] = request.split(' ')
  let passed = 0
  for (; passed <= granted; passed++) {
    const response = await app.request(`/api/v1${path}`, {
      method,
      ...body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
    })
    if (response.status === 429) break
    expect([request, response.status < 300]).toEqual([request, !(result instanceof ApiError)])
    await response.body?.cancel()
  }
  return granted / passed
}

Deno.test('saving a filter counts one more request for each full 100 characters', async () => {
  const filterOf = (characters: number): string => `$.a == "${'x'.repeat(characters - 9)}"`
  const change = `PATCH /endpoints/${endpoint}`
  expect(await chargeOf(change, {}, { filter: filterOf(99) })).toBe(1)
  expect(await chargeOf(change, {}, { filter: filterOf(100) })).toBe(2)
  expect(await chargeOf(change, {}, { filter: filterOf(999) })).toBe(10)
  expect(await chargeOf('POST /endpoints', {}, { url: 'https://a.example', filter: filterOf(400) }))
    .toBe(5)
})

Deno.test('trying a filter counts its characters as saving it does, also if it is invalid', async () => {
  const trial = { tried: 0, matched: 0, failed: 0, isWhole: true, data: [], rows: 500, work: 0 }
  const filterOf = (characters: number): string => `$.a == "${'x'.repeat(characters - 9)}"`
  expect(await chargeOf('POST /filter-trials', trial, { filter: filterOf(99) })).toBe(2)
  expect(await chargeOf('POST /filter-trials', trial, { filter: filterOf(800) })).toBe(10)
  const refused = new ApiError('invalid_argument', 'The filter is not valid')
  expect(await chargeOf('POST /filter-trials', refused, { filter: filterOf(999) })).toBe(10)
})

Deno.test('the preview of a backfill counts the events that it reads, and its filter', async () => {
  const preview = `POST /endpoints/${endpoint}/backfills/preview`
  const found = { total: 0, capped: false, readUntil: null, until: '2026-03-01T12:00:00.000Z' }
  expect(await chargeOf(preview, { ...found, read: 499, work: 0 }, {})).toBe(1)
  expect(await chargeOf(preview, { ...found, read: 4500, work: 0 }, {})).toBe(10)
  expect(await chargeOf(preview, { ...found, read: 500, work: 150_000 }, {})).toBe(5)
  const filter = `$.a == "${'x'.repeat(791)}"`
  expect(await chargeOf(preview, { ...found, read: 500, work: 0 }, { filter })).toBe(10)
})

Deno.test('a backfill counts its filter as saving it does, also if it is invalid', async () => {
  const backfill = `POST /endpoints/${endpoint}/backfills`
  const filterOf = (characters: number): string => `$.a == "${'x'.repeat(characters - 9)}"`
  const refused = new ApiError('invalid_argument', 'The filter is not valid')
  expect(await chargeOf(backfill, refused, {})).toBe(1)
  expect(await chargeOf(backfill, refused, { filter: filterOf(99) })).toBe(1)
  expect(await chargeOf(backfill, refused, { filter: filterOf(900) })).toBe(10)
})

Deno.test('saving a schema counts one more request for each full 8,192 characters', async () => {
  const schemaOf = (characters: number): Record<string, unknown> => ({
    title: 'x'.repeat(characters - '{"title":""}'.length),
  })
  expect(await chargeOf('PUT /event-types/a.b', {}, { schema: schemaOf(8191) })).toBe(1)
  expect(await chargeOf('PUT /event-types/a.b', {}, { schema: schemaOf(8192) })).toBe(2)
  const many = { type: 'a.b', schema: schemaOf(4 * 8192) }
  expect(await chargeOf('POST /event-types', {}, many)).toBe(5)
})

Deno.test('a page of event types counts one more request for each full 65,536 characters of schemas', async () => {
  const pageOf = (count: number): Record<string, unknown> => ({
    data: Array.from({ length: count }, () => ({ schema: { title: 'x'.repeat(32_756) } })),
    nextCursor: null,
  })
  expect(await chargeOf('GET /event-types', pageOf(0))).toBe(1)
  expect(await chargeOf('GET /event-types', pageOf(1))).toBe(1)
  expect(await chargeOf('GET /event-types', pageOf(2))).toBe(2)
  expect(await chargeOf('GET /event-types', pageOf(8))).toBe(5)
})

Deno.test('statistics and counts are charged by the rows that they count', async () => {
  const stats = (total: number): Record<string, unknown> => ({
    attempts: { total },
    deadLetters: 0,
  })
  expect(await chargeOf(`GET /endpoints/${endpoint}/stats`, stats(499))).toBe(1)
  expect(await chargeOf(`GET /endpoints/${endpoint}/stats`, stats(4500))).toBe(10)
  const counts = (count: number): Record<string, unknown> => ({ QUEUED: count, SENT: count })
  expect(await chargeOf('GET /outbound/messages/counts', counts(4999))).toBe(1)
  expect(await chargeOf('GET /outbound/messages/counts', counts(5000))).toBe(2)
})

Deno.test('a new catalogue counts one request for each full 65,536 characters', async () => {
  const charged: number[] = []
  const schema = { title: 'x'.repeat(50_000) }
  const types = { 'a.b': schema, 'a.c': schema, 'a.d': schema, 'a.e': schema }
  const catalogue = { strict: true, version: '1', types }
  const publish = createPublisher({
    call: (_name, args, schema) =>
      Promise.resolve(
        schema.parse('p_catalogue' in args ? { ids: ['1'], duplicates: [] } : { catalogue }),
      ),
  })
  const event = { fields: {}, type: 'a.b', body: '{}', payload: {} }
  await publish('org-1', [event], null, undefined, (requests) => charged.push(requests))
  expect(charged.reduce((sum, one) => sum + one, 0)).toBe(3)
  await publish('org-1', [event], null, undefined, (requests) => charged.push(requests))
  expect(charged.reduce((sum, one) => sum + one, 0)).toBe(3)
})

Deno.test('the overview is charged by the attempts, endpoints, dead letters and events that it reads', async () => {
  const overview = (
    total: number,
    endpoints: number,
    deadLetters: number,
    capped = false,
    events = 0,
  ): Record<string, unknown> => ({
    attempts: { total, capped },
    endpoints: { total: endpoints },
    deadLetters,
    events: { total: events },
  })
  expect(await chargeOf('GET /overview', overview(400, 99, 9_999))).toBe(1)
  expect(await chargeOf('GET /overview', overview(400, 100, 0))).toBe(2)
  expect(await chargeOf('GET /overview', overview(0, 0, 10_000))).toBe(2)
  expect(await chargeOf('GET /overview', overview(3, 2000, 0, true))).toBe(25)
  expect(await chargeOf('GET /overview', overview(0, 0, 5_000, false, 5_000))).toBe(2)
})

Deno.test('a read that times out in the database counts as the most rows that a list may read, a write as one request', async () => {
  const failure = (code: string): ApiError =>
    new ApiError('unavailable', 'The database is busy', { cause: { code } })
  const trial = { filter: '$.a == 1' }
  expect(await chargeOf('POST /filter-trials', failure('57014'), trial)).toBe(25)
  expect(await chargeOf('GET /deliveries', failure('57014'))).toBe(25)
  expect(await chargeOf('HEAD /deliveries', failure('57014'))).toBe(25)
  expect(await chargeOf('POST /replay-jobs/preview', failure('57014'), {})).toBe(25)
  expect(await chargeOf('POST /sagas/place_order', failure('57014'), {})).toBe(25)
  expect(await chargeOf(`POST /endpoints/${endpoint}/pause`, failure('57014'))).toBe(1)
  expect(await chargeOf('GET /deliveries', failure('53300'))).toBe(1)
  expect(await chargeOf('POST /events', failure('57014'), { type: 'a.b', payload: {} })).toBe(1)
})
