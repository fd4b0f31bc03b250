import { expect } from '@std/expect'
import { readDatabaseUrl, readKafkaAccess, readRabbitMqAccess } from '../../consumer/access.ts'
import { amqpUrls } from '../../consumer/addresses.ts'
import { readConsumeOptions } from '../../consumer/options.ts'

const given = { topic: 'orders', consumer: 'billing', function: 'public.bill', 'from-end': false }

Deno.test('readConsumeOptions() has defaults for all but source, consumer and handler', () => {
  expect(readConsumeOptions(given)).toEqual({
    source: { kind: 'topic', name: 'orders' },
    consumer: 'billing',
    handler: { kind: 'function', name: 'public.bill' },
    dlq: 'orders.dlq',
    concurrency: 4,
    timeoutMs: 15_000,
    metricsPort: null,
    metricsHost: '127.0.0.1',
    fromBeginning: true,
  })
  const { topic: _, function: __, ...rest } = given
  expect(readConsumeOptions({ ...rest, queue: 'q', url: 'http://a/', dlq: 'd', concurrency: '1' }))
    .toMatchObject({
      source: { kind: 'queue', name: 'q' },
      handler: { kind: 'url', name: 'http://a/' },
      dlq: 'd',
      concurrency: 1,
    })
})

Deno.test('readConsumeOptions() names the flag that is wrong', () => {
  const rows: [Record<string, string>, RegExp][] = [
    [{ queue: 'q' }, /either --topic \(Kafka\) or --queue/],
    [{ topic: '' }, /either --topic/],
    [{ url: 'http://a/' }, /either --function .* or --url/],
    [{ consumer: 'a b' }, /^--consumer/],
    [{ consumer: '' }, /^--consumer/],
    [{ concurrency: '0' }, /^--concurrency/],
    [{ 'timeout-ms': 'soon' }, /^--timeout-ms/],
    [{ 'metrics-port': '65536' }, /^--metrics-port/],
    [{ 'metrics-port': '0' }, /^--metrics-port/],
    [{ dlq: 'orders' }, /^--dlq/],
  ]
  for (const [more, words] of rows) {
    expect([more, readConsumeOptions({ ...given, ...more })])
      .toEqual([more, expect.stringMatching(words)])
  }
  const { function: _, ...rest } = given
  expect(readConsumeOptions({ ...rest, url: 'ftp://a/' })).toMatch(/^--url/)
})

Deno.test('an address of RabbitMQ has a URL for each host, with the same user and virtual host', () => {
  expect(amqpUrls('amqp://u:a,b@h-1,h-2:5673,[::1]:5674/v,w'))
    .toEqual(['amqp://u:a,b@h-1/v,w', 'amqp://u:a,b@h-2:5673/v,w', 'amqp://u:a,b@[::1]:5674/v,w'])
  expect(amqpUrls('amqps://h')).toEqual(['amqps://h'])
  expect(amqpUrls('http://h')).toEqual([])
})

Deno.test('the access variables are read, and a wrong one is named without its value', async () => {
  const readFile = (path: string): Promise<string> => Promise.resolve(`text of ${path}`)
  expect(
    await readKafkaAccess({
      OUTHOOK_KAFKA_BROKERS: 'a:9092, b:9093',
      OUTHOOK_KAFKA_CA: '/ca',
      OUTHOOK_KAFKA_SASL: 'scram-sha-256',
      OUTHOOK_KAFKA_USERNAME: 'u',
      OUTHOOK_KAFKA_PASSWORD: 'p',
    }, readFile),
  ).toEqual({
    brokers: ['a:9092', 'b:9093'],
    tls: 'text of /ca',
    sasl: { mechanism: 'scram-sha-256', username: 'u', password: 'p' },
  })
  expect(await readKafkaAccess({ OUTHOOK_KAFKA_BROKERS: 'a:1' }, readFile))
    .toEqual({ brokers: ['a:1'], tls: false, sasl: null })
  expect(await readRabbitMqAccess({ OUTHOOK_RABBITMQ_URL: 'amqps://u:p@h/v' }, readFile))
    .toEqual({ url: 'amqps://u:p@h/v', ca: null })
  const several = 'amqps://u:a,b@h-1,h-2:5673,[::1]:5674/v,w'
  expect(await readRabbitMqAccess({ OUTHOOK_RABBITMQ_URL: several }, readFile))
    .toEqual({ url: several, ca: null })

  const problems: [() => unknown, RegExp][] = [
    [() => readKafkaAccess({}, readFile), /OUTHOOK_KAFKA_BROKERS is not set/],
    [() => readKafkaAccess({ OUTHOOK_KAFKA_BROKERS: 'secret@a:1' }, readFile), /BROKERS must be/],
    [
      () =>
        readKafkaAccess({ OUTHOOK_KAFKA_BROKERS: 'a:1', OUTHOOK_KAFKA_SASL: 'secret' }, readFile),
      /OUTHOOK_KAFKA_SASL must be one of/,
    ],
    [() => readRabbitMqAccess({}, readFile), /OUTHOOK_RABBITMQ_URL is not set/],
    [
      () => readRabbitMqAccess({ OUTHOOK_RABBITMQ_URL: 'amqp://u:se%cret@h' }, readFile),
      /RABBITMQ_URL/,
    ],
    ...[
      'amqp://u:secret@',
      'amqp://u:secret@h,,g/v',
      'amqp://u:secret@h,/v',
      'amqp://u:secret@h:x,g/v',
    ]
      .map((url): [() => unknown, RegExp] => [
        () => readRabbitMqAccess({ OUTHOOK_RABBITMQ_URL: url }, readFile),
        /RABBITMQ_URL must be/,
      ]),
    [() => readDatabaseUrl({}), /OUTHOOK_DB_URL is not set/],
    [() => readDatabaseUrl({ OUTHOOK_DB_URL: 'postgres://u:sec#ret@h/d' }), /OUTHOOK_DB_URL/],
  ]
  for (const [read, words] of problems) {
    const message = await Promise.resolve().then(read).then(String, (error) => error.message)
    expect(message).toMatch(words)
    expect(message).not.toMatch(/se%cret|secret|sec#ret/)
  }
})
