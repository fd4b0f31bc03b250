import { Buffer } from 'node:buffer'
import type { Endpoint } from '../contract/contract.ts'
import { createEd25519, type Ed25519 } from './ed25519.ts'
import { createKeyedHmac, type Hmac } from './hmac.ts'

/** A prepared secret. */
export type SigningKey =
  | { scheme: 'v1'; digest: Hmac }
  | { scheme: 'v1a'; signature: Ed25519 }

/** The signature headers of one attempt; `simple` is null if no secret has scheme v1. */
export type Signatures = { standard: string; simple: string | null }

const prefix = 'whsec_'
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
 * The key bytes of a secret: `whsec_` + base64, with or without padding, or bare base64. Text that is
 * not base64 is used as bytes, so that a secret from another system signs instead of failing.
 */
export function secretBytes(secret: string): Buffer {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  const bare = encoded.replace(/=+$/, '')
  const isBase64 = /^[A-Za-z0-9+/]+$/.test(bare) && bare.length % 4 !== 1
  return isBase64 ? Buffer.from(bare, 'base64') : Buffer.from(secret, 'utf8')
}

/**
 * Signs one attempt. `standard` is the header webhook-signature of Standard Webhooks: `v1,<base64>`
 * (HMAC) or `v1a,<base64>` (ed25519) for each key over `id.timestamp.body`. `simple` is the header
 * x-signature: `sha256=<hex>` over `timestamp.body` with the newest key of scheme v1 (the same decoded
 * bytes, so a receiver needs one secret for both). `timestamp` is unix seconds; `keys` are newest
 * first.
 */
export function sign(
  id: string,
  timestamp: number,
  body: Uint8Array,
  keys: readonly [SigningKey, ...SigningKey[]],
): Signatures {
  const head = `${id}.${timestamp}.`
  const standard = keys.map((key) => `${key.scheme},${signature(key, head, body)}`)
  const newest = keys.find((key) => key.scheme === 'v1')
  const simple = newest?.digest(`${timestamp}.`, body, 'hex')
  return { standard: standard.join(' '), simple: simple === undefined ? null : `sha256=${simple}` }
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
    const [newest, ...older] = endpoint.secrets
    if (newest === undefined) return null
    const keys: Parsed['keys'] = [parseSecret(newest), ...older.map(parseSecret)]
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
