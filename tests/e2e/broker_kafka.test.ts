/** The sender of kind kafka against librdkafka's mock cluster: what arrives and in which order, what is refused, what a lost broker costs. */

import { expect } from '@std/expect'
import { createAddressPolicy } from '../../functions/_shared/connect/address.ts'
import type { Outcome } from '../../functions/_shared/contract/contract.ts'
import { recordOf } from '../../functions/_shared/senders/broker/record.ts'
import { dialKafka } from '../../functions/_shared/senders/kafka/cluster.ts'
import { createKafkaSender } from '../../functions/_shared/senders/kafka/sender.ts'
import { settingsOf } from '../../functions/_shared/senders/kafka/target.ts'
import type { Sender } from '../../functions/_shared/senders/sender.ts'
import { makeCertificates } from '../_support/brokers/certificates.ts'
import { kafkaEndpoint, sendOne } from '../_support/brokers/endpoints.ts'
import {
  kafkaError,
  produceRequest,
  startKafka,
  type TestKafka,
} from '../_support/brokers/kafka.ts'
import { readTopic } from '../_support/brokers/read.ts'
import { testFolder } from '../_support/folder.ts'
import { sampleDelivery, sampleEvent } from '../functions/samples.ts'
import { elsewhere } from './brokers/elsewhere.ts'
import { startTlsFront } from './brokers/tls.ts'

let kafka: TestKafka
let sender: Sender

Deno.test.beforeAll(async () => {
  kafka = await startKafka()
  sender = createKafkaSender()
})
Deno.test.afterAll(async () => {
  await sender?.closeIdle?.()
  kafka?.[Symbol.dispose]()
})

Deno.test('send() produces the body with key and headers to the topic of the template', async () => {
  const endpoint = kafkaEndpoint(kafka, { topic: 'shop.{org}.{type}' })
  const event = { partition_key: 'cart-7', idempotency_key: 'key-1' }
  expect(await sendOne(sender, endpoint, event, { id: 'event-wire' })).toEqual({
    outcome: 'delivered',
  })
  const [record] = await readTopic(kafka, 'shop.org-1.order.paid')
  expect(record).toMatchObject({
    key: 'cart-7',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'event-wire',
      'idempotency-key': 'key-1',
      'x-event-type': 'order.paid',
      'x-correlation-id': 'cart-7',
      'x-attempt': '1',
    },
  })
  expect(record?.value).toMatch(/^\{"id":".*","data":\{"amount": 1\.10\}\}$/)
  expect(await sendOne(sender, endpoint, { type: 'no.key' })).toEqual({ outcome: 'delivered' })
  expect((await readTopic(kafka, 'shop.org-1.no.key'))[0]?.key).toBeNull()
})

Deno.test('send() writes a dead letter to the dead-letter topic, as it is', async () => {
  const body = '{"original_topic":"shop.order.paid","event_type":"order.paid","n":1.10}'
  const letter = { type: 'outhook.dead_letter', body, partition_key: 'cart-7' }
  const endpoint = kafkaEndpoint(kafka, { topic: 'shop.{type}', dlq_topic: 'dead.{topic}.{type}' })
  expect(await sendOne(sender, endpoint, letter)).toEqual({ outcome: 'delivered' })
  expect(await readTopic(kafka, 'dead.shop.order.paid.order.paid'))
    .toMatchObject([{ key: 'cart-7', value: body }])
})

Deno.test('send() says by class and code what the cluster refuses', async () => {
  const endpoint = kafkaEndpoint(kafka, { topic: 'refused' })
  expect(await sendOne(sender, endpoint)).toEqual({ outcome: 'delivered' })
  kafka.failNext(produceRequest, [kafkaError.messageTooLarge])
  expect(await sendOne(sender, endpoint))
    .toMatchObject({ error_class: 'broker', code: 'MESSAGE_TOO_LARGE' })
  kafka.failNext(produceRequest, [kafkaError.topicAuthorizationFailed])
  expect(await sendOne(sender, endpoint))
    .toMatchObject({ error_class: 'broker', code: 'TOPIC_AUTHORIZATION_FAILED' })
  kafka.failNext(produceRequest, Array(3).fill(kafkaError.notEnoughReplicas))
  expect(await sendOne(sender, endpoint))
    .toMatchObject({ error_class: 'broker', code: 'NOT_ENOUGH_REPLICAS' })
  kafka.failTopic('absent', kafkaError.unknownTopic)
  expect(await sendOne(sender, kafkaEndpoint(kafka, { topic: 'absent' })))
    .toMatchObject({ error_class: 'broker', code: 'UNKNOWN_TOPIC_OR_PARTITION' })
  expect(await sendOne(sender, kafkaEndpoint({ bootstrap: ['10.0.0.1:9092'] })))
    .toMatchObject({ error_class: 'blocked' })
  expect(await sendOne(sender, kafkaEndpoint({ bootstrap: ['nowhere.invalid:9092'] })))
    .toMatchObject({ error_class: 'dns' })
  expect(await sendOne(sender, kafkaEndpoint({ bootstrap: ['127.0.0.1:1'] })))
    .toMatchObject({ error_class: 'connect' })
})

Deno.test('an address that a broker names of itself is vetted like the first', async () => {
  // The seed is reached at 127.0.0.2, and names 127.0.0.1 as where its records go.
  const [seed = ''] = kafka.bootstrap
  using listener = Deno.listen({ hostname: '127.0.0.2', port: 0 })
  void forward(listener, Number(seed.split(':')[1]))
  const endpoint = kafkaEndpoint({ bootstrap: [`127.0.0.2:${listener.addr.port}`] }, {
    topic: 'vetted',
  })
  expect(await sendOne(sender, endpoint, {}, { allowCidrs: ['127.0.0.2/32'] }))
    .toMatchObject({ error_class: 'blocked' })
  expect(await sendOne(sender, endpoint)).toEqual({ outcome: 'delivered' })
  await sender.closeIdle?.()
})

Deno.test('records of one key keep their order while the leader moves and a broker goes', async () => {
  kafka.createTopic('ordered', 4)
  // An id tells the order here and is no uuid, which an envelope needs.
  const endpoint = { ...kafkaEndpoint(kafka, { topic: 'ordered' }), payload: 'data' as const }
  const keys = Array.from({ length: 20 }, (_, n) => `key-${n}`)
  let isDown = false
  // As a run sends an ordered lane: the next one only when this one is confirmed.
  const retries = await Promise.all(keys.map(async (key, place) => {
    let failures = 0
    for (let n = 0; n < 50; n++) {
      if (place === 0 && n === 15) kafka.setLeader('ordered', 1, 2)
      if (place === 0 && n === 25) {
        kafka.down(1)
        isDown = true
      }
      if (isDown && place === 0 && n === 30) kafka.up(1)
      const id = `${key}-${String(n).padStart(2, '0')}`
      const sent = await sendOne(sender, endpoint, { partition_key: key }, { id })
      if (sent.outcome !== 'delivered') {
        failures++
        n--
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    return failures
  }))
  const records = await readTopic(kafka, 'ordered')
  for (const key of keys) {
    const ids = records.filter((one) => one.key === key).map(({ headers }) =>
      headers['webhook-id'] ?? ''
    )
    expect(new Set(ids).size).toBe(50)
    // A record whose answer was lost comes twice, but never behind a later one.
    expect(ids).toEqual([...ids].sort())
  }
  const duplicates = records.length - keys.length * 50
  // kafkajs repeats a request by itself, twice at most, before it reports a failure.
  expect(duplicates).toBeLessThanOrEqual(3 * (20 + retries.reduce((sum, one) => sum + one, 0)))
})

function errorClass(outcome: Outcome): string {
  return outcome.outcome === 'failed' ? outcome.error_class : outcome.outcome
}

Deno.test('a cluster that is gone is reported at once, and used again when it is back', async () => {
  const endpoint = kafkaEndpoint(kafka, { topic: 'gone' })
  expect(await sendOne(sender, endpoint)).toEqual({ outcome: 'delivered' })
  for (const broker of [1, 2, 3]) kafka.down(broker)
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => sendOne(sender, endpoint)))
  // What waited for the endpoint's timeout would be of the class timeout. kafkajs has repeated each request, so
  // the last error is that of a new connection.
  expect(new Set(outcomes.map(errorClass))).toEqual(new Set(['connect']))
  for (const broker of [1, 2, 3]) kafka.up(broker)
  let last = await sendOne(sender, endpoint)
  while (last.outcome !== 'delivered') {
    expect(errorClass(last)).toBe('connect')
    await new Promise((resolve) => setTimeout(resolve, 100))
    last = await sendOne(sender, endpoint)
  }
})

Deno.test('send() speaks TLS of our own authority, and of no other', async () => {
  using one = await startKafka({ brokers: 1 })
  const folder = testFolder()
  const certificates = await makeCertificates(folder)
  using front = startTlsFront(Number(one.bootstrap[0]?.split(':')[1]), certificates)
  const bootstrap = [`127.0.0.1:${front.port}`]
  const trusted = { topic: 'tls', tls: true, ca: certificates.ca }
  expect(await sendOne(sender, kafkaEndpoint({ bootstrap }, trusted)))
    .toEqual({ outcome: 'delivered' })
  expect(await readTopic(one, 'tls')).toHaveLength(1)
  expect(await sendOne(sender, kafkaEndpoint({ bootstrap }, { ...trusted, ca: null })))
    .toMatchObject({ error_class: 'tls' })
  for (const [, send] of elsewhere) {
    expect(
      await send([
        kafkaEndpoint({ bootstrap }, trusted),
        kafkaEndpoint({ bootstrap }, { ...trusted, ca: null }),
      ]),
    ).toMatchObject([{ outcome: 'delivered' }, { error_class: 'tls' }])
  }
  await sender.closeIdle?.()
  await Deno.remove(folder, { recursive: true })
})

Deno.test('no record is written after its timeout, also not when the client repeats the request', async () => {
  const settings = settingsOf(kafkaEndpoint(kafka))
  const policy = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
  const cluster = await dialKafka(settings?.target ?? noTarget(), policy)
  if ('outcome' in cluster) throw new Error(cluster.error)
  const event = sampleEvent()
  const record = recordOf(sampleDelivery(), kafkaEndpoint(kafka), event, Date.now())
  const timeout = { outcome: 'failed', error_class: 'timeout' }
  expect(await cluster.produce('late', null, record, () => true)).toMatchObject(timeout)
  let asked = 0
  const count = (): boolean => ++asked < 0
  expect(await cluster.produce('late', null, record, count)).toEqual({ outcome: 'delivered' })
  const ofOneRequest = asked
  expect(ofOneRequest).toBeGreaterThan(0)
  // The first request is refused, and the timeout passes before the repeat.
  asked = 0
  kafka.failNext(produceRequest, [kafkaError.leaderNotAvailable])
  const outcome = await cluster.produce('late', null, record, () => ++asked > ofOneRequest)
  expect(outcome).toMatchObject(timeout)
  expect(asked).toBe(ofOneRequest + 1)
  expect(await readTopic(kafka, 'late')).toHaveLength(1)
  await cluster.close()
})

function noTarget(): never {
  throw new Error('The endpoint has no settings')
}

for (const [at, [runtime, send]] of elsewhere.entries()) {
  Deno.test(`under ${runtime} it produces as well`, async () => {
    const topic = `elsewhere-${at}`
    expect(await send([kafkaEndpoint(kafka, { topic })])).toEqual([{ outcome: 'delivered' }])
    expect(await readTopic(kafka, topic)).toMatchObject([{ key: 'edge' }])
  })
}

async function forward(listener: Deno.TcpListener, port: number): Promise<void> {
  for await (const conn of listener) {
    const to = await Deno.connect({ hostname: '127.0.0.1', port })
    void conn.readable.pipeTo(to.writable).catch(() => {})
    void to.readable.pipeTo(conn.writable).catch(() => {})
  }
}
