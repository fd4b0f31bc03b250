import type { Clock } from '../base/clock.ts'
import { version } from '../base/version.ts'
import type { TraceEnv } from './env.ts'
import { createExporter, type ExporterOptions } from './exporter.ts'
import { isSampled, readTraceparent, writeTraceparent } from './context.ts'
import type { OpenSpan, SpanEnd, SpanOptions, Tracer } from './tracer.ts'

export type OtlpTracerOptions =
  & { env: TraceEnv; clock: Clock }
  & Pick<ExporterOptions, 'log' | 'fetch' | 'keepAlive'>

/** A tracer that exports by OTLP/HTTP. */
export function createOtlpTracer(
  { env, clock, log, fetch, keepAlive }: OtlpTracerOptions,
): Tracer {
  const { url, headers, timeoutMs, sampler } = env
  const exporter = createExporter({
    url,
    headers,
    timeoutMs,
    resource: { ...env.resource, 'service.version': version, 'telemetry.sdk.language': 'webjs' },
    clock,
    log,
    fetch,
    keepAlive,
  })

  function begin({ name, kind, parent, traceId: rootId }: SpanOptions): OpenSpan | null {
    const context = readTraceparent(parent)
    const traceId = context?.traceId ?? rootId ?? randomHex(16)
    const ratio = context === null
      ? sampler.root
      : sampler.parented === 'parent'
      ? Number(isSampled(context))
      : sampler.parented
    if (!isWithin(traceId, ratio)) return null
    const spanId = randomHex(8)
    const startedAt = clock.now()
    const startMs = clock.wallNow()

    function end({ name: named = name, attributes, error, at = clock.now() }: SpanEnd): void {
      exporter.add({
        traceId,
        spanId,
        parentSpanId: context?.spanId ?? null,
        name: named,
        kind,
        startMs,
        endMs: startMs + at - startedAt,
        attributes,
        error,
      })
    }

    return { traceId, traceparent: writeTraceparent({ traceId, spanId, flags: 1 }), end }
  }

  return { begin, flush: exporter.flush }
}

/**
 * Whether a trace is in that share of all traces, by its last 56 bits, which are random: all spans of
 * a trace, in every process, get the same result.
 */
function isWithin(traceId: string, ratio: number): boolean {
  return parseInt(traceId.slice(-14), 16) >= (1 - ratio) * 2 ** 56
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
/** Random bytes for many ids: a system call for each span would cost more than the span. */
const drawn = new Uint8Array(8192)
let used = drawn.length

function randomHex(bytes: number): string {
  if (used + bytes > drawn.length) {
    crypto.getRandomValues(drawn)
    used = 0
  }
  let text = ''
  for (const end = used + bytes; used < end; used++) text += hex[drawn[used] ?? 0]
  return text
}
