/** The configuration of functions in supabase/config.toml and supabase/functions/.env. */
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { parse } from 'smol-toml'
import { z } from 'zod'

/** One section `[functions.<name>]` with absolute paths. */
export interface FunctionConfig {
  name: string
  /** `verify_jwt`; the platform's default is true. */
  verifyJwt: boolean
  entrypoint: string
  /** A deno.json or an import map; null: Deno's own discovery. */
  importMap: string | null
}

const functionSection = z.object({
  enabled: z.boolean().default(true),
  verify_jwt: z.boolean().default(true),
  entrypoint: z.string().optional(),
  import_map: z.string().optional(),
})

const configFile = z.object({ functions: z.record(z.string(), functionSection).default({}) })

/**
 * Reads the enabled functions of a project.
 *
 * @param projectDir The folder with `supabase/`.
 * @throws if config.toml is missing or not valid.
 */
export async function readFunctionConfigs(projectDir: string): Promise<FunctionConfig[]> {
  const supabaseDir = join(projectDir, 'supabase')
  const path = join(supabaseDir, 'config.toml')
  const parsed = configFile.safeParse(parse(await Deno.readTextFile(path)))
  if (!parsed.success) {
    throw new Error(`Cannot read ${path}: ${z.prettifyError(parsed.error)}`)
  }
  return Object.entries(parsed.data.functions)
    .filter(([, section]) => section.enabled)
    .map(([name, section]) => ({
      name,
      verifyJwt: section.verify_jwt,
      entrypoint: resolve(supabaseDir, section.entrypoint ?? `functions/${name}/index.ts`),
      importMap: section.import_map === undefined ? null : resolve(supabaseDir, section.import_map),
    }))
}

/**
 * Reads the project's secrets for its functions, as `supabase functions serve` does. Names that start with
 * `SUPABASE_` belong to the platform and are ignored.
 */
export async function readFunctionEnv(projectDir: string): Promise<Record<string, string>> {
  let text: string
  try {
    text = await Deno.readTextFile(join(projectDir, 'supabase', 'functions', '.env'))
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {}
    throw error
  }
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (value !== undefined && !name.startsWith('SUPABASE_')) env[name] = value
  }
  return env
}

/** The flags for Deno to use the import map of a function. */
export function importMapFlags(path: string | null): string[] {
  if (path === null) return []
  return /deno\.jsonc?$/.test(path) ? ['--config', path] : ['--import-map', path]
}
