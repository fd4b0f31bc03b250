/** An upgrade while publishers publish and a worker of the old version delivers, in both orders. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { takeSnapshot } from '../../supabase/local/schema/snapshot.ts'
import { compareSnapshots } from '../../supabase/local/schema/snapshot.ts'
import { withSchema } from '../../supabase/local/schema/database.ts'
import { buildUpgradeFiles } from '../../supabase/local/schema/upgrade_files.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { denoCommand, startWorker, type WorkerProcess } from '../_support/worker_process.ts'
import { buildIndexes } from './_indexes.ts'
import { migrate } from './_migrate.ts'
import { makeSample, type Sample } from './_sample.ts'
import { beginTraffic, type Traffic } from './_traffic.ts'

for (const first of ['schema', 'functions'] as const) {
  Deno.test(`an upgrade that begins with the ${first} loses nothing and sends nothing twice`, async () => {
    await using sample = await makeSample()
    await using pg = await startTestPostgres({ migrated: true })
    const old = startWorker(pg.dbUrl)
    let next: WorkerProcess | null = null
    try {
      await using traffic = await beginTraffic(pg.dbUrl)
      const { sql } = traffic
      await moreArrive(traffic, old)
      const job = await halfReplay(traffic)
      const before = await states(sql)

      const change = async (): Promise<void> => await upgradeSchema(sample, pg.dbUrl, sql)
      const replace = async (): Promise<void> => {
        next = startWorker(
          pg.dbUrl,
          {},
          denoCommand(join(sample.root, 'functions/deliver/worker.ts')),
        )
        await moreArrive(traffic, next)
        expect(await end(old)).toEqual([0, []])
        await moreArrive(traffic, next)
      }
      await (first === 'schema' ? change() : replace())
      // The versions differ now.
      await moreArrive(traffic, next ?? old)
      await (first === 'schema' ? replace() : change())
      await moreArrive(traffic, next ?? old)
      expect(await states(sql)).toEqual(before)

      traffic.heal()
      await sql`select outbox.set_replay_job(${job}, 'running')`
      await sql`select outbox.resume_endpoint(id) from outbox.endpoint where description = 'waiting'`
      await traffic.quiet()
      await traffic.until(`not exists (select from outbox.unrouted)
        and not exists (select from outbox.delivery d join outbox.endpoint e on e.id = d.endpoint_id
          where e.description in ('plain', 'keyed', 'waiting', 'dead'))
        and not exists (select from outbox.replay_job where status <> 'done')`)
      await expectAllSent(traffic)
      expect(traffic.errors).toEqual([])
      await expectSameSchema(sample, pg)
    } finally {
      old.kill('SIGTERM')
      // SAFETY: it is assigned in a function, which the compiler does not see.
      const started = next as WorkerProcess | null
      started?.kill('SIGTERM')
      await Promise.all([old.ended, started?.ended])
    }
  })
}

/** Waits until 50 more events of publishers have arrived. */
async function moreArrive(traffic: Traffic, worker: WorkerProcess): Promise<void> {
  const enough = traffic.arrived() + 50
  if (await waitUntil(() => traffic.arrived() >= enough, { timeoutMs: patienceMs })) return
  throw new Error(
    `${traffic.arrived()} of ${enough} events arrived. ${traffic.errors.slice(-3)}\n` +
      worker.log.slice(-20).join('\n'),
  )
}

/** Ends a worker; returns its exit code, and the lines that report an error. */
async function end(worker: WorkerProcess): Promise<[code: number | string, errors: string[]]> {
  worker.kill('SIGTERM')
  const code = await worker.ended
  return [code, worker.log.filter((line) => line.includes('"level":"error"'))]
}

/** Waits for dead letters and an open breaker, and pauses a replay job that is half done. */
async function halfReplay({ sql, until }: Traffic): Promise<string> {
  await until(`(select count(*) = 60 from outbox.dead_letter x join outbox.endpoint e
    on e.id = x.endpoint_id where e.description = 'dead')`)
  await until(`exists (select from outbox.gate where breaker <> 'closed')`)
  const [row] = await sql`select outbox.replay_many(p_endpoint_id => id, p_rate_per_second => 5)
    ->> 'id' as job from outbox.endpoint where description = 'dead'`
  await until(`(select count(*) > 0 from outbox.dead_letter where replayed_at is not null)`)
  await sql`select outbox.set_replay_job(${row?.job}, 'paused')`
  // What it has replayed fails again.
  await until(`not exists (select from outbox.delivery d join outbox.endpoint e
    on e.id = d.endpoint_id where e.description = 'dead')`)
  return row?.job
}

/** What an upgrade must leave as it is, whatever the worker does meanwhile. */
async function states(sql: Sql): Promise<unknown> {
  const [row] = await sql`select
    (select jsonb_agg(jsonb_build_object(e.description, e.status) order by e.description)
      from outbox.endpoint e) as endpoints,
    (select count(*)::integer from outbox.delivery d join outbox.endpoint e on e.id = d.endpoint_id
      where e.description = 'waiting') as waiting,
    (select jsonb_agg(distinct g.breaker <> 'closed') from outbox.gate g join outbox.endpoint e
      on e.id = g.endpoint_id where e.description = 'broken') as broken,
    (select jsonb_agg(j.status) from outbox.replay_job j) as jobs,
    (select jsonb_object_agg(m.status, m.n) from (
      select status, count(*) as n from outbox.outbound_message group by status) m) as messages,
    (select count(*)::integer from outbox.dead_letter x join outbox.endpoint e
      on e.id = x.endpoint_id where e.description = 'dead') as dead_letters`
  return { ...row }
}

/** Applies the migrations while a transaction has read the large tables and is still open. */
async function upgradeSchema(sample: Sample, dbUrl: string, sql: Sql): Promise<void> {
  const { files } = await buildUpgradeFiles(sample.root, sample.release)
  const held = await sql.begin(async (reader) => {
    await reader`select count(*) from outbox.event`
    await reader`select count(*) from outbox.attempt`
    await reader`select count(*) from outbox.delivery`
    return await migrate(dbUrl, files)
  })
  const { [`core_${sample.version}.sql`]: core, ...others } = held
  // No partition, and of the tables of the queue none.
  expect(core).toEqual(['attempt ShareLock', 'dead_letter AccessExclusiveLock'])
  expect(Object.values(others).flat()).toEqual([])
}

/** Each event has arrived, once for each recorded attempt, and those of a key in their order. */
async function expectAllSent({ sql, receiver, published }: Traffic): Promise<void> {
  const attempts = await sql`
    select a.event_id as id, e.description as endpoint, count(*)::integer as n,
      count(*) filter (where a.outcome = 'delivered')::integer as delivered
    from outbox.attempt a join outbox.endpoint e on e.id = a.endpoint_id
    where a.kind = 'attempt' group by 1, 2`
  const arrivals = new Map<string, number>()
  for (const { headers } of receiver.received) {
    const id = `${headers['webhook-id']}`
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
  }
  const unexplained = attempts.filter(({ id, n }) => arrivals.get(id) !== n)
  expect(unexplained.filter(({ endpoint }) => endpoint !== 'broken')).toEqual([])
  // The half of the job that failed again is in dead letters, and the other half was delivered.
  const letters =
    await sql`select event_id as id from outbox.dead_letter where delivered_at is null`
  const dead = new Set(letters.map(({ id }) => id))
  const undelivered = attempts.filter(({ endpoint, delivered }) =>
    endpoint !== 'broken' && delivered !== 1
  )
  expect(undelivered.filter(({ id, n }) => !dead.has(id) || n !== 2)).toEqual([])
  expect(undelivered.length).toBeLessThan(60)
  const sent = new Set(attempts.map(({ id }) => id))
  expect(published.filter(({ id }) => !sent.has(id))).toEqual([])
  const [row] = await sql`select count(*)::integer as n from outbox.event v
    where split_part(v.type, '.', 1) in ('plain', 'keyed', 'waiting', 'dead', 'broken')
      and not exists (select from outbox.attempt a where a.event_id = v.id)
      and not exists (select from outbox.delivery d where d.event_id = v.id)`
  expect(row?.n).toBe(0)
  expect(keyedOrder(receiver.received.map(({ headers }) => `${headers['webhook-id']}`), published))
    .toEqual(keyedOrder(published.map(({ id }) => id), published))
}

/** The ids of events with each key, in the order in which they occur. */
function keyedOrder(
  ids: readonly string[],
  published: Traffic['published'],
): Map<string, string[]> {
  const keys = new Map(
    published.flatMap(({ id, type, key }) => type === 'keyed.made' ? [[id, key]] : []),
  )
  const order = new Map<string, string[]>()
  for (const id of ids) {
    const key = keys.get(id)
    if (key !== undefined) order.set(key, [...order.get(key) ?? [], id])
  }
  return new Map([...order].sort())
}

/** The upgraded database has the schema of a new one; its data is its own. */
async function expectSameSchema(
  sample: Sample,
  pg: Awaited<ReturnType<typeof startTestPostgres>>,
): Promise<void> {
  await buildIndexes(pg)
  const fresh = await withSchema(sample.root, 'sql', takeSnapshot)
  const upgraded = await takeSnapshot(pg)
  const found = compareSnapshots(['a new database', fresh], ['the upgraded one', upgraded])
  expect(found.filter((line) => !line.startsWith('row ')).join('\n')).toBe('')
}
