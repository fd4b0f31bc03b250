import { expect } from '@std/expect'
import { systemClock } from '../../../functions/_shared/base/clock.ts'
import type { Outcome } from '../../../functions/_shared/contract/contract.ts'
import { loadTracer } from '../../../functions/_shared/trace/load.ts'
import { type AttemptSpans, createAttemptSpans } from '../../../functions/deliver/attempt_spans.ts'
import { type Collector, startCollector } from '../collector.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent } from '../samples.ts'
import { failure } from './harness.ts'

async function spansOf(collector: Collector): Promise<AttemptSpans> {
  const tracer = await loadTracer({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    clock: systemClock,
    log: () => {},
    keepAlive: () => {},
  })
  if (tracer === null) throw new Error('no tracer')
  return createAttemptSpans(tracer, systemClock)
}

const delivered: Outcome = { outcome: 'delivered', status: 204 }
const delivery = sampleDelivery({ attempt: 3, failed_attempts: 2 })
const endpoint = sampleEndpoint({ url: 'https://hooks.example.com:8443/T00/secret?key=sesame' })

Deno.test('an attempt is a span with the names of the semantic conventions, and no secret', async () => {
  const collector = startCollector()
  const spans = await spansOf(collector)
  spans.begin(delivery, endpoint, sampleEvent())?.end(delivered)
  await spans.flush()
  expect(collector.spans).toMatchObject([{
    // The event's own id, where its publisher gave no context.
    traceId: delivery.event.replaceAll('-', ''),
    parentSpanId: undefined,
    name: 'send order.paid',
    kind: 3,
    error: undefined,
  }])
  expect(collector.spans[0]?.attributes).toEqual({
    'messaging.system': 'outhook',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': 'order.paid',
    'messaging.message.id': delivery.event,
    'messaging.message.conversation_id': 'cart-7',
    'http.request.method': 'POST',
    'http.request.resend_count': 2,
    'http.response.status_code': 204,
    'url.scheme': 'https',
    'server.address': 'hooks.example.com',
    'server.port': 8443,
    'outhook.endpoint.id': delivery.endpoint,
    'outhook.endpoint.kind': 'webhook',
    'outhook.attempt': 3,
    'outhook.failed_attempts': 2,
    'outhook.outcome': 'delivered',
    // The event of the samples was published in August 2025.
    'outhook.delay_ms': expect.any(Number),
  })
  expect(collector.spans[0]?.attributes['outhook.delay_ms']).toBeGreaterThan(30 * 86_400_000)
  expect(collector.text.join()).not.toMatch(/secret|sesame|whsec/)
  await collector.stop()
})

Deno.test('the span of a failed attempt waits for what follows, and no longer than the run', async () => {
  const collector = startCollector()
  const spans = await spansOf(collector)
  const begin = (attempt: number): void =>
    spans.begin(sampleDelivery({ attempt }), endpoint, sampleEvent())?.end(failure)
  for (const attempt of [1, 2, 3]) begin(attempt)
  const { event, endpoint: to } = delivery
  spans.follow([
    { event, endpoint: to, attempt: 1, delay_ms: 5000 },
    { event, endpoint: to, attempt: 2, delay_ms: null },
    { event, endpoint: to, attempt: 9, delay_ms: 1 },
  ])
  await spans.flush()
  expect(collector.spans.map(({ error, attributes }) => [
    attributes['outhook.attempt'],
    error,
    attributes['error.type'],
    attributes['outhook.retry.delay_ms'],
    attributes['outhook.dead_letter'],
  ])).toEqual([
    [1, '500', '500', 5000, undefined],
    [2, '500', '500', undefined, true],
    [3, '500', '500', undefined, undefined],
  ])
  await collector.stop()
})

Deno.test('what is not recorded has no span, and a parent is continued', async () => {
  const collector = startCollector()
  const spans = await spansOf(collector)
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const unsampled = sampleEvent({ traceparent: traceparent.replace(/01$/, '00') })
  expect(spans.begin(delivery, endpoint, unsampled)).toBeNull()
  const span = spans.begin(delivery, sampleEndpoint({ kind: 'whatsapp', url: '' }), {
    ...sampleEvent({ traceparent }),
  })
  span?.end(delivered)
  await spans.flush()
  const [sent] = collector.spans
  expect(sent).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) })
  expect(span?.traceparent).toBe(`00-${'a'.repeat(32)}-${sent?.spanId}-01`)
  expect(Object.keys(sent?.attributes ?? {})).not.toContain('http.request.method')
  await collector.stop()
})
