/** An address of RabbitMQ that has several hosts: which one is connected to, and what is told when none is. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { connectRabbitMq, failureOf } from '../../consumer/rabbitmq/connect.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import { closeFully, startHostileRabbitMq } from '../_support/brokers/hostile_rabbitmq.ts'

const login = 'ada:correct-horse'

/** Keeps the order of the hosts. */
function inOrder(): () => number {
  let n = 0
  return () => n++ / 10
}

/** A port of this machine on which nobody listens. */
function deadPort(): number {
  using listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  return listener.addr.port
}

async function failure(url: string): Promise<Error> {
  const error = await connectRabbitMq({ url, ca: null }, inOrder()).catch((error) => error)
  if (!(error instanceof Error)) throw new Error('it has connected')
  return error
}

Deno.test('behind a dead first host, the second one is connected to', async () => {
  using broker = startHostileRabbitMq({})
  const url = `amqp://${login}@127.0.0.1:${deadPort()},127.0.0.1:${broker.port}/shop`
  const connection = await connectRabbitMq({ url, ca: null }, inOrder())
  await (await connection.createChannel()).close()
  await closeFully(connection, broker)
})

Deno.test('if no host accepts a connection, the error names each one and why, without the password', async () => {
  using broker = startHostileRabbitMq({ header: () => [Buffer.from('HTTP/1.1 400 ')] })
  const dead = deadPort()
  const error = await failure(`amqp://${login}@127.0.0.1:${dead},127.0.0.1:${broker.port}/shop`)
  expect(messageOf(error)).toMatch(
    new RegExp(
      `any host: 127\\.0\\.0\\.1:${dead}: [^;]*ECONNREFUSED.*; 127\\.0\\.0\\.1:${broker.port}: .+`,
    ),
  )
  expect(Deno.inspect(error)).not.toContain('correct-horse')
  expect(error).toBeInstanceOf(AggregateError)
})

Deno.test('the error of a single host stays as it is', async () => {
  const error = await failure(`amqp://${login}@127.0.0.1:${deadPort()}/shop`)
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
})

Deno.test('the error of a host with several addresses, which has no text, is told as its code', () => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  expect(
    failureOf([{ host: 'mq-1', error }, { host: 'mq-2:5673', error: new Error('late') }]).message,
  )
    .toBe('Cannot connect to any host: mq-1: ECONNREFUSED; mq-2:5673: late')
})
