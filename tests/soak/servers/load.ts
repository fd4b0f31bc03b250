import { waitUntil } from '../../../supabase/local/process/wait.ts'
import type { TestOuthook } from '../../_support/outhook.ts'
import { patienceMs } from '../../_support/patience.ts'
import type { RunningServer } from './running.ts'

/** What became of the events for one server. */
export interface Ends {
  events: number
  /** Events with exactly one attempt that delivered them. */
  delivered: number
  /** Of these, those whose stored response is their own id. */
  own: number
  breakerOpens: number
  /** Of these, those whose request was sent twice, because the server had closed a kept connection. */
  resent: number
  /** Failed attempts by class. */
  failed: Record<string, number>
  /** From publishing to delivery, the longest, in ms. */
  slowestMs: number
}

const inGroup = 10
const groupsPerFault = 5
/** As long as gunicorn, haproxy, lighttpd and node keep an unused connection. */
const idleMs = 1_000

/**
 * Publishes events for a new endpoint at the server. Every 50 events `disturb` begins while they are being
 * delivered, and an idle second follows, after which servers close what they kept.
 */
export async function loadServer(
  outhook: TestOuthook,
  server: RunningServer,
  { events, disturb, args = {} }: {
    events: number
    disturb: () => Promise<void>
    /** More arguments of create_endpoint(). */
    args?: Record<string, unknown>
  },
): Promise<Ends> {
  const { sql, client } = outhook
  const type = `soak.n${crypto.randomUUID().slice(0, 8)}`
  const { data, error } = await client.rpc('create_endpoint', {
    p_url: server.url,
    p_event_types: [type],
    ...args,
  })
  if (error !== null) throw new Error(`${error.code} ${error.message}`)
  // SAFETY: create_endpoint() returns {"id", "secret"}.
  const { id } = data as { id: string }
  const opensBefore = await breakerOpens(outhook)
  let disturbance = Promise.resolve()
  for (let group = 0; group < events / inGroup; group++) {
    await sql`select outbox.publish(${type}, '{}') from generate_series(1, ${inGroup}::integer)`
    const isFault = group % groupsPerFault === groupsPerFault - 1
    if (isFault) {
      await disturbance
      disturbance = disturb()
    }
    // The pace of the load.
    await new Promise((resolve) => setTimeout(resolve, isFault ? idleMs : 50 + Math.random() * 150))
  }
  await disturbance
  await untilDone(outhook, id)
  return {
    ...await endsOf(outhook, id, type),
    breakerOpens: await breakerOpens(outhook) - opensBefore,
  }
}

async function untilDone({ sql }: TestOuthook, endpoint: string): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const [row] = await sql`
      select not exists (select from outbox.unrouted)
        and not exists (select from outbox.delivery d where d.endpoint_id = ${endpoint}) as done`
    return row?.done === true
  }
  if (!await waitUntil(isDone, { timeoutMs: patienceMs, everyMs: 100 })) {
    throw new Error('deliveries are still open')
  }
}

async function endsOf(
  { sql }: TestOuthook,
  endpoint: string,
  type: string,
): Promise<Omit<Ends, 'breakerOpens'>> {
  const [row] = await sql<[Omit<Ends, 'failed' | 'breakerOpens'>]>`
    select count(*)::integer as events,
      (count(*) filter (where a.times = 1))::integer as delivered,
      (count(*) filter (where a.times = 1 and a.response = e.id::text))::integer as own,
      coalesce(sum(a.resent), 0)::integer as resent,
      (max(extract(epoch from a.at - e.created_at)) * 1000)::integer as "slowestMs"
    from outbox.event e
    cross join lateral (
      select count(*) as times, max(a.response) as response, max(a.at) as at,
        count(*) filter (where a.resent) as resent
      from outbox.attempt a
      where a.event_id = e.id and a.endpoint_id = ${endpoint} and a.outcome = 'delivered'
    ) a
    where e.type = ${type}`
  const failures = await sql<{ error_class: string; n: number }[]>`
    select error_class, count(*)::integer as n from outbox.attempt
    where endpoint_id = ${endpoint} and outcome = 'failed' group by error_class`
  return { ...row, failed: Object.fromEntries(failures.map((one) => [one.error_class, one.n])) }
}

async function breakerOpens({ admin }: TestOuthook): Promise<number> {
  const [row] = await admin`
    select coalesce(sum(n), 0)::integer as n from (
      select n from outbox.counter where metric = 'breaker_opens'
      union all
      select n from outbox.counter_change where metric = 'breaker_opens') c`
  return row?.n
}
