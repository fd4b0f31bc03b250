/** Point-in-time recovery from a base backup and the WAL: what was delivered since is marked, and not sent again. */

import { expect } from '@std/expect'
import { startFirstTicks } from '../../supabase/local/first_ticks.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { docsBlock } from '../project/_docs.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { startWorker } from '../_support/worker_process.ts'
import { arrivals, end, publish, query, subscribe } from './copies/deliveries.ts'
import { takeBackup } from './copies/server.ts'
import { startReceiver } from './receiver/receiver.ts'

const now = 'select clock_timestamp()::text as now'

Deno.test('after a restore to a point in time, what was due until the failure is marked and can be replayed', async () => {
  const receiver = startReceiver({})
  await using original = await startTestPostgres({ migrated: true })
  try {
    await subscribe(original.dbUrl, receiver, 'time')
    const backup = await takeBackup(original)
    const ids = await publish(original.dbUrl, 'time.before', 3)
    const later = `select outbox.publish('time.later', '{}',
      p_deliver_at => now() + interval '1 hour') as id`
    const [scheduled] = await query(original.dbUrl, later)
    const [point] = await query(original.dbUrl, now)

    // The time that is lost: all of it is delivered, and more.
    const worker = startWorker(original.dbUrl)
    expect(await arrivals(receiver, ids, worker)).toEqual([1, 1, 1])
    const lost = await publish(original.dbUrl, 'time.lost')
    expect(await arrivals(receiver, lost, worker)).toEqual([1])
    expect(await end(worker)).toEqual({ code: 0, refusals: [] })
    const [failure] = await query(original.dbUrl, now)
    await original.halt()

    await using restored = await backup.restore(`${point?.now}`)
    const { dbUrl } = restored
    const open = 'select unrouted::integer from outbox.queue_health'
    expect(await query(dbUrl, open)).toEqual([{ unrouted: 4 }])
    expect(await query(dbUrl, `select from outbox.event where id = '${lost[0]}'`)).toEqual([])

    expect(await query(dbUrl, docsBlock('restored-pause'))).toEqual([])
    const mark = docsBlock('restored-mark').replace('2026-11-30 12:00+00', `${failure?.now}`)
    expect(mark).toContain(`${failure?.now}`)
    expect(await query(dbUrl, mark)).toEqual([{
      mark_delivered: { id: '1', enabled: true, replay_jobs: 0 },
    }])
    const ticks = startFirstTicks({ dbUrl, log: () => {} })
    const isMarked = async (): Promise<boolean> => {
      const [row] = await query(dbUrl, docsBlock('restored-marked'))
      return row?.finished_at !== null && row?.marked === '3'
    }
    expect(await waitUntil(isMarked, { timeoutMs: patienceMs })).toBe(true)
    expect(await query(dbUrl, `select event_id from outbox.delivery_status where open`))
      .toEqual([{ event_id: scheduled?.id }])

    const again = startWorker(dbUrl)
    const after = await publish(dbUrl, 'time.after')
    expect(await arrivals(receiver, after, again)).toEqual([1])
    expect(await arrivals(receiver, ids, again)).toEqual([1, 1, 1])
    const [endpoint] = await query(dbUrl, 'select id from outbox.endpoint')
    const undo = docsBlock('restored-undo')
      .replace('01900000-0000-7000-8000-000000000000', `${endpoint?.id}`)
    expect(await query(dbUrl, undo)).toHaveLength(3)
    expect(await query(dbUrl, undo)).toHaveLength(0)
    const came = async (): Promise<boolean> =>
      (await arrivals(receiver, ids, again)).every((n) => n === 2)
    expect(await waitUntil(came, { timeoutMs: patienceMs })).toBe(true)
    expect(await end(again)).toEqual({ code: 0, refusals: [] })
    await ticks.stop()
  } finally {
    await receiver.close()
  }
})
