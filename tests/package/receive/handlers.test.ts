/** The adapters of `outhook/receive`: what a server of each kind responds. */

import { expect } from '@std/expect'
import { Hono } from 'hono'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  createReceiver,
  type OnceStore,
  type Receiver,
  type ReceiverOptions,
  WebhookError,
  type WebhookEvent,
} from '../../../package/receive/mod.ts'
import { refusalReport } from '../../../package/receive/report.ts'
import { event, now, type Sample, secret, webhook } from './samples.ts'

type Options = Partial<ReceiverOptions<WebhookEvent, undefined>>

/** A receiver that notes what it handles. */
function noting(options: Options = {}): {
  receiver: Receiver<WebhookEvent>
  handled: string[]
  errors: unknown[]
} {
  const handled: string[] = []
  const errors: unknown[] = []
  const receiver = createReceiver({
    secrets: secret,
    handle: ({ id }) => void handled.push(id),
    onError: (error) => void errors.push(error),
    now: () => now * 1000,
    ...options,
  })
  return { receiver, handled, errors }
}

function request(sample: Sample = {}, init: RequestInit = {}): Request {
  const { headers, body } = webhook(sample)
  return new Request('http://127.0.0.1/hook', {
    method: 'POST',
    headers,
    body: body.toString(),
    ...init,
  })
}

/** Posts to a server of node:http with the receiver; `before` stands for a body parser. */
async function postToNode(
  receiver: Receiver<WebhookEvent>,
  sent: { headers?: Record<string, string>; body?: BodyInit; method?: string },
  before: (request: IncomingMessage & { body?: unknown }) => Promise<void> = async () => {},
): Promise<{ status: number; text: string }> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    before(request).then(() => receiver.node(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      ...sent,
      headers: { ...sent.headers, connection: 'close' },
    })
    return { status: response.status, text: await response.text() }
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

Deno.test('fetch() responds with 204 and passes the event on', async () => {
  const { receiver, handled } = noting()
  const response = await receiver.fetch(request())
  expect([response.status, await response.text()]).toEqual([204, ''])
  expect(handled).toEqual([event.id])
})

Deno.test('fetch() responds with 401 to a forged request and 400 to a signed one without an event', async () => {
  const { receiver, handled } = noting()
  const forged = await receiver.fetch(request({ signed: '{}' }))
  expect([forged.status, await forged.text()])
    .toEqual([401, expect.stringContaining('matches none of the secrets')])
  const empty = await receiver.fetch(request({ body: 'null' }))
  expect([empty.status, await empty.text()]).toEqual([400, 'The body is not an event'])
  expect(handled).toEqual([])
})

Deno.test('fetch() responds with 503 if a clock is wrong, so that Outhook retries', async () => {
  const { receiver, handled } = noting()
  for (const timestamp of [now - 301, now + 301]) {
    const response = await receiver.fetch(request({ timestamp }))
    expect([response.status, await response.text()])
      .toEqual([503, expect.stringContaining('check the clocks of both sides')])
  }
  // A stranger cannot cause it.
  expect((await receiver.fetch(request({ timestamp: now - 301, signed: '{}' }))).status).toBe(401)
  expect(handled).toEqual([])
})

Deno.test('a receiver tells onRefused why it refused a request', async () => {
  const codes: string[] = []
  const { receiver, errors } = noting({ onRefused: ({ code }) => void codes.push(code) })
  await receiver.fetch(request({ signed: '{}' }))
  await receiver.fetch(request({ body: 'null' }))
  await receiver.fetch(request())
  expect([codes, errors]).toEqual([['wrong_signature', 'invalid_body'], []])
})

Deno.test('a receiver without onRefused writes one line a minute', () => {
  let at = 0
  const report = refusalReport(() => at)
  const lines: unknown[][] = []
  const { error } = console
  Object.assign(console, { error: (...parts: unknown[]) => void lines.push(parts) })
  try {
    const refused = new WebhookError('wrong_signature', 'no secret')
    for (at of [0, 59_999, 60_000]) report(refused)
  } finally {
    Object.assign(console, { error })
  }
  const line = ['A webhook was refused: wrong_signature: no secret']
  expect(lines).toEqual([line, line])
})

Deno.test('an onError that throws changes no response', async () => {
  const failing = {
    handle: () => Promise.reject(new Error('no stock')),
    onError: () => {
      throw new Error('no log')
    },
    onRefused: () => {
      throw new Error('no log')
    },
  }
  const { receiver } = noting(failing)
  const { headers, body } = webhook()
  const { error } = console
  Object.assign(console, { error: () => {} })
  try {
    expect((await receiver.fetch(request())).status).toBe(500)
    expect((await receiver.fetch(request({ signed: '{}' }))).status).toBe(401)
    const { status } = await postToNode(receiver, { headers, body: body.toString() })
    expect(status).toBe(500)
  } finally {
    Object.assign(console, { error })
  }
})

Deno.test('a sender that hangs up in the body is no error of the receiver', async () => {
  const { receiver, handled, errors } = noting()
  const { headers } = webhook()
  async function* cut(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1)
    await Promise.resolve()
    throw new TypeError('terminated')
  }
  const body = ReadableStream.from(cut())
  const response = await receiver.fetch(
    new Request('http://127.0.0.1/', { method: 'POST', headers, body }),
  )
  expect([response.status, await response.text()]).toEqual([400, 'The body ended early'])
  const statuses: number[] = []
  await receiver.node({ method: 'POST', headers, [Symbol.asyncIterator]: cut }, {
    writeHead: (status) => void statuses.push(status),
    end: () => {},
  })
  expect([statuses, handled, errors]).toEqual([[400], [], []])
})

Deno.test('a receiver reads the secrets of a function at the first request', async () => {
  let secrets: string[] | undefined
  const { receiver, handled, errors } = noting({ secrets: () => secrets })
  expect((await receiver.fetch(request())).status).toBe(500)
  expect(errors).toEqual([new Error('There are no secrets: is the variable set?')])
  secrets = ['']
  expect((await receiver.fetch(request())).status).toBe(500)
  secrets = [secret]
  expect((await receiver.fetch(request())).status).toBe(204)
  expect(handled).toEqual([event.id])
})

Deno.test('fetch() responds with 405 to another method', async () => {
  const response = await noting().receiver.fetch(new Request('http://127.0.0.1/hook'))
  expect([response.status, response.headers.get('allow'), await response.text()])
    .toEqual([405, 'POST', 'A webhook is a POST request'])
})

Deno.test('fetch() responds with 413 to a body beyond the limit, not to one at it', async () => {
  const { length } = webhook().body
  const exact = await noting({ mostBytes: length }).receiver.fetch(request())
  expect(exact.status).toBe(204)
  const beyond = await noting({ mostBytes: length - 1 }).receiver.fetch(request())
  expect([beyond.status, await beyond.text()])
    .toEqual([413, `The body has more than ${length - 1} bytes`])
})

Deno.test('fetch() responds with 500 to work that fails, and gives the error to onError', async () => {
  const failure = new Error('no stock')
  const { receiver, errors } = noting({ handle: () => Promise.reject(failure) })
  const response = await receiver.fetch(request())
  expect([response.status, await response.text()])
    .toEqual([500, 'The event was not processed: see the log of the receiver'])
  expect(errors).toEqual([failure])
})

Deno.test('fetch() names the remedy if the body was read before', async () => {
  const { receiver, errors } = noting()
  const read = request()
  await read.text()
  const response = await receiver.fetch(read)
  expect(response.status).toBe(500)
  expect(await response.text()).toMatch(/^The body was read before the receiver got the request\./)
  expect(errors).toHaveLength(1)
})

Deno.test('fetch() names the remedy if somebody else reads the body', async () => {
  const { receiver, errors } = noting()
  const locked = request()
  const reader = locked.body?.getReader()
  const response = await receiver.fetch(locked)
  expect([response.status, errors.length]).toEqual([500, 1])
  await reader?.cancel()
})

Deno.test('a route of Hono passes its request on', async () => {
  const { receiver, handled } = noting()
  const app = new Hono().post('/hook', (c) => receiver.fetch(c.req.raw))
  expect((await app.fetch(request())).status).toBe(204)
  expect(handled).toEqual([event.id])
})

Deno.test('node() responds with 204 and passes the event on', async () => {
  const { receiver, handled } = noting()
  const { headers, body } = webhook()
  expect(await postToNode(receiver, { headers, body: body.toString() }))
    .toEqual({ status: 204, text: '' })
  expect(handled).toEqual([event.id])
})

Deno.test('node() takes the bytes that express.raw() leaves', async () => {
  const { receiver, handled } = noting()
  const { headers, body } = webhook()
  const raw = async (request: IncomingMessage & { body?: unknown }): Promise<void> => {
    for await (const _ of request);
    request.body = body
  }
  expect((await postToNode(receiver, { headers, body: body.toString() }, raw)).status).toBe(204)
  expect(handled).toEqual([event.id])
})

Deno.test('node() names the remedy if express.json() parsed the body', async () => {
  const { receiver, handled, errors } = noting()
  const { headers, body } = webhook()
  const json = async (request: IncomingMessage & { body?: unknown }): Promise<void> => {
    for await (const _ of request);
    request.body = JSON.parse(body.toString())
  }
  const { status, text } = await postToNode(receiver, { headers, body: body.toString() }, json)
  expect(status).toBe(500)
  expect(text).toMatch(/^The body was parsed before .* add the receiver before express\.json\(\)/)
  expect(handled).toEqual([])
  expect(errors).toHaveLength(1)
})

Deno.test('node() names the remedy if the body was read and not kept', async () => {
  const { receiver } = noting()
  const { headers, body } = webhook()
  const read = async (request: IncomingMessage): Promise<void> => {
    for await (const _ of request);
  }
  const { status, text } = await postToNode(receiver, { headers, body: body.toString() }, read)
  expect([status, text]).toEqual([500, expect.stringContaining('bodyParser: false')])
})

Deno.test('node() responds with 405 and 413 like fetch()', async () => {
  const { receiver } = noting({ mostBytes: 100 })
  expect((await postToNode(receiver, { method: 'PUT', body: '{}' })).status).toBe(405)
  const { headers } = webhook()
  const sent = { headers, body: 'x'.repeat(1_000) }
  expect(await postToNode(receiver, sent))
    .toEqual({ status: 413, text: 'The body has more than 100 bytes' })
})

/** A store that forgets an id if the work fails, as a transaction does. */
function memoryStore(): { store: OnceStore<string>; ids: Set<string> } {
  const ids = new Set<string>()
  async function once(id: string, work: (context: string) => Promise<void>): Promise<boolean> {
    if (ids.has(id)) return false
    await work('transaction')
    ids.add(id)
    return true
  }
  return { store: { once }, ids }
}

Deno.test('a receiver with a store handles an event once, in the context of the store', async () => {
  const { store, ids } = memoryStore()
  const handled: [string, string][] = []
  let isBroken = true
  const receiver = createReceiver({
    secrets: secret,
    store,
    handle(event: WebhookEvent, context): void {
      if (isBroken) throw new Error('no stock')
      handled.push([event.id, context])
    },
    onError: () => {},
    now: () => now * 1000,
  })
  expect((await receiver.fetch(request())).status).toBe(500)
  expect([...ids]).toEqual([])
  isBroken = false
  expect((await receiver.fetch(request())).status).toBe(204)
  expect((await receiver.fetch(request())).status).toBe(204)
  expect(handled).toEqual([[event.id, 'transaction']])
})

Deno.test('a receiver with X-Signature deduplicates by the id in the body', async () => {
  const { store, ids } = memoryStore()
  const handle = (): void => {}
  const options = { secrets: secret, store, handle, now: () => now * 1000 }
  const receiver = createReceiver({ ...options, signature: 'simple' })
  for (const id of ['one', 'two']) {
    expect((await receiver.fetch(request({ headers: { 'webhook-id': id } }))).status).toBe(204)
  }
  expect([...ids]).toEqual([event.id])
})
