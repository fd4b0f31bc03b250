/**
 * The local stack: Postgres with the platform's roles, vault and net; the project's migrations; the
 * functions, each in its own process; and the gateway. They stop in reverse order, and a failed start
 * stops everything that it has started.
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
import { startFirstTicks } from './first_ticks.ts'
import { abortable, throwIfInterrupted } from './interrupted.ts'
import { loadKeys, type StackKeys } from './keys.ts'
import { startNet } from './net/mod.ts'
import { type Postgres, type PostgresBinaries, startPostgres } from './postgres/mod.ts'
import { fetchModules } from './packages/fetch.ts'
import { lockFolder } from './process/lock.ts'
import { requireFreePort } from './process/ports.ts'
import { startWhatsapp, whatsappPort } from './whatsapp/mod.ts'

/** The project's folder. */
export const PROJECT_DIR = fileURLToPath(new URL('../../', import.meta.url))

export interface StackOptions {
  /** The folder for all data; created if absent. */
  dataDir: string
  /** The ports in supabase/config.toml (the CLI's defaults), or any free ports. */
  ports: 'cli' | 'free'
  /** Whether to drop the data of earlier starts. */
  fresh?: boolean
  /** The functions to run; default: those in supabase/config.toml. */
  functions?: FunctionConfig[]
  /** Additional environment variables of the functions. */
  env?: Record<string, string>
  /** Whether to apply supabase/migrations and supabase/seed.sql; default true. */
  migrate?: boolean
  /** The folder with supabase/; default: this project. */
  projectDir?: string
  /** Whether to tick before the first full minute, when pg_cron before 1.5 starts; default false. */
  ticksAtOnce?: boolean
  /** Whether to start a WhatsApp of this machine, and make it the Graph API; default false. */
  whatsapp?: boolean
  /** Whether commits survive a power failure; default true, false for tests. */
  fsync?: boolean
  /** Gets the stack's messages and the functions' output, one line for each call. */
  log?: (line: string) => void
  /** Interrupts the start: its processes are stopped, and incomplete files are removed. */
  signal?: AbortSignal
}

/** A running stack. */
export interface Stack {
  /** `http://127.0.0.1:<port>`, the value of SUPABASE_URL. */
  readonly apiUrl: string
  /** Connection string of the role postgres. */
  readonly dbUrl: string
  /** Connection string of supabase_admin, the superuser. */
  readonly adminDbUrl: string
  readonly authenticatorDbUrl: string
  readonly keys: StackKeys
  readonly functions: Functions
  /** The folder of psql, pg_dump and so on. */
  readonly postgresBin: string
  /** What the database is: `PostgreSQL 17 with pg_net and supabase_vault`. */
  readonly server: string
  /** The URL of the WhatsApp of this machine; null: there is none. */
  readonly whatsappUrl: string | null
  /** Runs a script with psql; see Postgres.psql(). */
  readonly psql: Postgres['psql']
  /** Resolves with the database server's exit code when it ends. */
  readonly databaseEnded: Promise<number>
  /** Stops everything; a second call has no effect. */
  stop(): Promise<void>
}

/**
 * Starts the stack and resolves when all parts respond, except for the functions, for which the gateway
 * waits. Throws a SetupError with the remedy if a port or the data folder is in use, or if a migration
 * fails or has changed since it was applied, and with the reason of `signal` if that aborts.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  try {
    return await startParts(options)
  } catch (error) {
    await throwIfInterrupted(options.signal)
    throw error
  }
}

async function startParts(options: StackOptions): Promise<Stack> {
  const { ports, fresh = false, migrate = true, fsync = true, log = () => {}, signal } = options
  const { ticksAtOnce = false } = options
  const projectDir = resolve(options.projectDir ?? PROJECT_DIR)
  const dataDir = resolve(options.dataDir)
  const config = await readStackConfig(projectDir)
  const functionConfigs = options.functions ?? await readFunctionConfigs(projectDir)

  await using started = new AsyncDisposableStack()
  await makeFolder(dataDir)
  const lock = await lockFolder(dataDir, 'stack')
  started.defer(() => lock.release())
  if (ports === 'cli') {
    requireFreePort(config.api.port, 'API')
    if (options.whatsapp === true) requireFreePort(whatsappPort, 'WhatsApp')
  }

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

  if (!postgres.binaries.platform.includes('pg_net')) {
    const net = await startNet({ url: adminDbUrl, log })
    started.defer(() => net.stop())
  }

  // The gateway starts first, because functions need its URL; it looks up their ports at each request.
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

  let whatsappUrl: string | null = null
  if (options.whatsapp === true) {
    const whatsapp = await startWhatsapp({ dbUrl, apiUrl, ports })
    started.defer(() => whatsapp.stop())
    whatsappUrl = whatsapp.url
  }

  if (ticksAtOnce) {
    const ticks = startFirstTicks({ dbUrl, log })
    started.defer(() => ticks.stop())
  }

  const all = started.move()
  return {
    apiUrl,
    dbUrl,
    adminDbUrl,
    authenticatorDbUrl,
    keys,
    functions,
    postgresBin: postgres.binaries.bin,
    server: serverName(postgres.binaries),
    whatsappUrl,
    psql: postgres.psql,
    databaseEnded: postgres.ended,
    stop: () => all.disposeAsync(),
  }
}

function serverName({ major, platform }: PostgresBinaries): string {
  return [`PostgreSQL ${major}`, ...platform.length > 0 ? [platform.join(' and ')] : []]
    .join(' with ')
}

async function dropKeys(dataDir: string): Promise<void> {
  try {
    await Deno.remove(join(dataDir, 'keys.json'))
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error
  }
}

/** Fetches imports of functions outside of functions/; those inside are fetched before this program starts. */
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
      `${path} is not a usable folder: set another one with --data-dir`,
    )
  }
}
