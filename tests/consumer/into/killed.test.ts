/** `outhook consume` killed at every moment of a batch, and started again: nothing is lost, nothing is published twice. */

import { expect } from '@std/expect'
import { databasesOf, type Routes } from '../../../consumer/into/routes.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../_support/patience.ts'
import type { Bus } from '../_support/bus.ts'
import type { ConsumerProcess } from '../_support/consumer_process.ts'
import { startInto } from '../_support/into_command.ts'
import { expectKeysInOrder } from '../_support/into_here.ts'
import { startKafkaBus } from '../_support/kafka_bus.ts'
import { startRabbitMqBus } from '../_support/rabbitmq_bus.ts'
import { carriedMessages, startTarget, type Target } from '../_support/targets.ts'

let rabbitMq: Bus
let kafka: Bus
let targets: readonly [Target, Target]
const routes: Routes = { names: ['eu-1', 'eu-2'], entries: new Map() }

Deno.test.beforeAll(async () => {
  const [first, second, one, other] = await Promise.all([
    startTarget('eu-1'),
    startTarget('eu-2'),
    startRabbitMqBus(),
    startKafkaBus(() => {}),
  ])
  targets = [first, second]
  rabbitMq = one
  kafka = other
})
Deno.test.afterAll(async () => {
  await rabbitMq?.[Symbol.asyncDispose]()
  await kafka?.[Symbol.asyncDispose]()
  for (const target of targets ?? []) await target[Symbol.asyncDispose]()
})

function start(bus: Bus, from: string): ConsumerProcess {
  const source = bus.name === 'Kafka' ? { topic: from } : { queue: from }
  return startInto({ ...source, into: [...routes.names], batch: 10 }, bus, targets)
}

async function count(): Promise<number> {
  return (await Promise.all(targets.map((target) => target.events()))).flat().length
}

async function untilStored(least: number, process: ConsumerProcess): Promise<void> {
  const isThere = await waitUntil(async () => await count() >= least, {
    timeoutMs: patienceMs,
    everyMs: 10,
  })
  if (!isThere) {
    throw new Error(
      `${await count()} of ${least} are stored\n${process.lines.slice(-20).join('\n')}`,
    )
  }
}

/** Runs to the end, and checks that each event is there once, in its database and in the order of its key. */
async function finish(bus: Bus, from: string, total: number): Promise<void> {
  const last = start(bus, from)
  await untilStored(total, last)
  last.kill('SIGTERM')
  expect(await last.ended).toBe(0)
  expect(Object.keys(JSON.parse(last.lines.at(-1) ?? ''))).toEqual(['eu-1', 'eu-2'])
  const numbers: number[] = []
  for (const target of targets) {
    for (const { org, n } of await target.events()) {
      numbers.push(n)
      expect(databasesOf(routes, org)[0]).toBe(target.name)
    }
    await expectKeysInOrder(target)
  }
  expect(numbers.sort((left, right) => left - right))
    .toEqual(Array.from({ length: total }, (_, n) => n))
}

Deno.test('killed eight times amid its work (RabbitMQ), it loses nothing and publishes nothing twice', async () => {
  for (const target of targets) await target.clear()
  await rabbitMq.create('storm')
  const total = 900
  await rabbitMq.send('storm', carriedMessages(total, 's'))
  for (const least of [1, 30, 90, 170, 290, 400, 560, 700]) {
    const process = start(rabbitMq, 'storm')
    await untilStored(least, process)
    process.kill('SIGKILL')
    expect(await process.ended).toBe('SIGKILL')
  }
  await finish(rabbitMq, 'storm', total)
})

type Bar = { isReached(): Promise<boolean>; lift(): Promise<void> }

/** Stops the database at this event: before the transaction has written all, or in its commit. */
async function barAt(target: Target, id: string, moment: 'statement' | 'commit'): Promise<Bar> {
  const kind = moment === 'commit' ? 'constraint trigger' : 'trigger'
  const when = moment === 'commit' ? 'deferrable initially deferred' : ''
  await target.sql.unsafe(`
    create or replace function public.bar() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(7); return new; end $$;
    create ${kind} bar after insert on outbox.consumer_inbox ${when} for each row
      when (new.event_id = '${id}') execute function public.bar()`).simple()
  const holder = await target.sql.reserve()
  await holder`select pg_advisory_lock(7)`
  return {
    isReached: async (): Promise<boolean> => {
      const [row] = await holder`
        select exists (select from pg_locks where locktype = 'advisory' and not granted) as yes`
      return row?.yes
    },
    async lift(): Promise<void> {
      await holder`select pg_advisory_unlock(7)`
      holder.release()
      await target.sql`drop trigger bar on outbox.consumer_inbox`
    },
  }
}

for (const moment of ['statement', 'commit'] as const) {
  Deno.test(`killed while the database is in the ${moment} of a batch, it publishes the batch once`, async () => {
    for (const target of targets) await target.clear()
    const from = `amid-${moment}`
    await rabbitMq.create(from)
    await rabbitMq.send(from, carriedMessages(120, 'm'))
    const [target] = targets
    const own = carriedMessages(120, 'm')
      .filter(({ headers }) => databasesOf(routes, headers?.['x-outhook-org'] ?? '')[0] === 'eu-1')
    const bar = await barAt(target, own[25]?.id ?? '', moment)
    const process = start(rabbitMq, from)
    expect(await waitUntil(bar.isReached, { timeoutMs: patienceMs })).toBe(true)
    expect((await target.events()).length).toBeLessThan(26)
    process.kill('SIGKILL')
    expect(await process.ended).toBe('SIGKILL')
    await bar.lift()
    if (moment === 'commit') {
      // The commit that nobody waits for any more succeeds.
      const isThere = async (): Promise<boolean> => (await target.events()).length > 25
      expect(await waitUntil(isThere, { timeoutMs: patienceMs })).toBe(true)
    }
    await finish(rabbitMq, from, 120)
  })
}

Deno.test('killed amid its work (Kafka), it loses nothing and publishes nothing twice', async () => {
  for (const target of targets) await target.clear()
  await kafka.create('storm')
  await kafka.send('storm', carriedMessages(600, 'k'))
  const process = start(kafka, 'storm')
  await untilStored(100, process)
  process.kill('SIGKILL')
  expect(await process.ended).toBe('SIGKILL')
  await finish(kafka, 'storm', 600)
})
