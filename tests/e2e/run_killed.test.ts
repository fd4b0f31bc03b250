/** A worker killed while it records: whichever side of the commit it dies on, the delivery ends well. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type HeldLock, holdLock } from '../_support/blocked.ts'
import { createFirstTry, shortLease } from '../_support/first_try.ts'
import { connectDirect } from '../../functions/_shared/database/direct.ts'
import type { DispatchCall } from '../../functions/_shared/contract/contract.ts'
import { tap } from '../_support/tapped.ts'
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
  worker = null
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

/**
 * Publishes one event, and kills the worker when its result waits for the gate and its commit is sent too: the two
 * are not one write, so on a busy machine the database may have the first alone. Gives the gate's lock and its waiter.
 */
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
  const wire = tap(outhook.stack.dbUrl)
  const dying = startWorker(wire.url)
  const id = await outhook.publish(type)
  const gate = await held.promise
  const pid = await gate.waiter()
  const isSent = (): boolean => /"outcome":"delivered"[^]*commit/.test(wire.sent())
  expect(await waitUntil(isSent, { timeoutMs: patienceMs })).toBe(true)
  dying.kill('SIGKILL')
  expect(await dying.ended).toBe('SIGKILL')
  wire.cut()
  worker = startWorker(outhook.stack.dbUrl)
  return { id, gate, pid }
}

Deno.test('a result that reached the database counts although its worker is dead', async () => {
  const { id, gate } = await killWhileRecording('record.commits')
  await gate.release()
  expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
  expect(await outhook.requestsOf(id, 1)).toHaveLength(1)
})

Deno.test('the first call of a connection is sent with its commit, so its results count if the run ends', async () => {
  const type = 'record.first'
  const { id: endpoint } = await outhook.createEndpoint(`/hooks/${type}`, { p_event_types: [type] })
  const event = await outhook.publish(type)
  const call: DispatchCall = {
    run: crypto.randomUUID(),
    seq: 1,
    results: [],
    limit: 1,
    kind: 'worker',
    ended: false,
    known: {},
    held: 0,
  }
  const claiming = connectDirect({ url: outhook.stack.dbUrl, project: 'local' })
  const claim = await claiming.dispatch(call)
  await claiming.close()
  expect(claim).toMatchObject({ ok: true, response: { deliveries: [{ event, attempt: 1 }] } })

  const wire = tap(outhook.stack.dbUrl)
  const recording = connectDirect({ url: wire.url, project: 'local' })
  const gate = await holdLock(
    outhook.admin,
    `select from outbox.gate where endpoint_id = '${endpoint}' for update`,
  )
  const key = { event, endpoint, attempt: 1 }
  const result = { ...key, outcome: 'delivered', status: 200, duration_ms: 1 } as const
  const recorded = recording.dispatch({ ...call, seq: 2, results: [result], ended: true })
  await gate.waiter()
  const isSent = (): boolean => wire.sent().includes('commit')
  expect(await waitUntil(isSent, { timeoutMs: patienceMs })).toBe(true)
  wire.cut()
  expect(await recorded).toMatchObject({ ok: false, fault: { kind: 'temporary' } })
  await gate.release()
  expect(await outhook.outcomesOf(event)).toEqual(['1 delivered'])
  await recording.close()
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
