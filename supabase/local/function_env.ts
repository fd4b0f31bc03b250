import type { StackKeys } from './keys.ts'

/** The environment variables that the platform sets for each function, and Outhook's secrets. */
export function functionEnv(
  { apiUrl, dbUrl, keys }: { apiUrl: string; dbUrl: string; keys: StackKeys },
): Record<string, string> {
  return {
    SUPABASE_URL: apiUrl,
    SUPABASE_DB_URL: dbUrl,
    SUPABASE_ANON_KEY: keys.anonKey,
    SUPABASE_SERVICE_ROLE_KEY: keys.serviceRoleKey,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: keys.publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: keys.secretKey }),
    SUPABASE_JWKS: JSON.stringify(keys.jwks),
    OUTHOOK_WORKER_SECRET: keys.workerSecret,
    OUTHOOK_PORTAL_SECRET: keys.portalSecret,
    EXAMPLE_CONSUMER_SECRET: keys.exampleSecret,
    OUTHOOK_WHATSAPP_VERIFY_SECRET: keys.verifySecret,
    OUTHOOK_METRICS_TOKEN: keys.metricsToken,
  }
}
