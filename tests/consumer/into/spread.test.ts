/** An organisation with two databases: each takes all its events, once and in order, whoever is away. */

import { expect } from '@std/expect'
import type { Totals } from '../../../consumer/into/into.ts'
import { readRoutes, type Routes } from '../../../consumer/into/routes.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../_support/patience.ts'
import type { Bus } from '../_support/bus.ts'
import { expectKeysInOrder, type IntoHere, startIntoHere } from '../_support/into_here.ts'
import { carriedMessages, type Target } from '../_support/targets.ts'

let here: IntoHere

Deno.test.beforeAll(async () => {
  here = await startIntoHere()
})
Deno.test.afterAll(async () => {
  await here?.[Symbol.asyncDispose]()
})

/** org-1 has both databases; all others have eu-1. */
function spreadRoutes(): Routes {
  const routes = readRoutes('{"*": ["eu-1"], "org-1": ["eu-1", "eu-2"]}', ['eu-1', 'eu-2'])
  if (typeof routes === 'string') throw new Error(routes)
  return routes
}

async function consuming(bus: Bus, from: string, during: () => Promise<void>): Promise<Totals> {
  return await here.consuming(bus, from, during, { routes: spreadRoutes() })
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

for (const name of ['RabbitMQ', 'Kafka'] as const) {
  Deno.test(`consume --into (${name}) publishes each event of an organisation once in each of its databases`, async () => {
    const bus = here.busOf(name)
    const { targets } = here
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
    for (const target of targets) await expectKeysInOrder(target)
    expect(totals).toEqual({
      'eu-1': { taken: 300, known: 50, dead: 0 },
      'eu-2': { taken: 30, known: 5, dead: 0 },
    })
  })

  Deno.test(`consume --into (${name}) gives one database its events while the other one of the organisation is away`, async () => {
    const bus = here.busOf(name)
    const { targets } = here
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
    for (const target of targets) await expectKeysInOrder(target)
  })
}

Deno.test('consume --into (RabbitMQ) has each event in both databases after the broker was restarted', async () => {
  const bus = here.busOf('RabbitMQ')
  const { targets } = here
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
  for (const target of targets) await expectKeysInOrder(target)
})
