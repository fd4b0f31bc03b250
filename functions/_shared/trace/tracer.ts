/** Attributes of a span; undefined ones are omitted. */
export type Attributes = Record<string, string | number | boolean | undefined>

export type SpanKind = 'server' | 'client' | 'producer'

export type SpanOptions = {
  name: string
  kind: SpanKind
  /** The context to continue; null or invalid: a new trace. */
  parent: string | null
  /**
   * Whether the sampler uses the flag of `parent` to decide if the trace is recorded; default: true. A
   * caller that is not trusted can choose any flag and any trace id. So its flag can only prevent the
   * recording, and the sampler chooses at random, with its ratio of new traces. If the ids of traces decide
   * (traceidratio), the span begins a new trace, because all later spans decide by its id.
   */
  isTrusted?: boolean
  /** The id of a new trace, 32 hex digits; default: random. */
  traceId?: string
  /** The start, on the tracer's monotonic clock; default: now. */
  at?: number
}

export type SpanEnd = {
  /** The final name, if it was not known at the start. */
  name?: string
  attributes: Attributes
  /** The error, as one low-cardinality word without secrets; absent: success. */
  error?: string | undefined
  /** The end, on the tracer's monotonic clock; default: now. */
  at?: number
}

/** A started span; it is exported when it ends. */
export type OpenSpan = {
  readonly traceId: string
  /** The header for requests that continue this span. */
  readonly traceparent: string
  end(end: SpanEnd): void
}

/** Creates and exports spans. */
export type Tracer = {
  /** Starts a span; null if its trace is not recorded. */
  begin(options: SpanOptions): OpenSpan | null
  /** Exports ended spans; it never rejects. */
  flush(): Promise<void>
}
