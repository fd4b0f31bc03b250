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
  OUTHOOK_METRICS_TOKEN: secretsVariable,
})

export type MetricsEnv = {
  url: string
  /** The key for calls to the database. */
  key: string
  /** The accepted tokens: two during a rotation. */
  tokens: string[]
}

/** Reads the variables; throws an error that names the invalid one, never its value. */
export function readMetricsEnv(environment: Record<string, string | undefined>): MetricsEnv {
  const env = readVariables(variables, environment)
  const [{ key }] = readSecretKeys(env)
  return { url: env.SUPABASE_URL, key, tokens: env.OUTHOOK_METRICS_TOKEN }
}
