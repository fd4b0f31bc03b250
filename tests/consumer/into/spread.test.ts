/** An organisation with two databases: each takes all its events, once and in order, whoever is away. */

import { expect } from '@std/expect'
import { systemClock } from '../../../functions/_shared/base/clock.ts'
import { consumeInto, type IntoOptions, type Totals } from '../../../consumer/into/into.ts'
import { readRoutes, type Routes } from '../../../consumer/into/routes.ts'
import { readKafkaAccess, readRabbitMqAccess } from '../../../consumer/access.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../_support/patience.ts'
import type { Bus } from '../_support/bus.ts'
import { startKafkaBus } from '../_support/kafka_bus.ts'
import { startRabbitMqBus } from '../_support/rabbitmq_bus.ts'
import { carriedMessages, startTarget, type Target } from '../_support/targets.ts'

const buses: Partial<Record<Bus['name'], Bus>> = {}
let targets: readonly [Target, Target]
let logged: string[] = []

Deno.test.beforeAll(async () => {
  const [first, second, kafka, rabbitMq] = await Promise.all([
    startTarget('eu-1'),
    startTarget('eu-2'),
    startKafkaBus((line) => logged.push(line)),
    startRabbitMqBus(),
  ])
  targets = [first, second]
  buses.Kafka = kafka
  buses.RabbitMQ = rabbitMq
})
Deno.test.afterAll(async () => {
  for (const bus of Object.values(buses)) await bus[Symbol.asyncDispose]()
  for (const target of targets ?? []) await target[Symbol.asyncDispose]()
})

/** org-1 has both databases; all others have eu-1. */
function spreadRoutes(): Routes {
  const routes = readRoutes('{"*": ["eu-1"], "org-1": ["eu-1", "eu-2"]}', ['eu-1', 'eu-2'])
  if (typeof routes === 'string') throw new Error(routes)
  return routes
}

async function sourceOf(bus: Bus, name: string): Promise<IntoOptions['source']> {
  return bus.name === 'Kafka'
    ? { kind: 'topic', name, access: await readKafkaAccess(bus.env, Deno.readTextFile) }
    : { kind: 'queue', name, access: await readRabbitMqAccess(bus.env, Deno.readTextFile) }
}

/** Consumes in this process, a hundred times as fast as the schedule says, while `during` runs. */
async function consuming(
  bus: Bus,
  from: string,
  during: () => Promise<void>,
): Promise<Totals> {
  const stop = new AbortController()
  logged = []
  const running = consumeInto({
    source: await sourceOf(bus, from),
    databases: targets.map(({ name, url }) => ({ name, url })),
    routes: spreadRoutes(),
    consumer: `into-${from}`,
    dlq: `${from}.dlq`,
    most: 20,
    timeoutMs: 5_000,
    clock: { ...systemClock, after: (ms, run) => systemClock.after(ms / 100, run) },
    log: (level, message, fields) => logged.push(JSON.stringify({ level, message, ...fields })),
    stop: stop.signal,
  })
  try {
    await during()
  } catch (cause) {
    throw new Error(`the log ends with\n${logged.slice(-20).join('\n')}`, { cause })
  } finally {
    stop.abort()
    await running
  }
  return await running
}

/** The numbers of the events of a database in the order in which they were taken. */
async function numbersIn(target: Target): Promise<number[]> {
  return (await target.events()).map(({ n }) => n)
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  if (await waitUntil(isTrue, { timeoutMs: patienceMs, everyMs: 50 })) return
  throw new Error(`waited in vain until ${what}`)
}

const hasAll = (target: Target, count: number) => async (): Promise<boolean> =>
  (await target.events()).length >= count

/** Of the ten organisations of these events, n % 10 is the number of the organisation. */
function ofOrg1(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n).filter((n) => n % 10 === 1)
}

async function checkKeys(target: Target): Promise<void> {
  const lasts = new Map<string, number>()
  for (const { org, key, n } of await target.events()) {
    expect(n).toBeGreaterThan(lasts.get(`${org} ${key}`) ?? -1)
    lasts.set(`${org} ${key}`, n)
  }
}

for (const name of ['RabbitMQ', 'Kafka'] as const) {
  const started = (): Bus => {
    const bus = buses[name]
    if (bus === undefined) throw new Error(`${name} did not start`)
    return bus
  }

  Deno.test(`consume --into (${name}) publishes each event of an organisation once in each of its databases`, async () => {
    const bus = started()
    const [first, second] = targets
    for (const target of targets) await target.clear()
    await bus.create('spread')
    const messages = carriedMessages(300, 's')
    await bus.send('spread', messages.slice(0, 200))
    // Again, as at least once has it.
    await bus.send('spread', [...messages.slice(50, 100), ...messages.slice(200)])
    const totals = await consuming(bus, 'spread', async () => {
      await until('eu-1 has all', hasAll(first, 300))
      await until('eu-2 has those of org-1', hasAll(second, 30))
      // What is behind the last one is known by then.
      await waitUntil(() => false, { timeoutMs: 300 })
    })
    expect((await numbersIn(first)).toSorted((left, right) => left - right))
      .toEqual(Array.from({ length: 300 }, (_, n) => n))
    expect((await numbersIn(second)).toSorted((left, right) => left - right)).toEqual(ofOrg1(300))
    for (const target of targets) await checkKeys(target)
    expect(totals).toEqual({
      'eu-1': { taken: 300, known: 50, dead: 0 },
      'eu-2': { taken: 30, known: 5, dead: 0 },
    })
  })

  Deno.test(`consume --into (${name}) gives one database its events while the other one of the organisation is away`, async () => {
    const bus = started()
    const [first, second] = targets
    for (const target of targets) await target.clear()
    await bus.create('apart')
    second.proxy.down()
    let isDown = true
    try {
      await bus.send('apart', carriedMessages(100, 'a'))
      await consuming(bus, 'apart', async () => {
        await until('eu-1 has all', hasAll(first, 100))
        expect(await numbersIn(second)).toEqual([])
        second.proxy.up()
        isDown = false
        await until('eu-2 has those of org-1', hasAll(second, 10))
      })
    } finally {
      if (isDown) second.proxy.up()
    }
    expect((await numbersIn(second)).toSorted((left, right) => left - right)).toEqual(ofOrg1(100))
    for (const target of targets) await checkKeys(target)
  })
}

Deno.test('consume --into (RabbitMQ) has each event in both databases after the broker was restarted', async () => {
  const bus = buses.RabbitMQ
  if (bus === undefined) throw new Error('RabbitMQ did not start')
  const [first, second] = targets
  for (const target of targets) await target.clear()
  await bus.create('restarted')
  await bus.send('restarted', carriedMessages(100, 'g'))
  await consuming(bus, 'restarted', async () => {
    await until('eu-1 has some', hasAll(first, 10))
    await bus.restart()
    const send = (): Promise<boolean> =>
      bus.send('restarted', carriedMessages(100, 'g', 100)).then(() => true, () => false)
    expect(await waitUntil(send, { timeoutMs: patienceMs })).toBe(true)
    await until('eu-1 has all', hasAll(first, 200))
    await until('eu-2 has those of org-1', hasAll(second, 20))
  })
  expect((await numbersIn(second)).toSorted((left, right) => left - right)).toEqual(ofOrg1(200))
  for (const target of targets) await checkKeys(target)
})
