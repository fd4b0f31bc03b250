import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'

/** Makes HMAC-SHA256 digests with one key. */
export type Hmac = (head: string, body: Uint8Array) => Buffer

/** SHA-256 works in blocks of so many bytes. */
const blockBytes = 64

/**
 * Prepares a key; the digest is over `head` followed by `body`. It is put together from two hashes,
 * as RFC 2104 defines it: Deno's createHmac makes a key object first, and for a body of 560 bytes
 * takes 7 µs where this takes 5 (Deno 2.1: 20 and 9). A delivery makes two, a tenth of its CPU.
 */
export function createKeyedHmac(key: Uint8Array): Hmac {
  const block = key.length > blockBytes ? createHash('sha256').update(key).digest() : key
  const innerPad = padded(block, 0x36)
  const outerPad = padded(block, 0x5c)

  return function digest(head, body): Buffer {
    const inner = createHash('sha256').update(innerPad).update(head).update(body).digest()
    return createHash('sha256').update(outerPad).update(inner).digest()
  }
}

function padded(key: Uint8Array, pad: number): Buffer {
  return Buffer.from(Buffer.alloc(blockBytes, pad).map((byte, i) => byte ^ (key[i] ?? 0)))
}
