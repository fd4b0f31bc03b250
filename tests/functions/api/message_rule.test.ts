import { expect } from '@std/expect'
import type { Scope } from '../../../functions/api/auth/scopes.ts'
import { customerPage } from '../../../functions/api/auth/scopes.ts'
import { apiAlone } from '../../_support/api_alone.ts'

const message = '01900000-0000-7000-8000-00000000000a'
const order = '01900000-0000-7000-8000-00000000000b'
const endpoint = 'aaaaaaaa-0000-4000-8000-000000000000'
const at = '2026-03-01T12:00:00.000Z'

const typeOf = (id: unknown): string => id === message ? 'outhook.message' : 'order.paid'
const event = (id: string): Record<string, unknown> => ({
  ...{ id, type: typeOf(id), partitionKey: null, correlationId: id, idempotencyKey: id },
  ...{ traceparent: null, endpointId: null, deliverAt: null, createdAt: at },
})
const delivery = (id: string): Record<string, unknown> => ({
  ...{ id: `${id}.${endpoint}`, eventId: id, endpointId: endpoint, eventType: typeOf(id) },
  ...{ status: 'delivered', reason: null, attempt: 1, failedAttempts: 0, nextAttemptAt: null },
  ...{ createdAt: at, finishedAt: at },
})
const letter = (id: string): Record<string, unknown> => ({
  ...{ id, eventId: id, endpointId: endpoint, eventType: typeOf(id), partitionKey: null },
  ...{ correlationId: id, idempotencyKey: id, eventCreatedAt: at, why: 'failed', error: 'e' },
  ...{ retryCount: 1, attempt: 1, failedAt: at, status: 'open', replayedAt: null },
  ...{ deliveredAt: null, discardedAt: null, note: null },
})
const pageOf = (item: (id: string) => unknown): unknown => ({
  data: [item(message), item(order)],
  nextCursor: null,
})
const job = {
  ...{ id: '1', status: 'running', endpointId: null, eventType: null, failedFrom: null },
  ...{ error: null, failedTo: at, ratePerSecond: 50, replayed: 0, skipped: 0, reachedAt: null },
  ...{ source: 'dead_letters' },
  ...{ createdAt: at, finishedAt: null },
}

type Args = Record<string, unknown>
const results: Record<string, (args: Args) => unknown> = {
  list_events: () => pageOf(event),
  list_deliveries: () => pageOf(delivery),
  list_dead_letters: () => pageOf(letter),
  get_event: ({ p_event_id: id }) => ({
    ...event(String(id)),
    ...{ body: '{}', routing: 'done', deliveries: [] },
  }),
  get_delivery: ({ p_event_id: id }) => delivery(String(id)),
  act_on_delivery: ({ p_event_id: id }) => delivery(String(id)),
  list_attempts: () => ({ data: [], nextCursor: null }),
  get_dead_letter: ({ p_id: id }) => ({ ...letter(String(id)), body: '{}' }),
  replay_dead_letter: ({ p_id: id }) => letter(String(id)),
  discard_org_dead_letter: ({ p_id: id }) => letter(String(id)),
  create_replay_job: () => job,
  preview_replay_job: () => ({
    ...{ total: 0, capped: false, oldestFailedAt: null, failedTo: at, sample: [], rows: 0 },
  }),
  change_replay_job: () => job,
  // By its id: a job for all types, one for messages, one that leaves them out, one for another type,
  // a backfill.
  get_replay_job: ({ p_id: id }) => ({
    ...job,
    ...{ eventType: { 2: 'outhook.message', 4: 'order.paid' }[Number(id)] ?? null },
    ...{ exceptType: id === '3' ? 'outhook.message' : null },
    ...{ source: id === '5' ? 'events' : 'dead_letters' },
  }),
}

/** Sends one request as a user with these scopes; returns the response and the calls of the database. */
async function send(
  request: string,
  scopes: readonly Scope[],
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown>; calls: [string, Args][] }> {
  const calls: [string, Args][] = []
  const app = apiAlone({
    result: (name, args) => {
      calls.push([name, args])
      return results[name]?.(args)
    },
    scopes,
  })
  const [method = '', path = ''] = request.split(' ')
  const response = await app.request(`/api/v1${path}`, {
    method,
    ...body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
  })
  return { status: response.status, body: await response.json(), calls }
}

const reader: Scope[] = [...customerPage, 'deliveries:cancel', 'messages:read']
const sender: Scope[] = [...customerPage, 'deliveries:cancel', 'messages:send']
const reads = (id: string): string[] => [
  `GET /events/${id}`,
  `GET /deliveries/${id}.${endpoint}`,
  `GET /deliveries/${id}.${endpoint}/attempts`,
  `GET /dead-letters/${id}`,
]
const changes = (id: string): [string, unknown?][] => [
  [`POST /deliveries/${id}.${endpoint}/retry`],
  [`POST /deliveries/${id}.${endpoint}/replay`],
  [`POST /deliveries/${id}.${endpoint}/cancel`],
  [`POST /dead-letters/${id}/replay`],
  [`POST /dead-letters/${id}/discard`, { reason: 'no longer needed' }],
]

for (const request of reads(message)) {
  Deno.test(`${request.replace(message, '{message}')} requires messages:read`, async () => {
    const refused = await send(request, sender)
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect(refused.body.detail).toBe('The token does not have the scope messages:read')
    expect((await send(request, reader)).status).toBe(200)
    expect((await send(request.replaceAll(message, order), sender)).status).toBe(200)
  })
}

for (const [request, body] of changes(message)) {
  Deno.test(`${request.replace(message, '{message}')} requires messages:send`, async () => {
    const refused = await send(request, reader, body)
    expect(refused.body.detail).toBe('The token does not have the scope messages:send')
    expect(refused.calls.map(([name]) => name).filter((name) => !/^(get|take)_/.test(name)))
      .toEqual([])
    expect((await send(request, sender, body)).status).toBe(200)
    expect((await send(request.replaceAll(message, order), reader, body)).status).toBe(200)
  })
}

for (const path of ['/events', '/deliveries', '/dead-letters']) {
  Deno.test(`GET ${path} leaves out messages without messages:read`, async () => {
    const typesOf = ({ body }: { body: Record<string, unknown> }): unknown[] =>
      (Array.isArray(body.data) ? body.data : []).map(({ type, eventType }) => type ?? eventType)
    const without = await send(`GET ${path}`, sender)
    expect([typesOf(without), without.body.nextCursor]).toEqual([['order.paid'], null])
    expect(typesOf(await send(`GET ${path}`, reader))).toEqual(['outhook.message', 'order.paid'])
  })
}

Deno.test('POST /replay-jobs leaves out messages without messages:send', async () => {
  const jobOf = async (scopes: readonly Scope[]): Promise<unknown> => {
    const { status, calls } = await send('POST /replay-jobs', scopes, {})
    expect(status).toBe(201)
    return calls.find(([name]) => name === 'create_replay_job')?.[1].p_job
  }
  expect(await jobOf(reader)).toEqual({ ratePerSecond: 50, exceptType: 'outhook.message' })
  expect(await jobOf(sender)).toEqual({ ratePerSecond: 50 })
})

Deno.test('the preview of a replay job leaves out what the job leaves out', async () => {
  const jobOf = async (scopes: readonly Scope[]): Promise<unknown> => {
    const { status, calls } = await send('POST /replay-jobs/preview', scopes, {})
    expect(status).toBe(200)
    return calls.find(([name]) => name === 'preview_replay_job')?.[1].p_job
  }
  expect(await jobOf(reader)).toEqual({ exceptType: 'outhook.message' })
  expect(await jobOf(sender)).toEqual({})
})

Deno.test('a replay job that may contain messages is resumed with messages:send only', async () => {
  const resume = async (id: number, scopes: readonly Scope[]): Promise<[number, boolean]> => {
    const { status, calls } = await send(`POST /replay-jobs/${id}/resume`, scopes)
    return [status, calls.some(([name]) => name === 'change_replay_job')]
  }
  expect(await resume(1, reader)).toEqual([403, false])
  expect(await resume(2, reader)).toEqual([403, false])
  expect(await resume(3, reader)).toEqual([200, true])
  expect(await resume(4, reader)).toEqual([200, true])
  expect(await resume(5, reader)).toEqual([200, true])
  expect(await resume(1, sender)).toEqual([200, true])
  expect((await send('POST /replay-jobs/1/pause', reader)).status).toBe(200)
})
