/**
 * The local stack put together: Postgres with the platform's roles, vault and net; the project's
 * migrations; the functions, each in its process; and the gateway in front. What is started last is
 * stopped first, and a start that fails half way stops what it had started.
 */

import { fileURLToPath } from 'node:url'
import { join, resolve } from 'node:path'
import { readStackConfig } from './config.ts'
import { configureOutbox, prepareDatabase } from './database/mod.ts'
import { machineProblem, messageOf, SetupError } from './errors.ts'
import { functionEnv } from './function_env.ts'
import {
  type FunctionConfig,
  type Functions,
  type FunctionTarget,
  importMapFlags,
  readFunctionConfigs,
  startFunctions,
} from './functions/mod.ts'
import { startGateway } from './gateway/mod.ts'
import { abortable } from './interrupted.ts'
import { loadKeys, type StackKeys } from './keys.ts'
import { startNet } from './net/mod.ts'
import { type Postgres, startPostgres } from './postgres/mod.ts'
import { fetchModules } from './packages/fetch.ts'
import { lockFolder } from './process/lock.ts'
import { requireFreePort } from './process/ports.ts'

/** The folder that holds this project. */
export const PROJECT_DIR = fileURLToPath(new URL('../../', import.meta.url))

/** How a stack is started. */
export interface StackOptions {
  /** Where everything that it keeps lies; made when absent. */
  dataDir: string
  /** The ports of supabase/config.toml, which are the CLI's, or any free ones. */
  ports: 'cli' | 'free'
  /** Drops the data of earlier starts. */
  fresh?: boolean
  /** Which functions to run; by default those of supabase/config.toml. */
  functions?: FunctionConfig[]
  /** More environment variables of the functions. */
  env?: Record<string, string>
  /** Whether to apply supabase/migrations and supabase/seed.sql; true by default. */
  migrate?: boolean
  /** The folder that holds supabase/; by default this project's. */
  projectDir?: string
  /** Whether commits survive a power cut; true by default, false for tests. */
  fsync?: boolean
  /** Gets what happens and what the functions write, a line a call. */
  log?: (line: string) => void
  /** Interrupts the start: everything that it started is stopped, and incomplete files are removed. */
  signal?: AbortSignal
}

/** A running stack. */
export interface Stack {
  /** `http://127.0.0.1:<port>`: what SUPABASE_URL is on the platform. */
  readonly apiUrl: string
  /** Connection string of the role postgres. */
  readonly dbUrl: string
  /** Connection string of supabase_admin, the superuser. */
  readonly adminDbUrl: string
  readonly authenticatorDbUrl: string
  readonly keys: StackKeys
  readonly functions: Functions
  /** Folder of the programs psql, pg_dump and so on. */
  readonly postgresBin: string
  /** Runs a script through psql; see Postgres.psql(). */
  readonly psql: Postgres['psql']
  /** Resolves with the database server's exit code when it has ended, for whatever reason. */
  readonly databaseEnded: Promise<number>
  /** Stops everything that was started. Calling it twice is no error. */
  stop(): Promise<void>
}

/**
 * Starts the stack and resolves when all of it answers, the functions' first start aside: the
 * gateway waits for those. Throws a SetupError with the remedy when a port or the data folder is in
 * use, or when a migration cannot be applied or has changed since it was.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { ports, fresh = false, migrate = true, fsync = true, log = () => {}, signal } = options
  const projectDir = resolve(options.projectDir ?? PROJECT_DIR)
  const dataDir = resolve(options.dataDir)
  const config = await readStackConfig(projectDir)
  const functionConfigs = options.functions ?? await readFunctionConfigs(projectDir)

  await using started = new AsyncDisposableStack()
  await makeFolder(dataDir)
  const lock = await lockFolder(dataDir, 'stack')
  started.defer(() => lock.release())
  if (ports === 'cli') requireFreePort(config.api.port, 'API')

  const postgres = await startPostgres({
    dataDir,
    port: ports === 'cli' ? config.db.port : 'free',
    fsync,
    fresh,
    log,
    signal,
  })
  started.defer(() => postgres.stop())
  if (fresh) await dropKeys(dataDir)
  const keys = await loadKeys(dataDir)
  const { dbUrl, adminDbUrl, authenticatorDbUrl } = postgres
  if (migrate) await prepareDatabase({ dbUrl, projectDir, log, signal })

  const net = await startNet({ url: adminDbUrl, log })
  started.defer(() => net.stop())

  // The functions are told the gateway's URL, so it comes first and asks for them at each request.
  const targets = new Map<string, FunctionTarget>()
  const apiPort = ports === 'cli' ? config.api.port : 0
  if (apiPort !== 0) requireFreePort(apiPort, 'API')
  const gateway = startGateway({
    port: apiPort,
    authenticatorDbUrl,
    keys,
    schemas: config.api.schemas,
    maxRows: config.api.max_rows,
    functions: targets,
    log,
  })
  started.defer(() => gateway.stop())
  const apiUrl = gateway.url
  signal?.throwIfAborted()
  await fetchForeign(functionConfigs, projectDir, log, signal)
  if (functionConfigs.length > 0) {
    log(`starting the functions ${functionConfigs.map(({ name }) => name).join(', ')}`)
  }
  const functions = await startFunctions({
    configs: functionConfigs,
    projectDir,
    env: { ...options.env, ...functionEnv({ apiUrl, dbUrl, keys }) },
    log,
  })
  started.defer(() => functions.stop())
  for (const [name, target] of functions.targets) targets.set(name, target)

  const functionsUrl = `${apiUrl}/functions/v1`
  await abortable(configureOutbox({ dbUrl, functionsUrl, workerSecret: keys.workerSecret }), signal)

  const all = started.move()
  return {
    apiUrl,
    dbUrl,
    adminDbUrl,
    authenticatorDbUrl,
    keys,
    functions,
    postgresBin: postgres.binaries.bin,
    psql: postgres.psql,
    databaseEnded: postgres.ended,
    stop: () => all.disposeAsync(),
  }
}

async function dropKeys(dataDir: string): Promise<void> {
  try {
    await Deno.remove(join(dataDir, 'keys.json'))
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error
  }
}

/**
 * Fetches the imports of functions outside of this project's functions/. The imports of those inside
 * were fetched before this program started.
 */
async function fetchForeign(
  configs: readonly FunctionConfig[],
  projectDir: string,
  log: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const own = join(PROJECT_DIR, 'functions/')
  for (const { entrypoint, importMap } of configs) {
    if (entrypoint.startsWith(own)) continue
    await fetchModules({
      modules: [entrypoint],
      cwd: projectDir,
      flags: importMapFlags(importMap),
      log,
      signal,
    })
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await Deno.mkdir(path, { recursive: true })
  } catch (error) {
    const { AlreadyExists, NotADirectory, PermissionDenied } = Deno.errors
    const isUnfit = [AlreadyExists, NotADirectory, PermissionDenied].some((kind) => {
      return error instanceof kind
    })
    if (!isUnfit) throw new SetupError(machineProblem(error) ?? messageOf(error))
    throw new SetupError(
      `${path} is not a folder that can be used: name another with --data-dir`,
    )
  }
}
