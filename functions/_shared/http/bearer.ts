import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Whether an `Authorization` header is `Bearer` with one of the tokens. Digests are compared, in
 * the same time whatever they have in common, and all of them, so that nothing tells which is near.
 */
export function bearsToken(header: string | undefined, tokens: readonly string[]): boolean {
  const given = header?.match(/^bearer +([\x21-\x7e]+)$/i)?.[1]
  if (given === undefined) return false
  const digest = digestOf(given)
  return tokens.map((token) => timingSafeEqual(digest, digestOf(token))).includes(true)
}

function digestOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}
