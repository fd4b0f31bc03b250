import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { NamedKey } from '../../_shared/base/env.ts'

/**
 * Creates a constant-time lookup: both sides are hashed with a random key, and all keys are compared.
 *
 * @returns a function that returns the name of the key that equals the text, or null
 */
export function createKeyLookup(keys: readonly NamedKey[]): (text: string) => string | null {
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
