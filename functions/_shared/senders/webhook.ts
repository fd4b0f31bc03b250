import { Buffer } from 'node:buffer'
import { targetOf } from '../connect/target.ts'
import type { Delivery, Endpoint, EventRow, Outcome } from '../contracts.ts'
import { headersProblem, webhookHeaders } from '../headers.ts'
import { sign } from '../sign.ts'
import { failed, outcomeOf } from './http_outcome.ts'
import { bodyOf } from './body.ts'
import type { Sender, SenderDeps } from './sender.ts'

/** POSTs the event, signed with the secrets that are live now. */
export const webhookSender: Sender = { send }

async function send(
  delivery: Delivery,
  endpoint: Endpoint,
  event: EventRow,
  deps: SenderDeps,
): Promise<Outcome> {
  const target = targetOf(endpoint.url, deps.policy)
  if (!target.ok) return failed('blocked', target.problem)
  const keys = deps.keys.keysOf(delivery.endpoint, endpoint)
  if (keys === null) return failed('protocol', 'The endpoint has no signing secret: rotate it')
  const problem = headersProblem(endpoint)
  if (problem !== null) return failed('protocol', problem)

  const body = Buffer.from(bodyOf(endpoint, delivery.event, event), 'utf8')
  const timestamp = Math.floor(deps.wallNow() / 1000)
  const signatures = sign(delivery.event, timestamp, body, keys)
  const exchange = await deps.transport.post({
    url: target.url,
    headers: webhookHeaders({ delivery, event, endpoint, timestamp, signatures }),
    body,
    timeoutMs: endpoint.timeout_ms,
    successBytes: deps.settings.success_bytes,
    failureBytes: deps.settings.failure_bytes,
    policy: deps.policy,
  })
  return outcomeOf(exchange)
}
