/** A delivery that kills its worker each time ends as a dead letter, and nothing beside it does. */

import { expect } from '@std/expect'
import { retryAtOnce } from '../_support/first_try.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker, type WorkerProcess } from '../_support/worker_process.ts'

const NEIGHBOURS = 4

let outhook: TestOuthook
let worker: WorkerProcess

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({
    functions: [],
    also: {
      poison: ({ pause }) => {
        worker.kill('SIGKILL')
        return pause(Infinity)
      },
    },
  })
})
Deno.test.afterAll(async () => {
  worker?.kill('SIGKILL')
  await worker?.ended
  await outhook?.stop()
})

/** Starts a worker again each time that it dies, until no delivery is open. */
async function workUntilDone(): Promise<number> {
  let deaths = 0
  for (;;) {
    worker = startWorker(outhook.stack.dbUrl)
    const isOver = await Promise.race([worker.ended.then(() => false), untilNoneIsOpen(worker)])
    if (isOver) return deaths
    deaths++
  }
}

async function untilNoneIsOpen({ ended }: WorkerProcess): Promise<boolean> {
  let isAlive = true
  ended.then(() => isAlive = false)
  while (isAlive) {
    const [row] = await outhook.sql`
      select exists (select from outbox.delivery) or exists (select from outbox.unrouted) as is_open`
    if (!row?.is_open) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}

Deno.test('a delivery that kills its worker each time becomes the only dead letter', async () => {
  const p_retry = { ...retryAtOnce, max_retries: 0 }
  await outhook.createEndpoint('/poison/now', {
    p_event_types: ['poison'],
    p_timeout_ms: 500,
    p_retry,
  })
  // It responds after the poison has arrived, so its deliveries are in flight when the worker dies.
  await outhook.createEndpoint('/slow/300', {
    p_event_types: ['neighbour'],
    p_timeout_ms: 3000,
    p_retry,
  })
  const rows = await outhook.sql`
    select outbox.publish('neighbour', to_jsonb(n)) as id from generate_series(1, ${NEIGHBOURS}::integer) n
    union all select outbox.publish('poison', '{}')`
  const ids = rows.map((row): string => row.id)
  const poison = ids.pop() ?? ''

  expect(await workUntilDone()).toBe(5)
  const dead = await outhook.sql`select event_id, why, retry_count from outbox.dead_letter`
  expect([...dead]).toEqual([{ event_id: poison, why: 'leases_lost', retry_count: 0 }])
  for (const id of ids) {
    const outcomes = await outhook.outcomesOf(id)
    expect(outcomes.filter((outcome) => outcome.endsWith('lease_expired')).length)
      .toBeLessThanOrEqual(2)
    expect(outcomes.at(-1)).toContain('delivered')
  }
})
