import { Buffer } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The key of the address that names no app, `/api/v1/webhooks/whatsapp/inbound`. */
export const fixedKey = '/api/v1/webhooks/whatsapp/inbound'

/** Keys of apps, as put_whatsapp_app() makes them. */
export const appKeyForm = /^[A-Za-z0-9_-]{16,64}$/

/**
 * The token that WhatsApp is to name when it verifies the address with that key: 64 hex digits. It
 * is made of the key alone, so that an address can be verified while the database is down.
 */
export function verifyToken(secret: string, key: string): string {
  return createHmac('sha256', secret).update(key).digest('hex')
}

/** Whether a token is the one of the key, by any of the secrets; takes the same time for each. */
export function isVerifyToken(token: string, secrets: readonly string[], key: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(token)) return false
  let isKnown = false
  for (const secret of secrets) {
    if (timingSafeEqual(Buffer.from(token), Buffer.from(verifyToken(secret, key)))) isKnown = true
  }
  return isKnown
}
