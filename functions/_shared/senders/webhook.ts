import { Buffer } from 'node:buffer'
import { targetOf } from '../connect/target.ts'
import type { Delivery, Endpoint, ErrorClass, EventRow, Outcome } from '../contracts.ts'
import { customHeaderProblem, webhookHeaders } from '../headers.ts'
import { safeString, safeText } from '../safe_text.ts'
import { sign } from '../sign.ts'
import { type Exchange, isSuccess } from '../transport/transport.ts'
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
  const problem = headerProblem(endpoint)
  if (problem !== null) return failed('protocol', problem)

  const body = Buffer.from(bodyOf(endpoint, event), 'utf8')
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

function headerProblem({ headers }: Endpoint): string | null {
  for (const name in headers) {
    const problem = customHeaderProblem(name, headers[name] ?? '')
    if (problem !== null) return problem
  }
  return null
}

function bodyOf({ payload }: Endpoint, { head, body }: EventRow): string {
  return payload === 'envelope' ? `${head}${body}}` : body
}

function outcomeOf(exchange: Exchange): Outcome {
  if (exchange.kind === 'fault') return failed(exchange.errorClass, exchange.message)
  const { status, retryAfter } = exchange
  const { text, lossy } = safeText(exchange.body, { cut: exchange.cut })
  const kept = { status, ...(text === '' ? {} : { response: text }), ...(lossy ? { lossy } : {}) }
  if (isSuccess(status)) return { outcome: 'delivered', ...kept }
  const isRedirect = status >= 300 && status < 400
  return {
    ...failed(
      isRedirect ? 'redirect' : 'status',
      isRedirect
        ? `The endpoint redirects with ${status}, which is never followed: use its final URL`
        : `The endpoint answered ${status}`,
    ),
    ...kept,
    ...(retryAfter === null ? {} : { retry_after: safeString(retryAfter, 64) }),
  }
}

function failed(errorClass: ErrorClass, error: string): Outcome & { outcome: 'failed' } {
  return { outcome: 'failed', error_class: errorClass, error: safeString(error, 500) }
}
