/** What all questions share: the receiver, the servers, and sides as processes. */

import { join } from 'node:path'
import {
  workerFlags as nodeFlags,
  workerThreads,
} from '../../../functions/_shared/runtime/node_runtime.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { bundleForNode } from '../../../supabase/local/worker/bundle.ts'
import { testFolder } from '../../_support/folder.ts'
import { durabilityProblems, readDurability, requireDurable } from '../setup/durable.ts'
import { type Peers, preparePeers } from '../setup/peers.ts'
import { type Redis, startRedis } from '../setup/redis.ts'
import { type Server, startServer } from '../setup/server.ts'
import type { SideConfig } from '../sides/_protocol.ts'
import type { SideSpec } from '../sides/catalog.ts'
import { type Child, startChild } from './child.ts'

export interface Bench {
  readonly peers: Peers
  readonly server: Server
  readonly receiver: Child
  readonly origin: string
  readonly secret: string
  /** Started at its first use. */
  redis(): Promise<Redis>
  /** Empties the side's store and gives it its endpoints. */
  prepare(spec: SideSpec, endpoints: number, options?: Endpoints): Promise<void>
  /** Readies the servers for this side's turn. Throws when what it stores would not be durable. */
  turn(spec: SideSpec): Promise<void>
  /** Starts a process of the side on its store. */
  start(
    spec: SideSpec,
    role: SideConfig['role'],
    endpoints: number,
    options?: Endpoints,
  ): Promise<Child>
  /** Of the servers that were used. */
  versions(): Promise<Record<string, string>>
  log(line: string): void
  stop(): Promise<void>
}

/** How a side's endpoints are. */
export interface Endpoints {
  /** The most that each has in flight. */
  maxInFlight?: number
  /** Whether each event goes to all of them. */
  isFan?: boolean
}

/** The most that an endpoint may allow. */
const MAX_IN_FLIGHT = 1_000

/** The source of Outhook's sides, from the root of the project. */
const OUTHOOK = 'tests/bench/sides/outhook.ts'

/** The worker's own flags for V8, as `deno task worker` has them. */
function workerFlags(): string[] {
  const config = JSON.parse(Deno.readTextFileSync(join(projectRoot, 'deno.json')))
  const command: string = config.tasks.worker.command
  return command.split(' ').filter((word) => word.startsWith('--v8-flags'))
}

/** Starts the servers and the receiver. Throws when Postgres is not durable. */
export async function startBench(log: (line: string) => void): Promise<Bench> {
  const dataDir = testFolder()
  await using started = new AsyncDisposableStack()
  started.defer(() => Deno.remove(dataDir, { recursive: true }).catch(() => {}))
  const peers = await preparePeers(log)
  const server = await startServer(dataDir)
  started.defer(() => server.stop())
  const problems = durabilityProblems(await readDurability(server.sql))
  if (problems.length > 0) throw new Error(problems.join('; '))
  const secret = `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`
  const receiver = await startChild('receiver', [...peers.command('receiver', 'node'), secret])
  started.defer(() => receiver.end())
  const origin = `http://127.0.0.1:${receiver.hello.port}`
  let redis: Promise<Redis> | undefined
  // One that could not start is a problem of its side, not of the question.
  started.defer(async () => await (await redis?.catch(() => undefined))?.stop())

  function needRedis(): Promise<Redis> {
    return redis ??= startRedis(join(dataDir, 'redis'), log)
  }

  async function configOf(
    spec: SideSpec,
    role: SideConfig['role'],
    endpoints: number,
    isFan: boolean,
  ): Promise<string> {
    const config: SideConfig = {
      ...{ role, origin, secret, endpoints, isFan, tuning: spec.tuning },
      store: storeOf(spec),
      dbUrl: urlOf(server, spec),
      redisPort: spec.source === 'bullmq' ? (await needRedis()).port : 0,
      apiUrl: server.stack.apiUrl,
      apiKey: server.stack.keys.secretKey,
    }
    return JSON.stringify(config)
  }

  let bundle: Promise<string> | undefined

  /** Outhook's side as one file, built as `task build:worker` builds the worker. */
  async function buildForNode(): Promise<string> {
    const output = join(dataDir, 'outhook.mjs')
    await bundleForNode({ entry: OUTHOOK, output, log })
    return output
  }

  async function outhookCommand(spec: SideSpec): Promise<string[]> {
    if (spec.runtime === 'node') {
      return [peers.node, ...nodeFlags, await (bundle ??= buildForNode())]
    }
    const flags = spec.mode === 'rpc' ? [] : workerFlags()
    const run = [Deno.execPath(), 'run', '--cached-only', '-A', '--no-check', ...flags]
    return [...run, join(projectRoot, OUTHOOK)]
  }

  const all = started.move()
  return {
    ...{ peers, server, receiver, origin, secret, log },
    redis: needRedis,
    prepare: async (spec, endpoints, { maxInFlight = MAX_IN_FLIGHT, isFan = false } = {}) => {
      if (spec.source === 'outhook') {
        await server.freshOuthook({ origin, secret, endpoints, maxInFlight, isFan })
      } else if (isPostgres(spec)) await server.freshDatabase(storeOf(spec))
      else if (spec.source === 'bullmq') await (await needRedis()).empty()
    },
    turn: async (spec) => {
      await server.setCron(spec.source === 'outhook')
      if (spec.source === 'bullmq') await setFsync(await needRedis(), spec.mode)
      else if (isPostgres(spec)) await requireDurable(urlOf(server, spec))
    },
    start: async (spec, role, endpoints, { isFan = false } = {}) => {
      const command = spec.source === 'outhook'
        ? await outhookCommand(spec)
        : peers.command(`sides/${spec.source}`, spec.runtime)
      const options = spec.mode === 'rpc' ? ['--rpc'] : []
      return await startChild(
        spec.name,
        [...command, await configOf(spec, role, endpoints, isFan), ...options],
        { cwd: projectRoot, env: environmentOf(spec) },
      )
    },
    versions: async () => ({
      postgres: await server.version(),
      ...redis === undefined ? {} : { redis: await (await redis).version() },
    }),
    stop: () => all.disposeAsync(),
  }
}

/** The environment that the worker gives itself under Node; see restartWithFlags(). */
function environmentOf({ source, runtime }: SideSpec): Record<string, string> {
  const isOurs = source === 'outhook' && runtime === 'node'
  return isOurs ? { UV_THREADPOOL_SIZE: String(workerThreads) } : {}
}

/** The name of the side's database or queue. */
export function storeOf({ name }: SideSpec): string {
  return `bench_${name.replaceAll(/\W/g, '_')}`
}

function isPostgres({ source, isCeiling }: SideSpec): boolean {
  return source !== 'bullmq' && !isCeiling
}

/** Where the side's tables are, as the user that it connects as. */
export function urlOf(server: Server, spec: SideSpec): string {
  if (spec.source === 'outhook') return server.stack.dbUrl
  const url = new URL(server.stack.adminDbUrl)
  url.pathname = `/${storeOf(spec)}`
  return url.href
}

async function setFsync(redis: Redis, mode: SideSpec['mode']): Promise<void> {
  const wanted = mode === 'everysec' ? 'everysec' : 'always'
  await redis.setFsync(wanted)
  const { appendonly, appendfsync } = await redis.durability()
  if (appendonly !== 'yes' || appendfsync !== wanted) {
    throw new Error(`Redis has appendonly ${appendonly}, appendfsync ${appendfsync}, not ${wanted}`)
  }
}
