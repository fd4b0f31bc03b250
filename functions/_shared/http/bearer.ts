import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Whether an `Authorization` header is `Bearer` with one of the tokens. It compares the digests of all
 * tokens in constant time, so timing reveals nothing.
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
