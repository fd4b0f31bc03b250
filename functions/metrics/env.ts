import { z } from 'zod'

/** A key travels in headers, and Deno repeats a header's value in the error over an invalid one. */
const key = z.string().regex(/^[\x21-\x7e]*$/, 'must be visible ASCII characters alone')

const keys = z.string().optional().transform((text, context) => {
  if (text === undefined || text === '') return []
  try {
    return Object.values(z.record(z.string(), key).parse(JSON.parse(text)))
  } catch {
    context.addIssue('must be a JSON object of names and keys')
    return z.NEVER
  }
})

const tokens = z.string().default('')
  .transform((text) => text.split(',').map((token) => token.trim()).filter((t) => t !== ''))
  .refine(
    (all) => all.every((token) => /^[\x21-\x7e]{32,}$/.test(token)),
    'must be at least 32 visible characters; openssl rand -hex 32 makes one',
  )

const variables = z.object({
  SUPABASE_URL: z.url(),
  SUPABASE_SECRET_KEYS: keys,
  SUPABASE_SERVICE_ROLE_KEY: key.optional(),
  OUTHOOK_METRICS_TOKEN: tokens,
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
  const read = variables.safeParse(environment)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
  }
  const { SUPABASE_URL, SUPABASE_SECRET_KEYS, SUPABASE_SERVICE_ROLE_KEY } = read.data
  const key = SUPABASE_SECRET_KEYS[0] ?? SUPABASE_SERVICE_ROLE_KEY
  if (key === undefined || key === '') {
    throw new Error(
      'Cannot start: neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY is set',
    )
  }
  return { url: SUPABASE_URL, key, tokens: read.data.OUTHOOK_METRICS_TOKEN }
}
