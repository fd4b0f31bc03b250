import type { OpenSpan, Tracer } from '../_shared/trace/tracer.ts'
import { ApiError } from './errors.ts'

/** In which trace something is published. */
export type PublishTrace = {
  tracer: Tracer | null
  /** The span of the request; null when it is not recorded. */
  span: OpenSpan | null
  /** What to send on where there is no span. */
  traceparent: string | null
}

/** What is published: one event of a type, or several. */
export type Published = { type: string; count: number; bytes?: number | undefined }

/**
 * Publishes within a span of kind producer, which what is published carries on: `publish` gets the
 * trace context. `idOf` finds the id of the one thing published, where there is one.
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
