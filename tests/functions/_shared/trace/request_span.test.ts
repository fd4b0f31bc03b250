import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import { systemClock } from '../../../../functions/_shared/base/clock.ts'
import type { CallbackDatabase } from '../../../../functions/_shared/messages/callbacks/database.ts'
import { loadTracer } from '../../../../functions/_shared/trace/load.ts'
import type { Tracer } from '../../../../functions/_shared/trace/tracer.ts'
import { createApp as createMetrics } from '../../../../functions/metrics/app.ts'
import { createApp as createWhatsapp } from '../../../../functions/whatsapp/app.ts'
import { type ReceivedSpan, startCollector } from '../../collector.ts'
import { someAnswer } from '../../metrics/_answer.ts'

const callers = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${callers.traceId}-${callers.spanId}-01`
const token = 't'.repeat(32)
const key = 'a1b2c3d4e5f60718'

/** The spans that come of what `use` does with a tracer. */
async function spansOf(use: (tracer: Tracer) => Promise<void>): Promise<ReceivedSpan[]> {
  const collector = startCollector()
  try {
    const tracer = await loadTracer({
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      clock: systemClock,
      log: () => {},
      keepAlive: () => {},
    })
    if (tracer === null) throw new Error('no tracer')
    await use(tracer)
    await tracer.flush()
    return collector.spans
  } finally {
    await collector.stop()
  }
}

Deno.test('the function metrics continues the trace of who scrapes it, but not of a stranger', async () => {
  let isBroken = false
  const spans = await spansOf(async (tracer) => {
    const app = createMetrics({
      tokens: [token],
      readMetrics: () =>
        isBroken ? Promise.reject(new Error('no database')) : Promise.resolve(someAnswer()),
      log: () => {},
      tracer,
    })
    const headers = { authorization: `Bearer ${token}`, traceparent }
    await app.request('/metrics', { headers })
    isBroken = true
    await app.request('/metrics', { headers })
    await app.request('/metrics', { headers: { traceparent } })
  })
  const base = { name: 'GET /metrics', kind: 2 }
  expect(spans).toMatchObject([
    { ...base, traceId: callers.traceId, parentSpanId: callers.spanId, error: undefined },
    { ...base, traceId: callers.traceId, error: '503', attributes: { 'error.type': '503' } },
    { ...base, parentSpanId: undefined, attributes: { 'http.response.status_code': 401 } },
  ])
  expect(spans[2]?.traceId).not.toBe(callers.traceId)
})

Deno.test('the function whatsapp starts its own trace, with its database calls', async () => {
  const contexts: (string | null)[] = []
  const database: CallbackDatabase = {
    findApp: () =>
      Promise.resolve({ ok: true, app: { id: '7', secrets: ['s'], allowUnsigned: false } }),
    store: () =>
      Promise.resolve({
        ok: true,
        counts: { stored: 1, duplicates: 0, applied: 1, skipped: 0, kept: 0 },
        warnings: 0,
      }),
  }
  const body = '{"entry":[1]}'
  const digest = createHmac('sha256', 's').update(body).digest('hex')
  const spans = await spansOf(async (tracer) => {
    const app = createWhatsapp({
      database,
      databaseWithin: (trace) => {
        contexts.push(trace.traceparent ?? null)
        return database
      },
      verifySecrets: ['v'.repeat(32)],
      bodyMs: 60_000,
      now: () => 0,
      log: () => {},
      tracer,
    })
    const headers = { 'x-hub-signature-256': `sha256=${digest}`, traceparent }
    const answer = await app.request(`/whatsapp/inbound/${key}`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    await answer.body?.cancel()
  })
  expect(spans).toMatchObject([{
    name: 'POST /whatsapp/inbound/:appKey',
    parentSpanId: undefined,
    attributes: { 'http.route': '/whatsapp/inbound/:appKey', 'http.response.status_code': 200 },
  }])
  const [span] = spans
  expect(span?.traceId).not.toBe(callers.traceId)
  expect(contexts).toEqual([`00-${span?.traceId}-${span?.spanId}-01`])
  expect(JSON.stringify(span?.attributes)).not.toContain(key)
})
