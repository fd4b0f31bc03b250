/** Workers killed at random while a receiver fails one time in five: nothing is lost, and what comes twice is accounted for. */

import { expect } from '@std/expect'
import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker, type WorkerProcess } from '../_support/worker_process.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const deliveries = isShort ? 3_000 : 50_000
const kills = isShort ? 10 : 200
const workers = 2

/** What the receiver saw of one event. */
interface Seen {
  answered2xx: number
  open: number
  mostOpen: number
}

const seen = new Map<string, Seen>()

/** A fifth of the requests get 500; a try is under way until it is answered or its connection is gone. */
async function startStack(): Promise<TestOuthook> {
  return await startOuthook({
    functions: [],
    also: {
      async flaky({ request, pause, answer }): Promise<void> {
        const id = request.headers['webhook-id'] ?? ''
        const event = seen.get(id) ?? { answered2xx: 0, open: 0, mostOpen: 0 }
        seen.set(id, event)
        event.open++
        event.mostOpen = Math.max(event.mostOpen, event.open)
        await pause(Math.random() * 20)
        event.open--
        const status = Math.random() < 0.2 ? 500 : 200
        if (status === 200) event.answered2xx++
        await answer(status)
      },
    },
  })
}

/** Keeps `workers` alive and kills one of them at random, `kills` times. */
async function killAtRandom(dbUrl: string, isDone: () => Promise<boolean>): Promise<number> {
  const alive: WorkerProcess[] = Array.from({ length: workers }, () => startWorker(dbUrl))
  let killed = 0
  while (killed < kills && !await isDone()) {
    await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 1_500))
    const n = Math.floor(Math.random() * workers)
    alive[n]?.kill('SIGKILL')
    expect(await alive[n]?.ended).toBe('SIGKILL')
    alive[n] = startWorker(dbUrl)
    killed++
  }
  await waitUntil(isDone, { timeoutMs: 120_000, everyMs: 100 })
  for (const worker of alive) {
    // Before that it has not yet asked to hear of signals.
    await waitUntil(() => worker.log.length > 0, { timeoutMs: 20_000 })
    worker.kill('SIGTERM')
  }
  expect(await Promise.all(alive.map(({ ended }) => ended))).toEqual(Array(workers).fill(0))
  return killed
}

Deno.test(`${deliveries} deliveries survive ${kills} kills`, async () => {
  const outhook = await startStack()
  const { sql, stack } = outhook
  try {
    for (let n = 0; n < 20; n++) {
      await outhook.createEndpoint(`/flaky/${n}`, {
        p_event_types: [`soak.e${n}`],
        // Longer than this machine makes the receiver wait: a late answer would be a duplicate without a kill.
        p_timeout_ms: 5_000,
        p_max_in_flight: 20,
        p_retry: { strategy: 'fixed', base_delay: 0.5, max_retries: 50, jitter: true },
      })
    }
    await sql`update outbox.endpoint set breaker_enabled = false`
    let left = deliveries
    const publish = async (): Promise<void> => {
      // So spread that there is always something to be killed over.
      const size = Math.ceil(deliveries / (kills * 6))
      while (left > 0) {
        const count = Math.min(size, left)
        await sql`select outbox.publish('soak.e' || n % 20, '{}') from generate_series(1, ${count}) as n`
        left -= count
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    const isDone = async (): Promise<boolean> => {
      if (left > 0) return false
      const [row] = await sql`
        select not exists (select from outbox.unrouted) and not exists (select from outbox.delivery) as done`
      return row?.done === true
    }
    const publishing = publish()
    const killed = await killAtRandom(stack.dbUrl, isDone)
    await publishing
    await check(outhook, killed)
  } finally {
    await outhook.stop()
  }
})

async function check({ sql }: TestOuthook, killed: number): Promise<void> {
  const [ends] = await sql`
    select (select count(*)::int from outbox.event where type like 'soak.%') as events,
      (select count(*)::int from outbox.attempt where outcome = 'delivered') as delivered,
      (select count(distinct event_id)::int from outbox.attempt where outcome = 'delivered') as distinct_delivered,
      (select count(*)::int from outbox.dead_letter) as dead,
      (select count(*)::int from outbox.unrouted) + (select count(*)::int from outbox.delivery) as open,
      (select sum(in_flight)::int + sum(depth)::int from outbox.gate) as counted`
  expect(ends).toEqual({
    events: deliveries,
    delivered: deliveries,
    distinct_delivered: deliveries,
    dead: 0,
    open: 0,
    counted: 0,
  })
  const attempts = await sql<{ event_id: string; lost: number; late: number }[]>`
    select event_id, (count(*) filter (where error_class = 'lease_expired'))::int as lost,
      (count(*) filter (where error_class = 'timeout'))::int as late
    from outbox.attempt where error_class in ('lease_expired', 'timeout') group by event_id`
  const of = new Map(attempts.map((row) => [row.event_id, row]))
  // A request that timed out is over for the sender, whatever the receiver still does with it.
  const inTime = [...seen].filter(([id]) => (of.get(id)?.late ?? 0) === 0)
  // A live lease is a request under way or about to be; two at once would meet at the receiver.
  expect(inTime.filter(([, { mostOpen }]) => mostOpen > 1)).toEqual([])
  const twice = inTime.filter(([, { answered2xx }]) => answered2xx > 1)
  const unexplained = twice.filter(([id, event]) => event.answered2xx - 1 > (of.get(id)?.lost ?? 0))
  expect(unexplained).toEqual([])
  expect(killed).toBe(kills)
  const duplicates = twice.reduce((sum, [, { answered2xx }]) => sum + answered2xx - 1, 0)
  const leases = attempts.reduce((sum, row) => sum + row.lost, 0)
  const late = seen.size - inTime.length
  print(
    `  ${killed} kills: ${leases} leases lost, ${duplicates} of them after the receiver's 2xx; ${late} events with a timeout`,
  )
}
