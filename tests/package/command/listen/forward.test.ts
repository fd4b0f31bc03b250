import { expect } from '@std/expect'
import {
  forward,
  type Forwarded,
  type ForwardOptions,
} from '../../../../package/command/listen/forward.ts'
import { notePayloads } from '../../../../package/command/listen/payloads.ts'
import { jsonReport, textReport } from '../../../../package/command/listen/report.ts'
import { isSelected, isTypePattern, onlyType } from '../../../../package/command/listen/types.ts'
import { createClient } from '../../../../package/client/mod.ts'
import { createReceiver } from '../../../../package/receive/mod.ts'

const secret = `whsec_${btoa('x'.repeat(32))}`
const id = '019a9c6e-8f3c-7d1a-9b1e-0c5f6a7b8c9d'
const event = {
  id,
  type: 'order.paid',
  partitionKey: null,
  correlationId: null,
  idempotencyKey: 'key-1',
  traceparent: null,
  endpointId: null,
  deliverAt: null,
  createdAt: '2026-01-31T12:00:00.000Z',
  routing: 'done' as const,
  body: '{"total": 1.10, "big": 12345678901234567890}',
}

type Answer = (request: Request) => Response | Promise<Response>

/** Sends the event to a server of this test. */
async function sendTo(answer: Answer, more: Partial<ForwardOptions> = {}): Promise<Forwarded> {
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, answer)
  const url = `http://127.0.0.1:${server.addr.port}/hook`
  const options = { url, secret, payload: 'envelope', timeoutMs: 60_000, now: Date.now } as const
  try {
    return await forward(event, { ...options, ...more })
  } finally {
    await server.shutdown()
  }
}

Deno.test('forward() sends what a receiver verifies, byte for byte as it was published', async () => {
  for (const signature of ['standard', 'simple'] as const) {
    let raw = ''
    const seen: unknown[] = []
    const receiver = createReceiver({
      secrets: [secret],
      signature,
      handle: (one) => void seen.push([one.id, one.eventType, one.idempotencyKey, one.attempt]),
    })
    const sent = await sendTo(async (request) => {
      raw = await request.clone().text()
      return await receiver.fetch(request)
    })
    expect(sent).toMatchObject({ kind: 'response', status: 204 })
    expect(seen).toEqual([[id, 'order.paid', 'key-1', 1]])
    expect(raw).toContain('"data":{"total": 1.10, "big": 12345678901234567890}}')
  }
})

Deno.test('forward() sends the payload alone to a receiver that wants it so', async () => {
  let raw = ''
  await sendTo(async (request) => {
    raw = await request.text()
    return new Response()
  }, { payload: 'data' })
  expect(raw).toBe(event.body)
})

Deno.test('forward() tells a refusal, a silence and a broken response apart', async () => {
  expect(await sendTo(() => new Response('no', { status: 409 })))
    .toMatchObject({ kind: 'response', status: 409, body: 'no' })
  // It follows no redirect, as Outhook follows none.
  expect(await sendTo(() => Response.redirect('http://127.0.0.1:1/', 307)))
    .toMatchObject({ kind: 'response', status: 307 })
  const silence = Promise.withResolvers<Response>()
  const late = await sendTo((request) => {
    request.signal.addEventListener('abort', () => silence.resolve(new Response()))
    return silence.promise
  }, { timeoutMs: 1_000 })
  expect(late).toMatchObject({ kind: 'failed', error: 'no response within 1 s' })
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  // SAFETY: a listener for TCP.
  const { port } = listener.addr as Deno.NetAddr
  const options = { secret, payload: 'envelope', timeoutMs: 60_000, now: Date.now } as const
  const broken = forward(event, { ...options, url: `http://127.0.0.1:${port}/` })
  const connection = await listener.accept()
  await connection.read(new Uint8Array(1))
  connection.close()
  expect(await broken).toMatchObject({ kind: 'failed' })
  listener.close()
})

Deno.test('forward() reads only the start of an endless response', async () => {
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(97)),
  })
  const sent = await sendTo(() => new Response(endless))
  expect(sent.kind === 'response' && sent.body.length).toBe(65_536)
})

Deno.test('notePayloads() reads a payload as it was published', async () => {
  const payloads = notePayloads(() => {
    const { body, ...rest } = event
    const text = `${JSON.stringify({ ...rest, deliveries: [] }).slice(0, -1)},"payload":${body}}`
    return Promise.resolve(
      new Response(text, { headers: { 'content-type': 'application/json' } }),
    )
  })
  const client = createClient({ url: 'http://127.0.0.1', key: 'k', fetch: payloads.fetch })
  expect(await payloads.read(client, id)).toEqual(event)
  // The API accepts an id in capitals.
  expect(await payloads.read(client, id.toUpperCase())).toEqual(event)
})

Deno.test('notePayloads() refuses a response without a payload instead of sending another', async () => {
  const { body: _, ...rest } = event
  const payloads = notePayloads(() => Promise.resolve(Response.json({ ...rest, deliveries: [] })))
  const client = createClient({ url: 'http://127.0.0.1', key: 'k', fetch: payloads.fetch })
  await expect(payloads.read(client, id)).rejects.toThrow(/without the payload/)
})

Deno.test('forward() has not sent the event if no connection was opened', async () => {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  // SAFETY: a listener for TCP.
  const { port } = listener.addr as Deno.NetAddr
  listener.close()
  const options = { secret, payload: 'envelope', timeoutMs: 60_000, now: Date.now } as const
  expect(await forward(event, { ...options, url: `http://127.0.0.1:${port}/` }))
    .toEqual({ kind: 'unreachable', error: 'ECONNREFUSED' })
})

Deno.test('forward() adds no header that Outhook does not send', async () => {
  const names: string[] = []
  await sendTo((request) => {
    names.push(...request.headers.keys())
    return new Response()
  })
  expect(names.filter((name) => /^(accept|sec-)/.test(name) && name !== 'accept-encoding'))
    .toEqual([])
})

Deno.test('a pattern selects the types that a subscription selects', () => {
  const rows: [patterns: string[], type: string, expected: boolean][] = [
    [[], 'a.b', true],
    [['*'], 'a.b', true],
    [['a.*'], 'a.b.c', true],
    [['a.*'], 'a', false],
    [['a.*'], 'ab.c', false],
    [['a.b'], 'a.b.c', false],
    [['x', 'a.b'], 'a.b', true],
  ]
  for (const [patterns, type, expected] of rows) {
    expect([patterns, type, isSelected(type, patterns)]).toEqual([patterns, type, expected])
  }
  expect(['*', 'a.*', 'a-b.c_1', 'a.**', '*.a', 'a..b', '', 'a b'].map(isTypePattern))
    .toEqual([true, true, true, false, false, false, false, false])
  expect([onlyType([]), onlyType(['a.b']), onlyType(['a.*']), onlyType(['a', 'b'])])
    .toEqual([null, 'a.b', null, null])
})

Deno.test('a report shows a hostile payload and response on one line, without control characters', () => {
  const lines: string[] = []
  const terminal = {
    isInteractive: false,
    print: (text: string) => void lines.push(text),
    printError: (text: string) => void lines.push(text),
  }
  const body = '"a\u009b2J\u2028\u001b[31m"'
  const answered = {
    kind: 'response',
    status: 500,
    durationMs: 3,
    body: `\u001b]0;x\u0007\r\nb${'x'.repeat(999)}`,
  } as const
  textReport(terminal).event({ ...event, body }, answered)
  expect(lines[0]).toBe(`${event.createdAt} order.paid ${id} "a 2J [31m"`)
  expect(lines[1]?.startsWith('  500 in 3 ms: ]0;x bxxx')).toBe(true)
  expect(lines[1]?.length).toBeLessThan(340)
  // deno-lint-ignore no-control-regex
  expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/)
  lines.length = 0
  jsonReport(terminal).event({ ...event, body: '{"a":\n1}' }, answered)
  expect(JSON.parse(lines.join('\n'))).toMatchObject({
    kind: 'event',
    event: { id, payload: { a: 1 } },
    forwarded: { status: 500 },
  })
})

Deno.test('a report says once that something does not respond, and that it responds again', () => {
  const lines: string[] = []
  const print = (text: string): void => void lines.push(text)
  const report = textReport({ isInteractive: false, print, printError: print })
  report.down('receiver', 'ECONNREFUSED')
  report.down('receiver', 'ECONNREFUSED')
  report.up('receiver')
  report.up('receiver')
  expect(lines).toEqual([
    'The receiver does not respond (ECONNREFUSED). Trying again',
    'The receiver responds again',
  ])
})
