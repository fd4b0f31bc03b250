import { Buffer } from 'node:buffer'
import { createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import { createKeyedHmac } from '../../functions/_shared/signing/hmac.ts'
import { secretBytes } from '../../functions/_shared/signing/secret_bytes.ts'

/** Whether a signature belongs to one request. */
export type Check = (signature: string) => boolean

/** Prepares the check of `head` followed by `body`, which is read at most once for each key. */
export type Prepare = (head: string, body: Uint8Array) => Check

/** A prepared secret or public key: `v1` and `simple` need a secret, `v1a` a public key. */
export type VerifyKey =
  | { scheme: 'v1'; base64: Prepare; hex: Prepare }
  | { scheme: 'v1a'; base64: Prepare }

const secretPrefix = 'whsec_'
const publicPrefix = 'whpk_'

/** SubjectPublicKeyInfo of an ed25519 key (RFC 8410) up to the key, which is its last 32 bytes. */
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')
const publicBytes = 32

/**
 * Prepares a secret (`whsec_…`) or a public key (`whpk_…`). Throws an Error that does not contain
 * it if it cannot verify anything.
 */
export function parseKey(given: string): VerifyKey {
  if (typeof given !== 'string') {
    throw new Error(`A signing secret is ${typeof given} instead of text: is the variable set?`)
  }
  // The file of a secret ends with a newline.
  const text = given.trim()
  if (/\s/.test(text)) throw new Error('A signing secret has white space inside: copy it again')
  if (text.startsWith(publicPrefix)) return publicKey(text.slice(publicPrefix.length))
  if (text.startsWith('whsk_')) {
    throw new Error('A whsk_ key signs: give the receiver its public key, which starts with whpk_')
  }
  if (text === '' || text === secretPrefix) {
    throw new Error('A signing secret is empty: set the whsec_ secret of the endpoint')
  }
  if (text.startsWith(secretPrefix) && !isBase64(text.slice(secretPrefix.length))) {
    throw new Error('A signing secret is not base64 after whsec_: copy it again')
  }
  return hmacKey(createKeyedHmac(secretBytes(text)))
}

/** The HMAC of `head` followed by `body`. */
type Digest = (head: string, body: Uint8Array, encoding: 'base64' | 'hex') => string

/** Prepares a key by its digest. */
export function hmacKey(digest: Digest): VerifyKey {
  const prepare = (encoding: 'base64' | 'hex'): Prepare => (head, body) => {
    // A request may have many signatures: each is compared with one digest.
    let expected: Buffer | undefined
    return function isSame(signature): boolean {
      expected ??= Buffer.from(digest(head, body, encoding))
      const given = Buffer.from(signature)
      return given.length === expected.length && timingSafeEqual(given, expected)
    }
  }
  return { scheme: 'v1', base64: prepare('base64'), hex: prepare('hex') }
}

/** As secretBytes() takes it; other text would be the key itself, which signs nothing of Outhook. */
function isBase64(text: string): boolean {
  const bare = text.replace(/=+$/, '')
  return /^[A-Za-z0-9+/]+$/.test(bare) && bare.length % 4 !== 1
}

function publicKey(encoded: string): VerifyKey {
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length !== publicBytes) {
    throw new Error(
      `A public key has ${bytes.length} bytes instead of ${publicBytes}: copy it again`,
    )
  }
  const key = createPublicKey({
    key: Buffer.concat([spkiHead, bytes]),
    format: 'der',
    type: 'spki',
  })
  return {
    scheme: 'v1a',
    base64(head, body): Check {
      let signed: Buffer | undefined
      return function isRight(signature): boolean {
        signed ??= Buffer.concat([Buffer.from(head), body])
        return verify(null, signed, key, Buffer.from(signature, 'base64'))
      }
    },
  }
}
