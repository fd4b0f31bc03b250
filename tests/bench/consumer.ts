/**
 * How many messages a second one `task consume` sees to their end: from the first to the last row that
 * its SQL function writes, each in a transaction with the inbox.
 *
 *   npx -y deno@2.9.6 run -A tests/bench/consumer.ts [messages]
 */

import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import type { Bus } from '../consumer/_support/bus.ts'
import { startConsumer } from '../consumer/_support/consumer_process.ts'
import { startKafkaBus } from '../consumer/_support/kafka_bus.ts'
import { startRabbitMqBus } from '../consumer/_support/rabbitmq_bus.ts'
import { orderMessages, type Shop, startShop } from '../consumer/_support/shop.ts'

const messages = Number(Deno.args[0] ?? 10_000)

async function measure(bus: Bus, shop: Shop): Promise<number> {
  await shop.clear()
  await bus.create('bench')
  await bus.send('bench', orderMessages(messages, bus.name))
  const args = [bus.flag, 'bench', '--consumer', 'bench', '--function', 'shop.bill_order']
  const consumer = startConsumer('main.ts', args, { ...bus.env, OUTHOOK_DB_URL: shop.dbUrl })
  const done = async (): Promise<number> => {
    const [row] = await shop.sql<{ n: number }[]>`select count(*)::integer as n from shop.bill`
    return row?.n ?? 0
  }
  await waitUntil(async () => await done() > 0, { timeoutMs: 60_000, everyMs: 5 })
  const begunAt = performance.now()
  const already = await done()
  const isDone = await waitUntil(async () => await done() === messages, {
    timeoutMs: 300_000,
    everyMs: 20,
  })
  const seconds = (performance.now() - begunAt) / 1000
  consumer.kill('SIGTERM')
  await consumer.ended
  if (!isDone) throw new Error(`${bus.name}: only ${await done()} of ${messages} were done`)
  return (messages - already) / seconds
}

await using shop = await startShop()
for (const start of [() => startKafkaBus(() => {}), startRabbitMqBus]) {
  await using bus = await start()
  print(`${bus.name.padEnd(10)} ${Math.round(await measure(bus, shop))} messages a second`)
}
