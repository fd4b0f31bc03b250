import * as z from 'zod'
import {
  keyVariable,
  namedKeysVariable,
  readSecretKeys,
  readVariables,
  secretsVariable,
} from '../_shared/base/env.ts'

const variables = z.object({
  SUPABASE_URL: z.url(),
  SUPABASE_SECRET_KEYS: namedKeysVariable,
  SUPABASE_SERVICE_ROLE_KEY: keyVariable.default(''),
  OUTHOOK_WHATSAPP_VERIFY_SECRET: secretsVariable,
})

export type WhatsappEnv = {
  url: string
  /** The key for calls to the database. */
  key: string
  /** Secrets of verify tokens; an empty list: no address can be verified. */
  verifySecrets: string[]
}

/** Reads the variables; throws an error that names the invalid one, never its value. */
export function readWhatsappEnv(environment: Record<string, string | undefined>): WhatsappEnv {
  const env = readVariables(variables, environment)
  return {
    url: env.SUPABASE_URL,
    key: readSecretKeys(env)[0].key,
    verifySecrets: env.OUTHOOK_WHATSAPP_VERIFY_SECRET,
  }
}
