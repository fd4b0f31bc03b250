import { Buffer } from 'node:buffer'
import type { Endpoint } from '../contract/contract.ts'
import { createEd25519, type Ed25519 } from './ed25519.ts'
import { createKeyedHmac, type Hmac } from './hmac.ts'
import { secretBytes } from './secret_bytes.ts'

/** A prepared secret. */
export type SigningKey =
  | { scheme: 'v1'; digest: Hmac }
  | { scheme: 'v1a'; signature: Ed25519 }

/** The signature headers of one attempt; `simple` is null if no secret has scheme v1. */
export type Signatures = { standard: string; simple: string | null }

const keyPrefix = 'whsk_'

/** Prepares a secret: `whsk_` is an ed25519 key, all others are HMAC. Throws for an invalid `whsk_`. */
export function parseSecret(secret: string): SigningKey {
  if (!secret.startsWith(keyPrefix)) {
    return { scheme: 'v1', digest: createKeyedHmac(secretBytes(secret)) }
  }
  const bytes = Buffer.from(secret.slice(keyPrefix.length), 'base64')
  return { scheme: 'v1a', signature: createEd25519(bytes) }
}

/**
 * Signs one attempt. `standard` is the header webhook-signature of Standard Webhooks: `v1,<base64>`
 * (HMAC) or `v1a,<base64>` (ed25519) for each key over `id.timestamp.body`. `simple` is the header
 * x-signature: `sha256=<hex>` over `timestamp.body` with `simpleKey`, or else the first key of scheme v1
 * (the same decoded bytes, so a receiver needs one secret for both). `timestamp` is unix seconds; the
 * database orders the keys.
 */
export function sign(
  id: string,
  timestamp: number,
  body: Uint8Array,
  keys: readonly [SigningKey, ...SigningKey[]],
  simpleKey: SigningKey | undefined = keys.find(({ scheme }) => scheme === 'v1'),
): Signatures {
  const head = `${id}.${timestamp}.`
  const standard = keys.map((key) => `${key.scheme},${signature(key, head, body)}`)
  const simple = simpleKey?.scheme === 'v1'
    ? `sha256=${simpleKey.digest(`${timestamp}.`, body, 'hex')}`
    : null
  return { standard: standard.join(' '), simple }
}

function signature(key: SigningKey, head: string, body: Uint8Array): string {
  return key.scheme === 'v1'
    ? key.digest(head, body, 'base64')
    : key.signature(head, body).toString('base64')
}

/** Returns an endpoint's prepared keys, cached for each of its versions; null: it has no secret. */
export type KeyCache = {
  keysOf(id: string, endpoint: Endpoint): readonly [SigningKey, ...SigningKey[]] | null
}

type Parsed = { version: number; secrets: string[]; keys: [SigningKey, ...SigningKey[]] }

/**
 * Caches the keys of up to `capacity` endpoints. It compares the secrets' texts too, because a secret
 * can expire or be added without a new version.
 */
export function createKeyCache(capacity = 10_000): KeyCache {
  const cache = new Map<string, Parsed>()

  function keysOf(id: string, endpoint: Endpoint): Parsed['keys'] | null {
    const known = cache.get(id)
    if (known !== undefined && isCurrent(known, endpoint)) return known.keys
    const [first, ...others] = endpoint.secrets
    if (first === undefined) return null
    const keys: Parsed['keys'] = [parseSecret(first), ...others.map(parseSecret)]
    if (known === undefined && cache.size >= capacity) {
      for (const oldest of cache.keys()) {
        cache.delete(oldest)
        break
      }
    }
    cache.set(id, { version: endpoint.version, secrets: endpoint.secrets, keys })
    return keys
  }

  return { keysOf }
}

function isCurrent(known: Parsed, { version, secrets }: Endpoint): boolean {
  return known.version === version && known.secrets.length === secrets.length &&
    secrets.every((secret, i) => secret === known.secrets[i])
}
