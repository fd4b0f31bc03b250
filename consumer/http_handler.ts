import { messageOf } from '../functions/_shared/base/errors.ts'
import { headerValue } from '../functions/_shared/signing/headers.ts'
import { parseSecret, sign } from '../functions/_shared/signing/sign.ts'
import type { Handled, Message } from './message.ts'

export type HttpHandlerOptions = {
  url: string
  timeoutMs: number
  /** `whsec_…`: signs as Outhook's webhooks are signed; null: unsigned. */
  secret: string | null
  /** Milliseconds since 1970. */
  wallNow(): number
}

/**
 * Creates a function that POSTs a message to the operator's handler. A 2xx is a success; a 4xx other
 * than 408, 425 and 429 is final; every other result is retried. It does not reject.
 */
export function createHttpHandler(
  { url, timeoutMs, secret, wallNow }: HttpHandlerOptions,
): (message: Message, attempt: number) => Promise<Handled> {
  const key = secret === null ? null : parseSecret(secret)

  return async function post(message, attempt): Promise<Handled> {
    const timestamp = Math.floor(wallNow() / 1000)
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'webhook-id': headerValue(message.id),
      'webhook-timestamp': String(timestamp),
      'x-correlation-id': headerValue(message.correlationId),
      'x-attempt': String(attempt),
    }
    if (message.eventType !== null) headers['x-event-type'] = headerValue(message.eventType)
    if (message.traceparent !== null) headers.traceparent = headerValue(message.traceparent)
    if (key !== null) {
      headers['webhook-signature'] = sign(message.id, timestamp, message.body, [key]).standard
    }
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: new Uint8Array(message.body),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      await response.body?.cancel()
      if (response.ok) return { kind: 'done' }
      return {
        kind: 'failed',
        error: `The handler responded with ${response.status}`,
        isFinal: isFinal(response.status),
      }
    } catch (error) {
      return { kind: 'failed', error: `No response: ${messageOf(error)}`, isFinal: false }
    }
  }
}

function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status)
}
