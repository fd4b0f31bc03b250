import { expect } from '@std/expect'
import { problemOf } from '../../../package/consume/check.ts'
import { consume, type ConsumeOptions } from '../../../package/consume/mod.ts'

const kafka = { topic: 'orders', brokers: ['kafka-1:9092'] }
const rabbitMq = { queue: 'orders', url: 'amqp://user:p4ss@rabbit:5672/vhost' }
const valid = {
  source: kafka,
  dbUrl: 'postgresql://postgres:p4ss@db.example:5432/postgres',
  consumer: 'billing',
  handle: (): void => {},
  signal: new AbortController().signal,
} as const

Deno.test('consume() accepts what the task accepts', () => {
  const rows: object[] = [
    {},
    { source: rabbitMq, handle: 'shop.bill_order', dlq: 'dead', concurrency: 1_000 },
    { timeoutMs: 100, concurrency: 1, log: (): void => {} },
    { source: { ...kafka, tls: true, fromEnd: true } },
  ]
  for (const row of rows) {
    expect([row, problemOf({ ...valid, ...row } as never)]).toEqual([row, null])
  }
})

Deno.test('consume() rejects at once with the name of the invalid option, and never with its value', async () => {
  const rows: [changed: object, says: RegExp][] = [
    [{ source: undefined }, /^source must/],
    [{ source: { ...kafka, ...rabbitMq } }, /^source must/],
    [{ source: { ...kafka, topic: undefined } }, /^source\.topic/],
    [{ source: { ...kafka, brokers: [] } }, /^source\.brokers/],
    [{ source: { ...kafka, brokers: 'kafka-1:9092' } }, /^source\.brokers/],
    [{ source: { ...kafka, brokers: ['p4ss@kafka'] } }, /^source\.brokers/],
    [{ source: { ...rabbitMq, queue: undefined } }, /^source\.queue/],
    [{ source: { ...rabbitMq, url: undefined } }, /^source\.url/],
    [{ source: { ...rabbitMq, url: 'http://user:p4ss@rabbit' } }, /^source\.url/],
    [{ dbUrl: undefined }, /^dbUrl/],
    [{ dbUrl: 'mysql://user:p4ss@db/x' }, /^dbUrl must start with postgresql/],
    [{ consumer: 'a b' }, /^consumer must/],
    [{ consumer: undefined }, /^consumer must/],
    [{ handle: undefined }, /^handle must/],
    [{ dlq: 'orders' }, /^dlq is the source/],
    [{ dlq: '' }, /^dlq must/],
    [{ concurrency: 0 }, /^concurrency/],
    [{ concurrency: 1.5 }, /^concurrency/],
    [{ timeoutMs: 99 }, /^timeoutMs/],
    [{ timeoutMs: '15000' }, /^timeoutMs/],
    [{ signal: undefined }, /^signal/],
    [{ log: 'console' }, /^log/],
  ]
  for (const [changed, says] of rows) {
    // SAFETY: a program in JavaScript may pass anything.
    const options = { ...valid, ...changed } as unknown as ConsumeOptions
    const refused = await consume(options).then(() => null, (error: unknown) => error)
    expect([changed, refused]).toEqual([changed, expect.any(TypeError)])
    const { message } = refused as Error
    expect([changed, message]).toEqual([changed, expect.stringMatching(says)])
    expect(message).not.toContain('p4ss')
  }
})
