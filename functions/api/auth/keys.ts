import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { NamedKey } from '../../_shared/base/env.ts'

/**
 * Makes a look-up of keys that takes the same time whatever is asked: both sides are hashed with a
 * random key, and every key is compared.
 *
 * @returns The name of the key that equals the text; null when none does.
 */
export function createKeyring(keys: readonly NamedKey[]): (text: string) => string | null {
  const seed = randomBytes(32)
  const digest = (text: string): Uint8Array => createHmac('sha256', seed).update(text).digest()
  const known = keys.filter(({ key }) => key !== '')
    .map(({ name, key }) => ({ name, digest: digest(key) }))

  return function nameOf(text: string): string | null {
    const asked = digest(text)
    let found: string | null = null
    for (const one of known) {
      if (timingSafeEqual(one.digest, asked)) found = one.name
    }
    return found
  }
}
