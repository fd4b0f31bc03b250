import { Webhook } from 'standardwebhooks'
import type { Arrival } from './receiver.ts'

/** The request as text, in the form of HTTP. */
export function asText({ method, path, headers, body }: Arrival): string {
  const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`)
  return [`  ${method} ${path}`, ...lines, '', `  ${body}`].join('\n')
}

/** Verifies the signature with the standardwebhooks package, as a receiver would. Throws if it is invalid. */
export function verify({ headers, body }: Arrival, secret: string): unknown {
  return new Webhook(secret).verify(body, headers)
}
