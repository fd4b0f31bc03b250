import * as z from 'zod'

// Which project a run belongs to. A run names it to the database, which gives a run of another project
// nothing: see sql/engine/run/binding.sql. `outbox.project_name()` decides which texts name the same one.

/** The variable that names the project; empty: not set. */
export const projectVariable = z.string()
  .regex(/^[^\p{Cc}]{0,200}$/u, 'must have at most 200 characters, without control characters')
  .default('')
  .transform((text) => text.trim())

const refForm = /^[a-z0-9]{20}$/

/**
 * The ref of a Supabase project in a connection string: of the direct connection
 * (`db.<ref>.supabase.co`) or of the pooler (the user `postgres.<ref>`). Null for any other.
 */
export function refOfDatabaseUrl(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { hostname, username } = new URL(text)
  const host = hostname.toLowerCase()
  const direct = /^db\.([a-z0-9]{20})\.supabase\.(?:co|in|red|net)$/.exec(host)?.[1]
  if (direct !== undefined) return direct
  const ref = username.split('.').at(-1) ?? ''
  return /\.pooler\.supabase\.(?:com|co|in|red|net)$/.test(host) && refForm.test(ref) ? ref : null
}

/** The ref that a name or a URL of a project contains; null if it contains none. */
export function refOfProject(text: string): string | null {
  return /^(?:https?:\/\/)?([a-z0-9]{20})(?:\.supabase\.(?:co|in|red|net))?(?:[:/].*)?$/
    .exec(text.toLowerCase())?.[1] ?? null
}

/**
 * The project of an edge function: OUTHOOK_PROJECT, else the ref in SUPABASE_DB_URL, which stays the
 * same with a custom domain, else SUPABASE_URL.
 */
export function projectOfFunction(
  { project, url, dbUrl }: { project: string; url: string; dbUrl: string | undefined },
): string {
  if (project !== '') return project
  return refOfDatabaseUrl(dbUrl ?? '') ?? url
}
