/** A commit wakes the workers when all of them sleep: once, after the commit, and never at the cost of the commit. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { contractRange } from '../../functions/_shared/contract/range.ts'
import { patienceMs } from '../_support/patience.ts'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session
let worker: Session
let heard = 0
const run = crypto.randomUUID()
let seq = 0

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
  worker = await db.open()
  await worker.sql.listen('outbox_work', () => heard++)
})
Deno.test.beforeEach(async () => {
  await db.reset()
  heard = 0
})
Deno.test.afterAll(async () => {
  await db?.[Symbol.asyncDispose]()
})

type Sent = { event: string; endpoint: string; attempt: number }

/** A call of a worker that listens; returns the deliveries that it got. */
async function claim(
  results: Record<string, string | number | undefined>[] = [],
  { sql } = worker,
  by = run,
): Promise<Sent[]> {
  const contract = sql.json({ ...contractRange, listens: true })
  const [row] = await sql<{ deliveries: Sent[] }[]>`
    select outbox.dispatch(${by}, ${++seq}, ${sql.json(results)}, 10, 'worker',
      p_contract => ${contract}) -> 'deliveries' as deliveries`
  return row?.deliveries ?? []
}

async function dispatch(): Promise<number> {
  return (await claim()).length
}

/** Stops the clock of the database until the returned object is disposed of. */
async function stopClock(): Promise<AsyncDisposable> {
  const replace = (time: string): Promise<unknown> =>
    db.admin.unsafe(`create or replace function outbox.clock() returns timestamptz
      language plpgsql volatile set search_path = '' as $$ begin return ${time}; end $$`)
  const [row] = await db.admin<{ now: string }[]>`select clock_timestamp()::text as now`
  await replace(`'${row?.now}'::timestamptz`)
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await replace('pg_catalog.clock_timestamp()')
    },
  }
}

/** Until publishers notify again, and a call that finds nothing makes its worker sleep. */
async function waitLongEnough(): Promise<void> {
  await db.admin`select pg_sleep(0.02)`
}

async function isAsleep(): Promise<boolean> {
  const [row] = await db.admin<{ asleep: boolean }[]>`
    select s.last_value = 1 as asleep from outbox.workers_asleep s`
  return row?.asleep === true
}

/** How many notifications have arrived: a later one of the test's own says that there are no more before it. */
async function notifications(): Promise<number> {
  let isOver = false
  const { unlisten } = await worker.sql.listen('outbox_test_over', () => {
    isOver = true
  })
  await db.admin`notify outbox_test_over`
  expect(await waitUntil(() => isOver, { timeoutMs: patienceMs })).toBe(true)
  await unlisten()
  return heard
}

async function createEndpoint(): Promise<void> {
  await db.admin`select outbox.create_endpoint('https://example.com/hook', '{*}')`
}

Deno.test('the workers are notified at the commit, and once by two publishers side by side', async () => {
  await using _ = await stopClock()
  await createEndpoint()
  await dispatch()
  expect(await isAsleep()).toBe(true)
  await one.sql`begin`
  await publishOne(one.sql)
  await other.sql`begin`
  await publishOne(other.sql)
  expect(await notifications()).toBe(0)
  await one.sql`commit`
  await other.sql`commit`
  expect(await notifications()).toBe(1)
  expect(await dispatch()).toBe(2)
})

Deno.test('while a worker finds work, a commit notifies nobody', async () => {
  await createEndpoint()
  await publishOne(one.sql)
  expect(await dispatch()).toBe(1)
  for (let n = 0; n < 20; n++) await publishOne(one.sql)
  expect(await notifications()).toBe(0)
})

Deno.test('a worker that finds nothing because another one was faster makes no commit notify', async () => {
  await createEndpoint()
  await publishOne(one.sql)
  {
    await using _ = await stopClock()
    expect(await dispatch()).toBe(1)
    expect(await claim([], other, crypto.randomUUID())).toEqual([])
  }
  expect(await isAsleep()).toBe(false)
  for (let n = 0; n < 20; n++) await publishOne(one.sql)
  expect(await notifications()).toBe(0)
})

Deno.test('an event that is committed while a call is past its look wakes the worker', async () => {
  await createEndpoint()
  await publishOne(one.sql)
  const [sent] = await claim()
  await waitLongEnough()
  await one.sql`begin`
  await one.sql`select outbox.lock_gates(array[${sent?.endpoint ?? null}::uuid])`
  const calling = claim([{ ...sent, outcome: 'delivered', status: 204, duration_ms: 1 }])
  await expectWaitsFor(db.admin, worker, one)
  await publishOne(other.sql)
  await one.sql`commit`
  expect(await calling).toEqual([])
  expect(await notifications()).toBe(1)
  expect(await dispatch()).toBe(1)
})

Deno.test('a worker that falls asleep between publish and commit finds the event at its next poll', async () => {
  await createEndpoint()
  await one.sql`begin`
  await publishOne(one.sql)
  expect(await dispatch()).toBe(0)
  await one.sql`commit`
  expect(await notifications()).toBe(0)
  expect(await dispatch()).toBe(1)
})

for (const end of ['rollback', 'commit']) {
  Deno.test(`a publisher that ends late, by ${end}, keeps no other one from waking the workers`, async () => {
    await createEndpoint()
    await dispatch()
    await one.sql`begin`
    await publishOne(one.sql)
    await waitLongEnough()
    await publishOne(other.sql)
    expect(await notifications()).toBe(1)
    expect(await dispatch()).toBe(1)
    await one.sql.unsafe(end)
    expect(await notifications()).toBe(end === 'commit' ? 2 : 1)
  })
}

Deno.test('a worker that has work keeps the publishers from notifying one that sleeps', async () => {
  await createEndpoint()
  await dispatch()
  await publishOne(one.sql)
  await db.admin`select setval('outbox.workers_asleep', 1)`
  expect(await dispatch()).toBe(1)
  expect(await isAsleep()).toBe(false)
})

Deno.test('two publishers that notify do not wait for each other before their commits', async () => {
  await dispatch()
  await one.sql`begin`
  await publishOne(one.sql)
  await waitLongEnough()
  await other.sql`set lock_timeout = '10ms'`
  await publishOne(other.sql)
  await one.sql`commit`
  expect(await notifications()).toBe(2)
})
