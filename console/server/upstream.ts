import { join } from 'node:path'
import { readStackConfig } from '../../supabase/local/config.ts'
import { SetupError } from '../../supabase/local/errors.ts'
import { exists } from '../../supabase/local/exists.ts'
import { loadKeys } from '../../supabase/local/keys.ts'
import type { Upstream } from './proxy.ts'

/** Where `readUpstream()` looks. */
export interface Surroundings {
  /** `OUTHOOK_CONSOLE_URL`: the URL of a project; without it the local stack. */
  url: string | undefined
  /** `OUTHOOK_CONSOLE_SECRET_KEY`: its secret key. */
  secretKey: string | undefined
  /** `OUTHOOK_CONSOLE_FUNCTION`: the name of the function `api` there. */
  functionName: string | undefined
  /** The folder of the project, with supabase/config.toml. */
  root: string
  /** The data folder of the local stack. */
  dataDir: string
}

/**
 * The API to show: that of the variables, or that of the local stack. Throws a SetupError that names
 * the missing variable, or that says how to start the stack.
 */
export async function readUpstream(from: Surroundings): Promise<Upstream> {
  const { url, secretKey, functionName = 'api' } = from
  if (url === undefined && secretKey === undefined) return await localStack(from, functionName)
  if (url === undefined) throw missing('OUTHOOK_CONSOLE_URL', 'https://<ref>.supabase.co')
  if (secretKey === undefined) throw missing('OUTHOOK_CONSOLE_SECRET_KEY', 'sb_secret_…')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new SetupError(`OUTHOOK_CONSOLE_URL is not a URL: set it to https://<ref>.supabase.co`)
  }
  return { url: functionUrl(url, functionName), secretKey }
}

function missing(name: string, example: string): SetupError {
  return new SetupError(
    `${name} is not set: for a hosted project, set it to ${example}; for the local stack, set ` +
      'neither OUTHOOK_CONSOLE_URL nor OUTHOOK_CONSOLE_SECRET_KEY',
  )
}

async function localStack(
  { root, dataDir }: Surroundings,
  functionName: string,
): Promise<Upstream> {
  if (!await exists(join(dataDir, 'keys.json'))) {
    throw new SetupError(
      `There is no local stack in ${dataDir}: start it with "npx -y deno@2.9.6 task stack", or set ` +
        'OUTHOOK_CONSOLE_URL and OUTHOOK_CONSOLE_SECRET_KEY of a hosted project',
    )
  }
  const { api } = await readStackConfig(root)
  const { secretKey } = await loadKeys(dataDir)
  return { url: functionUrl(`http://127.0.0.1:${api.port}`, functionName), secretKey }
}

function functionUrl(url: string, functionName: string): string {
  return `${url.replace(/\/+$/, '')}/functions/v1/${functionName}`
}
