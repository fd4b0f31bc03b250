/** A worker killed while it records: whichever side of the commit it dies on, the delivery ends well. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type HeldLock, holdLock } from '../_support/blocked.ts'
import { createFirstTry, shortLease } from '../_support/first_try.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker, type WorkerProcess } from '../_support/worker_process.ts'

let outhook: TestOuthook
let worker: WorkerProcess | null = null

const firstTry = createFirstTry()

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({
    functions: [],
    also: { recorded: firstTry.behaviour },
  })
})
Deno.test.afterEach(async () => {
  worker?.kill('SIGKILL')
  await worker?.ended
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

/** Publishes one event, and kills the worker when its result waits for the gate. Gives the gate's lock and its waiter. */
async function killWhileRecording(
  type: string,
): Promise<{ id: string; gate: HeldLock; pid: number }> {
  const endpoint = await outhook.createEndpoint(`/recorded/${type}`, {
    p_event_types: [type],
    ...shortLease,
  })
  const held = Promise.withResolvers<HeldLock>()
  firstTry.act = async (): Promise<void> => {
    const lock = `select from outbox.gate where endpoint_id = '${endpoint.id}' for update`
    held.resolve(await holdLock(outhook.admin, lock))
  }
  const dying = startWorker(outhook.stack.dbUrl)
  const id = await outhook.publish(type)
  const gate = await held.promise
  const pid = await gate.waiter()
  dying.kill('SIGKILL')
  expect(await dying.ended).toBe('SIGKILL')
  worker = startWorker(outhook.stack.dbUrl)
  return { id, gate, pid }
}

Deno.test('a result that reached the database counts although its worker is dead', async () => {
  const { id, gate } = await killWhileRecording('record.commits')
  await gate.release()
  expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
  expect(await outhook.requestsOf(id, 1)).toHaveLength(1)
})

Deno.test('a result that did not is made good by a second arrival, once the lease is over', async () => {
  const { id, gate, pid } = await killWhileRecording('record.lost')
  await outhook.admin`select pg_terminate_backend(${pid})`
  const gone = async (): Promise<boolean> => {
    const rows = await outhook.admin`select from pg_stat_activity where pid = ${pid}`
    return rows.length === 0
  }
  expect(await waitUntil(gone, { timeoutMs: patienceMs })).toBe(true)
  await gate.release()
  expect(await outhook.outcomesOf(id)).toEqual(['1 lease_expired', '2 delivered'])
  const requests = await outhook.requestsOf(id, 2)
  expect(requests.map(({ headers }) => headers['x-attempt'])).toEqual(['1', '2'])
})
