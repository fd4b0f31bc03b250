/** The gateway and the function `deliver` in a process of their own. */

import { functionEnv } from '../../../supabase/local/function_env.ts'
import {
  type FunctionTarget,
  readFunctionConfigs,
  startFunctions,
} from '../../../supabase/local/functions/mod.ts'
import { startGateway } from '../../../supabase/local/gateway/mod.ts'
import { loadKeys } from '../../../supabase/local/keys.ts'
import { printRaw } from '../../../supabase/local/print.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** The variables that it reads. */
export interface PlatformEnv extends Record<string, string> {
  CHAOS_FOLDER: string
  CHAOS_PORT: string
  CHAOS_AUTHENTICATOR_URL: string
  CHAOS_DB_URL: string
}

function read(name: keyof PlatformEnv & string): string {
  return Deno.env.get(name) ?? ''
}

async function main(): Promise<void> {
  const keys = await loadKeys(read('CHAOS_FOLDER'))
  const targets = new Map<string, FunctionTarget>()
  const { url: apiUrl } = startGateway({
    port: Number(read('CHAOS_PORT')),
    authenticatorDbUrl: read('CHAOS_AUTHENTICATOR_URL'),
    keys,
    schemas: ['public', 'outbox'],
    maxRows: 1_000,
    functions: targets,
    log: () => {},
  })
  const configs = await readFunctionConfigs(projectRoot)
  const functions = await startFunctions({
    configs: configs.filter(({ name }) => name === 'deliver'),
    projectDir: projectRoot,
    env: functionEnv({ apiUrl, dbUrl: read('CHAOS_DB_URL'), keys }),
    log: () => {},
  })
  for (const [name, target] of functions.targets) targets.set(name, target)
  let told: number | null = null
  setInterval(() => {
    const pid = functions.pid('deliver')
    if (pid !== told) printRaw(`deliver ${pid ?? ''}\n`)
    told = pid
  }, 100)
  await functions.up()
  printRaw('ready\n')
}

if (import.meta.main) await main()
