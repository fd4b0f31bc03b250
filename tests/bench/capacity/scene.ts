import { Buffer } from 'node:buffer'
import postgres, { type Sql } from 'postgres'
import type { Cost } from '../../../supabase/local/capacity/model.ts'
import { startPostgres } from '../../../supabase/local/postgres/mod.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { testFolder } from '../../_support/folder.ts'
import { copyPrepared } from '../../_support/prepared.ts'
import { denoCommand, workerModule } from '../../_support/worker_process.ts'
import { cpuOf, cpuOfTree } from '../run/proc.ts'

/** What differs between two measurements. */
export interface Point {
  fanOut: number
  payloadKib: number
  failRate: number
}

/** A database whose commits are on disk, a worker, and a receiver in this process. */
export interface Scene extends AsyncDisposable {
  /** What one event costs with its deliveries. */
  measure(point: Point): Promise<Cost>
}

/** So many deliveries in a measurement, whatever the fan-out. */
const DELIVERIES = 12_000
const PER_TRANSACTION = 100

export async function startScene(): Promise<Scene> {
  await using started = new AsyncDisposableStack()
  const dataDir = testFolder()
  await copyPrepared(dataDir, 'migrations')
  const pg = await startPostgres({ dataDir, port: 'free', log: () => {} })
  started.defer(async () => {
    await pg.stop()
    await Deno.remove(dataDir, { recursive: true })
  })
  const sql = postgres(pg.adminDbUrl, { max: 1, onnotice: () => {} })
  started.defer(() => sql.end({ timeout: 1 }))
  await sql`select outbox.set_setting('egress.allow_http', 'true'),
    outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8"]')`
  const receiver = startReceiver()
  started.defer(() => receiver.stop())
  const [command = '', ...args] = denoCommand(workerModule)
  const worker = new Deno.Command(command, {
    args,
    cwd: projectRoot,
    env: { OUTHOOK_DB_URL: pg.dbUrl, OUTHOOK_PROJECT: 'local', NO_COLOR: '1' },
    ...{ stdin: 'null', stdout: 'null', stderr: 'null' },
  }).spawn()
  started.defer(async () => {
    worker.kill('SIGTERM')
    await worker.status
  })
  const [row] = await sql`show data_directory`
  const pid = Number(
    (await Deno.readTextFile(`${row?.data_directory}/postmaster.pid`)).split('\n')[0],
  )
  let count = 0
  const all = started.move()
  return {
    measure: (point) =>
      measure(sql, receiver, { postgres: pid, worker: worker.pid }, point, ++count),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

interface Receiver {
  url: string
  /** How many were answered with 200. */
  taken(): number
  /** This share of first attempts is refused. */
  refuse(share: number): void
  stop(): Promise<void>
}

function startReceiver(): Receiver {
  const refused = new Set<string>()
  let share = 0
  let taken = 0
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    async (request) => {
      await request.arrayBuffer()
      const key = request.url + request.headers.get('webhook-id')
      if (share > 0 && !refused.has(key) && Math.random() < share) {
        refused.add(key)
        return new Response('busy', { status: 503 })
      }
      refused.add(key)
      taken++
      return new Response('ok')
    },
  )
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    taken: () => taken,
    refuse: (next) => share = next,
    stop: () => server.shutdown(),
  }
}

async function measure(
  sql: Sql,
  receiver: Receiver,
  pids: { postgres: number; worker: number },
  { fanOut, payloadKib, failRate }: Point,
  n: number,
): Promise<Cost> {
  const type = `load.${n}`
  for (let at = 0; at < fanOut; at++) {
    await sql`
      select outbox.create_endpoint(${`${receiver.url}/${n}/${at}`}, ${[type]}::text[],
        p_max_in_flight => 100, p_quantum => 100,
        p_retry => '{"strategy": "fixed", "base_delay": 0.2, "max_retries": 20}')`
  }
  await sql`update outbox.endpoint set breaker_enabled = false where breaker_enabled`
  receiver.refuse(failRate)
  const events = Math.ceil(DELIVERIES / fanOut)
  // Postgres compresses large values, and real payloads are less alike than one letter.
  const bytes = crypto.getRandomValues(new Uint8Array(Math.round(payloadKib * 1_024 * 0.75) - 8))
  const payload = { text: Buffer.from(bytes).toString('base64') }
  const before = await read(sql, pids)
  const taken = receiver.taken()
  for (let at = 0; at < events; at += PER_TRANSACTION) {
    const size = Math.min(PER_TRANSACTION, events - at)
    await sql`
      select outbox.publish(${type}, ${
      sql.json(payload)
    }) from generate_series(1, ${size}::integer)`
  }
  const isOver = async (): Promise<boolean> => {
    if (receiver.taken() - taken < events * fanOut) return false
    const [row] = await sql`select not exists (select from outbox.delivery) as over`
    return row?.over === true
  }
  if (!await waitUntil(isOver, { timeoutMs: 120_000, everyMs: 50 })) {
    throw new Error('not delivered')
  }
  const after = await read(sql, pids)
  return {
    postgresUs: (after.postgres - before.postgres) * 1e6 / events,
    workerUs: (after.worker - before.worker) * 1e6 / events,
    walBytes: (after.wal - before.wal) / events,
    storedBytes: (after.stored - before.stored) / events,
  }
}

async function read(
  sql: Sql,
  pids: { postgres: number; worker: number },
): Promise<{ postgres: number; worker: number; wal: number; stored: number }> {
  const [row] = await sql<{ wal: number; stored: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal,
      sum(pg_total_relation_size(p.part))::float8 as stored
    from (values ('event'), ('attempt')) t (name), outbox.partitions(t.name) p`
  return {
    postgres: cpuOfTree(pids.postgres),
    worker: cpuOf(pids.worker),
    wal: row?.wal ?? NaN,
    stored: row?.stored ?? NaN,
  }
}
