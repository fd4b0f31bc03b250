/**
 * Deliveries a second of one organisation by the number of its databases: RabbitMQ has all events, `outhook consume`
 * takes them into one, two and three databases, each with a worker of its own, and `outhook spread-org` has moved the
 * endpoints to the databases of their hashes. On a machine with few cores the CPU limits the sum. So it also prints
 * how many deliveries each Postgres makes with a second of CPU, which another machine would give it for itself.
 *
 *   npx -y deno@2.9.6 run -A tests/bench/into_databases.ts [--events 1000] [--endpoints 60]
 */

import { parseArgs } from 'node:util'
import postgres, { type Sql } from 'postgres'
import { runSpreadOrg } from '../../package/command/spread_org/spread_org.ts'
import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { startWorker } from '../_support/worker_process.ts'
import { startInto } from '../consumer/_support/into_command.ts'
import { type RabbitMqBus, startRabbitMqBus } from '../consumer/_support/rabbitmq_bus.ts'
import { endpointOf } from '../consumer/_support/source_endpoint.ts'
import { startSink } from '../soak/_support/processes.ts'
import { cpuOfTree } from './run/proc.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000' },
    endpoints: { type: 'string', default: '60' },
  },
})
const events = Number(values.events)
const endpoints = Number(values.endpoints)
const org = 'org-7'
const all = ['eu-1', 'eu-2', 'eu-3']
/** They prepare connections and plans, and are not measured. */
const WARM_EVENTS = 100

/** A Postgres with a worker of its own. It does not wait for the disk. */
interface Database extends AsyncDisposable {
  readonly name: string
  readonly url: string
  readonly sql: Sql
  /** Seconds of CPU of its Postgres until now. */
  cpu(): number
}

/** What one database did. */
interface Share {
  name: string
  deliveries: number
  cpu: number
  /** From the first event that it took until its last delivery, in milliseconds since 1970. */
  from: number
  until: number
}

async function startDatabase(name: string): Promise<Database> {
  const pg = await startTestPostgres({ migrated: true })
  const file = await Deno.readTextFile(`${pg.dataDir}/pg/postmaster.pid`)
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  await sql`select outbox.set_setting('egress.allow_http', 'true'),
    outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8", "::1/128"]')`
  const worker = startWorker(pg.dbUrl)
  return {
    name,
    url: pg.dbUrl,
    sql,
    cpu: () => cpuOfTree(Number(file.split('\n')[0])),
    async [Symbol.asyncDispose](): Promise<void> {
      worker.kill('SIGTERM')
      await worker.ended
      await sql.end()
      await pg[Symbol.asyncDispose]()
    },
  }
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  if (await waitUntil(isTrue, { timeoutMs: 300_000, everyMs: 200 })) return
  throw new Error(`waited in vain until ${what}`)
}

/** Whether a database has so many events of the organisation, and nothing is left to do for them. */
async function isOver({ sql }: Database, count: number): Promise<boolean> {
  const [row] = await sql`
    select (select count(*) from outbox.event e where e.org_id = ${org}) >= ${count}
      and not exists (select from outbox.unrouted) and not exists (select from outbox.delivery) as over`
  return row?.over
}

/** Publishes events, and waits until RabbitMQ has them all. `before` were published earlier. */
async function publish(
  source: Database,
  { count, before }: { count: number; before: number },
): Promise<void> {
  await source.sql`select outbox.publish_many((
      select jsonb_agg(jsonb_build_object('type', 'order.paid', 'org_id', ${org}::text,
        'payload', jsonb_build_object('id', n, 'pad', repeat('x', 200))))
      from generate_series(b, least(b + 499, ${count}::integer)) n))
    from generate_series(1, ${count}::integer, 500) b`
  await until('RabbitMQ has all events', () => isOver(source, before + count))
}

/** Creates all endpoints in the first database, and moves each to that of its hash. */
async function spreadEndpoints(
  databases: readonly Database[],
  routes: string,
  receiver: string,
): Promise<void> {
  const [first] = databases
  if (first === undefined) throw new Error('no databases')
  await first.sql`
    select outbox.create_endpoint(${`${receiver}/`}::text || n, '{order.*}', ${org})
    from generate_series(1, ${endpoints}::integer) n`
  const said: string[] = []
  const say = (text: string): void => void said.push(text)
  const code = await runSpreadOrg(org, {
    routes,
    database: databases.map(({ name, url }) => `${name}=${url}`),
    ...{ empty: [], wait: 30, dryRun: false, yes: true },
  }, {
    env: {},
    readFile: Deno.readTextFile,
    terminal: { isInteractive: false, print: say, printError: say },
  })
  if (code !== 0) throw new Error(said.join('\n'))
}

async function shareOf({ name, sql }: Database, cpu: number): Promise<Share> {
  const [row] = await sql`
    with event as (
      select e.id, e.created_at from outbox.event e where e.org_id = ${org}
      order by e.id desc limit ${events})
    select count(*)::integer as deliveries, extract(epoch from min(e.created_at)) * 1000 as began,
      extract(epoch from max(a.at)) * 1000 as ended
    from event e join outbox.attempt a on a.event_id = e.id and a.outcome = 'delivered'`
  return {
    name,
    deliveries: row?.deliveries,
    cpu,
    from: Number(row?.began),
    until: Number(row?.ended),
  }
}

/** Delivers all events with these databases. */
async function measure(
  source: Database,
  bus: RabbitMqBus,
  { names, receiver, before }: { names: readonly string[]; receiver: string; before: number },
): Promise<Share[]> {
  await using started = new AsyncDisposableStack()
  const databases = await Promise.all(
    names.map(async (name) => started.use(await startDatabase(name))),
  )
  const routes = await Deno.makeTempFile({ suffix: '.json' })
  started.defer(() => Deno.remove(routes))
  await Deno.writeTextFile(routes, JSON.stringify({ '*': [names[0]], [org]: names }))
  await spreadEndpoints(databases, routes, receiver)

  async function consume(count: number): Promise<void> {
    const flags = { queue: 'outhook', into: [...names], routes, batch: 100 }
    const process = startInto(flags, bus, databases)
    for (const one of databases) await until(`${one.name} is done`, () => isOver(one, count))
    process.kill('SIGTERM')
    await process.ended
  }

  await publish(source, { count: WARM_EVENTS, before })
  await consume(WARM_EVENTS)
  await publish(source, { count: events, before: before + WARM_EVENTS })
  const cpus = databases.map((one) => one.cpu())
  await consume(WARM_EVENTS + events)
  const used = databases.map((one, at) => one.cpu() - (cpus[at] ?? 0))
  const shares = await Promise.all(databases.map((one, at) => shareOf(one, used[at] ?? 0)))
  const delivered = shares.reduce((sum, { deliveries }) => sum + deliveries, 0)
  if (delivered !== events * endpoints) throw new Error(`${delivered} deliveries`)
  return shares
}

await using started = new AsyncDisposableStack()
const bus = started.use(await startRabbitMqBus())
await bus.create('outhook')
const source = started.use(await startDatabase('source'))
await source.sql.unsafe(await endpointOf(bus, org))
const sink = await startSink()
started.defer(async () => void await sink.stop())

let single = 0
for (const [at] of all.entries()) {
  const names = all.slice(0, at + 1)
  const before = at * (WARM_EVENTS + events)
  const shares = await measure(source, bus, { names, receiver: sink.url, before })
  const ms = Math.max(...shares.map((one) => one.until)) -
    Math.min(...shares.map((one) => one.from))
  const perSecond = events * endpoints / ms * 1_000
  if (at === 0) single = perSecond
  print(
    `${names.length} databases: ${Math.round(perSecond)} deliveries a second, ` +
      `${(perSecond / single).toFixed(2)} of one, ${(ms / 1_000).toFixed(1)} s, ` +
      `load average ${(Deno.loadavg()[0] ?? 0).toFixed(1)}`,
  )
  for (const { name, deliveries, cpu } of shares) {
    print(
      `  ${name}: ${deliveries} deliveries, ${cpu.toFixed(1)} s of CPU of its Postgres, ` +
        `${Math.round(deliveries / cpu)} deliveries for a second of it`,
    )
  }
}
