import { type CallbackResult, refuse } from './response.ts'
import { isVerifyToken } from './token.ts'

/** Digits in practice. Anything that could be markup is not echoed. */
const challengeForm = /^[A-Za-z0-9_-]{1,256}$/

/**
 * Handles the GET by which WhatsApp verifies an address: returns the challenge if the token is right. It
 * needs neither a signature nor the database.
 */
export function verifyAddress(
  url: URL,
  key: string,
  secrets: readonly string[],
): CallbackResult {
  if (secrets.length === 0) {
    return refuse(
      'not_configured',
      'OUTHOOK_WHATSAPP_VERIFY_SECRET is not set: set it to 32 random bytes: openssl rand -hex 32',
    )
  }
  const only = (name: string): string | null => {
    const [value = null, ...others] = url.searchParams.getAll(name)
    return others.length === 0 ? value : null
  }
  const token = only('hub.verify_token')
  if (
    only('hub.mode') !== 'subscribe' || token === null || !isVerifyToken(token, secrets, key)
  ) {
    return refuse(
      'forbidden',
      'hub.mode is not subscribe, or hub.verify_token is not the token of this address',
    )
  }
  const challenge = only('hub.challenge')
  if (challenge === null || !challengeForm.test(challenge)) {
    return refuse(
      'invalid_argument',
      'hub.challenge is missing, or not 1 to 256 of A-Z a-z 0-9 _ -',
    )
  }
  return { kind: 'challenge', challenge }
}
