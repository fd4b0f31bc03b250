import { Buffer } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The signature header of a request. */
export type Signature = { kind: 'none' } | { kind: 'malformed' } | { kind: 'given'; digest: Buffer }

/** Reads `x-hub-signature-256`: `sha256=` and 64 hex digits. */
export function readSignature(header: string | null): Signature {
  if (header === null) return { kind: 'none' }
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(header) ?? []
  if (hex === undefined) return { kind: 'malformed' }
  return { kind: 'given', digest: Buffer.from(hex, 'hex') }
}

/**
 * Whether the digest is the HMAC-SHA256 of these bytes by one of the secrets. It checks all secrets, in
 * constant time.
 */
export function isSigned(digest: Buffer, bytes: Uint8Array, secrets: readonly string[]): boolean {
  let isKnown = false
  for (const secret of secrets) {
    if (timingSafeEqual(digest, createHmac('sha256', secret).update(bytes).digest())) isKnown = true
  }
  return isKnown
}
