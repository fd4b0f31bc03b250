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

const advice =
  '. Check the name of the host and its port, that RabbitMQ runs there, and the firewall'

Deno.test('the error of a single host has its code, and names host, port and what to check', async () => {
  const port = deadPort()
  const error = await failure(`amqp://${login}@127.0.0.1:${port}/shop`)
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  const text =
    `Cannot connect to RabbitMQ at 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`
  expect(error.message).toBe(`${text}${advice}`)
  expect(Deno.inspect(error)).not.toContain('correct-horse')
})

Deno.test('the error names the default port of a host', async () => {
  const unknown = await failure(`amqp://${login}@nowhere.invalid/shop`)
  expect(unknown.message).toMatch(
    /^Cannot connect to RabbitMQ at nowhere\.invalid:5672: .*ENOTFOUND/,
  )
  const withTls = await failure(`amqps://${login}@nowhere.invalid/shop`)
  expect(withTls.message).toContain(' nowhere.invalid:5671: ')
})

Deno.test('the refusal of a broker has no advice about the network', async () => {
  using broker = startHostileRabbitMq({ header: () => [Buffer.from('HTTP/1.1 400 ')] })
  const error = await failure(`amqp://${login}@127.0.0.1:${broker.port}/shop`)
  expect(error.message).toMatch(/^Cannot connect to RabbitMQ at 127\.0\.0\.1:\d+: .+/)
  expect(error.message).not.toContain('firewall')
})

Deno.test('a certificate of another name has no advice about the network, and no code', () => {
  const error = Object.assign(new Error('the names do not match'), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
  const failed = failureOf([{ host: 'mq-1:5671', error }])
  expect(failed.message).toBe('Cannot connect to RabbitMQ at mq-1:5671: the names do not match')
  expect(failed).not.toHaveProperty('code')
})

Deno.test('the error of a host with several addresses, which has no text, is told as its code', () => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  const [first, second] = [{ host: 'mq-1:5672', error }, {
    host: 'mq-2:5673',
    error: new Error('late'),
  }]
  expect(failureOf([first]).message)
    .toBe(`Cannot connect to RabbitMQ at mq-1:5672: ECONNREFUSED${advice}`)
  expect(failureOf([first, second]).message)
    .toBe('Cannot connect to any host: mq-1:5672: ECONNREFUSED; mq-2:5673: late')
  expect(failureOf([second, first])).not.toHaveProperty('code')
})
