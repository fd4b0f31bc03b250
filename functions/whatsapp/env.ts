import { z } from 'zod'
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

/** What the function whatsapp reads from its environment. */
export type WhatsappEnv = {
  url: string
  /** What the database is called with. */
  key: string
  /** What verify tokens are made with; none: no address can be verified. */
  verifySecrets: string[]
}

/** Reads the variables; throws naming the one that is wrong, never its value. */
export function readWhatsappEnv(environment: Record<string, string | undefined>): WhatsappEnv {
  const env = readVariables(variables, environment)
  return {
    url: env.SUPABASE_URL,
    key: readSecretKeys(env)[0].key,
    verifySecrets: env.OUTHOOK_WHATSAPP_VERIFY_SECRET,
  }
}
