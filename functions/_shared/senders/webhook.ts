import { Buffer } from 'node:buffer'
import { targetOf } from '../connect/target.ts'
import type { Delivery, Endpoint, EventRow, Outcome } from '../contract/contract.ts'
import { headersProblem, webhookHeaders } from '../signing/headers.ts'
import { sign } from '../signing/sign.ts'
import { failed, outcomeOf } from './http_outcome.ts'
import { bodyOf } from './body.ts'
import type { PostRequest } from '../transport/transport.ts'
import type { Sender, SenderDeps } from './sender.ts'

/** POSTs the event, signed with the current secrets. */
export const webhookSender: Sender = { send }

/** Not async: an async function would keep the body in memory until the response. */
function send(
  delivery: Delivery,
  endpoint: Endpoint,
  event: EventRow,
  deps: SenderDeps,
): Promise<Outcome> {
  const request = requestOf(delivery, endpoint, event, deps)
  if ('outcome' in request) return Promise.resolve(request)
  return deps.transport.post(request).then(outcomeOf)
}

function requestOf(
  delivery: Delivery,
  endpoint: Endpoint,
  event: EventRow,
  deps: SenderDeps,
): PostRequest | Outcome {
  const target = targetOf(endpoint.url, deps.policy)
  if (!target.ok) return failed('blocked', target.problem)
  const keys = deps.keys.keysOf(delivery.endpoint, endpoint)
  if (keys === null) return failed('protocol', 'The endpoint has no signing secret: rotate it')
  const problem = headersProblem(endpoint)
  if (problem !== null) return failed('protocol', problem)

  const body = Buffer.from(bodyOf(endpoint, delivery.event, event), 'utf8')
  const simpleKey = delivery.secret === undefined
    ? undefined
    : keys[endpoint.secrets.indexOf(delivery.secret)]
  const timestamp = Math.floor(deps.wallNow() / 1000)
  const signatures = sign(delivery.event, timestamp, body, keys, simpleKey)
  return {
    endpoint: delivery.endpoint,
    org: event.org_id,
    // webhook-id and idempotency-key tell the receiver that it has the event already.
    isRepeatable: true,
    url: target.url,
    headers: webhookHeaders({ delivery, event, endpoint, timestamp, signatures }),
    body,
    timeoutMs: endpoint.timeout_ms,
    successBytes: deps.settings.success_bytes,
    failureBytes: deps.settings.failure_bytes,
    policy: deps.policy,
  }
}
