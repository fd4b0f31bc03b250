/**
 * What tracing costs a run: to load it, beyond what a run has loaded anyway, and for each span, its
 * encoding included.
 *
 *   deno run -A tests/bench/spans.ts [spans]
 */

import { systemClock } from '../../functions/_shared/base/clock.ts'
import { loadTracer } from '../../functions/_shared/trace/load.ts'
import { createAttemptSpans } from '../../functions/deliver/attempt_spans.ts'
import '../../functions/deliver/env.ts'
import { print } from '../../supabase/local/print.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent } from '../functions/samples.ts'

const count = Number(Deno.args[0] ?? '50000')
const answered: typeof fetch = () => Promise.resolve(new Response('{}'))
globalThis.fetch = answered

/** User and system time of this process, in ms; the kernel counts ticks of 10 ms. */
function cpuMs(): number {
  const fields = Deno.readTextFileSync('/proc/self/stat').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const began = cpuMs()
const tracer = await loadTracer({
  environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' },
  clock: systemClock,
  log: () => {},
  keepAlive: () => {},
})
const loadedMs = cpuMs() - began
if (tracer === null) throw new Error('no tracer')
const spans = createAttemptSpans(tracer, systemClock)
const event = sampleEvent({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` })
const endpoint = sampleEndpoint()
const delivery = sampleDelivery({ failed_attempts: 1 })

async function round(): Promise<number> {
  const from = cpuMs()
  for (let n = 0; n < count; n++) {
    spans.begin(delivery, endpoint, event)?.end({ outcome: 'delivered', status: 200 })
    if (n % 400 === 0) await spans.flush()
  }
  await spans.flush()
  return (cpuMs() - from) * 1000 / count
}

await round()
const costUs = await round()
print(
  `Deno ${Deno.version.deno}: ${loadedMs} ms of CPU to load, ${costUs.toFixed(1)} µs a span`,
)
