/** Consumers and brokers killed under load: every message is done, and none twice. */

import { expect } from '@std/expect'
import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import type { Bus } from '../consumer/_support/bus.ts'
import { type ConsumerProcess, startConsumer } from '../consumer/_support/consumer_process.ts'
import { startKafkaBus } from '../consumer/_support/kafka_bus.ts'
import { startRabbitMqBus } from '../consumer/_support/rabbitmq_bus.ts'
import { orderMessages, type Shop, startShop } from '../consumer/_support/shop.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const messages = isShort ? 500 : 10_000
const kills = isShort ? 1 : 6

type Counts = { done: number; twice: number }

/** Of the orders from `from` on. */
async function counts(shop: Shop, from: number): Promise<Counts> {
  const [row] = await shop.sql<Counts[]>`
    select count(*)::integer as done, count(*) filter (where times > 1)::integer as twice
    from (select count(*) as times from shop.bill b
      where b.order_id >= ${from} and b.order_id < ${from + messages} group by b.order_id) o`
  return row ?? { done: 0, twice: 0 }
}

/**
 * Two consumers share the work. At even parts of the way one of them is killed and another started,
 * and the broker is stopped once in the middle.
 */
async function storm(bus: Bus, shop: Shop, from: number): Promise<void> {
  await bus.create('storm')
  await bus.send('storm', orderMessages(messages, bus.name, from))
  const args = [bus.flag, 'storm', '--consumer', bus.name, '--function', 'shop.bill_order']
  const start = (): ConsumerProcess =>
    startConsumer('main.ts', args, { ...bus.env, OUTHOOK_DB_URL: shop.dbUrl })
  const reach = (part: number): Promise<boolean> =>
    waitUntil(async () => (await counts(shop, from)).done >= messages * part, {
      timeoutMs: 300_000,
      everyMs: 50,
    })
  const begunAt = performance.now()
  const consumers = [start(), start()]
  let restartedAt = 0
  for (let kill = 1; kill <= kills; kill++) {
    expect(await reach(0.8 * kill / (kills + 1))).toBe(true)
    if (kill === Math.ceil(kills / 2)) {
      await bus.restart()
      restartedAt = (await counts(shop, from)).done
    }
    const killed = consumers.shift()
    killed?.kill('SIGKILL')
    expect(await killed?.ended).toBe('SIGKILL')
    consumers.push(start())
  }
  const isDone = await reach(1)
  // Before they consume they have not yet asked to hear of signals.
  const heard = ({ lines }: ConsumerProcess): boolean => lines.join().includes('"consuming"')
  await waitUntil(() => consumers.every(heard), { timeoutMs: 60_000 })
  for (const consumer of consumers) consumer.kill('SIGTERM')
  const codes = await Promise.all(consumers.map(({ ended }) => ended))
  expect([bus.name, isDone, codes]).toEqual([bus.name, true, [0, 0]])
  expect([bus.name, await counts(shop, from)])
    .toEqual([bus.name, { done: messages, twice: 0 }])
  const seconds = Math.round((performance.now() - begunAt) / 1000)
  print(
    `${bus.name}: ${messages} messages done once in ${seconds} s, with ${kills} kills of a ` +
      `consumer and a restart of the broker at ${restartedAt}`,
  )
}

Deno.test('consumers and their brokers killed again and again lose nothing and do nothing twice', async () => {
  await using shop = await startShop()
  await using kafka = await startKafkaBus(() => {})
  await using rabbitMq = await startRabbitMqBus()
  await Promise.all([storm(kafka, shop, 0), storm(rabbitMq, shop, 100_000)])
})
