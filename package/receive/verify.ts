import { WebhookError } from './errors.ts'
import type { ReadHeader } from './headers.ts'
import type { VerifyKey } from './keys.ts'

/**
 * Which signature a request needs: `standard` is the header webhook-signature (Standard Webhooks),
 * `simple` is X-Signature, and `any` is the first of the two that the request has.
 */
export type SignatureForm = 'standard' | 'simple' | 'any'

export interface VerifyOptions {
  keys: readonly VerifyKey[]
  form: SignatureForm
  toleranceSeconds: number
  /** Unix milliseconds. */
  now: number
}

/** What the signature covers besides the body. `id` is null for `simple`, which does not cover it. */
export interface Signed {
  id: string | null
  /** Unix seconds. */
  timestamp: number
}

/** Verifies one request; throws a WebhookError that says what is wrong with it. */
export function verifyRequest(
  read: ReadHeader,
  body: Uint8Array,
  { keys, form, toleranceSeconds, now }: VerifyOptions,
): Signed {
  const isSimple = form === 'simple' || (form === 'any' && read('webhook-signature') === null)
  const time = required(read, isSimple ? 'x-timestamp' : 'webhook-timestamp')
  const timestamp = readTime(time)
  let id: string | null = null
  if (isSimple) {
    verifySimple(required(read, 'x-signature'), `${time}.`, body, keys)
  } else {
    id = required(read, 'webhook-id')
    verifyStandard(required(read, 'webhook-signature'), `${id}.${time}.`, body, keys)
  }
  // After the signature: a wrong clock then is a fault of Outhook or the receiver, not of a stranger.
  checkTime(timestamp, now / 1000, toleranceSeconds)
  return { id, timestamp }
}

function required(read: ReadHeader, name: string): string {
  const value = read(name)
  if (value !== null) return value
  throw new WebhookError('missing_header', `The header ${name} is missing`)
}

function readTime(text: string): number {
  if (!/^[0-9]{1,12}$/.test(text)) {
    throw new WebhookError('invalid_timestamp', 'The timestamp is not a number of Unix seconds')
  }
  return Number(text)
}

function checkTime(timestamp: number, now: number, tolerance: number): void {
  if (timestamp < now - tolerance) {
    throw new WebhookError(
      'too_old',
      `The request was signed more than ${tolerance} s ago: check the clocks of both sides`,
    )
  }
  if (timestamp > now + tolerance) {
    throw new WebhookError(
      'too_new',
      `The request was signed more than ${tolerance} s ahead: check the clocks of both sides`,
    )
  }
}

/** More than an endpoint has keys; and the lengths in base64 of 32 and 64 bytes. */
const mostParts = 16
const lengths: Readonly<Record<string, number>> = { v1: 44, v1a: 88 }

function verifyStandard(
  header: string,
  head: string,
  body: Uint8Array,
  keys: readonly VerifyKey[],
): void {
  const checks = keys.map(({ scheme, base64 }) => ({ scheme, isRight: base64(head, body) }))
  for (const part of header.split(' ', mostParts)) {
    const [scheme = '', signature = ''] = part.split(',', 2)
    if (signature.length !== lengths[scheme]) continue
    if (checks.some((key) => key.scheme === scheme && key.isRight(signature))) return
  }
  throw wrong('webhook-signature')
}

function verifySimple(
  header: string,
  head: string,
  body: Uint8Array,
  keys: readonly VerifyKey[],
): void {
  const [, signature] = /^sha256=([0-9a-f]{64})$/i.exec(header) ?? []
  const given = signature?.toLowerCase()
  if (
    given !== undefined && keys.some((key) => key.scheme === 'v1' && key.hex(head, body)(given))
  ) return
  throw wrong('x-signature')
}

function wrong(header: string): WebhookError {
  return new WebhookError(
    'wrong_signature',
    `${header} matches none of the secrets: use the secret of this endpoint, and the raw body`,
  )
}
