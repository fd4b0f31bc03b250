import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { readFunctionConfigs } from '../../supabase/local/functions/mod.ts'
import {
  PROJECT_DIR,
  type Stack,
  type StackOptions,
  startStack,
} from '../../supabase/local/stack.ts'
import type { Behaviour } from '../e2e/receiver/behaviours.ts'
import type { Received } from '../../supabase/local/http/request.ts'
import { type Receiver, startReceiver } from '../e2e/receiver/receiver.ts'
import { databaseFolder, sweepTestFolders } from './folder.ts'
import { patienceMs } from './patience.ts'
import { copyPrepared } from './prepared.ts'

/** Some schema as supabase-js sees it: any function, any arguments, an unknown result. */
interface AnyDatabase {
  [schema: string]: {
    Tables: Record<string, never>
    Views: Record<string, never>
    Functions: Record<string, { Args: Record<string, unknown>; Returns: unknown }>
  }
}

/** A supabase-js client of the schema outbox. */
export type OutboxClient = SupabaseClient<AnyDatabase, 'outbox'>

/** What create_endpoint() returns, and where the receiver gets its requests. */
export interface TestEndpoint {
  id: string
  secret: string
  path: string
}

/** One attempt, as far as the tests look at it. */
export interface Attempt {
  attempt: number
  kind: string
  outcome: string
  status: number | null
  error_class: string | null
}

/** The product on a stack of the test's own, with a receiver that any endpoint may name. */
export interface TestOuthook {
  readonly stack: Stack
  readonly receiver: Receiver
  /** As `postgres`, the role of migrations and of the SQL console. */
  readonly sql: Sql
  /** As the superuser: sees what every session does. */
  readonly admin: Sql
  /** With the secret key. */
  readonly client: OutboxClient
  /** What the functions and the stack wrote. */
  readonly log: string[]
  /** Makes an endpoint at `path` of the receiver; `args` are more arguments of create_endpoint(). */
  createEndpoint(path: string, args?: Record<string, unknown>): Promise<TestEndpoint>
  /** Publishes an event of that type with an empty object, and gives its id. */
  publish(type: string): Promise<string>
  /** The requests of an event in the order of their coming, once there are `count`; rejects after `ms`. */
  requestsOf(eventId: string, count: number, ms?: number): Promise<Received[]>
  /** The event's attempts in order, once none of its deliveries is open and one is there. */
  attemptsOf(eventId: string): Promise<Attempt[]>
  /** The same in a few words each: `1 lease_expired`, `2 delivered`. */
  outcomesOf(eventId: string): Promise<string[]>
  stop(): Promise<void>
}

export interface TestOuthookOptions {
  /** By default those of supabase/config.toml. */
  functions?: NonNullable<StackOptions['functions']>
  /** Of those, the ones with these names: each is a process, which takes a second to start. */
  only?: readonly string[]
  /** Whether only pg_cron ticks, which may take a minute to begin; else the tick begins at once. */
  cronAlone?: boolean
  /** More environment variables of the functions. */
  env?: Record<string, string>
  /** More behaviours of the receiver, by the first word of the path. */
  also?: Record<string, Behaviour>
}

export { patienceMs }

/** Starts it all; takes a few seconds, so share one per file. */
export async function startOuthook(options: TestOuthookOptions = {}): Promise<TestOuthook> {
  await sweepTestFolders()
  const dataDir = databaseFolder()
  await copyPrepared(dataDir, 'migrations')
  const log: string[] = []
  const { only, cronAlone = false, env = {}, also = {} } = options
  const configured = options.functions ?? await readFunctionConfigs(PROJECT_DIR)
  const functions = configured.filter(({ name }) => only?.includes(name) ?? true)
  const stack = await startStack({
    dataDir,
    ports: 'free',
    fsync: false,
    env,
    log: (line) => log.push(line),
    functions,
    ticksAtOnce: !cronAlone,
  })
  const receiver = startReceiver({ also })
  const sql = postgres(stack.dbUrl, { max: 8, onnotice: () => {} })
  const admin = postgres(stack.adminDbUrl, { max: 2, onnotice: () => {} })
  const client = createClient<AnyDatabase, 'outbox'>(stack.apiUrl, stack.keys.secretKey, {
    db: { schema: 'outbox' },
    auth: { persistSession: false, autoRefreshToken: false },
  })
  if (options.functions === undefined) {
    await stack.functions.targets.get('deliver')?.origin(patienceMs)
  }

  async function createEndpoint(
    path: string,
    args: Record<string, unknown> = {},
  ): Promise<TestEndpoint> {
    const url = receiver.url + path
    const { data, error } = await client.rpc('create_endpoint', { p_url: url, ...args })
    if (error !== null) throw new Error(`${error.code} ${error.message}`)
    // SAFETY: create_endpoint() returns {"id", "secret"}.
    return { ...data as { id: string; secret: string }, path }
  }

  async function publish(type: string): Promise<string> {
    const [row] = await sql`select outbox.publish(${type}, '{}') as id`
    return row?.id
  }

  async function requestsOf(eventId: string, count: number, ms = patienceMs): Promise<Received[]> {
    const come = (): Received[] =>
      receiver.received.filter(({ headers }) => headers['webhook-id'] === eventId)
    if (await waitUntil(() => come().length >= count, { timeoutMs: ms })) return come()
    throw new Error(`${come().length} of ${count} requests came within ${ms} ms`)
  }

  async function attemptsOf(eventId: string): Promise<Attempt[]> {
    const closed = async (): Promise<boolean> => {
      const [row] = await sql`
        select not exists (select from outbox.unrouted u where u.event_id = ${eventId})
          and not exists (select from outbox.delivery d where d.event_id = ${eventId})
          and exists (select from outbox.attempt a where a.event_id = ${eventId}) as closed`
      return row?.closed === true
    }
    if (!await waitUntil(closed, { timeoutMs: patienceMs })) throw new Error('still open')
    return await sql<Attempt[]>`
      select attempt, kind, outcome, status, error_class
      from outbox.attempt where event_id = ${eventId} order by attempt, kind`
  }

  async function outcomesOf(eventId: string): Promise<string[]> {
    const attempts = await attemptsOf(eventId)
    return attempts.map((one) => `${one.attempt} ${one.error_class ?? one.outcome}`)
  }

  async function stop(): Promise<void> {
    await sql.end({ timeout: 1 })
    await admin.end({ timeout: 1 })
    await stack.stop()
    await receiver.close()
    await Deno.remove(dataDir, { recursive: true })
  }

  return {
    stack,
    receiver,
    sql,
    admin,
    client,
    log,
    createEndpoint,
    publish,
    requestsOf,
    attemptsOf,
    outcomesOf,
    stop,
  }
}
