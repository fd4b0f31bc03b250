/** Attributes of a span; one that is undefined is left out. */
export type Attributes = Record<string, string | number | boolean | undefined>

export type SpanKind = 'server' | 'client' | 'producer'

export type SpanOptions = {
  name: string
  kind: SpanKind
  /** The context that it continues; null or invalid: it begins a trace. */
  parent: string | null
  /** The id of the trace that it begins, 32 hex digits; by default a random one. */
  traceId?: string
}

/** How a span ended. */
export type SpanEnd = {
  /** Where the name was not known when it began. */
  name?: string
  attributes: Attributes
  /** Set when it failed: one low-cardinality word, never text that may hold a secret. */
  error?: string | undefined
  /** When, on the clock that the tracer has; by default now. */
  at?: number
}

/** A span that has begun; it is exported once it ends. */
export type OpenSpan = {
  readonly traceId: string
  /** What to send on, so that what comes of it continues this span. */
  readonly traceparent: string
  end(end: SpanEnd): void
}

/** Makes spans and exports them. Without one there is no tracing, and none of it is loaded. */
export type Tracer = {
  /** Begins a span; null when its trace is not recorded. */
  begin(options: SpanOptions): OpenSpan | null
  /** Exports what has ended; settles when that is done or given up, and does not reject. */
  flush(): Promise<void>
}
