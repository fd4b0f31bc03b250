import { Buffer } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The key for the address without an app key. */
export const fixedKey = '/api/v1/webhooks/whatsapp/inbound'

/** The format of app keys, as put_whatsapp_app() generates them. */
export const appKeyForm = /^[A-Za-z0-9_-]{16,64}$/

/**
 * The verify token for the address with that key: 64 hex digits. It depends only on secret and key, so
 * that an address can be verified while the database is down.
 */
export function verifyToken(secret: string, key: string): string {
  return createHmac('sha256', secret).update(key).digest('hex')
}

/** Whether a token is that of the key, by one of the secrets; in constant time. */
export function isVerifyToken(token: string, secrets: readonly string[], key: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(token)) return false
  let isKnown = false
  for (const secret of secrets) {
    if (timingSafeEqual(Buffer.from(token), Buffer.from(verifyToken(secret, key)))) isKnown = true
  }
  return isKnown
}
