/**
 * A standby is promoted under load, while workers have a connection string with both servers. With synchronous
 * replication nothing that was committed is lost; without it, only what Postgres itself has lost.
 */

import { expect } from '@std/expect'
import postgres, { type Sql } from 'postgres'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { prepareDatabase } from '../../supabase/local/database/mod.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { expectExactCounters } from '../concurrency/_support/checks.ts'
import { Ledger, type Publication } from '../soak/chaos/ledger.ts'
import { startPublishers, types } from '../soak/chaos/publishers.ts'
import { startReceivers } from '../soak/chaos/receivers.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'
import { startWorker } from '../_support/worker_process.ts'
import { type Standby, startStandby } from './copies/server.ts'

type Mode = 'synchronous' | 'asynchronous'

/** The endpoints, with their ordering. */
const orderings = { steady: 'none', ordered: 'partition' } as const

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const ok = await waitUntil(condition, { timeoutMs: patienceMs, everyMs: 50 })
  expect([what, ok]).toEqual([what, true])
}

async function createEndpoints(sql: Sql, url: string): Promise<void> {
  const retry = { strategy: 'fixed', base_delay: 0.5, max_retries: 50 }
  for (const [name, ordering] of Object.entries(orderings)) {
    await sql`
      select outbox.create_endpoint(${`${url}/${name}`}, ${[...types]}, p_ordering => ${ordering},
        p_timeout_ms => 2000, p_retry => ${sql.json(retry)})`
  }
}

/** Makes each commit of the application wait until the standby has it. */
async function waitForStandby(admin: Sql): Promise<void> {
  await admin`alter system set synchronous_standby_names = '*'`
  await admin`alter role postgres set synchronous_commit = on`
  await admin`select pg_reload_conf()`
  await until('the standby is synchronous', async () => {
    const rows = await admin`select from pg_stat_replication where sync_state = 'sync'`
    return rows.length === 1
  })
}

/** Ends the stream to the standby, as a broken network does. */
async function cutReplication(admin: Sql, { admin: there }: Standby): Promise<void> {
  await there`alter system set primary_conninfo = ''`
  await there`select pg_reload_conf()`
  await until('the stream has ended', async () => {
    return (await admin`select from pg_stat_replication`).length === 0
  })
}

async function kill(primary: TestPostgres): Promise<void> {
  const file = await Deno.readTextFile(`${primary.dataDir}/pg/postmaster.pid`)
  Deno.kill(Number(file.split('\n')[0]), 'SIGKILL')
  await primary.ended
}

for (const mode of ['synchronous', 'asynchronous'] as const) {
  Deno.test(`workers find the promoted standby, and ${losses(mode)}`, () => failOver(mode))
}

function losses(mode: Mode): string {
  return mode === 'synchronous'
    ? 'with synchronous replication nothing is lost'
    : 'without synchronous replication only what Postgres lost'
}

async function failOver(mode: Mode): Promise<void> {
  const ledger = new Ledger()
  const receiver = startReceivers(ledger, 1)
  await using primary = await startTestPostgres({ migrated: true })
  await prepareDatabase({ dbUrl: primary.dbUrl, projectDir: projectRoot, log: () => {} })
  const admin = postgres(primary.adminDbUrl, { max: 1, onnotice: () => {} })
  await createEndpoints(admin, receiver.url)
  await using standby = await startStandby(primary)
  if (mode === 'synchronous') await waitForStandby(admin)
  const url = new URL(primary.dbUrl)
  const both = primary.dbUrl.replace(
    url.host,
    `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`,
  )
  const worker = startWorker(`${both}?target_session_attrs=read-write`)
  const publishers = startPublishers({ url: primary.dbUrl, ledger, count: 2, rate: 20, seed: 1 })
  await until('events arrive', () => ledger.arrivals.length > 50)

  const cutAt = Date.now()
  await standby.caughtUp()
  if (mode === 'asynchronous') await cutReplication(admin, standby)
  const before = ledger.publications.length
  await until('more events', () => ledger.publications.length > before + 30)
  await admin.end({ timeout: 0 })
  await kill(primary)
  const stopped = publishers.stop()
  await standby.promote()
  await stopped

  const sql = standby.admin
  const later = await sql<{ id: string }[]>`
    select outbox.publish('chaos.a', '{"ref": "later:0", "n": 0}') as id`
  await until('everything is delivered', async () => {
    const [row] = await sql<{ over: boolean }[]>`
      select not exists (select from outbox.delivery_status where open) and unrouted = 0 as over
      from outbox.queue_health`
    return row?.over === true
  })
  const rows = await sql<{ id: string }[]>`select id from outbox.event where type ~ '^chaos'`
  const kept = new Set(rows.map(({ id }) => id))
  expectAllDelivered(ledger, [...kept])
  expect(kept.has(later[0]?.id ?? '')).toBe(true)
  const lost = ledger.publications.filter(({ fate, id }) => {
    return fate === 'committed' && !kept.has(id ?? '')
  })
  expectOnlyLostByPostgres(lost, mode, cutAt)
  await expectExactCounters(sql)
  expect(await sql`select from outbox.binding_change where action = 'database_changed'`).toEqual([])
  worker.kill('SIGTERM')
  expect(await worker.ended).toBe(0)
  await receiver.close()
}

/** Each endpoint has answered each of these events with 200. */
function expectAllDelivered({ arrivals }: Ledger, ids: string[]): void {
  for (const name of Object.keys(orderings)) {
    const answered = new Set(
      arrivals.filter(({ endpoint, status }) => endpoint === name && status === 200)
        .map(({ id }) => id),
    )
    expect([name, ids.filter((id) => !answered.has(id))]).toEqual([name, []])
  }
}

/** Some of them may have arrived: a run sends what it had claimed from the primary before. */
function expectOnlyLostByPostgres(lost: Publication[], mode: Mode, cutAt: number): void {
  expect(lost.length > 0).toBe(mode === 'asynchronous')
  // The standby had all that was committed before its stream ended.
  expect(lost.filter(({ ended }) => ended < cutAt)).toEqual([])
}
