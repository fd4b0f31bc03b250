import type { Clock } from '../base/clock.ts'
import { version } from '../base/version.ts'
import type { Sampler, TraceEnv } from './env.ts'
import { createExporter, type ExporterOptions } from './exporter.ts'
import { isSampled, readTraceparent, type TraceContext, writeTraceparent } from './context.ts'
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

  function begin(
    { name, kind, parent, isTrusted = true, traceId: rootId, at: begunAt }: SpanOptions,
  ): OpenSpan | null {
    const given = readTraceparent(parent)
    if (!isTrusted && given !== null && !isSampled(given)) return null
    const context = isTrusted || !decidesById(sampler) ? given : null
    const traceId = context?.traceId ?? rootId ?? randomHex(16)
    const isRecorded = context === null
      ? isWithin(traceId, sampler.root)
      : isTrusted
      ? isWithin(traceId, parentedRatio(sampler, context))
      : isWithin(randomHex(16), sampler.root)
    if (!isRecorded) return null
    const spanId = randomHex(8)
    const now = clock.now()
    const startedAt = begunAt ?? now
    const startMs = clock.wallNow() - (now - startedAt)

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

/** Whether a part of the traces with a parent is recorded, and their ids decide which part. */
function decidesById({ parented }: Sampler): boolean {
  return parented !== 'parent' && parented < 1
}

/**
 * The ratio for a trace with a trusted parent. The trace of an event may have an id that a caller without trust
 * has chosen. Then its flag is 0, so this flag prevents the recording wherever the id would decide.
 */
function parentedRatio(sampler: Sampler, context: TraceContext): number {
  const { parented } = sampler
  if (parented === 'parent' || decidesById(sampler) && !isSampled(context)) {
    return Number(isSampled(context))
  }
  return parented
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
