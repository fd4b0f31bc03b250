/** A small OTLP/HTTP receiver, which takes what the specification of OTLP/JSON describes and no more. */

import { z } from 'zod'

const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ boolValue: z.boolean() }),
    z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
    z.strictObject({ doubleValue: z.number() }),
  ]),
})

const span = z.strictObject({
  traceId: z.string().regex(/^(?!0+$)[0-9a-f]{32}$/),
  spanId: z.string().regex(/^(?!0+$)[0-9a-f]{16}$/),
  parentSpanId: z.string().regex(/^(?!0+$)[0-9a-f]{16}$/).optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: z.string().regex(/^\d{19}$/),
  endTimeUnixNano: z.string().regex(/^\d{19}$/),
  attributes: z.array(attribute),
  status: z.strictObject({ code: z.literal(2), message: z.string() }).optional(),
})

const request = z.strictObject({
  resourceSpans: z.array(z.strictObject({
    resource: z.strictObject({ attributes: z.array(attribute) }),
    scopeSpans: z.array(z.strictObject({
      scope: z.strictObject({ name: z.string(), version: z.string() }),
      spans: z.array(span),
    })),
  })),
})

/** A span as it came, its attributes by name. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  kind: number
  startNano: bigint
  endNano: bigint
  attributes: Record<string, string | number | boolean>
  error: string | undefined
}

/** The collector. */
export interface Collector {
  /** Base URL, as OTEL_EXPORTER_OTLP_ENDPOINT takes it. */
  readonly url: string
  /** All spans, in the order of their coming. */
  readonly spans: ReceivedSpan[]
  /** Attributes of the last request's resource. */
  readonly resource: Record<string, string | number | boolean>
  /** Headers of each request. */
  readonly requests: Headers[]
  /** All that came, as text. */
  readonly text: string[]
  /** What the next requests are answered; 200 when there is none. */
  readonly statuses: number[]
  stop(): Promise<void>
}

/** Starts one on a free port; what is not OTLP/JSON is answered 400 and fails `stop`. */
export function startCollector(): Collector {
  const spans: ReceivedSpan[] = []
  const requests: Headers[] = []
  const text: string[] = []
  const statuses: number[] = []
  const problems: string[] = []
  const resource: Record<string, string | number | boolean> = {}

  async function take(incoming: Request): Promise<Response> {
    const body = await incoming.text()
    requests.push(incoming.headers)
    const status = statuses.shift() ?? 200
    if (status !== 200) return new Response(null, { status })
    const { pathname } = new URL(incoming.url)
    const isRight = incoming.method === 'POST' && pathname === '/v1/traces' &&
      incoming.headers.get('content-type') === 'application/json'
    const read = request.safeParse(JSON.parse(body))
    if (!isRight || !read.success) {
      problems.push(`${incoming.method} ${pathname}: ${read.error?.message ?? ''}`)
      return new Response(null, { status: 400 })
    }
    text.push(body)
    for (const { resource: from, scopeSpans } of read.data.resourceSpans) {
      Object.assign(resource, valuesOf(from.attributes))
      for (const scope of scopeSpans) spans.push(...scope.spans.map(readSpan))
    }
    return Response.json({})
  }

  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, take)

  async function stop(): Promise<void> {
    await server.shutdown()
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  const url = `http://127.0.0.1:${server.addr.port}`
  return { url, spans, resource, requests, text, statuses, stop }
}

function readSpan(one: z.infer<typeof span>): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, attributes, status } = one
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    startNano: BigInt(one.startTimeUnixNano),
    endNano: BigInt(one.endTimeUnixNano),
    attributes: valuesOf(attributes),
    error: status?.message,
  }
}

function valuesOf(
  attributes: z.infer<typeof attribute>[],
): Record<string, string | number | boolean> {
  const entries = attributes.map(({ key, value }) => {
    const [kind, plain] = Object.entries(value)[0] ?? []
    return [key, kind === 'intValue' ? Number(plain) : plain] as const
  })
  return Object.fromEntries(entries)
}
