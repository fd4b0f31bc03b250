import { Buffer } from 'node:buffer'
import { z } from 'zod'
import { version } from '../../../functions/_shared/base/version.ts'
import { targetOf } from '../../../functions/_shared/connect/target.ts'
import type {
  Delivery,
  Endpoint,
  EventRow,
  Outcome,
} from '../../../functions/_shared/contract/contract.ts'
import { failed, outcomeOf } from '../../../functions/_shared/senders/http_outcome.ts'
import type { Sender, SenderDeps } from '../../../functions/_shared/senders/sender.ts'
import type { Exchange } from '../../../functions/_shared/transport/transport.ts'

/** Publishes the event to a topic of an ntfy server. */
export const ntfySender: Sender = { send }

/** The members that `ntfy.sql` stores for this kind. */
const endpointPart = z.object({
  config: z.object({ topic: z.string(), priority: z.int() }),
  credentials: z.object({ token: z.string() }),
})

/** How ntfy reports an error: `{"code":40301,"http":403,"error":"forbidden"}`. */
const errorBody = z.object({ code: z.int().min(40_000).max(59_999) })

/** The server takes 4,096 bytes. */
const longestMessage = 4_096

/** The response to an error is read up to here, even if the operator stores less of it. */
const errorBytes = 1_024

async function send(
  delivery: Delivery,
  endpoint: Endpoint,
  event: EventRow,
  deps: SenderDeps,
): Promise<Outcome> {
  const part = endpointPart.safeParse(endpoint)
  if (!part.success) {
    return failed('protocol', 'The endpoint has no token: set it with outbox.set_ntfy_token()')
  }
  const target = targetOf(endpoint.url, deps.policy)
  if (!target.ok) return failed('blocked', target.problem)
  const { config: { topic, priority }, credentials: { token } } = part.data
  const { success_bytes, failure_bytes } = deps.settings
  const exchange = await deps.transport.post({
    endpoint: delivery.endpoint,
    // The schedule publishes the event again after every broken connection.
    isRepeatable: true,
    url: target.url,
    headers: [
      ...['authorization', `Bearer ${token}`],
      ...['content-type', 'application/json', 'user-agent', `Outhook/${version}`],
    ],
    body: Buffer.from(
      JSON.stringify({ topic, priority, title: event.type, message: cut(event.body) }),
      'utf8',
    ),
    timeoutMs: endpoint.timeout_ms,
    successBytes: success_bytes,
    failureBytes: Math.max(failure_bytes, errorBytes),
    keepHeaders: ['content-type'],
    policy: deps.policy,
  })
  return outcomeOfNtfy(exchange, failure_bytes)
}

/** The facts of one request, with the code of ntfy and without more of the body than is stored. */
function outcomeOfNtfy(exchange: Exchange, failureBytes: number): Outcome {
  if (exchange.kind === 'fault') return outcomeOf(exchange)
  const outcome = outcomeOf(exchange)
  if (outcome.outcome === 'delivered') {
    if (exchange.headers?.['content-type']?.startsWith('application/json') === true) return outcome
    return {
      ...outcome,
      outcome: 'failed',
      error_class: 'ntfy.response',
      error: `The response with status ${exchange.status} is not one of ntfy`,
    }
  }
  const isLonger = exchange.body.length > failureBytes
  const stored = outcomeOf({
    ...exchange,
    body: exchange.body.subarray(0, failureBytes),
    cut: exchange.cut || isLonger,
  })
  const code = codeOf(exchange.body)
  return code === null || stored.outcome === 'delivered' ? stored : { ...stored, code }
}

function codeOf(body: Uint8Array): string | null {
  try {
    const read = errorBody.safeParse(JSON.parse(new TextDecoder().decode(body)))
    return read.success ? String(read.data.code) : null
  } catch {
    return null
  }
}

/** The text, cut to what the server takes, without half of a character at its end. */
function cut(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= longestMessage) return text
  return new TextDecoder().decode(bytes.subarray(0, longestMessage), { stream: true })
}
