import * as z from 'zod'

/** A key of the project with its name in logs. */
export type NamedKey = { name: string; key: string }

/** Visible ASCII only: Deno quotes an invalid header value in its error, and a key must not leak. */
export const keyVariable = z.string()
  .regex(/^[\x21-\x7e]*$/, 'must have only visible ASCII characters')

/** Keys in the platform's format: a JSON object of names and keys. */
export const namedKeysVariable = z.string().optional().transform((text, context): NamedKey[] => {
  if (text === undefined || text === '') return []
  try {
    const keys = z.record(z.string(), keyVariable).parse(JSON.parse(text))
    return Object.entries(keys).map(([name, key]) => ({ name, key }))
  } catch {
    context.addIssue('must be a JSON object of names and keys')
    return z.NEVER
  }
})

/** Words separated by commas. */
export const listVariable = z.string().default('')
  .transform((text) => text.split(',').map((word) => word.trim()).filter((word) => word !== ''))

/** HMAC-SHA256 is as strong as its secret: RFC 7518 requires 32 bytes. */
export const secretsVariable = listVariable.refine(
  (secrets) => secrets.every((secret) => secret.length >= 32),
  'must have at least 32 characters; generate one with openssl rand -hex 32',
)

/** Which HTTP client sends to addresses that others choose. */
export const transportVariable = z.enum(['http1', 'fetch']).default('http1')

/** The credentials of the proxy in `egress.proxy_url`. */
export const proxyAuthorizationVariable = z.string()
  .regex(
    /^[A-Za-z]+ [\x21-\x7e]+$/,
    'must be a scheme and its credentials, such as Basic dXNlcjpwYXNz',
  )
  .optional()

/** true for 1 or true. */
export const flagVariable = z.string().optional()
  .transform((text) => text === '1' || text === 'true')

/** Reads the variables; throws an error that names the invalid one, never its value. */
export function readVariables<T>(
  schema: z.ZodType<T>,
  variables: Record<string, string | undefined>,
): T {
  const read = schema.safeParse(variables)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
}

/** The keys for calls to the database, new ones before the legacy key; throws without any. */
export function readSecretKeys(
  variables: { SUPABASE_SECRET_KEYS: NamedKey[]; SUPABASE_SERVICE_ROLE_KEY: string },
): [NamedKey, ...NamedKey[]] {
  const { SUPABASE_SECRET_KEYS: keys, SUPABASE_SERVICE_ROLE_KEY: legacy } = variables
  const all = legacy === '' ? keys : [...keys, { name: 'service_role', key: legacy }]
  const [first, ...others] = all
  if (first === undefined || first.key === '') {
    throw new Error(
      'Cannot start: neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY is set',
    )
  }
  return [first, ...others]
}
