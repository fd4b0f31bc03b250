/** A W3C trace context: what `traceparent` carries (https://www.w3.org/TR/trace-context/). */
export type TraceContext = {
  /** 32 hex digits. */
  traceId: string
  /** 16 hex digits. */
  spanId: string
  /** The flags as a number; bit 0 says that the trace is recorded. */
  flags: number
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Reads a `traceparent` header; null for what the specification calls invalid. */
export function readTraceparent(text: string | null | undefined): TraceContext | null {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(text ?? '') ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) {
    return null
  }
  // Version 00 has four parts and no more; later ones may have others behind these.
  if (version === '00' && more !== undefined) return null
  return { traceId, spanId, flags: parseInt(flags, 16) }
}

/** Writes the header for a span, as version 00, whose one flag says whether it is recorded. */
export function writeTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled({ flags }) ? '01' : '00'}`
}

/** Whether the trace is recorded. */
export function isSampled({ flags }: Pick<TraceContext, 'flags'>): boolean {
  return (flags & 1) === 1
}
