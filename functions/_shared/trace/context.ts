/** A W3C trace context, the content of `traceparent` (https://www.w3.org/TR/trace-context/). */
export type TraceContext = {
  /** 32 hex digits. */
  traceId: string
  /** 16 hex digits. */
  spanId: string
  /** The flags as a number; bit 0: the trace is recorded. */
  flags: number
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Parses a `traceparent` header; null if it is invalid. */
export function readTraceparent(text: string | null | undefined): TraceContext | null {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(text ?? '') ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) {
    return null
  }
  // Version 00 has exactly four parts; later versions may have more.
  if (version === '00' && more !== undefined) return null
  return { traceId, spanId, flags: parseInt(flags, 16) }
}

/** The header for a span, in version 00. */
export function writeTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled({ flags }) ? '01' : '00'}`
}

/** The header with the flag that its trace is not recorded; null if it is absent or invalid. */
export function unsampled(text: string | null): string | null {
  const context = readTraceparent(text)
  return context === null ? null : writeTraceparent({ ...context, flags: 0 })
}

export function isSampled({ flags }: Pick<TraceContext, 'flags'>): boolean {
  return (flags & 1) === 1
}
