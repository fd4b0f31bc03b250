import { parse } from 'smol-toml'
import { z } from 'zod'
import { SetupError } from './errors.ts'

const CONFIG = new URL('../config.toml', import.meta.url)

const schema = z.object({
  api: z.object({
    port: z.number().int().default(54321),
    schemas: z.array(z.string()).nonempty().default(['public']),
    max_rows: z.number().int().positive().default(1000),
  }),
  db: z.object({ port: z.number().int().default(54322) }),
})

/** What the stack itself reads of supabase/config.toml. */
export type StackConfig = z.infer<typeof schema>

/** Reads supabase/config.toml; throws a SetupError that names the field when a value is unusable. */
export async function readStackConfig(): Promise<StackConfig> {
  const result = schema.safeParse(parse(await Deno.readTextFile(CONFIG)))
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new SetupError(`supabase/config.toml: ${problems.join('; ')}`)
}
