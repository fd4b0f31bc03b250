import { expect } from '@std/expect'
import { lazySender, SenderUnavailable } from '../../../../functions/_shared/senders/lazy.ts'
import { senders } from '../../../../functions/_shared/senders/registry.ts'
import type { Sender, SenderDeps } from '../../../../functions/_shared/senders/sender.ts'
import { createPolicySource } from '../../../../functions/_shared/connect/address.ts'
import { createKeyCache } from '../../../../functions/_shared/signing/sign.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent, sampleSettings } from '../../samples.ts'

const deps: SenderDeps = {
  transport: {
    post: () => Promise.reject(new Error('nothing is posted')),
    close: () => Promise.resolve(),
  },
  keys: createKeyCache(),
  settings: sampleSettings(),
  policy: createPolicySource()({ allowHttp: false, allowCidrs: [] }),
  wallNow: () => 0,
}

Deno.test('lazySender() loads with the first delivery, once, and again a while after a failure', async () => {
  let now = 0
  let loads = 0
  let rests = 0
  let readies = 0
  const sender = lazySender(() => {
    loads++
    if (loads === 1) return Promise.reject(new Error('no network'))
    const loaded: Sender = {
      ready: () => Promise.resolve(readies++ > 0),
      send: () => Promise.resolve({ outcome: 'delivered' }),
      closeIdle: () => Promise.resolve(void rests++),
    }
    return Promise.resolve(loaded)
  }, () => now)
  await sender.closeIdle?.()
  expect([loads, rests]).toEqual([0, 0])
  const send = (): Promise<unknown> =>
    sender.send(sampleDelivery(), sampleEndpoint(), sampleEvent(), deps)
  expect(sender.isAvailable?.()).toBe(true)
  const failed = await Promise.allSettled([send(), send()])
  expect(failed.map((one) => one.status === 'rejected' && one.reason.cause.message))
    .toEqual(['no network', 'no network'])
  now = 29_999
  expect(sender.isAvailable?.()).toBe(false)
  await expect(send()).rejects.toThrow(SenderUnavailable)
  await sender.closeIdle?.()
  expect(loads).toBe(1)
  now = 30_000
  expect(sender.isAvailable?.()).toBe(true)
  expect(await Promise.all([send(), send()])).toHaveLength(2)
  await sender.closeIdle?.()
  expect([loads, rests]).toEqual([2, 1])
  const isReady = (): Promise<boolean> | undefined =>
    sender.ready?.(sampleDelivery(), sampleEndpoint(), sampleEvent())
  expect([await isReady(), await isReady()]).toEqual([false, true])
  expect([loads, readies]).toEqual([2, 2])
  const always = lazySender(() => Promise.resolve({ send: sender.send }))
  expect(await always.ready?.(sampleDelivery(), sampleEndpoint(), sampleEvent())).toBe(true)
})

for (const kind of ['rabbitmq', 'kafka']) {
  Deno.test(`the sender of kind ${kind} says what an endpoint without settings needs`, async () => {
    const sender = senders.get(kind)
    expect(await sender?.send(sampleDelivery(), sampleEndpoint({ kind }), sampleEvent(), deps))
      .toMatchObject({ outcome: 'failed', error: expect.stringContaining('outbox.set_broker()') })
    await sender?.closeIdle?.()
  })
}

Deno.test('through a proxy no broker is reached, and its endpoint waits', async () => {
  const policy = createPolicySource()({
    allowHttp: true,
    allowCidrs: [],
    proxyUrl: 'http://proxy.internal:3128',
  })
  const rabbitmq = {
    url: 'amqps://mq.example.com:5671',
    exchange: '',
    routing_key: 'q',
    mandatory: true,
    ca: null,
    dlq_exchange: '',
    dlq_routing_key: null,
  }
  const kafka = {
    brokers: ['k.example.com:9093'],
    topic: 't',
    tls: true,
    ca: null,
    sasl: null,
    dlq_topic: null,
  }
  for (const [kind, config] of Object.entries({ rabbitmq, kafka })) {
    const endpoint = sampleEndpoint({
      kind,
      config,
      credentials: { username: 'u', password: 'p' },
    })
    const sender = senders.get(kind)
    expect(
      await sender?.send(sampleDelivery(), endpoint, sampleEvent(), { ...deps, policy }),
    ).toMatchObject({ error_class: 'broker', code: 'no_proxy' })
    await sender?.closeIdle?.()
  }
})
