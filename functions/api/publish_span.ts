import type { OpenSpan, Tracer } from '../_shared/trace/tracer.ts'
import { ApiError } from './errors.ts'

/** The trace of a publish. */
export type PublishTrace = {
  tracer: Tracer | null
  /** The span of the request; null if it is not recorded. */
  span: OpenSpan | null
  /** The trace context to use without a span. */
  traceparent: string | null
}

/** The published events: one of a type, or several. */
export type Published = { type: string; count: number; bytes?: number | undefined }

/**
 * Publishes within a span of kind producer. `publish` gets the trace context that the events
 * continue; `idOf` returns the id of a single published event, else undefined.
 */
export async function publishSpan<Made>(
  { tracer, span: request, traceparent }: PublishTrace,
  { type, count, bytes }: Published,
  publish: (traceparent: string | null) => Promise<Made>,
  idOf: (made: Made) => string | undefined,
): Promise<Made> {
  const span = request === null
    ? null
    : tracer?.begin({ name: `publish ${type}`, kind: 'producer', parent: request.traceparent })
  if (!span) return await publish(traceparent)
  const attributes = {
    'messaging.system': 'outhook',
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
    'messaging.destination.name': type,
    ...count > 1 ? { 'messaging.batch.message_count': count } : {},
    'messaging.message.body.size': bytes,
  }
  try {
    const made = await publish(span.traceparent)
    span.end({ attributes: { ...attributes, 'messaging.message.id': idOf(made) } })
    return made
  } catch (error) {
    const code = error instanceof ApiError ? error.code : 'internal'
    span.end({ attributes: { ...attributes, 'error.type': code }, error: code })
    throw error
  }
}
