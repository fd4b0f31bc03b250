import type { Clock } from '../_shared/base/clock.ts'
import type {
  ClaimKey,
  Delivery,
  Endpoint,
  EventRow,
  Outcome,
  Retry,
} from '../_shared/contract/contract.ts'
import type { Attributes, Tracer } from '../_shared/trace/tracer.ts'

export type AttemptSpan = {
  /** The traceparent to send, so that the receiver's spans continue this one. */
  readonly traceparent: string
  end(outcome: Outcome): void
}

/** The spans of a process's attempts. */
export type AttemptSpans = {
  /** Starts the span of an attempt; null if its trace is not recorded. */
  begin(delivery: Delivery, endpoint: Endpoint, event: EventRow): AttemptSpan | null
  /** Ends the spans of failed attempts with the database's decision: retry delay or dead letter. */
  follow(retries: readonly Retry[]): void
  /** Ends waiting spans and exports all ended ones. */
  flush(): Promise<void>
}

/** At most this many failed attempts wait for the database's decision: a few batches. */
const maxWaiting = 4096

/**
 * Creates one span of kind client for each attempt; it continues the event's trace. For an event
 * without a trace the trace id is the event's id without dashes, so all its attempts share a trace.
 * Names follow the semantic conventions for messaging and HTTP; all others are `outhook.*`. The URL's
 * path and query are left out because they may contain a secret.
 */
export function createAttemptSpans(tracer: Tracer, clock: Clock): AttemptSpans {
  const waiting = new Map<string, (more: Attributes) => void>()
  // All deliveries of a batch share its endpoints, and reading a URL takes 5 µs.
  const addresses = new WeakMap<Endpoint, Attributes>()

  function addressOf(endpoint: Endpoint): Attributes {
    const known = addresses.get(endpoint) ?? readAddress(endpoint)
    addresses.set(endpoint, known)
    return known
  }

  function begin(delivery: Delivery, endpoint: Endpoint, event: EventRow): AttemptSpan | null {
    const span = tracer.begin({
      name: `send ${event.type}`,
      kind: 'client',
      parent: event.traceparent,
      traceId: delivery.event.replaceAll('-', ''),
    })
    if (span === null) return null
    const startedMs = clock.wallNow()

    function end(outcome: Outcome): void {
      const at = clock.now()
      const error = outcome.outcome === 'failed' ? errorType(outcome) : undefined
      const attributes = {
        ...attributesOf(delivery, endpoint, event, startedMs),
        ...addressOf(endpoint),
        'http.response.status_code': outcome.status,
        'error.type': error,
        'outhook.outcome': outcome.outcome,
      }
      if (error === undefined) return span?.end({ attributes, at })
      if (waiting.size >= maxWaiting) release()
      waiting.set(keyOf(delivery), (more) => {
        span?.end({ attributes: { ...attributes, ...more }, error, at })
      })
    }

    return { traceparent: span.traceparent, end }
  }

  function follow(retries: readonly Retry[]): void {
    for (const retry of retries) {
      const key = keyOf(retry)
      const end = waiting.get(key)
      if (end === undefined) continue
      waiting.delete(key)
      end(
        retry.delay_ms === null
          ? { 'outhook.dead_letter': true }
          : { 'outhook.retry.delay_ms': retry.delay_ms },
      )
    }
  }

  function release(): void {
    for (const end of waiting.values()) end({})
    waiting.clear()
  }

  function flush(): Promise<void> {
    release()
    return tracer.flush()
  }

  return { begin, follow, flush }
}

function attributesOf(
  { event: id, endpoint: endpointId, attempt, failed_attempts }: Delivery,
  { kind }: Endpoint,
  event: EventRow,
  startedMs: number,
): Attributes {
  return {
    'messaging.system': 'outhook',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': event.type,
    'messaging.message.id': id,
    'messaging.message.conversation_id': event.correlation_id,
    'outhook.endpoint.id': endpointId,
    'outhook.endpoint.kind': kind,
    'outhook.attempt': attempt,
    'outhook.failed_attempts': failed_attempts,
    'outhook.delay_ms': Math.max(0, startedMs - timeOf(id)),
    'http.request.method': kind === 'webhook' ? 'POST' : undefined,
    'http.request.resend_count': failed_attempts > 0 ? failed_attempts : undefined,
  }
}

/** The time in a UUID v7, in milliseconds since 1970. */
function timeOf(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

function readAddress({ kind, url }: Endpoint): Attributes {
  if (!URL.canParse(url)) return {}
  const { protocol, hostname, port } = new URL(url)
  if (hostname === '') return {}
  const standard = { 'https:': 443, 'http:': 80 }[protocol]
  return {
    'url.scheme': kind === 'webhook' ? protocol.slice(0, -1) : undefined,
    'server.address': hostname,
    'server.port': port === '' ? standard : Number(port),
  }
}

function errorType({ status, error_class }: Outcome & { outcome: 'failed' }): string {
  return error_class === 'status' && status !== undefined ? String(status) : error_class
}

function keyOf({ event, endpoint, attempt }: ClaimKey): string {
  return `${event} ${endpoint} ${attempt}`
}
