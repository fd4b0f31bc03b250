/** After a restore to an earlier time: what would be sent again can be seen, and ended before it is sent. */

import { expect } from '@std/expect'
import { docsBlock } from '../project/_docs.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker, type WorkerProcess } from '../_support/worker_process.ts'
import { restoreDump, restoreInPlace } from './copies/copy.ts'
import { arrivals, publish, query } from './copies/deliveries.ts'

let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ functions: [] })
  await outhook.createEndpoint('/hooks/restored', { p_event_types: ['restored.*'] })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

async function working<T>(dbUrl: string, use: (worker: WorkerProcess) => Promise<T>): Promise<T> {
  const worker = startWorker(dbUrl)
  try {
    return await use(worker)
  } finally {
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  }
}

/** A database whose backup has three open events, restored after all of them were delivered. */
async function restored(name: string): Promise<{ dbUrl: string; ids: string[] }> {
  const { dbUrl } = await restoreDump(outhook, name)
  const ids = await publish(dbUrl, 'restored.before', 3)
  await restoreInPlace(outhook, name, {
    lost: () =>
      working(dbUrl, async (worker) => {
        expect(await arrivals(outhook.receiver, ids, worker)).toEqual([1, 1, 1])
      }),
    loaded: () => Promise.resolve(),
  })
  return { dbUrl, ids }
}

/** How often these have come, once an event that was published after the restore has come. */
async function comeThen(dbUrl: string, ids: string[]): Promise<number[]> {
  return await working(dbUrl, async (worker) => {
    const [after = ''] = await publish(dbUrl, 'restored.after')
    expect(await arrivals(outhook.receiver, [after], worker)).toEqual([1])
    return await arrivals(outhook.receiver, ids, worker)
  })
}

Deno.test('what was delivered after the backup is ended before any run starts, and never sent again', async () => {
  const { dbUrl, ids } = await restored('yesterday')
  expect(await query(dbUrl, 'select unrouted::integer from outbox.queue_health')).toEqual([
    { unrouted: 3 },
  ])
  const [row] = await query(dbUrl, docsBlock('restored-skip'))
  expect(row).toEqual({ cancel_pending: { deliveries: 3, replay_jobs: 0, more: false } })
  expect(await query(dbUrl, docsBlock('restored-pending'))).toEqual([])
  expect(await comeThen(dbUrl, ids)).toEqual([1, 1, 1])
})

Deno.test('only what was due until some time is marked as delivered, and the rest is sent again', async () => {
  const { dbUrl, ids } = await restored('last_week')
  await query(dbUrl, `select outbox.route_all(now(), now() + interval '10 s')`)
  const [pending] = await query(dbUrl, docsBlock('restored-pending'))
  expect(pending).toMatchObject({ event_type: 'restored.before', status: 'pending', count: '3' })
  // A later retry was not sent before the restore.
  await query(
    dbUrl,
    `update outbox.delivery set attempt = 1, failed_attempts = 1, due_at = now() where event_id = '${
      ids[2]
    }'`,
  )
  const [first] = await query(dbUrl, `select outbox.uuid_v7_time('${ids[1]}')::text as at`)
  await query(dbUrl, docsBlock('restored-mark').replace('2026-11-30 12:00+00', `${first?.at}`))
  // pg_cron cannot be in this second database.
  const step = 'select outbox.work_delivered_marks(outbox.clock()) as goes_on'
  while ((await query(dbUrl, step))[0]?.goes_on === true);
  const [mark] = await query(dbUrl, docsBlock('restored-marked'))
  expect(mark).toMatchObject({ started_by: 'postgres', marked: '2' })
  expect(await comeThen(dbUrl, ids)).toEqual([1, 1, 2])
})
