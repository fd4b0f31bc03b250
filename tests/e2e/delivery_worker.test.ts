/** The worker under each runtime: killed with deliveries in hand, and told to stop with deliveries in hand. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { holdLock } from '../_support/blocked.ts'
import { createFirstTry, shortLease } from '../_support/first_try.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker as startProgram, type WorkerProcess } from '../_support/worker_process.ts'
import { runtimes, workerCommand } from '../_support/worker_runtimes.ts'

let outhook: TestOuthook

const firstTry = createFirstTry()

const programs = new Map<string, readonly string[]>()

Deno.test.beforeAll(async () => {
  for (const runtime of runtimes) programs.set(runtime, await workerCommand(runtime))
  outhook = await startOuthook({
    functions: [],
    also: { held: firstTry.behaviour },
  })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

async function attempts(id: string, count: number): Promise<(string | undefined)[]> {
  const requests = await outhook.requestsOf(id, count)
  return requests.map(({ headers }) => headers['x-attempt'])
}

/** Whether the last run is marked as ended, which a worker does as soon as it is told to stop. */
async function isRunEnded(): Promise<boolean> {
  const [run] = await outhook.sql`
    select ended_at is not null as ended from outbox.run order by started_at desc limit 1`
  return run?.ended
}

/** Publishes so many events in one transaction, in their order. */
async function publishInOrder(type: string, count: number): Promise<string[]> {
  const rows = await outhook.sql`
    select outbox.publish(${type}, to_jsonb(n)) as id from generate_series(1, ${count}::integer) n`
  return rows.map((row): string => row.id)
}

function arrivals(ids: readonly string[]): string[] {
  return outhook.receiver.received.map(({ headers }) => headers['webhook-id'] ?? '')
    .filter((id) => ids.includes(id))
}

for (const runtime of runtimes) {
  const kind = runtime.toLowerCase()
  const startWorker = (): WorkerProcess =>
    startProgram(outhook.stack.dbUrl, {}, programs.get(runtime))

  Deno.test(`an event whose worker is killed while the receiver works comes again, under ${runtime}`, async () => {
    await outhook.createEndpoint('/held/killed', {
      p_event_types: [`${kind}.killed`],
      ...shortLease,
    })
    const killed = startWorker()
    firstTry.act = async (): Promise<void> => {
      killed.kill('SIGKILL')
      await killed.ended
    }
    const id = await outhook.publish(`${kind}.killed`)
    await outhook.requestsOf(id, 1)
    expect(await killed.ended).toBe('SIGKILL')

    const next = startWorker()
    expect(await attempts(id, 2)).toEqual(['1', '2'])
    expect(await outhook.outcomesOf(id)).toEqual(['1 lease_expired', '2 delivered'])
    next.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })

  Deno.test(`an event whose worker is killed between claim and send arrives once, under ${runtime}`, async () => {
    await outhook.createEndpoint('/hooks/claimed', {
      p_event_types: [`${kind}.claimed`],
      ...shortLease,
    })
    // dispatch reads the secrets last, when the delivery is claimed.
    const secrets = await holdLock(outhook.admin, 'lock table outbox.endpoint_secret')
    const id = await outhook.publish(`${kind}.claimed`)
    const killed = startWorker()
    await secrets.waiter()
    killed.kill('SIGKILL')
    await killed.ended
    await secrets.release()

    const next = startWorker()
    // The commit was sent with the claim, so the lease is lost.
    expect(await attempts(id, 1)).toEqual(['2'])
    expect(await outhook.outcomesOf(id)).toEqual(['1 lease_expired', '2 delivered'])
    expect(await attempts(id, 1)).toHaveLength(1)
    next.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })

  Deno.test(`the order that a killed worker was sending goes on after one lease, under ${runtime}`, async () => {
    await outhook.createEndpoint('/held/ordered', {
      p_event_types: [`${kind}.ordered`],
      p_ordering: 'endpoint',
      ...shortLease,
    })
    const killed = startWorker()
    firstTry.act = async (): Promise<void> => {
      firstTry.act = (): void => {}
      killed.kill('SIGKILL')
      await killed.ended
    }
    const ids = await publishInOrder(`${kind}.ordered`, 20)
    expect(await killed.ended).toBe('SIGKILL')
    const [held] = await outhook.sql`
      select count(*)::integer as n, max(leased_until) < now() + interval '8 s' as soon
      from outbox.delivery where leased_until is not null`
    expect(held).toEqual({ n: 20, soon: true })

    const next = startWorker()
    for (const id of ids) {
      expect(await outhook.outcomesOf(id)).toEqual(['1 lease_expired', '2 delivered'])
    }
    expect(arrivals(ids)).toEqual([ids[0], ...ids])
    next.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })

  Deno.test(`a lane that takes longer than its lease is sent to its end by one claim, under ${runtime}`, async () => {
    // A lease of 65 s, of which 60 s and 1 s of margin are kept for each: the eighth needs a new one.
    await outhook.createEndpoint('/held/slow', {
      p_event_types: [`${kind}.slow`],
      p_ordering: 'endpoint',
      p_timeout_ms: 60_000,
    })
    firstTry.act = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 600))
    const ids = await publishInOrder(`${kind}.slow`, 10)
    const worker = startWorker()
    for (const id of ids) expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
    expect(arrivals(ids)).toEqual(ids)
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  Deno.test(`a worker told to stop finishes what is on its way and gives the rest back, under ${runtime}`, async () => {
    await outhook.createEndpoint('/held/stopped', {
      p_event_types: [`${kind}.stopped`],
      p_ordering: 'endpoint',
    })
    const come = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    firstTry.act = async (): Promise<void> => {
      come.resolve()
      await letGo.promise
    }
    const ids = await publishInOrder(`${kind}.stopped`, 3)
    const [first = '', ...rest] = ids
    const stopped = startWorker()
    await come.promise
    // An ordered endpoint's deliveries are claimed together and sent one by one.
    const held = await outhook.sql`
      select event_id from outbox.delivery where leased_until > now() order by event_id`
    expect(held.map((row) => row.event_id)).toEqual(ids)
    stopped.kill('SIGTERM')
    expect(await waitUntil(isRunEnded, { timeoutMs: patienceMs })).toBe(true)
    letGo.resolve()
    expect(await stopped.ended).toBe(0)

    expect(await outhook.outcomesOf(first)).toEqual(['1 delivered'])
    const open = await outhook.sql`
      select event_id, attempt, failed_attempts, leased_until from outbox.delivery order by event_id`
    expect([...open]).toEqual(
      rest.map((event_id) => ({ event_id, attempt: 1, failed_attempts: 0, leased_until: null })),
    )
    const [gate] = await outhook.sql`select sum(in_flight)::integer as in_flight from outbox.gate`
    expect(gate).toEqual({ in_flight: 0 })

    firstTry.act = (): void => {}
    const next = startWorker()
    for (const id of rest) {
      expect(await attempts(id, 1)).toEqual(['1'])
      expect(await outhook.outcomesOf(id)).toEqual(['2 delivered'])
    }
    next.kill('SIGINT')
    expect(await next.ended).toBe(0)
    expect(arrivals(ids)).toEqual(ids)
  })
}
