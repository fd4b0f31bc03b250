/** The client against a server that responds as it is told. */

import { expect } from '@std/expect'
import {
  ApiError,
  type ClientOptions,
  ConnectionError,
  createClient,
  etagOf,
  type OuthookError,
} from '../../../package/client/mod.ts'

interface Seen {
  method: string
  path: string
  headers: Headers
  body: string
}

type Reply = (seen: Seen) => Response | Promise<Response>

/** A client of a server that gives one reply after the other, and what the server has seen. */
function withReplies(
  replies: Reply[],
  options: Partial<ClientOptions> = {},
): { outhook: ReturnType<typeof createClient>; seen: Seen[] } {
  const seen: Seen[] = []
  async function reply(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const one = {
      method: request.method,
      path: pathname + search,
      headers: request.headers,
      body: await request.text(),
    }
    seen.push(one)
    const next = replies[seen.length - 1]
    if (next === undefined) throw new TypeError('There is no further reply')
    const response = await next(one)
    request.signal.throwIfAborted()
    return response
  }
  const outhook = createClient({
    url: 'https://abc.supabase.co/',
    key: 'sb_secret_x',
    fetch: reply,
    ...options,
  })
  return { outhook, seen }
}

const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Reply => () =>
  new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })

const problem = {
  type: 'about:blank',
  title: 'Invalid argument',
  status: 400,
  code: 'invalid_argument',
  detail: 'limit is 101, and at most 100',
  field: 'limit',
  remedy: 'Use 100 or less',
  requestId: 'r-1',
}

async function caught(work: Promise<unknown>): Promise<OuthookError> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('It did not fail')
}

Deno.test('a call has the path, the key, the organisation and the body of its operation', async () => {
  const { outhook, seen } = withReplies([json({ id: 'e1', duplicate: false }, 202)], {
    orgId: 'org-1',
  })
  const body = { type: 'order.paid', payload: { id: 1 } }
  expect(await outhook.publishEvent({ body })).toEqual({ id: 'e1', duplicate: false })
  const [request] = seen
  expect([request?.method, request?.path]).toEqual(['POST', '/functions/v1/api/v1/events'])
  expect(JSON.parse(request?.body ?? '')).toEqual(body)
  expect(request?.headers.get('apikey')).toBe('sb_secret_x')
  expect(request?.headers.get('x-org-id')).toBe('org-1')
  expect(request?.headers.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/)
})

Deno.test('a call escapes its path and sends its query', async () => {
  const { outhook, seen } = withReplies([json({}), json({ data: [], nextCursor: null })])
  await outhook.getEventType({ path: { type: 'order/paid?' } })
  await outhook.listDeliveries({ query: { status: 'retrying', limit: 5 }, orgId: 'org-2' })
  expect(seen.map(({ path }) => path)).toEqual([
    '/functions/v1/api/v1/event-types/order%2Fpaid%3F',
    '/functions/v1/api/v1/deliveries?status=retrying&limit=5',
  ])
  expect(seen[1]?.headers.get('x-org-id')).toBe('org-2')
  // A read accepts no key.
  expect(seen[0]?.headers.get('idempotency-key')).toBe(null)
})

Deno.test('a call names the function by its name in the project', async () => {
  const { outhook, seen } = withReplies([json({})], { functionName: 'outhook-api' })
  await outhook.getEventType({ path: { type: '/api/' } })
  expect(seen[0]?.path).toBe('/functions/v1/outhook-api/v1/event-types/%2Fapi%2F')
})

Deno.test('a token is sent as a bearer token, asked for anew at each attempt', async () => {
  const busy = json({}, 503, { 'retry-after': '0' })
  const replies = [busy, json({ status: 'ok' })]
  const seen: (string | null)[] = []
  let n = 0
  const outhook = createClient({
    url: 'https://abc.supabase.co',
    token: () => Promise.resolve(`t${++n}`),
    fetch(request): Promise<Response> {
      seen.push(request.headers.get('authorization'))
      const one = { method: '', path: '', headers: request.headers, body: '' }
      return Promise.resolve(replies[seen.length - 1]?.(one) ?? new Response())
    },
  })
  await outhook.getHealth()
  expect(seen).toEqual(['Bearer t1', 'Bearer t2'])
})

Deno.test('a repeat has the idempotency key of the first attempt', async () => {
  const busy = json({}, 503, { 'retry-after': '0' })
  const { outhook, seen } = withReplies([busy, busy, json({ id: 'e1', duplicate: true }, 202)])
  await outhook.publishEvent({ body: { type: 'order.paid', payload: {} } })
  const keys = seen.map(({ headers }) => headers.get('idempotency-key'))
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  const own = withReplies([json({ id: 'e2', duplicate: false }, 202)])
  await own.outhook.publishEvent({
    body: { type: 'order.paid', payload: {} },
    idempotencyKey: 'order-1-paid',
  })
  expect(own.seen[0]?.headers.get('idempotency-key')).toBe('order-1-paid')
})

Deno.test('what may not be done twice is sent once', async () => {
  const { outhook, seen } = withReplies([json({}, 503), json({})])
  const error = await caught(outhook.deleteEndpoint({ path: { endpointId: 'x' } }))
  expect(error).toBeInstanceOf(ApiError)
  expect(seen).toHaveLength(1)
})

Deno.test('a problem detail becomes an ApiError with its members', async () => {
  const { outhook } = withReplies([json(problem, 400)])
  const error = await caught(outhook.listEvents({ query: { limit: 101 } }))
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({
    name: 'ApiError',
    message: 'limit is 101, and at most 100: Use 100 or less',
    status: 400,
    code: 'invalid_argument',
    field: 'limit',
    remedy: 'Use 100 or less',
    requestId: 'r-1',
    retryAfterMs: null,
    problem,
  })
})

Deno.test('a response that is no problem detail becomes an ApiError of an unknown kind', async () => {
  const { outhook } = withReplies([() => new Response('<html>', { status: 404 })])
  expect(await caught(outhook.getHealth()))
    .toMatchObject({
      status: 404,
      code: 'unknown',
      message: 'The API responded with 404: check url and functionName',
    })
})

Deno.test('a rate limit that asks to wait too long is not waited for, and says how long', async () => {
  const { outhook, seen } = withReplies([
    json({ ...problem, status: 429, code: 'rate_limited' }, 429, { 'retry-after': '3600' }),
  ])
  expect(await caught(outhook.getHealth()))
    .toMatchObject({ code: 'rate_limited', retryAfterMs: 3_600_000 })
  expect(seen).toHaveLength(1)
})

Deno.test('an attempt without a response ends after its time limit', async () => {
  const stuck = createClient({
    url: 'https://abc.supabase.co',
    key: 'k',
    retries: 0,
    timeoutMs: 20,
    fetch: (request) =>
      new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason))
      }),
  })
  const error = await caught(stuck.getHealth())
  expect(error).toBeInstanceOf(ConnectionError)
  expect(error).toMatchObject({
    kind: 'timeout',
    message: 'The API did not respond within 20 ms',
  })
})

Deno.test('a connection that fails and a response that is not JSON are ConnectionErrors', async () => {
  const { outhook } = withReplies([], { retries: 0 })
  expect(await caught(outhook.getHealth())).toMatchObject({ kind: 'network' })
  const page = withReplies([() => new Response('<html>')], { retries: 0 })
  expect(await caught(page.outhook.getHealth())).toMatchObject({ kind: 'response' })
})

Deno.test('a mistake of the caller is thrown as it is, and nothing is sent', async () => {
  const { outhook, seen } = withReplies([])
  const body = { type: 'order.paid', payload: { id: 10n } }
  // SAFETY: what JavaScript passes.
  const withoutPath = {} as { path: { endpointId: string } }
  const mistakes: [call: Promise<unknown>, says: RegExp][] = [
    [outhook.publishEvent({ body }), /BigInt/],
    [outhook.getHealth({ orgId: '東京' }), /header|ByteString/i],
    [
      outhook.publishEvent({ body: { type: 'a.b', payload: {} }, idempotencyKey: 'a\nb' }),
      /header/i,
    ],
    [outhook.getEndpoint(withoutPath), /path\.endpointId is undefined/],
    [outhook.getEndpoint({ path: { endpointId: '' } }), /path\.endpointId is ""/],
    [outhook.deleteEndpoint({ path: { endpointId: '..' } }), /path\.endpointId is "\.\."/],
  ]
  for (const [call, says] of mistakes) {
    const error = await caught(call)
    expect([error.message, error instanceof ConnectionError])
      .toEqual([expect.stringMatching(says), false])
  }
  expect(seen).toEqual([])
})

Deno.test('a header beyond ASCII that HTTP can carry is sent', async () => {
  const { outhook, seen } = withReplies([json({ status: 'ok' })])
  await outhook.getHealth({ orgId: 'Zürich' })
  expect(seen[0]?.headers.get('x-org-id')).toBe('Zürich')
})

Deno.test('the signal of a call ends it, also while it waits to repeat', async () => {
  const busy = json({}, 503, { 'retry-after': '20' })
  const { outhook, seen } = withReplies([busy, json({})])
  const stop = new AbortController()
  const reason = new Error('the page is closed')
  // The wait is the only one that listens for the rest of the 20 s.
  const waits = new Promise<void>((resolve) => {
    const add = stop.signal.addEventListener.bind(stop.signal)
    stop.signal.addEventListener = (...args: Parameters<typeof add>): void => {
      add(...args)
      if (seen.length === 1) resolve()
    }
  })
  const call = outhook.getHealth({ signal: stop.signal })
  await waits
  stop.abort(reason)
  expect(await caught(call)).toBe(reason)
  expect(seen).toHaveLength(1)
})

Deno.test('each yields the items of all pages, reads a page only when needed, and repeats the query', async () => {
  const { outhook, seen } = withReplies([
    json({ data: [{ id: 'a' }, { id: 'b' }], nextCursor: 'c1' }),
    json({ data: [], nextCursor: 'c2' }),
    json({ data: [{ id: 'c' }], nextCursor: null }),
  ])
  const ids: string[] = []
  for await (const { id } of outhook.each.listEvents({ query: { type: 'order.paid' } })) {
    if (id === 'b') expect(seen).toHaveLength(1)
    ids.push(id)
  }
  expect(ids).toEqual(['a', 'b', 'c'])
  expect(seen.map(({ path }) => path.split('?')[1])).toEqual([
    'type=order.paid',
    'type=order.paid&cursor=c1',
    'type=order.paid&cursor=c2',
  ])
})

Deno.test('each stops reading when the loop ends', async () => {
  const { outhook, seen } = withReplies([
    json({ data: [{ id: 'a' }], nextCursor: 'c1' }),
    json({ data: [{ id: 'b' }], nextCursor: null }),
  ])
  for await (const _ of outhook.each.listEvents()) break
  expect(seen).toHaveLength(1)
})

Deno.test('etagOf() has the ETag of an object, which a change sends as If-Match', async () => {
  const { outhook, seen } = withReplies([
    json({ id: 'x' }, 200, { etag: '"3"' }),
    json({ id: 'x' }),
  ])
  const endpoint = await outhook.getEndpoint({ path: { endpointId: 'x' } })
  const ifMatch = etagOf(endpoint) ?? ''
  const changed = await outhook.updateEndpoint({
    path: { endpointId: 'x' },
    body: { description: 'new' },
    ifMatch,
  })
  expect([ifMatch, seen[1]?.headers.get('if-match'), etagOf(changed)]).toEqual(['"3"', '"3"', null])
})

Deno.test('createClient() refuses a URL that is none', () => {
  expect(() => createClient({ url: 'abc', key: 'k' })).toThrow()
})
