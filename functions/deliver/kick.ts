import { Buffer } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'

/** How far a kick's time may be from now: clocks differ, and a copied kick must expire. */
export const kickWindowSeconds = 300

const form = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/

/** The secrets in force: one, or two during a rotation, separated by a comma. */
export function parseKickSecrets(text: string): string[] {
  return text.split(',').map((secret) => secret.trim()).filter((secret) => secret !== '')
}

/**
 * The database that a kick comes from, from its x-outhook-database header: 32 hexadecimal digits, or null.
 * It is not signed: a wrong one can only end a run that the sender of the kick has started.
 */
export function databaseOfKick(header: string | undefined): string | null {
  return header !== undefined && /^[0-9a-f]{32}$/.test(header) ? header : null
}

/**
 * Whether an x-outhook-kick header, `t=<unix seconds>,v1=<hex hmac-sha256 of the digits of t>`, was
 * signed with one of the secrets within the window around `nowSeconds`. The comparison takes constant
 * time.
 */
export function verifyKick(
  header: string | undefined,
  secrets: readonly string[],
  nowSeconds: number,
): boolean {
  const [, time, signature] = form.exec(header ?? '') ?? []
  if (time === undefined || signature === undefined) return false
  const given = Buffer.from(signature, 'hex')
  let isKnown = false
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(time).digest()
    if (timingSafeEqual(given, expected)) isKnown = true
  }
  return isKnown && Math.abs(nowSeconds - Number(time)) <= kickWindowSeconds
}
