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
  OUTHOOK_METRICS_TOKEN: secretsVariable,
})

/** What the function metrics reads from its environment. */
export type MetricsEnv = {
  url: string
  /** What the database is called with. */
  key: string
  /** The tokens in force: two during a rotation. */
  tokens: string[]
}

/** Reads the variables; throws naming the one that is wrong, never its value. */
export function readMetricsEnv(environment: Record<string, string | undefined>): MetricsEnv {
  const env = readVariables(variables, environment)
  const [{ key }] = readSecretKeys(env)
  return { url: env.SUPABASE_URL, key, tokens: env.OUTHOOK_METRICS_TOKEN }
}
