/** Events of a real RabbitMQ, and of librdkafka's cluster, into two databases: each once, in order, whoever is away. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import type { IntoOptions, Totals } from '../../../consumer/into/into.ts'
import { databasesOf, type Routes } from '../../../consumer/into/routes.ts'
import { readKafkaAccess } from '../../../consumer/access.ts'
import { connectKafka } from '../../../consumer/kafka/connect.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../_support/patience.ts'
import type { Bus } from '../_support/bus.ts'
import { expectKeysInOrder, type IntoHere, startIntoHere } from '../_support/into_here.ts'
import { carriedMessage, carriedMessages, type Stored, type Target } from '../_support/targets.ts'

let here: IntoHere
let targets: readonly [Target, Target]

Deno.test.beforeAll(async () => {
  here = await startIntoHere()
  targets = here.targets
})
Deno.test.afterAll(async () => {
  await here?.[Symbol.asyncDispose]()
})

/** org-9 has the database that its hash does not say. */
const byHash: Routes = { names: ['eu-1', 'eu-2'], entries: new Map() }
const routes: Routes = {
  ...byHash,
  entries: new Map([['org-9', databasesOf(byHash, 'org-9')[0] === 'eu-1' ? ['eu-2'] : ['eu-1']]]),
}

async function consuming(
  bus: Bus,
  from: string,
  during: () => Promise<void>,
  more: Partial<IntoOptions> = {},
): Promise<Totals> {
  return await here.consuming(bus, from, during, { routes, ...more })
}

async function stored(): Promise<Stored[]> {
  return (await Promise.all(targets.map((target) => target.events()))).flat()
}

async function untilStored(count: number): Promise<void> {
  const isThere = await waitUntil(async () => (await stored()).length >= count, {
    timeoutMs: patienceMs,
    everyMs: 50,
  })
  if (!isThere) throw new Error(`${(await stored()).length} of ${count} events are stored`)
}

/** Throws unless each event is in the database of its organisation, once, and each key is in order. */
async function checkStored(numbers: readonly number[]): Promise<void> {
  const all = await stored()
  expect(all.map(({ n }) => n).toSorted((left, right) => left - right)).toEqual(numbers)
  for (const target of targets) {
    const events = await target.events()
    expect(events.filter(({ org }) => databasesOf(routes, org)[0] !== target.name)).toEqual([])
    await expectKeysInOrder(target)
  }
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

for (const name of ['RabbitMQ', 'Kafka'] as const) {
  Deno.test(`consume --into (${name}) publishes each event once, in order, in the database of its organisation`, async () => {
    const bus = here.busOf(name)
    for (const target of targets) await target.clear()
    await bus.create('events')
    const messages = carriedMessages(300, 'e')
    await bus.send('events', messages.slice(0, 200))
    // Again, as at least once has it.
    await bus.send('events', [...messages.slice(50, 100), ...messages.slice(200)])
    const totals = await consuming(bus, 'events', async () => {
      await untilStored(300)
      // What is behind the last one is known by then.
      await waitUntil(() => false, { timeoutMs: 300 })
    })
    await checkStored(upTo(300))
    const [first, second] = targets
    expect(await second.events().then((events) => events.length)).toBeGreaterThan(0)
    expect(totals['eu-1']?.taken).toBe((await first.events()).length)
    const known = (totals['eu-1']?.known ?? 0) + (totals['eu-2']?.known ?? 0)
    expect(known).toBe(50)
    const [event] = await first.sql`
      select body, correlation_id, idempotency_key, partition_key from outbox.event order by id limit 1`
    expect(event).toEqual({
      body: expect.stringMatching(/^\{"id": \d+, "total": 1\.10\}$/),
      correlation_id: `c-${event?.idempotency_key}`,
      idempotency_key: expect.stringMatching(/^e-\d+$/),
      partition_key: expect.stringMatching(/^k \d$/),
    })
  })

  Deno.test(`consume --into (${name}) makes dead letters of what cannot be published, and goes on`, async () => {
    const bus = here.busOf(name)
    for (const target of targets) await target.clear()
    await bus.create('poison')
    const [before, after] = [carriedMessages(20, 'p'), carriedMessages(20, 'p', 20)]
    await bus.send('poison', before)
    await bus.sendBytes('poison', 'no-org', Buffer.from('{}'))
    await bus.send('poison', [
      carriedMessage('no-json', 'org-1', { text: '{' }),
      carriedMessage('no-type', 'org-1', { type: 'not a type' }),
      carriedMessage('own-type', 'org-2', { type: 'outhook.breaker.opened' }),
      ...after,
    ])
    const totals = await consuming(bus, 'poison', async () => {
      await untilStored(40)
      const dead = (): boolean =>
        here.logged().filter((line) => line.includes('"dead letter"')).length === 4
      expect(await waitUntil(dead, { timeoutMs: patienceMs })).toBe(true)
    })
    await checkStored(upTo(40))
    const letters = (await bus.read('poison.dlq', 4)).map(({ id, text }) => {
      const { error, original_topic } = JSON.parse(text)
      return `${id} ${original_topic} ${error}`
    })
    expect(letters.sort()).toEqual([
      'no-json poison The message is not JSON',
      'no-org poison The message has no header x-outhook-org: it is not from an endpoint of Outhook',
      `no-type poison type is 'not a type'`,
      `own-type poison type is outhook.breaker.opened, which is the system's own`,
    ])
    expect((totals['eu-1']?.dead ?? 0) + (totals['eu-2']?.dead ?? 0)).toBe(4)
    const news = await Promise.all(
      targets.map(({ sql }) =>
        sql`select from outbox.event where type = 'outhook.consumer.dead_lettered'`
      ),
    )
    // Not of a dead event of Outhook itself.
    expect(news.flat()).toHaveLength(3)
    expect(await bus.replay('poison.dlq')).toMatchObject({ replayed: 4 })
  })

  Deno.test(`consume --into (${name}) holds back only what is for a database that is away`, async () => {
    const bus = here.busOf(name)
    const [first, second] = targets
    for (const target of targets) await target.clear()
    await bus.create('away')
    const messages = carriedMessages(200, 'a')
    const others = messages.filter(({ headers }) =>
      databasesOf(routes, headers?.['x-outhook-org'] ?? '')[0] === 'eu-2'
    )
    first.proxy.down()
    let isDown = true
    try {
      await bus.send('away', messages)
      await consuming(bus, 'away', async () => {
        await untilStored(others.length)
        expect((await first.events()).length).toBe(0)
        expect((await second.events()).length).toBe(others.length)
        expect(here.logged().some((line) => line.includes('eu-1: '))).toBe(true)
        first.proxy.up()
        isDown = false
        await untilStored(200)
      })
    } finally {
      if (isDown) first.proxy.up()
    }
    await checkStored(upTo(200))
  })
}

Deno.test('consume --into (RabbitMQ) goes on after the broker was restarted', async () => {
  const bus = here.busOf('RabbitMQ')
  for (const target of targets) await target.clear()
  await bus.create('restart')
  await bus.send('restart', carriedMessages(100, 'r'))
  await consuming(bus, 'restart', async () => {
    await untilStored(10)
    await bus.restart()
    const send = (): Promise<boolean> =>
      bus.send('restart', carriedMessages(100, 'r', 100)).then(() => true, () => false)
    expect(await waitUntil(send, { timeoutMs: patienceMs })).toBe(true)
    await untilStored(200)
  })
  await checkStored(upTo(200))
})

/** Sets the offsets of a group to the ends of a topic: the mock cluster does not have the call of the tools for it. */
async function commitEnds(bus: Bus, topic: string, groupId: string): Promise<void> {
  const kafka = connectKafka(await readKafkaAccess(bus.env, Deno.readTextFile), () => {})
  const admin = kafka.admin()
  await admin.connect()
  const ends = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  const consumer = kafka.consumer({ groupId, sessionTimeout: 6_000 })
  const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve))
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: async () => {} })
  await joined
  await consumer.commitOffsets(
    ends.map(({ partition, high }) => ({ topic, partition, offset: high })),
  )
  await consumer.disconnect()
}

Deno.test('consume --into (Kafka) gives a database that is added only what comes after the offsets of its group', async () => {
  const bus = here.busOf('Kafka')
  const [first, second] = targets
  for (const target of targets) await target.clear()
  await bus.create('added')
  await bus.send('added', carriedMessages(100, 'k'))
  await consuming(bus, 'added', () => untilStored(100), {
    databases: [{ name: 'eu-1', url: first.url }],
    routes: { names: ['eu-1'], entries: new Map() },
  })
  await commitEnds(bus, 'added', 'into-added.eu-2')
  await bus.send('added', carriedMessages(100, 'k', 100))
  await consuming(bus, 'added', () => untilStored(200), {
    routes: { names: ['eu-1'], entries: new Map([['org-3', ['eu-2']]]) },
  })
  expect((await stored()).map(({ n }) => n).toSorted((left, right) => left - right))
    .toEqual(upTo(200))
  expect((await second.events()).map(({ n }) => n).toSorted((left, right) => left - right))
    .toEqual(upTo(200).filter((n) => n >= 100 && n % 10 === 3))
})
