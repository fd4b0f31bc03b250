import { expect } from '@std/expect'
import { systemClock } from '../../../../functions/_shared/base/clock.ts'
import type { LogFields } from '../../../../functions/_shared/base/log.ts'
import { readTraceparent, writeTraceparent } from '../../../../functions/_shared/trace/context.ts'
import { loadTracer } from '../../../../functions/_shared/trace/load.ts'
import type { Tracer } from '../../../../functions/_shared/trace/tracer.ts'
import { type Collector, startCollector } from '../../collector.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = `00-${traceId}-00f067aa0ba902b7-01`
const unsampled = parent.replace(/01$/, '00')

type Logged = [level: string, message: string, fields?: LogFields | undefined]

/** A tracer as these variables ask for, what it logs and what it asks the runtime to wait for. */
async function tracerOf(
  collector: Collector,
  more: Record<string, string> = {},
): Promise<{ tracer: Tracer; logged: Logged[]; kept: Promise<void>[] }> {
  const logged: Logged[] = []
  const kept: Promise<void>[] = []
  const tracer = await loadTracer({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...more },
    clock: systemClock,
    log: (...line) => void logged.push(line),
    keepAlive: (promise) => void kept.push(promise),
  })
  if (tracer === null) throw new Error('no tracer')
  return { tracer, logged, kept }
}

Deno.test('readTraceparent() accepts valid headers, and those of writeTraceparent()', () => {
  expect(readTraceparent(parent)).toEqual({ traceId, spanId: '00f067aa0ba902b7', flags: 1 })
  // A later version may say more, and its unknown flags are not ours to send on.
  const later = readTraceparent(`cc-${traceId}-00f067aa0ba902b7-ff-what-comes`)
  expect(later?.flags).toBe(255)
  expect(later && writeTraceparent(later)).toBe(parent)
  for (
    const text of [
      null,
      undefined,
      '',
      parent.toUpperCase(),
      `${parent}-more`,
      parent.replace(/^00/, 'ff'),
      parent.replace(traceId, '0'.repeat(32)),
      parent.replace('00f067aa0ba902b7', '0'.repeat(16)),
    ]
  ) expect(readTraceparent(text)).toBeNull()
})

Deno.test('loadTracer() makes none unless a collector is named', async () => {
  const environments: Record<string, string>[] = [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' },
  ]
  const rest = { clock: systemClock, log: () => {}, keepAlive: () => {} }
  for (const environment of environments) {
    expect(await loadTracer({ environment, ...rest })).toBeNull()
  }
  const wrong: [Record<string, string>, RegExp][] = [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'sesame' }, /^Cannot start: OTEL_EXPORTER_OTLP_ENDPOINT /],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'sesame' }, /^Cannot start: OTEL_EXPORTER_OTLP_HEADERS must be/],
    [{ OTEL_TRACES_SAMPLER: 'sesame' }, /^Cannot start: OTEL_TRACES_SAMPLER /],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /^Cannot start: OTEL_TRACES_SAMPLER_ARG /],
  ]
  for (const [variables, message] of wrong) {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', ...variables }
    const loading = loadTracer({ environment, ...rest })
    await expect(loading).rejects.toThrow(message)
    await expect(loading).rejects.not.toThrow(/sesame/)
  }
})

Deno.test('a span goes to the collector in OTLP with its parent, its times and its attributes', async () => {
  const collector = startCollector()
  const { tracer } = await tracerOf(collector, {
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20c2VzYW1l,x-org=a',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_SERVICE_NAME: 'webhooks',
  })
  const before = BigInt(Date.now())
  const span = tracer.begin({ name: 'GET', kind: 'server', parent })
  span?.end({
    name: 'GET /x',
    attributes: { text: 'ü', whole: 7, part: 0.5, is: true, none: undefined },
    error: 'timeout',
  })
  await tracer.flush()
  expect(collector.spans).toMatchObject([{
    traceId,
    parentSpanId: '00f067aa0ba902b7',
    name: 'GET /x',
    kind: 2,
    attributes: { text: 'ü', whole: 7, part: 0.5, is: true },
    error: 'timeout',
  }])
  const [sent] = collector.spans
  expect(span?.traceparent).toBe(`00-${traceId}-${sent?.spanId}-01`)
  expect(sent && sent.startNano / 1_000_000n >= before && sent.endNano >= sent.startNano).toBe(true)
  expect(collector.resource).toMatchObject({
    'service.name': 'webhooks',
    'deployment.environment.name': 'test',
  })
  expect(collector.requests[0]?.get('authorization')).toBe('Basic c2VzYW1l')
  expect(collector.requests[0]?.get('x-org')).toBe('a')
  await collector.stop()
})

Deno.test('samplers decide by the parent or by the trace id, alike in every process', async () => {
  const collector = startCollector()
  const ids = Array.from({ length: 2000 }, () => crypto.randomUUID().replaceAll('-', ''))
  const count = async (
    sampler: string,
    arg: string,
    of: (id: string) => string | null,
  ): Promise<number> => {
    const variables = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: arg }
    const { tracer } = await tracerOf(collector, variables)
    const begun = (id: string): boolean =>
      tracer.begin({ name: 'x', kind: 'client', parent: of(id), traceId: id }) !== null
    const first = ids.filter(begun)
    expect(ids.filter(begun)).toEqual(first)
    return first.length
  }
  const none = (): null => null
  expect(await count('parentbased_always_on', '', none)).toBe(2000)
  expect(await count('parentbased_always_on', '', () => unsampled)).toBe(0)
  expect(await count('parentbased_always_off', '', none)).toBe(0)
  expect(await count('parentbased_always_off', '', () => parent)).toBe(2000)
  expect(await count('always_on', '', () => unsampled)).toBe(2000)
  expect(await count('always_off', '', () => parent)).toBe(0)
  const share = await count('parentbased_traceidratio', '0.1', none)
  // 200 expected, with a standard deviation of 13.
  expect(share > 120 && share < 280).toBe(true)
  expect(await count('traceidratio', '0.1', (id) => `00-${id}-00f067aa0ba902b7-01`)).toBe(share)
  // The API clears the flag of a caller that is not trusted, whose id may be any.
  expect(await count('traceidratio', '0.1', (id) => `00-${id}-00f067aa0ba902b7-00`)).toBe(0)
  expect(await count('traceidratio', '1', () => unsampled)).toBe(2000)
  await collector.stop()
})

Deno.test('a caller that is not trusted chooses neither by its flag nor by its trace id what is recorded', async () => {
  const collector = startCollector()
  // The last digits would put each of these traces into any share.
  const chosen = `00-${'f'.repeat(32)}-00f067aa0ba902b7-01`
  const count = async (sampler: string, arg: string, parent: string | null): Promise<number> => {
    const variables = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: arg }
    const { tracer } = await tracerOf(collector, variables)
    const options = { name: 'x', kind: 'server', parent, isTrusted: false } as const
    return Array.from({ length: 2000 }, () => tracer.begin(options)).filter(Boolean).length
  }
  const share = await count('parentbased_traceidratio', '0.1', chosen)
  // 200 expected, with a standard deviation of 13.
  expect(share > 120 && share < 280).toBe(true)
  expect(await count('parentbased_always_off', '', chosen)).toBe(0)
  expect(await count('parentbased_always_on', '', chosen)).toBe(2000)
  expect(await count('parentbased_always_on', '', unsampled)).toBe(0)
  const own = await count('parentbased_traceidratio', '0.1', null)
  expect(own > 120 && own < 280).toBe(true)
  const byId = await count('traceidratio', '0.1', chosen)
  expect(byId > 120 && byId < 280).toBe(true)
  expect(await count('traceidratio', '0.1', unsampled)).toBe(0)
  await collector.stop()
})

Deno.test('a trace whose id decides does not have the id of a caller that is not trusted', async () => {
  const collector = startCollector()
  const chosen = `00-${'f'.repeat(32)}-00f067aa0ba902b7-01`
  const variables = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' }
  const { tracer } = await tracerOf(collector, variables)
  const options = { name: 'x', kind: 'server', parent: chosen, isTrusted: false } as const
  const spans = Array.from({ length: 200 }, () => tracer.begin(options)).filter((span) =>
    span !== null
  )
  expect(spans.length > 50).toBe(true)
  expect(spans.filter(({ traceId }) => traceId === 'f'.repeat(32))).toEqual([])
  // All later spans of the trace are recorded too.
  const child = { name: 'y', kind: 'client' } as const
  const later = spans.map(({ traceparent }) => tracer.begin({ ...child, parent: traceparent }))
  expect(later.filter((span) => span === null)).toEqual([])
  await collector.stop()
})

Deno.test('spans are sent in batches, retried once, and then dropped', async () => {
  const collector = startCollector()
  const { tracer, logged, kept } = await tracerOf(collector)
  const make = (name: string): void =>
    tracer.begin({ name, kind: 'client', parent })?.end({ attributes: {} })
  for (let n = 0; n < 3; n++) make(`${n}`)
  expect(kept).toHaveLength(1)
  collector.statuses.push(503)
  await tracer.flush()
  await Promise.all(kept)
  expect(collector.requests).toHaveLength(2)
  expect(collector.spans.map(({ name }) => name)).toEqual(['0', '1', '2'])
  expect(logged).toEqual([])

  make('refused')
  collector.statuses.push(401)
  await tracer.flush()
  expect(logged).toEqual([
    ['warn', 'spans dropped', { spans: 1, error: 'the collector responded with 401' }],
  ])
  await collector.stop()
})

Deno.test('without a collector spans are dropped, counted, and nothing fails or grows', async () => {
  const collector = startCollector()
  await collector.stop()
  const { tracer, logged } = await tracerOf(collector, {
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=sesame',
  })
  for (let n = 0; n < 9000; n++) {
    tracer.begin({ name: 'x', kind: 'client', parent })?.end({ attributes: {} })
  }
  await tracer.flush()
  const dropped = logged.map(([, , fields]) => Number(fields?.spans))
  expect(dropped.reduce((sum, spans) => sum + spans, 0)).toBe(9000)
  expect(JSON.stringify(logged)).not.toMatch(/sesame|127\.0\.0\.1/)
})
