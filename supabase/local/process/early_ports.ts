/**
 * Checks the ports of a stack before its packages are fetched, so that a taken port ends the start at
 * once. Uses no package, hence the small reader of TOML.
 */

import { join } from 'node:path'
import { lockFolder } from './lock.ts'
import { requireFreePort } from './ports.ts'

/** The ports in supabase/config.toml; null: not found, so the complete check of the start decides. */
export interface ConfiguredPorts {
  api: number | null
  db: number | null
}

/** Reads `port` of the tables `[api]` and `[db]`. */
export function readPorts(toml: string): ConfiguredPorts {
  const ports: ConfiguredPorts = { api: null, db: null }
  let table = ''
  for (const line of toml.split('\n')) {
    table = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1]?.trim() ?? table
    const port = /^\s*port\s*=\s*(\d+)\s*(?:#.*)?$/.exec(line)?.[1]
    if (port !== undefined && (table === 'api' || table === 'db')) ports[table] = Number(port)
  }
  return ports
}

/**
 * Throws a SetupError with the remedy if the data folder is in use or a port of supabase/config.toml
 * is taken. `args` are the arguments of `stack` or `start`, `root` is the folder of the project.
 */
export async function requireFreePorts(root: string, args: readonly string[]): Promise<void> {
  if (args.some((arg) => ['--free-ports', '--help', '-h'].includes(arg))) return
  const dataDir = dataDirOf(args) ?? join(root, '.outhook/stack')
  const lock = `${dataDir}/stack.lock`
  // A running copy that uses the same folder has the ports too: its pid tells more.
  if (await isThere(lock)) (await lockFolder(dataDir, 'stack')).release()
  const ports = readPorts(await Deno.readTextFile(join(root, 'supabase/config.toml')))
  if (ports.api !== null) requireFreePort(ports.api, 'API')
  // The start stops a server of this folder that a killed copy has left.
  const isOurs = await isThere(`${dataDir}/pg/postmaster.pid`)
  if (ports.db !== null && !isOurs) requireFreePort(ports.db, 'database')
}

/** The value of `--data-dir <folder>` or `--data-dir=<folder>`. */
function dataDirOf(args: readonly string[]): string | undefined {
  const at = args.indexOf('--data-dir')
  if (at >= 0) return args[at + 1]
  return args.find((arg) => arg.startsWith('--data-dir='))?.slice('--data-dir='.length)
}

/** A path that cannot be examined counts as absent: the start itself reports it. */
async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(path)
    return true
  } catch {
    return false
  }
}
