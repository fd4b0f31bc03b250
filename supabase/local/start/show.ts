/** What `deno task start` shows of a delivery. */

import { Webhook } from 'standardwebhooks'
import type { Arrival } from './receiver.ts'

/** The request as text, the way it came over the wire. */
export function asText({ method, path, headers, body }: Arrival): string {
  const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`)
  return [`  ${method} ${path}`, ...lines, '', `  ${body}`].join('\n')
}

/**
 * Checks the signature as a receiver would, with the standardwebhooks package. Throws when it is
 * wrong.
 */
export function verify({ headers, body }: Arrival, secret: string): unknown {
  return new Webhook(secret).verify(body, headers)
}
