/** Each limit of the database is really brought near: health, 01 and the metrics show it, and the runbook mends it. */

import { expect } from '@std/expect'
import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { askOps, type Row, runbookBlock } from '../_support/ops.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'
import { setTransactionId } from '../_support/transaction_ids.ts'

let pg: TestPostgres
let sql: Sql

Deno.test.beforeAll(async () => {
  pg = await startTestPostgres({ migrated: true })
  sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  // Its tick would change what the tests count.
  await sql`select cron.alter_job(jobid, active => false) from cron.job`
})
Deno.test.afterAll(async () => {
  await sql?.end()
  await pg?.stop()
})

async function warnings(): Promise<string[]> {
  const [row] = await sql<{ warnings: string[] }[]>`select warnings from outbox.queue_health`
  return row?.warnings ?? []
}

/** The warnings that name this part of the runbook. */
async function warningsOf(part: string): Promise<string[]> {
  return (await warnings()).filter((problem) => problem.endsWith(`(runbook: ${part})`))
}

async function lineOf(question: string): Promise<Row | undefined> {
  return (await askOps(pg, '01')).find((row) => row.question === question)
}

async function gauge(name: string): Promise<number | undefined> {
  const [row] = await sql<{ value: number | null }[]>`
    select (g ->> 2)::float8 as value
    from jsonb_array_elements(outbox.get_metrics() -> 'gauges') g where g ->> 0 = ${name}`
  return row?.value ?? undefined
}

/** Statistics of Postgres come a moment later. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  expect(await waitUntil(isSo, { timeoutMs: patienceMs, everyMs: 100 })).toBe(true)
}

/** Is wrong, named by health and by 01 with its part of the runbook; gone after `mend`. */
async function expectTold(
  { question, part, problem, mend }: {
    question: string
    part: string
    problem: RegExp
    mend: () => Promise<unknown>
  },
): Promise<void> {
  let told: string[] = []
  const isTold = async (): Promise<boolean> =>
    (told = await warnings()).some((one) => problem.test(one))
  if (!await waitUntil(isTold, { timeoutMs: patienceMs, everyMs: 100 })) {
    throw new Error(`${problem} is not among: ${told.join('; ')}`)
  }
  expect(await lineOf(question)).toMatchObject({ status: 'error', runbook: part })
  await mend()
  await eventually(async () => !(await warningsOf(part)).some((one) => problem.test(one)))
  expect(await lineOf(question)).toMatchObject({ status: 'ok', runbook: '' })
}

Deno.test('no limit is near in a new database', async () => {
  const rows = await sql<{ name: string; problem: string | null }[]>`
    select name, problem from outbox.near_limits(outbox.clock())`
  expect(rows.filter(({ problem }) => problem !== null)).toEqual([])
  expect(rows.map(({ name }) => name)).toEqual([
    ...['disk', 'transaction_ids', 'connections', 'snapshots', 'dead_rows', 'partitions'],
    ...['net_requests', 'traffic'],
  ])
})

Deno.test('Disk: less than 10 % is left', async () => {
  const used = async (): Promise<number> =>
    (await gauge('database_bytes') ?? NaN) + (await gauge('wal_bytes') ?? NaN)
  expect(await gauge('disk_bytes')).toBeUndefined()
  const size = Math.ceil(await used() / 0.95 / 1048576)
  await sql`select outbox.set_setting('database.disk_mib', ${size}::text::jsonb)`
  expect(await gauge('disk_bytes')).toBe(size * 1048576)
  await expectTold({
    question: 'Is there room on the disk?',
    part: 'Disk',
    problem: /^the disk has \d% left: \d+ MB of \d+ MB are used/,
    mend: async () => {
      // It says what takes the room.
      expect((await sql.unsafe(await runbookBlock('disk-room'))).length).toBeGreaterThan(5)
      await sql`select outbox.set_setting('database.disk_mib', '16384')`
    },
  })
  await sql`select outbox.set_setting('database.disk_mib', '0')`
})

Deno.test('Disk: a replication slot that nobody reads keeps the write-ahead log', async () => {
  await sql`select pg_create_physical_replication_slot('left', true)`
  await using admin = connect(pg.adminDbUrl)
  for (let n = 0; n < 4; n++) {
    await admin.sql`select txid_current(), pg_switch_wal()`
    await admin.sql`create table public.written_${admin.sql.unsafe(String(n))} (n integer)`
  }
  expect(await gauge('slot_wal_bytes')).toBeGreaterThan(30e6)
  // Where the size of the disk is not known, max_wal_size is the measure, which is 2 GB here.
  expect((await warningsOf('Disk')).filter((one) => one.includes('slot'))).toEqual([])
  await sql`select outbox.set_setting('database.disk_mib', '300')`
  const [shown] = await sql.unsafe(await runbookBlock('disk-room'))
  expect(shown).toBeDefined()
  await eventually(async () => (await warningsOf('Disk')).some((one) => one.includes('slot left')))
  expect((await askOps(pg, '01')).find(({ runbook }) => runbook === 'Disk')?.result)
    .toMatch(/the replication slot left keeps \d+ MB of WAL, and nobody reads it/)
  await sql`select pg_drop_replication_slot('left')`
  await eventually(async () => !(await warningsOf('Disk')).some((one) => one.includes('slot')))
  expect(await gauge('slot_wal_bytes')).toBe(0)
  await sql`select outbox.set_setting('database.disk_mib', '0')`
})

Deno.test('Connections: more than nine of ten are open', async () => {
  const most = await gauge('connections_max') ?? 0
  expect(most).toBe(97)
  const opened = await Promise.all(
    Array.from({ length: Math.ceil(most * 0.9) }, async () => {
      const one = postgres(pg.dbUrl, {
        max: 1,
        fetch_types: false,
        connection: { application_name: 'leak' },
      })
      await one`select 1`
      return one
    }),
  )
  await expectTold({
    question: 'Are there connections left?',
    part: 'Connections',
    problem: /^\d\d of 97 connections are open/,
    mend: async () => {
      expect(await gauge('connections')).toBeGreaterThan(87)
      const [most] = await sql.unsafe(await runbookBlock('open-connections'))
      expect(most).toMatchObject({ application_name: 'leak', state: 'idle' })
      await sql.unsafe((await runbookBlock('end-connections')).replace('<name>', 'leak'))
    },
  })
  await Promise.all(opened.map((one) => one.end({ timeout: 0 }).catch(() => {})))
})

Deno.test('Vacuum delayed: a transaction that is left open', async () => {
  await using other = connect(pg.dbUrl)
  await other.sql`begin isolation level repeatable read`
  await other.sql`select txid_current()`
  const later = async (after: string): Promise<string[]> =>
    (await sql<{ problem: string | null }[]>`
      select problem from outbox.snapshot_checks(clock_timestamp() + ${after}::interval)`)
      .flatMap(({ problem }) => problem ?? [])
  expect(await later('14 minutes')).toEqual([])
  const [problem = ''] = await later('15 minutes')
  expect(problem).toMatch(/^a transaction delays vacuum: pid \d+, open since/)
  // The query names it after three seconds.
  const pid = /pid (\d+)/.exec(problem)?.[1]
  let held: Row | undefined
  await eventually(async () => {
    held = (await askOps(pg, '12')).find(({ who }) => who?.startsWith(`pid ${pid},`))
    return held !== undefined
  })
  await sql.unsafe(held?.command ?? '')
  await eventually(async () => (await later('15 minutes')).length === 0)
})

Deno.test('Vacuum delayed: a table with many dead rows', async () => {
  await using admin = connect(pg.adminDbUrl)
  await admin.sql`alter table outbox.counter_change set (autovacuum_enabled = off)`
  // A snapshot that is older than the rows keeps vacuum from removing them.
  await using other = connect(pg.dbUrl)
  await other.sql`begin isolation level repeatable read`
  await other.sql`select txid_current()`
  // Another table has more of them, and nearly as many live rows.
  await admin.sql`
    create unlogged table outbox.many as select n from generate_series(1, 2100000) n`
  await admin.sql`alter table outbox.many set (autovacuum_enabled = off)`
  await admin.sql`update outbox.many set n = n + 1`
  await admin.sql`
    insert into outbox.counter_change (metric, labels, n)
    select 'none', '{}', 1 from generate_series(1, 2000001)`
  await admin.sql`delete from outbox.counter_change where metric = 'none'`
  // Otherwise the statistics of the delete may arrive after those of the vacuum, and count its rows twice.
  await admin.sql`select pg_stat_force_next_flush()`
  await admin.sql`vacuum outbox.counter_change`
  await expectTold({
    question: 'Does vacuum remove dead rows?',
    part: 'Vacuum delayed',
    problem: /^vacuum does not remove dead rows: the table counter_change has 200\d{4} of them/,
    mend: async () => {
      await other.sql`rollback`
      const row = (await askOps(pg, '12')).find(({ who }) => who === 'counter_change')
      expect(row?.command).toBe('vacuum outbox.counter_change;')
      // Autovacuum may still hold an older snapshot.
      await eventually(async () => {
        await admin.sql.unsafe(row?.command ?? '')
        return (await warningsOf('Vacuum delayed')).length === 0
      })
    },
  })
  await admin.sql`alter table outbox.counter_change reset (autovacuum_enabled)`
  await admin.sql`drop table outbox.many`
})

Deno.test('Partitions: those of the next days are missing', async () => {
  await sql`do $$
    declare v_part regclass;
    begin
      for v_part in
        select part from outbox.partitions('attempt') where since > now() + interval '1 hour'
      loop
        execute format('drop table %s', v_part);
      end loop;
    end
  $$`
  await expectTold({
    question: 'How far do the partitions reach?',
    part: 'Partitions',
    problem: /^the partitions of attempt end at \d{4}-/,
    mend: async () => await sql`select outbox.add_partitions()`,
  })
})

Deno.test('Kicks wait: the queue of pg_net is long', async () => {
  // No worker of pg_net runs here.
  await sql`
    select net.http_post('http://127.0.0.1:1/', '{}'::jsonb) from generate_series(1, 1001)`
  await expectTold({
    question: 'Is the queue of pg_net short?',
    part: 'Kicks wait',
    problem: /^the queue of pg_net has 1001 requests/,
    mend: async () => {
      expect(await gauge('net_requests')).toBe(1001)
      await using admin = connect(pg.adminDbUrl)
      await admin.sql`truncate net.http_request_queue`
    },
  })
})

Deno.test('Traffic: nearly all of the month is sent', async () => {
  // As the first tick does.
  await sql`select outbox.note_traffic(outbox.clock(), 1)`
  await sql`select outbox.set_setting('egress.allow_http', 'true')`
  await sql`select outbox.create_endpoint('https://example.com/traffic', '{traffic}')`
  for (let n = 0; n < 5; n++) {
    await sql`
      select outbox.publish('traffic', jsonb_build_object('text', repeat('x', 200000)))`
  }
  // A run that asks for nothing is told to end, so another one claims.
  await sql`select outbox.dispatch(${crypto.randomUUID()}, 1, p_limit => 0)`
  const run = crypto.randomUUID()
  let seq = 0
  let claimed: Record<string, string | number>[] = []
  await eventually(async () => {
    const [claim] = await sql`select outbox.dispatch(${run}, ${++seq}, p_limit => 100)::jsonb as c`
    claimed = claimed.concat(claim?.c.deliveries)
    return claimed.length === 5
  })
  const results = claimed.map(({ event, endpoint, attempt }) => ({
    ...{ event, endpoint, attempt, outcome: 'delivered', status: 200, duration_ms: 1 },
  }))
  await sql`select outbox.dispatch(${run}, ${++seq}, ${sql.json(results)}, 0)`
  expect(await gauge('sent_month_bytes')).toBeGreaterThan(1_000_000)
  await sql`select outbox.set_setting('traffic.mib_per_month', '1')`
  await expectTold({
    question: 'How much was sent in this month?',
    part: 'Traffic',
    problem: /^9\d\d kB of the 1024 kB of this month are sent/,
    mend: async () => {
      const [row] = await sql.unsafe(await runbookBlock('most-traffic'))
      expect(row).toMatchObject({ attempts: '5', sent: '977 kB' })
      await sql`select outbox.set_setting('traffic.mib_per_month', '100000')`
    },
  })
  // What was sent before a month is not of it: sql/operations/limits/months.
})

Deno.test('Transaction ids: a billion of them are used', async () => {
  // Otherwise autovacuum makes all rows young at once.
  await using admin = connect(pg.adminDbUrl)
  await admin.sql`alter system set autovacuum_freeze_max_age = 2000000000`
  await admin.sql`alter system set autovacuum = off`
  await admin.sql.end()
  await sql.end()
  pg = await setTransactionId(pg, 1_200_000_000)
  sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  expect(await gauge('transaction_id_age')).toBeGreaterThan(1.1e9)
  await expectTold({
    question: 'Are there transaction ids left?',
    part: 'Transaction ids',
    problem: /^the oldest row is 1\d{9} transactions old/,
    mend: async () => {
      const rows = await sql.unsafe(await runbookBlock('oldest-tables'))
      expect(Number(rows[0]?.transactions)).toBeGreaterThan(1.1e9)
      await using admin = connect(pg.adminDbUrl)
      const others = await admin.sql<{ datname: string }[]>`
        select datname from pg_database where not datallowconn`
      for (const { datname } of others) {
        await admin.sql.unsafe(`alter database ${datname} allow_connections true`)
      }
      for (const { datname } of await admin.sql`select datname from pg_database`) {
        await using one = connect(pg.adminDbUrl.replace(/\/postgres(\?|$)/, `/${datname}$1`))
        await one.sql`vacuum (freeze)`
      }
      expect(await gauge('transaction_id_age')).toBeLessThan(1e6)
    },
  })
})

/** A connection of its own. */
function connect(url: string): { sql: Sql } & AsyncDisposable {
  const one = postgres(url, { max: 1, onnotice: () => {} })
  return {
    sql: one,
    [Symbol.asyncDispose]: async () => await one.end({ timeout: 0 }).catch(() => {}),
  }
}
