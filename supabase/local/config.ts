import { join } from 'node:path'
import { parse } from 'smol-toml'
import { z } from 'zod'
import { SetupError } from './errors.ts'

const schema = z.object({
  api: z.object({
    port: z.number().int().default(54321),
    schemas: z.array(z.string()).nonempty().default(['public']),
    max_rows: z.number().int().positive().default(1000),
  }).prefault({}),
  db: z.object({
    port: z.number().int().default(54322),
    seed: z.object({
      enabled: z.boolean().default(true),
      sql_paths: z.array(z.string()).default(['./seed.sql']),
    }).prefault({}),
  }).prefault({}),
})

/** The part of supabase/config.toml that the stack itself reads. */
export type StackConfig = z.infer<typeof schema>

/** Reads supabase/config.toml in `projectDir`; throws a SetupError that names an invalid field. */
export async function readStackConfig(projectDir: string): Promise<StackConfig> {
  const text = await Deno.readTextFile(join(projectDir, 'supabase/config.toml'))
  const result = schema.safeParse(parse(text))
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new SetupError(`supabase/config.toml: ${problems.join('; ')}`)
}
