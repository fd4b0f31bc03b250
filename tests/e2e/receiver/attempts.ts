import postgres, { type Sql } from 'postgres'
import { systemClock } from '../../../functions/_shared/base/clock.ts'
import { createPolicySource } from '../../../functions/_shared/connect/address.ts'
import type { PoolOptions } from '../../../functions/_shared/http1/pools.ts'
import type {
  Delivery,
  DispatchResponse,
  Result,
} from '../../../functions/_shared/contract/contract.ts'
import type { Database } from '../../../functions/_shared/database/dispatch.ts'
import { connectDirect } from '../../../functions/_shared/database/direct.ts'
import { senders } from '../../../functions/_shared/senders/registry.ts'
import { createKeyCache } from '../../../functions/_shared/signing/sign.ts'
import { createHttp1Transport } from '../../../functions/_shared/transport/http1.ts'
import { attemptDelivery } from '../../../functions/deliver/attempt.ts'
import { prepareDatabase } from '../../../supabase/local/database/mod.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { startTestPostgres } from '../../_support/postgres.ts'
import { installTestClock } from '../../_support/test_clock.ts'

/** What became of an endpoint's only delivery. */
export type Fate = {
  /** The class of the failure, else `delivered`. */
  outcome: string
  status: number | null
  response: string | null
  lossy: boolean | null
  error: string | null
  resent: boolean | null
  /** As `delivery_status` shows it. */
  deliveryStatus: string
  /** Seconds until the next try, by the clock that stands still. */
  next: number | null
  ms: number
}

/** What to send where. Targets with the same `name` are one endpoint. */
export type Target = { url: string; timeoutMs: number; body?: string; name?: string }

/** An endpoint and the only event type that it wants. */
type Known = { id: string; type: string }

/** The real sender between two real dispatches of a database whose clock stands still. */
export interface Attempts extends AsyncDisposable {
  /** When it is in the database. */
  readonly now: Date
  /** Sends one event to each target, all at once, and gives what came of each. */
  attempt(targets: Target[]): Promise<Fate[]>
}

const minute = { strategy: 'fixed', base_delay: 60, jitter: false }

/** Starts a database of its own, so that a test may say what time it is. */
export async function startAttempts(pools: PoolOptions): Promise<Attempts> {
  const pg = await startTestPostgres({ migrated: true })
  await prepareDatabase({ dbUrl: pg.dbUrl, projectDir: projectRoot, log: () => {} })
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  const database = connectDirect({ url: pg.dbUrl })
  const policyOf = createPolicySource()
  const keys = createKeyCache()
  const transport = createHttp1Transport(pools)
  const now = new Date(Math.floor(Date.now() / 1000) * 1000)
  await sql`select cron.unschedule(j.jobid) from cron.job as j`
  await installTestClock(sql)
  await sql`insert into outbox.test_clock (at) values (${now})`
  await sql`select outbox.set_setting('egress.allow_http', 'true')`
  await sql`select outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8", "::1/128"]')`

  async function send(delivery: Delivery, response: DispatchResponse): Promise<Result> {
    const { settings } = response
    const policy = policyOf({ allowHttp: settings.allow_http, allowCidrs: settings.allow_cidrs })
    const batch = {
      response,
      calledAt: 0,
      deps: { transport, keys, settings, policy, wallNow: systemClock.wallNow },
    }
    return await attemptDelivery({ senders, clock: systemClock, log: () => {} }, delivery, batch)
  }

  const named = new Map<string, Known>()

  async function attempt(targets: Target[]): Promise<Fate[]> {
    const ids: string[] = []
    for (const [n, target] of targets.entries()) {
      const known = named.get(target.name ?? '') ?? await createEndpoint(sql, n, target)
      if (target.name !== undefined) named.set(target.name, known)
      ids.push(await publish(sql, known, target))
    }
    const run = crypto.randomUUID()
    let seq = 0
    const claimed: Promise<Result>[] = []
    for (let found = 1; found > 0;) {
      const answer = await dispatch(database, run, ++seq, [], 1_000)
      found = answer.deliveries.length + answer.routed
      claimed.push(...answer.deliveries.map((delivery) => send(delivery, answer)))
    }
    await dispatch(database, run, ++seq, await Promise.all(claimed), 0)
    return await Promise.all(ids.map((id) => fateOf(sql, id, now)))
  }

  async function dispose(): Promise<void> {
    await transport.close()
    await database.close()
    await sql.end()
    await pg.stop()
  }

  return { now, attempt, [Symbol.asyncDispose]: dispose }
}

async function createEndpoint(sql: Sql, n: number, target: Target): Promise<Known> {
  const type = `row.n${n}x${crypto.randomUUID().slice(0, 8)}`
  const [row] = await sql`
    select outbox.create_endpoint(${target.url}, ${[type]}, p_timeout_ms => ${target.timeoutMs},
      p_retry => ${sql.json(minute)}) ->> 'id' as id`
  return { id: row?.id, type }
}

/** Publishes an event that only this endpoint wants, and gives the event's id. */
async function publish(sql: Sql, { type }: Known, { body = '{"n": 1}' }: Target): Promise<string> {
  const [row] = await sql`select outbox.publish_raw(${type}, ${body}) as id`
  return row?.id
}

async function dispatch(
  database: Database,
  run: string,
  seq: number,
  results: Result[],
  limit: number,
): Promise<DispatchResponse> {
  const reply = await database.dispatch({
    run,
    seq,
    results,
    limit,
    kind: 'worker',
    ended: false,
    known: {},
    held: 0,
  })
  if (!reply.ok) throw new Error(reply.fault.message)
  if (reply.response.error !== null) throw new Error(JSON.stringify(reply.response.error))
  return reply.response
}

async function fateOf(sql: Sql, eventId: string, now: Date): Promise<Fate> {
  const [fate] = await sql<Fate[]>`
    select coalesce(a.error_class, a.outcome) as outcome, a.status, a.response, a.response_lossy as lossy, a.error,
      a.resent,
      s.status as "deliveryStatus", a.duration_ms as ms,
      extract(epoch from s.next_attempt_at - ${now})::float8 as next
    from outbox.attempt a
    join outbox.delivery_status s on s.event_id = a.event_id and s.endpoint_id = a.endpoint_id
    where a.event_id = ${eventId} and a.kind = 'attempt'`
  if (fate === undefined) throw new Error('the delivery has no attempt')
  return fate
}
