/** Sessions that do everything which locks anything, each at random and all at once. */

import type { Sql } from 'postgres'
import type { Delivery } from '../../../functions/_shared/contract/contract.ts'
import type { Session } from './database.ts'
import { type Report, report, Run } from './dispatch.ts'
import type { Random } from './random.ts'

const ENDPOINTS = 12
const KEYS = 4
/** What a person is told of whoever came first: it is gone, it is being sent, the breaker is open. */
const REFUSALS = ['OH002', 'OH004', 'OH006']

/** One row of a table, as the deeds need it. */
interface Key {
  event: string
  endpoint: string
}

/** What one session has in its hands. */
interface Actor {
  sql: Sql
  random: Random
  run: Run
  held: Delivery[]
}

type Deed = (actor: Actor) => Promise<unknown>

/** Makes one endpoint: ordered or not, some halting behind a dead letter, some with a touchy breaker. */
export async function makeEndpoint(sql: Sql, random: Random): Promise<void> {
  const ordering = random.int(3) === 0 ? 'partition' : 'none'
  await sql`
    with made as (
      select (outbox.create_endpoint('https://example.com/hook', '{thing.*}', p_ordering => ${ordering},
        p_max_in_flight => 8, p_quantum => 5,
        p_retry => '{"strategy": "fixed", "base_delay": 1, "max_retries": 3}') ->> 'id')::uuid as id
    )
    select outbox.update_org_endpoint('default', m.id, ${
    sql.json({
      onDeadLetter: random.int(2) === 0 ? 'halt' : 'continue',
      breaker: { enabled: random.int(2) === 0, threshold: 2, openMs: 1000 },
    })
  }) from made m`
}

async function anyEndpoint({ sql, random }: Actor): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    select e.id from outbox.endpoint e where e.status <> 'deleted' order by e.id`
  return rows[random.int(rows.length)]?.id ?? crypto.randomUUID()
}

async function anyKey({ sql, random }: Actor, table: 'delivery' | 'dead_letter'): Promise<Key> {
  const rows = await sql<Key[]>`
    select x.event_id as event, x.endpoint_id as endpoint from ${sql(`outbox.${table}`)} x
    where x.endpoint_id is not null limit 200`
  return rows[random.int(rows.length)] ??
    { event: crypto.randomUUID(), endpoint: crypto.randomUUID() }
}

async function publish({ sql, random }: Actor): Promise<void> {
  const batch = Array.from({ length: 1 + random.int(3) }, () => ({
    type: 'thing.done',
    payload: {},
    partition_key: `key ${random.int(KEYS)}`,
  }))
  if (random.int(2) === 0) await sql`select outbox.publish_many(${sql.json(batch)})`
  else await sql`select outbox.publish('thing.done', '{}', p_partition_key => 'key 0')`
}

const STATUSES = [200, 200, 200, 200, 503, 503, 404, 410]

function anyResult(delivery: Delivery, random: Random): Report {
  if (random.int(8) === 0) return report(delivery, 'released')
  const status = STATUSES[random.int(STATUSES.length)] ?? 200
  return { ...report(delivery, status === 200 ? 'delivered' : 'failed'), status }
}

/** A call with a random part of the results, renewals for some of the rest, and a claim. */
async function work(actor: Actor, limit = actor.random.int(30)): Promise<void> {
  const { random, run } = actor
  const order = random.shuffled(actor.held)
  const told = order.slice(0, random.int(order.length + 1))
  const rest = order.slice(told.length)
  const renewals = rest.filter(() => random.int(4) === 0).map((own) => report(own, 'renew'))
  const results = told.map((own) => anyResult(own, random))
  const answer = await run.call([...results, ...renewals], limit)
  if (answer.error !== null) throw new Error(`dispatch answered ${JSON.stringify(answer.error)}`)
  actor.held = [...rest, ...answer.deliveries]
}

async function drop({ sql }: Actor): Promise<void> {
  await sql`
    update outbox.test_clock set at = at + interval '1 day'
    where only_row and not exists (
      -- add_partition() is right for a clock that passes one midnight at most while it works.
      select from pg_stat_activity a
      where a.state = 'active' and a.query like '%outbox.add_partitions()%'
        and a.pid <> pg_backend_pid())`
  await sql`select outbox.drop_partitions()`
}

async function resumeKeys(sql: Sql, most: number): Promise<void> {
  await sql`
    select outbox.resume_lane(g.endpoint_id, k.key)
    from outbox.lane l
    join outbox.gate g on g.id = l.gate_id
    join outbox.endpoint e on e.id = g.endpoint_id and e.status <> 'deleted'
    join (
      select 'key ' || n as key from generate_series(0, ${KEYS}::integer) n
      -- A test event has no key.
      union all select null
    ) k on l.key_hash = outbox.key_hash(e.ordering, k.key)
    where l.halted limit ${most}`
}

async function call(
  actor: Actor,
  statement: string,
  values: string[] = [],
): Promise<void> {
  await actor.sql.unsafe(`select ${statement}`, values)
}

const ofEndpoint = (statement: string): Deed => async (actor) =>
  await call(actor, statement, [await anyEndpoint(actor)])

const ofKey = (statement: string, table: 'delivery' | 'dead_letter'): Deed => async (actor) => {
  const { event, endpoint } = await anyKey(actor, table)
  await call(actor, statement, [event, endpoint])
}

/** How often each is done, of all. */
const deeds: Record<string, [weight: number, deed: Deed]> = {
  publish: [20, publish],
  dispatch: [60, (actor) => work(actor)],
  retry: [4, ofKey('outbox.retry_now($1, $2)', 'delivery')],
  schedule: [4, ofKey(`outbox.schedule_retry($1, $2, '2 s')`, 'delivery')],
  cancel: [4, ofKey('outbox.cancel_delivery($1, $2)', 'delivery')],
  replay: [4, ofKey('outbox.replay($1, $2)', 'dead_letter')],
  'replay an open one': [2, ofKey('outbox.replay($1, $2)', 'delivery')],
  'replay many': [2, (actor) => call(actor, 'outbox.replay_many(p_rate_per_second => 20)')],
  discard: [3, ofKey(`outbox.discard_dead_letter($1, $2, 'no')`, 'dead_letter')],
  tick: [10, (actor) => call(actor, 'outbox.tick()')],
  'one second': [
    10,
    ({ sql }) => sql`update outbox.test_clock set at = at + interval '1 s' where only_row`,
  ],
  pause: [3, ofEndpoint('outbox.pause_endpoint($1)')],
  disable: [2, ofEndpoint('outbox.disable_endpoint($1)')],
  resume: [12, ofEndpoint('outbox.resume_endpoint($1)')],
  'resume a key': [6, ({ sql }) => resumeKeys(sql, 1)],
  remove: [2, async (actor) => {
    await call(actor, 'outbox.delete_endpoint($1)', [await anyEndpoint(actor)])
    await makeEndpoint(actor.sql, actor.random)
  }],
  purge: [3, (actor) => call(actor, 'outbox.purge_deleted(20)')],
  test: [2, ofEndpoint('outbox.send_test_event($1)')],
  subscribe: [2, ofEndpoint(`outbox.subscribe($1, '{more.*}')`)],
  headers: [2, ofEndpoint(`outbox.set_headers($1, '{"x-a": "1"}')`)],
  rotate: [3, ofEndpoint(`outbox.rotate_secret($1, p_overlap => '30 days')`)],
  expire: [
    3,
    (actor) =>
      call(
        actor,
        `outbox.expire_secret(s.id) from outbox.endpoint_secret s
         where s.expires_at > outbox.clock() order by s.id limit 1`,
      ),
  ],
  cleanup: [2, (actor) => call(actor, 'outbox.cleanup()')],
  'expire deliveries': [2, (actor) => call(actor, 'outbox.expire_deliveries(50)')],
  'add partitions': [3, (actor) => call(actor, 'outbox.add_partitions()')],
  'drop partitions': [4, drop],
  'a setting': [
    2,
    (actor) =>
      call(actor, `outbox.set_setting('response.success_bytes', $1::text::jsonb)`, [
        `${actor.random.int(256)}`,
      ]),
  ],
}

const drawn = Object.entries(deeds).flatMap(([name, [weight]]) => Array(weight).fill(name))

/** Everything that a mixture did, by name, and how often it was refused. */
export type Done = Map<string, { done: number; refused: number }>

/** Lets a session do `rounds` random deeds; at its end it gives back what it still holds. */
export async function mix(
  { sql }: Session,
  { rounds, random, done }: { rounds: number; random: Random; done: Done },
): Promise<void> {
  const actor: Actor = { sql, random, run: new Run(sql), held: [] }
  for (let round = 0; round < rounds; round++) {
    const name: string = drawn[random.int(drawn.length)]
    const count = done.get(name) ?? { done: 0, refused: 0 }
    done.set(name, count)
    await deeds[name]?.[1](actor).then(
      () => count.done += 1,
      (cause) => {
        if (!REFUSALS.includes(cause.code)) {
          const { code, message, detail, where } = cause
          throw new Error(`${name} in round ${round}: ${code} ${message}\n${detail}\n${where}`, {
            cause,
          })
        }
        count.refused += 1
      },
    )
  }
  await actor.run.call(actor.held.map((own) => report(own, 'released')))
}

/** Makes the endpoints of a mixture, and a clock that stands until a deed turns it. */
export async function prepareMixture(sql: Sql, random: Random): Promise<void> {
  await sql`insert into outbox.test_clock (at) values (now())`
  for (let n = 0; n < ENDPOINTS; n++) await makeEndpoint(sql, random)
}

/** Lifts every hold and lets time pass until nothing is open any more; returns what is left open. */
export async function finish(sql: Sql): Promise<readonly unknown[]> {
  const run = new Run(sql)
  let results: Report[] = []
  for (let round = 0; round < 400; round++) {
    await sql`update outbox.test_clock set at = at + interval '1 s' where only_row`
    if (round % 20 === 0) {
      await sql`
        select outbox.resume_endpoint(e.id) from outbox.endpoint e where e.status in ('paused', 'disabled')`
      await resumeKeys(sql, 1000)
    }
    await sql`select outbox.tick()`
    const answer = await run.call(results, 400)
    if (answer.error !== null) throw new Error(`dispatch answered ${JSON.stringify(answer.error)}`)
    results = answer.deliveries.map((own) => report(own))
    const [row] = await sql<{ n: number }[]>`
      select (select count(*) from outbox.delivery)::integer
        + (select count(*) from outbox.unrouted)::integer as n`
    if (row?.n === 0) return []
  }
  const open = await sql`
    select to_jsonb(d) as delivery, to_jsonb(l) as lane, to_jsonb(g) as gate, to_jsonb(e) as endpoint,
      outbox.clock() as now
    from outbox.delivery d
    join outbox.lane l on l.id = d.lane_id
    join outbox.gate g on g.id = l.gate_id
    join outbox.endpoint e on e.id = g.endpoint_id`
  return [...open]
}
