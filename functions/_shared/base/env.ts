import { z } from 'zod'

/** A key of the project with the name that logs know it by. */
export type NamedKey = { name: string; key: string }

/** A key travels in headers, and Deno repeats a header's value in the error over an invalid one. */
export const keyVariable = z.string()
  .regex(/^[\x21-\x7e]*$/, 'must be visible ASCII characters alone')

/** Keys as the platform gives them: a JSON object of names and keys. */
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

/** Words with commas between them. */
export const listVariable = z.string().default('')
  .transform((text) => text.split(',').map((word) => word.trim()).filter((word) => word !== ''))

/** HMAC-SHA256 is as strong as its secret: RFC 7518 asks for 32 bytes. */
export const secretsVariable = listVariable.refine(
  (secrets) => secrets.every((secret) => secret.length >= 32),
  'must be at least 32 characters long; openssl rand -hex 32 makes one',
)

/** Set by 1 or true. */
export const flagVariable = z.string().optional()
  .transform((text) => text === '1' || text === 'true')

/** Reads the variables; throws naming the one that is wrong, never its value. */
export function readVariables<T>(
  schema: z.ZodType<T>,
  variables: Record<string, string | undefined>,
): T {
  const read = schema.safeParse(variables)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
}

/** The keys that may call the database, the new kind first; throws when there is none. */
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
