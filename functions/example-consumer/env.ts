import * as z from 'zod'

/** Visible ASCII only: Deno quotes an invalid header value in its error, and a key must not leak. */
const key = z.string().regex(/^[\x21-\x7e]*$/, 'must have only visible ASCII characters')

const variables = z.object({
  SUPABASE_URL: z.url(),
  SUPABASE_SECRET_KEYS: z.string().default('{}'),
  SUPABASE_SERVICE_ROLE_KEY: key.default(''),
  EXAMPLE_CONSUMER_SECRET: z.string().default(''),
})

export type ConsumerEnv = {
  url: string
  /** The key for calls to the database. */
  key: string
  /** The endpoint's signing secret; empty: not set up yet. */
  secret: string
}

/** Reads the variables; throws an error that names the invalid one, never its value. */
export function readConsumerEnv(environment: Record<string, string | undefined>): ConsumerEnv {
  const read = variables.safeParse(environment)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
  }
  const { SUPABASE_URL, SUPABASE_SECRET_KEYS, SUPABASE_SERVICE_ROLE_KEY, EXAMPLE_CONSUMER_SECRET } =
    read.data
  const [newest = SUPABASE_SERVICE_ROLE_KEY] = readKeys(SUPABASE_SECRET_KEYS)
  if (newest === '') {
    throw new Error(
      'Cannot start: neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY is set',
    )
  }
  return { url: SUPABASE_URL, key: newest, secret: EXAMPLE_CONSUMER_SECRET }
}

function readKeys(text: string): string[] {
  try {
    return Object.values(z.record(z.string(), key).parse(JSON.parse(text || '{}')))
  } catch {
    throw new Error(
      'Cannot start: SUPABASE_SECRET_KEYS must be a JSON object of names and visible ASCII keys',
    )
  }
}
