/** Copies of the database: what each of them sends, and what the original notices. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker, type WorkerProcess } from '../_support/worker_process.ts'
import { type Copy, copyPhysically, copyTemplate, restoreDump } from './copies/copy.ts'

const project = 'https://shop.example.com'
const staging = { OUTHOOK_PROJECT: 'shop-staging' }

let outhook: TestOuthook
/** Published while nothing was sent, so they are pending in each dump. */
let pending: string[] = []
let dump: Copy

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver'], env: { OUTHOOK_PROJECT: project } })
  await outhook.createEndpoint('/hooks/production', { p_event_types: ['copy.*'] })
  // The first run binds the outbox.
  await outhook.requestsOf(await outhook.publish('copy.first'), 1)
  await outhook.sql`select outbox.set_setting('worker.enabled', 'false')`
  pending = await Promise.all(['a', 'b', 'c'].map((type) => outhook.publish(`copy.${type}`)))
  dump = await restoreDump(outhook, 'restored')
  await outhook.sql`select outbox.set_setting('worker.enabled', 'true')`
  await dump.sql`select outbox.set_setting('worker.enabled', 'true')`
  await Promise.all(pending.map((id) => outhook.requestsOf(id, 1)))
})
Deno.test.afterAll(async () => {
  await dump?.[Symbol.asyncDispose]()
  await outhook?.stop()
})

/** How often each pending event has arrived. */
function arrivals(): number[] {
  return pending.map((id) =>
    outhook.receiver.received.filter(({ headers }) => headers['webhook-id'] === id).length
  )
}

async function problems({ sql }: Pick<Copy, 'sql'>): Promise<string[]> {
  const [row] = await sql`select outbox.queue_problems(outbox.queue_backlog()) as problems`
  // pg_cron cannot be in a second database, so the tick does not run there, and a busy machine is late.
  return row?.problems.filter((text: string) =>
    !/^the tick does not run|more than a minute$/.test(text)
  )
}

async function says(worker: WorkerProcess, text: string): Promise<void> {
  const said = (): boolean => worker.log.some((line) => line.includes(text))
  const ok = await waitUntil(said, { timeoutMs: patienceMs })
  expect(ok ? text : worker.log).toBe(text)
}

async function stopped(worker: WorkerProcess): Promise<void> {
  worker.kill('SIGTERM')
  expect(await worker.ended).toBe(0)
}

/** A copy of the restored dump, for one decision. */
async function again(name: string): Promise<Copy> {
  await dump.sql.end({ timeout: 1 })
  await dump.admin.end({ timeout: 1 })
  const copy = await copyTemplate(outhook, 'restored', name)
  return copy
}

Deno.test('a worker on a restored dump sends nothing, each health check says so, and production goes on', async () => {
  const worker = startWorker(dump.dbUrl, staging)
  try {
    await says(worker, 'this database belongs to the project shop.example.com, and this run names')
    expect(arrivals()).toEqual([1, 1, 1])
    expect(await problems(dump)).toContainEqual(
      expect.stringContaining('a run of kind worker names the project shop-staging'),
    )
    const [told] = await dump.sql`
      select outbox.get_metrics() -> 'engine' -> 'copy' as copy,
        outbox.get_health() ->> 'status' as status`
    expect(told).toEqual({ copy: true, status: 'degraded' })
    const [row] = await dump.sql`select count(*)::integer as open from outbox.unrouted`
    expect(row?.open).toBe(3)
    // The original has not noticed, and delivers.
    await outhook.requestsOf(await outhook.publish('copy.meanwhile'), 1)
    expect(await problems(outhook)).toEqual([])
    const changes = await outhook.sql`
      select action, project, by from outbox.binding_change order by id`
    expect(changes.at(-1)).toEqual({ action: 'bound', project: 'shop.example.com', by: 'run' })
  } finally {
    await stopped(worker)
  }
  expect(worker.log.filter((line) => line.includes('reports a problem'))).toHaveLength(1)
})

Deno.test('a restored dump that stays stopped sends nothing', async () => {
  await using copy = await again('stays')
  const [{ d } = { d: null }] = await copy.sql`
    select outbox.decide_copy('stay_stopped', 'shop-staging') as d`
  expect(d).toMatchObject({ decision: 'stay_stopped', project: 'shop-staging' })
  const worker = startWorker(copy.dbUrl, staging)
  await says(worker, 'belongs to the project')
  await stopped(worker)
  expect(arrivals()).toEqual([1, 1, 1])
  expect(await problems(copy)).toContainEqual(expect.stringContaining('stays stopped'))
})

Deno.test('a restored dump that is taken over with what is pending cancelled sends only new events', async () => {
  await using copy = await again('cancels')
  const [{ d } = { d: null }] = await copy.sql`
    select outbox.decide_copy('cancel_pending', 'shop-staging') as d`
  expect(d.cancelled).toEqual({ deliveries: 3, replay_jobs: 0 })
  const [{ id } = { id: '' }] = await copy.sql`select outbox.publish('copy.new', '{}') as id`
  const worker = startWorker(copy.dbUrl, staging)
  await outhook.requestsOf(id, 1)
  await stopped(worker)
  expect(arrivals()).toEqual([1, 1, 1])
  const ends = await copy.sql`
    select distinct outcome, error from outbox.attempt where event_id = any (${pending})`
  expect([...ends]).toEqual([{
    outcome: 'cancelled',
    error: 'the database is a copy of the project shop.example.com',
  }])
})

Deno.test('a restored dump of the same project goes on by itself, records it and publishes it', async () => {
  await using copy = await again('in_place')
  const worker = startWorker(copy.dbUrl, { OUTHOOK_PROJECT: 'HTTP://shop.example.com:80/' })
  await Promise.all(pending.map((id) => outhook.requestsOf(id, 2)))
  await stopped(worker)
  const [change] = await copy.sql`
    select action, project, was_project from outbox.binding_change order by id desc limit 1`
  expect(change).toEqual({
    action: 'database_changed',
    project: 'shop.example.com',
    was_project: 'shop.example.com',
  })
  const events = await copy.sql`
    select from outbox.event where type = 'outhook.database.changed' and org_id = 'outhook'`
  expect(events).toHaveLength(1)
  // The refusal of the first test is in the template, and counts for five minutes.
  expect((await problems(copy)).filter((text) => !text.includes('shop-staging'))).toEqual([])
  expect(arrivals()).toEqual([2, 2, 2])
})

Deno.test('a restored dump that is taken over delivers what is pending', async () => {
  await using copy = await again('delivers')
  await copy.sql`select outbox.decide_copy('deliver_pending', 'shop-staging')`
  const worker = startWorker(copy.dbUrl, staging)
  await Promise.all(pending.map((id) => outhook.requestsOf(id, 3)))
  await stopped(worker)
  expect(arrivals()).toEqual([3, 3, 3])
})

Deno.test('the kicks of a physical copy start no run of the original, and show the copy what it is', async () => {
  await using copy = await copyPhysically(outhook)
  const [before] = await outhook.sql`select count(*)::integer as n from outbox.run`
  const [same] = await copy.sql`select outbox.database_id() as id, outbox.server_id() as server`
  const [original] = await outhook
    .sql`select outbox.database_id() as id, outbox.server_id() as server`
  expect(same?.id).toBe(original?.id)
  expect(same?.server).not.toBe(original?.server)
  const [{ id } = { id: '' }] = await copy.sql`select outbox.publish('copy.physical', '{}') as id`
  const knows = async (): Promise<boolean> =>
    (await problems(copy)).some((text) => text.startsWith('this database is a copy'))
  expect(await waitUntil(knows, { timeoutMs: patienceMs })).toBe(true)
  const responses = await copy.admin`
    select distinct status_code, content::json ->> 'code' as code from net._http_response`
  expect([...responses]).toEqual([{ status_code: 409, code: 'foreign_kick' }])
  expect(outhook.receiver.received.some(({ headers }) => headers['webhook-id'] === id)).toBe(false)
  // The original has no new run and no problem, and delivers.
  const [after] = await outhook.sql`select count(*)::integer as n from outbox.run`
  expect(after?.n).toBe(before?.n)
  expect(await problems(outhook)).toEqual([])
  await outhook.requestsOf(await outhook.publish('copy.undisturbed'), 1)
  // A worker of another project is refused there, and a kick to the copy's own functions counts again.
  const worker = startWorker(copy.dbUrl, staging)
  await says(worker, 'belongs to the project')
  await stopped(worker)
})
