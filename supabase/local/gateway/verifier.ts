/** Finds the key that verifies a token: the legacy secret for HS256, otherwise a signing key. */
import { Buffer } from 'node:buffer'
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import type { StackKeys } from '../keys.ts'

/** jose's own key set ignores symmetric keys, so this handles HS256. */
export function createKeyFinder({ keys }: StackKeys['jwks']): JWTVerifyGetKey {
  const publicKeys = createLocalJWKSet({ keys })
  const secret = keys.find(({ kty }) => kty === 'oct')?.k
  return async function findKey(
    header,
    token,
  ): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> {
    if (header?.alg !== 'HS256') return await publicKeys(header, token)
    if (secret === undefined) throw new errors.JWKSNoMatchingKey()
    return Buffer.from(secret, 'base64url')
  }
}
