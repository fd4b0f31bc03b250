/** What a broker that speaks Kafka's protocol with bad intent can do to the process that delivers for all. */

import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../../functions/_shared/connect/address.ts'
import { recordOf } from '../../../../../functions/_shared/senders/broker/record.ts'
import { dialKafka } from '../../../../../functions/_shared/senders/kafka/cluster.ts'
import {
  createFrameCheck,
  mostResponseBytes,
} from '../../../../../functions/_shared/senders/kafka/frames.ts'
import { createKafkaSender } from '../../../../../functions/_shared/senders/kafka/sender.ts'
import { settingsOf } from '../../../../../functions/_shared/senders/kafka/target.ts'
import { Buffer } from 'node:buffer'
import { kafkaEndpoint, sendOne } from '../../../../_support/brokers/endpoints.ts'
import {
  authenticated,
  bytesOf,
  type HostileKafka,
  type KafkaAnswer,
  mechanisms,
  metadataOf,
  requestKey,
  startHostileKafka,
} from '../../../../_support/brokers/hostile_kafka.ts'
import { libraryTimers } from '../../../../_support/library_timers.ts'
import { sampleDelivery, sampleEvent } from '../../../samples.ts'

const topic = 'order.paid'

const isEdge = Deno.version.deno.startsWith('2.1.')

/** A broker whose texts have negative lengths, so that each takes the reader back to where it began. */
const endless = [
  { int32: 1 },
  { int16: -2 },
  { int32: 0xfff6 },
  { int16: -10 },
]

const frames: [what: string, answer: KafkaAnswer][] = [
  ['is empty', { raw: bytesOf({ int32: 0 }) }],
  ['has three bytes', { raw: Uint8Array.from([0, 0, 0, 3, 1, 2, 3]) }],
  ['has a negative length', { raw: bytesOf({ int32: -5 }) }],
  ['has the lowest length', { raw: bytesOf({ int32: -2_147_483_648 }) }],
  ['announces 2 GB', { raw: Uint8Array.from([127, 255, 255, 255, 0, 0]) }],
  ['announces one byte too many', { raw: bytesOf({ int32: mostResponseBytes + 1 }) }],
  ['has two billion brokers in 30 bytes', [{ int32: 0 }, { int32: 2_000_000_000 }, ...endless]],
  ['has a negative number of brokers', [{ int32: 0 }, { int32: -2 }]],
  ['has brokers whose texts go back', [
    { int32: 0 },
    { int32: 20 },
    ...endless,
    new Uint8Array(100),
  ]],
  ['has more brokers than a cluster', [
    { int32: 0 },
    { int32: 1_001 },
    ...Array.from({ length: 1_001 }, (_, at) => {
      return [{ int32: at }, '127.0.0.1', { int32: 9092 }, { int16: -1 }]
    }).flat(),
    ...['cluster', { int32: 1 }, { int32: 0 }],
  ]],
  ['is text', { raw: new TextEncoder().encode('HTTP/1.1 400 Bad Request\r\n\r\n') }],
]

Deno.test(
  'a broker whose response has an impossible length ends its own connection and nothing else',
  libraryTimers,
  async () => {
    for (const [what, answer] of frames) {
      using broker = startHostileKafka({ [requestKey.metadata]: () => answer })
      expect([what, await sendTo(broker)])
        .toEqual([what, expect.objectContaining({ outcome: 'failed', error_class: 'connect' })])
    }
  },
)

Deno.test('a broker that offers mechanisms without end is refused', libraryTimers, async () => {
  using broker = startHostileKafka({
    [requestKey.handshake]: () => [
      { int16: 0 },
      { int32: 2_000_000_000 },
      ...Array.from({ length: 30 }, () => ({ int16: -2 })),
    ],
  })
  expect(await sendTo(broker, 'plain')).toMatchObject({ outcome: 'failed' })
})

Deno.test('a login takes no more iterations than any Kafka asks for', libraryTimers, async () => {
  for (const iterations of ['2000000000', '100001', 'Infinity', '-1', 'x', '1e9']) {
    using broker = startHostileKafka({
      [requestKey.handshake]: () => mechanisms('SCRAM-SHA-256', 'SCRAM-SHA-512'),
      [requestKey.authenticate]: (body) => {
        const [, nonce = ''] = /r=(.*)/.exec(new TextDecoder().decode(body)) ?? []
        return authenticated(`r=${nonce}more,s=c2FsdA==,i=${iterations}`)
      },
    })
    for (const mechanism of ['scram-sha-256', 'scram-sha-512']) {
      expect(await sendTo(broker, mechanism)).toMatchObject({ code: 'login_refused' })
    }
    // The proof, which needs the iterations, is never sent.
    expect(broker.requests.filter((key) => key === requestKey.authenticate)).toHaveLength(2)
  }
})

Deno.test('what a broker says about a login is in no outcome', libraryTimers, async () => {
  for (const mechanism of ['plain', 'scram-sha-256']) {
    using broker = startHostileKafka({
      [requestKey.handshake]: () => mechanisms('PLAIN', 'SCRAM-SHA-256'),
      [requestKey.authenticate]: (body) => [
        { int16: 58 },
        Buffer.from(body).toString('latin1'),
        { int32: 0 },
      ],
    })
    const outcome = await sendTo(broker, mechanism)
    expect(outcome).toEqual({
      outcome: 'failed',
      error_class: 'broker',
      code: 'login_refused',
      error: 'Kafka refuses the user name or the password',
    })
  }
})

/** Addresses in forms that not every resolver reads. */
const numbers = ['2852039166', '0x7f000001', '0177.0.0.1', '127.1']

/** Where a broker sends its clients. All are refused when an endpoint is saved. */
const elsewhere: [host: string, port: number][] = [
  ['127.0.0.1', 11211],
  ['127.0.0.1', 9092],
  ['169.254.169.254', 9092],
  ['::ffff:169.254.169.254', 9092],
  ['::ffff:a9fe:a9fe', 9092],
  ['64:ff9b::a9fe:a9fe', 9092],
  ['2002:a9fe:a9fe::1', 9092],
  ['fe80::1', 9092],
  ['::1', 9092],
  ['::', 9092],
  ['0.0.0.0', 9092],
  ...numbers.map((host): [string, number] => [host, 9092]),
  ['localhost', 9092],
  ['127.0.0.2', 11211],
  ['127.0.0.2', 22],
]

Deno.test(
  'a record goes to no address or port that is refused when saved',
  libraryTimers,
  async () => {
    const policy = createAddressPolicy({
      allowHttp: true,
      allowCidrs: ['127.0.0.2/32'],
      denyPorts: ['22', '11211'],
    })
    for (const [host, port] of elsewhere) {
      using broker = startHostileKafka({
        [requestKey.metadata]: () => metadataOf(host, port, topic),
      }, '127.0.0.2')
      const settings = settingsOf(kafkaEndpoint({ bootstrap: [`127.0.0.2:${broker.port}`] }))
      if (settings === null) throw new Error('the endpoint has no settings')
      const cluster = await dialKafka(settings.target, policy)
      if (!('produce' in cluster)) throw new Error('the seed was not reached')
      const record = recordOf(sampleDelivery(), kafkaEndpoint({ bootstrap: [] }), sampleEvent(), 0)
      const outcome = await cluster.produce(topic, null, record, () => false)
      await cluster.close()
      // Deno 2.1 does not read a number as an address.
      const error_class = isEdge && numbers.includes(host) ? 'dns' : 'blocked'
      expect([host, port, outcome]).toEqual([host, port, expect.objectContaining({ error_class })])
      expect(broker.requests).not.toContain(requestKey.produce)
    }
  },
)

Deno.test('the check of lengths sees the same in every division into chunks', () => {
  const stream = Buffer.concat([
    ...[3, 0, 70].map((length) =>
      Buffer.concat([bytesOf({ int32: length }), Buffer.alloc(length)])
    ),
    bytesOf({ int32: 101 }),
  ])
  for (let size = 1; size <= stream.length; size++) {
    const takes = createFrameCheck(100)
    let taken = 0
    for (let at = 0; at < stream.length; at += size) {
      if (!takes(stream.subarray(at, at + size))) break
      taken = Math.min(at + size, stream.length)
    }
    // The chunk with the last byte of the fourth length is refused.
    expect(taken).toBe(Math.floor((stream.length - 1) / size) * size)
  }
})

/** The outcome of one event under a policy that allows the broker. */
async function sendTo(broker: HostileKafka, sasl: string | null = null): Promise<unknown> {
  const sender = createKafkaSender()
  const endpoint = kafkaEndpoint(
    { bootstrap: [`127.0.0.1:${broker.port}`] },
    { sasl },
    sasl === null ? null : { username: 'ada-of-the-orders', password: 'correct-horse' },
  )
  const outcome = await sendOne(sender, endpoint)
  await sender.closeIdle?.()
  return outcome
}
