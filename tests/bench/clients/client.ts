/** What an HTTP client of the benchmark does: one POST at a time for each of its callers. */

export interface ClientConfig {
  /** Where the POSTs go; target `n` is the origin with the number `n % origins.length`. */
  origins: string[]
  path: string
  /** The authority (PEM) of the servers' certificate. */
  ca: string
  /** The most POSTs in flight. */
  slots: number
}

export interface Client {
  /** Sends the body with the headers of a delivery; resolves with the body of a 200, and rejects otherwise. */
  post(target: number, id: string): Promise<string>
  close(): void | Promise<void>
}

/** 400 bytes, as in the other benchmarks. */
export const body = JSON.stringify({ pad: 'x'.repeat(390) })

/** Names and values alternate: those of a delivery, without the ones that a client sets itself. */
export function headersOf(id: string): string[] {
  return [
    ...['content-type', 'application/json', 'user-agent', 'bench/1.0.0'],
    ...['webhook-id', id, 'idempotency-key', id, 'webhook-timestamp', '1767225600'],
    ...['webhook-signature', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='],
    ...['x-timestamp', '1767225600', 'x-signature', `sha256=${'0123456789abcdef'.repeat(4)}`],
    ...['x-event-type', 'bench.posted', 'x-correlation-id', id, 'x-attempt', '1'],
  ]
}

/** The same as an object. */
export function headerFields(id: string): Record<string, string> {
  const list = headersOf(id)
  const fields: Record<string, string> = {}
  for (let n = 0; n < list.length; n += 2) fields[list[n] ?? ''] = list[n + 1] ?? ''
  return fields
}

/** A response that is no 200. */
export function unexpected(status: number | undefined): Error {
  return new Error(`status ${status}`)
}
