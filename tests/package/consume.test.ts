/** `outhook-worker/consume`, packed and installed, on a real RabbitMQ and on librdkafka's cluster. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { buildTools } from '../../package/build/tools.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import type { Bus } from '../consumer/_support/bus.ts'
import { startKafkaBus } from '../consumer/_support/kafka_bus.ts'
import { startRabbitMqBus } from '../consumer/_support/rabbitmq_bus.ts'
import { orderMessages, type Shop, startShop } from '../consumer/_support/shop.ts'
import { nodeCommand } from '../_support/node.ts'
import { patienceMs } from '../_support/patience.ts'
import { docsBlock } from '../project/_docs.ts'
import { type Program, startProgram } from './_support/program.ts'
import { type WorkerFolder, workerFolder } from './_support/worker_folder.ts'

let shop: Shop
let user: WorkerFolder
let kafka: Bus
let rabbitMq: Bus

const deno = [Deno.execPath(), 'run', '-A', '--cached-only', '--no-lock']

Deno.test.beforeAll(async () => {
  ;[shop, kafka, rabbitMq, user] = await Promise.all([
    startShop(),
    startKafkaBus(() => {}),
    startRabbitMqBus(),
    workerFolder(),
  ])
})
Deno.test.afterAll(async () => {
  await kafka?.[Symbol.asyncDispose]()
  await rabbitMq?.[Symbol.asyncDispose]()
  await shop?.[Symbol.asyncDispose]()
  await user?.[Symbol.asyncDispose]()
})

/** Starts a program on the broker: one that is written already, or one of programs/. */
async function start(
  name: string,
  command: string[],
  bus: Bus,
  source = '',
): Promise<Program> {
  const program = name === 'consume.mjs' ? name : await user.copy(name)
  return startProgram([...command, program], user.path, {
    OUTHOOK_DB_URL: shop.dbUrl,
    SOURCE: source,
    ...bus.env.OUTHOOK_KAFKA_BROKERS === undefined
      ? {
        RABBITMQ_URL: bus.env.OUTHOOK_RABBITMQ_URL ?? '',
        // The broker has an authority of its own.
        NODE_EXTRA_CA_CERTS: bus.env.OUTHOOK_RABBITMQ_CA ?? '',
        DENO_CERT: bus.env.OUTHOOK_RABBITMQ_CA ?? '',
      }
      : { BROKERS: bus.env.OUTHOOK_KAFKA_BROKERS },
  })
}

/** Waits until the inbox of the consumer has this many messages. */
async function untilRecorded(count: number): Promise<boolean> {
  return await waitUntil(async () => {
    const rows = await shop.sql`select from outbox.consumer_inbox where consumer = 'billing'`
    return rows.length === count
  }, { timeoutMs: patienceMs })
}

for (const runtime of ['Node', 'Deno'] as const) {
  for (const name of ['Kafka', 'RabbitMQ'] as const) {
    Deno.test(`the program of the page handles each message of ${name} once, under ${runtime}`, async () => {
      await shop.clear()
      const bus = name === 'Kafka' ? kafka : rabbitMq
      const source = `orders-${runtime}`
      await bus.create(source)
      const messages = orderMessages(27, `${runtime}-${name}`)
      const first = messages.slice(0, 20)
      await bus.send(source, [...first, ...first, ...messages.slice(20)])
      const command = runtime === 'Node' ? [await nodeCommand()] : deno
      const page = docsBlock('package-consume.mjs')
      await user.write('consume.mjs', page)
      await using program = await start('consume.mjs', command, bus, source)
      // One more of each key: what came before has begun, and the program finishes what has begun.
      for (let n = 20; n < 27; n++) await program.find(new RegExp(`^order ${n}, `))
      program.stop()
      expect(await program.ended).toBe(0)
      expect(await untilRecorded(27)).toBe(true)
      const handled = program.lines.filter((line) => line.startsWith('order ')).sort()
      expect(handled).toEqual(
        messages.map((_, n) => `order ${n}, attempt 1`).sort(),
      )
    })
  }
}

Deno.test('consume() calls a SQL function, rejects what cannot be called, and ends by its signal', async () => {
  await shop.clear()
  await rabbitMq.create('bills')
  await rabbitMq.send('bills', orderMessages(3, 'bill'))
  const path = await user.copy('consume_sql.mjs')
  const child = new Deno.Command(await nodeCommand(), {
    args: [path],
    env: {
      OUTHOOK_DB_URL: shop.dbUrl,
      RABBITMQ_URL: rabbitMq.env.OUTHOOK_RABBITMQ_URL ?? '',
      NODE_EXTRA_CA_CERTS: rabbitMq.env.OUTHOOK_RABBITMQ_CA ?? '',
    },
    stdin: 'null',
    stdout: 'piped',
  }).spawn()
  const isDone = await untilRecorded(3)
  child.kill('SIGTERM')
  const { code, stdout } = await child.output()
  const said = new TextDecoder().decode(stdout).trimEnd().split('\n')
  expect([isDone, code]).toEqual([true, 0])
  expect(said.filter((line) => !line.startsWith('log'))).toEqual([
    expect.stringMatching(/^refused .*shop\.nothing/),
    expect.stringMatching(/^refused consumer must be/),
    'begins',
    'ended',
  ])
  expect(said.some((line) => line.startsWith('log {') && line.includes('consumer stopped'))).toBe(
    true,
  )
  const orders = [...await shop.orders()].sort((left, right) => left.id - right.id)
  expect(orders).toEqual([0, 1, 2].map((id) => ({ id, times: 1 })))
})

Deno.test('a message whose handler throws or takes too long gets its next attempt', async () => {
  await shop.clear()
  await rabbitMq.create('failing')
  await rabbitMq.send('failing', orderMessages(1, 'failing'))
  await using program = await start('consume_failing.mjs', [await nodeCommand()], rabbitMq)
  expect(await program.ended).toBe(0)
  expect(program.lines.filter((line) => line.startsWith('attempt')))
    .toEqual(['attempt 1', 'attempt 2', 'attempt 3'])
  expect(program.lines.some((line) => line.includes('took more than 300 ms'))).toBe(true)
  expect(await untilRecorded(1)).toBe(true)
})

Deno.test('TypeScript accepts the declarations of the worker and of the consumer', async () => {
  await user.copy('worker_typed.ts')
  const modules = await buildTools(projectRoot)
  const { code, stdout } = await new Deno.Command(join(modules, '.bin', 'tsc'), {
    args: [
      ...['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022'],
      ...['--lib', 'es2023', '--module', 'nodenext', '--moduleResolution', 'nodenext'],
      ...['--types', 'node', '--typeRoots', join(modules, '@types'), 'worker_typed.ts'],
    ],
    cwd: user.path,
  }).output()
  expect([code, new TextDecoder().decode(stdout)]).toEqual([0, ''])
})
