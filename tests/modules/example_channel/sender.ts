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
import { messageOf } from '../../../functions/_shared/senders/message.ts'
import type { Sender, SenderDeps } from '../../../functions/_shared/senders/sender.ts'
import type { Exchange } from '../../../functions/_shared/transport/transport.ts'

/** Sends a message as an SMS. */
export const smsSender: Sender = { send }

/** The members that `sms.sql` stores for this kind. */
const endpointPart = z.object({
  config: z.object({ sender: z.string() }),
  credentials: z.object({ key: z.string() }),
})

const payload = z.object({ text: z.string() })

/** How the provider responds: `{"id": "…"}`, or `{"code": "invalid_number"}`. */
const taken = z.object({ id: z.string().min(1) })
const refused = z.object({ code: z.string().regex(/^[a-z_]{1,64}$/) })

const responseBytes = 4_096

async function send(
  delivery: Delivery,
  endpoint: Endpoint,
  event: EventRow,
  deps: SenderDeps,
): Promise<Outcome> {
  const part = endpointPart.safeParse(endpoint)
  if (!part.success) {
    return failed('protocol', 'The channel has no key: set it with outbox.set_sms_key()')
  }
  const message = messageOf(event)
  const content = payload.safeParse(message?.payload)
  if (message === null || !content.success) return failed('protocol', 'The event has no message')
  const target = targetOf(`${endpoint.url.replace(/\/+$/, '')}/messages`, deps.policy)
  if (!target.ok) return failed('blocked', target.problem)
  const { config: { sender }, credentials: { key } } = part.data
  const exchange = await deps.transport.post({
    endpoint: delivery.endpoint,
    // The provider sends one SMS for each reference, however often it gets the request. A message that is
    // resent has another event.
    isRepeatable: true,
    url: target.url,
    headers: [
      ...['authorization', `Bearer ${key}`],
      ...['content-type', 'application/json', 'user-agent', `Outhook/${version}`],
    ],
    body: Buffer.from(
      JSON.stringify({
        reference: delivery.event,
        from: sender,
        to: message.to,
        text: content.data.text,
      }),
      'utf8',
    ),
    timeoutMs: endpoint.timeout_ms,
    successBytes: responseBytes,
    failureBytes: responseBytes,
    policy: deps.policy,
  })
  return outcomeOfSms(exchange)
}

/** The facts of one request, without the body, because it may contain the number. */
function outcomeOfSms(exchange: Exchange): Outcome {
  const { response: _, ...outcome } = outcomeOf(exchange)
  if (exchange.kind === 'fault') return outcome
  const json = jsonOf(exchange.body)
  if (outcome.outcome === 'delivered') {
    const read = taken.safeParse(json)
    return read.success ? { ...outcome, provider_id: read.data.id } : outcome
  }
  const read = refused.safeParse(json)
  if (!read.success) return outcome
  return { ...outcome, code: read.data.code, error: `The provider refuses: ${read.data.code}` }
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return null
  }
}
