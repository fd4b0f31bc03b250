/** What several runs at once must keep: each endpoint's cap, the number of runs, and room for everybody. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker, type WorkerProcess } from '../_support/worker_process.ts'
import { startRun } from './receiver/runs.ts'

let outhook: TestOuthook

/** Requests under way at each path, and the most that there were. */
const underWay = new Map<string, { now: number; most: number }>()

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({
    functions: [],
    also: {
      async counted({ request, pause, answer }): Promise<void> {
        const count = underWay.get(request.path) ?? { now: 0, most: 0 }
        underWay.set(request.path, count)
        count.now++
        count.most = Math.max(count.most, count.now)
        await pause(10)
        count.now--
        await answer(200)
      },
    },
  })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

async function publish(type: string, count: number): Promise<void> {
  await outhook.sql`
    select outbox.publish(${type}, '{}', p_partition_key => (n % 40)::text) from generate_series(1, ${count}) as n`
}

async function stopWorkers(workers: WorkerProcess[]): Promise<unknown[]> {
  for (const worker of workers) worker.kill('SIGTERM')
  return await Promise.all(workers.map(({ ended }) => ended))
}

Deno.test('four workers never send an endpoint more at once than it takes', async () => {
  const caps: [path: string, type: string, cap: number, args: Record<string, unknown>][] = [
    ['/counted/one', 'cap.one', 1, {}],
    ['/counted/seven', 'cap.seven', 7, {}],
    ['/counted/forty', 'cap.forty', 40, { p_quantum: 100 }],
    ['/counted/keys', 'cap.keys', 5, { p_ordering: 'partition' }],
    ['/counted/order', 'cap.order', 1, { p_ordering: 'endpoint' }],
  ]
  for (const [path, type, cap, args] of caps) {
    await outhook.createEndpoint(path, { p_event_types: [type], p_max_in_flight: cap, ...args })
    await publish(type, cap === 1 ? 100 : 400)
  }
  const workers = Array.from({ length: 4 }, () => startWorker(outhook.stack.dbUrl))
  try {
    await outhook.receiver.waitFor(1_400, patienceMs)
  } finally {
    expect(await stopWorkers(workers)).toEqual([0, 0, 0, 0])
  }
  const most = caps.map(([path]) => underWay.get(path)?.most ?? 0)
  caps.forEach(([path, , cap], n) => {
    expect([path, Math.max(cap, most[n] ?? 0)]).toEqual([path, cap])
  })
  // The cap is also used: a run that sent one at a time would pass the rest.
  expect(most[1]).toBe(7)
  const ids = outhook.receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(1_400)
  const [gate] = await outhook
    .sql`select sum(in_flight)::int as n, sum(depth)::int as depth from outbox.gate`
  expect(gate).toEqual({ n: 0, depth: 0 })
})

Deno.test('an edge run beyond the maximum ends at its first call', async () => {
  await outhook.client.rpc('set_setting', { p_name: 'worker.max_runs', p_value: 2 })
  const first = [startRun(outhook.stack.dbUrl, 'edge'), startRun(outhook.stack.dbUrl, 'edge')]
  const alive = async (): Promise<number> => {
    const [row] = await outhook.sql`
      select count(*)::int as n from outbox.run where kind = 'edge' and ended_at is null`
    return row?.n
  }
  expect(await waitUntil(async () => await alive() === 2, { timeoutMs: patienceMs })).toBe(true)
  const more = await Promise.all([1, 2, 3].map(() => startRun(outhook.stack.dbUrl, 'edge').summary))
  expect(more.map(({ end, dispatches }) => ({ end, dispatches })))
    .toEqual(Array(3).fill({ end: 'stop:too_many_runs', dispatches: 1 }))
  const ends = await Promise.all(first.map((live) => live.stop()))
  expect(ends.map(({ end }) => end)).toEqual(['signal', 'signal'])
})

Deno.test('an endpoint that hangs with all it may have in flight delays nobody', async () => {
  const hanging = await outhook.createEndpoint('/hang/all', {
    p_event_types: ['hang.all'],
    p_max_in_flight: 1_000,
    p_quantum: 1_000,
    p_timeout_ms: 60_000,
  })
  await outhook.createEndpoint('/hooks/beside', { p_event_types: ['beside'] })
  await publish('hang.all', 2_000)
  const live = startRun(outhook.stack.dbUrl)
  const delays: number[] = []
  let ofHanging: unknown
  const hung = (): number =>
    outhook.receiver.received.filter(({ path }) => path === hanging.path).length
  try {
    // Opening so many connections is the machine's work and not what this is about.
    expect(await waitUntil(() => hung() === 1_000, { timeoutMs: patienceMs })).toBe(true)
    for (let n = 0; n < 40; n++) {
      const publishedAt = Date.now()
      const [row] = await outhook.sql`select outbox.publish('beside', '{}') as id`
      const [request] = await outhook.requestsOf(row?.id, 1)
      delays.push((request?.at ?? Infinity) - publishedAt)
    }
    const [recorded] = await outhook.sql`
      select count(*)::int as n from outbox.attempt a join outbox.event e on e.id = a.event_id
      where e.type = 'beside' and a.outcome = 'delivered'`
    // The last ones may wait for company.
    expect(recorded?.n).toBeGreaterThan(30)
    const [row] = await outhook.sql`
      select (select count(*)::int from outbox.attempt a where a.endpoint_id = ${hanging.id})
          as attempts,
        (select sum(g.in_flight)::int from outbox.gate g where g.endpoint_id = ${hanging.id})
          as in_flight`
    ofHanging = row
  } finally {
    await outhook.sql`select outbox.pause_endpoint(${hanging.id})`
    // What hangs would be waited for.
    await outhook.receiver.close()
    await live.stop()
  }
  // All forty arrived while everything still hung, so none of them waited for any of it.
  expect(ofHanging).toEqual({ attempts: 0, in_flight: 1_000 })
  // Nor for a second run or the next tick: of forty the fastest shows it, however busy the machine.
  expect(Math.min(...delays)).toBeLessThan(500)
})
