/** Finds the key that verifies a token: the legacy secret for HS256, the signing keys otherwise. */
import { Buffer } from 'node:buffer'
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import type { StackKeys } from '../keys.ts'

/** jose's own key set leaves symmetric keys out, so HS256 is answered here. */
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
