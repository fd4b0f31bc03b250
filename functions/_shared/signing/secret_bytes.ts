import { Buffer } from 'node:buffer'

const prefix = 'whsec_'

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
