/** A database is added, organisations move to it, and another database is emptied and taken away, while events flow. */

import { expect } from '@std/expect'
import { runMoveOrg } from '../../../package/command/move_org/move_org.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../_support/patience.ts'
import { startWorker, type WorkerProcess } from '../../_support/worker_process.ts'
import { type Receiver, startReceiver } from '../../e2e/receiver/receiver.ts'
import { docsBlock } from '../../project/_docs.ts'
import type { ConsumerProcess } from '../_support/consumer_process.ts'
import { startInto } from '../_support/into_command.ts'
import { type RabbitMqBus, startRabbitMqBus } from '../_support/rabbitmq_bus.ts'
import { endpointOf } from '../_support/source_endpoint.ts'
import { startTarget, type Target } from '../_support/targets.ts'

const orgs = ['org-1', 'org-2', 'org-3', 'org-4']

let bus: RabbitMqBus
let receiver: Receiver
let source: Target
let targets: Map<string, Target>
let workers: Map<string, WorkerProcess>
let routesFile: string
const routes: Record<string, string | string[]> = {
  '*': ['eu-1', 'eu-2'],
  ...{ 'org-1': 'eu-1', 'org-2': 'eu-2', 'org-3': 'eu-1', 'org-4': 'eu-2' },
}

Deno.test.beforeAll(async () => {
  const [first, ...others] = await Promise.all(
    ['source', 'eu-1', 'eu-2', 'eu-3'].map((name) => startTarget(name)),
  )
  if (first === undefined) throw new Error('no source')
  source = first
  targets = new Map(others.map((target) => [target.name, target]))
  bus = await startRabbitMqBus()
  receiver = startReceiver()
  routesFile = await Deno.makeTempFile()
  await bus.create('outhook')
  for (const { sql } of [source, ...others]) {
    await sql`select outbox.set_setting('egress.allow_http', 'true'),
      outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8", "::1/128"]')`
  }
  for (const org of orgs) {
    await source.sql.unsafe(await endpointOf(bus, org))
    await targetOf(`${routes[org]}`).sql`
      select outbox.create_endpoint(${`${receiver.url}/${org}`}, '{order.*}', ${org},
        p_ordering => 'partition')`
  }
  workers = new Map(
    [source, ...others].map(({ name, directUrl }) => [name, startWorker(directUrl)]),
  )
})
Deno.test.afterAll(async () => {
  for (const worker of workers?.values() ?? []) worker.kill('SIGKILL')
  for (const worker of workers?.values() ?? []) await worker.ended
  await receiver?.close()
  await bus?.[Symbol.asyncDispose]()
  for (const target of [source, ...targets?.values() ?? []]) await target?.[Symbol.asyncDispose]()
  await Deno.remove(routesFile)
})

function targetOf(name: string): Target {
  const target = targets.get(name)
  if (target === undefined) throw new Error(`no database ${name}`)
  return target
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  if (await waitUntil(isTrue, { timeoutMs: patienceMs, everyMs: 50 })) return
  throw new Error(`waited in vain until ${what}`)
}

/** The statement of the page for an organisation. */
const statementOf = (name: string, org: string): string => docsBlock(name).replaceAll('org-7', org)

/** Publishes one event of each organisation at a time, numbered from 1, until it is stopped. */
function startPublisher(): { last(): number; stop(): Promise<number> } {
  let isOver = false
  let n = 0
  async function run(): Promise<void> {
    while (!isOver) {
      n++
      await source.sql`
        select outbox.publish_many((
          select jsonb_agg(jsonb_build_object('type', 'order.paid', 'org_id', o,
            'partition_key', ${`k${n % 3}`}::text, 'body', ${`{"id": ${n}}`}::text))
          from unnest(${orgs}::text[]) o))`
      await waitUntil(() => isOver, { timeoutMs: 150, everyMs: 30 })
    }
  }
  const running = run()
  return {
    last: () => n,
    async stop(): Promise<number> {
      isOver = true
      await running
      return n
    },
  }
}

/** The numbers of the events that the endpoint of an organisation has received, in the order of their arrival. */
function receivedBy(org: string): number[] {
  return receiver.received.filter(({ path }) => path === `/${org}`).map(({ body }) => {
    const { data } = JSON.parse(new TextDecoder().decode(body))
    return Number(data.id)
  })
}

/** An `outhook consume` of these databases that takes messages, with the routes of now. */
async function startConsume(names: readonly string[]): Promise<ConsumerProcess> {
  await Deno.writeTextFile(routesFile, JSON.stringify(routes))
  const started = startInto(
    { queue: 'outhook', into: [...names], routes: routesFile, batch: 20 },
    bus,
    names.map(targetOf),
  )
  // Before that a signal ends it like any program that has only begun.
  const isThere = (): boolean => started.lines.some((line) => line.includes('"routing"'))
  expect(await waitUntil(isThere, { timeoutMs: patienceMs })).toBe(true)
  return started
}

async function endConsume(process: ConsumerProcess): Promise<void> {
  process.kill('SIGTERM')
  expect([await process.ended, process.lines.filter((line) => line.includes('dead letter'))])
    .toEqual([0, []])
}

type Move = { org: string; from: string; to: string }

async function moveOrg({ org, from, to }: Move, finish: boolean): Promise<void> {
  const said: string[] = []
  const say = (line: string): void => void said.push(line)
  const code = await runMoveOrg(
    org,
    { from, to, wait: 60, undo: false, finish, dryRun: false, yes: true },
    { OUTHOOK_FROM_DB_URL: targetOf(from).directUrl, OUTHOOK_TO_DB_URL: targetOf(to).directUrl },
    { isInteractive: false, print: say, printError: say },
  )
  if (code !== 0) throw new Error(said.join('\n'))
}

/** Steps 1 to 7 of the page. The publisher must publish something for the organisations meanwhile. */
async function move(
  moves: readonly Move[],
  { process, names, last }: { process: ConsumerProcess; names: readonly string[]; last(): number },
): Promise<ConsumerProcess> {
  const left = [...new Set(moves.map(({ from }) => from))]
  const begun = last()
  // The databases that are left are away for a moment, so that their queues have messages.
  for (const name of left) targetOf(name).proxy.down()
  for (const name of left) {
    await until(
      `outhook.${name} has messages`,
      async () => ((await bus.messages()).get(`outhook.${name}`) ?? 0) >= 8,
    )
  }
  for (const { org } of moves) {
    await source.sql.unsafe(statementOf('into-pause', org))
    await until(`nothing of ${org} is in flight`, async () => {
      const [row] = await source.sql.unsafe(statementOf('into-attempted', org))
      return Number(row?.attempted) === 0
    })
  }
  for (const name of left) targetOf(name).proxy.up()
  for (const queue of ['outhook', ...left.map((name) => `outhook.${name}`)]) {
    await until(`${queue} is empty`, async () => (await bus.messages()).get(queue) === 0)
  }
  for (const one of moves) await moveOrg(one, false)
  await endConsume(process)
  for (const { org, to } of moves) routes[org] = to
  const next = await startConsume(names)
  expect(last()).toBeGreaterThan(begun)
  for (const { org } of moves) await source.sql.unsafe(statementOf('into-resume', org))
  for (const one of moves) await moveOrg(one, true)
  return next
}

async function inboxOf(name: string): Promise<string[]> {
  const rows = await targetOf(name).sql<{ id: string }[]>`
    select i.event_id as id from outbox.consumer_inbox i where i.consumer = 'into'`
  return rows.map(({ id }) => id)
}

async function untilReceived(least: number): Promise<void> {
  await until(
    `each organisation has ${least} events`,
    () => Promise.resolve(orgs.every((org) => receivedBy(org).length >= least)),
  )
}

Deno.test('a database is added, and another one emptied and taken away, while events flow: each event is published and delivered once, in order', async () => {
  let consume = await startConsume(['eu-1', 'eu-2'])
  const publisher = startPublisher()
  await untilReceived(5)

  // eu-3 is added, and org-1 moves there.
  await endConsume(consume)
  consume = await startConsume(['eu-1', 'eu-2', 'eu-3'])
  const { last } = publisher
  consume = await move([{ org: 'org-1', from: 'eu-1', to: 'eu-3' }], {
    ...{ process: consume, names: ['eu-1', 'eu-2', 'eu-3'], last },
  })
  await untilReceived(last())

  // eu-2 gets no further organisation, and its own move.
  const rows = await targetOf('eu-2').sql.unsafe(docsBlock('into-orgs'))
  expect(rows.map(({ org_id }) => org_id)).toEqual(['org-2', 'org-4'])
  routes['*'] = ['eu-1']
  await endConsume(consume)
  consume = await startConsume(['eu-1', 'eu-2', 'eu-3'])
  const moves = [
    { org: 'org-2', from: 'eu-2', to: 'eu-3' },
    { org: 'org-4', from: 'eu-2', to: 'eu-1' },
  ]
  consume = await move(moves, { process: consume, names: ['eu-1', 'eu-2', 'eu-3'], last })
  expect([...await targetOf('eu-2').sql.unsafe(docsBlock('into-orgs'))]).toEqual([])
  await endConsume(consume)
  expect((await bus.messages()).get('outhook.eu-2')).toBe(0)
  consume = await startConsume(['eu-1', 'eu-3'])
  await bus.remove('outhook.eu-2')
  const taken = await inboxOf('eu-2')
  const worker = workers.get('eu-2')
  worker?.kill('SIGTERM')
  expect(await worker?.ended).toBe(0)
  workers.delete('eu-2')
  await targetOf('eu-2')[Symbol.asyncDispose]()
  targets.delete('eu-2')
  await untilReceived(last())

  const all = await publisher.stop()
  await untilReceived(all)
  await endConsume(consume)
  for (const org of orgs) {
    const numbers = receivedBy(org)
    expect([org, numbers.toSorted((left, right) => left - right)])
      .toEqual([org, Array.from({ length: all }, (_, at) => at + 1)])
    for (const rest of [0, 1, 2]) {
      const own = numbers.filter((n) => n % 3 === rest)
      expect(own).toEqual(own.toSorted((left, right) => left - right))
    }
  }
  for (const [org, home] of [['org-1', 'eu-3'], ['org-2', 'eu-3'], ['org-4', 'eu-1']] as const) {
    const numbers = (await targetOf(home).events()).filter((one) => one.org === org)
    expect(numbers.at(-1)?.n).toBe(all)
  }
  const ids = [...taken, ...await inboxOf('eu-1'), ...await inboxOf('eu-3')]
  const published = await source.sql<{ id: string }[]>`
    select e.id from outbox.event e where e.type = 'order.paid'`
  expect(ids.toSorted()).toEqual(published.map(({ id }) => id).toSorted())
  expect((await bus.messages()).get('outhook.dlq')).toBe(0)
})
