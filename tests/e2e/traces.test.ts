/** One trace from the caller through publishing and every attempt to the receiver. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { type Collector, type ReceivedSpan, startCollector } from '../functions/collector.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'

let outhook: TestOuthook
let collector: Collector
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

Deno.test.beforeAll(async () => {
  collector = startCollector()
  outhook = await startOuthook({
    only: ['deliver', 'api'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OUTHOOK_DEBUG: '1' },
  })
  call = apiCaller(outhook)
  await outhook.createEndpoint('/fail/1/secret-path', {
    p_event_types: ['traced.*'],
    p_retry: { strategy: 'fixed', base_delay: 1, jitter: false },
    p_headers: { 'x-key': 'secret-header' },
  })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  await collector?.stop()
})

const callers = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${callers.traceId}-${callers.spanId}-01`

/** The spans of a trace by time, once there are so many. */
async function spansOf(traceId: string, count: number): Promise<ReceivedSpan[]> {
  const come = (): ReceivedSpan[] =>
    collector.spans.filter((span) => span.traceId === traceId)
      .sort((a, b) => a.startNano < b.startNano ? -1 : 1)
  await waitUntil(() => come().length >= count, { timeoutMs: patienceMs })
  return come()
}

/** What the receiver got with each try. */
async function contextsOf(eventId: string, count: number): Promise<(string | undefined)[]> {
  const requests = await outhook.requestsOf(eventId, count)
  return requests.map(({ headers }) => headers.traceparent)
}

Deno.test('a request to the API, its publishing and each attempt are one trace', async () => {
  const { status, body } = await call('POST /events', {
    headers: { traceparent },
    body: { type: 'traced.api', payload: { secret: 'secret-body' } },
  })
  expect(status).toBe(202)
  const contexts = await contextsOf(body.id, 2)
  const [request, publish, first, second, ...more] = await spansOf(callers.traceId, 4)
  expect(more).toEqual([])
  expect(request).toMatchObject({
    name: 'POST /api/v1/events',
    kind: 2,
    parentSpanId: callers.spanId,
    attributes: { 'http.response.status_code': 202, 'http.route': '/api/v1/events' },
  })
  expect(publish).toMatchObject({
    name: 'publish traced.api',
    kind: 4,
    parentSpanId: request?.spanId,
    attributes: { 'messaging.message.id': body.id, 'messaging.operation.name': 'publish' },
  })
  expect(first).toMatchObject({
    name: 'send traced.api',
    parentSpanId: publish?.spanId,
    error: '503',
    attributes: {
      'outhook.outcome': 'failed',
      'outhook.retry.delay_ms': 1000,
      'http.response.status_code': 503,
      'outhook.attempt': 1,
    },
  })
  expect(second).toMatchObject({
    parentSpanId: publish?.spanId,
    error: undefined,
    attributes: { 'outhook.outcome': 'delivered', 'http.request.resend_count': 1 },
  })
  expect(second?.attributes['outhook.delay_ms']).toBeGreaterThanOrEqual(1000)
  // The receiver continues the attempt that reached it.
  expect(contexts).toEqual(
    [first, second].map((span) => `00-${callers.traceId}-${span?.spanId}-01`),
  )
})

Deno.test('a transaction in SQL names its trace by a setting, and an RPC by its header', async () => {
  const other = traceparent.replace(/^00-4bf9/, '00-5bf9')
  const id = await outhook.sql.begin(async (sql) => {
    await sql`select set_config('outhook.traceparent', ${other}, true)`
    const [row] = await sql`select outbox.publish('traced.sql', '{}') as id`
    return row?.id
  })
  const [first] = await spansOf(other.slice(3, 35), 1)
  expect(first).toMatchObject({ name: 'send traced.sql', parentSpanId: callers.spanId })
  expect((await contextsOf(id, 1))[0]).toBe(`00-${first?.traceId}-${first?.spanId}-01`)

  const third = traceparent.replace(/^00-4bf9/, '00-6bf9')
  const request = outhook.client.rpc('publish', { p_type: 'traced.rpc', p_payload: {} })
  const { error } = await request.setHeader('traceparent', third)
  expect(error).toBeNull()
  const spans = await spansOf(third.slice(3, 35), 2)
  expect(spans.map(({ name }) => name)).toEqual(['send traced.rpc', 'send traced.rpc'])
})

Deno.test('an event without a trace has its own id for one, whoever delivers it', async () => {
  await outhook.sql`select outbox.set_setting('worker.max_runs', '1')`
  const worker = startWorker(outhook.stack.dbUrl, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'worker',
  })
  const id = await outhook.publish('traced.alone')
  await outhook.requestsOf(id, 2)
  await outhook.attemptsOf(id)
  worker.kill('SIGTERM')
  expect(await worker.ended).toBe(0)
  const spans = await spansOf(id.replaceAll('-', ''), 2)
  expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    ['send traced.alone', undefined],
    ['send traced.alone', undefined],
  ])
})

Deno.test('a trace that is not recorded goes on as it came', async () => {
  const unsampled = traceparent.replace(/01$/, '00').replace(/^00-4bf9/, '00-7bf9')
  const { body } = await call('POST /events', {
    headers: { traceparent: unsampled },
    body: { type: 'traced.silent', payload: {} },
  })
  expect(await contextsOf(body.id, 2)).toEqual([unsampled, unsampled])
  expect(await spansOf(unsampled.slice(3, 35), 0)).toEqual([])
})

Deno.test('neither spans nor lines have a body, a path, a header or a key', () => {
  const told = [...collector.text, ...outhook.log].join('\n')
  expect(told).toContain('traced.api')
  expect(told).not.toMatch(/secret-(body|path|header)|whsec_|sb_secret_/)
})
